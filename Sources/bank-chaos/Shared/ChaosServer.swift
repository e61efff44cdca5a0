// Owns the PostgreSQL server of a chaos run over several branches: a scratch one in a directory of its own, from the system's
// programs, or one that is there and only has its sessions ended. No service of the system is touched.
// Invariant: of a scratch server nothing is left when it was removed; should this process be killed, the kernel ends the server.
// What is at a server that is there is left alone, but for the schema `bank`, which this run has made.
// Failure: CommandError at the start, with the words of the program that failed.
import Console
import Glibc
import Posix
import Time

final class ChaosServer {
  static let user = "bank"
  private static let password = "chaos"
  /// How long a server may take to take connections again.
  private static let patience = TimeSpan.seconds(60)

  /// Where its socket is; nil for a server that is there.
  let directory: String?
  let port: UInt16
  private let given: String
  private let tool: ChaosTool
  private let programs: String
  /// Who runs it, where that is somebody else: the server refuses to be root.
  private let owner: (name: String, user: uid_t, group: gid_t)?
  private var addresses = ["127.0.0.1"]
  private var process: ChildProcess?

  /// A server that is there.
  init(at address: String, _ tool: ChaosTool) {
    (given, self.tool, directory, port, programs, owner) = (address, tool, nil, 0, "", nil)
  }

  /// A scratch server, which does not run yet.
  init(scratch tool: ChaosTool, _ session: Session) throws(CommandError) {
    guard let programs = Self.findPrograms() else {
      throw .complaint(.postgresMissing, session.words.chaosHasNoServer)
    }
    (self.programs, self.tool, given) = (programs, tool, "")
    let directory = "/tmp/bank-chaos-pg-\(String(RandomSeed.fromSystem() >> 20, radix: 36))"
    self.directory = directory
    owner = CurrentProcess.uid == 0 ? Self.serverUser() : nil
    do throws(SystemError) {
      try Directory.create(path: directory, recursive: false)
      guard let listener = try InternetSocket.listen(port: 0) else {
        throw SystemError(call: "bind", subject: "127.0.0.1", code: EADDRINUSE)
      }
      port = try InternetSocket.port(of: listener)
    } catch { throw .system(error) }
    if let owner { chown(directory, owner.user, owner.group) }
    try make()
  }

  private static func findPrograms() -> String? {
    let place = "/usr/lib/postgresql"
    let versions = ((try? Directory.entries(of: place)) ?? []).compactMap { Int($0) }.sorted(by: >)
    return (versions.map { "\(place)/\($0)/bin" } + ["/usr/bin"]).first {
      (try? FileFacts.inspect("\($0)/initdb"))?.isFile == true
    }
  }

  private static func serverUser() -> (String, uid_t, gid_t)? {
    for name in ["postgres", "nobody"] {
      if let user = getpwnam(name) { return (name, user.pointee.pw_uid, user.pointee.pw_gid) }
    }
    return nil
  }

  private func make() throws(CommandError) {
    let data = path("data")
    do throws(SystemError) { try write("\(Self.password)\n", to: "password") } catch { throw .system(error) }
    let made = tool.run(
      asOwner([
        "\(programs)/initdb", "--no-sync", "--no-instructions", "-D", data, "-U", Self.user,
        "--pwfile=\(path("password"))", "--locale=C", "-E", "UTF8", "--auth-local=trust",
        "--auth-host=scram-sha-256",
      ]))
    guard made.isGood else { throw .failed("initdb: \(made.output.split(separator: "\n").last ?? "")") }
    do throws(SystemError) { try write("*:*:*:\(Self.user):\(Self.password)\n", to: "pgpass") } catch {
      throw .system(error)
    }
  }

  /// Lets those in who come by way of these networks, to these addresses; before the server starts.
  func admit(_ networks: [ChaosNetwork]) throws(CommandError) {
    addresses += networks.map(\.address)
    let lines = networks.map { "host all all \($0.range) scram-sha-256\n" }.joined()
    do throws(SystemError) {
      let file = try FileDescriptor.open(path("data/pg_hba.conf"), [.writeOnly, .append])
      try file.writeAll(Array(lines.utf8))
    } catch { throw .system(error) }
  }

  private func path(_ name: String) -> String { Paths.join(directory ?? "/", name) }

  private func write(_ text: String, to name: String) throws(SystemError) {
    let file = try FileDescriptor.open(path(name), [.writeOnly, .create, .truncate], mode: 0o600)
    try file.writeAll(Array(text.utf8))
    // The server's user reads the password, and the branches, who are this one, read the other.
    if name == "password", let owner { chown(path(name), owner.user, owner.group) }
  }

