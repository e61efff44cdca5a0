// One transaction of a branch: its statements, and the interpretation of its results.
// Invariant: a result of an unexpected shape is reported as an unknown outcome, because the transaction is already
// committed.
import Postgres

/// Statements of one transaction, and the function that reads the answer from their results.
public struct PostgresRequest<Answer> {
  /// Statements of the transaction.
  package let segment: [PostgresCall]
  /// Interprets the results of the statements; nil if they have an unexpected shape.
  package let read: ([PostgresRows]) -> Answer?
}

/// Outcome of a request.
public enum PostgresAnswer<Answer> {
  case done(Answer)
  /// The transaction had no effect.
  case refused(PostgresError)
  /// The transaction is committed, or had no effect.
  case unknown(PostgresError)
}

extension PostgresConnection {
  /// Sends a request, and passes the outcome with its answer to `finish`; see ``PostgresConnection``.
  ///
  /// - Throws: `full`, `closed`; the request was not sent.
  public func send<Answer>(
    _ request: PostgresRequest<Answer>, _ finish: @escaping (PostgresAnswer<Answer>) -> Void
  ) throws(PostgresError) {
    try send(request.segment) { outcome in
      switch outcome {
      case .done(let rows):
        if let answer = request.read(rows) {
          finish(.done(answer))
        } else {
          finish(.unknown(PostgresError(.unexpectedReply("rows of an unexpected shape"), at: "")))
        }
      case .refused(let error): finish(.refused(error))
      case .unknown(let error): finish(.unknown(error))
      }
    }
  }
}
