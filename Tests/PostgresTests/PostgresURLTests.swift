// Addresses: what is read, what is added, what may be shown, and that no secret leaks.

import Testing

@testable import Postgres

@Suite("The place of a database")
struct PostgresURLTests {
  private func settings(_ address: String) throws -> [String: String] {
    let url = try PostgresURL(address)
    return Dictionary(url.settings.map { ($0.keyword, $0.value) }, uniquingKeysWith: { "\($0) AND \($1)" })
  }

  @Test("An address is completed by the options of every connection of this client")
  func completed() throws {
    let settings = try settings("postgres://bank@db.example:5433/branch?sslmode=require")
    #expect(settings["host"] == "db.example" && settings["port"] == "5433")
    #expect(settings["user"] == "bank" && settings["dbname"] == "branch" && settings["sslmode"] == "require")
    #expect(settings["application_name"] == "bank" && settings["client_encoding"] == "UTF8")
    #expect(settings["tcp_user_timeout"] == "4000" && settings["keepalives_idle"] == "1")
    let options = try #require(settings["options"])
    for wanted in [
      "jit=off", "plan_cache_mode=force_generic_plan", "tcp_keepalives_idle=1", "tcp_user_timeout=",
    ] {
      #expect(options.contains(wanted))
    }
    #expect(settings["target_session_attrs"] == nil)
  }

  @Test("The address overrides the added options")
  func overridden() throws {
    let settings = try settings(
      "postgresql://db/bank?application_name=x&tcp_user_timeout=9000&connect_timeout=30&options=-c%20jit%3Don"
    )
    #expect(settings["application_name"] == "x" && settings["tcp_user_timeout"] == "9000")
    let options = try #require(settings["options"])
    #expect(
      options.contains("-c jit=off") && options.contains(" -c jit=on -c search_path=pg_catalog,pg_temp"))
    #expect(try PostgresURL("postgres://db/bank?connect_timeout=30").connectSeconds == 30)
  }

  @Test(
    "A password in the address is refused, and the sentence shows nothing of it",
    arguments: [
      "postgres://bank:hunter2@db/bank", "postgres://db/bank?password=hunter2",
      "postgres://bank:hun/ter2@db/bank",
      "postgres://bank:hun?ter2@db/bank", "postgres://bank:hun#ter2@db/bank",
      "postgres://db/bank?sslpassword=hunter2",
      "postgres://bank:hunter2@db:port/%zz", "postgres://a,bank:hunter2@db/bank",
      "postgres://bank:hunt@er2@db/x",
      "host=db password=hunter2", "postgres://db/bank?pass%77ord=hunter2", "postgres://db/bank?passw=hunter2",
      "postgres://bank:hunter2%zz@db/bank",
    ])
  func secrets(_ address: String) throws {
    do {
      let url = try PostgresURL(address)
      Issue.record("\(address) was taken as \(url)")
    } catch {
      for language in [error.message(in: .english), error.message(in: .korean)] {
        #expect(!language.contains("ter2") && !language.contains("hun"), "\(language)")
      }
      if address.hasPrefix("postgres://bank:") {
        #expect(error.message(in: .english).contains(".pgpass"), "\(error)")
      }
    }
  }

  @Test(
    "An invalid address is refused in a sentence",
    arguments: [
      "", "bank", "mysql://db/bank", "postgres://db:x/bank", "postgres://db:99999/bank",
      "postgres://db/bank?nonsense=1",
      "postgres://[::1/bank", "postgres://db/%zz",
    ])
  func nonsense(_ address: String) throws {
    #expect {
      _ = try PostgresURL(address)
    } throws: { error in
      guard let error = error as? PostgresError, case .invalidURL = error.reason else { return false }
      return error.description.contains("postgres://USER@HOST:PORT/DATABASE")
    }
  }

  @Test("User, hosts and database are shown, and nothing else")
  func shown() throws {
    let url = try PostgresURL("postgres://bank@a:1,b:2/branch?sslcert=x&passfile=y")
    #expect(url.description == "postgres://bank@a:1,b:2/branch")
    #expect(try PostgresURL("postgres:///?service=prod").description == "postgres:///?service=prod")
    #expect(try PostgresURL("postgres:///x?host=/run/pg").description == "postgres:///run/pg/x")
  }

  @Test("A session for reading alone is not taken for one of a standby")
  func readOnly() throws {
    func wants(_ address: String, readOnly: Bool = false) throws -> String? {
      try PostgresURL(address, readOnly: readOnly).settings.first {
        $0.keyword == "target_session_attrs"
      }?.value
    }
    #expect(try wants("postgres://bank@a,b/bank") == "read-write")
    #expect(try wants("postgres://bank@a/bank") == nil)
    for more in ["", "?target_session_attrs=read-write"] {
      #expect(try wants("postgres://bank@a,b/bank" + more, readOnly: true) == nil)
    }
  }

  @Test("Each attempt can start with another of the hosts")
  func rotated() throws {
    let url = try PostgresURL("postgres://a:1,b:2,c:3/bank")
    #expect(url.hostCount == 3)
    let named = url.beginning(atHost: 4).settings
    #expect(named.first { $0.keyword == "host" }?.value == "b,c,a")
    #expect(named.first { $0.keyword == "port" }?.value == "2,3,1")
    #expect(named.first { $0.keyword == "target_session_attrs" }?.value == "read-write")
    #expect(try PostgresURL("postgres://a/b").beginning(atHost: 7) == PostgresURL("postgres://a/b"))
    #expect(url.beginning(atHost: Int.min).settings.count == url.settings.count)
  }
}
