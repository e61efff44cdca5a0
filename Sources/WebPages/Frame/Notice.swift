// Result of the last form on a page. After a redirect it is in the query (`?notice=added~10~1`), as a code
// with values and never as text, so a crafted link cannot make a page show arbitrary text.
// Invariant: the code of a notice with valid names parses to an equal notice. Any other text is rejected.
import BankModel

/// Result of a form, as the page shows it to the user.
public enum Notice: Sendable, Equatable {
  /// Customers were added; `first` is the first ticket.
  case added(count: Int64, first: TicketNumber)
  /// The same request was executed before; no customer was added again.
  case known(count: Int64, first: TicketNumber)
  case reset(day: Int64)
  case cancelled(count: Int64)
  case requeued(count: Int64)
  /// Executed for some of the tickets, and refused for the others.
  case partly(done: Int64, of: Int64)
  case paused(ServiceName)
  case resumed(ServiceName)
  case scaled(ServiceName, windows: Int64)
  /// Accepted and not finished yet, for example because surplus windows still serve their customers.
  case scaling(ServiceName, windows: Int64)
  /// The worker of a window was killed.
  case ended(window: String)
  /// A juice was made.
  case juiceReady(ItemID)
  /// A question, whose "yes" leads to the stock editor.
  case juiceShort(ItemID, fruit: ItemID, needed: Quantity, available: Quantity)
  /// The amount of a fruit was changed; `quantity` is the new amount.
  case stocked(ItemID, quantity: Quantity)
  case inserted(Won)
  case returned(Won)
  case bought(ItemID)
  /// Drinks were added to the machine.
  case restocked(ItemID, count: Quantity)
  /// Expired drinks were discarded.
  case discarded(count: Quantity)
  /// The visitor has the manager's rights now.
  case welcome
  case refused(Refusal)

  /// Kind of a notice, which decides its look.
  public enum Tone: String, Sendable {
    /// The command of the form was executed, or was refused at least in part.
    case done, refused
    /// Alert that a juice is ready.
    case alert
    /// Question with yes and no.
    case question
  }

  /// Kind of the notice, which decides its look.
  public var tone: Tone {
    switch self {
    case .refused, .partly: .refused
    case .juiceReady: .alert
    case .juiceShort: .question
    default: .done
    }
  }
}

/// Reason for a refusal. If the API for scripts has an error code for the same condition, the raw value is this code.
public enum Refusal: String, Sendable, CaseIterable {
  case notOpen = "not_open"
  case draining
  case queueFull = "queue_full"
  case diskFull = "disk_full"
  /// The stock or the vending machine has too many requests in progress.
  case crowded = "too_many_requests"
  case noSuchTicket = "no_such_ticket"
  case noSuchService = "no_such_service"
  case noSuchWindow = "no_such_window"
  case noSuchItem = "no_such_item"
  case noSuchJuice = "no_such_juice"
  case noSuchProduct = "no_such_product"
  case wrongState = "wrong_state"
  /// The object has changed in the meantime, for example the confirmed number of customers.
  case changed = "confirmation_outdated"
  /// Another business day has started, in which the ticket numbers belong to other customers.
  case dayChanged = "wrong_day"
  /// Another process has started at the window.
  case otherGeneration = "process_changed"
  case keyConflict = "key_conflict"
  case tooLittleMoney = "insufficient_balance"
  case soldOut = "sold_out"
  case onlyExpired = "product_expired"
  case balanceLimit = "balance_limit_exceeded"
  case shelfFull = "stock_limit_exceeded"
  /// The amount would become negative.
  case tooFew = "out_of_stock"
  case stockUnavailable = "stock_unavailable"
  case vendingUnavailable = "vending_unavailable"
  /// No station makes juice, or the service is paused.
  case noStation = "no_juice_station"
  /// The juice was ordered and is not ready yet.
  case unfinished = "order_pending"
  /// A request for customers of the service juice without the name of a juice.
  case juiceUnnamed = "juice_name_required"
  /// A payload for a service that reads none.
  case payloadUnread = "payload_not_accepted"
  /// The request may have been executed.
  case inDoubt = "in_doubt"
  case nothingSelected = "nothing_selected"
  /// Invalid input, for example an invalid field.
  case badForm = "bad_request"
  case readOnly = "read_only"
  /// The server was started without `--chaos`, so pages may not kill workers.
  case noChaos = "chaos_disabled"
  case notManager = "manager_code_required"
  /// The role of the session does not permit the request.
  case notAllowed = "forbidden"
  /// A command line in a session whose link was not created with `--allow-run`.
  case runNotAllowed = "run_not_allowed"
  case wrongCode = "wrong_manager_code"
  /// The server checks no codes of this visitor for a while after several consecutive wrong ones.
  case codePause = "too_many_wrong_codes"
  /// The branch serves no customers until it has joined the bank again.
  case leaseLost = "lease_lost"
  /// Not available in a shared bank.
  case unsupportedWithSharedStore = "unsupported_in_shared_bank"
  case failed
}

