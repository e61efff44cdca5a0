// Owns which program works at the windows of which service.
// All programs of one build stand in one directory.

import BankModel
import Posix
import Wire

package struct WorkerPrograms {
  private let directory: String

  package init() throws(SystemError) { directory = Paths.directory(of: try Paths.executable()) }

  init(in directory: String) { self.directory = directory }

  var coordinator: String { Paths.join(directory, "bankd") }
  package var stock: String { Paths.join(directory, "bank-stockd") }
  package var vending: String { Paths.join(directory, "bank-vending") }
  subscript(service: Service) -> String {
    Paths.join(directory, service == .juice ? "bank-juice" : "bank-teller")
  }
}

extension Service {
  var peerRole: PeerRole { self == .juice ? .juice : .teller }
  var workerRole: WorkerRole { self == .juice ? .juice : .teller }
}
