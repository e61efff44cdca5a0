// Owns the tables of a bank in PostgreSQL, all in the schema `bank`, and the ordered list of migrations.
// Invariant: a migration that was ever released is never changed; a new shape is a new entry at the end of the list. Each runs
// as one transaction, behind a lock that all branches share.

/// The shape of a bank's books in PostgreSQL.
///
/// What a branch may rely on:
///
/// - Every ticket of a lane up to the last one that was ever claimed lies in exactly one row of `claim` or `returned`. So the
///   next page begins behind the last of both, and nobody claims what another has.
/// - A row of `claim` is in force while its epoch is its branch's. Raising the epoch and moving the claims of the old one to
///   `returned` is one transaction.
/// - A receipt, its customer's disappearance and the row of `tally` are one transaction, which holds the branch's row against
///   a change of its epoch (`UNIQUE (id, epoch)` makes the epoch a part of a key, so `FOR KEY SHARE` conflicts with raising it
///   and not with renewing the lease).
/// - Ticket numbers and keys of requests are given under one lock that is held to the commit, so tickets are committed in
///   their order, and without gaps.
enum PostgresSchema {
  /// The locks of a transaction that all branches share are of this class (`pg_advisory_xact_lock(class, number)`).
  static let lockClass = 42
  /// Tickets are given under this one; the other numbers from 1 on are lanes.
  static let intakeLock = 0
  private static let migrationLock = -1

  static let lockMigration = "SELECT pg_advisory_xact_lock(\(lockClass), \(migrationLock))"

  /// One list of statements a version: the first makes version 1 out of nothing, the n-th makes version n out of n − 1.
  static let migrations: [[String]] = [version1]

  static var version: Int64 { Int64(migrations.count) }

  private static let version1 = [
    "CREATE SCHEMA bank",
    "CREATE TABLE bank.version (number bigint NOT NULL)",
    "INSERT INTO bank.version VALUES (0)",

    // A coordinator with its tellers. `fencing` is the transaction that has raised the epoch.
    """
    CREATE TABLE bank.branch (
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      name text NOT NULL UNIQUE,
      epoch bigint NOT NULL,
      expires_at timestamptz NOT NULL,
      fencing xid8,
      UNIQUE (id, epoch)
    ) WITH (fillfactor = 50)
    """,

    // Whoever's business is not finished. position = state << 60 | lane << 40 | ticket, as in SQLite's books.
    """
    CREATE TABLE bank.customer (
      position bigint PRIMARY KEY,
      amount bigint NOT NULL,
      account bigint NOT NULL,
      issued_ms bigint NOT NULL,
      attempts bigint NOT NULL DEFAULT 0,
      crashes bigint NOT NULL DEFAULT 0,
      failures bigint NOT NULL DEFAULT 0,
      due_ms bigint,
      article text,
      payload bytea
    )
    """,

    // What the lanes are: the numbers in the positions.
    """
    CREATE TABLE bank.lane (
      number bigint PRIMARY KEY CHECK (number BETWEEN 1 AND 1048575),
      service text NOT NULL,
      priority bigint NOT NULL,
      UNIQUE (service, priority)
    )
    """,

    // The tickets of one request. `request` is what was asked for under the key, so that the same key with something else is
    // noticed.
    """
    CREATE TABLE bank.intake (
      day bigint NOT NULL,
      first bigint NOT NULL,
      last bigint NOT NULL CHECK (last >= first),
      branch bigint NOT NULL,
      key text UNIQUE,
      request bigint,
      PRIMARY KEY (day, last)
    )
    """,

    // A page of a lane that a branch has taken; it stays until the day ends, or until it is given back.
    """
    CREATE TABLE bank.claim (
      lane bigint NOT NULL,
      first bigint NOT NULL,
      last bigint NOT NULL CHECK (last >= first),
      branch bigint NOT NULL,
      epoch bigint NOT NULL,
      at timestamptz NOT NULL,
      PRIMARY KEY (lane, last)
    )
    """,
    "CREATE INDEX claim_of_branch ON bank.claim (branch, epoch)",

    // A page, or a part of one, that nobody has any more: of a branch that was fenced, or given back.
    """
    CREATE TABLE bank.returned (
      lane bigint NOT NULL,
      first bigint NOT NULL,
      last bigint NOT NULL CHECK (last >= first),
      PRIMARY KEY (lane, first)
    )
    """,

    // The claims that were given back: whoever looks for the claim under which a receipt was written finds it here.
    """
    CREATE TABLE bank.former_claim (
      lane bigint NOT NULL,
      first bigint NOT NULL,
      last bigint NOT NULL,
      branch bigint NOT NULL,
      epoch bigint NOT NULL,
      at timestamptz NOT NULL
    )
    """,

    // The end of one ticket; a partition a day.
    """
    CREATE TABLE bank.receipt (
      day bigint NOT NULL,
      ticket bigint NOT NULL,
      lane bigint NOT NULL,
      outcome bigint NOT NULL,
      place bigint,
      generation bigint NOT NULL,
      pid bigint NOT NULL,
      attempts bigint NOT NULL,
      amount bigint NOT NULL,
      account bigint NOT NULL,
      debit bigint,
      credit bigint,
      issued_ms bigint NOT NULL,
      started_ms bigint,
      finished_ms bigint NOT NULL,
      article text,
      branch bigint NOT NULL,
      epoch bigint NOT NULL,
      commit_no bigint NOT NULL,
      PRIMARY KEY (day, ticket)
    ) PARTITION BY RANGE (day)
    """,

    // What each commit of a branch has done: a row a commit, so that nobody waits for another to count.
    """
    CREATE TABLE bank.tally (
      branch bigint NOT NULL,
      epoch bigint NOT NULL,
      commit_no bigint NOT NULL,
      day bigint NOT NULL,
      receipts bigint NOT NULL,
      PRIMARY KEY (branch, epoch, commit_no)
    )
    """,
  ]

  /// The segment that makes a version out of the one before it; refused as a whole where the version is another by then.
  static func migration(to number: Int64) -> [String] {
    [lockMigration] + (number > 1 ? [check(number - 1)] : []) + migrations[Int(number) - 1]
      + ["UPDATE bank.version SET number = \(number)"]
  }

  private static func check(_ number: Int64) -> String {
    """
    DO $$ BEGIN
      IF (SELECT number FROM bank.version) IS DISTINCT FROM \(number) THEN
        RAISE EXCEPTION 'the books have another version by now' USING ERRCODE = '\(otherVersion)';
      END IF;
    END $$
    """
  }

  static let otherVersion = "55000"

  /// The statement that makes room for a day's receipts.
  static func partition(_ day: Int64) -> String {
    """
    CREATE TABLE IF NOT EXISTS bank.receipt_\(max(0, day)) PARTITION OF bank.receipt
    FOR VALUES FROM (\(max(0, day))) TO (\(max(0, day) &+ 1))
    """
  }
}
