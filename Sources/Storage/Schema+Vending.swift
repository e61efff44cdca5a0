// Schema of the vending machine's database.
// Invariant: a released migration never changes; see `Schema`.

extension Schema {
  /// The vending machine's database ("VEND" in ASCII). Its tables:
  ///
  /// - `ledger`: all changes of the money in commit order. Rows are added and never changed. A bought drink is
  ///   one row with its price.
  /// - `purchase`: every purchase that was ever started, with its state. Its row is written before the order to
  ///   the stock. If the drink is bought, the final state is written in the transaction of the ledger row.
  /// - `meta`: named numbers. `machine` identifies this machine. `plain purchases` is the last purchase whose
  ///   stock order is named by its number alone. `bank books`, `bank opening` and `bank moment` record the last
  ///   opening of a bank that used this database, see `BankIdentity`.
  static let vending = Schema(applicationID: 0x5645_4E44, migrations: [vendingVersion1])

  private static let vendingVersion1 = """
    -- The balance became more or less. Sequence numbers have no gaps.
    CREATE TABLE ledger (
      sequence INTEGER PRIMARY KEY,
      kind INTEGER NOT NULL CHECK (kind BETWEEN 1 AND 3), -- 1 inserted, 2 bought, 3 returned
      amount INTEGER NOT NULL CHECK (amount >= 0),
      balance INTEGER NOT NULL CHECK (balance BETWEEN 0 AND 1000000000), -- afterwards
      product TEXT, -- null unless something was bought
      made INTEGER NOT NULL, -- days since 1970-01-01; -1 where there are no dates
      expires INTEGER NOT NULL,
      request TEXT NOT NULL UNIQUE, -- the name under which it was asked for
      at_ms INTEGER NOT NULL,
      CHECK ((kind = 2) = (product IS NOT NULL))
    ) STRICT;

    CREATE INDEX ledger_bought ON ledger (product, sequence) WHERE kind = 2;

    CREATE TABLE purchase (
      number INTEGER PRIMARY KEY,
      request TEXT NOT NULL UNIQUE,
      product TEXT NOT NULL,
      price INTEGER NOT NULL CHECK (price >= 1),
      state INTEGER NOT NULL, -- 1 open, 2 releasing, 3 bought, 4 sold out, 5 only expired, 6 given up
      at_ms INTEGER NOT NULL
    ) STRICT;

    CREATE INDEX purchase_unfinished ON purchase (number) WHERE state <= 2;

    CREATE TABLE meta (
      name TEXT PRIMARY KEY,
      value INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    """
}
