// Owns what a page says of the form that was sent last. Behind a redirect it stands in the query (`?said=added~10~1`), so it
// is a code with values and never words: nobody can make the bank say something by a link.
// Invariant: the code of a notice reads as the same notice; anything else reads as none.
import BankModel

/// What came of a form.
public enum Notice: Sendable, Equatable {
  case added(count: Int64, first: TicketNumber)
  /// The same request was sent before: nobody was added a second time.
  case known(count: Int64, first: TicketNumber)
  case reset(day: Int64)
  case cancelled(count: Int64)
  case requeued(count: Int64)
  /// Of several only some: the others were in a state in which it cannot be done.
  case partly(done: Int64, of: Int64)
  case paused(ServiceName)
  case resumed(ServiceName)
  case scaled(ServiceName, windows: Int64)
  /// The windows that are too many close when their customers have been served.
  case scaling(ServiceName, windows: Int64)
  /// The teller at a window was ended.
  case ended(window: String)
  case juiceReady(ItemID)
  /// A question: it leads to the stock editor or nowhere.
  case juiceShort(ItemID, fruit: ItemID, needed: Quantity, available: Quantity)
  case stocked(ItemID, quantity: Quantity)
  case inserted(Won)
  case returned(Won)
  case bought(ItemID)
  case restocked(ItemID, count: Quantity)
  case discarded(count: Quantity)
  case welcome
  case refused(Refusal)

  /// What a notice is to whoever reads it.
  public enum Tone: String, Sendable {
    case done, refused
    /// The alert of a juice that is ready.
    case alert
    /// Asks for yes or no.
    case question
  }

  /// What it is to whoever reads it.
  public var tone: Tone {
    switch self {
    case .refused, .partly: .refused
    case .juiceReady: .alert
    case .juiceShort: .question
    default: .done
    }
  }
}

/// Why something was not done. Nothing was changed, but for `inDoubt`. A condition that a script can meet, too, has the code that
/// a script sees.
public enum Refusal: String, Sendable, CaseIterable {
  case notOpen = "not_open"
  case draining
  case queueFull = "queue_full"
  case diskFull = "disk_full"
  case crowded
  case noSuchTicket = "no_such_ticket"
  case noSuchService = "no_such_service"
  case noSuchWindow = "no_such_window"
  case noSuchItem = "no_such_item"
  case noSuchJuice = "no_such_juice"
  case noSuchProduct = "no_such_product"
  case wrongState = "wrong_state"
  /// What was confirmed is something else by now.
  case changed
  /// The business day is another one by now, and its numbers are other customers.
  case dayChanged = "wrong_day"
  /// Another process is at the window by now.
  case otherGeneration = "other_process"
  case keyConflict = "key_conflict"
  case tooLittleMoney = "too_little_money"
  case soldOut = "sold_out"
  case onlyExpired = "only_expired"
  case tillFull = "till_full"
  case shelfFull = "shelf_full"
  /// There would be fewer than none.
  case tooFew = "out_of_stock"
  case stockAway = "stock_unavailable"
  case machineAway = "vending_unavailable"
  /// Nobody makes juice: no station, or paused.
  case noStation = "no_station"
  /// The juice was ordered and is not ready yet.
  case unfinished
  /// Customers for juice without a juice.
  case juiceUnnamed = "juice_unnamed"
  /// A payload for a service that reads none.
  case payloadUnread = "payload_unread"
  /// It is not known whether it was done.
  case inDoubt = "in_doubt"
  case nothingSelected = "nothing_selected"
  case badForm = "bad_request"
  case readOnly = "read_only"
  case noChaos = "no_chaos"
  case notManager = "not_manager"
  /// The role of the session does not allow it.
  case notAllowed = "forbidden"
  /// A command line needs a link that allows it.
  case runNotAllowed = "run_not_allowed"
  case wrongCode = "wrong_code"
  /// No code is compared for a while, because several wrong ones came one after another.
  case codePause = "code_pause"
  /// The branch serves nobody until it has joined the bank again.
  case leaseLost = "lease_lost"
  /// A bank with several branches does not offer it.
  case notInSharedBank = "not_in_shared_bank"
  case failed
}

extension Notice {
  private static let separator: Character = "~"

