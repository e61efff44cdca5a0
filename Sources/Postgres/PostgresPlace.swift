// Owns where the database is: an address as libpq reads it, completed by what this client wants of every connection.
// Invariant: it holds no password, and what it shows of itself is made of user, hosts and database alone.
// Failure: PostgresError; an address with a secret in it is refused before the library sees it, because the library quotes
// what it does not understand.
import CPostgres

/// The address of a database, such as `postgres://bank@db1,db2/bank?sslmode=verify-full`.
///
/// What it leaves out is found as libpq finds it: a service file (`?service=NAME`), the environment (`PGHOST` …), `~/.pgpass`.
/// What is added here stands above a service file and below the address itself. A host that is given by name is looked up by
/// libpq while the process waits for the answer; an address (or `hostaddr=`) and a Unix socket are not looked up.
/// Source: https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING
public struct PostgresPlace: Sendable, Hashable, CustomStringConvertible {
  struct Setting: Sendable, Hashable {
    var keyword: String
    var value: String
  }

  /// What may be shown: user, hosts, ports and database.
  public let description: String
  /// How long a connection may take until it is ready.
  public let connectSeconds: Int
  /// What the library is given.
  let settings: [Setting]
  /// How many hosts are named; one of them after the other is tried.
  public let hostCount: Int
  /// What every session there sets before its first use.
  let session: SessionSettings

  /// Reads an address.
  ///
  /// - Parameters:
  ///   - application: how the server shows the connection (`application_name` in `pg_stat_activity`).
  ///   - wishes: settings of every session that may be decided otherwise by the address, such as `enable_seqscan=off`; without
  ///     spaces.
  ///   - readsAlone: true for sessions that must not change anything.
  ///   - schemas: where names without a schema are found, besides the server's own.
  /// - Throws: `badPlace`, `passwordInPlace`.
  public init(
    _ address: String, application: String = "bank", wishes: [String] = [], readsAlone: Bool = false,
    schemas: [String] = []
  ) throws(PostgresError) {
    guard address.hasPrefix("postgres://") || address.hasPrefix("postgresql://"), !address.utf8.contains(0)
    else {
      // Not shown: whoever writes `password=… host=…` has written a password.
      throw PostgresError(.badPlace(""), at: "")
    }
    guard !Self.mayHoldSecret(address) else { throw PostgresError(.passwordInPlace, at: "") }
    let given = try Self.parsed(address)
    let named = Dictionary(given.map { ($0.keyword, $0.value) }, uniquingKeysWith: { $1 })
    guard (named["port"] ?? "").split(separator: ",").allSatisfy({ UInt16($0) != nil }) else {
      throw PostgresError(.badPlace("the port is no number"), at: "")
    }
    let hosts = Self.list(named["hostaddr"] ?? named["host"] ?? "")
    hostCount = max(1, hosts.count)
    description = Self.shown(named)
    session = SessionSettings(readsAlone: readsAlone, schemas: schemas)
    // To the library a session that is to read alone is one of a standby: whoever wants that asks the server itself.
    var settings = Self.wished(application, manyHosts: hosts.count > 1 && !readsAlone)
      .filter { named[$0.keyword] == nil }
    settings += given.filter {
      $0.keyword != "options" && $0.keyword != "client_encoding"
        && !(readsAlone && $0.keyword == "target_session_attrs")
    }
    settings.append(Setting(keyword: "client_encoding", value: "UTF8"))
    // The later word counts on the server, too: the address decides about wishes, and not about the meaning of statements.
    var options = (Self.options + wishes).map { "-c \($0)" }
    if let own = named["options"] { options.append(own) }
    options += session.startOptions.map { "-c \($0)" }
    settings.append(Setting(keyword: "options", value: options.joined(separator: " ")))
    self.settings = settings
    // The library's own rule: less than two seconds are two.
    connectSeconds = max(2, min(named["connect_timeout"].flatMap { Int($0) } ?? 5, 600))
  }

  private init(_ settings: [Setting], like other: PostgresPlace) {
    (self.settings, session) = (settings, other.session)
    (description, connectSeconds, hostCount) = (other.description, other.connectSeconds, other.hostCount)
  }

  /// The same place, trying the hosts from another one on.
  ///
  /// A host that is silent takes up the whole time of an attempt, so each attempt should begin with another host.
  public func beginning(atHost number: Int) -> PostgresPlace {
    guard hostCount > 1 else { return self }
    let rotated = settings.map { setting in
      let list = Self.list(setting.value)
      guard ["host", "hostaddr", "port"].contains(setting.keyword), list.count == hostCount else {
        return setting
      }
      let first = ((number % hostCount) + hostCount) % hostCount
      return Setting(
        keyword: setting.keyword, value: (list[first...] + list[..<first]).joined(separator: ","))
    }
    return PostgresPlace(rotated, like: self)
  }

