// Decides whether a branch may use a new connection, from the identity of the server and the database.
// Invariants: all open connections of a branch lead to one server, which has the highest timeline that the branch has
// seen of its cluster. A branch that knows its database uses no other database, and creates none in its place.
import BankModel
import Postgres
import QueueCore

/// Identity of the server and database of a connection.
package struct ServerIdentity: Equatable {
  /// System identifier of the PostgreSQL cluster.
  package var system: Int64
  /// Timeline of the server.
  package var timeline: Int64
  /// Random number that identifies the database; nil if it has no bank.
  package var bankID: Int64?
}

/// Decision about a new connection: use it, keep it unused, or close it.
package enum ConnectionDecision: Equatable {
  /// Use the connection.
  case open
  /// Use the connection, and close those to other servers.
  case openAlone
  /// Keep the connection unused until the branch has joined and has stored the identity of its database.
  case wait
  /// Close the connection.
  case refuse(PostgresError.Reason)
}

extension SharedStoreProgress {
  /// Decides from the identity of its server and database whether a branch uses a new connection.
  ///
  /// - Parameters:
  ///   - known: the identity that the branch remembers; nil for none yet.
  ///   - isFirst: true for the connection on which the branch joins.
  ///   - hasOtherConnections: true if other connections of the branch are open.
  package static func decide(
    _ identity: ServerIdentity, knowing known: SharedStoreProgress?, isFirst: Bool, hasOtherConnections: Bool
  ) -> ConnectionDecision {
    guard let known else { return isFirst ? .open : .wait }
    guard let bankID = identity.bankID else { return .refuse(.noBankSchema) }
    guard bankID == known.bankID else { return .refuse(.otherDatabase) }
    guard identity.system == known.system else {
      return hasOtherConnections ? .refuse(.otherServer) : .openAlone
    }
    if identity.timeline < known.timeline {
      return .refuse(.formerServer(timeline: identity.timeline, known: known.timeline))
    }
    return identity.timeline > known.timeline ? .openAlone : .open
  }

  /// True if this is the identity of a server with the cluster and timeline that the branch knows.
  func isAt(_ identity: ServerIdentity) -> Bool { (system, timeline) == (identity.system, identity.timeline) }
}
