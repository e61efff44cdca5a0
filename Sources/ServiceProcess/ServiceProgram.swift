// Owns what a service brings into its process: its name, its configuration, and what it keeps in its database. Everything else
// of the process is ServiceProcess's.

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
  /// - Parameter identity: the number by which a new database tells itself from all others.
  /// - Parameter onProgress: see `DatabaseStore`.
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

/// The command line of a service: `--home DIR [--existing]`, and options that each name a file.
public struct ServiceOptions: Sendable, Equatable {
  /// The home, absolute.
  public var home = ""
  /// Whether there must be a database already: there was one when the bank was opened.
  public var mustExist = false
  /// The files that were named, by their options.
  public var files: [String: String] = [:]

  /// The same with files that are found from any directory.
  func absolute() throws(SystemError) -> ServiceOptions {
    var options = self
    for (option, path) in files { options.files[option] = try Paths.absolute(path) }
    return options
  }

  /// Reads the words behind the program's name; `title` is who is told that there is no such option.
  public init(_ arguments: [String], fileOptions: [String], title: String) throws(Failure) {
    var words = arguments[...]
    while let word = words.popFirst() {
      switch word {
      case "--existing": mustExist = true
      default:
        guard let value = words.popFirst() else {
          throw Failure(.badRequest, subject: word, detail: "the option has no value")
        }
        guard word == "--home" || fileOptions.contains(word) else {
          throw Failure(.badRequest, subject: word, detail: "\(title) has no such option")
        }
        if word == "--home" { home = value } else { files[word] = value }
      }
    }
    guard home.hasPrefix("/") else {
      throw Failure(
        .badRequest, subject: "--home", detail: "an absolute path is needed; start the bank with bankctl")
    }
  }
}
