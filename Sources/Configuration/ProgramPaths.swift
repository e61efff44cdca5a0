// Paths of the programs of a bank, without the guardian.
// The programs of one build are in one directory.

import BankModel
import Posix

/// Paths of the coordinator, and of the programs that it starts.
public struct ProgramPaths: Sendable, Hashable {
  private let directory: String

  /// Programs in the directory of the running executable.
  public init() throws(SystemError) { directory = Paths.directory(of: try Paths.executable()) }

  /// Programs in a directory.
  public init(in directory: String) { self.directory = directory }

  /// Path of the coordinator.
  public var coordinator: String { Paths.join(directory, "bankd") }
  /// Path of the stock service.
  public var stock: String { Paths.join(directory, "bank-stockd") }
  /// Path of the vending machine.
  public var vending: String { Paths.join(directory, "bank-vending") }

  /// Path of the web server; not every build contains a web server.
  public var web: String { Paths.join(directory, "bank-web") }

  /// Path of the runner.
  public var runner: String { Paths.join(directory, "bank-runner") }

  /// Path of the teller or the juice station of a service whose work is simulated.
  public subscript(service: Service) -> String {
    Paths.join(directory, service == .juice ? "bank-juice" : "bank-teller")
  }

  /// The programs of this build that a bank with this configuration needs: the coordinator, its workers, the stock
  /// and the vending machine.
  public func needed(by configuration: BankConfiguration) -> [String] {
    var programs = [coordinator]
    for service in configuration.services where configuration.windows[service] > 0 {
      let program: String? =
        switch configuration[service].kind {
        case .work: self[service == .juice ? .juice : .deposit]
        case .run: runner
        // External programs.
        case .worker, .outside: nil
        }
      if let program, !programs.contains(program) { programs.append(program) }
    }
    return programs + [stock, vending]
  }

  /// True if the path is an executable file.
  public static func isProgram(_ path: String) -> Bool {
    guard let facts = try? FileMetadata.inspect(path) else { return false }
    return facts.isFile && facts.mode & 0o111 != 0
  }
}
