// Owns what every part of the coordinator goes by: whose bank this is, its configuration, its log, the moment of the present
// turn, and how far the process is from its end.
// Invariant: all parts of one turn go by one moment, and whatever ends the process is said here and nowhere else: an exit
// code, and whether the process stops where it stands. Once it does nothing more is staged, kept or told.

import BankModel
import Configuration
import Logbook
import Posix
import Storage
import Time

final class BankContext {
  let home: BankHome
  let options: CoordinatorOptions
  let loop: EventLoop
  let log: LogFile
  let incarnation: Int64
  /// What the orders of this bank's tickets are called by at the stock.
  let booksName: BooksName
  /// What its commands and workers are recognized by; nil where nothing can be.
  let lineage: Lineage?
  let openedAt: Moment
  /// What ties this bank to its home besides the queue's store.
  let bindings: HomeBindings

  private(set) var configuration: BankConfiguration
  /// What the services are called, and which of them the configuration names.
  private(set) var services: OfferedServices
  /// Both clocks, as of the beginning of this turn.
  private(set) var now: Moment
  private(set) var isEnding = false
  /// Set when the process is to end, with its exit code.
  private(set) var exitCode: Int32?
  /// Whether nothing is promised any more, because nobody knows what is on disk or the database is gone: of what was staged
  /// or said, nothing is kept and nothing leaves.
  private(set) var isCutOff = false

  init(
    home: BankHome, options: CoordinatorOptions, configuration: BankConfiguration,
    services: ServiceDirectory, loop: EventLoop, log: LogFile, incarnation: Int64, booksName: BooksName,
    now: Moment, bindings: HomeBindings
  ) {
    self.home = home
    self.options = options
    self.configuration = configuration
    self.services = OfferedServices(services, offering: configuration.services)
    kinds = ServiceKinds(configuration, self.services)
    self.loop = loop
    self.log = log
    self.incarnation = incarnation
    self.booksName = booksName
    lineage = Lineage(of: home, booksName)
    self.now = now
    self.bindings = bindings
    openedAt = now
  }

  /// Who serves the customers of which service.
  private(set) var kinds: ServiceKinds

  /// What a window is called.
  func name(of window: Window) -> String { services.directory.name(of: window) }

  var language: Language { options.language ?? configuration.language ?? .english }
  func takeTime() { now = loop.moment() }
  /// It is the moment at which the loop has found somebody to hear.
  func takeTimeOfWaking() { now = loop.momentOfWaking() }

  /// However long a turn was, it counts for a fraction of a lease, and of what a silent process behind the windows has.
  func listenByLease() {
    let shortest = min(configuration.lease, configuration.standstill)
    loop.attend(inStridesOf: min(shortest / 4, .seconds(1)))
  }

  func adopt(_ configuration: BankConfiguration, _ directory: ServiceDirectory) {
    self.configuration = configuration
    services = OfferedServices(directory, offering: configuration.services)
    kinds = ServiceKinds(configuration, services)
    listenByLease()
  }

  func write(event: StaticString, level: LogLevel = .info, _ fill: (inout LogFields) -> Void = { _ in }) {
    log.write(event: event, level: level, at: now, fill)
  }

  func beginEnding() { isEnding = true }
  /// The process ends after this turn.
  func end(with code: Int32) { if !isCutOff { exitCode = code } }

  /// Nothing is promised from here on.
  /// - Parameter code: The exit code of the process, which ends at once; nil while the last words are still to be spoken.
  func cutOff(with code: Int32?) { (isCutOff, exitCode) = (true, code) }
}

/// What ties an open bank to its home on disk besides the queue's store. A bank without a home has none of it.
struct HomeBindings {
  /// True if everything of the home's table is there: false in a world without a disk.
  var hasHome = false
  /// What the books remember of the databases beside them.
  var memory: SQLiteStore?
  /// What is done when the store's files are removed.
  var files: DatabaseFiles?
  /// The customers in the hands of commands and workers, for the coordinator after this one; nil if they are not noted.
  var hands: HandTable?
  /// The tie to whoever opens the bank again when this process dies.
  var guardianship: Guardianship?
  /// Closes the store and gives up the lock, when everything is kept and before the last word is spoken.
  var close: () -> Void = {}
  /// Takes the lock again, whose file was removed; false where somebody else has it at this moment.
  var retakeLock: () -> Bool = { true }
  /// Holds room back again, which was removed.
  var renewReserve: () -> Void = {}
  /// Writes the note again that says which books the bank has opened.
  var renewStoreNote: () -> Void = {}
  /// Sends standard error to the logs again, whose directory was removed and is there again.
  var renewLogs: () -> Void = {}
}
