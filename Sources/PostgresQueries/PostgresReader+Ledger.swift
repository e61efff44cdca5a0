// Sums of the ledger, computed from the receipts by the database. A receipt contains its transfer, so no second table
// can disagree with it.
import BankModel
import Postgres
import QueueCore

extension PostgresReader {
  /// Sums of the ledger over all days. See `QueueReader`.
  public func trialBalance() throws(StoreError) -> TrialBalance {
    let rows = try connection.ask(Self.balance())[0]
    return TrialBalance(cash: try sums(rows, 0), loans: try sums(rows, 3), customers: try sums(rows, 6))
  }

  /// Account of one customer over all days. See `QueueReader`.
  public func statement(of account: AccountNumber, limit: Int) throws(StoreError) -> AccountStatement {
    let rows = try connection.ask(
      Self.account(.integer(account)),
      Self.latest(.integer(account), .integer(Int64(min(max(0, limit), 1_000)))))
    var latest: [Receipt] = []
    for row in 0..<rows[1].count { latest.append(try receipt(rows[1], row)) }
    return AccountStatement(sums: try sums(rows[0], 0), latest: latest)
  }

  /// Sums of one account or group of accounts, from three columns.
  private func sums(_ rows: PostgresRows, _ column: Int) throws(StoreError) -> LedgerSums {
    guard let debit = rows.text(0, column).flatMap({ WonSum($0) }),
      let credit = rows.text(0, column + 1).flatMap({ WonSum($0) }),
      let transfers = rows.integer(0, column + 2)
    else { throw damage(of: "receipt", "sums") }
    return LedgerSums(debit: debit, credit: credit, transfers: transfers)
  }

  /// Three columns for the accounts that satisfy a condition: sum of debits, sum of credits, and number of transfers.
  /// Amounts have 64 bits. Their sums may need more, so the sums are returned as text.
  private static func columns(_ condition: (String) -> String) -> String {
    let (debit, credit) = (condition("debit"), condition("credit"))
    return """
      coalesce(sum(amount) FILTER (WHERE \(debit)), 0)::text, coalesce(sum(amount) FILTER (WHERE \(credit)), 0)::text, \
      (count(*) FILTER (WHERE \(debit))) + (count(*) FILTER (WHERE \(credit)))
      """
  }

  /// Sums of cash, of loans, and of all customers' accounts.
  private static let balance = PostgresStatement(
    "read-balance", [],
    """
    SELECT \(columns { "\($0) = \(LedgerAccount.cash.code)" }), \
    \(columns { "\($0) = \(LedgerAccount.loans.code)" }), \(columns { "\($0) >= 0" }) FROM bank.receipt
    """)
  /// A transfer of an account belongs to a customer with this account, so the index by account finds the transfer.
  private static let account = PostgresStatement(
    "read-account", [.integer], "SELECT \(columns { "\($0) = $1" }) FROM bank.receipt WHERE account = $1")
  /// The latest receipts with a transfer to or from an account.
  private static let latest = PostgresStatement(
    "read-account-receipts", [.integer, .integer],
    """
    SELECT \(columns) FROM bank.receipt WHERE account = $1 AND (debit = $1 OR credit = $1)
    ORDER BY day DESC, ticket DESC LIMIT $2
    """)
}
