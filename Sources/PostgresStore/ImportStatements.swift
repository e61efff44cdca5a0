// SQL statements that import a whole bank into an empty database, once, for `bankctl move`.
// Invariant: the target database has never had a customer. The caller takes the locks of ``lockOutBranches`` before it
// checks this condition. It keeps the locks until the commit, so that no branch joins and no ticket is issued before
// the commit.
import Postgres

/// Statements of a bank's move from a home: they fill an empty database in one transaction.
public enum ImportStatements {
  /// Locks out all branches. Fails after a timeout if another session holds one of the locks.
  public static let lockOutBranches: [PostgresCall] = [
    .once("SET LOCAL lock_timeout = '10s'"), .once("SET LOCAL enable_seqscan = on"),
    .once(PostgresSchema.lockMigration),
    .once("SELECT pg_advisory_xact_lock(\(PostgresSchema.lockClass), \(PostgresSchema.intakeLock))"),
    .once("LOCK TABLE bank.branch, bank.day, bank.customer IN EXCLUSIVE MODE"),
  ]

  /// Returns the random number that identifies the database, true if the database was never used, the count of open
  /// branches, and the mark that an earlier move has written with ``mark``.
  public static let databaseState = PostgresCall.once(
    """
    SELECT (SELECT value FROM bank.meta WHERE name = 'bank id'),
      (SELECT max(day) = 1 AND count(*) = 1 FROM bank.day) AND NOT EXISTS (SELECT FROM bank.ticket_batch)
        AND NOT EXISTS (SELECT FROM bank.customer) AND NOT EXISTS (SELECT FROM bank.receipt)
        AND NOT EXISTS (SELECT FROM bank.attempt) AND NOT EXISTS (SELECT FROM bank.claim),
      (SELECT count(*) FROM bank.branch WHERE NOT closed AND lease_expires_at > clock_timestamp()),
      (SELECT value FROM bank.meta WHERE name = 'move checksum')
    """)

  /// Mark of the state of the home at the time of the move. A home with another mark has changed after the move.
  public static let mark = PostgresStatement(
    "move-mark", [.integer], "INSERT INTO bank.meta VALUES ('move checksum', $1)")

  /// Creates the branch that owns the moved rows, or raises the epoch of an existing one. Parameters: name and host.
  /// Returns its number and epoch.
  public static let branch = PostgresStatement(
    "move-branch", [.text, .text],
    """
    INSERT INTO bank.branch AS b (name, epoch, lease_expires_at, host, closed, opened_ms, schema_version)
    VALUES ($1, 1, '-infinity', $2, true, \(PostgresSchema.nowMilliseconds), \(PostgresSchema.version))
    ON CONFLICT (name) DO UPDATE SET epoch = b.epoch + 1 RETURNING id, epoch
    """)

  /// Stores the identity of the database. Parameters: number, day, ticket of `BankID`. Programs before version 4 of the
  /// schema read the number as `books`.
  public static let name = PostgresStatement(
    "move-name", [.integer, .integer, .integer],
    """
    INSERT INTO bank.meta VALUES ('bank id', $1), ('books', $1), ('bank id day', $2), ('bank id ticket', $3)
    ON CONFLICT (name) DO UPDATE SET value = excluded.value
    """)

  /// Deletes the first day of an empty database.
  public static let deleteFirstDay = PostgresCall.once("DELETE FROM bank.day")

  /// Inserts days. Parameters per day: number, start, and end (`Int64.min` for the present day).
  public static let days = PostgresStatement(
    "move-days", [.integers, .integers, .integers],
    """
    INSERT INTO bank.day (day, opened_ms, closed_ms)
    SELECT day, opened_ms, nullif(closed_ms, \(nothing)) FROM unnest($1, $2, $3) AS d (day, opened_ms, closed_ms)
    """)

  /// Statements that create the partitions of a day.
  public static func partitions(for day: Int64) -> [PostgresCall] {
    PostgresSchema.partitions(day).map { .once($0) }
  }

