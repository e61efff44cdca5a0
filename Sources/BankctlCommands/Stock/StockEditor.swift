// State of the stock editor, and the meaning of keys: the selected line, and the requested change.
// Invariant: a request does not reduce the shown amount below 0.
import BankModel
import StockClient
import Wire

/// State of the stock editor.
struct StockEditor {
  /// What a key requests.
  enum UserCommand: Sendable, Equatable {
    case change(ItemID, Quantity)
    case close
  }

  /// A line that the user can select.
  enum Line: Sendable, Equatable {
    case fruit(Fruit, Quantity)
    case close
  }

  let assortment: Assortment
  let messages: MessageCatalog
  /// The stock; nil before the first snapshot.
  private(set) var picture: StockSnapshot?
  /// Index of the selected line; the last line closes the editor.
  private(set) var chosen = 0
  var notice: ServiceNotice

  init(_ assortment: Assortment, _ messages: MessageCatalog) {
    self.assortment = assortment
    self.messages = messages
    notice = ServiceNotice(absence: messages.editorWaits, refusedKey: messages.editorIgnoredKey)
  }

  /// The lines that the user can select, in order.
  var lines: [Line] { assortment.fruits.map { .fruit($0, picture?.quantity(of: $0.id) ?? 0) } + [.close] }

  /// Applies a snapshot or changes from the stock.
  mutating func handle(_ news: StockUpdate) {
    switch news {
    case .snapshot(let picture): self.picture = picture
    case .changes(let changes): picture?.apply(changes)
    case .refused(let failure): return notice.say(messages.commandFailure(about: failure).message)
    }
    notice.forgetAbsence()
  }

  /// Shows the error of a requested change.
  mutating func handle(_ result: Result<StockResult, StockClientError>) {
    switch result {
    case .success(.failure(let failure)): notice.say(messages.commandFailure(about: failure).message)
    // A shortage means that the shown amount was reduced before the request. The next update shows the new amount.
    case .success: break
    case .failure: notice.say(notice.absence)
    }
  }

  /// Applies a key. Returns a request if the key makes one.
  mutating func press(_ key: Key) -> UserCommand? {
    notice.clear()
    switch key {
    case .up, .character("k"): move(by: -1)
    case .down, .character("j"), .control("i"): move(by: 1)
    case .home: chosen = 0
    case .end: chosen = lines.count - 1
    case .enter, .character(" "): return lines[chosen] == .close ? .close : nil
    // Further characters of a case are the same key with a Korean layout or another Shift state, or the minus sign.
    case .escape, .control("d"), .character("q"), .character("ㅂ"): return .close
    case .character("+"), .character("="): return change(by: 1)
    case .character("-"), .character("_"), .character("\u{2212}"): return change(by: -1)
    case .paste: notice.say(messages.pasteIgnored)
    default: break
    }
    return nil
  }

  /// Moves the selection, at most to the first or last line.
  private mutating func move(by step: Int) { chosen = min(max(0, chosen + step), lines.count - 1) }

  /// The request to change the selected fruit; nil if the amount would be below 0 or is unknown.
  private mutating func change(by difference: Quantity) -> UserCommand? {
    guard case .fruit(let fruit, let present) = lines[chosen] else { return nil }
    // Before the first snapshot the amounts are unknown, not 0.
    let userCommand = notice.grant(UserCommand.change(fruit.id, difference), hasSnapshot: picture != nil)
    return present + difference >= 0 ? userCommand : nil
  }
}
