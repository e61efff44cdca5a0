// Owns `POST /api/v1/…`: what scripts can have done over HTTP. Each becomes a request of one of the three sockets.
// Invariant: with an `Idempotency-Key` a request that adds, orders, pays or changes stock is done once, however often it is
// sent; the same key with another request is refused (409).
import BankModel
import Posix
import Reports
import StockClient
import Time
import VendingClient
import WebCore
import WebServer
import Wire

extension APIRoutes {
  func post(_ path: [String], _ exchange: HTTPExchange) {
    guard let body = APIBody(exchange.request.body) else {
      return misunderstood(exchange, "the body is not one JSON object")
    }
    guard let key = key(exchange.request) else {
      return misunderstood(exchange, "an Idempotency-Key has 1 to 60 visible characters of ASCII")
    }
    guard let names = Self.names[path.joined(separator: "/")] else { return missing(exchange) }
    guard body.hasOnly(names) else {
      return misunderstood(exchange, "understood are: " + names.sorted().joined(separator: ", "))
    }
    switch path.joined(separator: "/") {
    case "customers": addCustomers(body, key, exchange)
    case "reset": reset(body, exchange)
    case "pause", "resume": pause(body, path[0] == "pause", exchange)
    case "scale": scale(body, exchange)
    case "cancel", "requeue": choose(body, path[0] == "cancel", exchange)
    case "juice": orderJuice(body, key, exchange)
    case "stock": changeStock(body, key, exchange)
    default: useMachine(path[1], body, key, exchange)
    }
  }

  /// What each request understands.
  private static let names: [String: Set<String>] = [
    "customers": ["count", "service", "grade", "priority", "amount", "account", "payload"], "reset": ["day"],
    "pause": ["service"], "resume": ["service"], "scale": ["service", "windows"],
    "cancel": ["tickets", "day"], "requeue": ["tickets", "day"], "juice": ["juice"],
    "stock": ["item", "quantity", "change"], "vending/insert": ["amount"], "vending/buy": ["product"],
    "vending/return": [],
  ]

  /// The key of a request, or a new one; nil where the one that it has is none.
  private func key(_ request: HTTPRequest) -> String? {
    guard let key = request.headers["idempotency-key"] else { return PageDirector.newKey() }
    let isGood =
      (1...60).contains(key.utf8.count) && key.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    return isGood ? key : nil
  }

  // MARK: - The bank

  private func addCustomers(_ body: APIBody, _ key: String, _ exchange: HTTPExchange) {
    let service = body.text("service").flatMap { ServiceName($0) }
    let priority =
      body.text("grade").map { Priority(name: $0) }
      ?? body.number("priority").map { UInt32(exactly: $0).map { Priority($0) } } ?? .regular
    guard let count = body.has("count") ? body.number("count") : 1, count > 0, let priority,
      !body.has("service") || service != nil, !body.has("amount") || body.number("amount") != nil,
      !body.has("account") || body.number("account") != nil
    else { return misunderstood(exchange) }
    let order = EnqueueOrder(
      count: count, service: service, priority: priority, amount: body.number("amount"),
      account: body.number("account"), seed: FormActions.seed(of: key), key: key,
      payload: body.text("payload").map { Array($0.utf8) })
    ask(.enqueue(order), exchange, within: .seconds(20), \.enqueued) { .enqueued($0, ofList: false) }
  }

  private func reset(_ body: APIBody, _ exchange: HTTPExchange) {
    if let day = body.number("day") {
      return ask(.reset(day: day), exchange, within: .seconds(60), \.status, JSONValue.status)
    }
    guard !body.has("day") else { return misunderstood(exchange) }
    // The day is asked for first, so that asking again after a lost connection empties nothing twice.
    control.ask(.status) { [self] outcome in
      switch outcome.only(\.status) {
      case .success(let report):
        ask(.reset(day: report.day), exchange, within: .seconds(60), \.status, JSONValue.status)
      case .failure(let failure): exchange.respond(Self.refusal(failure))
      }
    }
  }

  private func pause(_ body: APIBody, _ isPause: Bool, _ exchange: HTTPExchange) {
    let service = body.text("service").flatMap { ServiceName($0) }
    guard !body.has("service") || service != nil else { return misunderstood(exchange) }
    ask(isPause ? .pause(service) : .resume(service), exchange, \.status, JSONValue.status)
  }

