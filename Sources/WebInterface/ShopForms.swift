// The forms of the shop's pages: juices, stock, vending machine and its manager's side.
// Invariant: the manager's socket is used only for visitors with the manager's rights. An order of a juice and a change
// of stock or money has an order id or an idempotency key made from the form's key, so that it is executed once.
import BankModel
import Posix
import StockClient
import Time
import VendingClient
import WebCore
import WebPages
import WebServer
import Wire

/// Handler of the forms of the juice maker and the vending machine.
final class ShopForms {
  private unowned let application: WebApplication
  private var control: CoordinatorConnection { application.control }
  /// Connection to the manager's side of the vending machine.
  private lazy var manager = VendingClient(
    socket: VendingClient.managersSocket(inHome: application.options.home), loop: application.loop)

  /// Maximum wait for the end of a juice order.
  private static let juiceTimeout = TimeSpan.seconds(8)
  /// Maximum wait for an answer of the stock or the vending machine.
  private static let timeout = TimeSpan.seconds(5)

  init(_ application: WebApplication) { self.application = application }

  /// Executes a form of the juice maker or the vending machine.
  func serve(_ form: SubmittedForm, _ action: FormAction) throws(FieldError) {
    switch action {
    case .juice: try orderJuice(form)
    case .stock: try changeStock(form)
    case .insert, .buy, .change: try useMachine(form, action)
    case .managerLogin: try becomeManager(form)
    case .restock, .discard: try manage(form, action)
    default: form.refuse(.badForm, at: "/")
    }
  }

  /// Order id made of the idempotency key of a form, so that a form sent twice is executed once.
  private func order(_ form: SubmittedForm) throws(FieldError) -> OrderID { OrderID(try form.key()) }

  // MARK: - Juice

  /// Orders a juice of the present menu.
  private func orderJuice(_ form: SubmittedForm) throws(FieldError) {
    let juice = try form.fields.needed(try form.fields.item("juice"), "juice")
    let key = try form.key()
    // An outdated page may have buttons for juices that are not on the menu any more.
    application.stock.ask(.assortment, until: SystemClock.monotonic() + Self.timeout) { [self] answer in
      guard case .success(.assortment(let assortment)) = answer else {
        return form.refuse(.stockUnavailable, at: "/juice")
      }
      guard assortment.juices.contains(where: { $0.id == juice }) else {
        return form.refuse(.noSuchJuice, at: "/juice")
      }
      order(form, juice, key)
    }
  }

  /// Adds the customer whose work makes the juice, and waits for the end of the order.
  private func order(_ form: SubmittedForm, _ juice: ItemID, _ key: String) {
    control.ask(.enqueue(EnqueueParameters(juice: juice, key: key))) { [self] outcome in
      switch outcome.only(\.enqueued) {
      case .success(let report): awaitJuice(form, juice, report)
      case .failure(let failure):
        form.refuse(failure.code == .noSuchService ? .noStation : PageRefusal(failure), at: "/juice")
      }
    }
  }

  /// Waits for the end of a juice order, and answers the form with its result.
  private func awaitJuice(_ form: SubmittedForm, _ juice: ItemID, _ ticket: EnqueuedReport) {
    let end = ControlCommand.awaitTickets(day: ticket.day, first: ticket.first, last: ticket.last)
    control.ask(end, within: Self.juiceTimeout) { [self] outcome in
      if case .failure = outcome { return stopWaiting(form, ticket) }
      control.ask(.ticket(number: ticket.first, day: ticket.day)) { outcome in
        switch outcome.only(\.ticket) {
        case .success(let report): form.answer(Self.notice(report, juice), at: "/juice")
        case .failure: form.refuse(.inDoubt, at: "/juice")
        }
      }
    }
  }

  /// Notice with the result of a finished juice order.
  private static func notice(_ report: TicketReport, _ juice: ItemID) -> Notice {
    switch report.receipt?.outcome {
    case .served: return .juiceReady(juice)
    case .outOfStock:
      guard let short = report.receipt?.shortages?.first else { return .refused(.failed) }
      return .juiceShort(juice, fruit: short.item, needed: short.needed, available: short.available)
    case .cancelled: return .refused(.changed)
    case nil: return .refused(.failed)
    }
  }

  /// Ends the wait for a juice order that takes too long. The order stays in the queue if a station works, and is
  /// cancelled if none does.
  private func stopWaiting(_ form: SubmittedForm, _ ticket: EnqueuedReport) {
    control.ask(.status) { [self] outcome in
      switch outcome.only(\.status) {
      case .success(let report) where report.hasJuiceStation: answerQueued(form, ticket)
      case .success: cancelOrder(form, ticket)
      case .failure: form.refuse(.inDoubt, at: "/juice")
      }
    }
  }

