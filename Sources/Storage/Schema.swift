// Schemas of the databases: the tables, the numbers that identify the files of this project, and the ordered
// list of migrations.
// Invariant: a released migration never changes. A new schema is a new entry at the end of the list.

/// Schema of a database: its application, and the migrations from any earlier version.
struct Schema: Sendable {
  /// Application id in the header of the file ("BANK" in ASCII for the bank), so that a foreign database is
  /// recognized.
  var applicationID: Int64
  /// One script per version. The first creates version 1, and the n-th upgrades version n − 1 to n.
  var migrations: [String]

  var version: Int64 { Int64(migrations.count) }

  /// The bank's database. Its tables:
  ///
  /// - `customer`: unfinished customers of the current day. The key is one integer of state, line and ticket, so
  ///   that the rows of one line are adjacent and in ticket order. A page of a line is one short scan, and the
  ///   next customer in line is the first row of a range. The three parts are readable as generated columns. The
  ///   upper half of `attempts` contains the number of attempts that count against `max_attempts`, see
  ///   ``CustomerAttempts``.
  /// - `service`: names of the services, by the numbers used in all other tables. A service that is not offered
  ///   any more keeps its row, so that its number is never reused.
  /// - `line`: lines of customers, each with its service, its priority and the number used in the keys.
  /// - `payload`: payloads of customers of the current day. A row is written with the customer and deleted when the
  ///   receipt is written. The receipt contains no copy.
  /// - `receipt_page`: receipts of the tickets in commit order, several in a row. The view `receipt` has one
  ///   row for each receipt. Debit and credit are account codes (cash −1, loans −2, customers from 0), null if
  ///   the receipt has no transfer.
  /// - `ticket_block`: sequence numbers of receipts by ticket, 64 tickets in a row. The number of a ticket is
  ///   written once, in the transaction of the receipt.
  /// - `result`: results of served customers, if their work had any. The key is the sequence number of the
  ///   receipt (`SELECT * FROM receipt CROSS JOIN result USING (sequence)`), and the row is written in the same
  ///   transaction. So rows are only appended to the tree, and the results of a page of receipts are in one
  ///   range. Day and ticket are redundant; the audit compares them. Of a long stream the first and the last
  ///   bytes are stored, with the true length.
  /// - `attempt`: attempts that ended without a receipt, numbered from 1 per ticket, with the text of a
  ///   failure.
  /// - `request_key`: tickets of a client's idempotency key, and the digest of its request, so that a different
  ///   request with the same key is detected. The digest is null if it is unknown.
  /// - `day`: one row per business day, with its counters. The last row is the current day, the only one that
  ///   is not closed. The receipts of a day start at `first_sequence` and end before those of the next day. The
  ///   row of the current day also has the waiting customers by line, the served ones by service, and the
  ///   paused services, as JSON (`SELECT * FROM day, json_each(waiting)`). In the row of a closed day these
  ///   columns are empty. `clock_steps` counts the backward steps of the wall clock over all days up to the end
  ///   of the row's day. The audit does not check the order of starts in days in which it increased.
  /// - `scheduled_ticket`: due times of tickets that were ordered for later. The row stays after the receipt,
  ///   because it explains why customers with higher tickets were served before.
  /// - `shortage`: missing items of a ticket that ended out of stock.
  /// - `stock_release`: cancelled tickets for which the stock may have a reservation.
  /// - `meta`: named numbers. `dead D T N`: ticket T of day D became a dead letter after its attempt N.
  ///   `delayed N`: number of delayed customers of service N. `delayed kept by`: number of the last start whose
  ///   program maintained these counts. After a start of a program that does not maintain them, they are
  ///   counted again. `incarnation`: number of starts of the coordinator. `opening N`: time of the N-th start,
  ///   in milliseconds since 1970. `receipts before N`: last receipt before that start. `bank id`,
  ///   `bank id day` and `bank id ticket`: identity of the database, see `BankID`. `stock identity`,
  ///   `stock opening`, `vending identity` and `vending opening`: last recorded state of the databases of
  ///   `stock` and `vending`, see `RecordedDatabase`. `incomplete request from`: first number of an incomplete
  ///   request, whose customers have no tickets yet.
  ///
  /// The column `grade` of a receipt is 1 to 3 for a grade, and the priority plus 4 for any other priority.
  static let bank = Schema(
    applicationID: 0x4241_4E4B,
    migrations: [version1, version2, version3, version4, version5, version6, receiptPages, names])

