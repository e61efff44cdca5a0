// Owns the first question of a branch on a new connection: who the server is, and whether it has books.
// Invariant: an answer of another shape is nil and no trap.
import Postgres

/// A server as it describes itself to a branch.
package struct PostgresBeginning {
  /// When its process for this connection began, in microseconds since 1970.
  var beganAt: Int64
  /// Its cluster and its timeline. The number of the books is asked for separately, since there may be none.
  package var sight: BooksSight
  /// True if it has books.
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

  /// Asks for the number of the books, where there are some.
  package static var number: PostgresRequest<Int64> {
    PostgresRequest(segment: [PostgresStatements.sight()]) { $0.first?.integer(0, 0) }
  }
}
