// A PostgreSQL server of a test's own: a fresh cluster in a scratch directory, from Debian's programs, on a
// Unix socket and on a free port of 127.0.0.1. No service of the system is touched. Invariant: server and
// directory are removed with the cluster, and also when the test process is killed: a shell owns them and
// notices the end of its descriptor 3. Failure: the test that requested the cluster fails with the server's
// own message.
import Glibc
import Posix
import PosixFixture
import Testing
import Time

/// Concurrent tests may share one: they only use its address.
public final class PostgresCluster: @unchecked Sendable {
  /// True if the programs of a server are installed; `scripts/setup tests` installs them.
  public static var isInstalled: Bool { programs != nil }
  /// The owner of the cluster; over TCP the server requires the user's password.
  public static let user = "bank"
  public static let password = "kimchi-jjigae"

  public let directory: String
  public let port: UInt16
  /// A file for `passfile=` with the password.
  public var passwordFile: String { Paths.join(directory, "pgpass") }
  private let supervisor: ChildProcess
  private let commandPipe: FileDescriptor
  private var data: String { Paths.join(directory, "data") }

  /// The directory of the newest server that is installed. /usr/local may have unrelated programs.
  private static let programs: String? = {
    let place = "/usr/lib/postgresql"
    let versions = ((try? Directory.entries(of: place)) ?? []).compactMap { Int($0) }.sorted(by: >)
    return (versions.map { "\(place)/\($0)/bin" } + ["/usr/bin"]).first { access("\($0)/initdb", X_OK) == 0 }
  }()

  private static let supervisorScript = """
    PATH=$1:/usr/bin:/bin; cd "$2" || exit 1; port=$3; shift 3; umask 077
    server=
    while read -r word more <&3; do
      case $word in
        copy) pg_basebackup $more -U bank -D data -R -X stream -c fast --no-sync >>log 2>&1 && : >made || : >failed ;;
        make) initdb --no-sync --no-instructions -D data -U bank --pwfile=password --locale=C -E UTF8 \
            --auth-local=trust --auth-host=scram-sha-256 >>log 2>&1 && : >made || : >failed ;;
        start) [ -z "$server" ] || wait "$server"
          postgres -D data -k "$PWD" -c listen_addresses=127.0.0.1 -p "$port" "$@" >>log 2>&1 3<&- & server=$! ;;
        stop) kill -INT "$server"; wait "$server"; server=; : >stopped ;;
        quit) kill -QUIT "$server"; wait "$server"; server=; : >stopped ;;
      esac
    done
    [ -z "$server" ] || { kill -CONT "$server"; kill -QUIT "$server"; wait "$server"; } 2>/dev/null
    rm -rf "$PWD"
    """

  /// Creates a cluster and starts its server.
  ///
  /// - Parameter settings: as on the server's command line, such as `max_connections=20`. It waits for its
  ///   disk (`fsync`) unless they turn that off.
  public convenience init(_ settings: [String] = []) throws { try self.init(settings, copyOf: nil) }

  /// Creates a standby that follows a server, and starts it. It becomes a server of its own with
  /// `pg_promote()`.
  public convenience init(standbyOf primary: PostgresCluster, _ settings: [String] = []) throws {
    try self.init(settings, copyOf: primary)
  }

  private init(_ settings: [String], copyOf primary: PostgresCluster?) throws {
    let programs = try #require(
      Self.programs, "there is no PostgreSQL server; scripts/setup tests installs it")
    var template = Array("/tmp/postgres-tests-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw SystemError(call: "mkdtemp", subject: "/tmp", code: errno) }
    directory = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    guard let listener = try InternetSocket.listen(port: 0) else {
      throw SystemError(call: "bind", subject: "127.0.0.1", code: EADDRINUSE)
    }
    port = try InternetSocket.port(of: listener)
    try listener.close()
    let pair = try UnixSocket.pair()
    commandPipe = pair.first
    let words =
      ["-c", Self.supervisorScript, "keeper", programs, directory, "\(port)"]
      + settings.flatMap { ["-c", $0] }
    var command = ["/bin/sh"] + words
    if geteuid() == 0 {
      // The server refuses to run as root. 65534 is the overflow user of the kernel, which owns no files.
      let owner = try #require(getpwnam("postgres") ?? getpwuid(65_534), "there is no user for the server")
      chown(directory, owner.pointee.pw_uid, owner.pointee.pw_gid)
      command =
        ["/usr/bin/setpriv", "--reuid", "\(owner.pointee.pw_uid)", "--regid", "\(owner.pointee.pw_gid)"]
        + ["--clear-groups"] + command
    }
    supervisor = try ChildProcess.spawn(
      executable: command[0], arguments: Array(command.dropFirst()),
      environment: ["LC_ALL": "C", "TZ": "UTC", "PATH": "/usr/bin:/bin"], channel: pair.second,
      standardError: .null, newSession: true)
    try write(Self.password, to: "password", readable: true)
    try write("*:*:*:\(Self.user):\(Self.password)\n", to: "pgpass")
    try sendCommand(primary.map { "copy -h \($0.directory) -p \($0.port)" } ?? "make")
    let isMade = try eventually {
      access(file("made"), F_OK) == 0 || access(file("failed"), F_OK) == 0
    }
    try #require(isMade && access(file("made"), F_OK) == 0, "initdb: \(log)")
    try start()
  }

