// The PostgreSQL server of a chaos run over several branches: a scratch server in its own directory, from the
// system's programs, or an existing one. The only fault at an existing server is the termination of sessions.
// Invariant: nothing is left of a scratch server after `remove()`; if this process is killed, the kernel ends the
// server. At an existing server only the schema `bank`, which this run has made, is changed.
// Errors: CommandError at the start, with the output of the failed program.
import BankctlCommands
import Glibc
import Posix
import Time

final class ChaosServer {
  /// Name and password of the database user at a scratch server.
  static let user = "bank"
  private static let password = "chaos"
  /// Longest wait for a started server to accept connections, and for the exit of the processes of an ended one.
  private static let timeout = TimeSpan.seconds(60)

  /// Directory of a scratch server, with its socket; nil for an existing server.
  let directory: String?
  let port: UInt16
  /// Address of an existing server; empty for a scratch server.
  private let existingAddress: String
  private let tool: ChaosTool
  /// Directory of the server's programs.
  private let programs: String
  /// The user that runs the server if this process is root, because PostgreSQL refuses to run as root.
  private let owner: (name: String, user: uid_t, group: gid_t)?
  /// Addresses at which the server listens.
  private var addresses = ["127.0.0.1"]
  private var process: ChildProcess?

  /// Uses an existing server.
  init(at address: String, _ tool: ChaosTool) {
    (existingAddress, self.tool, directory, port, programs, owner) = (address, tool, nil, 0, "", nil)
  }

  /// Prepares a scratch server, which does not run yet.
  init(scratch tool: ChaosTool, _ session: Session) throws(CommandError) {
    guard let programs = Self.findPrograms() else {
      throw .commandFailure(.postgresMissing, session.messages.chaosHasNoServer)
    }
    (self.programs, self.tool, existingAddress) = (programs, tool, "")
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

  /// Directory of the programs of the newest installed server; nil if there is none.
  private static func findPrograms() -> String? {
    let place = "/usr/lib/postgresql"
    let versions = ((try? Directory.entries(of: place)) ?? []).compactMap { Int($0) }.sorted(by: >)
    return (versions.map { "\(place)/\($0)/bin" } + ["/usr/bin"]).first {
      (try? FileMetadata.inspect("\($0)/initdb"))?.isFile == true
    }
  }

  /// The user of PostgreSQL's packages, or else the overflow user of the kernel.
  private static func serverUser() -> (String, uid_t, gid_t)? {
    guard let user = getpwnam("postgres") ?? getpwuid(65_534) else { return nil }
    return (String(cString: user.pointee.pw_name), user.pointee.pw_uid, user.pointee.pw_gid)
  }

  /// Creates the data directory, the password file of the server and that of the clients.
  private func make() throws(CommandError) {
    let data = path("data")
    do throws(SystemError) { try write("\(Self.password)\n", to: "password") } catch { throw .system(error) }
    let made = tool.run(
      asOwner([
        "\(programs)/initdb", "--no-sync", "--no-instructions", "-D", data, "-U", Self.user,
        "--pwfile=\(path("password"))", "--locale=C", "-E", "UTF8", "--auth-local=trust",
        "--auth-host=scram-sha-256",
      ]))
    guard made.hasSucceeded else { throw .failed("initdb: \(made.output.split(separator: "\n").last ?? "")") }
    do throws(SystemError) { try write("*:*:*:\(Self.user):\(Self.password)\n", to: "pgpass") } catch {
      throw .system(error)
    }
  }

  /// Admits connections from these networks. Call before the server starts.
  func admit(_ networks: [ChaosNetwork]) throws(CommandError) {
    addresses += networks.map(\.address)
    let lines = networks.map { "host all all \($0.range) scram-sha-256\n" }.joined()
    do throws(SystemError) {
      let file = try FileDescriptor.open(path("data/pg_hba.conf"), [.writeOnly, .append])
      try file.writeAll(Array(lines.utf8))
    } catch { throw .system(error) }
  }

  /// Path of a file in the directory of a scratch server.
  private func path(_ name: String) -> String { Paths.join(directory ?? "/", name) }

  /// Writes a file that only its owner can read.
  private func write(_ text: String, to name: String) throws(SystemError) {
    let file = try FileDescriptor.open(path(name), [.writeOnly, .create, .truncate], mode: 0o600)
    try file.writeAll(Array(text.utf8))
    // The server's user reads the password file. The branches run as the user of this process, and read `pgpass`.
    if name == "password", let owner { chown(path(name), owner.user, owner.group) }
  }

  /// The command that runs a program as the server's user.
  private func asOwner(_ words: [String]) -> [String] {
    guard let owner else { return words }
    return [
      "setpriv", "--reuid", "\(owner.user)", "--regid", "\(owner.group)", "--clear-groups", "--",
    ] + words
  }

  // MARK: - Addresses

  /// Address for a client that uses the socket in a directory: the server's, or a relay's.
  func address(through socket: String, application: String) -> String {
    "postgres://\(Self.user)@/postgres?host=\(socket)&port=\(port)&application_name=\(application)"
  }

  /// Address for a branch that uses a network.
  func address(on network: ChaosNetwork, application: String) -> String {
    "postgres://\(Self.user)@\(network.address):\(port)/postgres?passfile=\(path("pgpass"))&sslmode=disable"
      + "&application_name=\(application)"
  }

  /// Address of an existing server, for a client with this application name.
  func givenAddress(application: String) -> String {
    existingAddress + (existingAddress.contains("?") ? "&" : "?") + "application_name=\(application)"
  }

  // MARK: - Running

  /// Starts the server, and returns when it accepts connections; false if it does not.
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
    let end = SystemClock.monotonic() + Self.timeout
    while process != nil, SystemClock.monotonic() < end {
      if sql("SELECT 1") == "1" { return true }
      if process?.reap() != nil { return false }
      Pause.momentarily()
    }
    return false
  }

