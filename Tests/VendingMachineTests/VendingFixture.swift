// A home of its own with the built `bank-vending` and `bank-stockd` in it, and the requests to the machine.

import BankModel
import Posix
import ServiceFixture
import VendingClient
import Wire

final class VendingFixture: ServiceFixture {
  private(set) var stock: ChildProcess?
  var machine: ChildProcess? { process }

  init(homeName: String = "home") throws {
    try super.init("vending", program: "bank-vending", homeName: homeName)
  }

  deinit { kill(stock) }

  /// Starts both, without a coordinator.
  func start() throws {
    try startStock()
    try startAlone()
  }

  func startStock() throws {
    stock = try ChildProcess.spawn(
      executable: try Self.program("bank-stockd"), arguments: ["--home", home], environment: [:],
      standardOutput: .null, standardError: .append(path: errors + "-stock"))
  }

  func startMachine(_ more: [String] = [], environment: EnvironmentVariables = [:]) throws {
    try startAlone(more, environment: environment)
  }

  func customer() -> VendingClient {
    VendingClient(socket: VendingClient.customersSocket(inHome: home), loop: loop)
  }

  func manager() -> VendingClient {
    VendingClient(socket: VendingClient.managersSocket(inHome: home), loop: loop)
  }

  /// Sends a request to the socket of a side that may.
  func call(_ command: VendingCommand, as order: String? = nil) throws -> VendingResult {
    let client = command.side == .manager ? manager() : customer()
    return try client.call(command, as: order.map { OrderID($0) }, within: Self.patience)
  }

  func picture() throws -> VendingSnapshot {
    guard case .snapshot(let picture) = try call(.querySnapshot) else { throw FixtureError.noPicture }
    return picture
  }

  func add(_ product: String, _ count: Quantity, made: DayNumber? = nil, expires: DayNumber? = nil) throws
    -> VendingResult
  {
    try call(
      .add(AddedDrinks(product: ItemID(product), quantity: count, made: made, expires: expires)))
  }

  func audit() throws -> VendingAuditReport? {
    if case .audit(let report) = try call(.audit) { report } else { nil }
  }

  func history() throws -> [MoneyChange] {
    var (all, last) = ([MoneyChange](), Int64(0))
    while case .history(let page) = try call(.history(PurchasePage(after: last, limit: 500))),
      let end = page.last?.sequence
    {
      all += page
      last = end
    }
    return all
  }
}

enum FixtureError: Error {
  case noPicture
}

extension VendingResult {
  var change: MoneyChange? { if case .done(let change) = self { change } else { nil } }
  var failure: VendingFailure? { if case .failure(let failure) = self { failure } else { nil } }
  var stocked: [StockChange]? { if case .stocked(let changes) = self { changes } else { nil } }
}

extension VendingSnapshot {
  func stock(_ product: String) -> Quantity? { products.first { $0.id.name == product }?.stock }
}
