// Errors of the PostgreSQL client. Messages are in `PostgresError+Message.swift`.
// Invariant: an error contains no password. Its address is in the displayable form.

/// An error with its database and its reason.
public struct PostgresError: Error, Sendable, Hashable {
  /// Reason of an error.
  public enum Reason: Sendable, Hashable {
    /// The address is invalid. The text is the reason; empty if the reason may contain a secret.
    case invalidURL(String)
    /// The address contains a password, another secret or text that may be one, which logs and `ps` would show.
    case passwordInURL
    /// Connecting failed, usually because no server listens at the address or the host was not found; message of the
    /// library.
    case unreachable(String)
    /// The server requires a password, and none is configured.
    case passwordMissing
    /// The server refuses this user (SQLSTATE 28…).
    case accessDenied(String)
    /// The server has no such database (SQLSTATE 3D000).
    case noDatabase(String)
    /// No answer within this time, in milliseconds.
    case noReply(milliseconds: Int64)
    /// The peer is a pooler such as PgBouncer, not a server.
    case pooler
    /// The server accepts no writes: it is a standby, or its sessions are read-only.
    case standby
    /// The version of the server is below the minimum version. Both are numbers such as 150004 for 15.4.
    case tooOld(Int64, least: Int64)
    /// The database has this encoding, which cannot store all text.
    case encoding(String)
    /// The database has no schema of a bank, but the branch has used a bank in it before.
    case noBankSchema
    /// The database contains a different bank than the branch has used before.
    case otherDatabase
    /// Another server has the same database, while the server that the branch uses still answers.
    case otherServer
    /// The server was replaced by a failover: its timeline is below the known timeline.
    case formerServer(timeline: Int64, known: Int64)
    /// Several of the named servers are primaries, and they belong to different clusters.
    case multiplePrimaries
    /// The connection has ended; message of the library, the server or the kernel.
    case lost(String)
    /// The server refused a statement; its segment had no effect.
    case refused(state: String, message: String)
    /// The results of a segment exceed this limit in bytes.
    case tooLarge(limit: Int)
    /// The limits on segments in flight are reached.
    case full
    /// The caller has closed the connection, or the connection is not ready or has ended.
    case closed
    /// The server sent an unexpected response. The text describes the response, or is empty.
    case unexpectedReply(String)
  }

  /// The address as it may be displayed, such as `postgres://bank@db.example:5432/bank`.
  public let place: String
  /// Reason of the error.
  public let reason: Reason

  public init(_ reason: Reason, at place: String) {
    self.reason = reason
    self.place = place
  }

  /// SQLSTATE of a refused statement, five characters; nil for other errors.
  public var sqlState: String? {
    if case .refused(let state, _) = reason { return state }
    return nil
  }

  /// True if the server accepts no writes now (SQLSTATE 25006).
  public var takesNoChanges: Bool { sqlState == "25006" }

  /// True if a retry may succeed without an intervention: for example, no server listens yet, the server is busy or
  /// was just promoted, or the connection was lost.
  public var isRetriable: Bool {
    switch reason {
    case .unreachable, .noReply, .standby, .lost, .full, .formerServer, .otherServer: true
    // Conditions of the server (57P03 cannot connect now, 53300 too many connections), conflicts (40001, 40P01), and
    // connection exceptions (08).
    case .refused(let state, _):
      // A server that accepts no writes now (25006) may accept them later.
      ["57P", "53", "40", "08", "25006"].contains { state.hasPrefix($0) }
    default: false
    }
  }

  /// True if the peer is not the server of the database, or its database is not the known one.
  public var isOfOtherDatabase: Bool {
    switch reason {
    case .noBankSchema, .otherDatabase, .otherServer, .formerServer, .multiplePrimaries: true
    default: false
    }
  }

  /// Reason of a failure to connect, derived from the message of the library.
  static func whileConnecting(message: String, needsPassword: Bool) -> Reason {
    if needsPassword { return .passwordMissing }
    // PgBouncer uses this message for a parameter that it does not support.
    if message.contains("unsupported startup parameter") { return .pooler }
    // For a failed connection the library provides the server's message without its SQLSTATE.
    if message.contains("session is read-only") || message.contains("is in hot standby mode") {
      return .standby
    }
    if message.contains("database \""), message.contains("does not exist") { return .noDatabase(message) }
    if ["authentication failed", "no pg_hba.conf entry", "role \""].contains(where: message.contains) {
      return .accessDenied(message)
    }
    return .unreachable(message)
  }
}
