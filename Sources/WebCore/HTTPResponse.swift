// An HTTP response in the form in which the handlers create it, with the security headers.
// Invariant: no header value contains a line break, so user data in a value cannot add a header.

/// An HTTP response.
public struct HTTPResponse: Sendable, Equatable {
  /// Status code (RFC 9110, section 15; RFC 6585).
  public var status: Int
  /// Headers except those that libmicrohttpd adds.
  public private(set) var headers: [(name: String, value: String)]
  /// The body; for an event stream the bytes that are sent with the head.
  public var body: [UInt8]

  /// A response with the security headers, followed by `headers`.
  public init(_ status: Int, headers: [(String, String)] = [], body: [UInt8] = []) {
    self.status = status
    self.headers = []
    self.body = body
    for (name, value) in Self.securityHeaders + headers { set(name, value) }
  }

  /// An HTML page.
  public static func page(_ html: String, status: Int = 200) -> HTTPResponse {
    HTTPResponse(
      status, headers: [("Content-Type", "text/html; charset=utf-8"), ("Cache-Control", "no-store")],
      body: Array(html.utf8))
  }

  /// A JSON document, followed by a line break.
  public static func json(_ text: [UInt8], status: Int = 200) -> HTTPResponse {
    HTTPResponse(
      status, headers: [("Content-Type", "application/json"), ("Cache-Control", "no-store")],
      body: text + [UInt8(ascii: "\n")])
  }

  /// A plain-text response, with a line break at its end.
  public static func text(_ status: Int, _ text: String) -> HTTPResponse {
    HTTPResponse(
      status, headers: [("Content-Type", "text/plain; charset=utf-8"), ("Cache-Control", "no-store")],
      body: Array((text + "\n").utf8))
  }

  /// Redirects the browser to another page with GET.
  public static func seeOther(_ location: String) -> HTTPResponse {
    HTTPResponse(303, headers: [("Location", location), ("Cache-Control", "no-store")])
  }

  /// Head of an event stream.
  public static let eventStreamHead = HTTPResponse(
    200, headers: [("Content-Type", "text/event-stream"), ("Cache-Control", "no-store")])

  /// The response as bytes, for a connection that closes after it.
  ///
  /// - Parameter isStream: true to omit the length, because the body is the start of a stream that ends with the
  ///   connection.
  public func serialized(isStream: Bool = false) -> [UInt8] {
    var head = "HTTP/1.1 \(status) \(Self.reasons[status] ?? "Answer")\r\n"
    for (name, value) in headers { head += "\(name): \(value)\r\n" }
    if !isStream { head += "Content-Length: \(body.count)\r\n" }
    return Array((head + "Connection: close\r\n\r\n").utf8) + body
  }

  private static let reasons = [
    200: "OK", 303: "See Other", 400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found",
    405: "Method Not Allowed", 421: "Misdirected Request", 501: "Not Implemented", 408: "Request Timeout",
    413: "Content Too Large",
    431: "Request Header Fields Too Large", 503: "Service Unavailable", 505: "HTTP Version Not Supported",
  ]

  /// Replaces the headers of a name. A value with ASCII control characters is dropped.
  public mutating func set(_ name: String, _ value: String) {
    headers.removeAll { $0.name == name }
    add(name, value)
  }

  /// Adds a header and keeps others of the same name. A value with ASCII control characters is dropped.
  public mutating func add(_ name: String, _ value: String) {
    guard value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7f }) else { return }
    headers.append((name: name, value: value))
  }

  /// Security headers: no resource of another origin is loaded, no inline script is executed, and no other
  /// page may frame this one.
  static let securityHeaders: [(String, String)] = [
    (
      "Content-Security-Policy",
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        + "manifest-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    ("X-Content-Type-Options", "nosniff"),
    // No other origin receives a referrer, but this server must. With `no-referrer` a browser sends `Origin: null` with
    // a form that no script submits, and the server refuses that form (Fetch standard, section 3.2).
    ("Referrer-Policy", "same-origin"),
    ("Cross-Origin-Opener-Policy", "same-origin"), ("Cross-Origin-Resource-Policy", "same-origin"),
  ]

  /// True if status, body and headers in their order are equal.
  public static func == (one: HTTPResponse, other: HTTPResponse) -> Bool {
    one.status == other.status && one.body == other.body && one.headers.count == other.headers.count
      && zip(one.headers, other.headers).allSatisfy { $0.name == $1.name && $0.value == $1.value }
  }
}
