// Owns the settings of a session on which the meaning of a statement depends, in one table, and the statement that sets them.
// Invariant: every connection sets all of them before its first use, so neither role, database, environment nor address decides
// one. Failure: the server's refusal of one of them ends the connection, with the server's words.

/// How a session is used, and in which schemas it looks for names.
struct SessionSettings: Sendable, Hashable {
  struct Setting: Sendable, Hashable {
    var name: String
    var value: String
  }

  /// True if the session must not change anything.
  var readsAlone = false
  /// Schemas in which names are found that have none, after those of the server itself. Objects of other roles can lie there, so
  /// the statements of a bank need none of them.
  var schemas: [String] = []

  /// The server looks in its own schema first, also if that is not named, and for temporary objects last: a function of another
  /// role is never found in place of one of the server's.
  var searchPath: String {
    ((schemas.isEmpty ? ["pg_catalog"] : schemas) + ["pg_temp"]).joined(separator: ",")
  }

  /// The table. A setting that this version of the server does not have is left out.
  var settings: [Setting] {
    [
      Setting(name: "search_path", value: searchPath),
      // A lock and the rows that it guards are two statements: the second must see the commits before the lock.
      Setting(name: "default_transaction_isolation", value: "read committed"),
      Setting(name: "default_transaction_deferrable", value: "off"),
      Setting(name: "client_encoding", value: "UTF8"),
      Setting(name: "TimeZone", value: "UTC"), Setting(name: "DateStyle", value: "ISO, YMD"),
      Setting(name: "IntervalStyle", value: "postgres"), Setting(name: "extra_float_digits", value: "1"),
      Setting(name: "bytea_output", value: "hex"), Setting(name: "array_nulls", value: "on"),
      Setting(name: "standard_conforming_strings", value: "on"),
      Setting(name: "transform_null_equals", value: "off"),
      // Each client has a deadline of its own. A statement that ends earlier would be retried forever.
      Setting(name: "statement_timeout", value: "0"), Setting(name: "lock_timeout", value: "0"),
      Setting(name: "transaction_timeout", value: "0"),
      Setting(name: "idle_in_transaction_session_timeout", value: "0"),
      Setting(name: "idle_session_timeout", value: "0"),
      Setting(name: "exit_on_error", value: "off"),
      // A policy that hides rows is an error, and no answer with fewer rows.
      Setting(name: "row_security", value: "off"),
      // The statements use physical positions of rows.
      Setting(name: "default_table_access_method", value: "heap"),
      // A server that takes no changes for a while, as one whose disk is nearly full, is not overruled: a branch waits.
    ] + (readsAlone ? [Setting(name: "default_transaction_read_only", value: "on")] : [])
  }

  /// The part of the table that counts before the first statement and in it.
  var startOptions: [String] {
    ["search_path=\(searchPath)"] + (readsAlone ? ["default_transaction_read_only=on"] : [])
      + ["statement_timeout=0"]
  }

  /// Sets everything, and restores the durability of a commit if the role or the server gave it up. Other choices of an operator
  /// about standbys stay.
  var call: PostgresCall {
    let rows = settings.map { "('\($0.name)', '\($0.value)')" } + ["('synchronous_commit', \(Self.durable))"]
    return .once(
      """
      SELECT set_config(s.name, s.value, false) FROM (VALUES \(rows.joined(separator: ", "))) AS s (name, value)
      WHERE current_setting(s.name, true) IS NOT NULL
      """)
  }

  private static let durable = """
    CASE current_setting('synchronous_commit') WHEN 'off' THEN 'on' ELSE current_setting('synchronous_commit') END
    """
}
