// The codes with which this server itself refuses a request, each with its HTTP status. What the coordinator, the stock or
// the vending machine refuses has their code instead. Invariant: one code means one condition and has one status.

/// Why this server refuses a request. The raw value is the `code` of the JSON error.
enum WebErrorCode: String, CaseIterable, Sendable {
  /// The head, the query or the body cannot be understood, or a field is unknown, repeated or out of range.
  case badRequest = "bad_request"
  /// There is no session.
  case unauthenticated
  /// The role of the session, or the way in, does not allow it.
  case forbidden
  /// A change comes from a page of another server.
  case foreignOrigin = "foreign_origin"
  /// The page was started with `--read-only`.
  case readOnly = "read_only"
  /// A command line needs a link with `--allow-run`.
  case runNotAllowed = "run_not_allowed"
  /// There is nothing at this path.
  case notFound = "not_found"
  case noSuchJuice = "no_such_juice"
  case noSuchSession = "no_such_session"
  case methodNotAllowed = "method_not_allowed"
  /// The request was not complete in time.
  case requestTimeout = "request_timeout"
  /// There is too little fruit.
  case outOfStock = "out_of_stock"
  case bodyTooLarge = "body_too_large"
  /// The `Host` is no name of this server.
  case wrongHost = "wrong_host"
  case headTooLarge = "head_too_large"
  /// A part of the bank sent an answer to another question.
  case failed
  /// There are too many connections.
  case busy
  /// The bank did not answer in time, and it is not known whether it was done.
  case inDoubt = "in_doubt"
  /// The juice was ordered and is not made yet.
  case unfinished
  case stockUnavailable = "stock_unavailable"
  case vendingUnavailable = "vending_unavailable"
  /// The request has another version of HTTP than 1.0 or 1.1.
  case httpVersion = "http_version"

  /// The status of the answer.
  var status: Int {
    switch self {
    case .badRequest: 400
    case .unauthenticated: 401
    case .forbidden, .foreignOrigin, .readOnly, .runNotAllowed: 403
    case .notFound, .noSuchJuice, .noSuchSession: 404
    case .methodNotAllowed: 405
    case .requestTimeout: 408
    case .outOfStock: 409
    case .bodyTooLarge: 413
    case .wrongHost: 421
    case .headTooLarge: 431
    case .failed: 500
    case .busy, .inDoubt, .unfinished, .stockUnavailable, .vendingUnavailable: 503
    case .httpVersion: 505
    }
  }

  /// The code of a request that was refused before it reached this program's routes, by the status.
  init(refusedHead status: Int) {
    self =
      switch status {
      case 408: .requestTimeout
      case 413: .bodyTooLarge
      case 431: .headTooLarge
      case 503: .busy
      case 505: .httpVersion
      default: .badRequest
      }
  }
}