  /// Ends the server by a signal. Waits for its exit, and for a limited time for that of its other processes: the
  /// server cannot start again before that. After SIGQUIT or SIGKILL it has to recover, as after a power loss.
  func end(_ signal: CInt) {
    guard let process, process.reap() == nil else { return }
    let others = ProcessTable.children(of: process.pid)
    process.kill(signal)
    _ = process.wait()
    let end = SystemClock.monotonic() + Self.timeout
    while others.contains(where: ProcessTable.alive), SystemClock.monotonic() < end { Pause.momentarily() }
  }

  /// Kills one of the server's processes, as the kernel may when memory is short; the server then ends all
  /// sessions.
  func kill(backend: pid_t) -> Bool {
    guard let process, ProcessTable.parent(of: backend) == process.pid,
      let held = try? ProcessHandle(pid: backend)
    else { return false }
    return held.kill(SIGKILL)
  }

  /// The first line of a statement's result; nil if it fails.
  func sql(_ statement: String) -> String? {
    let said = tool.run(psqlArguments(statement, application: "chaos"), environment: Self.variables)
    return said.hasSucceeded ? said.output.split(separator: "\n").first.map(String.init) ?? "" : nil
  }

  /// Sends long-running statements from a separate process; nil if it cannot be started.
  func beginStatements(_ statements: String, application: String) -> ChildProcess? {
    tool.begin(psqlArguments(statements, application: application), environment: Self.variables)
  }

  /// The command that sends a statement to the server.
  private func psqlArguments(_ statement: String, application: String) -> [String] {
    let address =
      directory.map { self.address(through: $0, application: application) }
      ?? givenAddress(application: application)
    return ["psql", "-XAtq", "-v", "ON_ERROR_STOP=1", "-d", address, "-c", statement]
  }

  /// Environment variables that the client library reads.
  private static var variables: EnvironmentVariables {
    Environment.all().filter { $0.key.hasPrefix("PG") || $0.key == "HOME" }
      .overlaid(by: ["PGCONNECT_TIMEOUT": "3"])
  }

  /// Process id of the server process of one of the branch's sessions; nil if the branch has no session.
  func backend(of application: String, pick: UInt64) -> pid_t? {
    let pids = sql(
      "SELECT string_agg(pid::text, ' ' ORDER BY pid) FROM pg_stat_activity WHERE application_name = '\(application)'"
    )
    let found = (pids ?? "").split(separator: " ").compactMap { pid_t($0) }
    return found.isEmpty ? nil : found[Int(pick % UInt64(found.count))]
  }

  /// Ends and removes a scratch server, also if the homes are kept: no later run could reuse its database.
  func remove() {
    guard let directory else { return }
    end(SIGINT)
    Directory.removeTree(directory)
  }
}
