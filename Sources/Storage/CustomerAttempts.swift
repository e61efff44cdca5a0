// Owns how the attempts at a customer are packed into one column of its row. It knows no database. Invariant: where nothing
// counts against `max_attempts` the column is the number of attempts that have ended, as it was before there was anything to
// count; a program from before that takes any other value for damage, and serves nobody whom it would serve too often.

import BankModel

/// The column `attempts` of a customer: `under way << 48 | begun << 32 | ended`.
struct CustomerAttempts: Equatable {
  /// Attempts that ended without a receipt; each has its row in `attempt`.
  let ended: Int32
  /// Those that count against `max_attempts`, the one under way among them.
  let begun: Int16
  /// Whether one of them is under way.
  let isBegun: Bool

  /// What SQL takes for ``ended``.
  static let ended = "attempts & 4294967295"

  init(_ customer: Customer) {
    (ended, begun, isBegun) = (customer.attempts, customer.begun, customer.isBegun)
  }

  /// Nil where the number means nothing.
  init?(packed: Int64) {
    guard packed >= 0, packed >> 49 == 0, let ended = Int32(exactly: packed & 0xffff_ffff),
      let begun = Int16(exactly: packed >> 32 & 0xffff)
    else { return nil }
    (self.ended, self.begun, isBegun) = (ended, begun, packed >> 48 == 1)
  }

  var packed: Int64 { (isBegun ? 1 << 48 : 0) | Int64(begun) << 32 | Int64(ended) }
}
