// A home of its own with the built `bank-stockd` in it, and its clients.

import BankModel
import Posix
import ServiceFixture
import StockClient
import Wire

final class StockFixture: ServiceFixture {
  init(homeName: String = "home") throws {
    try super.init("stock", program: "bank-stockd", homeName: homeName)
  }

  static func program() throws -> String { try program("bank-stockd") }

  var socket: String { StockClient.socket(inHome: home) }

  func start(_ more: [String] = []) throws { try startAlone(more) }

  /// Kills the service and waits until it is gone.
  func kill() { kill(process) }

  func client() -> StockClient { StockClient(socket: socket, loop: loop) }

  func call(
    _ command: StockCommand, as order: String? = nil, _ client: StockClient? = nil
  ) throws -> StockResult {
    let client = client ?? self.client()
    return try client.call(command, as: order.map { OrderID($0) }, within: Self.patience)
  }

  func take(_ amounts: [(String, Quantity)], as order: String) throws -> StockResult {
    try call(.take(amounts.map { ItemAmount(ItemID($0.0), $0.1) }, today: nil), as: order)
  }

  func quantities() throws -> [Quantity] {
    guard case .snapshot(let picture) = try call(.querySnapshot) else { return [] }
    return picture.items.map(\.quantity)
  }

  func audit() throws -> StockAuditReport? {
    if case .audit(let report) = try call(.audit) { report } else { nil }
  }
}

extension StockResult {
  var rows: [StockChange]? { if case .done(let rows) = self { rows } else { nil } }
  var failure: StockFailure? { if case .failure(let failure) = self { failure } else { nil } }
}
