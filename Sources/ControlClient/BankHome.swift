// Paths in a bank's home, and the connection of a client to the coordinator.
// Connecting changes nothing on disk.
import Posix

/// Home directory of one bank.
public struct BankHome: Sendable, Hashable {
  /// Absolute path.
  public let path: String

  public init(path: String) { self.path = path }

  /// Path of the control socket.
  public var socket: String { Paths.join(path, "run", "bank.sock") }
  /// Path of the guardian's datagram socket, which receives the coordinator's messages.
  public var guardianSocket: String { Paths.join(path, "run", "guardian.sock") }
  /// True if a guardian runs for this home.
  public var isGuarded: Bool { Datagrams.hasReceiver(at: guardianSocket) == true }
  /// Process ids of the running `bank-guardian` processes that have this home among their arguments, ascending.
  public var guardians: [Int32] {
    ProcessTable.all().filter { pid in
      ProcessTable.name(of: pid) == "bank-guardian" && ProcessTable.alive(pid)
        && ProcessTable.arguments(of: pid).contains(path)
    }.sorted()
  }
  /// Directory of the logs.
  public var logs: String { Paths.join(path, "logs") }
  /// Path of the coordinator's copy of its configuration file. The copy may be missing or out of date.
  public var configurationInUse: String { Paths.join(path, "run", "configuration.json") }
  /// Path of the bank's own configuration; the file need not exist.
  public var configuration: String { Paths.join(path, "bank.json") }

  /// Connects to the coordinator that is open on this home. Throws `notOpen`, `notPermitted`, `busy`, `system`,
  /// or another error of ``ControlConnection/greet(_:timeouts:build:)``.
  public func connect(
    timeouts: ControlConnection.Timeouts = .init()
  ) throws(ControlError) -> ControlConnection {
    let outcome: UnixSocket.ConnectOutcome
    do throws(SystemError) { outcome = try UnixSocket.connect(path: socket, nonBlocking: true) } catch {
      throw .system(error)
    }
    switch consume outcome {
    case .connected(let socket): return try ControlConnection.greet(socket, timeouts: timeouts)
    case .noSuchFile: throw .notOpen(socket: socket, stale: false)
    case .refused: throw .notOpen(socket: socket, stale: true)
    case .permissionDenied: throw .notPermitted(socket: socket)
    case .busy: throw .busy(socket: socket)
    }
  }
}
