// Settings of a session that determine the meaning of statements, in one table, and the statement that applies them.
// Invariant: a connection applies these settings before its first use, so that role, database, environment and
// address do not decide them. Errors: a refusal of one of them ends the connection, with the server's message.

/// Access mode of a session, and its schemas for unqualified names.
struct SessionSettings: Sendable, Hashable {
  /// Name and value of one setting of the server.
  struct Setting: Sendable, Hashable {
    var name: String
    var value: String
  }

  /// True if the session must not change anything.
  var readOnly = false
  /// Schemas for unqualified names, after `pg_catalog`. They may contain objects of other roles.
  var schemas: [String] = []

  /// The server searches `pg_catalog` first, even if the list does not name it, and temporary objects last.
  var searchPath: String {
    ((schemas.isEmpty ? ["pg_catalog"] : schemas) + ["pg_temp"]).joined(separator: ",")
  }

  /// The table of settings. A setting that this server version does not have is skipped.
  var settings: [Setting] {
    [
      Setting(name: "search_path", value: searchPath),
      // One statement takes a lock, and the next one reads the rows that the lock guards. The second statement must
      // see all commits made before the lock was taken.
      Setting(name: "default_transaction_isolation", value: "read committed"),
      Setting(name: "default_transaction_deferrable", value: "off"),
      Setting(name: "client_encoding", value: "UTF8"),
      Setting(name: "TimeZone", value: "UTC"), Setting(name: "DateStyle", value: "ISO, YMD"),
      Setting(name: "IntervalStyle", value: "postgres"), Setting(name: "extra_float_digits", value: "1"),
      Setting(name: "bytea_output", value: "hex"), Setting(name: "array_nulls", value: "on"),
      Setting(name: "standard_conforming_strings", value: "on"),
      Setting(name: "transform_null_equals", value: "off"),
      // The client has a timeout. A statement that the server ends earlier might be retried without end.
      Setting(name: "statement_timeout", value: "0"), Setting(name: "lock_timeout", value: "0"),
      Setting(name: "transaction_timeout", value: "0"),
      Setting(name: "idle_in_transaction_session_timeout", value: "0"),
      Setting(name: "idle_session_timeout", value: "0"),
      Setting(name: "exit_on_error", value: "off"),
      // A row security policy that hides rows causes an error instead of a result with fewer rows.
      Setting(name: "row_security", value: "off"),
      // The statements use physical positions of rows.
      Setting(name: "default_table_access_method", value: "heap"),
      // Read-only mode is not switched off, because a server may set it, for example when its disk is nearly full.
    ] + (readOnly ? [Setting(name: "default_transaction_read_only", value: "on")] : [])
  }

  /// Settings that apply from the start of the session, before the statement that applies all settings.
  var startOptions: [String] {
    ["search_path=\(searchPath)"] + (readOnly ? ["default_transaction_read_only=on"] : [])
      + ["statement_timeout=0"]
  }

  /// Applies the settings, and restores durable commits if `synchronous_commit` is off. Any other value of
  /// `synchronous_commit` is kept.
  var call: PostgresCall {
    let rows = settings.map { "('\($0.name)', '\($0.value)')" } + ["('synchronous_commit', \(Self.durable))"]
    return .once(
      """
      SELECT set_config(s.name, s.value, false) FROM (VALUES \(rows.joined(separator: ", "))) AS s (name, value)
      WHERE current_setting(s.name, true) IS NOT NULL
      """)
  }

  /// SQL expression: `on` instead of `off` for `synchronous_commit`, else the present value.
  private static let durable = """
    CASE current_setting('synchronous_commit') WHEN 'off' THEN 'on' ELSE current_setting('synchronous_commit') END
    """
}