  /// Answers that the order is still in the queue, with the page of its ticket.
  private func answerQueued(_ form: SubmittedForm, _ ticket: EnqueuedReport) {
    form.answer(.refused(.unfinished), at: "/ticket/\(ticket.first)?day=\(ticket.day)", isMoved: true)
  }

  /// Cancels the order. An order in progress is kept.
  private func cancelOrder(_ form: SubmittedForm, _ ticket: EnqueuedReport) {
    control.ask(.cancel(ticket.first, day: ticket.day)) { [self] outcome in
      switch outcome {
      case .success: form.refuse(.noStation, at: "/juice")
      case .failure: answerQueued(form, ticket)
      }
    }
  }

  // MARK: - Stock

  /// Changes or sets the amount of a fruit.
  private func changeStock(_ form: SubmittedForm) throws(FieldError) {
    let page = "/juice/stock"
    let fields = form.fields
    try fields.exclude("change", beside: "quantity")
    let item = try fields.needed(try fields.item("item"), "item")
    let order = try order(form)
    let command: StockCommand
    if let change = try fields.number("change", in: -StockLimits.quantity...StockLimits.quantity) {
      command = .change(ItemAmount(item, change), nil)
    } else {
      let quantity = try fields.number("quantity", in: 0...StockLimits.quantity)
      command = .set(ItemAmount(item, try fields.needed(quantity, "quantity")))
    }
    application.stock.ask(command, as: order, until: SystemClock.monotonic() + Self.timeout) {
      [self] answer in
      switch answer {
      case .success(.done(let changes)):
        // `changes` is empty if the amount was already right.
        let present = changes.last?.present ?? quantity(of: item)
        form.answer(.stocked(item, quantity: present), at: page)
      case .success(.short): form.refuse(.tooFew, at: page)
      case .success(.failure(let failure)): form.refuse(PageRefusal(failure), at: page)
      case .success: form.refuse(.failed, at: page)
      case .failure(.tryLater(_, let isInDoubt)):
        form.refuse(isInDoubt ? .inDoubt : .stockUnavailable, at: page)
      case .failure: form.refuse(.stockUnavailable, at: page)
      }
    }
  }

  /// Last known amount of an item; 0 if it is unknown.
  private func quantity(of item: ItemID) -> Quantity {
    application.dataSources.stock?.items.first { $0.item == item }?.quantity ?? 0
  }

  // MARK: - Vending machine

  /// Inserts money, buys a drink, or returns the money.
  private func useMachine(_ form: SubmittedForm, _ action: FormAction) throws(FieldError) {
    let page = "/vending"
    let fields = form.fields
    let order = try order(form)
    let command: VendingCommand
    switch action {
    case .insert:
      command = .insert(try fields.needed(try fields.number("amount", in: 1...Int64.max), "amount"))
    case .buy: command = .buy(try fields.needed(try fields.item("product"), "product"))
    default: command = .giveChange
    }
    let deadline = SystemClock.monotonic() + Self.timeout
    application.vending.ask(command, as: order, until: deadline) { answer in
      switch answer {
      case .success(.done(let change)):
        switch change.kind {
        case .inserted: form.answer(.inserted(change.amount), at: page)
        case .bought: form.answer(.bought(change.product ?? ItemID("")), at: page)
        case .returned: form.answer(.returned(change.amount), at: page)
        }
      default: form.refuse(Self.refusal(answer), at: page)
      }
    }
  }

  /// Reason for the refusal in an answer that is not the expected one.
  private static func refusal(_ answer: Result<VendingResult, VendingClientError>) -> PageRefusal {
    switch answer {
    case .success(.failure(let failure)): PageRefusal(failure)
    case .success: .failed
    case .failure(.tryLater(_, let isInDoubt)): isInDoubt ? .inDoubt : .vendingUnavailable
    case .failure: .vendingUnavailable
    }
  }

  // MARK: - Manager

  /// Checks the manager's code, and gives the session the manager's rights if it is right.
  private func becomeManager(_ form: SubmittedForm) throws(FieldError) {
    let page = "/vending/admin"
    let request = form.exchange.request
    let code = try form.fields.text("code") ?? ""
    switch application.credentials.checkCode(code: code, of: request, at: SystemClock.monotonic()) {
    case .right:
      application.makeManager(request)
      form.exchange.respond(.seeOther(page))
    case .wrong: refuseCode(form, .wrongCode, 403, ManagerLoginPage(wasWrong: true))
    case .pause: refuseCode(form, .codePause, 429, ManagerLoginPage(isPaused: true))
    }
  }

