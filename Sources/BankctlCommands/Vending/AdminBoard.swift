// State of the manager's screen of the vending machine, and the meaning of keys: selected product, filter
// of expired drinks, request.
import BankModel
import VendingClient
import Wire

/// State of the manager's screen of the vending machine: products with their drinks, and what the user selected.
struct AdminBoard {
  /// What a key requests.
  enum UserCommand: Sendable, Equatable {
    case add(ItemID, Quantity)
    case remove(ItemID, Quantity)
    case discardExpired
    case close
  }

  let messages: MessageCatalog
  /// The machine with its lots; nil before the first snapshot.
  private(set) var picture: VendingSnapshot?
  /// Index of the selected product; the number of products for the line that closes the screen.
  private(set) var chosen = 0
  private(set) var showsExpiredOnly = false
  var notice: ServiceNotice

  init(_ messages: MessageCatalog) {
    self.messages = messages
    notice = ServiceNotice(absence: messages.machineWaits, refusedKey: messages.machineIgnoredKey)
  }

  var products: [ProductReport] { (picture?.products ?? []).filter { !showsExpiredOnly || $0.expired > 0 } }
  /// True if the line that closes the screen is selected.
  var isCloseSelected: Bool { chosen >= products.count }

  /// Applies a snapshot or news from the machine.
  mutating func handle(_ update: VendingUpdate) {
    switch update {
    case .snapshot(let picture): self.picture = picture
    case .news(let news): picture?.apply(news)
    case .refused(let failure): return notice.say(messages.commandFailure(about: failure).message)
    }
    notice.forgetAbsence()
    chosen = min(chosen, products.count)
  }

  /// Shows the result of a request of this screen.
  mutating func handle(_ result: Result<VendingResult, VendingClientError>, _ userCommand: UserCommand) {
    switch result {
    case .success(.stocked(let changes)):
      let difference = changes.reduce(0) { $0 + $1.difference }
      if userCommand == .discardExpired {
        notice.say(messages.discarded(-difference), isAlarm: false)
      } else if let last = changes.last {
        let name =
          picture?.products.first { $0.id == last.item }?.name(in: messages.language) ?? last.item.name
        notice.say(messages.restocked(name, difference, last.present), isAlarm: false)
      }
    case .success(.failure(let failure)): notice.say(messages.commandFailure(about: failure).message)
    case .success: break
    case .failure: notice.say(notice.absence)
    }
  }

  /// Applies a key. Returns a request if the key makes one.
  mutating func press(_ key: Key) -> UserCommand? {
    notice.clear()
    switch key {
    case .up, .character("k"): chosen = max(0, chosen - 1)
    case .down, .character("j"), .control("i"): chosen = min(products.count, chosen + 1)
    case .home: chosen = 0
    case .end: chosen = products.count
    case .character("+"), .character("="): return change(by: 1)
    case .character("0"): return change(by: 10)
    case .character("-"), .character("_"), .character("\u{2212}"): return change(by: -1)
    case .character("e"), .character("ㄷ"):
      showsExpiredOnly.toggle()
      chosen = min(chosen, products.count)
    case .character("d"), .character("ㅇ"): return ask(.discardExpired)
    case .enter, .character(" "): return isCloseSelected ? .close : nil
    case .escape, .control("d"), .character("q"), .character("ㅂ"), .character("a"), .character("ㅁ"):
      return .close
    case .paste: notice.say(messages.pasteIgnored)
    default: break
    }
    return nil
  }

  /// The request to add or remove drinks of the selected product.
  private mutating func change(by difference: Quantity) -> UserCommand? {
    guard let product = products[safely: chosen] else { return nil }
    return ask(difference > 0 ? .add(product.id, difference) : .remove(product.id, -difference))
  }

  /// Returns the request if the machine accepts requests; otherwise nil, with a notice.
  private mutating func ask(_ userCommand: UserCommand) -> UserCommand? {
    notice.grant(userCommand, hasSnapshot: picture != nil)
  }
}
