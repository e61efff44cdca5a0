// Ties of a coordinator to its home and guardian: the lock of the home, the heartbeats and the guardian.
// Invariant: the lock is taken before the store is opened, and released after the guardian was notified that everything
// is stored.

import Logbook
import Posix
import Time
import Wire

/// Ties of a coordinator that holds the lock of its home.
package final class HomeTies {
  let options: CoordinatorOptions
  private let home: BankHome
  private let lock: HomeLock
  private let executable: String
  private let environment: Variables
  private var guardianship: Guardianship?
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
    environment: Variables = Environment.all()
  ) throws(Failure) {
    self.options = options
    self.executable = executable
    self.environment = environment
    home = BankHome(options.home)
    try Self.refuse(options.obstacle, home)
    lock = try HomeLock(home, inherited: inherited)
  }

  /// Parses the arguments of a command line, then takes the lock.
  package convenience init(
    _ words: [String], lock inherited: consuming FileDescriptor?, guardian executable: String
  ) throws(Failure) {
    try self.init(try CoordinatorOptions(words), lock: inherited, guardian: executable)
  }

  /// Throws the obstacle that a guardian has found. Obstacles that this process can detect itself were checked
  /// before.
  private static func refuse(
    _ obstacle: CoordinatorOptions.Obstacle?, _ home: BankHome
  ) throws(Failure) {
    switch obstacle {
    case .inspected: throw Failure(.inspected, subject: home.path)
    case .occupied(let pid): throw Failure(.alreadyOpen, subject: pid, detail: home.path)
    case .unusable(let reason): throw Failure(.badHome, subject: home.path, detail: reason)
    case nil: break
    }
  }

  /// Starts the heartbeats, before the store is opened, because the opening of the store may take long.
  func beginPulse(loop: EventLoop, patience: TimeSpan) -> Pulse {
    let pulse = Pulse(
      home, ServiceNotifier(environment: environment), isGuarded: options.guardian != nil,
      patience: patience, loop: loop)
    pulse.progressed()
    return pulse
  }

  /// Bindings of the coordinator to its home.
  ///
  /// - Parameter closeStore: Called before the guardian is notified that everything is stored.
  func bindings(
    _ pulse: Pulse, loop: EventLoop, log: LogFile, closeStore: @escaping () -> Void = {}
  ) -> HomeBindings {
    let guardianship = Guardianship(
      home, options, lock: lock, loop: loop, log: log, pulse: pulse, executable: executable,
      environment: environment)
    self.guardianship = guardianship
    return HomeBindings(
      guardianship: guardianship,
      close: { [self] in
        closeStore()
        guardianship.closed()
        lock.release()
        hasClosed = true
      },
      retakeLock: { [lock, home] in lock.retake(home) })
  }

  /// Starts to watch the guardian, before the bank is opened.
  package func begin() { guardianship?.begin() }
}
