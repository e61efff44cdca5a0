// Owns the tables of a bank in PostgreSQL, all in the schema `bank`, and the ordered list of migrations.
// Invariant: a migration that was ever released is never changed; a new shape is a new entry at the end of the list. Each runs
// as one transaction, behind a lock that all branches share.

import BankModel

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
/// - Whoever was attended to by a commit stands in that commit's row of `commit`. A branch's commits of an epoch are in the
///   order of their numbers; whom it cancels goes over another connection, in an order of its own.
/// - Whoever cancels a ticket in a lane that belongs to a branch adds its row of `release` in the same transaction.
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
  static let migrations: [[String]] = [version1, version2, version3]

  static var version: Int64 { Int64(migrations.count) }

  private static let version1 = [
    "CREATE SCHEMA bank",
    "CREATE TABLE bank.version (number bigint NOT NULL)",
    "INSERT INTO bank.version VALUES (0)",

    // Named numbers. `books`, `books day` and `books ticket` are the name of the books, see `BooksName`.
    "CREATE TABLE bank.meta (name text PRIMARY KEY, value bigint NOT NULL)",
    """
    INSERT INTO bank.meta VALUES
      ('books', ('x' || right(replace(gen_random_uuid()::text, '-', ''), 16))::bit(64)::bigint),
      ('books day', 0), ('books ticket', 0)
    """,

    // The business days; the last is the present one. `draining` is a bank that takes no new customers until it ends.
    """
    CREATE TABLE bank.day (
      day bigint PRIMARY KEY,
      opened_ms bigint NOT NULL,
      closed_ms bigint,
      draining boolean NOT NULL DEFAULT false
    )
    """,
    "INSERT INTO bank.day (day, opened_ms) VALUES (1, \(nowMilliseconds))",

    // A coordinator with its tellers. `fencing` is the transaction that has raised the epoch; `closed` was left in good order.
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

    // Whoever's business is not finished, all of the present day. position = state << 60 | lane << 40 | ticket, as in SQLite's
    // books: 1 waits, 2 is delayed until `due_ms`, 3 is dead. `begun` and `is_begun` as in `BankModel.Customer`.
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

    // The services by the numbers that all branches use, the first three those of every branch.
    """
    CREATE TABLE bank.service (
      number bigint PRIMARY KEY CHECK (number BETWEEN 1 AND 65535),
      name text NOT NULL UNIQUE
    )
    """,
    "INSERT INTO bank.service VALUES \(branchServices)",

    // What the lanes are: the numbers in the positions. `priority` is `Priority.code`. Where `branch` is not 0, that branch alone
    // claims: what its customers want lies in its own stock.
    """
    CREATE TABLE bank.lane (
      number bigint PRIMARY KEY CHECK (number BETWEEN 1 AND 1048575),
      service bigint NOT NULL,
      priority bigint NOT NULL,
      branch bigint NOT NULL DEFAULT 0,
      UNIQUE (service, priority, branch)
    )
    """,

    // Cancelled tickets for which something may still be put by in the stock of the branch to which their lane belongs. It takes
    // a row out when its stock has given that back.
    """
    CREATE TABLE bank.release (
      branch bigint NOT NULL,
      day bigint NOT NULL,
      ticket bigint NOT NULL,
      issued_ms bigint NOT NULL,
      PRIMARY KEY (branch, day, ticket)
    )
    """,

    // Tickets that were given together. `key` is a client's, and `request` what was asked for under it, so that the same key
    // with something else is noticed. Branch, epoch and number say of what this is a part, whatever the epoch at that moment,
    // so that a branch that does not know what has come of it can repeat it.
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

    // A page of a lane that a branch has taken; it stays until the day ends, or until it is given back. `number` is what the
    // branch calls it, so that it finds a page of which it was never told.
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

    // A page, or a part of one, that nobody has any more: of a branch that was fenced, given back, or of somebody who has come
    // back from those who are delayed or dead.
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

    // The end of one ticket; a partition a day. Outcomes are `BankModel.Outcome`, `place` is null for no window, debit and
    // credit are codes of accounts and null where nothing was moved. Of the work's result `result_ns` is how long it took, and
    // null where there is none: then all that follows it is null. Shortages as `PostgresShortages` writes them.
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
    // Two orders: customers are finished over one connection, and cancelled over another.
    "CREATE INDEX receipt_commit ON bank.receipt (branch, epoch, commit_no) WHERE outcome <> 2",
    "CREATE INDEX receipt_cancelled ON bank.receipt (branch, epoch, commit_no) WHERE outcome = 2",
    "CREATE INDEX receipt_account ON bank.receipt (account)",

    // An attempt that ended without a receipt; service and place are the window. Partitions as of the receipts.
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

    // By how much each commit of a branch has changed the numbers of a lane: a row a commit and lane, so that nobody waits for
    // another to count, and one of lane 0 where it has changed none. What is settled is folded into one row a day and lane, of
    // epoch 0 and commit 0.
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

  /// The receipts of a commit are found by one row with their tickets, where version 1 had an entry of an index for each. And
  /// the books know how old the program of a branch may be: an older one leaves out `version`, and so can never join again.
  private static let version2 = [
    "ALTER TABLE bank.branch ADD COLUMN version bigint NOT NULL DEFAULT 1",
    "ALTER TABLE bank.branch ALTER COLUMN version DROP DEFAULT",

    // Whom a commit has attended to; not those whom it has cancelled. Partitions as of the receipts. Tickets are near each other
    // and soon read, so there is little to be gained by pressing them together at every commit.
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

  /// Writes down the commits of all receipts, where there is none yet.
  private static let commitsOfReceipts = """
    INSERT INTO bank.commit (branch, epoch, commit_no, day, tickets)
    SELECT branch, epoch, commit_no, day, array_agg(ticket ORDER BY ticket) FROM bank.receipt
    WHERE outcome <> 2 GROUP BY branch, epoch, commit_no, day
    """

  /// The database's clock, in milliseconds since 1970.
  static let nowMilliseconds = "floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint"

  private static let branchServices = ServiceName.branch.enumerated().map { "(\($0 + 1), '\($1)')" }
    .joined(separator: ", ")

  /// The segment that makes a version out of the one before it; refused as a whole where the version is another by then.
  static func migration(to number: Int64) -> [String] {
    [lockMigration] + (number > 1 ? [check(number - 1), requireNobody] : []) + migrations[Int(number) - 1]
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

  /// Refuses where an older program may go on with what it has: a branch is open, or has claims and was not fenced.
  private static let requireNobody = """
    DO $$ BEGIN
      LOCK TABLE bank.branch IN ACCESS EXCLUSIVE MODE;
      IF EXISTS (SELECT FROM bank.branch b WHERE NOT closed AND (expires_at > clock_timestamp()
        OR EXISTS (SELECT FROM bank.claim k WHERE k.branch = b.id AND k.epoch = b.epoch))) THEN
        RAISE EXCEPTION 'a branch with an older program is open' USING ERRCODE = '\(inUse)';
      END IF;
    END $$
    """

  static let inUse = "55006"

  /// The tables that have a partition a day.
  static let partitioned = ["receipt", "attempt", "commit"]

  /// The statements that make room for what is kept of a day.
  static func partitions(_ day: Int64) -> [String] { partitioned.map { partition(day, of: $0) } }

  private static func partition(_ day: Int64, of table: String) -> String {
    """
    CREATE TABLE IF NOT EXISTS bank.\(table)_\(max(0, day)) PARTITION OF bank.\(table)
    FOR VALUES FROM (\(max(0, day))) TO (\(max(0, day) &+ 1))
    """
  }
}
