// SQL statements of a commit: finished customers, delayed customers, new dead letters, and attempts.
// Invariant: the first statement of a commit writes its rows of `counter_delta`. It writes none if the branch was
// fenced, or if the preceding commit is missing. Each later statement of the segment requires what the first one has
// written and otherwise does nothing.
import Postgres

extension PostgresStatements {
  /// Locks the branch's row against a change of the epoch, and checks the preceding commit. `$3` is the number of the
  /// commit. `$4` is the number of the preceding one; 0 if the preceding commit is known to be in the database.
  private static let commitGuard = """
    \(fence), good AS MATERIALIZED (SELECT FROM fence WHERE $4 = 0 OR EXISTS (
      SELECT FROM bank.counter_delta WHERE branch = $1 AND epoch = $2 AND commit_no = $4))
    """
  /// True if the first statement of the commit took effect.
  private static let commitTookEffect =
    "EXISTS (SELECT FROM bank.counter_delta WHERE branch = $1 AND epoch = $2 AND commit_no = $3)"
  /// SQL text of `Int64.min`, which marks a missing value.
  private static let nothing = "(-9223372036854775807 - 1)"

  /// Numeric columns of every receipt, in the order of the parameters.
  private static let basicColumns = [
    "outcome", "window_number", "generation", "pid", "attempts", "debit", "credit", "started_ms",
    "finished_ms",
  ]
  /// Further numeric columns of a receipt, for results.
  private static let resultColumns = [
    "duration_ns", "exit_code", "exit_signal", "output_length", "output_file_length", "stderr_length",
    "stderr_file_length",
  ]
  /// Columns with the first and last bytes of output and errors.
  private static let resultByteColumns = ["output_head", "output_tail", "stderr_head", "stderr_tail"]

  /// Finishes customers. The returned tickets got a receipt from this statement; no other customer was changed.
  /// Parameters: branch, epoch, number of this commit and of the preceding one. Per customer: position, outcome, window
  /// number (-1 for no window), generation, pid, attempts, debit and credit (both `Int64.min` if nothing was
  /// transferred), start (-1 for none), end. Then the number of customers, and per lane its number and the change of
  /// its counts: waiting, delayed, dead, served, out of stock. Returns two booleans, true if the epoch is valid and if
  /// the commit took effect, and the tickets.
  ///
  /// If all customers still exist, the server uses the sums of the branch, and otherwise it examines each row. The
  /// branch requests the latter with -1 as the number of customers, if one of them was cancelled.
  static let complete = completing("bank-complete", withResults: false)
  /// Finishes customers like ``complete``, with more parameters per customer after the end: the numbers of the result
  /// (`Int64.min` for missing ones), first and last bytes of output and errors, and shortages.
  static let completeWithResults = completing("bank-complete-results", withResults: true)

