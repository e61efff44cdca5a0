// `GET /api/v1/…`: queries of scripts over HTTP, with the documents of `--json`.
// A failure is a JSON document with a code and a message.
import BankModel
import Posix
import JSONOutput
import StockClient
import Time
import VendingClient
import WebCore
import WebServer
import Wire

/// Handler of the requests of scripts, `/api/v1/…`.
final class APIRoutes {
  unowned let application: WebApplication
  var control: CoordinatorConnection { application.control }
  /// Maximum wait for an answer of the coordinator, the stock or the vending machine, unless a call sets another one.
  static let timeout = TimeSpan.seconds(5)

  init(_ application: WebApplication) { self.application = application }

  /// Handles a request whose path starts with `/api`.
  func serve(_ exchange: HTTPExchange) {
    let request = exchange.request
    let parts = request.target.segments.dropFirst()
    guard parts.first == "v1" else { return missing(exchange) }
    let path = parts.dropFirst().map { String($0) }
    if request.method == .post { post(path, exchange) } else { get(path, exchange) }
  }

  /// Answers a GET request of a script; `path` is the address after `/api/v1`.
  private func get(_ path: [String], _ exchange: HTTPExchange) {
    do throws(FieldError) {
      let names: Set<String>? =
        path.count == 2 && path[0] == "tickets" ? ["day"] : Self.queries[path.joined(separator: "/")]
      let query = try RequestFields(exchange.request.target.query, known: names ?? [])
      switch (path.first, path.count) {
      case ("status", 1): ask(.status, exchange, \.status, JSONValue.status)
      case ("tickets", 1): try listTickets(query, exchange)
      case ("tickets", 2):
        let day = try query.day()
        guard let number = Int64(path[1]) else { return missing(exchange) }
        ask(.ticket(number: number, day: day), exchange, \.ticket, JSONValue.ticket)
      case ("receipts", 1): try listReceipts(query, exchange)
      case ("audit", 1): ask(.audit, exchange, within: .seconds(60), \.audit, JSONValue.audit)
      case ("ledger", 1): ask(.ledger, exchange, \.ledger, JSONValue.ledger)
      case ("accounts", 2):
        guard let number = Int64(path[1]) else { return missing(exchange) }
        ask(.account(number), exchange, \.account, JSONValue.account)
      case ("stock", 1): askStock(exchange, JSONValue.stock)
      case ("juice", 1): askMenu(exchange)
      case ("vending", 1): askMachine(.querySnapshot, exchange)
      case ("vending", 2) where path[1] == "history": try listPurchases(query, exchange)
      default: missing(exchange)
      }
    } catch { refuse(exchange, error) }
  }

  /// Accepted query fields of the lists.
  private static let queries: [String: Set<String>] = [
    "tickets": ["state", "service", "after", "limit"], "receipts": ["after", "day", "service", "limit"],
    "vending/history": ["after", "limit"],
  ]

  // MARK: - The bank

  /// Sends a command to the coordinator. Answers with the JSON that `document` makes of its last answer, which must be
  /// of this kind, or with the failure.
  func ask<Value>(
    _ command: ControlCommand, _ exchange: HTTPExchange, within timeout: TimeSpan = APIRoutes.timeout,
    _ kind: @escaping (ControlAnswer) -> Value?, _ document: @escaping (Value) -> JSONValue
  ) {
    control.ask(command, within: timeout) { [self] outcome in
      switch outcome.only(kind) {
      case .success(let value): answer(exchange, document(value))
      case .failure(let failure): exchange.respond(Self.refusal(failure))
      }
    }
  }

  /// Lists customers that match the query.
  private func listTickets(_ query: RequestFields, _ exchange: HTTPExchange) throws(FieldError) {
    let question = TicketQuery(
      state: try query.state(), service: try query.service(), after: try query.after(),
      limit: try limit(query))
    control.ask(.tickets(question), within: .seconds(20)) { [self] outcome in
      list(exchange, outcome, \.tickets, JSONValue.listed)
    }
  }

