// Sessions of a role and a database with hostile settings: every setting of the table has its own value
// whatever role, database, environment and address set, and a database that cannot store every text is
// refused by name.

import BankModel
import Glibc
import PostgresFixture
import Testing

@testable import Postgres

@Suite("The settings of a session", .enabled(if: PostgresCluster.isInstalled))
struct SessionSettingsTests {
  private static let shared = Result { try PostgresCluster(["max_connections=40"]) }

  /// Settings under which statements of a bank would mean something else, or fail.
  private static let hostile: KeyValuePairs = [
    "search_path": "public, pg_catalog", "default_transaction_isolation": "serializable",
    "default_transaction_deferrable": "on",
    "client_encoding": "LATIN1",
    "TimeZone": "Asia/Seoul", "DateStyle": "SQL, DMY", "IntervalStyle": "sql_standard",
    "extra_float_digits": "-15",
    "bytea_output": "escape", "array_nulls": "off", "standard_conforming_strings": "off",
    "transform_null_equals": "on",
    "statement_timeout": "1ms", "lock_timeout": "1ms", "idle_in_transaction_session_timeout": "1ms",
    "exit_on_error": "on",
    "row_security": "on", "synchronous_commit": "off",
  ]

  private func database(_ more: String = "") throws -> (cluster: PostgresCluster, name: String) {
    let cluster = try Self.shared.get()
    let name = "s\(UInt64.random(in: 0...UInt64.max))"
    try PostgresClient.connected(cluster.address()).run("CREATE DATABASE \(name) \(more)")
    return (cluster, name)
  }

  private func expectTable(_ client: PostgresClient, _ session: SessionSettings) throws {
    for setting in session.settings {
      let found = try client.rows(.once("SELECT current_setting('\(setting.name)', true)"))[0].text(0, 0)
      // A setting that this version of the server does not have.
      guard let found else { continue }
      #expect(
        found.replacing(" ", with: "") == setting.value.replacing(" ", with: ""), "\(setting.name)")
    }
    let commit = try client.rows(.once("SELECT current_setting('synchronous_commit')"))[0].text(0, 0)
    #expect(commit == "on")
  }

  @Test("Role and database change none of them", arguments: ["DATABASE", "ROLE bank IN DATABASE"])
  func hostileSettings(_ whose: String) throws {
    let (cluster, name) = try database()
    let admin = try PostgresClient.connected(cluster.address(name))
    for (setting, value) in Self.hostile {
      try admin.run(
        "ALTER \(whose) \(name) SET \(setting) = \(value.contains("public") ? value : "'\(value)'")")
    }
    for readOnly in [false, true] {
      let url = try PostgresURL(cluster.address(name), readOnly: readOnly)
      try expectTable(try .connected(to: url), SessionSettings(readOnly: readOnly))
    }
    // With several hosts the library checks the session before any setting is made.
    let both = cluster.address(name).replacing(
      "host=\(cluster.directory)&port=\(cluster.port)",
      with: "host=\(cluster.directory),\(cluster.directory)&port=\(cluster.port),\(cluster.port)")
    try expectTable(try .connected(to: PostgresURL(both)), SessionSettings())
  }

  @Test("Address and environment change none of them")
  func addressAndEnvironment() throws {
    let (cluster, name) = try database()
    let options = "-c%20search_path%3Dpublic%20-c%20default_transaction_isolation%3Dserializable"
    let url = try PostgresURL(cluster.address(name, "&options=\(options)&client_encoding=LATIN1"))
    setenv("PGTZ", "Asia/Seoul", 1)
    setenv("PGDATESTYLE", "SQL, DMY", 1)
    defer {
      unsetenv("PGTZ")
      unsetenv("PGDATESTYLE")
    }
    try expectTable(try .connected(to: url), SessionSettings())
  }

  @Test("A commit is on a disk before it is reported, and an operator's choice of standbys stays")
  func durability() throws {
    for (chosen, found) in [("off", "on"), ("local", "local"), ("remote_apply", "remote_apply")] {
      let (cluster, name) = try database()
      try PostgresClient.connected(cluster.address()).run(
        "ALTER DATABASE \(name) SET synchronous_commit = '\(chosen)'")
      let client = try PostgresClient.connected(cluster.address(name))
      let rows = try client.rows(.once("SELECT current_setting('synchronous_commit')"))[0]
      #expect(rows.text(0, 0) == found)
    }
  }

  @Test("A function of a guest is never found in place of the server's")
  func guest() throws {
    let (cluster, name) = try database()
    let admin = try PostgresClient.connected(cluster.address(name))
    try admin.run(
      "CREATE FUNCTION public.unnest(bigint[]) RETURNS SETOF bigint LANGUAGE sql AS 'SELECT 666::bigint'")
    let call = PostgresCall.once("SELECT n FROM unnest($1) AS n", [.integers], [.integers([1])])
    #expect(try admin.rows(call)[0].integer(0, 0) == 666, "names of this schema are found")
    let client = try PostgresClient.connected(to: PostgresURL(cluster.address(name)))
    #expect(try client.rows(call)[0].integer(0, 0) == 1)
  }

  @Test("A database that cannot store every text is refused by name; one without an encoding is not")
  func encoding() throws {
    for encoding in ["LATIN1", "EUC_KR"] {
      let (cluster, name) = try database("ENCODING '\(encoding)' TEMPLATE template0 LOCALE 'C'")
      let client = try PostgresClient(cluster.address(name))
      try client.runLoop { !client.losses.isEmpty }
      let error = try #require(client.losses.first)
      #expect(error.reason == .encoding(encoding) && !error.isRetriable)
      for language in Language.allCases {
        #expect(
          error.message(in: language).contains(encoding) && error.message(in: language).contains("UTF8"))
      }
    }
    let (cluster, name) = try database("ENCODING 'SQL_ASCII' TEMPLATE template0 LOCALE 'C'")
    let client = try PostgresClient.connected(cluster.address(name))
    let rows = try client.rows(.once("SELECT $1", [.text], [.text("실패 é")]))[0]
    #expect(rows.text(0, 0) == "실패 é")
  }
}