  /// Statement that finishes customers, with or without the columns of results.
  private static func completing(_ name: String, withResults: Bool) -> PostgresStatement {
    let numbers = basicColumns + (withResults ? resultColumns : [])
    let others = withResults ? resultByteColumns + ["shortages"] : []
    let types: [PostgresType] =
      Array(repeating: .integers, count: 1 + numbers.count)
      + (withResults ? Array(repeating: .manyBytes, count: resultByteColumns.count) + [.texts] : [])
    // Fixed-length values are taken from their arrays by index. Variable-length values are unnested, because an
    // access by index reads the array from its start.
    let columns =
      numbers.enumerated().map { "($\($0 + 6))[w.i] AS \($1)" } + others.map { "w.\($0)" }
    let lists = ["$5"] + others.indices.map { "$\($0 + 6 + numbers.count)" }
    let extra =
      withResults ? ", " + (["shortages"] + resultColumns + resultByteColumns).joined(separator: ", ") : ""
    let values =
      withResults
      ? ", shortages, " + resultColumns.map { "nullif(\($0), \(nothing))" }.joined(separator: ", ") + ", "
        + resultByteColumns.joined(separator: ", ") : ""
    let expected = 5 + types.count
    let sums = (1...6).map { "$\(expected + $0)" }.joined(separator: ", ")
    return PostgresStatement(
      name,
      [.integer, .integer, .integer, .integer] + types + [.integer]
        + Array(repeating: .integers, count: 6),
      """
      WITH \(commitGuard), gone AS (
        DELETE FROM bank.customer WHERE position = ANY ($5) AND EXISTS (SELECT FROM good)
        RETURNING position, amount, account, issued_ms, item_name
      ), written AS (
        INSERT INTO bank.receipt (day, ticket, lane, outcome, window_number, generation, pid, attempts, amount, account,
          debit, credit, issued_ms, started_ms, finished_ms, item_name, branch, epoch, commit_no\(extra))
        SELECT \(today), position & \(ticketMask), \(lane()), outcome, nullif(window_number, -1), generation, pid,
          attempts, amount, account, nullif(debit, \(nothing)), nullif(credit, \(nothing)), issued_ms,
          nullif(started_ms, -1), finished_ms, item_name, $1, $2, $3\(values)
        FROM (
          SELECT gone.*, \(columns.joined(separator: ", "))
          FROM gone JOIN unnest(\(lists.joined(separator: ", "))) WITH ORDINALITY
            AS w (\((["at"] + others + ["i"]).joined(separator: ", "))) ON w.at = gone.position) AS finished
      ), removed AS MATERIALIZED (
        SELECT array_agg(position & \(ticketMask)) AS tickets, count(*) = $\(expected) AS is_there FROM gone
      ), each AS MATERIALIZED (
        SELECT position, w.outcome FROM gone JOIN unnest($5, $6) AS w (at, outcome) ON w.at = gone.position
        WHERE NOT (SELECT is_there FROM removed)
      ), attended AS (
        INSERT INTO bank.commit (branch, epoch, commit_no, day, tickets)
        SELECT $1, $2, $3, \(today), tickets FROM (
          SELECT tickets FROM removed WHERE is_there
          UNION ALL SELECT array_agg(position & \(ticketMask)) FROM each WHERE outcome <> 2) AS ended
        WHERE tickets IS NOT NULL
      ), counted AS (
        INSERT INTO bank.counter_delta (branch, epoch, commit_no, day, lane, waiting, delayed, dead, served,
          out_of_stock, cancelled)
        SELECT $1, $2, $3, \(today), lane, waiting, delayed, dead, served, out_of_stock, 0
        FROM unnest(\(sums)) AS s (lane, waiting, delayed, dead, served, out_of_stock)
        WHERE (SELECT is_there FROM removed)
        UNION ALL
        SELECT $1, $2, $3, \(today), \(lane()), -count(*) FILTER (WHERE position >> 60 = 1),
          -count(*) FILTER (WHERE position >> 60 = 2), -count(*) FILTER (WHERE position >> 60 = 3),
          count(*) FILTER (WHERE outcome = 1), count(*) FILTER (WHERE outcome = 3), count(*) FILTER (WHERE outcome = 2)
        FROM each GROUP BY \(lane())
        UNION ALL
        SELECT $1, $2, $3, \(today), 0, 0, 0, 0, 0, 0, 0 FROM good WHERE NOT EXISTS (SELECT FROM gone)
      )
      SELECT EXISTS (SELECT FROM fence), EXISTS (SELECT FROM good), (SELECT tickets FROM removed)
      """)
  }

  /// Starts a commit that finishes no customer. Parameters: branch, epoch, number of this commit and of the preceding
  /// one. The result is as in ``complete``.
  static let beginCommit = PostgresStatement(
    "bank-begin-commit", [.integer, .integer, .integer, .integer],
    """
    WITH \(commitGuard), counted AS (
      INSERT INTO bank.counter_delta (branch, epoch, commit_no, day, lane) SELECT $1, $2, $3, \(today), 0 FROM good)
    SELECT EXISTS (SELECT FROM fence), EXISTS (SELECT FROM good), NULL::bigint[]
    """)

  /// Changes waiting customers. Returns the tickets of the changed ones. Parameters: branch, epoch, number of this
  /// commit. Per customer: position, attempts, crashes, failures, started attempts, 1 if an attempt is running, new
  /// state, due time (0 for none).
  static let change = PostgresStatement(
    "bank-change", [.integer, .integer, .integer] + Array(repeating: .integers, count: 8),
    """
    WITH changed AS (
      UPDATE bank.customer c SET position = c.position + ((w.state - (c.position >> 60)) << 60), attempts = w.attempts,
        crashes = w.crashes, failures = w.failures, started_attempts = w.started_attempts,
        is_running = w.is_running = 1, due_ms = nullif(w.due_ms, 0)
      FROM unnest($4, $5, $6, $7, $8, $9, $10, $11)
        AS w (position, attempts, crashes, failures, started_attempts, is_running, state, due_ms)
      WHERE c.position = ANY ($4) AND c.position = w.position AND \(commitTookEffect)
      RETURNING c.position
    ), counted AS (
      INSERT INTO bank.counter_delta AS t (branch, epoch, commit_no, day, lane, waiting, delayed, dead)
      SELECT $1, $2, $3, \(today), \(lane()), -count(*), count(*) FILTER (WHERE position >> 60 = 2),
        count(*) FILTER (WHERE position >> 60 = 3)
      FROM changed WHERE position >> 60 <> 1 GROUP BY \(lane())
      ON CONFLICT (branch, epoch, commit_no, day, lane) DO UPDATE SET waiting = t.waiting + excluded.waiting,
        delayed = t.delayed + excluded.delayed, dead = t.dead + excluded.dead
    )
    SELECT array_agg(position & \(ticketMask)) FROM changed
    """)

