// Owns which program works at the windows of which service. It knows no process.
// All programs of one build stand in one directory.

import BankModel
import Posix
import Wire

/// The programs of the workers, as paths.
package struct WorkerPrograms {
  private let directory: String

  /// The programs beside this one.
  package init() throws(SystemError) { directory = Paths.directory(of: try Paths.executable()) }

  /// The programs in a directory.
  init(in directory: String) { self.directory = directory }

  /// The coordinator's own program.
  var coordinator: String { Paths.join(directory, "bankd") }

  /// The program that keeps the stock.
  package var stock: String { Paths.join(directory, "bank-stockd") }

  /// The program that is the vending machine.
  package var vending: String { Paths.join(directory, "bank-vending") }

  /// The program that serves customers of a service.
  subscript(service: Service) -> String {
    Paths.join(directory, service == .juice ? "bank-juice" : "bank-teller")
  }
}

extension Service {
  /// What a worker of this service says that it is.
  var peerRole: PeerRole { self == .juice ? .juice : .teller }

  /// What a worker of this service is in a report.
  var workerRole: WorkerRole { self == .juice ? .juice : .teller }
}
