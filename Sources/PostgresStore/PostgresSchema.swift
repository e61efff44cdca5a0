// Tables of a bank in PostgreSQL, all in the schema `bank`, and the ordered list of migrations.
// Invariant: a released migration never changes; a new schema is a new entry at the end of the list. Each migration is
// one transaction, under a lock that all branches use.

import BankModel

/// Schema of a bank's database in PostgreSQL.
///
/// Guarantees on which a branch relies:
///
/// - Every waiting customer of a lane up to the last ticket ever claimed is in exactly one row of `claim` or
///   `returned_range`. So the next page starts after the last of both, and no branch claims the customers of another.
/// - A row of `claim` is valid while its epoch is the epoch of its branch. Raising the epoch and moving its claims that
///   have waiting customers to `returned_range` is one transaction.
/// - A receipt, the deletion of its customer and the row of `counter_delta` are one transaction. The transaction
///   locks the branch's row against a change of the epoch: `UNIQUE (id, epoch)` makes the epoch part of a key, so
///   `FOR KEY SHARE` conflicts with raising the epoch but not with renewing the lease.
/// - The tickets that a commit finished and did not cancel are in that commit's row of `commit`. Commits of an epoch
///   are in the order of their numbers. Cancellations use another connection and have an order of their own.
/// - A transaction that cancels a ticket in a lane of one branch also adds its row of `stock_release`.
/// - Ticket numbers and keys of requests are issued under one lock that is held until the commit. So tickets are
///   committed in order and without gaps.
///
/// The first three migrations use the original names. The fourth migration renames many of them.
enum PostgresSchema {
  /// Class of the transaction locks that all branches use (`pg_advisory_xact_lock(class, number)`).
  static let lockClass = 42
  /// Lock for issuing tickets. Numbers from 1 are locks of lanes.
  static let intakeLock = 0
  /// Lock for migrations, for partitions, and for assigning numbers to services and lanes.
  private static let migrationLock = -1

  /// Acquires ``migrationLock`` until the end of the transaction.
  static let lockMigration = "SELECT pg_advisory_xact_lock(\(lockClass), \(migrationLock))"

  /// Statements per version: the first list creates version 1, the n-th upgrades version n − 1 to n.
  static let migrations: [[String]] = [version1, version2, version3, version4]

  /// The newest version of the schema.
  static var version: Int64 { Int64(migrations.count) }

