// Owns what a service brings into its process: its name, its configuration, and what it keeps in its database. Everything else
// of the process is ServiceProcess's.

import BankModel
import Posix
import QueueCore
import Storage
import Transport
import Wire

/// A service as its process runs it.
public protocol ServiceProgram {
  /// The service at work.
  associatedtype Handler: ServiceHandler

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

  /// Opens the database, loads what is in it, and makes the service of it, to which nobody can connect yet.
  ///
  /// - Parameters:
  ///   - identity: the number by which a new database tells itself from all others.
  ///   - onProgress: see `DatabaseStore`.
  func open(
    _ home: ServiceHome, on loop: EventLoop, identity: Int64, onProgress: @escaping () -> Void
  ) throws(StoreError) -> (DatabaseStore, Handler)

  /// What the command line asks for in place of serving; the exit code, or nil where it asks for nothing else.
  static func runInstead(_ options: ServiceOptions) throws -> Int32?
}

extension ServiceProgram {
  /// Nothing else.
  public static func runInstead(_ options: ServiceOptions) throws -> Int32? { nil }
}
