// The part of a service's process that differs between services: its name, its configuration, and its
// database.

import Posix
import QueueCore
import Storage
import Transport
import Wire

/// The properties of a service that ``ServiceProcess`` requires.
public protocol ServiceProgram {
  associatedtype Handler: ServiceHandler

  /// Base name of the service's files, such as `stock`.
  static var name: String { get }
  /// Role of the service for the coordinator.
  static var role: PeerRole { get }
  /// Name in an error message, in English, such as `the stock service`.
  static var title: String { get }
  /// Options that name a file, without `--home`. The first one names the service's configuration.
  static var fileOptions: [String] { get }

  /// Reads the configuration; nil for the built-in one.
  init(configuration path: String?) throws(Failure)

  /// Opens and loads the database, and creates the service, which does not listen yet.
  /// - Parameter identity: random number that identifies a new database.
  /// - Parameter onProgress: see `DatabaseStore`.
  func open(
    _ home: ServiceHome, on loop: EventLoop, identity: Int64, onProgress: @escaping () -> Void
  ) throws(StoreError) -> (DatabaseStore, Handler)

  /// Performs another task that the command line requests. Returns its exit code, or nil if none is requested.
  static func runInstead(_ options: ServiceOptions) throws -> Int32?
}

extension ServiceProgram {
  /// Nil: no other task.
  public static func runInstead(_ options: ServiceOptions) throws -> Int32? { nil }
}

/// Command line of a service: `--home DIR [--existing]`, and options that each name a file.
public struct ServiceOptions: Sendable, Equatable {
  /// Home directory, absolute.
  public var home = ""
  /// True if the database must exist already.
  public var mustExist = false
  /// Paths of the files, by the option that names each.
  public var files: [String: String] = [:]

  /// These options with absolute paths.
  func absolute() throws(SystemError) -> ServiceOptions {
    var options = self
    for (option, path) in files { options.files[option] = try Paths.absolute(path) }
    return options
  }

  /// Parses the arguments after the program name; `title` is the subject of an error about an unknown option.
  public init(_ arguments: [String], fileOptions: [String], title: String) throws(Failure) {
    var remaining = arguments[...]
    while let word = remaining.popFirst() {
      switch word {
      case "--existing": mustExist = true
      default:
        guard let value = remaining.popFirst() else {
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
