// Objects that tie a coordinator to its home and guardian: the lock of the home, the heartbeats, and the watch on the
// guardian.
// Invariant: the lock is released after the guardian was notified that everything is stored.

import Logging
import Posix
import Time
import Wire

/// Lock, heartbeats and guardian of a coordinator that has the lock of its home.
package final class HomeOwnership {
  let options: CoordinatorOptions
  private let home: BankHome
  private let lock: HomeLock
  private let executable: String
  private let environment: EnvironmentVariables
  private var guardianSupervisor: GuardianSupervisor?
  /// True after everything was stored and the guardian was notified.
  package private(set) var hasClosed = false

  /// Takes the lock, or joins the guardian's lock.
  ///
  /// - Parameters:
  ///   - inherited: Lock shared by a guardian; nil if none was passed.
  ///   - executable: Path of the guardian's program.
  /// - Throws: Reason why no bank can open, found by the guardian or while taking the lock.
  init(
    _ options: CoordinatorOptions, lock inherited: consuming FileDescriptor?, guardian executable: String,
    environment: EnvironmentVariables = Environment.all()
  ) throws(Failure) {
    self.options = options
    self.executable = executable
    self.environment = environment
    home = BankHome(options.home)
    try Self.refuse(options.startBlocker, home)
    lock = try HomeLock(home, inherited: inherited)
  }

  /// Parses the arguments of a command line, then takes the lock.
  package convenience init(
    _ arguments: [String], lock inherited: consuming FileDescriptor?, guardian executable: String
  ) throws(Failure) {
    try self.init(try CoordinatorOptions(arguments), lock: inherited, guardian: executable)
  }

  /// Throws the obstacle that a guardian has found, if there is one.
  private static func refuse(
    _ startBlocker: CoordinatorOptions.StartBlocker?, _ home: BankHome
  ) throws(Failure) {
    switch startBlocker {
    case .inspected: throw Failure(.inspected, subject: home.path)
    case .occupied(let pid): throw Failure(.alreadyOpen, subject: pid, detail: home.path)
    case .unusable(let reason): throw Failure(.badHome, subject: home.path, detail: reason)
    case nil: break
    }
  }

  /// Starts the heartbeats. Call before the store is opened, because the opening may take long.
  func beginHeartbeats(loop: EventLoop, patience: TimeSpan) -> Heartbeat {
    let heartbeat = Heartbeat(
      home, ServiceNotifier(environment: environment), isGuarded: options.guardian != nil,
      patience: patience, loop: loop)
    heartbeat.progressed()
    return heartbeat
  }

  /// Resources that tie the coordinator to its home: its guardian, its lock, and the closing of its store.
  ///
  /// - Parameter closeStore: Called before the guardian is notified that everything is stored.
  func homeResources(
    _ heartbeat: Heartbeat, loop: EventLoop, log: LogFile, closeStore: @escaping () -> Void = {}
  ) -> HomeResources {
    let guardianSupervisor = GuardianSupervisor(
      home, options, lock: lock, loop: loop, log: log, heartbeat: heartbeat, executable: executable,
      environment: environment)
    self.guardianSupervisor = guardianSupervisor
    return HomeResources(
      guardianSupervisor: guardianSupervisor,
      close: { [self] in
        closeStore()
        guardianSupervisor.closed()
        lock.release()
        hasClosed = true
      },
      retakeLock: { [lock, home] in lock.retake(home) })
  }

  /// Starts to watch the guardian.
  package func begin() { guardianSupervisor?.begin() }
}
