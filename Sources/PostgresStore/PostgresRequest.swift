// Owns what a branch asks of its books in one transaction: the segment, and how what comes back is read.
// Invariant: what comes back in another shape than was asked for is told as an unknown outcome, because the transaction is
// committed then.
import Postgres

/// One transaction with an answer.
public struct PostgresRequest<Answer> {
  package let segment: [PostgresCall]
  package let read: ([PostgresRows]) -> Answer?
}

/// What came of a request.
public enum PostgresAnswer<Answer> {
  /// It is committed.
  case done(Answer)
  /// It has had no effect.
  case refused(PostgresError)
  /// It is committed, or it had no effect.
  case unknown(PostgresError)
}

extension PostgresConnection {
  /// Sends a request; see ``PostgresConnection``.
  ///
  /// - Throws: `full`, `closed`: then it was not sent.
  public func send<Answer>(
    _ request: PostgresRequest<Answer>, _ finish: @escaping (PostgresAnswer<Answer>) -> Void
  ) throws(PostgresError) {
    try send(request.segment) { outcome in
      switch outcome {
      case .done(let rows):
        if let answer = request.read(rows) {
          finish(.done(answer))
        } else {
          finish(.unknown(PostgresError(.strange("rows of another shape than was asked for"), at: "")))
        }
      case .refused(let error): finish(.refused(error))
      case .unknown(let error): finish(.unknown(error))
      }
    }
  }
}
