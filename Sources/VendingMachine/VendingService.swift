// Owns the requests that a vending machine knows, on its customers' socket and on its manager's, and what they come to.
// Invariant: what a socket is not for is refused before anybody looks at it.

import BankModel
import Logbook
import Posix
import ServiceProcess
import StockClient
import Time
import Transport
import VendingCore
import Wire

/// How long the machine waits for the stock.
package struct StockPatience: Sendable {
  /// Until it has told anything, for somebody who looks.
  package var look = TimeSpan.seconds(8)
  /// Until it has handed a drink out; the purchase is given up then. Less than a client waits.
  package var purchase = TimeSpan.seconds(8)
  /// Until it has done what the manager wants.
  package var manager = TimeSpan.seconds(8)
  /// Until it has put back what a purchase holds; it is asked again then.
  package var release = TimeSpan.minutes(60)
  /// Before it is asked again for what it would not do.
  package var pause = TimeSpan.seconds(1)

  package init() {}
}

/// The vending machine of one bank. Not Sendable: everything happens on the loop's thread.
package final class VendingService<Machine: VendingDecisions>: ServiceHandler {
  package typealias Call = ServiceCall<VendingCommand, VendingResult>
  package typealias Views = ServiceViews<VendingRequest, VendingResult>

  package static var executable: String { "bank-vending" }
  package static var whileShort: String { "no new business, what was begun is finished" }
  package static var audit: VendingCommand { .audit }

  package let driver: MachineDriver<Machine, VendingPersistence>
  package let clock = TurnClock()
  /// The customers' socket, and behind it the manager's.
  package let endpoints: [ServiceEndpoint]
  package var views: Views { viewers.views }

  let shelf: DrinkShelf
  private let stock: StockClient
  private let patience: TimeSpan
  private let customerMode: CustomerMode<Machine>
  private let adminMode: AdminMode
  private let viewers = ViewerTable<Machine>()

  /// - Parameter stock: the machine's own way to the stock, on the server's loop.
  package init(
    _ driver: MachineDriver<Machine, VendingPersistence>, table: ProductTable, stock: StockClient,
    patience: StockPatience = StockPatience()
  ) {
    self.driver = driver
    self.stock = stock
    self.patience = patience.look
    endpoints = [
      ServiceEndpoint("vending", group: table.customersGroup.map { (name: $0, setting: "customers_group") }),
      ServiceEndpoint("vending-admin"),
    ]
    shelf = DrinkShelf(table, stock)
    customerMode = CustomerMode(driver, shelf, stock, clock, patience)
    adminMode = AdminMode(shelf, stock, clock, patience.manager)
  }

  var today: DayNumber { clock.today }
  private func isManager(_ call: Call) -> Bool { call.endpoint == 1 }

  /// Goes on with what was left open.
  package func begin() {
    shelf.open()
    driver.noteRoom(at: clock.now)
    driver.happen(.began, at: clock.now)
  }

  package func describe(in fields: inout LogFields) {
    fields.field("products", shelf.table.products.count)
    fields.field("changes", driver.machine.settledSequence)
    fields.field("unfinished", driver.machine.unfinishedCount)
  }

  /// What the stock says is heard first, and what is asked of it leaves with this turn.
  package func beforeCommit() {
    stock.endTurn()
    shelf.endTurn(clock.now.monotonic)
  }

  /// Asks the stock for what the commit has made certain, and again for what it would not do.
  package func afterCommit() {
    customerMode.endTurn()
    stock.endTurn()
  }

  package var nextDeadline: MonotonicTime? {
    .earliest(stock.nextDeadline, customerMode.nextDeadline, shelf.nextDeadline)
  }

  package func publish() { if !driver.machine.isUnsettled, shelf.isKnown { viewers.publish(self) } }

  package func react(to request: VendingRequest, _ call: Call) -> ServiceReaction<VendingEvent, VendingResult>
  {
    let (command, isManager) = (request.command, isManager(call))
    guard command.side == .both || (command.side == .manager) == isManager else {
      let remark = Remark(isManager ? .managersSocket : .customersSocket)
      return .answer(.failure(VendingFailure(.wrongSide, remark: remark)))
    }
    guard command.changesSomething else { return .question(within: needsStock(command) ? patience : .zero) }
    guard let name = request.order, name.isValid, name.text.utf8.count <= VendingLimits.requestLength else {
      return .answer(.failure(VendingFailure(.badRequest(request.order?.text ?? ""))))
    }
    if let action = command.action { return .event(.asked(call.id, name, action)) }
    adminMode.ask(command, as: name) { call.answer($0) }
    return .later
  }

  package static func isWork(_ answer: VendingAnswer) -> Bool {
    if case .done = answer { true } else { false }
  }

  package func reply(_ answer: VendingAnswer, to call: Call) { call.answer(VendingResult(answer)) }

  private func needsStock(_ question: VendingCommand) -> Bool {
    switch question {
    case .balance, .history, .audit: false
    default: true
    }
  }

  /// Who looks waits until the stock has told something.
  package func isReady(for question: VendingCommand) -> Bool { shelf.isKnown || !needsStock(question) }

  /// What somebody is told who looks while the stock says nothing.
  package func excuse(for question: VendingCommand) -> VendingResult {
    .failure(VendingFailure(.stockUnavailable, remark: shelf.trouble ?? Remark(.stockSilent)))
  }

  /// The answer to a question; nil where the client follows from now on.
  package func answer(_ question: VendingCommand, of call: Call) -> VendingResult? {
    switch question {
    case .balance: return .picture(picture([], withLots: false))
    case .history(let page):
      let limit = Int(min(max(page.limit, 0), 500))
      return .history(driver.purchases(after: max(0, page.after), limit: limit))
    case .audit: return driver.audit()
    case .expired: return .picture(picture(shelf.expired(on: today), withLots: true))
    case .follow:
      if viewers.admit(call, showsLots: isManager(call), self) { return nil }
      return .failure(VendingFailure(.crowded, remark: Remark(.viewsOpen, call.viewsOfOne)))
    default:
      let isManager = isManager(call)
      return .picture(picture(shelf.reports(on: today, withLots: isManager), withLots: isManager))
    }
  }

  /// The machine as it is on disk, with these products.
  func picture(_ products: [ProductReport], withLots: Bool) -> VendingPicture {
    let bought = driver.persistence
    let sales = bought.sales.sorted { $0.key < $1.key }.map { SalesReport(product: $0.key, count: $0.value) }
    return VendingPicture(
      sequence: driver.machine.settledSequence, balance: driver.machine.settledAccount.balance,
      free: driver.machine.settledFree, today: today, products: products, sales: sales, recent: bought.recent)
  }
}

extension TurnClock {
  /// The day that people here have.
  var today: DayNumber {
    let day = LocalCalendar.day(atMilliseconds: now.wall.milliseconds)
    return min(max(day, StockLimits.days.lowerBound), StockLimits.days.upperBound)
  }
}