  /// Ensures that services with these names exist, and assigns numbers to new ones.
  public static func services(_ names: [String]) -> PostgresCall {
    PostgresStatements.addServices(.texts(names))
  }
  /// Ensures that these lanes exist and assigns numbers to new ones. The branch of a lane that all branches serve is
  /// 0.
  public static func lanes(services: [Int64], priorities: [Int64], branches: [Int64]) -> PostgresCall {
    PostgresStatements.addLanes(.integers(services), .integers(priorities), .integers(branches))
  }
  /// Names of the services, by number.
  public static let allServices = PostgresStatements.services()
  /// Number, service, priority and only branch (0 for all) of each lane.
  public static let allLanes = PostgresStatements.lanes()

  /// Inserts ranges of issued tickets. Parameters: branch, and per range: day, first and last ticket, digest of the
  /// request (`Int64.min` if unknown), key.
  public static let intake = PostgresStatement(
    "move-intake", [.integer, .integers, .integers, .integers, .integers, .texts],
    """
    INSERT INTO bank.ticket_batch (day, first, last, branch, key, request_digest)
    SELECT day, first, last, $1, key, nullif(request_digest, \(nothing))
    FROM unnest($2, $3, $4, $5, $6) AS i (day, first, last, request_digest, key)
    """)

  /// Inserts customers. Parameters per customer: position, amount, account, issue time, attempts, crashes, failures,
  /// started attempts, 1 if an attempt is running, due time (`Int64.min` for none), item name, payload.
  public static let customers = PostgresStatement(
    "move-customers", Array(repeating: .integers, count: 10) + [.texts, .manyBytes],
    """
    INSERT INTO bank.customer (position, amount, account, issued_ms, attempts, crashes, failures, started_attempts,
      is_running, due_ms, item_name, payload)
    SELECT position, amount, account, issued_ms, attempts, crashes, failures, started_attempts, is_running = 1,
      nullif(due_ms, \(nothing)), item_name, payload
    FROM unnest($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) AS c (position, amount, account, issued_ms, attempts,
      crashes, failures, started_attempts, is_running, due_ms, item_name, payload)
    """)

  /// Inserts cancelled tickets for which the stock may have a reservation. Parameters: branch, and per ticket: day,
  /// number, issue time.
  public static let releases = PostgresStatement(
    "move-releases", [.integer, .integers, .integers, .integers],
    """
    INSERT INTO bank.stock_release SELECT $1, day, ticket, issued_ms
    FROM unnest($2, $3, $4) AS r (day, ticket, issued_ms)
    """)

  /// Numeric columns of a receipt, in the order of the parameters.
  private static let receiptNumbers = [
    "day", "ticket", "lane", "outcome", "window_number", "generation", "pid", "attempts", "amount", "account",
    "debit", "credit", "issued_ms", "started_ms", "finished_ms", "duration_ns", "exit_code", "exit_signal",
    "output_length", "output_file_length", "stderr_length", "stderr_file_length", "commit_no",
  ]
  /// Numeric columns in which `Int64.min` marks a missing value.
  private static let optionalNumbers: Set = [
    "window_number", "debit", "credit", "started_ms", "duration_ns", "exit_code", "exit_signal",
    "output_length", "output_file_length", "stderr_length", "stderr_file_length",
  ]
  private static let receiptTexts = ["item_name", "shortages"]
  private static let receiptBytes = ["output_head", "output_tail", "stderr_head", "stderr_tail"]