  private func asOwner(_ words: [String]) -> [String] {
    guard let owner else { return words }
    return [
      "setpriv", "--reuid", "\(owner.user)", "--regid", "\(owner.group)", "--clear-groups", "--",
    ] + words
  }

  // MARK: - Addresses

  /// The address of a branch that comes by the socket in a directory: the server's, or a relay's.
  func address(through socket: String, application: String) -> String {
    "postgres://\(Self.user)@/postgres?host=\(socket)&port=\(port)&application_name=\(application)"
  }

  /// The address of a branch that comes by a network.
  func address(on network: ChaosNetwork, application: String) -> String {
    "postgres://\(Self.user)@\(network.address):\(port)/postgres?passfile=\(path("pgpass"))&sslmode=disable"
      + "&application_name=\(application)"
  }

  /// The address of a branch of a server that is there.
  func givenAddress(application: String) -> String {
    given + (given.contains("?") ? "&" : "?") + "application_name=\(application)"
  }

  // MARK: - Running

  /// Starts it, and returns when it takes connections; false where it does not.
  func start() -> Bool {
    guard let directory else { return true }
    let words =
      [
        "setpriv", "--pdeathsig", "QUIT", "--", "\(programs)/postgres", "-D", path("data"), "-k", directory,
        "-p",
        "\(port)", "-c", "listen_addresses=\(addresses.joined(separator: ","))", "-c", "max_connections=200",
      ]
    let all = asOwner(words)
    guard let program = ChaosTool.find(all[0]) else { return false }
    process = try? ChildProcess.spawn(
      executable: program, arguments: Array(all.dropFirst()), environment: ChaosTool.variables,
      standardOutput: .append(path: path("log")), standardError: .append(path: path("log")), newSession: true)
    let end = SystemClock.monotonic() + Self.patience
    while process != nil, SystemClock.monotonic() < end {
      if sql("SELECT 1") == "1" { return true }
      if process?.reap() != nil { return false }
      Pause.momentarily()
    }
    return false
  }

  /// Ends it, with SIGQUIT as after a loss of power or with SIGKILL, and waits until all of its processes are gone: before that
  /// none starts again.
  func end(_ signal: CInt) {
    guard let process, process.reap() == nil else { return }
    let others = ProcessTable.children(of: process.pid)
    process.kill(signal)
    _ = process.wait()
    let end = SystemClock.monotonic() + Self.patience
    while others.contains(where: ProcessTable.alive), SystemClock.monotonic() < end { Pause.momentarily() }
  }

  /// Kills one of its processes, as the system may when it is out of memory; the server then ends all sessions by itself.
  func kill(backend: pid_t) -> Bool {
    guard let process, ProcessTable.parent(of: backend) == process.pid,
      let held = try? OtherProcess(pid: backend)
    else { return false }
    return held.kill(SIGKILL)
  }

  /// What a statement says, in one line; nil where it fails.
  func sql(_ statement: String) -> String? {
    let said = tool.run(asking(statement, application: "chaos"), environment: Self.variables)
    return said.isGood ? said.output.split(separator: "\n").first.map(String.init) ?? "" : nil
  }

  /// Sends statements that take long, by a process of their own; nil where it cannot be started.
  func beginStatements(_ statements: String, application: String) -> ChildProcess? {
    tool.begin(asking(statements, application: application), environment: Self.variables)
  }

  private func asking(_ statement: String, application: String) -> [String] {
    let address =
      directory.map { self.address(through: $0, application: application) }
      ?? givenAddress(application: application)
    return ["psql", "-XAtq", "-v", "ON_ERROR_STOP=1", "-d", address, "-c", statement]
  }

  /// What the library of the server's takes from the environment.
  private static var variables: Variables {
    Environment.all().filter { $0.key.hasPrefix("PG") || $0.key == "HOME" }
      .overlaid(by: ["PGCONNECT_TIMEOUT": "3"])
  }

  /// A process of the server for a branch.
  func backend(of application: String, pick: UInt64) -> pid_t? {
    let pids = sql(
      "SELECT string_agg(pid::text, ' ' ORDER BY pid) FROM pg_stat_activity WHERE application_name = '\(application)'"
    )
    let found = (pids ?? "").split(separator: " ").compactMap { pid_t($0) }
    return found.isEmpty ? nil : found[Int(pick % UInt64(found.count))]
  }

  /// Takes it away. A home that is kept is of use without the books, too, and they are in the way of the next run.
  func remove() {
    guard let directory else { return }
    end(SIGINT)
    Directory.removeTree(directory)
  }
}