  private static let version1 = """
    -- A customer of the present day whose business is not finished.
    -- position = state << 60 | service << 52 | grade << 48 | ticket; see CustomerPosition.
    CREATE TABLE customer (
      position INTEGER PRIMARY KEY,
      amount INTEGER NOT NULL,
      account INTEGER NOT NULL,
      issued_ms INTEGER NOT NULL,
      attempts INTEGER NOT NULL,
      crashes INTEGER NOT NULL,
      failures INTEGER NOT NULL,
      due_ms INTEGER, -- the moment of the next attempt, only where the customer is delayed
      state INTEGER AS (position >> 60) VIRTUAL, -- 1 waiting, 2 delayed, 3 dead
      service INTEGER AS ((position >> 52) & 255) VIRTUAL, -- 1 deposit, 2 loan
      grade INTEGER AS ((position >> 48) & 15) VIRTUAL, -- 1 vvip, 2 vip, 3 regular
      ticket INTEGER AS (position & 281474976710655) VIRTUAL
    ) STRICT;

    -- The end of one ticket. Sequence numbers have no gaps.
    CREATE TABLE receipt (
      sequence INTEGER PRIMARY KEY,
      day INTEGER NOT NULL,
      ticket INTEGER NOT NULL,
      service INTEGER NOT NULL,
      grade INTEGER NOT NULL,
      outcome INTEGER NOT NULL, -- 1 served, 2 cancelled
      place INTEGER, -- the window's place; null where no window had the customer
      generation INTEGER NOT NULL,
      pid INTEGER NOT NULL,
      attempts INTEGER NOT NULL,
      amount INTEGER NOT NULL,
      account INTEGER NOT NULL,
      debit INTEGER, -- account codes; null where nothing was done
      credit INTEGER,
      issued_ms INTEGER NOT NULL,
      started_ms INTEGER,
      finished_ms INTEGER NOT NULL,
      UNIQUE (day, ticket)
    ) STRICT;

    -- An attempt that ended without a receipt.
    CREATE TABLE attempt (
      day INTEGER NOT NULL,
      ticket INTEGER NOT NULL,
      number INTEGER NOT NULL,
      service INTEGER NOT NULL, -- service and place are the window
      place INTEGER NOT NULL,
      generation INTEGER NOT NULL,
      pid INTEGER NOT NULL,
      started_ms INTEGER NOT NULL,
      ended_ms INTEGER NOT NULL,
      ending INTEGER NOT NULL, -- 2 killed, 3 lease expired, 4 recalled, 5 failed
      exit_code INTEGER, -- how the process ended: one of the two, or neither
      exit_signal INTEGER,
      PRIMARY KEY (day, ticket, number)
    ) STRICT, WITHOUT ROWID;

    -- The tickets of an idempotency key.
    CREATE TABLE request_key (
      key TEXT PRIMARY KEY,
      day INTEGER NOT NULL,
      first INTEGER NOT NULL,
      last INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;

    -- The numbers of a business day.
    CREATE TABLE day (
      day INTEGER PRIMARY KEY,
      opened_ms INTEGER NOT NULL,
      closed_ms INTEGER, -- null for the present day
      first_sequence INTEGER NOT NULL,
      issued INTEGER NOT NULL,
      served INTEGER NOT NULL,
      cancelled INTEGER NOT NULL,
      delayed INTEGER NOT NULL,
      dead INTEGER NOT NULL,
      business_ns INTEGER NOT NULL
    ) STRICT;

    -- Waiting customers of the present day, by line.
    CREATE TABLE line (
      service INTEGER NOT NULL,
      grade INTEGER NOT NULL,
      waiting INTEGER NOT NULL,
      PRIMARY KEY (service, grade)
    ) STRICT, WITHOUT ROWID;

    -- Served customers of the present day by service, and whether an operator has paused it.
    CREATE TABLE service_state (
      service INTEGER PRIMARY KEY,
      served INTEGER NOT NULL,
      paused INTEGER NOT NULL
    ) STRICT;

    -- Named numbers.
    CREATE TABLE meta (
      name TEXT PRIMARY KEY,
      value INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    INSERT INTO meta VALUES ('incarnation', 0);
    """

  /// Adds the service `juice`. It moves no money. Its customers order items, and may be sent away if the items
  /// are missing.
  private static let version2 = """
    -- What the worker needs to know beyond the service; null for nothing.
    ALTER TABLE customer ADD COLUMN payload TEXT;
    ALTER TABLE receipt ADD COLUMN payload TEXT;

    -- What was missing where the outcome is 3, out of stock.
    CREATE TABLE shortage (
      day INTEGER NOT NULL,
      ticket INTEGER NOT NULL,
      item TEXT NOT NULL,
      needed INTEGER NOT NULL,
      available INTEGER NOT NULL,
      PRIMARY KEY (day, ticket, item)
    ) STRICT, WITHOUT ROWID;

    -- Cancelled tickets whose reservations the stock has still to release.
    CREATE TABLE release (
      day INTEGER NOT NULL,
      ticket INTEGER NOT NULL,
      PRIMARY KEY (day, ticket)
    ) STRICT, WITHOUT ROWID;

    -- The rows of the new service, in a store with a business day.
    INSERT INTO line SELECT 3, grade, 0 FROM line WHERE service = 1;
    INSERT INTO service_state SELECT 3, 0, 0 FROM service_state WHERE service = 1;
    """

