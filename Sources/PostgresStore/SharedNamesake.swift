// Owns what is seen of a branch that has this branch's name and another home.
// Invariant: a lease whose end moves, or an epoch that rises, is the proof that it lives.
import Postgres

struct SharedNamesake {
  let epoch: Int64
  let host: String
  /// In microseconds since 1970, by the database's clock.
  let leaseEnd: Int64

  /// nil if no such branch is open.
  init?(_ rows: PostgresRows) {
    guard let epoch = rows.integer(0, 0), let host = rows.text(0, 1), let leaseEnd = rows.integer(0, 2) else {
      return nil
    }
    (self.epoch, self.host, self.leaseEnd) = (epoch, host, leaseEnd)
  }
}
