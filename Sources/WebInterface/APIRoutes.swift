// Owns `/api/v1/…`: what scripts can ask over HTTP, in the shapes of `--json`. It knows no page.
// Invariant: a failure has the same code as in `bankctl --json`, and a status that says what its exit code means.
import BankModel
import Posix
import Reports
import Time
import WebCore
import WebServer
import Wire

/// The requests of scripts.
final class APIRoutes {
  private unowned let application: WebApplication
  private var control: ControlLink { application.control }

  init(_ application: WebApplication) { self.application = application }

  func serve(_ exchange: HTTPExchange) {
    let request = exchange.request
    let parts = request.target.segments.dropFirst()
    guard parts.first == "v1" else { return missing(exchange) }
    let path = parts.dropFirst().map { String($0) }
    if request.method == .post { post(path, exchange) } else { get(path, exchange) }
  }

  private func get(_ path: [String], _ exchange: HTTPExchange) {
    switch path {
    case ["status"]:
      control.ask(.status) { [self] in
        answer(exchange, $0.only { if case .status(let report) = $0 { report } else { nil } }, JSONValue.status)
      }
    default: missing(exchange)
    }
  }

  private func post(_ path: [String], _ exchange: HTTPExchange) {
    switch path {
    default: missing(exchange)
    }
  }

  // MARK: - Answers

  private func answer<Value>(
    _ exchange: HTTPExchange, _ outcome: Result<Value, Failure>, _ document: (Value) -> JSONValue
  ) {
    switch outcome {
    case .success(let value): exchange.respond(.json(Array(document(value).text.utf8)))
    case .failure(let failure): exchange.respond(Self.refusal(failure))
    }
  }

  private func missing(_ exchange: HTTPExchange) {
    let path = exchange.request.target.path
    exchange.respond(Self.refusal(404, "not_found", "there is nothing at \(path)"))
  }

  static func refusal(_ failure: Failure) -> HTTPResponse {
    let words = [failure.subject, failure.detail].filter { !$0.isEmpty }.joined(separator: ": ")
    return refusal(
      failure.code.httpStatus, failure.code.rawValue, words.isEmpty ? failure.code.rawValue : words)
  }

  static func refusal(_ status: Int, _ code: String, _ message: String) -> HTTPResponse {
    .json(Array(JSONValue.error(code: code, message: message).text.utf8), status: status)
  }
}

extension Failure.Code {
  /// What the exit code of the same failure means: 2 is 400, 4 is 404, 5 is 409, 3 and 75 are 503.
  var httpStatus: Int {
    switch self {
    case .queueFull, .draining, .diskFull, .inspected, .notOpen: 503
    case .noSuchTicket, .noSuchDay, .noSuchService, .noSuchWindow: 404
    case .alreadyOpen, .wrongState, .wrongDay, .keyConflict, .otherProcess: 409
    case .badRequest, .badConfiguration: 400
    case .damaged, .newerSchema, .badHome, .windowsFailed, .system, .removed, .withdrawn, .tooSlow: 500
    }
  }
}