  /// The same place, with one of its hosts alone, whether or not that takes changes.
  public func alone(atHost number: Int) -> PostgresPlace {
    guard hostCount > 1 else { return self }
    let first = beginning(atHost: number)
    let one = first.settings.filter { $0.keyword != "target_session_attrs" }.map { setting in
      let list = Self.list(setting.value)
      guard ["host", "hostaddr", "port"].contains(setting.keyword), list.count == hostCount else {
        return setting
      }
      return Setting(keyword: setting.keyword, value: list[0])
    }
    return PostgresPlace(one, like: self)
  }

  // MARK: - What every connection is to be like

  private static func wished(_ application: String, manyHosts: Bool) -> [Setting] {
    var wished = [
      Setting(keyword: "application_name", value: application),
      Setting(keyword: "connect_timeout", value: "5"),
      // A peer that is gone without a word is noticed in four seconds, whether something is under way or not.
      Setting(keyword: "keepalives", value: "1"),
      Setting(keyword: "keepalives_idle", value: "1"),
      Setting(keyword: "keepalives_interval", value: "1"),
      Setting(keyword: "keepalives_count", value: "3"),
      Setting(keyword: "tcp_user_timeout", value: "4000"),
      // To ask for a ticket of Kerberos waits for another server.
      Setting(keyword: "gssencmode", value: "disable"),
    ]
    if manyHosts { wished.append(Setting(keyword: "target_session_attrs", value: "read-write")) }
    return wished
  }

  /// Plans that are made once, and the same patience at the server's end: a session that is cut off keeps its locks until the
  /// server notices.
  private static let options = [
    "jit=off", "plan_cache_mode=force_generic_plan", "tcp_keepalives_idle=1", "tcp_keepalives_interval=1",
    "tcp_keepalives_count=3", "tcp_user_timeout=4000",
  ]

  // MARK: - Reading

  /// Whether a password stands in it, or something that may be one: what is told of an address must not show it.
  private static func mayHoldSecret(_ address: String) -> Bool {
    guard let start = address.ranges(of: "://").first?.upperBound else { return false }
    let rest = address[start...]
    let authority = rest.prefix { !"/?#".contains($0) }
    // A password with a slash in it ends the authority too early; no name of a database or a host has this sign.
    let path = rest.dropFirst(authority.count).prefix { $0 != "?" }
    if path.contains("@") && !authority.contains("@") { return true }
    guard let at = authority.lastIndex(of: "@") else { return false }
    return authority[..<at].contains(":")
  }

  private static func parsed(_ address: String) throws(PostgresError) -> [Setting] {
    var words: UnsafeMutablePointer<CChar>?
    guard let options = PQconninfoParse(address, &words) else {
      let why = words.map { String(cString: $0) } ?? "there is no memory"
      if let words { PQfreemem(words) }
      // The library quotes what it has not understood, which may be what nobody should read.
      let isHarmless = !address.contains("@") && !address.contains("pass")
      throw PostgresError(.badPlace(isHarmless ? PostgresError.oneLine(why) : ""), at: "")
    }
    defer { PQconninfoFree(options) }
    var settings: [Setting] = []
    var option = options
    while let keyword = option.pointee.keyword {
      if let value = option.pointee.val {
        // "*" marks what is not to be shown.
        let isSecret = option.pointee.dispchar.map { String(cString: $0) == "*" } ?? false
        guard !isSecret else { throw PostgresError(.passwordInPlace, at: "") }
        settings.append(Setting(keyword: String(cString: keyword), value: String(cString: value)))
      }
      option += 1
    }
    return settings
  }

  private static func list(_ value: String) -> [String] {
    value.isEmpty ? [] : value.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
  }

  private static func shown(_ named: [String: String]) -> String {
    let hosts = list(named["host"] ?? named["hostaddr"] ?? "")
    let ports = list(named["port"] ?? "")
    let places = hosts.enumerated().map { offset, host in
      let port = offset < ports.count ? ports[offset] : ports.count == 1 ? ports[0] : ""
      return port.isEmpty ? host : "\(host):\(port)"
    }
    let service = named["service"].map { "?service=\($0)" } ?? ""
    let database = named["dbname"].map { "/\($0)" } ?? (service.isEmpty ? "" : "/")
    return PostgresError.oneLine(
      "postgres://\(named["user"].map { "\($0)@" } ?? "")\(places.joined(separator: ","))\(database)\(service)"
    )
  }
}
