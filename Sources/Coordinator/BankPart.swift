// Owns the ground on which the parts of the coordinator stand: whose bank this is, its queue and its store, who works in
// it, and who is told of it.
// Invariant: a part knows this ground and the parts that were made before it; what those have to say to it is passed on by
// `Coordinator.connect()`.

import QueueCore

class BankPart {
  final let context: BankContext
  final let queue: QueueDriver
  final let store: any QueueReading
  /// The books, where other branches share them; nil where they are this bank's own.
  final let shared: SharedBank?
  final let server: ControlServer
  final let requests: RequestTable
  final let tellerSupervisor: TellerSupervisor
  final let serviceSupervisor: ServiceSupervisor
  final let followers: Followers
  final let releases: ReleaseQueue

  init(
    _ context: BankContext, _ queue: QueueDriver, _ store: any QueueReading, _ shared: SharedBank?,
    _ server: ControlServer, _ tellerSupervisor: TellerSupervisor, _ serviceSupervisor: ServiceSupervisor,
    _ followers: Followers,
    _ releases: ReleaseQueue
  ) {
    self.context = context
    self.queue = queue
    self.store = store
    self.shared = shared
    self.server = server
    requests = RequestTable(server)
    self.tellerSupervisor = tellerSupervisor
    self.serviceSupervisor = serviceSupervisor
    self.followers = followers
    self.releases = releases
  }

  init(_ ground: BankPart) {
    context = ground.context
    queue = ground.queue
    store = ground.store
    shared = ground.shared
    server = ground.server
    requests = ground.requests
    tellerSupervisor = ground.tellerSupervisor
    serviceSupervisor = ground.serviceSupervisor
    followers = ground.followers
    releases = ground.releases
  }
}
