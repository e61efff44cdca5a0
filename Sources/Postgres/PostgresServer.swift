// Owns the first question on a connection: whether it is a server at the other end, and one that this client can work with.
// Invariant: a pooler is found by the number of the server's process. It tells its client a number of its own, because what
// it hands on goes now to one process and now to another.
import CPostgres

/// What a server says of itself.
public struct PostgresServer: Sendable, Hashable {
  /// As PostgreSQL counts: 150004 is 15.4.
  public let version: Int64
  /// Whether commits wait for a standby, so that nothing is lost with the primary.
  public let isSynchronous: Bool

  /// The oldest server with which pipelines and everything in our statements were tried or are documented to work: 13.
  public static let leastVersion: Int64 = 130_000

  static let question = PostgresCall.once(
    """
    SELECT pg_backend_pid(), current_setting('server_version_num')::int, pg_is_in_recovery(), \
    current_setting('synchronous_standby_names') <> '' \
    AND current_setting('synchronous_commit') NOT IN ('off', 'local'), current_setting('server_encoding')
    """)

  /// The encodings of a database that hold every word: a server that has no encoding keeps the bytes as they come.
  private static let encodings: Set = ["UTF8", "SQL_ASCII"]

  /// - Parameter backend: the number of the server's process as the connection was told it at its beginning.
  static func read(_ rows: PostgresRows?, backend: Int32) -> Result<PostgresServer, Refusal> {
    guard let rows, let pid = rows.integer(0, 0), let version = rows.integer(0, 1),
      let isStandby = rows.boolean(0, 2), let isSynchronous = rows.boolean(0, 3),
      let encoding = rows.text(0, 4)
    else { return .failure(Refusal(reason: .strange("its answer to the first question"))) }
    if pid != Int64(backend) { return .failure(Refusal(reason: .pooler)) }
    if version < leastVersion { return .failure(Refusal(reason: .tooOld(version, least: leastVersion))) }
    if !encodings.contains(encoding) { return .failure(Refusal(reason: .encoding(encoding))) }
    if isStandby { return .failure(Refusal(reason: .standby)) }
    return .success(PostgresServer(version: version, isSynchronous: isSynchronous))
  }

  struct Refusal: Error {
    var reason: PostgresError.Reason
  }
}
