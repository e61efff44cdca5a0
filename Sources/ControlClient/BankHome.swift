// Owns where a bank keeps its socket, and how a client gets to the coordinator behind it. Connecting changes nothing on disk; a
// stale socket is the coordinator's to remove.
import Posix

/// The directory in which one bank lives.
public struct BankHome: Sendable, Hashable {
  /// The absolute path.
  public let path: String

  /// The home at an absolute path.
  public init(path: String) { self.path = path }

  /// The control socket.
  public var socket: String { Paths.join(path, "run", "bank.sock") }
  /// Where a guardian hears from its coordinator.
  public var guardianSocket: String { Paths.join(path, "run", "guardian.sock") }
  /// Whether a guardian is at work here: a coordinator that is gone will come back.
  public var isGuarded: Bool { Datagrams.isReceived(at: guardianSocket) == true }
  /// The guardians of this home that are processes of their own, by their command lines.
  public var guardians: [Int32] {
    ProcessTable.all().filter { pid in
      ProcessTable.name(of: pid) == "bank-guardian" && ProcessTable.alive(pid)
        && ProcessTable.arguments(of: pid).contains(path)
    }.sorted()
  }
  /// Where the workers log.
  public var logs: String { Paths.join(path, "logs") }
  /// The coordinator's copy of the configuration that it goes by; it is kept where a guardian is, and may be an older bank's
  /// where none is open.
  public var configurationInUse: String { Paths.join(path, "run", "configuration.json") }
  /// The bank's own configuration, where it has one.
  public var configuration: String { Paths.join(path, "bank.json") }

  /// Connects to the coordinator that is open on this home: `notOpen`, `notPermitted`, `busy`, or what greeting can bring.
  public func connect(
    patience: ControlConnection.Patience = .init()
  ) throws(ControlError) -> ControlConnection {
    let outcome: UnixSocket.ConnectOutcome
    do throws(SystemError) { outcome = try UnixSocket.connect(path: socket, nonBlocking: true) } catch {
      throw .system(error)
    }
    switch consume outcome {
    case .connected(let socket): return try ControlConnection.greet(socket, patience: patience)
    case .notThere: throw .notOpen(socket: socket, stale: false)
    case .refused: throw .notOpen(socket: socket, stale: true)
    case .permissionDenied: throw .notPermitted(socket: socket)
    case .busy: throw .busy(socket: socket)
    }
  }
}
