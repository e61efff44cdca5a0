// Owns a service's line to the manager that started it: where it is, and how often the manager wants to hear something.
// It must not know what the service does.
// Invariant: telling never waits and never fails the service: a manager that does not listen misses the message.
// Failure: nil where there is no manager, or its address is of a kind that is not understood.
import Glibc
import Time

/// Tells a service manager how this service is. `sd_notify(3)`, `sd_watchdog_enabled(3)`
public struct ServiceNotifier: Sendable, Equatable {
  /// The variable with the manager's address.
  public static let addressVariable = "NOTIFY_SOCKET"
  /// The variable with the microseconds within which the manager wants a sign of life.
  public static let watchdogVariable = "WATCHDOG_USEC"
  /// The variable with the process that shall give it.
  public static let watchdogPidVariable = "WATCHDOG_PID"
  /// All of them.
  public static let variables = [addressVariable, watchdogVariable, watchdogPidVariable]
  /// A path, or an abstract address behind an `@`.
  public let address: String
  /// Within which time the manager wants a sign of life; nil where it does not. Half of it is a good pause.
  public let watchdog: TimeSpan?

  public init(address: String, watchdog: TimeSpan? = nil) {
    (self.address, self.watchdog) = (address, watchdog)
  }

  /// The manager that an environment names.
  ///
  /// - Parameter pid: this process; a watchdog that is meant for another one is none.
  public init?(environment: Variables, pid: pid_t = CurrentProcess.pid) {
    guard let address = environment[Self.addressVariable], address.utf8.count > 1,
      address.hasPrefix("/") || address.hasPrefix("@")
    else { return nil }
    self.address = address
    let isMeant = environment[Self.watchdogPidVariable].map { $0 == "\(pid)" } ?? true
    let interval = environment[Self.watchdogVariable].flatMap { Int64($0) } ?? 0
    watchdog = isMeant && interval > 0 ? .microseconds(interval) : nil
  }

  /// An environment for children who shall not speak with this process's manager.
  public static func strip(_ environment: Variables) -> Variables {
    environment.filter { !variables.contains($0.key) }
  }

  /// Tells the manager something.
  ///
  /// - Returns: whether the kernel has it for a manager that listens, or may have read it; false where nobody does.
  @discardableResult
  public func tell(_ message: ServiceMessage) -> Bool {
    // Whether it is heard changes nothing about the service.
    (try? Datagrams.send(message.bytes, to: address)) == .sent
  }
}
