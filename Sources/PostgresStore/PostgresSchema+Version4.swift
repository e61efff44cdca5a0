// Fourth version of the schema: new names of tables, columns and indexes.
// Invariant: like every migration it never changes after its release.

extension PostgresSchema {
  /// Renames tables, columns and indexes; no row changes, except in `meta` and `version`. A program of an older version
  /// joins with a statement that contains the old names of the columns, so it cannot join any more.
  static let version4: [String] =
    tables.map { renaming($0.old, to: $0.new) } + indexes
    + columns.map { "ALTER TABLE bank.\($0.table) RENAME COLUMN \($0.old) TO \($0.new)" } + identity

  /// Former and present names of tables.
  private static let tables: [(old: String, new: String)] = [
    ("tally", "counter_delta"), ("intake", "ticket_batch"), ("arriving", "staged_slice"),
    ("batch", "staged_batch"), ("returned", "returned_range"), ("former_claim", "released_claim"),
    ("release", "stock_release"),
  ]

  /// SQL statement that renames a table and its constraints. The names of the constraints and of their indexes start
  /// with the name of the table. Which constraints have names depends on the version of the server.
  private static func renaming(_ old: String, to new: String) -> String {
    """
    DO $$ DECLARE name text; BEGIN
      ALTER TABLE bank.\(old) RENAME TO \(new);
      FOR name IN SELECT conname FROM pg_constraint
        WHERE conrelid = 'bank.\(new)'::regclass AND starts_with(conname::text, '\(old)_')
      LOOP
        EXECUTE format('ALTER TABLE bank.\(new) RENAME CONSTRAINT %I TO %I', name,
          '\(new)' || substr(name, length('\(old)') + 1));
      END LOOP;
    END $$
    """
  }

  /// Statements that rename a sequence, an index and a constraint whose names do not follow the rule.
  private static let indexes = [
    "ALTER SEQUENCE bank.former_claim_id_seq RENAME TO released_claim_id_seq",
    "ALTER INDEX bank.intake_number RENAME TO ticket_batch_request",
    """
    ALTER TABLE bank.lane
      RENAME CONSTRAINT lane_service_priority_branch_key TO lane_service_priority_code_branch_key
    """,
  ]

  /// Former and present names of columns.
  private static let columns: [(table: String, old: String, new: String)] = [
    ("branch", "expires_at", "lease_expires_at"),
    ("branch", "fencing", "epoch_xid"),
    ("branch", "paused", "paused_services"),
    ("branch", "oldest_ms", "oldest_issued_ms"),
    ("branch", "version", "schema_version"),
    ("branch", "proof", "holder_identity"),
    ("lane", "priority", "priority_code"),
    ("customer", "begun", "started_attempts"),
    ("customer", "is_begun", "is_running"),
    ("customer", "article", "item_name"),
    ("ticket_batch", "request", "request_digest"),
    ("ticket_batch", "number", "request_number"),
    ("staged_slice", "number", "request_number"),
    ("staged_slice", "before", "customers_before"),
    ("staged_slice", "bases", "position_bases"),
    ("staged_slice", "dues", "due_times"),
    ("staged_slice", "articles", "item_names"),
    ("staged_batch", "number", "request_number"),
    ("claim", "at", "claimed_at"),
    ("released_claim", "at", "claimed_at"),
    ("receipt", "place", "window_number"),
    ("receipt", "article", "item_name"),
    ("receipt", "result_ns", "duration_ns"),
    ("receipt", "output_first", "output_head"),
    ("receipt", "output_last", "output_tail"),
    ("receipt", "output_filed", "output_file_length"),
    ("receipt", "errors_first", "stderr_head"),
    ("receipt", "errors_last", "stderr_tail"),
    ("receipt", "errors_length", "stderr_length"),
    ("receipt", "errors_filed", "stderr_file_length"),
    ("attempt", "place", "window_number"),
    ("attempt", "words", "reason"),
  ]

  /// Identity of the database. The row `books` is kept in addition to its successor `bank id`. A program of an older
  /// version reads `books` before it reads the version. Without this row, the program could not report the version as
  /// the reason for its refusal.
  private static let identity = [
    "INSERT INTO bank.meta SELECT 'bank id', value FROM bank.meta WHERE name = 'books'",
    "UPDATE bank.meta SET name = 'bank id day' WHERE name = 'books day'",
    "UPDATE bank.meta SET name = 'bank id ticket' WHERE name = 'books ticket'",
    "UPDATE bank.meta SET name = 'move checksum' WHERE name = 'moved state'",
  ]
}
