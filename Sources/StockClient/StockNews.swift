// Owns what a viewer of the stock is told, the ways in which asking can fail, and which commands change something.
// It must not know a person's language or an exit code: whoever talks to people finds the words.

import BankModel
import Posix
import Wire

/// What a viewer of the stock is told.
public enum StockNews: Sendable, Equatable {
  /// The whole stock; what was known before is forgotten.
  case picture(StockPicture)
  /// Changes that follow what was told before, in order.
  case changes([StockChange])
  /// The service does not show it.
  case refused(StockFailure)
}

/// Why there is no answer from the stock service.
public enum StockClientError: Error, Sendable, Equatable {
  /// The service was not there, or did not answer in time. The same order may be asked again.
  case tryLater(detail: Remark)
  /// The socket belongs to somebody else.
  case notPermitted(socket: String)
  /// The service speaks another version of the protocol.
  case otherVersion(theirs: UInt32, build: String)
  /// The system refused.
  case system(SystemError)
}

extension StockClientError: CustomStringConvertible {
  /// What failed, on what, and why, in English, for a log or a test.
  public var description: String {
    switch self {
    case .tryLater(let detail): "the stock service did not answer in time (\(detail)): try later"
    case .notPermitted(let socket): "connecting to \(socket) is not permitted"
    case .otherVersion(let theirs, let build):
      "the stock service (build \(build)) speaks version \(theirs) of the protocol, this program \(protocolVersion)"
    case .system(let error): error.description
    }
  }

  /// Why there is no answer, so that it can be said in any language.
  public var remark: Remark {
    if case .tryLater(let detail) = self { detail } else { Remark(quoting: description) }
  }
}

extension StockCommand {
  /// Whether it changes the stock when it is done.
  public var changesStock: Bool {
    switch self {
    case .take, .giveBack, .set, .change, .discardExpired, .introduce: true
    case .assortment, .look, .follow, .audit, .orders, .known: false
    }
  }
}

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
