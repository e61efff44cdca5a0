// Owns what the stock service is told when it is started: the words on its command line. People never type them; the
// coordinator does. It knows nothing of what follows from them.

import BankModel
import Wire

/// The command line: `bank-stockd --home DIR [--config FILE] [--existing]`.
public struct StockOptions: Sendable, Equatable {
  /// The home, absolute.
  public var home = ""
  /// The file of fruits, juices and recipes; nil for the built-in ones.
  public var config: String?

  /// Whether there must be a database already: there was one when the bank was opened.
  public var mustExist = false

  /// Reads the words behind the program's name.
  public init(_ arguments: [String]) throws(Failure) {
    var words = arguments[...]
    while let word = words.popFirst() {
      if word == "--existing" {
        mustExist = true
        continue
      }
      guard let value = words.popFirst() else {
        throw Failure(.badRequest, subject: word, detail: "the option has no value")
      }
      switch word {
      case "--home": home = value
      case "--config": config = value
      default: throw Failure(.badRequest, subject: word, detail: "the stock service has no such option")
      }
    }
    guard home.hasPrefix("/") else {
      throw Failure(
        .badRequest, subject: "--home", detail: "an absolute path is needed; start the bank with bankctl")
    }
  }
}
