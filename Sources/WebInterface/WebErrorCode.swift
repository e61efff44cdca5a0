// Error codes of this server.
// Each code has one HTTP status.

/// Reason for a refusal. The raw value is the `code` of the JSON error.
enum WebErrorCode: String, CaseIterable, Sendable {
  /// Malformed head, query or body, or a field that is unknown, repeated or out of range.
  case badRequest = "bad_request"
  /// The request has no valid session.
  case unauthenticated
  /// Not permitted for the role of the session, or not on this socket.
  case forbidden
  /// A POST that comes neither from a page of this server nor from the owner.
  case badOrigin = "bad_origin"
  /// A change on a server started with `--read-only`.
  case readOnly = "read_only"
  /// A command line in a session whose link was not created with `--allow-run`.
  case runNotAllowed = "run_not_allowed"
  /// Unknown path.
  case notFound = "not_found"
  case noSuchJuice = "no_such_juice"
  case noSuchSession = "no_such_session"
  case methodNotAllowed = "method_not_allowed"
  /// The request was still incomplete at the deadline.
  case requestTimeout = "request_timeout"
  /// Too few pieces in stock.
  case outOfStock = "out_of_stock"
  case bodyTooLarge = "body_too_large"
  /// `Host` is not a name of this server.
  case wrongHost = "wrong_host"
  case headTooLarge = "head_too_large"
  /// The stock or the vending machine sent an unexpected kind of answer.
  case unexpectedResponse = "unexpected_response"
  case tooManyConnections = "too_many_connections"
  /// The bank did not answer in time. It may have executed the request.
  case inDoubt = "in_doubt"
  /// The juice was ordered and is not ready yet.
  case orderPending = "order_pending"
  case stockUnavailable = "stock_unavailable"
  case vendingUnavailable = "vending_unavailable"
  /// HTTP version other than 1.0 and 1.1.
  case httpVersionNotSupported = "http_version_not_supported"

  /// HTTP status of the answer.
  var status: Int {
    switch self {
    case .badRequest: 400
    case .unauthenticated: 401
    case .forbidden, .badOrigin, .readOnly, .runNotAllowed: 403
    case .notFound, .noSuchJuice, .noSuchSession: 404
    case .methodNotAllowed: 405
    case .requestTimeout: 408
    case .outOfStock: 409
    case .bodyTooLarge: 413
    case .wrongHost: 421
    case .headTooLarge: 431
    case .unexpectedResponse: 500
    case .tooManyConnections, .inDoubt, .orderPending, .stockUnavailable, .vendingUnavailable: 503
    case .httpVersionNotSupported: 505
    }
  }

  /// The code for a request that was refused before routing, from its status.
  init(refusedHead status: Int) {
    self =
      switch status {
      case 408: .requestTimeout
      case 413: .bodyTooLarge
      case 431: .headTooLarge
      case 503: .tooManyConnections
      case 505: .httpVersionNotSupported
      default: .badRequest
      }
  }
}
