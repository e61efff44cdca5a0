// Owns the shape of the vending machine's database. It knows no row.
// Invariant: a migration that was ever released is never changed; see `Schema`.

extension Schema {
  /// The vending machine's database ("VEND" in ASCII). The tables, in prose:
  ///
  /// - `ledger`: every change of the money there ever was, in the order of the commits; rows are added and never touched
  ///   again. A bought drink is one row, which is its price and its place in the history at once.
  /// - `purchase`: every purchase that was ever begun, and how far it is. Its row comes before the stock is asked, and
  ///   ends in the transaction that books it.
  /// - `meta`: named numbers; `machine` tells this machine from any other, `plain purchases` is the last purchase whose
  ///   order at the stock is called by its number alone, and `bank books`, `bank opening` and `bank moment` are the last
  ///   opening of a bank with which it was used, see `BankMark`.
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
