// Owns the third version of the tables: a key for every table, the proof of which process a branch is, and the tables in which
// large requests for tickets arrive.
// Invariant: as every migration it is never changed after its release.

extension PostgresSchema {
  static let version3 = [
    // A publication for all tables refuses to delete from a table without a key.
    "ALTER TABLE bank.version ADD PRIMARY KEY (number)",
    "ALTER TABLE bank.former_claim ADD COLUMN id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY",

    // Which home on which running machine the branch is. `oldest_ms` is the moment of issue of the customer who has waited
    // longest in the branch's hands.
    "ALTER TABLE bank.branch ADD COLUMN proof text NOT NULL DEFAULT ''",
    "ALTER TABLE bank.branch ADD COLUMN oldest_ms bigint",

    // The customers of a large request, slice by slice, before they have tickets. Branch, epoch and number name the request, as
    // in `intake`. `before` counts the customers of the slices in front; `lanes`, `waiting` and `delayed` count those of this
    // slice.
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

    // A large request that has its tickets, whose customers still come out of `arriving` into `customer`. `next` is the first
    // ticket that is not there yet. Nobody behind it is claimed in these lanes, and the day does not end.
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
