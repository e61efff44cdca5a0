// Count of payload bytes in memory for requests that wait for admission, of all clients together and of each client.
// Admitted payloads belong to the store and are not counted.
// Invariant: a deallocated reservation counts no bytes, however its request has ended.

import BankModel
import QueueCore
import Wire

/// Payload bytes of all requests that wait for admission, and their limit.
final class PayloadMemoryLimiter {
  /// Limit for all clients together, in bytes.
  static let limit = 64 << 20
  /// Limit for one client, in bytes. The server does not read a client that has reached it.
  static let ofClient = 4 << 20

  fileprivate(set) var bytes = 0

  /// True if this many more bytes stay within the limit.
  func hasRoom(for more: Int) -> Bool { bytes + more <= Self.limit }

  /// Failure for a request whose additional bytes would exceed the limit.
  func refusal(of more: Int) -> Failure {
    Failure(
      .queueFull, subject: String(Self.limit),
      messageDetail: MessageDetail(.pendingPayloadLimit, bytes + more, Self.limit))
  }
}

/// Payload bytes counted for one request.
final class PayloadReservation {
  private let room: PayloadMemoryLimiter
  private weak var session: ControlSession?

  init(_ room: PayloadMemoryLimiter, _ session: ControlSession?) {
    (self.room, self.session) = (room, session)
  }
  deinit { count(-bytes) }

  var bytes = 0 {
    didSet { count(bytes - oldValue) }
  }

  /// True if the reservation may grow to this size.
  func hasRoom(for wanted: Int) -> Bool { room.hasRoom(for: wanted - bytes) }
  /// Failure for a request whose reservation may not grow to this size.
  func refusal(of wanted: Int) -> Failure { room.refusal(of: wanted - bytes) }

  /// Adds a difference to the counts of all clients and of this client.
  private func count(_ difference: Int) {
    room.bytes += difference
    session?.payloadBytes += difference
  }
}

extension InProgressEnqueue.TicketPlacement {
  /// Ranges of consecutive ticket numbers for this many customers.
  func runs(of count: Int64) -> [ClosedRange<TicketNumber>] {
    [(first, min(inGap, count)), (behind, count - min(inGap, count))]
      .filter { $0.1 > 0 }.map { $0.0...$0.0 + $0.1 - 1 }
  }
}
