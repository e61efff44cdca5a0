// An HTTP request in the form in which the handlers receive it: method, target, headers, body.
// Invariant: the path of a parsed target starts with a slash. All text of a parsed target is UTF-8, without ASCII
// control characters except line breaks and tabs.

/// An HTTP request.
public struct HTTPRequest: Sendable, Equatable {
  /// Request method.
  public enum Method: Sendable, Equatable {
    case get
    case head
    case post
    /// Method that this server does not support.
    case other(String)

    /// The method of this name; case-sensitive.
    public init(_ name: String) {
      switch name {
      case "GET": self = .get
      case "HEAD": self = .head
      case "POST": self = .post
      default: self = .other(name)
      }
    }
  }

  /// Request method.
  public var method: Method
  /// Path and query.
  public var target: RequestTarget
  /// The headers, in the order of arrival.
  public var headers: HTTPHeaders
  /// The body; empty if there is none.
  public var body: [UInt8]
  /// True if the request came over the socket in the home.
  public var isLocal: Bool
  /// True if the peer of the socket in the home is a process of the bank's user or of root.
  public var isFromOwner: Bool
  /// True for HTTP/1.0, the default of some proxies.
  public var isHTTP10 = false

  public init(
    method: Method, target: RequestTarget, headers: HTTPHeaders = HTTPHeaders(), body: [UInt8] = [],
    isLocal: Bool = false, isFromOwner: Bool? = nil
  ) {
    self.method = method
    self.target = target
    self.headers = headers
    self.body = body
    self.isLocal = isLocal
    self.isFromOwner = isFromOwner ?? isLocal
  }

  /// True if a header or the version suggests that a proxy forwards the request.
  public var isForwarded: Bool {
    isHTTP10 || Self.proxyHeaders.contains { headers[$0] != nil }
  }

  /// Headers that proxies add, in lower case.
  private static let proxyHeaders = [
    "forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-forwarded-server",
    "x-forwarded-port", "x-real-ip", "x-client-ip", "cf-connecting-ip", "true-client-ip",
  ]

  /// True if the method is safe (RFC 9110, section 9.2.1).
  public var onlyReads: Bool { method == .get || method == .head }

  /// True if the `Accept` header names JSON.
  public var wantsJSON: Bool { headers["accept"]?.contains("application/json") == true }
}

/// Headers of a request, in the order of arrival, with names in lower case.
public struct HTTPHeaders: Sendable, Equatable {
  private var fields: [(name: String, value: String)] = []

  public init() {}

  /// Headers with these names and values; the names are converted to lower case.
  public init(_ fields: [(String, String)]) { for (name, value) in fields { add(name, value) } }

  /// Adds a header; names are stored in lower case.
  public mutating func add(_ name: String, _ value: String) {
    fields.append((name: name.lowercased(), value: value))
  }

  /// The first value of a name, which must be in lower case.
  public subscript(name: String) -> String? { fields.first { $0.name == name }?.value }

  /// Number of headers with this name, which must be in lower case.
  public func count(of name: String) -> Int { fields.count { $0.name == name } }

  /// True if all names are tokens (RFC 9110, section 5.1). If a space precedes the colon, a proxy may read a different
  /// header, and thus a different request, than this server.
  public var haveValidNames: Bool {
    fields.allSatisfy { field in
      !field.name.isEmpty
        && field.name.utf8.allSatisfy { byte in
          switch byte {
          case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
          default: Self.tokenPunctuation.contains(byte)
          }
        }
    }
  }

  /// Characters other than letters and digits that a header name may contain.
  private static let tokenPunctuation = Set("!#$%&'*+-.^_`|~".utf8)

  /// True if both have the same headers in the same order.
  public static func == (one: HTTPHeaders, other: HTTPHeaders) -> Bool {
    one.fields.count == other.fields.count
      && zip(one.fields, other.fields).allSatisfy { $0.name == $1.name && $0.value == $1.value }
  }
}

/// Target of a request: path and query.
public struct RequestTarget: Sendable, Equatable {
  /// Maximum size of a target in bytes.
  public static let longest = 4_096

  /// The decoded path, for example `/tickets`.
  public var path: String
  /// The fields after the question mark.
  public var query: FormFields

  /// A target whose path is known to be valid.
  public init(path: String, query: FormFields = FormFields()) {
    self.path = path
    self.query = query
  }

  /// Parses the target of a request line; nil if this server does not accept it (RFC 9112, section 3.2.1).
  public init?(_ text: some Sequence<UInt8>) {
    let bytes = Array(text)
    guard bytes.count <= Self.longest, bytes.first == UInt8(ascii: "/") else { return nil }
    let parts = bytes.split(separator: UInt8(ascii: "?"), maxSplits: 1, omittingEmptySubsequences: false)
    guard let path = PercentText.decode(parts[0], plusIsSpace: false) else { return nil }
    guard let query = parts.count == 2 ? FormFields(parts[1]) : FormFields() else { return nil }
    self.init(path: path, query: query)
  }

  /// The encoded target for a request line.
  public var text: String {
    let path = path.split(separator: "/", omittingEmptySubsequences: false).map {
      PercentText.encode(String($0))
    }.joined(separator: "/")
    return query.fields.isEmpty ? path : path + "?" + query.text
  }

  /// The segments of the path: `["ticket", "7"]`.
  public var segments: [Substring] { path.split(separator: "/") }
}
