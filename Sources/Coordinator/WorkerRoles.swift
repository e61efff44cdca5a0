// Owns as what the programs at the windows of a service greet, and as what a status shows them.
// Where these programs are is `WorkerPrograms`'s.

import BankModel
import Wire

extension Service {
  var peerRole: PeerRole { self == .juice ? .juice : .teller }
  var workerRole: WorkerRole { self == .juice ? .juice : .teller }
}
