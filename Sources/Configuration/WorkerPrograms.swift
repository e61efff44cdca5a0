// Owns which program works at the windows of which service, and behind them. All programs of one build stand in one
// directory. The coordinator starts them by these paths, and `bankctl config check` looks whether they are there.

import BankModel
import Posix

/// The programs that a coordinator starts.
public struct WorkerPrograms: Sendable, Hashable {
  private let directory: String

  /// Those beside the program that runs this.
  public init() throws(SystemError) { directory = Paths.directory(of: try Paths.executable()) }

  /// Those in a directory.
  public init(in directory: String) { self.directory = directory }

  /// The coordinator's own.
  public var coordinator: String { Paths.join(directory, "bankd") }
  /// The stock service's.
  public var stock: String { Paths.join(directory, "bank-stockd") }
  /// The vending machine's.
  public var vending: String { Paths.join(directory, "bank-vending") }

  /// The server's of the page; not every build has one.
  public var web: String { Paths.join(directory, "bank-web") }

  /// The program that runs commands.
  public var runner: String { Paths.join(directory, "bank-runner") }

  /// The program that works at the windows of a service whose work is simulated.
  public subscript(service: Service) -> String {
    Paths.join(directory, service == .juice ? "bank-juice" : "bank-teller")
  }

  /// Every program of this build that a bank with this configuration starts, each once.
  public func needed(by configuration: BankConfiguration) -> [String] {
    var programs = [coordinator]
    for service in configuration.services where configuration.windows[service] > 0 {
      let program: String? =
        switch configuration[service].kind {
        case .work: self[service == .juice ? .juice : .deposit]
        case .run: runner
        // Somebody else's.
        case .worker, .outside: nil
        }
      if let program, !programs.contains(program) { programs.append(program) }
    }
    return programs + [stock, vending]
  }

  /// Whether there is a program at a path that somebody may execute.
  public static func isProgram(_ path: String) -> Bool {
    guard let facts = try? FileFacts.inspect(path) else { return false }
    return facts.isFile && facts.mode & 0o111 != 0
  }
}
