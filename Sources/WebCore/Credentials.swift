// Authentication of visitors: sessions, the vending machine's manager, and unused links.
// Invariant: a link starts at most one session, and none after its expiry. Sessions can be stored as text; links are
// not stored.
import Time

/// Authenticates visitors: the secrets of one home, the sessions, and the links of one process.
public struct Credentials: Sendable {
  /// The web server's secrets, stored in the home: key of its proofs, random part of its name, and the manager's code.
  public struct Secrets: Sendable, Equatable {
    /// Key of the proofs with which the server shows a browser that it belongs to this bank.
    public var identity: String
    /// Random part of the bank's own name: `bank-NAME.localhost`.
    public var name: String
    /// Code that a user enters to become the manager.
    public var managerCode: String

    /// New random secrets.
    public init(random: () -> UInt64) {
      identity = Self.digits(random)
      name = String(Self.digits(random).prefix(10))
      let code = String(random() % 100_000_000)
      managerCode = String(repeating: "0", count: 8 - code.utf8.count) + code
    }

    /// Parses the text of the secrets file; nil if it is invalid.
    public init?(text: String) {
      let lines = text.split(separator: "\n").map { String($0) }
      guard lines.count == 3, lines[0].utf8.count == 64, lines[1].utf8.count == 10, lines[2].utf8.count == 8,
        lines.allSatisfy({ $0.utf8.allSatisfy(Self.isDigit) })
      else { return nil }
      (identity, name, managerCode) = (lines[0], lines[1], lines[2])
    }

    /// The secrets in the format of the file.
    public var text: String { identity + "\n" + name + "\n" + managerCode + "\n" }

    /// The bank's own host name. A browser does not send the cookies of this name to a server under another name.
    public var host: String { "bank-\(name).localhost" }

    /// Returns 256 random bits as 64 hexadecimal digits.
    static func digits(_ random: () -> UInt64) -> String {
      (0..<4).map { _ in
        let part = String(random(), radix: 16)
        return String(repeating: "0", count: 16 - part.utf8.count) + part
      }.joined()
    }

    /// True for a lower-case hexadecimal digit.
    private static func isDigit(_ byte: UInt8) -> Bool {
      (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
        || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
    }
  }

  /// A login link that was not used yet.
  private struct Link {
    var token: String
    var grant: WebGrant
    var end: MonotonicTime
  }

  /// The secrets of the home.
  public let secrets: Secrets
  /// Name of the session cookie. It contains the port, because a browser sends a cookie to every port of a host.
  public let cookieName: String
  /// Sessions of visitors who followed a link.
  public private(set) var sessions: Sessions
  /// The unused links, the oldest first.
  private var links: [Link] = []
  private var codes = CodeRateLimiter()

  static let maximumLinks = 64
  static let lifetime = TimeSpan.minutes(60)

  /// Credentials of a server at this port, with the secrets of its home and the sessions of the preceding
  /// process.
  public init(_ secrets: Secrets, port: UInt16, sessions: Sessions = Sessions()) {
    self.secrets = secrets
    self.sessions = sessions
    cookieName = "bank-\(port)"
  }

  // MARK: - Links

  /// Creates the token of a login link with these rights. It starts at most one session, and none after `lifetime`.
  public mutating func issue(
    _ grant: WebGrant = WebGrant(), at now: MonotonicTime, random: () -> UInt64
  ) -> String {
    let token = Secrets.digits(random)
    links.removeAll { $0.end <= now }
    if links.count >= Self.maximumLinks { links.removeFirst() }
    links.append(Link(token: token, grant: grant, end: now + Self.lifetime))
    return token
  }

  /// Uses up a login link: returns the rights that its token gives; nil for an unknown, used or expired token.
  public mutating func redeem(_ token: String, at now: MonotonicTime) -> WebGrant? {
    guard let index = links.firstIndex(where: { Self.areEqual($0.token, token) }) else { return nil }
    let link = links.remove(at: index)
    return link.end > now ? link.grant : nil
  }

  // MARK: - Sessions

