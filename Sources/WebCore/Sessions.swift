// Sessions of visitors: one per login, each with a random secret. Only the digest of a secret is stored.
// Invariant: a secret is valid until its session ends or expires. There are at most `maximumCount` sessions. The list
// survives the process as text. A damaged text is read as an empty list.

/// The logins of a server's visitors, each with its secret, rights and expiry.
public struct Sessions: Sendable, Equatable {
  /// Login of one visitor: id, rights and times.
  public struct Session: Sendable, Equatable {
    /// Public id: eight hexadecimal digits.
    public let id: String
    /// SHA-256 of the secret, 64 hexadecimal digits.
    fileprivate let digest: String
    /// Role and rights from the link.
    public let grant: WebGrant
    /// Times of login and expiry; milliseconds since 1970 UTC.
    public let since, end: Int64
    /// Time of the last request to this process, or of the login before the first request; milliseconds since 1970 UTC.
    public fileprivate(set) var seen: Int64
    /// True after the visitor entered the vending machine's code.
    public fileprivate(set) var hasManagerCode = false

    /// True if the session may use the manager's side of the vending machine.
    public var isManager: Bool { grant.role == .manager || hasManagerCode }
  }

  /// The sessions, the oldest first.
  public private(set) var all: [Session] = []

  /// Maximum number of sessions. A further login ends the session that was used least recently.
  public static let maximumCount = 256
  /// Lifetime of a session in milliseconds: 30 days.
  public static let lifetime: Int64 = 30 * 86_400_000

  public init() {}

  /// Starts a session with these rights.
  ///
  /// - Returns: the secret for its cookie, 64 hexadecimal digits; the session; and the ids of sessions that have
  ///   expired or that ended to make room.
  public mutating func begin(
    _ grant: WebGrant, at now: Int64, random: () -> UInt64
  ) -> (secret: String, session: Session, ended: [String]) {
    var ended = removeExpired(at: now)
    if all.count >= Self.maximumCount, let oldest = all.min(by: { $0.seen < $1.seen }) {
      all.removeAll { $0.id == oldest.id }
      ended.append(oldest.id)
    }
    let secret = Credentials.Secrets.digits(random)
    var id = String(Credentials.Secrets.digits(random).prefix(8))
    while all.contains(where: { $0.id == id }) { id = String(Credentials.Secrets.digits(random).prefix(8)) }
    let session = Session(
      id: id, digest: Self.digest(secret), grant: grant, since: now, end: now + Self.lifetime, seen: now)
    all.append(session)
    return (secret, session, ended)
  }

  /// Finds the session of a secret, and records the time of its use; nil if there is none or it has expired.
  public mutating func find(_ secret: String, at now: Int64) -> Session? {
    guard secret.utf8.count == 64 else { return nil }
    let digest = Self.digest(secret)
    guard let index = all.firstIndex(where: { $0.digest == digest }), all[index].end > now else { return nil }
    all[index].seen = now
    return all[index]
  }

  /// Records that the visitor of a session entered the manager's code.
  public mutating func makeManager(_ id: String) {
    if let index = all.firstIndex(where: { $0.id == id }) { all[index].hasManagerCode = true }
  }

  /// Ends a session; false if no session has this id.
  public mutating func end(_ id: String) -> Bool {
    let before = all.count
    all.removeAll { $0.id == id }
    return all.count < before
  }

  /// Removes expired sessions. Returns their ids.
  public mutating func removeExpired(at now: Int64) -> [String] {
    // A login that is more than a lifetime in the future means that the clock was set back since then.
    let ended = all.filter { $0.end <= now || $0.since > now + Self.lifetime }.map(\.id)
    if !ended.isEmpty { all.removeAll { ended.contains($0.id) } }
    return ended
  }

  private static func digest(_ secret: String) -> String { SHA256.hex(SHA256.digest(Array(secret.utf8))) }
}

// MARK: - Text format

extension Sessions {
  private static let heading = "sessions 1"

  /// The sessions as text: a heading, and one line for each session.
  public var text: String {
    ([Self.heading]
      + all.map { session in
        "\(session.id) \(session.digest) \(session.grant.role.rawValue) \(session.grant.mayRun ? 1 : 0) "
          + "\(session.hasManagerCode ? 1 : 0) \(session.since) \(session.end)"
      }).joined(separator: "\n") + "\n"
  }

  /// Parses sessions; none if the text is damaged.
  public init(text: String) {
    let lines = text.split(separator: "\n")
    guard lines.first == Self.heading[...], lines.count <= Self.maximumCount + 1 else { return }
    for line in lines.dropFirst() {
      guard let session = Session(line: line) else {
        all = []
        return
      }
      all.append(session)
    }
  }
}

extension Sessions.Session {
  /// Parses one line of the text format; nil if it is invalid.
  fileprivate init?(line: Substring) {
    let fields = line.split(separator: " ").map { String($0) }
    guard fields.count == 7, fields[0].utf8.count == 8, fields[1].utf8.count == 64,
      (fields[0] + fields[1]).allSatisfy({ $0.isASCII && $0.isHexDigit }),
      let role = WebRole(rawValue: fields[2]),
      ["0", "1"].contains(fields[3]), ["0", "1"].contains(fields[4]), let since = Int64(fields[5]),
      let end = Int64(fields[6]), end > since, end &- since <= Sessions.lifetime
    else { return nil }
    self.init(
      id: fields[0], digest: fields[1], grant: WebGrant(role: role, mayRun: fields[3] == "1"), since: since,
      end: end, seen: since, hasManagerCode: fields[4] == "1")
  }
}
