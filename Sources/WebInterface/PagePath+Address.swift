// Canonical address of a page: path and query in one order and spelling.
// Invariant: requests with the same parameters have the same address, so that their viewers can share one encoding.
import BankModel
import WebPages

extension PagePath {
  /// The address as in the links of the page: `/tickets?state=waiting`.
  var address: String {
    switch self {
    case .bank: "/"
    case .kiosk: "/kiosk"
    case .ticket(let number, let day): "/ticket/\(number)" + Self.query("day", day)
    case .lobby: "/lobby"
    case .juice: "/juice"
    case .juiceStock: "/juice/stock"
    case .vending(let before): "/vending" + Self.query("before", before)
    case .vendingAdmin: "/vending/admin"
    case .windows: "/windows"
    case .log(let name): "/windows/\(name)/log"
    case .services: "/services"
    case .dead(let filter): "/dead" + filter.record.query
    case .tickets(let filter): "/tickets" + filter.record.query
    case .receipts(let filter): "/receipts" + filter.record.query
    case .audit: "/audit"
    case .ledger(let account): "/ledger" + Self.query("account", account)
    }
  }

  /// A query with one field; "" without a value.
  private static func query(_ name: String, _ value: Int64?) -> String {
    value.map { "?\(name)=\($0)" } ?? ""
  }
}
