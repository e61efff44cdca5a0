// Handling of the requests to a vending machine on the customers' socket and on the manager's socket.
// Invariant: a request on the wrong socket is refused before it is processed.

import BankModel
import Logbook
import Posix
import ServiceProcess
import StockClient
import Time
import Transport
import VendingCore
import Wire

/// Timeouts of requests to the stock.
package struct StockPatience: Sendable {
  /// Time to wait for the first snapshot, for a client that queries the machine.
  package var look = TimeSpan.seconds(8)
  /// Time to wait for a drink before the purchase is abandoned. Shorter than the client's timeout.
  package var purchase = TimeSpan.seconds(8)
  /// Time to wait for a change by the manager.
  package var manager = TimeSpan.seconds(8)
  /// Time to wait for the return of a purchase's drink before the stock is asked again.
  package var release = TimeSpan.minutes(60)
  /// Pause before a refused return is requested again.
  package var pause = TimeSpan.seconds(1)

  package init() {}
}

/// The vending machine of one bank. Not Sendable: everything happens on the loop's thread.
package final class VendingService<Machine: VendingDecisions>: ServiceHandler {
  package typealias Call = ServiceCall<VendingCommand, VendingResult>
  package typealias Views = ServiceViews<VendingRequest, VendingResult>

  package static var executable: String { "bank-vending" }
  package static var whileShort: String { "no new requests are accepted, open purchases are finished" }
  package static var audit: VendingCommand { .audit }

  package let driver: MachineDriver<Machine, VendingPersistence>
  package let clock = TurnClock()
  /// The customers' socket, then the manager's.
  package let endpoints: [ServiceEndpoint]
  package var views: Views { viewers.views }

  let shelf: DrinkShelf
  private let stock: StockClient
  private let patience: TimeSpan
  private let customerMode: CustomerMode<Machine>
  private let adminMode: AdminMode
  private let viewers = ViewerTable<Machine>()

  /// - Parameter stock: the machine's client of the stock, on the server's loop.
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

  /// Subscribes to the stock and continues unfinished purchases.
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

  /// Handles the stock's messages first, and sends requests to the stock within this iteration.
  package func beforeCommit() {
    stock.endTurn()
    shelf.endTurn(clock.now.monotonic)
  }

  /// Sends the requests to the stock that depend on the commit, and repeats returns that the stock has refused.
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

  /// A query about drinks waits until the stock has sent its data and has the products.
  package func isReady(for question: VendingCommand) -> Bool { shelf.isKnown || !needsStock(question) }

  /// Answer to a query if the data of the stock does not arrive in time.
  package func excuse(for question: VendingCommand) -> VendingResult {
    .failure(VendingFailure(.stockUnavailable, remark: shelf.trouble ?? Remark(.stockSilent)))
  }

  /// Answers a query; nil if the client becomes a subscriber, or if the disk has failed.
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

  /// Snapshot of the committed state, with these products.
  func picture(_ products: [ProductReport], withLots: Bool) -> VendingPicture {
    let bought = driver.persistence
    let sales = bought.sales.sorted { $0.key < $1.key }.map { SalesReport(product: $0.key, count: $0.value) }
    return VendingPicture(
      sequence: driver.machine.settledSequence, balance: driver.machine.settledAccount.balance,
      free: driver.machine.settledFree, today: today, products: products, sales: sales, recent: bought.recent)
  }
}

extension TurnClock {
  /// The day in the local time zone.
  var today: DayNumber {
    let day = LocalCalendar.day(atMilliseconds: now.wall.milliseconds)
    return min(max(day, StockLimits.days.lowerBound), StockLimits.days.upperBound)
  }
}
