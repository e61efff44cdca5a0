// State of the customers' screen of the vending machine, and the meaning of keys: selected product, scroll
// offset of the purchases, request.
import BankModel
import VendingClient
import Wire

/// State of the customers' screen of the vending machine: products, balance, purchases, and what the user selected.
struct CustomerBoard {
  /// What a key requests.
  enum UserCommand: Sendable, Equatable {
    case insert(Won)
    case buy(ItemID)
    case giveChange
    case manage
    case older(before: Int64)
    case leave
  }

  let messages: MessageCatalog
  /// The machine; nil before the first snapshot.
  private(set) var picture: VendingSnapshot?
  private(set) var chosen = 0
  /// Purchases older than those of the snapshot, oldest first.
  private(set) var older: [MoneyChange] = []
  /// Number of purchases by which the list at the bottom is scrolled back from the latest one.
  private(set) var scrollOffset = 0
  var notice: ServiceNotice
  /// Number of products in a row on the terminal.
  var columns = 5

  init(_ messages: MessageCatalog) {
    self.messages = messages
    notice = ServiceNotice(absence: messages.machineWaits, refusedKey: messages.machineIgnoredKey)
  }

  /// All loaded purchases, oldest first.
  var purchases: [MoneyChange] {
    let recent = picture?.recent ?? []
    let first = recent.first?.sequence ?? .max
    return older.filter { $0.sequence < first } + recent
  }

  /// Applies a snapshot or news from the machine.
  mutating func handle(_ update: VendingUpdate) {
    switch update {
    case .snapshot(let picture): self.picture = picture
    case .news(let news):
      let fallen = picture?.recent ?? []
      picture?.apply(news)
      // Keep purchases that drop out of the snapshot while the user has scrolled back.
      if scrollOffset > 0 {
        keep(fallen)
        scrollOffset += news.purchases.count
      }
    case .refused(let failure): return notice.say(messages.commandFailure(about: failure).message)
    }
    notice.forgetAbsence()
    chosen = min(chosen, max(0, (picture?.products.count ?? 1) - 1))
  }

  /// Adds older purchases that were requested.
  mutating func handle(older purchases: [MoneyChange]) { keep(purchases) }

  /// Adds purchases to those loaded for scrolling back (`older`), each once.
  private mutating func keep(_ purchases: [MoneyChange]) {
    let known = Set(older.map(\.sequence))
    older = (older + purchases.filter { !known.contains($0.sequence) }).sorted { $0.sequence < $1.sequence }
  }

  /// Shows the result of a request of this screen.
  mutating func handle(_ result: Result<VendingResult, VendingClientError>) {
    switch result {
    case .success(.done(let change)):
      switch change.kind {
      case .inserted: notice.say(messages.inserted(change.amount), isAlarm: false)
      case .returned: notice.say(messages.returned(change.amount), isAlarm: false)
      case .bought:
        let name = picture?.name(of: change, messages) ?? ""
        notice.say(messages.phrases.drinkBought(name), isAlarm: false)
      }
    case .success(.failure(let failure)): notice.say(messages.commandFailure(about: failure).message)
    case .success: break
    case .failure: notice.say(notice.absence)
    }
  }

  /// Applies a key. Returns a request if the key makes one.
  mutating func press(_ key: Key) -> UserCommand? {
    notice.clear()
    let count = picture?.products.count ?? 0
    switch key {
    case .left: move(to: chosen - 1, of: count)
    case .right, .control("i"): move(to: chosen + 1, of: count)
    case .up: move(to: chosen - columns, of: count)
    case .down: move(to: chosen + columns, of: count)
    case .home: move(to: 0, of: count)
    case .end: move(to: count - 1, of: count)
    case .character("1"): return ask(.insert(1_000))
    case .character("5"): return ask(.insert(5_000))
    case .enter, .character(" "), .character("b"), .character("ㅠ"):
      guard let product = picture?.products[safely: chosen] else { return nil }
      return ask(.buy(product.id))
    case .character("r"), .character("ㄱ"): return ask(.giveChange)
    case .character("a"), .character("ㅁ"): return .manage
    case .character(","), .character("<"), .character("["): return push(by: 1)
    case .character("."), .character(">"), .character("]"): return push(by: -1)
    case .escape, .control("d"), .character("q"), .character("ㅂ"): return .leave
    case .paste: notice.say(messages.pasteIgnored)
    default: break
    }
    return nil
  }

  /// Selects a product; ignores an index out of range.
  private mutating func move(to place: Int, of count: Int) {
    if (0..<count).contains(place) { chosen = place }
  }

  /// The command if the machine accepts requests; otherwise nil, and a notice refuses the key.
  private mutating func ask(_ userCommand: UserCommand) -> UserCommand? {
    notice.grant(userCommand, hasSnapshot: picture != nil)
  }

  /// Scrolls the purchases. Returns a request for older ones if few loaded ones are left.
  private mutating func push(by step: Int) -> UserCommand? {
    scrollOffset = min(max(0, scrollOffset + step), max(0, purchases.count - 1))
    // Load older purchases before the user reaches the end of the loaded ones.
    let all = picture?.sales.reduce(0) { $0 + $1.count } ?? 0
    guard step > 0, purchases.count - scrollOffset < 20, Int64(purchases.count) < all,
      let first = purchases.first
    else { return nil }
    return .older(before: first.sequence)
  }
}

extension Array {
  /// The element at an index; nil out of range.
  subscript(safely place: Int) -> Element? { indices.contains(place) ? self[place] : nil }
}
