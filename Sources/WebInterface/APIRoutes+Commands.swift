// `POST /api/v1/…`: commands of scripts over HTTP. Each command becomes requests to the coordinator, the stock or the
// vending machine.
// Invariant: with an `Idempotency-Key`, a request that adds, orders, pays, returns money or changes stock is executed
// at most once. A different request of the same kind with the key of a recorded one is refused (409).
import BankModel
import Posix
import JSONOutput
import StockClient
import Time
import VendingClient
import WebCore
import WebServer
import Wire

extension APIRoutes {
  /// Executes a command that a script sends with POST; `path` is the address after `/api/v1`.
  func post(_ path: [String], _ exchange: HTTPExchange) {
    guard let key = key(exchange.request) else {
      return misunderstood(exchange, "an Idempotency-Key has 1 to 60 visible characters of ASCII")
    }
    let name = path.joined(separator: "/")
    guard let names = Self.names[name] else { return missing(exchange) }
    do throws(FieldError) {
      _ = try RequestFields(exchange.request.target.query, known: [])
      let fields = try RequestFields(json: exchange.request.body, known: names)
      switch name {
      case "customers": try addCustomers(fields, key, exchange)
      case "reset": try reset(fields, exchange)
      case "pause", "resume": try pause(fields, name == "pause", exchange)
      case "scale": try scale(fields, exchange)
      case "cancel", "requeue": try applySelection(fields, name == "cancel", exchange)
      case "juice": try orderJuice(fields, key, exchange)
      case "stock": try changeStock(fields, key, exchange)
      default: try useMachine(path[1], fields, key, exchange)
      }
    } catch { refuse(exchange, error) }
  }

  /// The commands, with their accepted fields.
  private static let names: [String: Set<String>] = [
    "customers": ["count", "service", "grade", "priority", "amount", "account", "payload"], "reset": ["day"],
    "pause": ["service"], "resume": ["service"], "scale": ["service", "windows"],
    "cancel": ["tickets", "day"], "requeue": ["tickets", "day"], "juice": ["juice"],
    "stock": ["item", "quantity", "change"], "vending/insert": ["amount"], "vending/buy": ["product"],
    "vending/return": [],
  ]

  /// Idempotency key of a request, or a new one if the header is missing; nil for an invalid key.
  private func key(_ request: HTTPRequest) -> String? {
    guard let key = request.headers["idempotency-key"] else { return PageSubscriptions.newKey() }
    let isGood =
      (1...60).contains(key.utf8.count) && key.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    return isGood ? key : nil
  }

  // MARK: - The bank

  /// Adds the customers that the fields describe, and answers with their ticket numbers.
  private func addCustomers(
    _ fields: RequestFields, _ key: String, _ exchange: HTTPExchange
  ) throws(FieldError) {
    try fields.exclude("priority", beside: "grade")
    let grade = try fields.grade()
    let priority = try fields.number("priority", in: 0...Int64(UInt32.max)).map { Priority(UInt32($0)) }
    let payload = try fields.value(
      "payload", expected: "text (a string; give an object as the text of its JSON)"
    ) { $0 }
    let order = EnqueueParameters(
      count: try fields.number("count", in: 1...Limits.customersPerCommand) ?? 1,
      service: try fields.service(), priority: grade ?? priority ?? .regular,
      amount: try fields.number("amount"), account: try fields.number("account"),
      seed: FormActions.seed(of: key), key: key, payload: payload.map { Array($0.utf8) },
      isCommandLine: application.permitsCommandLines(exchange.request) ? nil : false)
    ask(.enqueue(order), exchange, within: .seconds(20), \.enqueued) { .enqueued($0, ofList: false) }
  }

  /// Resets the business day of the field `day`, or the present day if the field is absent.
  private func reset(_ fields: RequestFields, _ exchange: HTTPExchange) throws(FieldError) {
    if let day = try fields.day() {
      return ask(.reset(day: day), exchange, within: .seconds(60), \.status, JSONValue.status)
    }
    // The day is read first, so that a retry after a lost connection does not reset a second day.
    control.ask(.status) { [self] outcome in
      switch outcome.only(\.status) {
      case .success(let report):
        ask(.reset(day: report.day), exchange, within: .seconds(60), \.status, JSONValue.status)
      case .failure(let failure): exchange.respond(Self.refusal(failure))
      }
    }
  }

  /// Pauses the service of the fields, or resumes it if `isPause` is false; all services if the fields name none.
  private func pause(
    _ fields: RequestFields, _ isPause: Bool, _ exchange: HTTPExchange
  ) throws(FieldError) {
    let service = try fields.service()
    ask(isPause ? .pause(service) : .resume(service), exchange, \.status, JSONValue.status)
  }

  /// Sets the number of windows of a service.
  private func scale(_ fields: RequestFields, _ exchange: HTTPExchange) throws(FieldError) {
    let service = try fields.needed(try fields.service(), "service")
    let windows = try fields.needed(
      try fields.number("windows", in: 0...Limits.windowsPerService), "windows")
    WindowScaling(control).scale(service, to: windows) { [self] outcome in
      switch outcome {
      case .done(let report), .closing(let report): answer(exchange, JSONValue.status(report))
      case .refused(let failure): exchange.respond(Self.refusal(failure))
      }
    }
  }

