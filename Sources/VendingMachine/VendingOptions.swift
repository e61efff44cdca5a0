// Owns what the vending machine is told when it is started: the words on its command line. People never type them; the
// coordinator does. It knows nothing of what follows from them.

import Wire

/// The command line: `bank-vending --home DIR [--products FILE] [--set-aside FILE] [--existing]`.
public struct VendingOptions: Sendable, Equatable {
  /// The home, absolute.
  public var home = ""
  /// The file of products; nil for the built-in ones.
  public var products: String?
  /// The name that a damaged database gets; nil where the machine is to be opened.
  public var setAside: String?

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
      case "--products": products = value
      case "--set-aside": setAside = value
      default: throw Failure(.badRequest, subject: word, detail: "the vending machine has no such option")
      }
    }
    guard home.hasPrefix("/") else {
      throw Failure(
        .badRequest, subject: "--home", detail: "an absolute path is needed; start the bank with bankctl")
    }
  }
}
