// Schema of the stock's database.
// Invariant: a released migration never changes; see `Schema`.

extension Schema {
  /// The stock's database ("STOC" in ASCII). Its tables:
  ///
  /// - `item`: the items, numbered in the order of first use.
  /// - `lot`: current content of the shelves. A lot without dates has −1 in both columns. An empty lot has no
  ///   row.
  /// - `ledger`: all changes in commit order. Rows are added and never changed. The sum of an item's rows is
  ///   its quantity on the shelf.
  /// - `stock_order`: the answer to every order, which is returned again if the order is repeated. The rows of
  ///   the ledger from `first` to `last` are the effect of the order, and those from `returned_first` to
  ///   `returned_last` are its return.
  /// - `shortage`: missing items of an order that was not executed.
  /// - `meta`: named numbers. `ledger` identifies this ledger. `bank books`, `bank opening` and `bank moment`
  ///   record the last opening of a bank that used this database, see `BankIdentity`.
  static let stock = Schema(applicationID: 0x5354_4F43, migrations: [stockVersion1])

  private static let stockVersion1 = """
    CREATE TABLE item (
      number INTEGER PRIMARY KEY,
      name TEXT NOT NULL UNIQUE
    ) STRICT;

    CREATE TABLE lot (
      item INTEGER NOT NULL REFERENCES item,
      made INTEGER NOT NULL, -- days since 1970-01-01; -1 where the lot has no dates
      expires INTEGER NOT NULL,
      quantity INTEGER NOT NULL CHECK (quantity BETWEEN 1 AND 1000000),
      PRIMARY KEY (item, expires, made)
    ) STRICT, WITHOUT ROWID;

    -- One lot became more or less. Sequence numbers have no gaps.
    CREATE TABLE ledger (
      sequence INTEGER PRIMARY KEY,
      item INTEGER NOT NULL REFERENCES item,
      kind INTEGER NOT NULL, -- 1 initial, 2 added, 3 removed, 4 taken, 5 returned, 6 set, 7 discarded
      made INTEGER NOT NULL,
      expires INTEGER NOT NULL,
      difference INTEGER NOT NULL CHECK (difference <> 0),
      lot INTEGER NOT NULL CHECK (lot >= 0), -- in the lot afterwards
      present INTEGER NOT NULL CHECK (present BETWEEN 0 AND 1000000), -- of the item afterwards
      order_id TEXT, -- null where the change had no name
      at_ms INTEGER NOT NULL
    ) STRICT;

    -- The answer that an order has got.
    CREATE TABLE stock_order (
      id TEXT PRIMARY KEY,
      content TEXT NOT NULL, -- what was asked for
      outcome INTEGER NOT NULL, -- 1 done, 2 short, 3 void: given back before it came
      first INTEGER, -- its rows of the ledger; null where it changed nothing
      last INTEGER,
      returned_first INTEGER, -- null unless it was given back
      returned_last INTEGER,
      at_ms INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE shortage (
      order_id TEXT NOT NULL,
      place INTEGER NOT NULL, -- the order in which they are sent
      item INTEGER NOT NULL REFERENCES item,
      needed INTEGER NOT NULL,
      available INTEGER NOT NULL,
      PRIMARY KEY (order_id, place)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE meta (
      name TEXT PRIMARY KEY,
      value INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    """
}
