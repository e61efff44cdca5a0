// Check of a request's head before libmicrohttpd reads it: complete, well formed, and not too large (RFC 9112).
// Invariant: a head that passes has at most `longest` bytes, a request line of HTTP/1.0 or 1.1, valid header names and
// one Host header. The purpose is that this server, and not the library, answers a malformed head.

/// Result of checking the head of a request (request line and headers) before the HTTP library reads it.
public enum HeadCheck: Sendable, Equatable {
  /// The head is not complete yet.
  case incomplete
  /// Complete head, with its size in bytes.
  case good(Int)
  /// A head to refuse with this status: 400, 413, 431 or 505. The request contains the readable part.
  case refused(Int, HTTPRequest)

  /// Maximum size of a head in bytes.
  public static let longest = 16 << 10

  /// Checks the bytes received so far.
  public init(_ bytes: [UInt8]) {
    // Empty lines before a request are skipped (RFC 9112, section 2.2).
    let start = bytes.firstIndex { $0 != 0x0D && $0 != 0x0A } ?? bytes.endIndex
    let end = Self.end(of: bytes[start...])
    guard let end, end <= Self.longest else {
      self =
        bytes.count > Self.longest
        ? .refused(431, Self.request(Self.lines(of: bytes[start...].prefix(Self.longest)))) : .incomplete
      return
    }
    let lines = Self.lines(of: bytes[start..<end])
    guard let status = Self.refusal(of: lines) else {
      self = .good(end)
      return
    }
    self = .refused(status, Self.request(lines))
  }

  /// Index after the empty line that ends the head; nil if the head is incomplete.
  private static func end(of bytes: ArraySlice<UInt8>) -> Int? {
    var index = bytes.startIndex
    while let newline = bytes[index...].firstIndex(of: 0x0A) {
      let next = newline + 1
      if next < bytes.endIndex, bytes[next] == 0x0A { return next + 1 }
      if next + 1 < bytes.endIndex, bytes[next] == 0x0D, bytes[next + 1] == 0x0A { return next + 2 }
      index = next
    }
    return nil
  }

  /// Splits a head into its lines, without line ends and without empty lines.
  private static func lines(of bytes: ArraySlice<UInt8>) -> [ArraySlice<UInt8>] {
    bytes.split(separator: 0x0A, omittingEmptySubsequences: false).map {
      $0.last == 0x0D ? $0.dropLast() : $0
    }.filter { !$0.isEmpty }
  }

  /// HTTP status with which the head with these lines is refused; nil if it is well formed.
  private static func refusal(of lines: [ArraySlice<UInt8>]) -> Int? {
    guard let first = lines.first else { return 400 }
    let parts = first.split(separator: 0x20, omittingEmptySubsequences: false)
    guard parts.count == 3, parts.allSatisfy({ !$0.isEmpty }), parts[1].first == UInt8(ascii: "/") else {
      return 400
    }
    let version = String(decoding: parts[2], as: UTF8.self)
    guard ["HTTP/1.1", "HTTP/1.0"].contains(version) else { return version.hasPrefix("HTTP/") ? 505 : 400 }
    var headers = HTTPHeaders()
    for line in lines.dropFirst() {
      guard let field = field(line) else { return 400 }
      headers.add(field.name, field.value)
    }
    guard headers.haveValidNames, headers.count(of: "host") == 1, headers.count(of: "content-length") <= 1
    else {
      return 400
    }
    if let length = headers["content-length"] {
      guard !length.isEmpty, length.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) else { return 400 }
      if length.utf8.count > 18 { return 413 }
    }
    return nil
  }

  /// Splits a header line into name and trimmed value; nil without a colon or if the name is not UTF-8.
  private static func field(_ line: ArraySlice<UInt8>) -> (name: String, value: String)? {
    guard let colon = line.firstIndex(of: UInt8(ascii: ":")),
      let name = String(validating: line[..<colon], as: UTF8.self)
    else { return nil }
    let value = line[line.index(after: colon)...].drop { $0 == 0x20 || $0 == 0x09 }
    let kept = value.prefix(value.count - value.reversed().prefix { $0 == 0x20 || $0 == 0x09 }.count)
    return (name, String(decoding: kept, as: UTF8.self))
  }

  /// Request made of the parts of a refused head on which the response depends: target, accepted formats and languages.
  private static func request(_ lines: [ArraySlice<UInt8>]) -> HTTPRequest {
    let parts = lines.first?.split(separator: 0x20) ?? []
    let target = parts.count > 1 ? RequestTarget(parts[1]) : nil
    var headers = HTTPHeaders()
    for line in lines.dropFirst() {
      guard let field = field(line), usedHeaders.contains(field.name.lowercased()) else { continue }
      headers.add(field.name, field.value)
    }
    return HTTPRequest(method: .get, target: target ?? RequestTarget(path: "/"), headers: headers)
  }

  /// Headers that `request(_:)` copies.
  private static let usedHeaders: Set<String> = ["accept", "accept-language"]
}