  /// Inserts receipts and their commits. Parameters: branch and epoch, and per receipt these columns, with
  /// `Int64.min` for a missing value: day, ticket, lane, outcome, window number, generation, pid, attempts, amount,
  /// account, debit, credit, and times of issue, start and end. The columns of the result follow: duration, exit code
  /// and signal, length and filed bytes of output and errors. The last columns are the position in commit order,
  /// which replaces the commit number; item name and shortages; first and last bytes of output and errors.
  public static let receipts: PostgresStatement = {
    let columns = receiptNumbers + receiptTexts + receiptBytes
    let types =
      Array(repeating: PostgresType.integers, count: receiptNumbers.count)
      + Array(repeating: .texts, count: receiptTexts.count)
      + Array(repeating: .manyBytes, count: receiptBytes.count)
    let list = columns.joined(separator: ", ")
    let values = columns.map { optionalNumbers.contains($0) ? "nullif(\($0), \(nothing))" : $0 }
    return PostgresStatement(
      "move-receipts", [.integer, .integer] + types,
      """
      WITH written AS (
        INSERT INTO bank.receipt (branch, epoch, \(list))
        SELECT $1, $2, \(values.joined(separator: ", "))
        FROM unnest(\(types.indices.map { "$\($0 + 3)" }.joined(separator: ", "))) AS r (\(list))
        RETURNING day, ticket, outcome, commit_no
      )
      INSERT INTO bank.commit (branch, epoch, commit_no, day, tickets)
      SELECT $1, $2, commit_no, day, ARRAY[ticket] FROM written WHERE outcome <> 2
      """)
  }()

  /// Inserts attempts. Parameters: branch and epoch, and per attempt: day, ticket, number, service, window number,
  /// generation, pid, start and end, kind of end, exit code and signal (`Int64.min` for none), 1 if the customer
  /// became a dead letter after the attempt, text.
  public static let attempts = PostgresStatement(
    "move-attempts", [.integer, .integer] + Array(repeating: .integers, count: 13) + [.texts],
    """
    INSERT INTO bank.attempt (branch, epoch, day, ticket, number, service, window_number, generation, pid, started_ms,
      ended_ms, ending, exit_code, exit_signal, is_fatal, reason)
    SELECT $1, $2, day, ticket, number, service, window_number, generation, pid, started_ms, ended_ms, ending,
      nullif(exit_code, \(nothing)), nullif(exit_signal, \(nothing)), is_fatal = 1, reason
    FROM unnest($3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)
      AS a (day, ticket, number, service, window_number, generation, pid, started_ms, ended_ms, ending, exit_code,
        exit_signal, is_fatal, reason)
    """)

  /// Inserts counts. Parameters: branch, and per day and lane the counts of issued, waiting, delayed, dead, served,
  /// out of stock and cancelled customers.
  public static let tallies = PostgresStatement(
    "move-tallies", [.integer] + Array(repeating: .integers, count: 9),
    """
    INSERT INTO bank.counter_delta
    SELECT $1, 0, 0, day, lane, issued, waiting, delayed, dead, served, out_of_stock, cancelled
    FROM unnest($2, $3, $4, $5, $6, $7, $8, $9, $10)
      AS t (day, lane, issued, waiting, delayed, dead, served, out_of_stock, cancelled)
    """)

  /// Inserts the claims of the receipts of the present day as released claims, so that branches claim waiting
  /// customers from the first one on. Parameters: branch, epoch, and per claim: lane, first and last ticket.
  public static let claims = PostgresStatement(
    "move-claims", [.integer, .integer, .integers, .integers, .integers],
    """
    INSERT INTO bank.released_claim SELECT lane, first, last, $1, $2, clock_timestamp()
    FROM unnest($3, $4, $5) AS c (lane, first, last)
    """)

  /// Returns the numbers of days, tickets, receipts, results, shortages, attempts, keys, waiting, delayed and dead
  /// customers, and payloads.
  public static let count = PostgresCall.once(
    """
    SELECT (SELECT count(*) FROM bank.day),
      (SELECT coalesce(sum(last - first + 1), 0)::bigint FROM bank.ticket_batch), r.*,
      (SELECT count(*) FROM bank.attempt), (SELECT count(*) FROM bank.ticket_batch WHERE key IS NOT NULL), c.*
    FROM (SELECT count(*), count(duration_ns), count(shortages) FROM bank.receipt) AS r,
      (SELECT count(*) FILTER (WHERE position >> 60 = 1), count(*) FILTER (WHERE position >> 60 = 2),
        count(*) FILTER (WHERE position >> 60 = 3), count(payload) FROM bank.customer) AS c
    """)

  /// SQL text of `Int64.min`, which marks a missing value.
  private static let nothing = "(-9223372036854775807 - 1)"
}
