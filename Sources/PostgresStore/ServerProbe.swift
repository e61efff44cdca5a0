// First query of a branch or a reader on a connection that was checked: identity of the server, and whether its
// database has the schema of a bank.
// Invariant: a result of an unexpected shape is nil, not a trap.
import Postgres

/// Result of the first query: identity of the server, and whether the schema of a bank exists.
package struct ServerProbe {
  /// Start of the server process of this connection, in microseconds since 1970.
  var beganAt: Int64
  /// Cluster and timeline. Its `bankID` is nil: ``number`` queries it, because the schema of a bank may not exist.
  package var identity: ServerIdentity
  /// True if the schema of a bank exists.
  package var hasBankSchema: Bool

  /// Query for the start of the server process, the identity of the server, and the schema.
  package static var request: PostgresRequest<ServerProbe> {
    PostgresRequest(segment: [PostgresStatements.begin()]) { results in
      guard let rows = results.first, let beganAt = rows.integer(0, 0), let timeline = rows.integer(0, 1),
        let system = rows.integer(0, 2), let hasBankSchema = rows.boolean(0, 3)
      else { return nil }
      let identity = ServerIdentity(system: system, timeline: timeline, bankID: nil)
      return ServerProbe(beganAt: beganAt, identity: identity, hasBankSchema: hasBankSchema)
    }
  }

  /// Query of the random number that identifies the database. It fails unless ``hasBankSchema`` is true.
  package static var number: PostgresRequest<Int64> {
    PostgresRequest(segment: [PostgresStatements.identity()]) { $0.first?.integer(0, 0) }
  }
}
