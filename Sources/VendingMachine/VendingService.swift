// Handling of the requests to a vending machine on the customers' socket and on the manager's socket.
// Invariant: a request on the wrong socket is refused before it is processed.

import BankModel
import Logging
import Posix
import ServiceProcess
import StockClient
import Time
import Transport
import VendingCore
import Wire

/// Timeouts of the vending machine's requests to the stock.
package struct StockTimeouts: Sendable {
  /// Time to wait for the first snapshot, for a client that queries the machine.
  package var querySnapshot = TimeSpan.seconds(8)
  /// Time to wait for a drink before the purchase is abandoned. Should be shorter than the time for which a client
  /// waits for an answer.
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
package final class VendingService<Machine: VendingServiceMachine>: ServiceHandler {
  /// A request of a client to the machine, and the way to answer it.
  package typealias Call = ServiceCall<VendingCommand, VendingResult>
  /// The subscriptions of the machine's clients.
  package typealias Views = ServiceSubscriptions<VendingRequest, VendingResult>

  package static var executable: String { "bank-vending" }
  /// What the machine still does while the disk space is low, for messages.
  package static var lowSpaceNotice: String { "no new requests are accepted, open purchases are finished" }
  package static var audit: VendingCommand { .audit }

  package let driver: MachineDriver<Machine, VendingPersistence>
  package let clock = IterationClock()
  /// The customers' socket, then the manager's.
  package let endpoints: [ServiceEndpoint]
  package var views: Views { viewers.views }

  let shelf: DrinkShelf
  private let stock: StockClient
  /// Maximum time for which a query about drinks waits for the data of the stock.
  private let patience: TimeSpan
  private let purchaseOperations: PurchaseOperations<Machine>
  private let administration: MachineAdministration
  private let viewers = VendingSubscriptions<Machine>()

  /// - Parameter stock: the machine's client of the stock, on the server's loop.
  package init(
    _ driver: MachineDriver<Machine, VendingPersistence>, table: ProductTable, stock: StockClient,
    patience: StockTimeouts = StockTimeouts()
  ) {
    self.driver = driver
    self.stock = stock
    self.patience = patience.querySnapshot
    endpoints = [
      ServiceEndpoint("vending", group: table.customersGroup.map { (name: $0, setting: "customers_group") }),
      ServiceEndpoint("vending-admin"),
    ]
    shelf = DrinkShelf(table, stock)
    purchaseOperations = PurchaseOperations(driver, shelf, stock, clock, patience)
    administration = MachineAdministration(shelf, stock, clock, patience.manager)
  }

  var today: DayNumber { clock.today }
  /// True if the request came over the manager's socket.
  private func isManager(_ call: Call) -> Bool { call.endpoint == 1 }

  /// Subscribes to the stock and continues unfinished purchases.
  package func begin() {
    shelf.open()
    driver.noteDiskSpace(at: clock.now)
    driver.process(.began, at: clock.now)
  }

  /// Adds the numbers of products, changes and unfinished purchases to the line that reports the start.
  package func describe(in fields: inout LogFields) {
    fields.field("products", shelf.table.products.count)
    fields.field("changes", driver.machine.durableSequence)
    fields.field("unfinished", driver.machine.unfinishedCount)
  }

  /// Sends pending requests to the stock, and calls the closures of the view that are due.
  package func beforeCommit() {
    stock.finishIteration()
    shelf.finishIteration(clock.now.monotonic)
  }

  /// Sends the requests to the stock that depend on the commit, and repeats returns that the stock has refused.
  package func afterCommit() {
    purchaseOperations.finishIteration()
    stock.finishIteration()
  }

  package var nextDeadline: MonotonicTime? {
    .earliest(stock.nextDeadline, purchaseOperations.nextDeadline, shelf.nextDeadline)
  }

  /// Sends subscribers the changes since the last publication, if nothing is staged.
  package func publish() { if !driver.machine.hasUncommittedChanges, shelf.isKnown { viewers.publish(self) } }

  /// Decides how a request is handled: refused, answered by a query, or passed to the machine or the stock.
  package func react(to request: VendingRequest, _ call: Call) -> ServiceReaction<VendingEvent, VendingResult>
  {
    let (command, isManager) = (request.command, isManager(call))
    guard command.side == .both || (command.side == .manager) == isManager else {
      let messageDetail = MessageDetail(isManager ? .managersSocket : .customersSocket)
      return .answer(.failure(VendingFailure(.wrongSide, messageDetail: messageDetail)))
    }
    guard command.changesSomething else { return .query(within: needsStock(command) ? patience : .zero) }
    guard let name = request.order, name.isValid, name.text.utf8.count <= VendingLimits.requestLength else {
      return .answer(.failure(VendingFailure(.badRequest(request.order?.text ?? ""))))
    }
    if let action = command.action { return .event(.requested(call.id, name, action)) }
    administration.ask(command, as: name) { call.answer($0) }
    return .later
  }

  /// True if the answer says that the request was executed.
  package static func changesData(_ answer: VendingAnswer) -> Bool {
    if case .done = answer { true } else { false }
  }

  /// Sends the state machine's answer to the client.
  package func reply(_ answer: VendingAnswer, to call: Call) { call.answer(VendingResult(answer)) }

  /// True if the answer to this query contains amounts of drinks, which the stock must have sent first.
  private func needsStock(_ query: VendingCommand) -> Bool {
    switch query {
    case .balance, .history, .audit: false
    default: true
    }
  }

  /// True if a query can be answered now. One about drinks waits until the stock has sent data and has the products.
  package func isReady(for query: VendingCommand) -> Bool { shelf.isKnown || !needsStock(query) }

  /// Answer to a query if the data of the stock does not arrive in time.
  package func timeoutReply(for query: VendingCommand) -> VendingResult {
    .failure(
      VendingFailure(.stockUnavailable, messageDetail: shelf.refusalReason ?? MessageDetail(.stockSilent)))
  }

  /// Answers a query; nil if the client becomes a subscriber, or if the disk has failed.
  package func answer(_ query: VendingCommand, of call: Call) -> VendingResult? {
    switch query {
    case .balance: return .snapshot(picture([], withLots: false))
    case .history(let page):
      let limit = Int(min(max(page.limit, 0), PurchasePage.maxLimit))
      return .history(driver.purchases(after: max(0, page.after), limit: limit))
    case .audit: return driver.audit()
    case .expired: return .snapshot(picture(shelf.expired(on: today), withLots: true))
    case .follow:
      if viewers.admit(call, showsLots: isManager(call), self) { return nil }
      return .failure(
        VendingFailure(.crowded, messageDetail: MessageDetail(.viewsOpen, call.subscriptionsPerClient)))
    default:
      let isManager = isManager(call)
      return .snapshot(picture(shelf.reports(on: today, withLots: isManager), withLots: isManager))
    }
  }

  /// Snapshot of the committed state, with these products.
  func picture(_ products: [ProductReport], withLots: Bool) -> VendingSnapshot {
    let bought = driver.persistence
    let sales = bought.sales.sorted { $0.key < $1.key }.map { SalesReport(product: $0.key, count: $0.value) }
    return VendingSnapshot(
      sequence: driver.machine.durableSequence, balance: driver.machine.durableAccount.balance,
      availableBalance: driver.machine.durableAvailableBalance, today: today, products: products,
      sales: sales, recent: bought.recent)
  }
}

extension IterationClock {
  /// The day in the local time zone.
  var today: DayNumber {
    let day = LocalCalendar.day(atMilliseconds: now.wall.milliseconds)
    return min(max(day, StockLimits.days.lowerBound), StockLimits.days.upperBound)
  }
}