  /// The session of a request's cookie; nil without a valid cookie.
  ///
  /// - Parameter now: milliseconds since 1970 UTC.
  public mutating func session(of request: HTTPRequest, at now: Int64) -> Sessions.Session? {
    Cookies(request)[cookieName].flatMap { sessions.find($0, at: now) }
  }

  /// Starts a session and adds its cookie to the response, for HTTPS only if `isProxied`. Returns the ids of sessions
  /// that have expired or that ended to make room.
  public mutating func startSession(
    _ grant: WebGrant, _ response: inout HTTPResponse, isProxied: Bool, at now: Int64, random: () -> UInt64
  ) -> [String] {
    let begun = sessions.begin(grant, at: now, random: random)
    response.add("Set-Cookie", cookie(begun.secret, "Max-Age=\(Sessions.lifetime / 1_000)", isProxied))
    return begun.ended
  }

  /// Adds a header to the response that deletes the session cookie in the browser.
  public func expireCookie(_ response: inout HTTPResponse, isProxied: Bool) {
    response.add("Set-Cookie", cookie("", "Max-Age=0", isProxied))
  }

  /// Ends a session; false if no session has this id.
  public mutating func end(_ id: String) -> Bool { sessions.end(id) }

  /// Gives a session the rights of the vending machine's manager.
  public mutating func makeManager(_ id: String) { sessions.makeManager(id) }

  /// Removes expired sessions. Returns their ids.
  public mutating func removeExpired(at now: Int64) -> [String] { sessions.removeExpired(at: now) }

  // MARK: - Proof of the server

  /// Key with which a page of this session checks that a server is still this bank's.
  public func proofKey(of session: String) -> String {
    SHA256.hex(SHA256.hmac(of: Array(session.utf8), key: Array(secrets.identity.utf8)))
  }

  /// Proof for a browser that it still reaches the bank of its session. It is valid for one host and one
  /// question (nonce).
  public func proof(of session: String, host: String, question: String) -> String {
    let key = Array(proofKey(of: session).utf8)
    return SHA256.hex(SHA256.hmac(of: Array((host + " " + question).utf8), key: key))
  }

  // MARK: - Manager

  /// Checks a manager's code. After several wrong codes the visitor must wait.
  public mutating func checkCode(
    code: String, of request: HTTPRequest, at now: MonotonicTime
  ) -> CodeVerdict {
    let visitor = Cookies(request)[cookieName] ?? ""
    let right = secrets.managerCode
    return codes.checkCode(visitor, at: now) { Self.areEqual(code, right) }
  }

  /// Value of a `Set-Cookie` header for the session cookie, with its `Max-Age` attribute; for HTTPS only if proxied.
  private func cookie(_ value: String, _ age: String, _ isProxied: Bool) -> String {
    "\(cookieName)=\(value); Path=/; HttpOnly; SameSite=Strict; \(age)\(isProxied ? "; Secure" : "")"
  }

  /// True if two texts are equal. The comparison takes a time that does not depend on where they differ.
  private static func areEqual(_ one: String, _ other: String) -> Bool {
    let (one, other) = (Array(one.utf8), Array(other.utf8))
    guard one.count == other.count else { return false }
    return zip(one, other).reduce(0 as UInt8) { $0 | ($1.0 ^ $1.1) } == 0
  }
}

/// The cookies of a request (RFC 6265, section 5.4).
public struct Cookies: Sendable, Equatable {
  private var values: [(name: Substring, value: Substring)] = []

  /// Parses the Cookie header; malformed parts are ignored.
  public init(_ request: HTTPRequest) {
    for part in (request.headers["cookie"] ?? "").split(separator: ";") {
      let halves = part.drop { $0 == " " }.split(
        separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      if halves.count == 2 { values.append((name: halves[0], value: halves[1])) }
    }
  }

  /// The value of the first cookie with this name; nil if there is none.
  public subscript(name: String) -> String? { values.first { $0.name == name }.map { String($0.value) } }

  /// True if both have the same cookies in the same order.
  public static func == (one: Cookies, other: Cookies) -> Bool {
    one.values.elementsEqual(other.values, by: ==)
  }
}
