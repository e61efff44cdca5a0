// Command line of the web server, which the coordinator starts.
// Errors: an unknown argument, an option without a valid value, or a missing home.
import Wire

/// Options of the server: `--home DIR [--port N] [--read-only] [--chaos] [--proxied NAME]…`. `--existing` is
/// accepted and has no effect.
public struct WebOptions: Sendable, Equatable {
  /// Absolute path of the home.
  public var home = ""
  /// The requested port; 0 for any free port. If it is taken, the server tries the ports after it.
  public var port: UInt16 = Self.defaultPort
  /// True if every change of the bank is refused.
  public var isReadOnly = false
  /// True if pages may kill workers.
  public var hasChaos = false
  /// Host names of the TLS proxies in front of this server.
  public var proxyHosts: [String] = []

  /// Default port.
  public static let defaultPort: UInt16 = 8_700

  public init() {}

  /// Parses the arguments after the program name.
  public init(_ arguments: [String]) throws(Failure) {
    var remaining = arguments[...]
    while let argument = remaining.popFirst() {
      switch argument {
      case "--read-only": isReadOnly = true
      case "--chaos": hasChaos = true
      case "--existing": break
      case "--home", "--port", "--proxied":
        guard let value = remaining.popFirst() else {
          throw Failure(.badRequest, subject: argument, detail: "the option has no value")
        }
        switch argument {
        case "--home": home = value
        case "--proxied": proxyHosts.append(value)
        default:
          guard let number = UInt16(value) else {
            throw Failure(.badRequest, subject: argument, detail: "a port is a number from 0 to 65535")
          }
          port = number
        }
      default: throw Failure(.badRequest, subject: argument, detail: "the web server has no such option")
      }
    }
    guard home.hasPrefix("/") else {
      throw Failure(
        .badRequest, subject: "--home", detail: "an absolute path is needed; use bankctl web")
    }
  }
}