  deinit {
    try? UnixSocket.shutdownWriting(commandPipe)
    _ = supervisor.wait()
    Directory.removeTree(directory)
  }

  /// An address of the cluster over its Unix socket, without a password.
  public func address(_ database: String = "postgres", _ more: String = "") -> String {
    "postgres://\(Self.user)@/\(database)?host=\(directory)&port=\(port)\(more)"
  }

  /// An address of the cluster over TCP, with a password.
  public func internetAddress(_ database: String = "postgres", _ more: String = "") -> String {
    "postgres://\(Self.user)@127.0.0.1:\(port)/\(database)?sslmode=disable\(more)"
  }

  /// The server's log.
  public var log: String { (try? contents(of: file("log"))) ?? "" }

  /// The first process of the server that runs now.
  public var postmaster: pid_t {
    get throws { try #require(words().first.flatMap { pid_t($0) }, "the server has written no number") }
  }

  /// Starts the server again, and waits until it accepts connections.
  public func start() throws {
    let former = words().first
    try sendCommand("start")
    let isReady = try eventually {
      let words = words()
      // After a kill the file of the former server is still there.
      return words.count > 7 && words[0] != former
        && (words[7].hasPrefix("ready") || words[7].hasPrefix("standby"))
    }
    try #require(isReady, "the server does not start: \(log)")
  }

  /// Stops the server regularly, and waits for its end.
  public func stop() throws { try end("stop") }
  /// Stops the server at once, as after a loss of power, and waits for its end.
  public func stopAtOnce() throws { try end("quit") }

  private func end(_ word: String) throws {
    unlink(file("stopped"))
    try sendCommand(word)
    try #require(try eventually { access(file("stopped"), F_OK) == 0 })
  }

  /// Kills the first process of the server, and waits until the others have noticed and are gone, too: before
  /// that no server can start again.
  public func killServer() throws {
    let first = try postmaster
    let others = try Directory.entries(of: "/proc").compactMap { pid_t($0) }.filter {
      Self.parent(of: $0) == first
    }
    try #require(kill(first, SIGKILL) == 0)
    try #require(try eventually { others.allSatisfy { Self.parent(of: $0) == nil } })
  }

  /// The parent of a process; nil for one that has ended, reaped or not. proc(5)
  private static func parent(of pid: pid_t) -> pid_t? {
    guard let text = try? contents(of: "/proc/\(pid)/stat"), let name = text.lastIndex(of: ")") else {
      return nil
    }
    let words = text[name...].split(separator: " ")
    return words.count > 2 && words[1] != "Z" ? pid_t(words[2]) : nil
  }

  /// Sends a signal to a process of this server, by the number that a connection reports.
  public func signal(backend: Int32, _ number: CInt) throws {
    try #require(backend > 1 && kill(backend, number) == 0)
  }

  private func words() -> [Substring] {
    let text = (try? contents(of: Paths.join(data, "postmaster.pid"))) ?? ""
    return text.split(separator: "\n", omittingEmptySubsequences: false)
  }

  private func file(_ name: String) -> String { Paths.join(directory, name) }

  private func write(_ text: String, to name: String, readable: Bool = false) throws {
    let target = try FileDescriptor.open(
      file(name), [.writeOnly, .create, .truncate], mode: readable ? 0o644 : 0o600)
    _ = try target.write(Array(text.utf8))
  }

  private func sendCommand(_ word: String) throws {
    _ = try Array("\(word)\n".utf8).withUnsafeBytes { try commandPipe.send($0) }
  }
}
