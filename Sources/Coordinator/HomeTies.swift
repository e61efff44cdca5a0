// Owns what ties a coordinator on a machine of somebody's own to its home, where it is guarded: the words that it was
// started with, the home's lock, and the guardian. It opens no store.
// Invariant: as in ``CoordinatorProcess``: the lock comes before the store, and is given up after the guardian was told.

import Logbook
import Posix
import Time
import Wire

/// The ties of a guarded coordinator.
package final class HomeTies {
  let options: CoordinatorOptions
  private let home: BankHome
  private let lock: HomeLock
  private let executable: String
  private var guardianship: Guardianship?
  /// Whether everything is kept, and the guardian was told so.
  package private(set) var hasClosed = false

  /// Reads the words of the command line, and takes the lock or joins the guardian's.
  ///
  /// - Parameters:
  ///   - inherited: the lock that a guardian shares; nil where none was handed on.
  ///   - executable: the guardian's program.
  /// - Throws: why there can be no bank, as the guardian has found out or the lock says.
  package init(
    _ words: [String], lock inherited: consuming FileDescriptor?, guardian executable: String
  ) throws(Failure) {
    options = try CoordinatorOptions(words)
    home = BankHome(options.home)
    try CoordinatorProcess.refuse(options.obstacle, home)
    lock = try HomeLock(home, inherited: inherited)
    self.executable = executable
  }

  /// What the coordinator has of its home.
  func bindings(loop: EventLoop, log: LogFile, patience: TimeSpan) -> HomeBindings {
    let pulse = Pulse(
      home, ServiceNotifier(environment: Environment.all()), isGuarded: options.guardian != nil,
      patience: patience, loop: loop)
    pulse.progressed()
    let guardianship = Guardianship(
      home, options, lock: lock, loop: loop, log: log, pulse: pulse, executable: executable)
    self.guardianship = guardianship
    return HomeBindings(
      guardianship: guardianship,
      close: { [unowned self] in
        guardianship.closed()
        lock.release()
        hasClosed = true
      },
      retakeLock: { [lock, home] in lock.retake(home) })
  }

  /// Begins to watch the guardian, before the bank is opened.
  package func begin() { guardianship?.begin() }
}
