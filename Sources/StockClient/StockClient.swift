// Description of the stock service for `ServiceClient`: which requests change data, and the state of a
// subscription.
// Invariant: a subscriber receives the changes in order and without repetition. If a change is missing, the subscriber
// receives a snapshot instead.

import BankModel
import Transport
import Wire

/// A client of the stock service.
public typealias StockClient = ServiceClient<StockCommand>
/// Reason why the stock service has not answered.
public typealias StockClientError = ServiceClientError<StockCommand>

extension StockCommand: ServiceCommand {
  /// Answers of the stock service.
  public typealias Answer = StockResult
  /// Position up to which a subscriber has received the changes of the stock.
  public typealias Cursor = StockCursor

  /// Name of the service in messages about errors.
  public static var serviceName: String { "the stock service" }

  /// True if the request changes the stock.
  public var changesSomething: Bool {
    switch self {
    case .take, .returnItems, .set, .change, .discardExpired, .introduce: true
    case .assortment, .querySnapshot, .follow, .audit, .orders, .known: false
    }
  }

  /// True if the service may need long for the answer.
  public var isLong: Bool { self == .audit }
}

extension ServiceClient where Command == StockCommand {
  /// Path of the stock service's socket in the home directory of a bank.
  public static func socket(inHome home: String) -> String { ServiceHome(path: home, name: "stock").socket }

  /// Subscribes to the changes after `place`, and replaces the previous subscription. The client subscribes again after
  /// a lost connection. The listener receives a snapshot instead if `place` is nil, or if too many changes were missed.
  public func follow(from place: StockPosition? = nil, _ hear: @escaping (StockUpdate) -> Void) {
    follow(StockCursor(place), hear)
  }
}

/// One update for a subscriber of the stock: a snapshot, changes, or the refusal of the subscription.
public enum StockUpdate: Sendable, Equatable {
  /// Snapshot of the whole stock; it replaces all earlier data.
  case snapshot(StockSnapshot)
  /// Changes since the last update, in order.
  case changes([StockChange])
  /// The service refuses the subscription.
  case refused(StockFailure)
}

/// Position in the stock's ledger up to which a subscriber has received the changes. The client subscribes again from
/// there.
public struct StockCursor: SubscriptionCursor {
  /// Position of the last change seen; nil if the next request is for a snapshot.
  private var place: StockPosition?

  /// State after this position; nil requests a snapshot.
  public init(_ place: StockPosition? = nil) { self.place = place }

  /// Request for the changes after the last position; for a snapshot if there is none.
  public var request: StockCommand { .follow(place) }

  /// Processes an answer of the service and stores its position. Returns what is new for the subscriber, or tells the
  /// client to subscribe again because changes were missed.
  public mutating func handle(_ answer: StockResult) -> SubscriptionStep<StockUpdate> {
    switch answer {
    case .snapshot(let picture):
      place = StockPosition(ledger: picture.ledger, sequence: picture.sequence)
      return .news(.snapshot(picture))
    case .changes(let changes):
      // Changes that were received before are ignored.
      guard let seen = place?.sequence else { return .nothing }
      let fresh = changes.filter { $0.sequence > seen }
      guard let last = fresh.last else { return .nothing }
      guard fresh[0].sequence == seen + 1 else {
        place = nil
        return .resubscribe
      }
      place?.sequence = last.sequence
      return .news(.changes(fresh))
    // Continue from the last position: if too many changes are missing, the service sends a snapshot.
    case .failure(let failure) where failure.code == .slowConsumer: return .resubscribe
    case .failure(let failure): return .news(.refused(failure))
    default: return .nothing
    }
  }
}

/// Update of a snapshot by later changes.
extension StockSnapshot {
  /// Applies changes that directly follow the snapshot.
  public mutating func apply(_ changes: [StockChange]) {
    for change in changes {
      let place = items.firstIndex { $0.item == change.item } ?? items.count
      if place == items.count { items.append(ItemStock(item: change.item, lots: [])) }
      var lots = items[place].lots.filter { $0.dates != change.dates }
      if change.lot > 0 {
        let position = lots.firstIndex { !$0.comesBefore(change.dates) } ?? lots.count
        lots.insert(Lot(dates: change.dates, quantity: change.lot), at: position)
      }
      items[place].lots = lots
      sequence = change.sequence
    }
  }
}
