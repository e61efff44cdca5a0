// Owns a request as everything above the library sees it: method, target, headers, body. It knows no socket.
// Invariant: a target that is here has a path that begins with a slash, and all its text is UTF-8 without control characters.

/// A request over HTTP.
public struct HTTPRequest: Sendable, Equatable {
  /// What is to be done with the target.
  public enum Method: Sendable, Equatable {
    case get
    case head
    case post
    /// Something that this server does for nobody.
    case other(String)

    /// The method of this name, which is compared letter by letter.
    public init(_ name: String) {
      switch name {
      case "GET": self = .get
      case "HEAD": self = .head
      case "POST": self = .post
      default: self = .other(name)
      }
    }
  }

  /// What is to be done.
  public var method: Method
  /// With what.
  public var target: RequestTarget
  /// The headers, in the order in which they came.
  public var headers: HTTPHeaders
  /// The body; empty where there is none.
  public var body: [UInt8]
  /// Whether it came over the socket in the home.
  public var isLocal: Bool
  /// True if the process at the other end of the socket in the home is of the bank's user, or of root.
  public var isOwners: Bool
  /// True if it speaks HTTP/1.0, as proxies do that were not told otherwise.
  public var isOld = false

  public init(
    method: Method, target: RequestTarget, headers: HTTPHeaders = HTTPHeaders(), body: [UInt8] = [],
    isLocal: Bool = false, isOwners: Bool? = nil
  ) {
    self.method = method
    self.target = target
    self.headers = headers
    self.body = body
    self.isLocal = isLocal
    self.isOwners = isOwners ?? isLocal
  }

  /// True if something in it says that a proxy passes it on for another machine.
  public var isPassedOn: Bool {
    isOld || Self.marksOfProxies.contains { headers[$0] != nil }
  }

  private static let marksOfProxies = [
    "forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-forwarded-server",
    "x-forwarded-port", "x-real-ip", "x-client-ip", "cf-connecting-ip", "true-client-ip",
  ]

  /// Whether nothing is changed by it.
  public var onlyReads: Bool { method == .get || method == .head }

  /// Whether the answer shall be JSON, because a script has sent it.
  public var wantsJSON: Bool { headers["accept"]?.contains("application/json") == true }
}

/// Names and values, as they came.
public struct HTTPHeaders: Sendable, Equatable {
  private var fields: [(name: String, value: String)] = []

  public init() {}

  /// Headers with these names, in small letters, and values.
  public init(_ fields: [(String, String)]) { for (name, value) in fields { add(name, value) } }

  /// Adds one; names are kept in small letters.
  public mutating func add(_ name: String, _ value: String) {
    fields.append((name: name.lowercased(), value: value))
  }

  /// The first value of a name, which is given in small letters.
  public subscript(name: String) -> String? { fields.first { $0.name == name }?.value }

  /// How often a name is there, which is given in small letters.
  public func count(of name: String) -> Int { fields.count { $0.name == name } }

  /// Whether all names are made of the characters that names are made of (RFC 9110, section 5.1): with a space before the
  /// colon, another server on the way reads another header, and another request.
  public var areWellNamed: Bool {
    fields.allSatisfy { field in
      !field.name.isEmpty
        && field.name.utf8.allSatisfy { byte in
          switch byte {
          case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
          default: Self.others.contains(byte)
          }
        }
    }
  }

  private static let others = Set("!#$%&'*+-.^_`|~".utf8)

  /// Whether both have the same headers in the same order.
  public static func == (one: HTTPHeaders, other: HTTPHeaders) -> Bool {
    one.fields.count == other.fields.count
      && zip(one.fields, other.fields).allSatisfy { $0.name == $1.name && $0.value == $1.value }
  }
}

/// What a request is about: a path, and what stands behind the question mark.
public struct RequestTarget: Sendable, Equatable {
  /// Bytes of a target at most.
  public static let longest = 4_096

  /// The path, decoded: `/tickets`.
  public var path: String
  /// What stands behind the question mark.
  public var query: FormFields

  /// A target that is known to be good.
  public init(path: String, query: FormFields = FormFields()) {
    self.path = path
    self.query = query
  }

  /// Reads a target as it stands in a request; nil where it is none of this server's (RFC 9112, section 3.2.1).
  public init?(_ text: some Sequence<UInt8>) {
    let bytes = Array(text)
    guard bytes.count <= Self.longest, bytes.first == UInt8(ascii: "/") else { return nil }
    let parts = bytes.split(separator: UInt8(ascii: "?"), maxSplits: 1, omittingEmptySubsequences: false)
    guard let path = PercentText.decode(parts[0], plusIsSpace: false) else { return nil }
    guard let query = parts.count == 2 ? FormFields(parts[1]) : FormFields() else { return nil }
    self.init(path: path, query: query)
  }

  /// The target as it stands in a request.
  public var text: String {
    let path = path.split(separator: "/", omittingEmptySubsequences: false).map {
      PercentText.encode(String($0))
    }.joined(separator: "/")
    return query.fields.isEmpty ? path : path + "?" + query.text
  }

  /// The parts of the path between slashes: `["ticket", "7"]`.
  public var segments: [Substring] { path.split(separator: "/") }
}
