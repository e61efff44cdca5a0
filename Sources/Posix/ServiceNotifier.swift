// Connection of a service to the manager that started it: the address of the manager, and the interval of its
// watchdog.
// Invariant: sending does not block. A message is lost if the manager's queue is full.
// Errors: the initializer returns nil if there is no manager, or if its address has an unsupported form.
import Glibc
import Time

/// Sends the state of this service to a service manager. `sd_notify(3)`, `sd_watchdog_enabled(3)`
public struct ServiceNotifier: Sendable, Equatable {
  /// The variable with the manager's address.
  public static let addressVariable = "NOTIFY_SOCKET"
  /// The variable with the watchdog interval of the manager, in microseconds.
  public static let watchdogVariable = "WATCHDOG_USEC"
  /// The variable with the pid of the process that has to send the watchdog message.
  public static let watchdogPidVariable = "WATCHDOG_PID"
  /// All variables of the protocol.
  public static let variables = [addressVariable, watchdogVariable, watchdogPidVariable]
  /// Path, or abstract address that starts with `@`.
  public let address: String
  /// Interval within which the manager expects a message; nil for none. Send one after half of the interval.
  public let watchdog: TimeSpan?

  public init(address: String, watchdog: TimeSpan? = nil) {
    (self.address, self.watchdog) = (address, watchdog)
  }

  /// The manager whose address is in an environment; nil if there is none.
  ///
  /// - Parameter pid: id of this process. A watchdog interval for another process is ignored.
  public init?(environment: EnvironmentVariables, pid: pid_t = CurrentProcess.pid) {
    guard let address = environment[Self.addressVariable], address.utf8.count > 1,
      address.hasPrefix("/") || address.hasPrefix("@")
    else { return nil }
    self.address = address
    let isMeant = environment[Self.watchdogPidVariable].map { $0 == "\(pid)" } ?? true
    let interval = environment[Self.watchdogVariable].flatMap { Int64($0) } ?? 0
    watchdog = isMeant && interval > 0 ? .microseconds(interval) : nil
  }

  /// Returns the environment without the variables of the protocol, for children that must not contact this
  /// process's manager.
  public static func strip(_ environment: EnvironmentVariables) -> EnvironmentVariables {
    environment.filter { !variables.contains($0.key) }
  }

  /// Sends a message to the manager. Returns true if the kernel has queued the message; false for an error, for a full
  /// queue, and if no manager receives at the address.
  @discardableResult
  public func tell(_ message: ServiceMessage) -> Bool {
    // The service continues whether or not the message was sent.
    (try? Datagrams.send(message.bytes, to: address)) == .sent
  }
}
