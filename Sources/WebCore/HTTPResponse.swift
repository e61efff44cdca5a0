// Owns a response as everything above the library makes it, and the headers that every one of them has.
// Invariant: no value of a header has a line break in it, so nobody who names something can add a header.

/// A response over HTTP.
public struct HTTPResponse: Sendable, Equatable {
  /// The number of the outcome (RFC 9110, section 15).
  public var status: Int
  /// The headers beside those that the library writes.
  public private(set) var headers: [(name: String, value: String)]
  /// What is sent.
  public var body: [UInt8]

  /// An answer; `status` is one of RFC 9110, section 15.
  public init(_ status: Int, headers: [(String, String)] = [], body: [UInt8] = []) {
    self.status = status
    self.headers = []
    self.body = body
    for (name, value) in Self.everywhere + headers { set(name, value) }
  }

  /// A page.
  public static func page(_ html: String, status: Int = 200) -> HTTPResponse {
    HTTPResponse(
      status, headers: [("Content-Type", "text/html; charset=utf-8"), ("Cache-Control", "no-store")],
      body: Array(html.utf8))
  }

  /// A document for a script, with a line break behind it.
  public static func json(_ text: [UInt8], status: Int = 200) -> HTTPResponse {
    HTTPResponse(
      status, headers: [("Content-Type", "application/json"), ("Cache-Control", "no-store")],
      body: text + [UInt8(ascii: "\n")])
  }

  /// A few words for whoever has asked something that cannot be.
  public static func words(_ status: Int, _ words: String) -> HTTPResponse {
    HTTPResponse(
      status, headers: [("Content-Type", "text/plain; charset=utf-8"), ("Cache-Control", "no-store")],
      body: Array((words + "\n").utf8))
  }

  /// Sends the browser to another page with GET.
  public static func seeOther(_ location: String) -> HTTPResponse {
    HTTPResponse(303, headers: [("Location", location), ("Cache-Control", "no-store")])
  }

  /// The head of a stream of events.
  public static let events = HTTPResponse(
    200, headers: [("Content-Type", "text/event-stream"), ("Cache-Control", "no-store")])

  /// The response as it is written to a connection that ends behind it.
  ///
  /// - Parameter isStream: true if the body is the beginning of one that ends with the connection.
  public func written(isStream: Bool = false) -> [UInt8] {
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

  /// Puts a header in the place of one of the same name. A value that would break the line is left out.
  public mutating func set(_ name: String, _ value: String) {
    headers.removeAll { $0.name == name }
    add(name, value)
  }

  /// Adds a header, beside others of the same name.
  public mutating func add(_ name: String, _ value: String) {
    guard value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7f }) else { return }
    headers.append((name: name, value: value))
  }

  /// Nothing of elsewhere is loaded, nothing that stands in a page is run, and nobody frames a page of ours.
  static let everywhere: [(String, String)] = [
    (
      "Content-Security-Policy",
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        + "manifest-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    ("X-Content-Type-Options", "nosniff"),
    // Nobody else is told where somebody came from. This server is: with `no-referrer` a browser names no origin when it sends
    // a form without a script, which is then refused (Fetch standard, 3.2).
    ("Referrer-Policy", "same-origin"),
    ("Cross-Origin-Opener-Policy", "same-origin"), ("Cross-Origin-Resource-Policy", "same-origin"),
  ]

  /// Whether both say the same, with the same headers in the same order.
  public static func == (one: HTTPResponse, other: HTTPResponse) -> Bool {
    one.status == other.status && one.body == other.body && one.headers.count == other.headers.count
      && zip(one.headers, other.headers).allSatisfy { $0.name == $1.name && $0.value == $1.value }
  }
}