  /// The notice as a query carries it: a name and values between `~`, which needs no escape.
  public var code: String {
    let parts: [any CustomStringConvertible]
    switch self {
    case .added(let count, let first): parts = ["added", count, first]
    case .known(let count, let first): parts = ["known", count, first]
    case .reset(let day): parts = ["reset", day]
    case .cancelled(let count): parts = ["cancelled", count]
    case .requeued(let count): parts = ["requeued", count]
    case .partly(let done, let all): parts = ["partly", done, all]
    case .paused(let service): parts = ["paused", service]
    case .resumed(let service): parts = ["resumed", service]
    case .scaled(let service, let windows): parts = ["scaled", service, windows]
    case .scaling(let service, let windows): parts = ["scaling", service, windows]
    case .ended(let window): parts = ["ended", window]
    case .juiceReady(let juice): parts = ["ready", juice]
    case .juiceShort(let juice, let fruit, let needed, let available):
      parts = ["short", juice, fruit, needed, available]
    case .stocked(let item, let quantity): parts = ["stocked", item, quantity]
    case .inserted(let won): parts = ["inserted", won]
    case .returned(let won): parts = ["returned", won]
    case .bought(let item): parts = ["bought", item]
    case .restocked(let item, let count): parts = ["restocked", item, count]
    case .discarded(let count): parts = ["discarded", count]
    case .welcome: parts = ["welcome"]
    case .refused(let refusal): parts = ["refused", refusal.rawValue]
    }
    return parts.map { "\($0)" }.joined(separator: String(Self.separator))
  }

  /// The notice of a code; nil for any other text.
  public init?(code: some StringProtocol) {
    guard code.utf8.count <= 300 else { return nil }
    let parts = String(code).split(separator: Self.separator, omittingEmptySubsequences: false).map {
      String($0)
    }
    func number(_ place: Int) -> Int64? { parts.indices.contains(place) ? Int64(parts[place]) : nil }
    func item(_ place: Int) -> ItemID? {
      guard parts.indices.contains(place) else { return nil }
      let item = ItemID(parts[place])
      return item.isValid ? item : nil
    }
    func service() -> ServiceName? { parts.count > 1 ? ServiceName(parts[1]) : nil }
    let read: Notice? =
      switch (parts[0], number(1), number(2)) {
      case ("added", let count?, let first?): .added(count: count, first: first)
      case ("known", let count?, let first?): .known(count: count, first: first)
      case ("reset", let day?, _): .reset(day: day)
      case ("cancelled", let count?, _): .cancelled(count: count)
      case ("requeued", let count?, _): .requeued(count: count)
      case ("partly", let done?, let all?): .partly(done: done, of: all)
      case ("paused", _, _): service().map { .paused($0) }
      case ("resumed", _, _): service().map { .resumed($0) }
      case ("scaled", _, let windows?): service().map { .scaled($0, windows: windows) }
      case ("scaling", _, let windows?): service().map { .scaling($0, windows: windows) }
      case ("ended", _, _): parts.count > 1 ? WindowName(parts[1]).map { .ended(window: $0.text) } : nil
      case ("ready", _, _): item(1).map { .juiceReady($0) }
      case ("short", _, _): Self.short(item(1), item(2), number(3), number(4))
      case ("stocked", _, let quantity?): item(1).map { .stocked($0, quantity: quantity) }
      case ("inserted", let won?, _): .inserted(won)
      case ("returned", let won?, _): .returned(won)
      case ("bought", _, _): item(1).map { .bought($0) }
      case ("restocked", _, let count?): item(1).map { .restocked($0, count: count) }
      case ("discarded", let count?, _): .discarded(count: count)
      case ("welcome", _, _): .welcome
      case ("refused", _, _): parts.count > 1 ? Refusal(rawValue: parts[1]).map { .refused($0) } : nil
      default: nil
      }
    guard let read, read.code == code else { return nil }
    self = read
  }

  private static func short(
    _ juice: ItemID?, _ fruit: ItemID?, _ needed: Quantity?, _ available: Quantity?
  ) -> Notice? {
    guard let juice, let fruit, let needed, let available else { return nil }
    return .juiceShort(juice, fruit: fruit, needed: needed, available: available)
  }
}
