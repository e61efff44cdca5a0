// Address of a database as libpq reads it, completed by the settings that this client needs.
// Invariant: the address contains no password, and its description consists of user, hosts, ports, database and
// service.
// Errors: PostgresError. An address with a password before its host is refused before the library parses it, because
// the library quotes text that it does not understand. A secret parameter is refused after parsing.
import CPostgres

/// Address of a database, such as `postgres://bank@db1,db2/bank?sslmode=verify-full`.
///
/// Missing parts are found as libpq finds them: a service file (`?service=NAME`), the environment (`PGHOST` …),
/// `~/.pgpass`. Settings that this type adds take precedence over a service file. The address takes precedence over
/// most of them, but not over `client_encoding` and the settings that determine the meaning of statements. libpq looks
/// up a host name while the process blocks; IP addresses (or `hostaddr=`) and Unix sockets need no look-up.
/// Source: https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING
public struct PostgresURL: Sendable, Hashable, CustomStringConvertible {
  /// Keyword and value of one connection parameter of libpq.
  struct Setting: Sendable, Hashable {
    var keyword: String
    var value: String
  }

  /// The displayable parts: user, hosts, ports, database and service.
  public let description: String
  /// Timeout for connecting, 2 to 600 seconds.
  public let connectSeconds: Int
  /// Parameters for the library.
  let settings: [Setting]
  /// Number of hosts in the address; 1 if it names none.
  public let hostCount: Int
  /// Settings that a session applies before its first use.
  let session: SessionSettings

  /// Parses an address.
  ///
  /// - Parameters:
  ///   - application: name of the connection on the server (`application_name` in `pg_stat_activity`).
  ///   - sessionDefaults: session settings that the address may override, such as `enable_seqscan=off`; without spaces.
  ///   - readOnly: true for sessions that must not change anything.
  ///   - schemas: schemas for unqualified names, in addition to `pg_catalog`.
  /// - Throws: `invalidURL`, `passwordInURL`.
  public init(
    _ address: String, application: String = "bank", sessionDefaults: [String] = [], readOnly: Bool = false,
    schemas: [String] = []
  ) throws(PostgresError) {
    guard address.hasPrefix("postgres://") || address.hasPrefix("postgresql://"), !address.utf8.contains(0)
    else {
      // The address is not displayed, because one of the form `host=… password=…` may contain a password.
      throw PostgresError(.invalidURL(""), at: "")
    }
    guard !Self.mayHoldSecret(address) else { throw PostgresError(.passwordInURL, at: "") }
    let given = try Self.parsed(address)
    let named = Dictionary(given.map { ($0.keyword, $0.value) }, uniquingKeysWith: { $1 })
    guard (named["port"] ?? "").split(separator: ",").allSatisfy({ UInt16($0) != nil }) else {
      throw PostgresError(.invalidURL("the port is not a number"), at: "")
    }
    let hosts = Self.list(named["hostaddr"] ?? named["host"] ?? "")
    hostCount = max(1, hosts.count)
    description = Self.shown(named)
    session = SessionSettings(readOnly: readOnly, schemas: schemas)
    // With `target_session_attrs=read-write` the library rejects a read-only session as if it were on a standby. A
    // reading session is therefore opened without it, and `PostgresServer` detects a standby.
    var settings = Self.defaultSettings(application, manyHosts: hosts.count > 1 && !readOnly)
      .filter { named[$0.keyword] == nil }
    settings += given.filter {
      $0.keyword != "options" && $0.keyword != "client_encoding"
        && !(readOnly && $0.keyword == "target_session_attrs")
    }
    settings.append(Setting(keyword: "client_encoding", value: "UTF8"))
    // If the options contain a setting twice, the server uses the later one. The address therefore overrides
    // `sessionDefaults`, but not the settings that determine the meaning of statements.
    var options = (Self.options + sessionDefaults).map { "-c \($0)" }
    if let own = named["options"] { options.append(own) }
    options += session.startOptions.map { "-c \($0)" }
    settings.append(Setting(keyword: "options", value: options.joined(separator: " ")))
    self.settings = settings
    connectSeconds = max(2, min(named["connect_timeout"].flatMap { Int($0) } ?? 5, 600))
  }

  /// The other address with these connection parameters instead of its own.
  private init(_ settings: [Setting], like other: PostgresURL) {
    (self.settings, session) = (settings, other.session)
    (description, connectSeconds, hostCount) = (other.description, other.connectSeconds, other.hostCount)
  }

  /// This address, with the list of hosts rotated to start at the host with this number.
  ///
  /// A silent host takes the whole timeout for connecting, so each new connection should start at another host.
  public func beginning(atHost number: Int) -> PostgresURL {
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
    return PostgresURL(rotated, like: self)
  }