  private func scale(_ body: APIBody, _ exchange: HTTPExchange) {
    guard let service = body.text("service").flatMap({ ServiceName($0) }),
      let windows = body.number("windows"), (0...Limits.windowsPerService).contains(windows)
    else { return misunderstood(exchange) }
    let command = ControlCommand.scale([ServiceWindows(service: service, count: windows)])
    ask(command, exchange, within: .seconds(30), \.status, JSONValue.status)
  }

  private func choose(_ body: APIBody, _ isCancelling: Bool, _ exchange: HTTPExchange) {
    guard let tickets = body.numbers("tickets"), !tickets.isEmpty, tickets.allSatisfy({ $0 > 0 }),
      Int64(tickets.count) <= TicketSelection.ticketsAtMost, !body.has("day") || body.number("day") != nil
    else { return misunderstood(exchange) }
    let selection = TicketSelection(spans: FormActions.spans(tickets), day: body.number("day"))
    let command: ControlCommand = isCancelling ? .cancelAll(selection) : .requeueAll(selection)
    ask(command, exchange, within: .seconds(30), \.selection) { report in
      let refused = report.refused.map { refused -> JSONValue in
        [
          "ticket": .integer(refused.ticket), "code": .string(refused.reason.rawValue),
          "state": .init(refused.state?.name),
        ]
      }
      return ["version": 1, "done": .integer(report.done), "refused": .array(refused)]
    }
  }

  // MARK: - The shop

  private func orderJuice(_ body: APIBody, _ key: String, _ exchange: HTTPExchange) {
    guard let name = body.text("juice") else { return misunderstood(exchange) }
    // What nobody can make is no customer's: it would be a dead letter.
    application.stock.ask(.assortment, until: deadline) { [self] answer in
      guard case .success(.assortment(let assortment)) = answer else {
        return exchange.respond(Self.refusal(answer))
      }
      guard let juice = assortment.juice(called: name)?.id else {
        let known = assortment.juices.map(\.id.name).joined(separator: ", ")
        return exchange.respond(
          Self.refusal(404, "no_such_juice", "there is no such juice; there are: \(known)"))
      }
      order(juice, key, exchange)
    }
  }

  private func order(_ juice: ItemID, _ key: String, _ exchange: HTTPExchange) {
    control.ask(.enqueue(EnqueueOrder(juice: juice, key: key))) { [self] outcome in
      switch outcome.only(\.enqueued) {
      case .success(let report): awaitJuice(report, juice, exchange)
      case .failure(let failure): exchange.respond(Self.refusal(failure))
      }
    }
  }

  private func awaitJuice(_ ticket: EnqueuedReport, _ juice: ItemID, _ exchange: HTTPExchange) {
    let end = ControlCommand.awaitTickets(day: ticket.day, first: ticket.first, last: ticket.last)
    control.ask(end, within: .seconds(20)) { [self] outcome in
      if case .failure = outcome {
        return exchange.respond(
          Self.refusal(
            503, "unfinished", "ticket \(ticket.first) is not done yet; ask again with the same key"))
      }
      control.ask(.ticket(number: ticket.first, day: ticket.day)) { [self] outcome in
        switch outcome.only(\.ticket) {
        case .success(let report): tell(report, juice, exchange)
        case .failure(let failure): exchange.respond(Self.refusal(failure))
        }
      }
    }
  }

  private func tell(_ report: TicketReport, _ juice: ItemID, _ exchange: HTTPExchange) {
    let phrases = Phrasebook(.english)
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

  private func changeStock(_ body: APIBody, _ key: String, _ exchange: HTTPExchange) {
    let item = ItemID(body.text("item") ?? "")
    let command: StockCommand
    if let quantity = body.number("quantity"), !body.has("change") {
      command = .set(ItemAmount(item, quantity))
    } else if let change = body.number("change"), !body.has("quantity") {
      command = .change(ItemAmount(item, change), nil)
    } else {
      return misunderstood(exchange)
    }
    guard item.isValid else { return misunderstood(exchange) }
    application.stock.ask(command, as: OrderID(key), until: deadline) { [self] answer in
      guard case .success(.done) = answer else { return exchange.respond(Self.refusal(answer)) }
      askStock(exchange, JSONValue.stock)
    }
  }

  private func useMachine(_ what: String, _ body: APIBody, _ key: String, _ exchange: HTTPExchange) {
    let command: VendingCommand
    switch what {
    case "insert":
      guard let amount = body.number("amount") else { return misunderstood(exchange) }
      command = .insert(amount)
    case "buy":
      let product = ItemID(body.text("product") ?? "")
      guard product.isValid else { return misunderstood(exchange) }
      command = .buy(product)
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