  /// Records attempts that ended without a receipt. Parameters: branch, epoch, number of this commit. Per attempt:
  /// ticket, number, service, window number, generation, pid, start, end, kind of end, exit code and signal
  /// (`Int64.min` for none), text.
  static let record = PostgresStatement(
    "bank-record", [.integer, .integer, .integer] + Array(repeating: .integers, count: 11) + [.texts],
    """
    INSERT INTO bank.attempt (day, ticket, number, service, window_number, generation, pid, started_ms, ended_ms,
      ending, exit_code, exit_signal, reason, branch, epoch)
    SELECT \(today), ticket, number, service, window_number, generation, pid, started_ms, ended_ms, ending,
      nullif(exit_code, \(nothing)), nullif(exit_signal, \(nothing)), reason, $1, $2
    FROM unnest($4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)
      AS w (ticket, number, service, window_number, generation, pid, started_ms, ended_ms, ending, exit_code,
        exit_signal, reason)
    WHERE \(commitTookEffect) ON CONFLICT (day, ticket, number) DO NOTHING
    """)

  /// Marks the attempts after which customers became dead letters. Parameters: branch, epoch, number of this commit,
  /// tickets, and numbers of the attempts.
  static let markFatal = PostgresStatement(
    "bank-mark-fatal", [.integer, .integer, .integer, .integers, .integers],
    """
    UPDATE bank.attempt a SET is_fatal = true FROM unnest($4, $5) AS w (ticket, number)
    WHERE a.day = \(today) AND a.ticket = ANY ($4) AND a.ticket = w.ticket AND a.number = w.number AND \(commitTookEffect)
    """)

  // MARK: - Content of the database

  /// Receipts of these tickets, with the commits that wrote them. Parameters: day and tickets.
  static let receipts = PostgresStatement(
    "bank-receipts", [.integer, .integers],
    """
    SELECT ticket, branch, epoch, commit_no FROM bank.receipt WHERE day = $1 AND ticket = ANY ($2) ORDER BY ticket
    """)

  /// Returns those of the given commits of one epoch that are in the database. Parameters: branch, epoch, numbers.
  static let storedCommits = PostgresStatement(
    "bank-commits-kept", [.integer, .integer, .integers],
    """
    SELECT array_agg(DISTINCT commit_no) FROM bank.counter_delta
    WHERE branch = $1 AND epoch = $2 AND commit_no = ANY ($3)
    """)

  /// Tickets finished by these commits of one epoch. `bank.commit` has those that are not cancelled, and the receipts
  /// of the others have an index by commit. Parameters: branch, epoch, numbers.
  static let receiptsOfCommits = PostgresStatement(
    "bank-receipts-of-commits", [.integer, .integer, .integers],
    """
    SELECT commit_no, array_agg(ticket ORDER BY ticket) FROM (
      SELECT commit_no, unnest(tickets) AS ticket FROM bank.commit
      WHERE branch = $1 AND epoch = $2 AND commit_no = ANY ($3)
      UNION ALL
      SELECT commit_no, ticket FROM bank.receipt
      WHERE outcome = 2 AND branch = $1 AND epoch = $2 AND commit_no = ANY ($3)) AS finished
    GROUP BY commit_no
    """)

  /// Folds the counts of commits that are not queried any more into one sum for each day and lane: those of earlier
  /// epochs, and those of this epoch below a number. Parameters: branch, epoch, number. Returns the number of rows.
  static let fold = PostgresStatement(
    "bank-fold", [.integer, .integer, .integer],
    """
    WITH \(fence), old AS (
      DELETE FROM bank.counter_delta WHERE branch = $1 AND epoch BETWEEN 1 AND $2 AND (epoch, commit_no) < ($2, $3)
        AND EXISTS (SELECT FROM fence) RETURNING *
    ), folded AS (
      INSERT INTO bank.counter_delta AS t
      SELECT $1, 0, 0, day, lane, sum(issued), sum(waiting), sum(delayed), sum(dead), sum(served), sum(out_of_stock),
        sum(cancelled)
      FROM old WHERE lane > 0 GROUP BY day, lane
      ON CONFLICT (branch, epoch, commit_no, day, lane) DO UPDATE SET issued = t.issued + excluded.issued,
        waiting = t.waiting + excluded.waiting, delayed = t.delayed + excluded.delayed, dead = t.dead + excluded.dead,
        served = t.served + excluded.served, out_of_stock = t.out_of_stock + excluded.out_of_stock,
        cancelled = t.cancelled + excluded.cancelled
    )
    SELECT count(*) FROM old
    """)
}
