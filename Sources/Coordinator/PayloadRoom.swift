// Owns how many bytes of payloads the coordinator holds for requests that wait to be taken in: of all clients together and
// of each of them. What is taken in is the store's, and nothing of it is held here any more.
// Invariant: a share counts as long as somebody holds it, so that no way on which a request ends can forget to give it
// back. A client that holds much is not heard, and a request for which there is no room is refused; see `Intake`.

import BankModel
import QueueCore
import Wire

final class PayloadRoom {
  /// Of all clients together, in bytes.
  static let limit = 64 << 20
  /// Of one client: with so many it is not heard until half of them are taken in.
  static let ofClient = 4 << 20

  fileprivate(set) var bytes = 0

  /// Whether so many more bytes may wait.
  func hasRoom(for more: Int) -> Bool { bytes + more <= Self.limit }

  /// Why so many more may not.
  func refusal(of more: Int) -> Failure {
    Failure(.queueFull, subject: String(Self.limit), remark: Remark(.payloadsWait, bytes + more, Self.limit))
  }
}

/// The bytes that one request holds.
final class PayloadShare {
  private let room: PayloadRoom
  private weak var session: ControlSession?

  init(_ room: PayloadRoom, _ session: ControlSession?) { (self.room, self.session) = (room, session) }
  deinit { count(-bytes) }

  var bytes = 0 {
    didSet { count(bytes - oldValue) }
  }

  /// Whether there is room for so many.
  func hasRoom(for wanted: Int) -> Bool { room.hasRoom(for: wanted - bytes) }
  func refusal(of wanted: Int) -> Failure { room.refusal(of: wanted - bytes) }

  private func count(_ difference: Int) {
    room.bytes += difference
    session?.payloadBytes += difference
  }
}

/// A payload that belongs to customers of one slice.
struct SlicePayload {
  var payload: [UInt8]
  var tickets: ClosedRange<TicketNumber>
}

/// What the customers of one slice have that the queue does not see.
struct SliceBaggage {
  var keys: [SliceKey] = []
  var payloads: [SlicePayload] = []
  /// Bytes that are staged with them.
  var bytes: Int { payloads.reduce(0) { $0 + $1.payload.count * $1.tickets.count } }
}

extension ArrivingRequest.Placement {
  /// The numbers of so many customers, as runs.
  func runs(of count: Int64) -> [ClosedRange<TicketNumber>] {
    [(first, min(inGap, count)), (behind, count - min(inGap, count))]
      .filter { $0.1 > 0 }.map { $0.0...$0.0 + $0.1 - 1 }
  }
}
