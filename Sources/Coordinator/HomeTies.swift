// Owns what ties a coordinator to its home and to whoever opens the bank again when it dies: the home's lock, its signs of
// progress, and its guardian. It opens no store.
// Invariant: the lock comes before the store, and is given up after the guardian was told that everything is kept.

import Logbook
import Posix
import Time
import Wire

/// The ties of a coordinator that has its home.
package final class HomeTies {
  let options: CoordinatorOptions
  private let home: BankHome
  private let lock: HomeLock
  private let executable: String
  private let environment: Variables
  private var guardianship: Guardianship?
  /// Whether everything is kept, and the guardian was told so.
  package private(set) var hasClosed = false

  /// Takes the lock, or joins the guardian's.
  ///
  /// - Parameters:
  ///   - inherited: the lock that a guardian shares; nil where none was handed on.
  ///   - executable: the guardian's program.
  /// - Throws: why there can be no bank, as the guardian has found out or the lock says.
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

  /// The same by the words of a command line.
  package convenience init(
    _ words: [String], lock inherited: consuming FileDescriptor?, guardian executable: String
  ) throws(Failure) {
    try self.init(try CoordinatorOptions(words), lock: inherited, guardian: executable)
  }

  /// Says what a guardian has found in the way; the reasons that can be seen from here were looked at before.
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

  /// The signs of progress, which begin before the store is opened: that may take long.
  func beginPulse(loop: EventLoop, patience: TimeSpan) -> Pulse {
    let pulse = Pulse(
      home, ServiceNotifier(environment: environment), isGuarded: options.guardian != nil,
      patience: patience, loop: loop)
    pulse.progressed()
    return pulse
  }

  /// What the coordinator has of its home.
  ///
  /// - Parameter closeStore: done before anybody is told that everything is kept.
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

  /// Begins to watch the guardian, before the bank is opened.
  package func begin() { guardianship?.begin() }
}
