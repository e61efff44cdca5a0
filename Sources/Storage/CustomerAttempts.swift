// Attempts of a customer, packed into one column of its row.
// Invariant: if no attempt counts against `max_attempts`, the column is the number of ended attempts, as in older
// versions.

import BankModel

/// Numbers of a customer's attempts, packed into the column `attempts`:
/// `running << 48 | startedAttempts << 32 | ended`.
struct CustomerAttempts: Equatable {
  /// Attempts that ended without a receipt.
  let ended: Int32
  /// Attempts that count against `max_attempts`, including a running one.
  let startedAttempts: Int16
  let isAttemptRunning: Bool

  /// SQL expression for ``ended``.
  static let ended = "attempts & 4294967295"

  init(_ customer: Customer) {
    (ended, startedAttempts, isAttemptRunning) = (
      customer.attempts, customer.startedAttempts, customer.isAttemptRunning
    )
  }

  /// Unpacks the number in a column; nil if the number is invalid.
  init?(packed: Int64) {
    guard packed >= 0, packed >> 49 == 0, let ended = Int32(exactly: packed & 0xffff_ffff),
      let startedAttempts = Int16(exactly: packed >> 32 & 0xffff)
    else { return nil }
    (self.ended, self.startedAttempts, isAttemptRunning) = (ended, startedAttempts, packed >> 48 == 1)
  }

  /// The number for the column.
  var packed: Int64 { (isAttemptRunning ? 1 << 48 : 0) | Int64(startedAttempts) << 32 | Int64(ended) }
}