extension Notice {
  /// Character between the name and the values of a code.
  private static let separator: Character = "~"

  /// The notice in a query: a name and values separated by `~`, which needs no escape.
  public var code: String {
    let parts: [any CustomStringConvertible]
    switch self {
    case .added(let count, let first): parts = ["added", count, first]
    case .known(let count, let first): parts = ["already_issued", count, first]
    case .reset(let day): parts = ["reset", day]
    case .cancelled(let count): parts = ["cancelled", count]
    case .requeued(let count): parts = ["requeued", count]
    case .partly(let done, let all): parts = ["partly_done", done, all]
    case .paused(let service): parts = ["paused", service]
    case .resumed(let service): parts = ["resumed", service]
    case .scaled(let service, let windows): parts = ["scaled", service, windows]
    case .scaling(let service, let windows): parts = ["scaling", service, windows]
    case .ended(let window): parts = ["killed", window]
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

  /// Parses a code; nil for any other text.
  public init?(code: some StringProtocol) {
    guard code.utf8.count <= 300 else { return nil }
    let parts = String(code).split(separator: Self.separator, omittingEmptySubsequences: false).map {
      String($0)
    }
    /// The part of the code at an index as a number; nil if it is missing or not a number.
    func number(_ index: Int) -> Int64? { parts.indices.contains(index) ? Int64(parts[index]) : nil }
    /// The part of the code at an index as the name of an item; nil if it is missing or invalid.
    func item(_ index: Int) -> ItemID? {
      guard parts.indices.contains(index) else { return nil }
      let item = ItemID(parts[index])
      return item.isValid ? item : nil
    }
    /// The first value of the code as the name of a service; nil if it is missing or invalid.
    func service() -> ServiceName? { parts.count > 1 ? ServiceName(parts[1]) : nil }
    let read: Notice? =
      switch (parts[0], number(1), number(2)) {
      case ("added", let count?, let first?): .added(count: count, first: first)
      case ("already_issued", let count?, let first?): .known(count: count, first: first)
      case ("reset", let day?, _): .reset(day: day)
      case ("cancelled", let count?, _): .cancelled(count: count)
      case ("requeued", let count?, _): .requeued(count: count)
      case ("partly_done", let done?, let all?): .partly(done: done, of: all)
      case ("paused", _, _): service().map { .paused($0) }
      case ("resumed", _, _): service().map { .resumed($0) }
      case ("scaled", _, let windows?): service().map { .scaled($0, windows: windows) }
      case ("scaling", _, let windows?): service().map { .scaling($0, windows: windows) }
      case ("killed", _, _): parts.count > 1 ? WindowName(parts[1]).map { .ended(window: $0.text) } : nil
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

  /// The notice of a shortage from its parsed values; nil if one of them is missing.
  private static func short(
    _ juice: ItemID?, _ fruit: ItemID?, _ needed: Quantity?, _ available: Quantity?
  ) -> Notice? {
    guard let juice, let fruit, let needed, let available else { return nil }
    return .juiceShort(juice, fruit: fruit, needed: needed, available: available)
  }
}
