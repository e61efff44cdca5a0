// Owns why something was not to be had from PostgreSQL. Its sentences are beside it.
// Invariant: it never holds a password: the place is what may be shown of it, and the library's words hold none.

/// What failed, on which database, and why.
public struct PostgresError: Error, Sendable, Hashable {
  /// Why.
  public enum Reason: Sendable, Hashable {
    /// What was given as the place cannot be understood; the library's words, or none.
    case badPlace(String)
    /// A password, or another secret, stands in the place, where arguments, logs and `ps` show it.
    case passwordInPlace
    /// Nobody listens there, or it is not found; the library's words.
    case unreachable(String)
    /// The server wants a password, and there is none.
    case passwordMissing
    /// The server does not let this user in (SQLSTATE 28…).
    case notAdmitted(String)
    /// The server has no such database (SQLSTATE 3D000).
    case noDatabase(String)
    /// Nothing was heard for so long, in milliseconds.
    case silent(milliseconds: Int64)
    /// It is not the server that answers, but a pooler such as PgBouncer, which hands the connection on.
    case pooler
    /// The server only follows another one, and takes no changes.
    case standby
    /// The server is older than this one can be used with; both as PostgreSQL counts (150004 is 15.4).
    case tooOld(Int64, least: Int64)
    /// The database has this encoding, in which some words cannot be stored.
    case encoding(String)
    /// The database has no books, and there were some.
    case noBooks
    /// The database has other books than before.
    case otherBooks
    /// Another server has the same books, and the one that had them is still there.
    case otherServer
    /// The server has had the books before another one took over; both timelines.
    case formerServer(timeline: Int64, known: Int64)
    /// Several of the servers that are named take changes, and none follows another.
    case manyServers
    /// The connection has ended; the library's words.
    case lost(String)
    /// The server has refused a statement, and nothing of its segment has had an effect.
    case refused(state: String, message: String)
    /// A result is larger than this in bytes.
    case tooLarge(limit: Int)
    /// So much is under way that no more is taken now.
    case full
    /// The caller has closed the connection.
    case closed
    /// The server has said what this client does not expect.
    case strange(String)
  }

  /// The place as it may be shown, such as `postgres://bank@db.example:5432/bank`.
  public let place: String
  /// Why.
  public let reason: Reason

  public init(_ reason: Reason, at place: String) {
    self.reason = reason
    self.place = place
  }

  /// The five characters of SQLSTATE with which a statement was refused; nil for everything else.
  public var sqlState: String? {
    if case .refused(let state, _) = reason { return state }
    return nil
  }

  /// Whether the server takes no changes for a while, as a managed one does whose disk is nearly full.
  public var takesNoChanges: Bool { sqlState == "25006" }

  /// Whether the same may succeed later without anybody changing anything: nobody listens yet, the server is busy or was
  /// just promoted, or the connection was lost.
  public var mayPass: Bool {
    switch reason {
    case .unreachable, .silent, .standby, .lost, .full, .formerServer, .otherServer: true
    // What the server says of itself (57P03 cannot connect now, 53300 too many connections) and of others in the way
    // (40001, 40P01).
    case .refused(let state, _):
      // A server that takes no changes now (25006) takes them again.
      ["57P", "53", "40", "08", "25006"].contains { state.hasPrefix($0) }
    default: false
    }
  }

  /// True if the server at the other end is not the one with the books, or its books are not the ones that are known.
  public var isOfOtherBooks: Bool {
    switch reason {
    case .noBooks, .otherBooks, .otherServer, .formerServer, .manyServers: true
    default: false
    }
  }

  /// What a refusal while connecting means, by what the server said.
  static func whileConnecting(words: String, needsPassword: Bool) -> Reason {
    if needsPassword { return .passwordMissing }
    // PgBouncer refuses what it cannot keep for a client, and is the only one that speaks so.
    if words.contains("unsupported startup parameter") { return .pooler }
    // The library keeps the server's words alone: no SQLSTATE of a connection that has not come to be.
    if words.contains("session is read-only") || words.contains("is in hot standby mode") { return .standby }
    if words.contains("database \""), words.contains("does not exist") { return .noDatabase(words) }
    if ["authentication failed", "no pg_hba.conf entry", "role \""].contains(where: words.contains) {
      return .notAdmitted(words)
    }
    return .unreachable(words)
  }
}