  /// Lists receipts that match the query.
  private func listReceipts(_ query: RequestFields, _ exchange: HTTPExchange) throws(FieldError) {
    let days = try query.value("day", expected: "a number of 1 or more, or all,") {
      (text: String) -> ReceiptQuery.Days? in
      text == "all" ? ReceiptQuery.Days.all : Int64(text).flatMap { $0 > 0 ? .day($0) : nil }
    }
    let question = ReceiptQuery(
      days: days ?? .present, follow: false, after: try query.after(), service: try query.service(),
      limit: try limit(query))
    control.ask(.receipts(question), within: .seconds(20)) { [self] outcome in
      list(exchange, outcome, \.receipts, JSONValue.receipt)
    }
  }

  /// Maximum number of rows that the query requests, or a default.
  private func limit(_ query: RequestFields) throws(FieldError) -> Int64 {
    try query.number("limit", in: 1...TicketQuery.limitAtMost) ?? 200
  }

  /// Answers with one line of JSON for each row of a list, made by `document`, or with the failure.
  private func list<Row>(
    _ exchange: HTTPExchange, _ outcome: ControlOutcome, _ rows: (ControlAnswer) -> [Row],
    _ document: (Row) -> JSONValue
  ) {
    switch outcome {
    case .success(let answers): lines(exchange, answers.flatMap(rows).map(document))
    case .failure(let failure): exchange.respond(Self.refusal(failure))
    }
  }

  // MARK: - The shop

  /// Reads the stock's snapshot, and answers with the JSON that `document` makes of it, or with the failure.
  func askStock(_ exchange: HTTPExchange, _ document: @escaping (StockSnapshot) -> JSONValue) {
    application.stock.ask(.querySnapshot, until: deadline) { [self] answer in
      guard case .success(.snapshot(let picture)) = answer else {
        return exchange.respond(Self.refusal(answer))
      }
      answerWith(exchange, document(picture))
    }
  }

  /// Answers with the juices, their recipes, and whether the stock suffices.
  private func askMenu(_ exchange: HTTPExchange) {
    application.stock.ask(.assortment, until: deadline) { [self] answer in
      guard case .success(.assortment(let assortment)) = answer else {
        return exchange.respond(Self.refusal(answer))
      }
      askStock(exchange) { .menu(assortment, $0) }
    }
  }

  /// Sends a command to the vending machine, and answers with the snapshot that it returns, or with the failure.
  private func askMachine(_ command: VendingCommand, _ exchange: HTTPExchange) {
    application.vending.ask(command, until: deadline) { [self] answer in
      guard case .success(.snapshot(let picture)) = answer else {
        return exchange.respond(Self.refusal(answer))
      }
      answerWith(exchange, .vending(picture))
    }
  }

  /// Lists purchases at the vending machine.
  private func listPurchases(_ query: RequestFields, _ exchange: HTTPExchange) throws(FieldError) {
    let question = VendingCommand.history(
      PurchasePage(after: try query.after(), limit: try limit(query)))
    application.vending.ask(question, until: deadline) { [self] answer in
      guard case .success(.history(let purchases)) = answer else {
        return exchange.respond(Self.refusal(answer))
      }
      lines(exchange, purchases.map(JSONValue.purchase))
    }
  }

  /// Deadline of a request that is sent now.
  var deadline: MonotonicTime { SystemClock.monotonic() + Self.timeout }

  // MARK: - Answers

  /// Sends a JSON document as the response.
  func answer(_ exchange: HTTPExchange, _ document: JSONValue) { answerWith(exchange, document) }

  /// Sends a JSON document as the response.
  func answerWith(_ exchange: HTTPExchange, _ document: JSONValue) {
    exchange.respond(.json(Array(document.text.utf8)))
  }

  /// Sends one JSON document per line.
  private func lines(_ exchange: HTTPExchange, _ documents: [JSONValue]) {
    var bytes: [UInt8] = []
    for document in documents {
      document.append(to: &bytes)
      bytes.append(UInt8(ascii: "\n"))
    }
    exchange.respond(
      HTTPResponse(
        200, headers: [("Content-Type", "application/x-ndjson"), ("Cache-Control", "no-store")], body: bytes))
  }

