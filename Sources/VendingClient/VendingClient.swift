// Description of a vending machine for `ServiceClient`: its two sockets, and the state of a subscription.
// Invariant: a subscriber receives a snapshot before changes.

import Transport
import Wire

/// A client of a vending machine.
public typealias VendingClient = ServiceClient<VendingCommand>
/// Reason why a vending machine has not answered.
public typealias VendingClientError = ServiceClientError<VendingCommand>

extension VendingCommand: ServiceCommand {
  /// Answers of a vending machine.
  public typealias Answer = VendingResult
  /// Position up to which a subscriber has received the changes of the machine.
  public typealias Cursor = VendingCursor

  /// Name of the machine in messages about errors.
  public static var serviceName: String { "the vending machine" }
  /// True if the machine reads every row for the answer, which takes long.
  public var isLong: Bool { self == .audit }
}

extension ServiceClient where Command == VendingCommand {
  /// Path of the vending machine's socket for buyers, in the home directory of a bank.
  public static func customersSocket(inHome home: String) -> String {
    ServiceHome(path: home, name: "vending").socket
  }

  /// Path of the vending machine's socket for its manager, in the home directory of a bank.
  public static func managersSocket(inHome home: String) -> String {
    ServiceHome(path: home, name: "vending-admin").socket
  }

  /// Subscribes to the machine, and replaces the previous subscription. The listener receives a snapshot, and then
  /// later changes; after a lost connection it receives a new snapshot.
  public func follow(_ hear: @escaping (VendingUpdate) -> Void) { follow(VendingCursor(), hear) }
}

/// One update for a subscriber of a vending machine: a snapshot, changes, or the refusal of the subscription.
public enum VendingUpdate: Sendable, Equatable {
  /// Snapshot of the machine; it replaces all earlier data.
  case snapshot(VendingSnapshot)
  /// Changes since the last news.
  case news(VendingChanges)
  /// The machine refuses the subscription.
  case refused(VendingFailure)
}

/// Last change of a vending machine's money that a subscriber has received, to ignore repeated purchases. It is not
/// sent: a reconnect begins with a new snapshot.
public struct VendingCursor: SubscriptionCursor {
  /// Sequence number of the last change of the money; nil before the first snapshot.
  private var seen: Int64?

  /// The state before the first snapshot.
  public init() {}

  /// Request for a subscription. It starts with a new snapshot, also after a reconnect.
  public var request: VendingCommand { .follow }

  /// Processes an answer of the machine and stores its position. Returns what is new for the subscriber, or tells the
  /// client to subscribe again because the subscriber was too slow.
  public mutating func handle(_ answer: VendingResult) -> SubscriptionStep<VendingUpdate> {
    switch answer {
    case .snapshot(let picture):
      seen = picture.sequence
      return .news(.snapshot(picture))
    case .news(var news):
      // Ignore purchases that were seen before, even if the machine sends them again. Drinks may change
      // without money, under the same sequence number.
      guard let seen, news.sequence >= seen else { return .nothing }
      news.purchases.removeAll { $0.sequence <= seen }
      self.seen = news.sequence
      return .news(.news(news))
    // A new snapshot contains everything that was missed, so subscribe again.
    case .failure(let failure) where failure.code == .slowConsumer: return .resubscribe
    case .failure(let failure): return .news(.refused(failure))
    default: return .nothing
    }
  }
}