  /// Stores all counters of a day in one row, so that a commit writes fewer pages to the WAL.
  private static let version3 = """
    ALTER TABLE day ADD COLUMN deposit_vvip INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE day ADD COLUMN deposit_vip INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE day ADD COLUMN deposit_regular INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE day ADD COLUMN loan_vvip INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE day ADD COLUMN loan_vip INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE day ADD COLUMN loan_regular INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE day ADD COLUMN juice_vvip INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE day ADD COLUMN juice_vip INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE day ADD COLUMN juice_regular INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE day ADD COLUMN deposit_served INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE day ADD COLUMN loan_served INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE day ADD COLUMN juice_served INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE day ADD COLUMN deposit_paused INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE day ADD COLUMN loan_paused INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE day ADD COLUMN juice_paused INTEGER NOT NULL DEFAULT 0;
    UPDATE day SET
      deposit_vvip = (SELECT waiting FROM line WHERE service = 1 AND grade = 1),
      deposit_vip = (SELECT waiting FROM line WHERE service = 1 AND grade = 2),
      deposit_regular = (SELECT waiting FROM line WHERE service = 1 AND grade = 3),
      loan_vvip = (SELECT waiting FROM line WHERE service = 2 AND grade = 1),
      loan_vip = (SELECT waiting FROM line WHERE service = 2 AND grade = 2),
      loan_regular = (SELECT waiting FROM line WHERE service = 2 AND grade = 3),
      deposit_served = (SELECT served FROM service_state WHERE service = 1),
      loan_served = (SELECT served FROM service_state WHERE service = 2),
      deposit_paused = (SELECT paused FROM service_state WHERE service = 1),
      loan_paused = (SELECT paused FROM service_state WHERE service = 2)
    WHERE closed_ms IS NULL;
    DROP TABLE line;
    DROP TABLE service_state;

    -- The clock steps of the days before this version are unknown.
    ALTER TABLE day ADD COLUMN clock_steps INTEGER NOT NULL DEFAULT 0;
    UPDATE day SET clock_steps = day;
    """

  /// Adds the digest of a key's request. It is unknown for older keys, whose requests are accepted without a
  /// comparison.
  private static let version4 = """
    ALTER TABLE request_key ADD COLUMN request INTEGER;
    """

  /// Permits lines of any priority. The keys of customers stay unchanged: their service and grade are read as
  /// the number of a line. The counts by line and by service are one column each, for any number of lines and
  /// services.
  private static let version5 = """
    -- Where customers wait. Numbers from 65536 on are given when they are needed, and again on another day.
    CREATE TABLE line (
      number INTEGER PRIMARY KEY,
      service INTEGER NOT NULL,
      priority INTEGER NOT NULL, -- the lowest value is the first; 0 is vvip, 1023 vip, 1024 regular
      code INTEGER AS (CASE priority WHEN 0 THEN 1 WHEN 1023 THEN 2 WHEN 1024 THEN 3 ELSE priority + 4 END) VIRTUAL,
      UNIQUE (service, priority)
    ) STRICT;
    INSERT INTO line (number, service, priority) VALUES
      (4352, 1, 0), (4608, 1, 1023), (4864, 1, 1024), (8448, 2, 0), (8704, 2, 1023), (8960, 2, 1024),
      (12544, 3, 0), (12800, 3, 1023), (13056, 3, 1024);

    -- position = state << 60 | line << 40 | ticket; see CustomerPosition.
    -- The name of the ordered article; the payload for the worker is in its own table.
    ALTER TABLE customer RENAME COLUMN payload TO article;
    ALTER TABLE receipt RENAME COLUMN payload TO article;

    -- The payload of a customer of the current day; its row is removed with the customer's.
    CREATE TABLE payload (
      ticket INTEGER PRIMARY KEY,
      bytes BLOB NOT NULL
    ) STRICT;

    ALTER TABLE customer DROP COLUMN service;
    ALTER TABLE customer DROP COLUMN grade;
    ALTER TABLE customer DROP COLUMN ticket;
    ALTER TABLE customer ADD COLUMN line INTEGER AS ((position >> 40) & 1048575) VIRTUAL;
    ALTER TABLE customer ADD COLUMN ticket INTEGER AS (position & 1099511627775) VIRTUAL;

    ALTER TABLE day ADD COLUMN waiting TEXT NOT NULL DEFAULT ''; -- JSON: customers in line by the number of the line
    ALTER TABLE day ADD COLUMN served_by_service TEXT NOT NULL DEFAULT ''; -- JSON, in the order of the numbers
    ALTER TABLE day ADD COLUMN paused TEXT NOT NULL DEFAULT ''; -- the same: 1 where a service is paused
    UPDATE day SET
      waiting = json_object(
        '4352', deposit_vvip, '4608', deposit_vip, '4864', deposit_regular,
        '8448', loan_vvip, '8704', loan_vip, '8960', loan_regular,
        '12544', juice_vvip, '12800', juice_vip, '13056', juice_regular),
      served_by_service = json_array(deposit_served, loan_served, juice_served),
      paused = json_array(deposit_paused, loan_paused, juice_paused)
    WHERE closed_ms IS NULL;
    ALTER TABLE day DROP COLUMN deposit_vvip;
    ALTER TABLE day DROP COLUMN deposit_vip;
    ALTER TABLE day DROP COLUMN deposit_regular;
    ALTER TABLE day DROP COLUMN loan_vvip;
    ALTER TABLE day DROP COLUMN loan_vip;
    ALTER TABLE day DROP COLUMN loan_regular;
    ALTER TABLE day DROP COLUMN juice_vvip;
    ALTER TABLE day DROP COLUMN juice_vip;
    ALTER TABLE day DROP COLUMN juice_regular;
    ALTER TABLE day DROP COLUMN deposit_served;
    ALTER TABLE day DROP COLUMN loan_served;
    ALTER TABLE day DROP COLUMN juice_served;
    ALTER TABLE day DROP COLUMN deposit_paused;
    ALTER TABLE day DROP COLUMN loan_paused;
    ALTER TABLE day DROP COLUMN juice_paused;
    """

