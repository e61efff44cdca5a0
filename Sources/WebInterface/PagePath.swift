// Maps an address to its page, with the sources and the minimum interval of the page.
// Invariant: two addresses with an equal value show the same content, so that their viewers can share one encoding.
import BankModel
import Time
import WebCore
import WebPages

/// A page with its parameters, as in the address of a request.
enum PagePath: Hashable {
  case bank
  /// `latest` is the ticket that was taken last.
  case kiosk(latest: Int64?)
  case ticket(Int64, day: Int64?)
  case lobby
  case juice
  case juiceStock
  /// `before` is the number before which purchases are shown; nil for the latest ones.
  case vending(before: Int64?)
  case vendingAdmin
  case windows
  /// Log of a window or of another process.
  case log(String)
  case services
  /// Dead letters.
  case dead(PageFilter)
  case tickets(PageFilter)
  case receipts(PageFilter)
  case audit
  case ledger(account: Int64?)

  /// The page that the address of a request means; nil if the path has none.
  ///
  /// - Throws: an error for an unknown query field or an invalid value.
  static func page(of target: RequestTarget) throws(FieldError) -> PagePath? {
    let parts = target.segments.map { String($0) }
    switch (parts.first, parts.count) {
    case (nil, _): return try plain(.bank, target)
    case ("kiosk", 1):
      return .kiosk(latest: try fields(target, "latest").number("latest", in: 1...Limits.ticket))
    case ("ticket", 2):
      guard let number = Int64(parts[1]), number > 0 else { return nil }
      return .ticket(number, day: try fields(target, "day").day())
    case ("lobby", 1): return try plain(.lobby, target)
    case ("juice", 1): return try plain(.juice, target)
    case ("juice", 2) where parts[1] == "stock": return try plain(.juiceStock, target)
    case ("vending", 1):
      let before = try fields(target, "before").number("before", in: 0...Int64.max)
      return .vending(before: before == 0 ? nil : before)
    case ("vending", 2) where parts[1] == "admin": return try plain(.vendingAdmin, target)
    case ("windows", 1): return try plain(.windows, target)
    case ("windows", 3) where parts[2] == "log":
      guard let name = WindowName(parts[1]) else { return nil }
      return try plain(.log(name.text), target)
    case ("services", 1): return try plain(.services, target)
    case ("dead", 1): return .dead(try PageFilter(fields(target, "service", "after")))
    case ("tickets", 1): return .tickets(try PageFilter(fields(target, "service", "state", "after")))
    case ("receipts", 1):
      return .receipts(try PageFilter(fields(target, "service", "outcome", "after", "day")))
    case ("audit", 1): return try plain(.audit, target)
    case ("ledger", 1):
      let account = try fields(target, "account").value(
        "account", expected: "the number of an account, or customer-NUMBER,", read: account)
      return .ledger(account: account)
    default: return nil
    }
  }

  /// Returns a page that has no query fields of its own; throws if the address has any but `lang` and `notice`.
  private static func plain(_ page: PagePath, _ target: RequestTarget) throws(FieldError) -> PagePath {
    _ = try fields(target)
    return page
  }

  /// Parses a query that may contain the fields with these names, `lang` and `notice`; throws for another field.
  private static func fields(
    _ target: RequestTarget, _ names: String...
  ) throws(FieldError) -> RequestFields {
    try RequestFields(target.query, known: Set(names).union(["lang", "notice"]))
  }

  /// Account number from `12` or `customer-12`; nil for any other text.
  private static func account(_ text: String) -> Int64? {
    Int64(text.hasPrefix("customer-") ? String(text.dropFirst(9)) : text)
  }

  /// Sources of the page. A change of one of these sources reloads the page.
  var dataSources: Set<DataSource> {
    switch self {
    case .bank, .kiosk, .ticket, .lobby, .windows, .services, .dead, .tickets, .receipts, .audit, .ledger:
      [.board]
    case .juice, .juiceStock: [.stock]
    case .vending: [.vending]
    case .vendingAdmin: [.manager]
    case .log: [.clock]
    }
  }

  /// True if the page is made from the board alone, so that it can be loaded after the coordinator has exited.
  var needsOnlyBoard: Bool {
    switch self {
    case .bank, .kiosk, .lobby, .windows, .services: true
    default: false
    }
  }

  /// Minimum time between two loads of the page.
  var interval: TimeSpan {
    switch self {
    case .bank, .kiosk, .lobby, .windows, .services, .juice, .juiceStock, .vending, .vendingAdmin:
      .milliseconds(50)
    case .ticket: .milliseconds(200)
    case .log: .milliseconds(500)
    case .dead, .tickets, .receipts: .milliseconds(500)
    case .ledger: .seconds(1)
    case .audit: .seconds(10)
    }
  }
}

/// Filter of a list of customers or receipts, from the query of its address.
struct PageFilter: Hashable {
  var service: ServiceName?
  var state: CustomerState?
  var outcome: Outcome?
  var after: Int64 = 0
  var day: Int64?

  init() {}

  /// The filter in the fields of a query.
  init(_ fields: RequestFields) throws(FieldError) {
    service = try fields.service()
    state = try fields.state()
    outcome = try fields.outcome()
    after = try fields.after()
    day = try fields.day()
  }

  /// The filter as a value of the pages.
  var record: RecordFilter {
    RecordFilter(service: service, state: state, outcome: outcome, after: after, day: day)
  }
}
