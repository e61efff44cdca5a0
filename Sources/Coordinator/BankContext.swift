// State that all parts of the coordinator share: identity of the bank, configuration, log, time of the present
// iteration, and whether and how the process exits.
// Invariant: after a cut-off nothing more is staged or stored.

import BankModel
import Configuration
import Logging
import Posix
import Storage
import Time

final class BankContext {
  let home: BankHome
  let options: CoordinatorOptions
  let loop: EventLoop
  let log: LogFile
  let incarnation: Int64
  /// Identity of the bank's database, which is part of the names of its orders at the stock.
  let bankID: BankID
  /// Marks that identify the bank's commands and workers; nil if there are none.
  let processIdentity: HomeProcessIdentity?
  let openedAt: Moment
  let bindings: HomeResources

  private(set) var configuration: BankConfiguration
  /// Service names, and the set of configured services.
  private(set) var services: OfferedServices
  /// Reading of all clocks, as of the last call of ``updateTime()`` or ``updateTimeToWakeup()``.
  private(set) var now: Moment
  /// True from the start of a drain.
  private(set) var isEnding = false
  /// Exit code of the process; nil until it is to exit.
  private(set) var exitCode: Int32?
  /// True after a cut-off: no guarantee can be given any more, for example because the state of the disk is unknown.
  /// Staged changes are not stored.
  private(set) var isHalted = false

  init(
    home: BankHome, options: CoordinatorOptions, configuration: BankConfiguration,
    services: ServiceDirectory, loop: EventLoop, log: LogFile, incarnation: Int64, bankID: BankID,
    now: Moment, bindings: HomeResources
  ) {
    self.home = home
    self.options = options
    self.configuration = configuration
    self.services = OfferedServices(services, offering: configuration.services)
    kinds = ServiceKinds(configuration, self.services)
    self.loop = loop
    self.log = log
    self.incarnation = incarnation
    self.bankID = bankID
    processIdentity = HomeProcessIdentity(of: home, bankID)
    self.now = now
    self.bindings = bindings
    openedAt = now
  }

  private(set) var kinds: ServiceKinds

  /// Name of a window or of the place of an outside worker, for example `run-1`.
  func name(of window: Window) -> String { services.directory.name(of: window) }

  /// Language of texts: that of the command line, or else that of the configuration.
  var language: Language { options.language ?? configuration.language ?? .english }
  func updateTime() { now = loop.moment() }
  /// Sets the time to the moment at which the loop woke up with events.
  func updateTimeToWakeup() { now = loop.momentOfLastPoll() }

  /// Limits the listening time that one iteration counts, however long the iteration takes.
  func limitIterationShare() {
    let shortest = min(configuration.lease, configuration.watchdogTimeout)
    loop.trackListening(inStepsOf: min(shortest / 4, .seconds(1)))
  }

  /// Replaces the configuration after a reload, with the services of the directory.
  func adopt(_ configuration: BankConfiguration, _ directory: ServiceDirectory) {
    self.configuration = configuration
    services = OfferedServices(directory, offering: configuration.services)
    kinds = ServiceKinds(configuration, services)
    limitIterationShare()
  }

  func write(event: StaticString, level: LogLevel = .info, _ fill: (inout LogFields) -> Void = { _ in }) {
    log.write(event: event, level: level, at: now, fill)
  }

  func beginEnding() { isEnding = true }
  /// Lets the process exit after this iteration. No effect after a cut-off.
  func end(with code: Int32) { if !isHalted { exitCode = code } }

  /// Cuts the process off: from now on it gives no guarantees; see ``isHalted``.
  /// - Parameter code: Exit code if the process is to exit at once; nil if the final messages are still to be
  ///   sent.
  func halt(with code: Int32?) { (isHalted, exitCode) = (true, code) }
}

/// Resources that tie an open bank to its home on disk: files, lock and guardian.
struct HomeResources {
  /// True if an audit may expect the files of the home.
  var hasHome = false
  /// Database in the home, which also records the identities of the services' databases; nil if there is none.
  var databaseRecords: SQLiteStore?
  /// Files of the database, for the check that they were not removed.
  var files: DatabaseFiles?
  /// Table of customers in flight at commands and workers, for the next coordinator; nil if there is none.
  var inFlightTable: InFlightTable?
  /// Link to the guardian, which restarts this process when it dies.
  var guardianSupervisor: GuardianSupervisor?
  /// Closes the store and releases the lock.
  var close: () -> Void = {}
  /// Takes the lock again after its file was removed. Returns false if the lock could not be taken.
  var retakeLock: () -> Bool = { true }
  /// Allocates the disk reserve again after it was removed.
  var renewReserve: () -> Void = {}
  /// Writes again the marker file that names the opened database.
  var restoreStoreMarkerFile: () -> Void = {}
  /// Redirects standard error again after the log directory was removed and created again.
  var reopenLogs: () -> Void = {}
}
