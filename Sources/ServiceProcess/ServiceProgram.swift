// Owns what a service brings into its process: its name, its configuration, what it keeps in its database, and what it is at
// work. Everything else of the process is ServiceProcess's.

import BankModel
import Logbook
import Posix
import QueueCore
import Storage
import Transport
import Wire

/// A service as its process runs it.
public protocol ServiceProgram {
  /// What meets the database.
  associatedtype Desk: ServiceDesk

  /// The executable, as people see it in `ps`: `bank-stockd`.
  static var executable: String { get }
  /// What the files of the service are called: `stock`.
  static var name: String { get }
  /// What the service is to the coordinator.
  static var role: PeerRole { get }
  /// What it is called in a complaint, in English: `the stock service`.
  static var title: String { get }
  /// The options that name a file, without `--home`: the first is the service's configuration.
  static var fileOptions: [String] { get }

  /// Reads the configuration; nil stands for the one that is built in.
  init(configuration path: String?) throws(Failure)

  /// Opens the database and loads what is in it.
  ///
  /// - Parameters:
  ///   - identity: the number by which a new database tells itself from all others.
  ///   - onProgress: see `DatabaseStore`.
  func open(
    _ path: String, identity: Int64, onProgress: @escaping () -> Void
  ) throws(StoreError) -> (DatabaseStore, Desk)

  /// The service, to which nobody can connect yet.
  func service(
    _ desk: Desk, in home: ServiceHome, on loop: EventLoop, log: LogFile, link: ParentLink?
  ) -> any RunningService

  /// What the command line asks for in place of serving; the exit code, or nil where it asks for nothing else.
  static func runInstead(_ options: ServiceOptions) throws -> Int32?
}

extension ServiceProgram {
  /// Nothing else.
  public static func runInstead(_ options: ServiceOptions) throws -> Int32? { nil }
}

/// What meets the database of a service: everything of a turn is one commit.
public protocol ServiceDesk: AnyObject {
  /// The number by which the database tells itself from all others.
  var identity: Int64 { get }
  /// What the disk has done that cannot be lived with. Nothing is done any more after it.
  var failure: StoreError? { get }

  /// Puts everything that was staged on disk; the answers follow.
  func commit(at now: Moment)
  /// Tells the service what its store has found of room.
  func noteRoom(at now: Moment)
  /// The files of the store are not what they were: nothing is done any more.
  func end(because error: StoreError)
}

/// A service at work.
public protocol RunningService: AnyObject {
  /// The database, as it tells of itself; nil where nobody wants to know.
  var mark: DatabaseMark? { get set }
  /// Writes down the opening of the bank with which the database is used.
  var remember: ((BankMark) throws(StoreError) -> Void)? { get set }

  /// Begins to listen.
  ///
  /// - Parameter files: what is done when the files of the database are removed; nil where it has none.
  func open(in home: ServiceHome, _ files: DatabaseFiles?) throws
  /// Asks the service to answer what it has heard, and to end.
  func askToEnd()
  /// Runs until the end, and returns the code to exit with.
  func run() throws(SystemError) -> Int32
}