  /// Refuses a code that is wrong or was not checked: as JSON for a script, or with the login page again.
  private func refuseCode(
    _ form: SubmittedForm, _ refusal: PageRefusal, _ status: Int, _ page: ManagerLoginPage
  ) {
    if form.exchange.request.wantsJSON { return form.refuse(refusal, at: "/vending/admin") }
    let frame = application.pageSubscriptions.frame(form.exchange.request)
    form.exchange.respond(.page(page.html(frame), status: status))
  }

  /// Adds drinks, or discards expired ones, if the visitor has the manager's rights.
  private func manage(_ form: SubmittedForm, _ action: FormAction) throws(FieldError) {
    let page = "/vending/admin"
    guard application.isManager(form.exchange.request) else {
      return form.refuse(.notManager, at: page)
    }
    let fields = form.fields
    let order = try order(form)
    let command: VendingCommand
    let product: ItemID
    if action == .restock {
      product = try fields.needed(try fields.item("product"), "product")
      let count = try fields.number("count", in: 1...StockLimits.quantity)
      command = .add(
        AddedDrinks(
          product: product, quantity: try fields.needed(count, "count"), made: try date("made", fields),
          expires: try date("expires", fields)))
    } else {
      (product, command) = (ItemID(""), .discardExpired)
    }
    manager.ask(command, as: order, until: SystemClock.monotonic() + Self.timeout) { answer in
      switch answer {
      case .success(.stocked(let changes)) where action == .restock:
        form.answer(.restocked(product, count: changes.reduce(0) { $0 + $1.difference }), at: page)
      case .success(.stocked(let changes)):
        form.answer(.discarded(count: changes.reduce(0) { $0 - $1.difference }), at: page)
      default: form.refuse(Self.refusal(answer), at: page)
      }
    }
  }

  /// A date as a day number; nil if the field is absent.
  private func date(_ name: String, _ fields: RequestFields) throws(FieldError) -> DayNumber? {
    try fields.value(name, expected: "a date such as 2026-03-01") { CalendarDate(text: $0)?.number }
  }

  // MARK: - Loop

  /// Deadline for the next call of `finishIteration()`; nil for none.
  var nextDeadline: MonotonicTime? { manager.nextDeadline }
  /// Continues the connection to the manager's side.
  func finishIteration() { if manager.nextDeadline != nil { manager.finishIteration() } }
}

extension StatusReport {
  /// True if juice is not paused here, and a juice station of this branch works or is about to start, or other branches
  /// have windows for juice.
  fileprivate var hasJuiceStation: Bool {
    guard let own = services.first(where: { $0.service == .juice }), !own.paused else { return false }
    let elsewhere = (bank?.services.first { $0.service == .juice }?.windows ?? 0) > own.windows
    return elsewhere
      || workers.contains {
        $0.service == .juice && $0.isFailed != true && [.idle, .serving, .starting].contains($0.state)
      }
  }
}

extension EnqueueParameters {
  /// An order of one juice. A page and a script that send the same key send the same order.
  init(juice: ItemID, key: String) {
    self.init(
      count: 1, service: .juice, priority: .regular, amount: nil, account: nil,
      seed: FormActions.seed(of: key), key: "juice-" + key, itemName: juice.name)
  }
}

extension PageRefusal {
  /// Reason why the stock refused a request.
  init(_ failure: StockFailure) {
    self =
      switch failure.code {
      case .unknownItem: .noSuchItem
      case .badRequest, .itemHasDates: .badForm
      case .orderConflict: .keyConflict
      case .diskFull: .diskFull
      case .crowded: .crowded
      case .overflow, .tooManyLots: .shelfFull
      case .wasReturned, .slowConsumer: .failed
      }
  }

  /// Reason why the machine refused a request.
  init(_ failure: VendingFailure) {
    self =
      switch failure.code {
      case .unknownProduct: .noSuchProduct
      case .badRequest: .badForm
      case .orderConflict: .keyConflict
      case .tooLittleMoney: .tooLittleMoney
      case .soldOut: .soldOut
      case .onlyExpired: .onlyExpired
      case .balanceLimit: .balanceLimit
      case .shelfFull: .shelfFull
      case .wrongSide: .notManager
      case .stockUnavailable: .stockUnavailable
      case .diskFull: .diskFull
      case .crowded: .crowded
      case .slowConsumer: .failed
      }
  }
}