  /// Refuses the request because its path does not exist.
  func missing(_ exchange: HTTPExchange) {
    let path = exchange.request.target.path
    exchange.respond(Self.refusal(.notFound, "\(path) does not exist"))
  }

  /// Refuses a malformed request with this message.
  func misunderstood(_ exchange: HTTPExchange, _ message: String) {
    exchange.respond(Self.refusal(.badRequest, message))
  }

  /// Refuses the request because of one field.
  func refuse(_ exchange: HTTPExchange, _ fault: FieldError) { misunderstood(exchange, fault.message) }

  /// Response for a failure of the coordinator.
  static func refusal(_ failure: Failure) -> HTTPResponse {
    let message = [failure.subject, failure.detail].filter { !$0.isEmpty }.joined(separator: ": ")
    if failure.isUnanswered { return refusal(.inDoubt, message) }
    return refusal(
      failure.code.httpStatus, failure.code.name, message.isEmpty ? failure.code.name : message)
  }

  /// Response for an error of this server.
  static func refusal(_ code: WebErrorCode, _ message: String) -> HTTPResponse {
    refusal(code.status, code.rawValue, message)
  }

  /// JSON response for an error.
  private static func refusal(_ status: Int, _ code: String, _ message: String) -> HTTPResponse {
    .json(Array(JSONValue.error(code: code, message: message).text.utf8), status: status)
  }

  /// Response for an answer of the stock that is not the expected one.
  static func refusal(_ answer: Result<StockResult, StockClientError>) -> HTTPResponse {
    switch answer {
    case .success(.failure(let failure)):
      refusal(failure.code.httpStatus, failure.code.name, message(failure.subject, failure.detail))
    case .success(.short(let shortages)):
      refusal(.outOfStock, shortages.map(\.item.name).joined(separator: ", "))
    case .success: refusal(.unexpectedResponse, "the stock sent an unexpected response")
    case .failure(let error): refusal(.stockUnavailable, error.description)
    }
  }

  /// Response for an answer of the vending machine that is not the expected one.
  static func refusal(_ answer: Result<VendingResult, VendingClientError>) -> HTTPResponse {
    switch answer {
    case .success(.failure(let failure)):
      refusal(failure.code.httpStatus, failure.code.name, message(failure.subject, failure.detail))
    case .success: refusal(.unexpectedResponse, "the machine sent an unexpected response")
    case .failure(let error): refusal(.vendingUnavailable, error.description)
    }
  }

  /// Joins subject and detail of an error, if they are not empty.
  private static func message(_ subject: String, _ detail: String) -> String {
    [subject, detail].filter { !$0.isEmpty }.joined(separator: ": ")
  }
}

extension Failure.Code {
  /// HTTP status of a failure.
  var httpStatus: Int {
    switch self {
    case .queueFull, .draining, .diskFull, .inspected, .notOpen, .leaseLost: 503
    case .noSuchTicket, .noSuchDay, .noSuchService, .noSuchWindow: 404
    case .alreadyOpen, .wrongState, .wrongDay, .keyConflict, .processChanged, .requiresSharedStore,
      .unsupportedWithSharedStore, .notMoved, .databaseMoved, .fromOwnWork:
      409
    case .badRequest, .badConfiguration: 400
    case .damaged, .newerSchema, .badHome, .startFailed, .system, .removed, .withdrawn, .slowConsumer: 500
    }
  }
}

extension StockFailure.Code {
  /// HTTP status of a refusal of the stock.
  var httpStatus: Int {
    switch self {
    case .unknownItem: 404
    case .badRequest: 400
    case .orderConflict, .wasReturned, .overflow, .itemHasDates, .tooManyLots: 409
    case .diskFull, .crowded: 503
    case .slowConsumer: 500
    }
  }
}

extension VendingFailure.Code {
  /// HTTP status of a refusal of the vending machine.
  var httpStatus: Int {
    switch self {
    case .unknownProduct: 404
    case .badRequest: 400
    case .orderConflict, .tooLittleMoney, .soldOut, .onlyExpired, .balanceLimit, .shelfFull, .wrongSide: 409
    case .stockUnavailable, .diskFull, .crowded: 503
    case .slowConsumer: 500
    }
  }
}