  /// Cancels the listed customers, or requeues them if `isCancelling` is false, without a confirmation. Answers with
  /// the number of executed ones and the list of refused ones.
  private func applySelection(
    _ fields: RequestFields, _ isCancelling: Bool, _ exchange: HTTPExchange
  ) throws(FieldError) {
    let tickets = try fields.needed(
      try fields.numbers("tickets", in: 1...Limits.ticket, atMost: TicketSelection.ticketsAtMost), "tickets")
    let selection = TicketSelection(
      spans: FormActions.spans(tickets), day: try fields.day())
    let command: ControlCommand = isCancelling ? .cancelAll(selection) : .requeueAll(selection)
    ask(command, exchange, within: .seconds(30), \.selection) { report in
      let refused = report.refused.map { refused -> JSONValue in
        [
          "ticket": .integer(refused.ticket), "code": .string(refused.reason.name),
          "state": .init(refused.state?.name),
        ]
      }
      return ["version": 1, "done": .integer(report.done), "refused": .array(refused)]
    }
  }

  // MARK: - The shop

  /// Orders a juice and answers when it is made or refused.
  private func orderJuice(
    _ fields: RequestFields, _ key: String, _ exchange: HTTPExchange
  ) throws(FieldError) {
    let name = try fields.needed(try fields.text("juice"), "juice")
    // An order for an unknown juice would become a dead letter, so this server refuses it.
    application.stock.ask(.assortment, until: deadline) { [self] answer in
      guard case .success(.assortment(let assortment)) = answer else {
        return exchange.respond(Self.refusal(answer))
      }
      guard let juice = assortment.juice(called: name)?.id else {
        let known = assortment.juices.map(\.id.name).joined(separator: ", ")
        return exchange.respond(
          Self.refusal(.noSuchJuice, "there is no such juice; known juices: \(known)"))
      }
      order(juice, key, exchange)
    }
  }

  /// Adds the customer whose work makes the juice, and waits for the end of the order.
  private func order(_ juice: ItemID, _ key: String, _ exchange: HTTPExchange) {
    control.ask(.enqueue(EnqueueParameters(juice: juice, key: key))) { [self] outcome in
      switch outcome.only(\.enqueued) {
      case .success(let report): awaitJuice(report, juice, exchange)
      case .failure(let failure): exchange.respond(Self.refusal(failure))
      }
    }
  }

  /// Waits for the end of a juice order, and answers with its result.
  private func awaitJuice(_ ticket: EnqueuedReport, _ juice: ItemID, _ exchange: HTTPExchange) {
    let end = ControlCommand.awaitTickets(day: ticket.day, first: ticket.first, last: ticket.last)
    control.ask(end, within: .seconds(20)) { [self] outcome in
      if case .failure = outcome {
        return exchange.respond(
          Self.refusal(
            .orderPending, "ticket \(ticket.first) is not finished yet; repeat the request with the same key")
        )
      }
      control.ask(.ticket(number: ticket.first, day: ticket.day)) { [self] outcome in
        switch outcome.only(\.ticket) {
        case .success(let report): sendResult(report, juice, exchange)
        case .failure(let failure): exchange.respond(Self.refusal(failure))
        }
      }
    }
  }

  /// Answers with the result of a finished order.
  private func sendResult(_ report: TicketReport, _ juice: ItemID, _ exchange: HTTPExchange) {
    let phrases = StringCatalog(.english)
    let shortages = report.receipt?.shortages ?? []
    let (name, message): (String, String) =
      switch report.receipt?.outcome {
      case .served: ("made", phrases.juiceReady(juice.name))
      case .outOfStock: ("out_of_stock", phrases.tooLittleFruit)
      case .cancelled: ("cancelled", "It was cancelled.")
      case nil: ("failed", "It could not be made.")
      }
    let order = OrderID(day: report.day, ticket: report.ticket)
    let document = JSONValue.juice(
      order, Juice(id: juice, korean: "", english: "", recipe: []), name, shortages, message: message)
    exchange.respond(.json(Array(document.text.utf8), status: name == "made" ? 200 : 409))
  }

  /// Changes or sets the amount of an item, and answers with the stock.
  private func changeStock(
    _ fields: RequestFields, _ key: String, _ exchange: HTTPExchange
  ) throws(FieldError) {
    try fields.exclude("change", beside: "quantity")
    let item = try fields.needed(try fields.item("item"), "item")
    let command: StockCommand
    if let change = try fields.number("change") {
      command = .change(ItemAmount(item, change), nil)
    } else {
      command = .set(ItemAmount(item, try fields.needed(try fields.number("quantity"), "quantity")))
    }
    application.stock.ask(command, as: OrderID(key), until: deadline) { [self] answer in
      guard case .success(.done) = answer else { return exchange.respond(Self.refusal(answer)) }
      askStock(exchange, JSONValue.stock)
    }
  }

  /// Executes the command `what` at the vending machine: `insert` inserts money, `buy` buys a drink, `return` returns
  /// the money.
  private func useMachine(
    _ what: String, _ fields: RequestFields, _ key: String, _ exchange: HTTPExchange
  ) throws(FieldError) {
    let command: VendingCommand
    switch what {
    case "insert": command = .insert(try fields.needed(try fields.number("amount"), "amount"))
    case "buy": command = .buy(try fields.needed(try fields.item("product"), "product"))
    default: command = .giveChange
    }
    application.vending.ask(command, as: OrderID(key), until: deadline) { [self] answer in
      guard case .success(.done(let change)) = answer else { return exchange.respond(Self.refusal(answer)) }
      let document = JSONValue.balance(change.balance)
      switch change.kind {
      case .inserted: answerWith(exchange, document.adding(["inserted": .integer(change.amount)]))
      case .returned: answerWith(exchange, document.adding(["returned": .integer(change.amount)]))
      case .bought: answerWith(exchange, document.adding(.purchase(change)))
      }
    }
  }
}