  /// This address with only one of its hosts, and without `target_session_attrs`; an address with one host is returned
  /// unchanged.
  public func alone(atHost number: Int) -> PostgresURL {
    guard hostCount > 1 else { return self }
    let first = beginning(atHost: number)
    let one = first.settings.filter { $0.keyword != "target_session_attrs" }.map { setting in
      let list = Self.list(setting.value)
      guard ["host", "hostaddr", "port"].contains(setting.keyword), list.count == hostCount else {
        return setting
      }
      return Setting(keyword: setting.keyword, value: list[0])
    }
    return PostgresURL(one, like: self)
  }

  // MARK: - Settings of every connection

  /// Connection parameters that apply unless the address contains them.
  private static func defaultSettings(_ application: String, manyHosts: Bool) -> [Setting] {
    var defaultSettings = [
      Setting(keyword: "application_name", value: application),
      Setting(keyword: "connect_timeout", value: "5"),
      // Detects a dead peer within a few seconds, with or without data in flight.
      Setting(keyword: "keepalives", value: "1"),
      Setting(keyword: "keepalives_idle", value: "1"),
      Setting(keyword: "keepalives_interval", value: "1"),
      Setting(keyword: "keepalives_count", value: "3"),
      Setting(keyword: "tcp_user_timeout", value: "4000"),
      // Disabled, because a request for a Kerberos ticket would block the process until the Kerberos server answers.
      Setting(keyword: "gssencmode", value: "disable"),
    ]
    if manyHosts { defaultSettings.append(Setting(keyword: "target_session_attrs", value: "read-write")) }
    return defaultSettings
  }

  /// Options of each session: no JIT, generic plans, and TCP keepalive on the server's side. The session of a
  /// disconnected client keeps its locks until the server detects the disconnection.
  private static let options = [
    "jit=off", "plan_cache_mode=force_generic_plan", "tcp_keepalives_idle=1", "tcp_keepalives_interval=1",
    "tcp_keepalives_count=3", "tcp_user_timeout=4000",
  ]

  // MARK: - Parsing

  /// True if the address contains a password, or text that may be one, so that no message may display it.
  private static func mayHoldSecret(_ address: String) -> Bool {
    guard let start = address.ranges(of: "://").first?.upperBound else { return false }
    let rest = address[start...]
    let authority = rest.prefix { !"/?#".contains($0) }
    // A slash in a password ends the authority early. The path is then the rest of the password with an `@` and the
    // host, so an address with an `@` in the path and none before it is refused.
    let path = rest.dropFirst(authority.count).prefix { $0 != "?" }
    if path.contains("@") && !authority.contains("@") { return true }
    guard let at = authority.lastIndex(of: "@") else { return false }
    return authority[..<at].contains(":")
  }

  /// Connection parameters in the address, as parsed by the library. Refuses secret ones.
  private static func parsed(_ address: String) throws(PostgresError) -> [Setting] {
    var message: UnsafeMutablePointer<CChar>?
    guard let options = PQconninfoParse(address, &message) else {
      let why = message.map { String(cString: $0) } ?? "out of memory"
      if let message { PQfreemem(message) }
      // The library quotes the text that it did not understand, which may contain a secret.
      let isHarmless = !address.contains("@") && !address.contains("pass")
      throw PostgresError(.invalidURL(isHarmless ? PostgresError.oneLine(why) : ""), at: "")
    }
    defer { PQconninfoFree(options) }
    var settings: [Setting] = []
    var option = options
    while let keyword = option.pointee.keyword {
      if let value = option.pointee.val {
        // "*" marks secret options.
        let isSecret = option.pointee.dispchar.map { String(cString: $0) == "*" } ?? false
        guard !isSecret else { throw PostgresError(.passwordInURL, at: "") }
        settings.append(Setting(keyword: String(cString: keyword), value: String(cString: value)))
      }
      option += 1
    }
    return settings
  }

  /// Parts of a list that is separated by commas, such as hosts; empty for an empty text.
  private static func list(_ value: String) -> [String] {
    value.isEmpty ? [] : value.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
  }

  /// The address for messages, made of the parameters that are not secret; see ``description``.
  private static func shown(_ named: [String: String]) -> String {
    let hosts = list(named["host"] ?? named["hostaddr"] ?? "")
    let ports = list(named["port"] ?? "")
    let hostPorts = hosts.enumerated().map { offset, host in
      let port = offset < ports.count ? ports[offset] : ports.count == 1 ? ports[0] : ""
      return port.isEmpty ? host : "\(host):\(port)"
    }
    let service = named["service"].map { "?service=\($0)" } ?? ""
    let database = named["dbname"].map { "/\($0)" } ?? (service.isEmpty ? "" : "/")
    return PostgresError.oneLine(
      "postgres://\(named["user"].map { "\($0)@" } ?? "")\(hostPorts.joined(separator: ","))\(database)\(service)"
    )
  }
}
