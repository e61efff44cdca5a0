// Owns what every part of the coordinator goes by: whose bank this is, its configuration, its log, the moment of the present
// turn, and how far the process is from its end. It knows no queue and no part.
// Invariant: all parts of one turn go by one moment, and whatever ends the process is said here and nowhere else: an exit
// code, and whether the process stops where it stands. Once it does nothing more is staged, kept or told.

import BankModel
import Configuration
import Logbook
import Posix
import QueueCore
import StockClient
import Time

/// One bank, as all parts of its coordinator know it.
final class BankContext {
  let home: BankHome
  let options: CoordinatorOptions
  let loop: EventLoop
  let log: LogFile
  let incarnation: Int64
  /// What the orders of this bank's tickets are called by at the stock.
  let booksName: BooksName
  let openedAt: Moment
  /// What ties this bank to its home besides the queue's store.
  let bindings: HomeBindings

  private(set) var configuration: BankConfiguration
  /// Both clocks, as of the beginning of this turn.
  private(set) var now: Moment
  /// Whether somebody has asked for the end of the bank.
  private(set) var isEnding = false
  /// Set when the process is to end, with its exit code.
  private(set) var exitCode: Int32?
  /// Whether nothing is promised any more, because nobody knows what is on disk or the database is gone: of what was staged
  /// or said, nothing is kept and nothing leaves.
  private(set) var isCutOff = false

  init(
    home: BankHome, options: CoordinatorOptions, configuration: BankConfiguration, loop: EventLoop,
    log: LogFile, incarnation: Int64, booksName: BooksName, now: Moment, bindings: HomeBindings
  ) {
    self.home = home
    self.options = options
    self.configuration = configuration
    self.loop = loop
    self.log = log
    self.incarnation = incarnation
    self.booksName = booksName
    self.now = now
    self.bindings = bindings
    openedAt = now
  }

  /// The language of those who are told something by a file of this bank's.
  var language: Language { options.language ?? configuration.language ?? .english }

  // MARK: - Time

  /// It is this moment now, after something has taken time.
  func takeTime() { now = loop.moment() }

  /// It is the moment at which the loop has found somebody to hear.
  func takeTimeOfWaking() { now = loop.momentOfWaking() }

  /// However long a turn was, it counts for a fraction of a lease, and of what a silent process behind the windows has.
  func listenByLease() {
    let shortest = min(configuration.lease, configuration.standstill)
    loop.attend(inStridesOf: min(shortest / 4, .seconds(1)))
  }

  /// The configuration was read again.
  func adopt(_ configuration: BankConfiguration) {
    self.configuration = configuration
    listenByLease()
  }

  /// Writes an event to the log, as of this moment.
  func write(
    event: StaticString, level: LogLevel = .info, _ fill: (inout LogFields) -> Void = { _ in }
  ) {
    log.write(event: event, level: level, at: now, fill)
  }

  // MARK: - The end

  /// Somebody has asked for the end of the bank.
  func beginEnding() { isEnding = true }

  /// The process ends after this turn.
  func end(with code: Int32) { if !isCutOff { exitCode = code } }

  /// Nothing is promised from here on.
  ///
  /// - Parameter code: The exit code of the process, which ends at once; nil while the last words are still to be spoken.
  func cutOff(with code: Int32?) { (isCutOff, exitCode) = (true, code) }
}
