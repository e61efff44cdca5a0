// A branch in another home that has the name of this branch.
// Invariant: a change of the end of the other branch's lease, or of its epoch, is taken as a sign that it is running.
import Postgres

/// A branch in another home that has the name of this branch and a valid lease.
struct NameHolder {
  let epoch: Int64
  let host: String
  /// End of the other branch's lease, in microseconds since 1970, by the server's clock.
  let leaseEnd: Int64

  /// Reads the row of ``PostgresStatements/nameHolder``; nil if no branch with this name has a lease.
  init?(_ rows: PostgresRows) {
    guard let epoch = rows.integer(0, 0), let host = rows.text(0, 1), let leaseEnd = rows.integer(0, 2) else {
      return nil
    }
    (self.epoch, self.host, self.leaseEnd) = (epoch, host, leaseEnd)
  }
}
