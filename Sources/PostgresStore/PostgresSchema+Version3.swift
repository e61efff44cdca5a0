// Third version of the schema: keys for the tables that had none, the home and machine of a branch, the issue time
// of its longest-waiting customer, and tables for the slices of large requests for tickets.
// Invariant: like every migration it never changes after its release.

extension PostgresSchema {
  /// Statements that upgrade version 2 to version 3.
  static let version3 = [
    // With a publication for all tables, PostgreSQL refuses to delete rows from a table without a key.
    "ALTER TABLE bank.version ADD PRIMARY KEY (number)",
    "ALTER TABLE bank.former_claim ADD COLUMN id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY",

    // `proof` identifies the home and the running machine of the branch. `oldest_ms` is the issue time of the
    // longest-waiting customer of the branch.
    "ALTER TABLE bank.branch ADD COLUMN proof text NOT NULL DEFAULT ''",
    "ALTER TABLE bank.branch ADD COLUMN oldest_ms bigint",

    // Customers of a large request, slice by slice, before they are moved to `customer`. Branch, epoch and number name
    // the request, as in `intake`. `before` counts the customers of the preceding slices. `waiting` and `delayed` count
    // those of this slice in each of its `lanes`.
    """
    CREATE TABLE bank.arriving (
      branch bigint NOT NULL,
      epoch bigint NOT NULL,
      number bigint NOT NULL,
      part bigint NOT NULL,
      before bigint NOT NULL,
      count bigint NOT NULL CHECK (count > 0),
      lanes bigint[] NOT NULL,
      waiting bigint[] NOT NULL,
      delayed bigint[] NOT NULL,
      bases bigint[] NOT NULL,
      amounts bigint[] NOT NULL,
      accounts bigint[] NOT NULL,
      dues bigint[] NOT NULL,
      articles text[] NOT NULL,
      payloads bytea[] NOT NULL,
      keys text[] NOT NULL,
      digests bigint[] NOT NULL,
      PRIMARY KEY (branch, epoch, number, part)
    )
    """,
    "ALTER TABLE bank.arriving ALTER COLUMN payloads SET STORAGE EXTERNAL",

    // A large request that has its tickets, and whose customers are being moved from `arriving` to `customer`. `next`
    // is the first ticket that was not moved yet. While the row exists, customers from this ticket on are not claimed
    // in these lanes, and the day does not end.
    """
    CREATE TABLE bank.batch (
      branch bigint NOT NULL,
      epoch bigint NOT NULL,
      number bigint NOT NULL,
      day bigint NOT NULL,
      first bigint NOT NULL,
      next bigint NOT NULL,
      last bigint NOT NULL,
      issued_ms bigint NOT NULL,
      lanes bigint[] NOT NULL,
      PRIMARY KEY (branch, epoch, number)
    )
    """,
  ]
}
