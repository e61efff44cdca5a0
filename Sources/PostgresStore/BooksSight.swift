// Owns what a new connection finds at its other end, and the judgement whether a branch may use it.
// Invariant: all open connections of a branch are at one server, and that is the one with the highest timeline that the branch
// has seen. Books of another number are never used, and none are made where there were some.
import BankModel
import Postgres
import QueueCore

/// What is at the other end of a connection.
package struct BooksSight: Equatable {
  /// The identifier of the server's cluster.
  package var system: Int64
  /// The server's timeline.
  package var timeline: Int64
  /// The number of the books; nil where there are none.
  package var books: Int64?
}

/// What becomes of a connection by what is at its other end.
package enum BooksAdmission: Equatable {
  /// It is used.
  case open
  /// It is used, and connections to other servers are not any more.
  case openAlone
  /// It waits until the branch knows its books.
  case wait
  /// It is not used.
  case refuse(PostgresError.Reason)
}

extension BooksMark {
  /// Judges a connection.
  ///
  /// - Parameters:
  ///   - known: what the branch knows; nil for nothing yet.
  ///   - isFirst: true for the connection by which the branch joins.
  ///   - hasSisters: true if other connections of the branch are open.
  package static func judge(
    _ sight: BooksSight, knowing known: BooksMark?, isFirst: Bool, hasSisters: Bool
  ) -> BooksAdmission {
    guard let known else { return isFirst ? .open : .wait }
    guard let books = sight.books else { return .refuse(.noBooks) }
    guard books == known.books else { return .refuse(.otherBooks) }
    guard sight.system == known.system else {
      return hasSisters ? .refuse(.otherServer) : .openAlone
    }
    if sight.timeline < known.timeline {
      return .refuse(.formerServer(timeline: sight.timeline, known: known.timeline))
    }
    return sight.timeline > known.timeline ? .openAlone : .open
  }

  /// True if the server is the one that is known.
  func isAt(_ sight: BooksSight) -> Bool { (system, timeline) == (sight.system, sight.timeline) }
}
