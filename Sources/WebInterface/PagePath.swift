// Owns which page an address is of, what that page lives on, and how often it may be made anew.
// Invariant: two addresses of one value show the same, so their viewers share one encoding; whatever a query says beyond that
// is forgotten here.
import BankModel
import Time
import WebCore
import WebPages

/// A page and what of it is shown.
enum PagePath: Hashable {
  case bank
  case kiosk(latest: Int64?)
  case ticket(Int64, day: Int64?)
  case lobby
  case juice
  case juiceStock
  case vending(before: Int64?)
  case vendingAdmin
  case windows
  case log(String)
  case services
  case dead(PageFilter)
  case tickets(PageFilter)
  case receipts(PageFilter)
  case audit
  case ledger(account: Int64?)

  /// The page of a target; nil where there is none.
  init?(_ target: RequestTarget) {
    let query = target.query
    let parts = target.segments.map { String($0) }
    switch (parts.first, parts.count) {
    case (nil, _): self = .bank
    case ("kiosk", 1): self = .kiosk(latest: query.number("latest"))
    case ("ticket", 2):
      guard let number = Int64(parts[1]), number > 0 else { return nil }
      self = .ticket(number, day: query.number("day"))
    case ("lobby", 1): self = .lobby
    case ("juice", 1): self = .juice
    case ("juice", 2) where parts[1] == "stock": self = .juiceStock
    case ("vending", 1): self = .vending(before: query.number("before").flatMap { $0 > 0 ? $0 : nil })
    case ("vending", 2) where parts[1] == "admin": self = .vendingAdmin
    case ("windows", 1): self = .windows
    case ("windows", 3) where parts[2] == "log":
      // A name of a window has neither slashes nor dots.
      guard ServiceName(parts[1]) != nil else { return nil }
      self = .log(parts[1])
    case ("services", 1): self = .services
    case ("dead", 1): self = .dead(PageFilter(query))
    case ("tickets", 1): self = .tickets(PageFilter(query))
    case ("receipts", 1): self = .receipts(PageFilter(query))
    case ("audit", 1): self = .audit
    case ("ledger", 1): self = .ledger(account: Self.account(query.text("account")))
    default: return nil
    }
  }

  /// `12` or `customer-12`.
  private static func account(_ text: String?) -> Int64? {
    guard let text else { return nil }
    return Int64(text.hasPrefix("customer-") ? String(text.dropFirst(9)) : text)
  }

  /// What it is made of, and by whose change it is made anew.
  var feeds: Set<FeedKind> {
    switch self {
    case .bank, .kiosk, .ticket, .lobby, .windows, .services, .dead, .tickets, .receipts, .audit, .ledger:
      [.board]
    case .juice, .juiceStock: [.stock]
    case .vending: [.vending]
    case .vendingAdmin: [.manager]
    case .log: [.clock]
    }
  }

  /// Whether output may grow without the bank changing.
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

/// What a list leaves out. It is a filter of the pages that can be a key.
struct PageFilter: Hashable {
  var service: ServiceName?
  var state: CustomerState?
  var outcome: Outcome?
  var after: Int64 = 0
  var day: Int64?

  init() {}

  init(_ query: FormFields) {
    service = query.text("service").flatMap { ServiceName($0) }
    state = query.text("state").flatMap { CustomerState(name: $0) }
    outcome = query.text("outcome").flatMap { Outcome(name: $0) }
    after = max(0, query.number("after") ?? 0)
    day = query.number("day").flatMap { $0 > 0 ? $0 : nil }
  }

  /// The same as the pages have it.
  var record: RecordFilter {
    RecordFilter(service: service, state: state, outcome: outcome, after: after, day: day)
  }
}
