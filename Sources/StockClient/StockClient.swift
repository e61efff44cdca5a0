// Owns what a client of the stock service knows of it beyond its messages: which of them change something, and what a
// viewer of the stock has seen. Everything that clients do is ServiceClient's.
// Invariant: a viewer is told every change in order and once. Where one is missing there is a picture instead.

import BankModel
import Transport
import Wire

/// A client of the stock service.
public typealias StockClient = ServiceClient<StockCommand>
/// Why there is no answer from the stock service.
public typealias StockClientError = ServiceClientError<StockCommand>

extension StockCommand: ServiceCommand {
  /// What the stock service answers.
  public typealias Answer = StockResult
  /// What a viewer of the stock has seen.
  public typealias View = StockView

  /// What the service is called in a log.
  public static var serviceName: String { "the stock service" }

  /// Whether it changes the stock when it is done.
  public var changesSomething: Bool {
    switch self {
    case .take, .giveBack, .set, .change, .discardExpired, .introduce: true
    case .assortment, .look, .follow, .audit, .orders, .known: false
    }
  }

  /// Whether every row is counted for the answer.
  public var isLong: Bool { self == .audit }
}

extension ServiceClient where Command == StockCommand {
  /// The socket of the stock service in the home of a bank.
  public static func socket(inHome home: String) -> String { ServiceHome(path: home, name: "stock").socket }

  /// Follows the stock from a place where the caller has been before, or from the present: a picture, and then every change, over
  /// lost connections too and without a gap. One view at a time; another one takes its place.
  public func follow(from place: StockPlace? = nil, _ hear: @escaping (StockNews) -> Void) {
    follow(StockView(place), hear)
  }
}

/// What a viewer of the stock is told.
public enum StockNews: Sendable, Equatable {
  /// The whole stock; what was known before is forgotten.
  case picture(StockPicture)
  /// Changes that follow what was told before, in order.
  case changes([StockChange])
  /// The service does not show it.
  case refused(StockFailure)
}

/// What a viewer of the stock has seen.
public struct StockView: ServiceView {
  /// The last change that was seen; nil before the first picture.
  private var place: StockPlace?

  /// The view of somebody who has been at a place, or nowhere.
  public init(_ place: StockPlace? = nil) { self.place = place }

  /// The stock from there on.
  public var question: StockCommand { .follow(place) }

  /// Takes what the service tells.
  public mutating func hear(_ answer: StockResult) -> ViewStep<StockNews> {
    switch answer {
    case .picture(let picture):
      place = StockPlace(ledger: picture.ledger, sequence: picture.sequence)
      return .news(.picture(picture))
    case .changes(let changes):
      // What was seen before is not told again, whatever the service thinks.
      guard let seen = place?.sequence else { return .nothing }
      let fresh = changes.filter { $0.sequence > seen }
      guard let last = fresh.last else { return .nothing }
      guard fresh[0].sequence == seen + 1 else {
        place = nil
        return .askAgain
      }
      place?.sequence = last.sequence
      return .news(.changes(fresh))
    // From where it was: what is too much to be told one by one comes as a picture.
    case .failure(let failure) where failure.code == .tooSlow: return .askAgain
    case .failure(let failure): return .news(.refused(failure))
    default: return .nothing
    }
  }
}

/// How a picture of the stock follows what a viewer is told.
/// Invariant: a picture that was told every change behind it shows the present stock.
extension StockPicture {
  /// Applies changes that follow the picture, so that a viewer who was told them sees the present stock.
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
