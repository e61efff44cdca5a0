// State of the manager's screen of the vending machine, and the meaning of keys: selected product, filter
// of expired drinks, request.
// Invariant: the numbers on the screen are those that the machine has sent, or sums of them.
import BankModel
import VendingClient
import Wire

struct AdminBoard {
  enum Wish: Sendable, Equatable {
    case add(ItemID, Quantity)
    case remove(ItemID, Quantity)
    case discardExpired
    case close
  }

  let words: MessageCatalog
  /// The machine with its lots; nil before the first snapshot.
  private(set) var picture: VendingPicture?
  private(set) var chosen = 0
  private(set) var showsExpiredOnly = false
  var notice: ServiceNotice

  init(_ words: MessageCatalog) {
    self.words = words
    notice = ServiceNotice(absence: words.machineWaits, refusedKey: words.machineTookNoKey)
  }

  var products: [ProductReport] { (picture?.products ?? []).filter { !showsExpiredOnly || $0.expired > 0 } }
  var isCloseChosen: Bool { chosen >= products.count }

  mutating func hear(_ told: VendingNotice) {
    switch told {
    case .picture(let picture): self.picture = picture
    case .news(let news): picture?.apply(news)
    case .refused(let failure): return notice.say(words.complaint(about: failure).message)
    }
    notice.forgetAbsence()
    chosen = min(chosen, products.count)
  }

  mutating func hear(_ result: Result<VendingResult, VendingClientError>, _ wish: Wish) {
    switch result {
    case .success(.stocked(let changes)):
      let difference = changes.reduce(0) { $0 + $1.difference }
      if wish == .discardExpired {
        notice.say(words.discarded(-difference), isAlarm: false)
      } else if let last = changes.last {
        let name = picture?.products.first { $0.id == last.item }?.name(in: words.language) ?? last.item.name
        notice.say(words.restocked(name, difference, last.present), isAlarm: false)
      }
    case .success(.failure(let failure)): notice.say(words.complaint(about: failure).message)
    case .success: break
    case .failure: notice.say(notice.absence)
    }
  }

  mutating func press(_ key: Key) -> Wish? {
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
    case .enter, .character(" "): return isCloseChosen ? .close : nil
    case .escape, .control("d"), .character("q"), .character("ㅂ"), .character("a"), .character("ㅁ"):
      return .close
    case .paste: notice.say(words.pasteNotTaken)
    default: break
    }
    return nil
  }

  private mutating func change(by difference: Quantity) -> Wish? {
    guard let product = products[safely: chosen] else { return nil }
    return ask(difference > 0 ? .add(product.id, difference) : .remove(product.id, -difference))
  }

  private mutating func ask(_ wish: Wish) -> Wish? { notice.grant(wish, hasPicture: picture != nil) }
}
