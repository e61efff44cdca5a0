// Owns who is who: the cookies of whoever has followed a link, and of the vending machine's manager, and the links that have
// not been followed. Invariant: a link lets somebody in once, and nobody after its time; secrets are compared without telling
// by the time it takes how much of them was right. The cookies outlive this process, the links do not.
import Time

/// The secrets of one home, and the links of one process.
public struct Credentials: Sendable {
  /// The secrets that are kept in the home, as hexadecimal digits.
  public struct Secrets: Sendable, Equatable {
    /// What the cookie of whoever was let in says.
    public var session: String
    /// What the cookie of the manager says.
    public var manager: String
    /// What somebody who wants to be the manager types in.
    public var managerCode: String

    /// New secrets of four random numbers each, and a code of eight digits.
    public init(random: () -> UInt64) {
      session = Self.digits(random)
      manager = Self.digits(random)
      let code = String(random() % 100_000_000)
      managerCode = String(repeating: "0", count: 8 - code.utf8.count) + code
    }

    /// The secrets of a file; nil where it does not hold three lines of them.
    public init?(text: String) {
      let lines = text.split(separator: "\n").map { String($0) }
      guard lines.count == 3, lines[0].utf8.count == 64, lines[1].utf8.count == 64, lines[2].utf8.count == 8,
        lines.allSatisfy({ $0.utf8.allSatisfy(Self.isDigit) })
      else { return nil }
      (session, manager, managerCode) = (lines[0], lines[1], lines[2])
    }

    /// The secrets as they stand in a file.
    public var text: String { session + "\n" + manager + "\n" + managerCode + "\n" }

    static func digits(_ random: () -> UInt64) -> String {
      (0..<4).map { _ in
        let part = String(random(), radix: 16)
        return String(repeating: "0", count: 16 - part.utf8.count) + part
      }.joined()
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
      (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
        || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
    }
  }

  private struct Link {
    var token: String
    var end: MonotonicTime
  }

  /// The secrets of the home.
  public let secrets: Secrets
  /// The name of the cookie; browsers tell no ports of one host apart.
  public let cookieName: String
  private var links: [Link] = []
  private var codes = CodeTrials()

  /// Links that have not been followed, at most.
  static let mostLinks = 64
  /// For how long a link can be followed.
  static let lifetime = TimeSpan.minutes(60)

  /// Credentials of a server at this port, with the secrets of its home.
  public init(_ secrets: Secrets, port: UInt16) {
    self.secrets = secrets
    cookieName = "bank-\(port)"
  }

  // MARK: - Links

  /// A token that lets somebody in once.
  public mutating func issue(at now: MonotonicTime, random: () -> UInt64) -> String {
    let token = Secrets.digits(random)
    links.removeAll { $0.end <= now }
    if links.count >= Self.mostLinks { links.removeFirst() }
    links.append(Link(token: token, end: now + Self.lifetime))
    return token
  }

  /// Whether a token lets somebody in; from now on it does not.
  public mutating func redeem(_ token: String, at now: MonotonicTime) -> Bool {
    guard let place = links.firstIndex(where: { Self.areEqual($0.token, token) }) else { return false }
    return links.remove(at: place).end > now
  }

  // MARK: - Cookies

  /// Whether the request comes from somebody who was let in.
  public func isLetIn(_ request: HTTPRequest) -> Bool {
    request.isLocal || has(cookieName, secrets.session, request)
  }

  /// Whether the request comes from the vending machine's manager, who was let in as well.
  public func isManager(_ request: HTTPRequest) -> Bool {
    isLetIn(request) && has(cookieName + "-manager", secrets.manager, request)
  }

  /// Lets somebody in, in the answer that is given.
  public func letIn(_ response: inout HTTPResponse, isProxied: Bool) {
    response.add("Set-Cookie", cookie(cookieName, secrets.session, isProxied))
  }

  /// Makes somebody the manager, in the answer that is given.
  public func makeManager(_ response: inout HTTPResponse, isProxied: Bool) {
    response.add("Set-Cookie", cookie(cookieName + "-manager", secrets.manager, isProxied))
  }

  /// Judges a manager's code; several wrong ones of one visitor are followed by a pause for this visitor alone.
  public mutating func judge(
    code: String, of request: HTTPRequest, at now: MonotonicTime
  ) -> CodeVerdict {
    let visitor = request.isLocal ? "" : Cookies(request)[cookieName] ?? ""
    let right = secrets.managerCode
    return codes.judge(visitor, at: now) { Self.areEqual(code, right) }
  }

  private func has(_ name: String, _ value: String, _ request: HTTPRequest) -> Bool {
    Cookies(request)[name].map { Self.areEqual($0, value) } ?? false
  }

  private func cookie(_ name: String, _ value: String, _ isProxied: Bool) -> String {
    "\(name)=\(value); Path=/; HttpOnly; SameSite=Strict; Max-Age=2592000\(isProxied ? "; Secure" : "")"
  }

  private static func areEqual(_ one: String, _ other: String) -> Bool {
    let (one, other) = (Array(one.utf8), Array(other.utf8))
    guard one.count == other.count else { return false }
    return zip(one, other).reduce(0 as UInt8) { $0 | ($1.0 ^ $1.1) } == 0
  }
}

/// The cookies of a request (RFC 6265, section 5.4).
public struct Cookies: Sendable, Equatable {
  private var values: [(name: Substring, value: Substring)] = []

  /// Reads them; what is no cookie is left out.
  public init(_ request: HTTPRequest) {
    for part in (request.headers["cookie"] ?? "").split(separator: ";") {
      let halves = part.drop { $0 == " " }.split(
        separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      if halves.count == 2 { values.append((name: halves[0], value: halves[1])) }
    }
  }

  /// The first value of a name.
  public subscript(name: String) -> String? { values.first { $0.name == name }.map { String($0.value) } }

  /// Whether both have the same cookies in the same order.
  public static func == (one: Cookies, other: Cookies) -> Bool {
    one.values.elementsEqual(other.values, by: ==)
  }
}
