// Owns what a service is told when it is started: the words on its command line. People never type them; the coordinator does.
// It knows nothing of what follows from them.

import Wire

/// The command line of a service: `--home DIR [--existing]`, and options that each name a file.
public struct ServiceOptions: Sendable, Equatable {
  /// The home, absolute.
  public var home = ""
  /// Whether there must be a database already: there was one when the bank was opened.
  public var mustExist = false
  /// The files that were named, by their options.
  public var files: [String: String] = [:]

  /// Reads the words behind the program's name.
  ///
  /// - Parameters:
  ///   - fileOptions: the options that name a file.
  ///   - title: who is told that there is no such option.
  public init(_ arguments: [String], fileOptions: [String], title: String) throws(Failure) {
    var words = arguments[...]
    while let word = words.popFirst() {
      if word == "--existing" {
        mustExist = true
        continue
      }
      guard let value = words.popFirst() else {
        throw Failure(.badRequest, subject: word, detail: "the option has no value")
      }
      if word == "--home" {
        home = value
      } else if fileOptions.contains(word) {
        files[word] = value
      } else {
        throw Failure(.badRequest, subject: word, detail: "\(title) has no such option")
      }
    }
    guard home.hasPrefix("/") else {
      throw Failure(
        .badRequest, subject: "--home", detail: "an absolute path is needed; start the bank with bankctl")
    }
  }
}
