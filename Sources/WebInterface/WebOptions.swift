// Owns the command line of the page's server, which the coordinator writes. It knows no server.
// Failure: a word that means nothing, or no home.
import Wire

/// What the server is started with: `--home DIR [--port N] [--read-only] [--chaos] [--proxied NAME]…`.
public struct WebOptions: Sendable, Equatable {
  /// The home, absolute.
  public var home = ""
  /// The port that is tried first; 0 for any that is free.
  public var port: UInt16 = Self.usualPort
  /// Whether nobody may change anything.
  public var isReadOnly = false
  /// Whether tellers may be ended.
  public var hasChaos = false
  /// Names under which a proxy with TLS is reached.
  public var proxied: [String] = []

  /// The port where none is asked for.
  public static let usualPort: UInt16 = 8_700

  public init() {}

  /// Reads the words behind the program's name.
  public init(_ arguments: [String]) throws(Failure) {
    var words = arguments[...]
    while let word = words.popFirst() {
      switch word {
      case "--read-only": isReadOnly = true
      case "--chaos": hasChaos = true
      case "--existing": break
      case "--home", "--port", "--proxied":
        guard let value = words.popFirst() else {
          throw Failure(.badRequest, subject: word, detail: "the option has no value")
        }
        switch word {
        case "--home": home = value
        case "--proxied": proxied.append(value)
        default:
          guard let number = UInt16(value) else {
            throw Failure(.badRequest, subject: word, detail: "a port is a number from 0 to 65535")
          }
          port = number
        }
      default: throw Failure(.badRequest, subject: word, detail: "the server of the page has no such option")
      }
    }
    guard home.hasPrefix("/") else {
      throw Failure(
        .badRequest, subject: "--home", detail: "an absolute path is needed; type bankctl web")
    }
  }
}
