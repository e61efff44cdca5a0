// First query of a branch on a new connection: identity of the server, and whether its database has the schema of a
// bank.
// Invariant: an answer of an unexpected shape is nil, not a trap.
import Postgres

/// Identity of a server.
package struct PostgresBeginning {
  /// Start of the server process of this connection, in microseconds since 1970.
  var beganAt: Int64
  /// Cluster and timeline. The number of the database needs another query, because it may not exist.
  package var sight: BooksSight
  /// True if the schema of a bank exists.
  package var hasBooks: Bool

  package static var request: PostgresRequest<PostgresBeginning> {
    PostgresRequest(segment: [PostgresStatements.begin()]) { results in
      guard let rows = results.first, let beganAt = rows.integer(0, 0), let timeline = rows.integer(0, 1),
        let system = rows.integer(0, 2), let hasBooks = rows.boolean(0, 3)
      else { return nil }
      let sight = BooksSight(system: system, timeline: timeline, books: nil)
      return PostgresBeginning(beganAt: beganAt, sight: sight, hasBooks: hasBooks)
    }
  }

  /// Query of the database's number. It fails unless ``hasBooks`` is true.
  package static var number: PostgresRequest<Int64> {
    PostgresRequest(segment: [PostgresStatements.sight()]) { $0.first?.integer(0, 0) }
  }
}
