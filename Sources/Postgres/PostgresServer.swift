// Check of a new connection: the peer must be a PostgreSQL server that this client supports.
// Invariant: a pooler is detected by the pid of the server process, in whose place it sends an invented one.
import CPostgres

/// Version of a server, and whether commits on it wait for a standby.
public struct PostgresServer: Sendable, Hashable {
  /// Version as a number, such as 150004 for 15.4.
  public let version: Int64
  /// True if the settings of the session make commits wait for a standby.
  public let isSynchronous: Bool

  /// Oldest supported version: 13.
  public static let minVersion: Int64 = 130_000

  /// Query for pid, version, standby state, synchronous replication and encoding; see ``read(_:backend:)``.
  static let checkQuery = PostgresCall.once(
    """
    SELECT pg_backend_pid(), current_setting('server_version_num')::int, pg_is_in_recovery(), \
    current_setting('synchronous_standby_names') <> '' \
    AND current_setting('synchronous_commit') NOT IN ('off', 'local'), current_setting('server_encoding')
    """)

  /// Database encodings that can store all text. SQL_ASCII stores bytes unchanged.
  private static let encodings: Set = ["UTF8", "SQL_ASCII"]

  /// Reads the result of ``checkQuery``, and refuses a server that this client does not support.
  ///
  /// - Parameter backend: pid of the server process, as sent when the connection started.
  static func read(_ rows: PostgresRows?, backend: Int32) -> Result<PostgresServer, Refusal> {
    guard let rows, let pid = rows.integer(0, 0), let version = rows.integer(0, 1),
      let isStandby = rows.boolean(0, 2), let isSynchronous = rows.boolean(0, 3),
      let encoding = rows.text(0, 4)
    else { return .failure(Refusal(reason: .unexpectedReply("its response to the first query"))) }
    if pid != Int64(backend) { return .failure(Refusal(reason: .pooler)) }
    if version < minVersion { return .failure(Refusal(reason: .tooOld(version, least: minVersion))) }
    if !encodings.contains(encoding) { return .failure(Refusal(reason: .encoding(encoding))) }
    if isStandby { return .failure(Refusal(reason: .standby)) }
    return .success(PostgresServer(version: version, isSynchronous: isSynchronous))
  }

  /// Reason why a server cannot be used.
  struct Refusal: Error {
    var reason: PostgresError.Reason
  }
}