  /// The first version of the schema.
  private static let version1 = [
    "CREATE SCHEMA bank",
    "CREATE TABLE bank.version (number bigint NOT NULL)",
    "INSERT INTO bank.version VALUES (0)",

    // Named numbers. `books`, `books day` and `books ticket` are the identity of the database; see `BankID`.
    "CREATE TABLE bank.meta (name text PRIMARY KEY, value bigint NOT NULL)",
    """
    INSERT INTO bank.meta VALUES
      ('books', ('x' || right(replace(gen_random_uuid()::text, '-', ''), 16))::bit(64)::bigint),
      ('books day', 0), ('books ticket', 0)
    """,

    // Business days; the last one is the present day. `draining`: the bank accepts no new customers.
    """
    CREATE TABLE bank.day (
      day bigint PRIMARY KEY,
      opened_ms bigint NOT NULL,
      closed_ms bigint,
      draining boolean NOT NULL DEFAULT false
    )
    """,
    "INSERT INTO bank.day (day, opened_ms) VALUES (1, \(nowMilliseconds))",

    // A coordinator with its workers. `fencing` is the transaction that last raised the epoch. `closed` is true after a
    // clean shutdown.
    """
    CREATE TABLE bank.branch (
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      name text NOT NULL UNIQUE,
      epoch bigint NOT NULL,
      expires_at timestamptz NOT NULL,
      fencing xid8,
      host text NOT NULL DEFAULT '',
      windows bigint NOT NULL DEFAULT 0,
      commits bigint NOT NULL DEFAULT 0,
      closed boolean NOT NULL DEFAULT false,
      opened_ms bigint NOT NULL,
      paused bigint[] NOT NULL DEFAULT '{}',
      UNIQUE (id, epoch)
    ) WITH (fillfactor = 50)
    """,

    // Unfinished customers, all of the present day. position = state << 60 | lane << 40 | ticket. State 1 is waiting, 2
    // is delayed until `due_ms`, 3 is dead. `begun` and `is_begun` are `startedAttempts` and `isAttemptRunning` of
    // `BankModel.Customer`.
    """
    CREATE TABLE bank.customer (
      position bigint PRIMARY KEY,
      amount bigint NOT NULL,
      account bigint NOT NULL,
      issued_ms bigint NOT NULL,
      attempts bigint NOT NULL DEFAULT 0,
      crashes bigint NOT NULL DEFAULT 0,
      failures bigint NOT NULL DEFAULT 0,
      begun bigint NOT NULL DEFAULT 0,
      is_begun boolean NOT NULL DEFAULT false,
      due_ms bigint,
      article text,
      payload bytea
    )
    """,
    "CREATE INDEX customer_due ON bank.customer (due_ms) WHERE due_ms IS NOT NULL",

    // Services by the numbers that all branches use.
    """
    CREATE TABLE bank.service (
      number bigint PRIMARY KEY CHECK (number BETWEEN 1 AND 65535),
      name text NOT NULL UNIQUE
    )
    """,
    "INSERT INTO bank.service VALUES \(branchServices)",

    // Lanes, by the numbers that positions contain. `priority` is `Priority.code`. If `branch` is not 0, only that
    // branch claims, because the lane needs its stock.
    """
    CREATE TABLE bank.lane (
      number bigint PRIMARY KEY CHECK (number BETWEEN 1 AND 1048575),
      service bigint NOT NULL,
      priority bigint NOT NULL,
      branch bigint NOT NULL DEFAULT 0,
      UNIQUE (service, priority, branch)
    )
    """,

    // Cancelled tickets for which the stock of the lane's branch may have a reservation. The branch deletes a row after
    // its stock has released the reservation, or has none.
    """
    CREATE TABLE bank.release (
      branch bigint NOT NULL,
      day bigint NOT NULL,
      ticket bigint NOT NULL,
      issued_ms bigint NOT NULL,
      PRIMARY KEY (branch, day, ticket)
    )
    """,

    // Tickets issued together. `key` is the client's idempotency key and `request` the digest of the request, to
    // detect a reuse of the key. Branch, epoch and number name the request, also in any later epoch, so that a branch
    // that does not know the outcome can repeat the request.
    """
    CREATE TABLE bank.intake (
      day bigint NOT NULL,
      first bigint NOT NULL,
      last bigint NOT NULL CHECK (last >= first),
      branch bigint NOT NULL,
      key text UNIQUE,
      request bigint,
      epoch bigint,
      number bigint,
      PRIMARY KEY (day, last)
    )
    """,
    "CREATE INDEX intake_number ON bank.intake (branch, epoch, number) WHERE number IS NOT NULL",

    // A page of a lane that a branch has claimed. The row remains until the day ends or a customer of it is returned.
    // `number` is the branch's name for the page, so that the branch finds a page whose answer was lost.
    """
    CREATE TABLE bank.claim (
      lane bigint NOT NULL,
      first bigint NOT NULL,
      last bigint NOT NULL CHECK (last >= first),
      branch bigint NOT NULL,
      epoch bigint NOT NULL,
      at timestamptz NOT NULL,
      number bigint NOT NULL,
      PRIMARY KEY (lane, last)
    )
    """,
    "CREATE INDEX claim_of_branch ON bank.claim (branch, epoch, number)",

    // A page, or a part of one, that no branch owns: claims of a fenced branch, returned customers, and customers that
    // were delayed or dead and wait again.
    """
    CREATE TABLE bank.returned (
      lane bigint NOT NULL,
      first bigint NOT NULL,
      last bigint NOT NULL CHECK (last >= first),
      PRIMARY KEY (lane, first)
    )
    """,

    // Returned claims, by which an audit finds the claim under which a receipt was written.
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

    // Receipt of one ticket; one partition per day. Outcomes are `BankModel.Outcome`. `place` is null for no window.
    // Debit and credit are codes of accounts, null if nothing was transferred. `result_ns` is the duration of the
    // work; it is null, like all columns after it, if the work has no result. `shortages` has the format of
    // `PostgresShortages`.
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
      shortages text,
      result_ns bigint,
      exit_code bigint,
      exit_signal bigint,
      output_first bytea,
      output_last bytea,
      output_length bigint,
      output_filed bigint,
      errors_first bytea,
      errors_last bytea,
      errors_length bigint,
      errors_filed bigint,
      PRIMARY KEY (day, ticket)
    ) PARTITION BY RANGE (day)
    """,
    // Two indexes, because customers are finished over one connection and cancelled over another.
    "CREATE INDEX receipt_commit ON bank.receipt (branch, epoch, commit_no) WHERE outcome <> 2",
    "CREATE INDEX receipt_cancelled ON bank.receipt (branch, epoch, commit_no) WHERE outcome = 2",
    "CREATE INDEX receipt_account ON bank.receipt (account)",

    // Attempt that ended without a receipt; service and place are the window. One partition per day.
    """
    CREATE TABLE bank.attempt (
      day bigint NOT NULL,
      ticket bigint NOT NULL,
      number bigint NOT NULL,
      service bigint NOT NULL,
      place bigint NOT NULL,
      generation bigint NOT NULL,
      pid bigint NOT NULL,
      started_ms bigint NOT NULL,
      ended_ms bigint NOT NULL,
      ending bigint NOT NULL,
      exit_code bigint,
      exit_signal bigint,
      words text,
      is_fatal boolean NOT NULL DEFAULT false,
      branch bigint NOT NULL,
      epoch bigint NOT NULL,
      PRIMARY KEY (day, ticket, number)
    ) PARTITION BY RANGE (day)
    """,
    partition(1, of: "receipt"), partition(1, of: "attempt"),

    // Change of a lane's counts by one commit of a branch. One row per commit and lane, so that commits do not wait for
    // each other to count; a commit that changed no count has a row with lane 0. Rows that are no longer queried are
    // folded into one row per branch, day and lane, with epoch 0 and commit 0.
    """
    CREATE TABLE bank.tally (
      branch bigint NOT NULL,
      epoch bigint NOT NULL,
      commit_no bigint NOT NULL,
      day bigint NOT NULL,
      lane bigint NOT NULL,
      issued bigint NOT NULL DEFAULT 0,
      waiting bigint NOT NULL DEFAULT 0,
      delayed bigint NOT NULL DEFAULT 0,
      dead bigint NOT NULL DEFAULT 0,
      served bigint NOT NULL DEFAULT 0,
      out_of_stock bigint NOT NULL DEFAULT 0,
      cancelled bigint NOT NULL DEFAULT 0,
      PRIMARY KEY (branch, epoch, commit_no, day, lane)
    )
    """,
  ]

  /// One row of `commit` contains the tickets of all receipts of a commit except cancellations. The column `version` of
  /// a branch contains the schema version of its program. An older program omits this column, which has no default, so
  /// it cannot join any more.
  private static let version2 = [
    "ALTER TABLE bank.branch ADD COLUMN version bigint NOT NULL DEFAULT 1",
    "ALTER TABLE bank.branch ALTER COLUMN version DROP DEFAULT",

    // Tickets that a commit finished and did not cancel. One partition per day. The storage is EXTERNAL, because
    // compressing the numbers at every commit is not worth the time.
    """
    CREATE TABLE bank.commit (
      branch bigint NOT NULL,
      epoch bigint NOT NULL,
      commit_no bigint NOT NULL,
      day bigint NOT NULL,
      tickets bigint[] NOT NULL,
      PRIMARY KEY (branch, epoch, commit_no, day)
    ) PARTITION BY RANGE (day)
    """,
    "ALTER TABLE bank.commit ALTER COLUMN tickets SET STORAGE EXTERNAL",
    """
    DO $$ DECLARE day bigint; BEGIN
      FOR day IN SELECT substr(relname, length('receipt_') + 1)::bigint
        FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid WHERE inhparent = 'bank.receipt'::regclass
      LOOP
        EXECUTE format('CREATE TABLE bank.commit_%s PARTITION OF bank.commit FOR VALUES FROM (%s) TO (%s)', day, day, day + 1);
      END LOOP;
    END $$
    """,
    commitsOfReceipts,
    "DROP INDEX bank.receipt_commit",
  ]

  /// Adds the commits of all existing receipts except cancellations.
  private static let commitsOfReceipts = """
    INSERT INTO bank.commit (branch, epoch, commit_no, day, tickets)
    SELECT branch, epoch, commit_no, day, array_agg(ticket ORDER BY ticket) FROM bank.receipt
    WHERE outcome <> 2 GROUP BY branch, epoch, commit_no, day
    """

  /// Clock of the database server, in milliseconds since 1970.
  static let nowMilliseconds = "floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint"

  /// SQL rows of the built-in services: number and name.
  private static let branchServices = ServiceName.branch.enumerated().map { "(\($0 + 1), '\($1)')" }
    .joined(separator: ", ")

  /// The transaction that upgrades to a version. It fails as a whole if another branch has changed the version.
  static func migration(to number: Int64) -> [String] {
    [lockMigration] + (number > 1 ? [check(number - 1), requireNoBranch(in: number - 1)] : [])
      + migrations[Int(number) - 1] + ["UPDATE bank.version SET number = \(number)"]
  }

  /// SQL statement that fails with ``otherVersion`` if the schema has a different version.
  private static func check(_ number: Int64) -> String {
    """
    DO $$ BEGIN
      IF (SELECT number FROM bank.version) IS DISTINCT FROM \(number) THEN
        RAISE EXCEPTION 'the database has another version now' USING ERRCODE = '\(otherVersion)';
      END IF;
    END $$
    """
  }

  /// SQLSTATE if another branch has changed the version before the migration.
  static let otherVersion = "55000"

  /// SQL statement that fails with ``inUse`` if an older program may still be working: a branch is open, or has claims
  /// and was not fenced.
  ///
  /// - Parameter version: version before the migration, which decides the name of the column with the end of the
  ///   lease.
  private static func requireNoBranch(in version: Int64) -> String {
    let leaseEnd = version < 4 ? "expires_at" : "lease_expires_at"
    return """
      DO $$ BEGIN
        LOCK TABLE bank.branch IN ACCESS EXCLUSIVE MODE;
        IF EXISTS (SELECT FROM bank.branch b WHERE NOT closed AND (\(leaseEnd) > clock_timestamp()
          OR EXISTS (SELECT FROM bank.claim k WHERE k.branch = b.id AND k.epoch = b.epoch))) THEN
          RAISE EXCEPTION 'a branch with an older program is open' USING ERRCODE = '\(inUse)';
        END IF;
      END $$
      """
  }

  /// SQLSTATE if a migration fails because of a branch with an older program.
  static let inUse = "55006"

  /// Tables with one partition per day.
  static let partitioned = ["receipt", "attempt", "commit"]

  /// SQL statements that create the partitions of a day.
  static func partitions(_ day: Int64) -> [String] { partitioned.map { partition(day, of: $0) } }

  /// SQL statement that creates the partition of one table for a day.
  private static func partition(_ day: Int64, of table: String) -> String {
    """
    CREATE TABLE IF NOT EXISTS bank.\(table)_\(max(0, day)) PARTITION OF bank.\(table)
    FOR VALUES FROM (\(max(0, day))) TO (\(max(0, day) &+ 1))
    """
  }
}