  /// Adds configured services, results of work, and customers ordered for later. An index finds the first due
  /// ones among any number. Customers that are not delayed have no entry in the index.
  private static let version6 = """
    -- The names of the service numbers. A row is never changed and never removed.
    CREATE TABLE service (
      number INTEGER PRIMARY KEY,
      name TEXT NOT NULL UNIQUE
    ) STRICT;
    INSERT INTO service (number, name) VALUES (1, 'deposit'), (2, 'loan'), (3, 'juice');

    -- The result of a served customer; its row is written with the receipt. Numbers are stored before bytes, so
    -- that nothing is read of long bytes where only the numbers are wanted.
    CREATE TABLE result (
      sequence INTEGER PRIMARY KEY, -- the receipt's
      day INTEGER NOT NULL,
      ticket INTEGER NOT NULL,
      exit_code INTEGER, -- how the process ended: one of the two, or neither
      exit_signal INTEGER,
      duration_ns INTEGER NOT NULL,
      output_length INTEGER NOT NULL, -- bytes in all
      output_filed INTEGER NOT NULL, -- bytes that stand in a file, from the first on
      errors_length INTEGER NOT NULL,
      errors_filed INTEGER NOT NULL,
      output BLOB, -- the first bytes; null for none
      output_end BLOB, -- the last of those that came after them
      errors BLOB,
      errors_end BLOB
    ) STRICT;

    -- On the day of its migration, version 3 did not count the customers that waited for a juice or had got one.
    UPDATE day SET waiting = json_set(waiting,
        '$.12544', (SELECT count(*) FROM customer WHERE state = 1 AND line = 12544),
        '$.12800', (SELECT count(*) FROM customer WHERE state = 1 AND line = 12800),
        '$.13056', (SELECT count(*) FROM customer WHERE state = 1 AND line = 13056))
    WHERE CASE WHEN closed_ms IS NULL AND json_valid(waiting) THEN
        issued - served - cancelled - delayed - dead > (SELECT total(value) FROM json_each(waiting))
        AND NOT EXISTS (SELECT 1 FROM meta WHERE name = 'arriving from') END;
    UPDATE day SET served_by_service = json_set(served_by_service, '$[2]',
        (SELECT count(*) FROM receipt WHERE sequence >= first_sequence AND service = 3 AND outcome <> 2))
    WHERE CASE WHEN closed_ms IS NULL AND json_valid(served_by_service) THEN
        served > (SELECT total(value) FROM json_each(served_by_service)) END;

    -- Why it failed: the worker's reason, or the last lines of a command; null for nothing.
    ALTER TABLE attempt ADD COLUMN words TEXT;

    -- Delayed customers by due time. The state in the key selects them, so that the removal of another row does not decode it.
    CREATE INDEX customer_due ON customer (due_ms, ticket)
      WHERE position >= 2305843009213693952 AND position < 3458764513820540928;

    -- The due time of a ticket that was ordered for later.
    CREATE TABLE later (
      day INTEGER NOT NULL,
      ticket INTEGER NOT NULL,
      due_ms INTEGER NOT NULL,
      PRIMARY KEY (day, ticket)
    ) STRICT, WITHOUT ROWID;
    """
}
