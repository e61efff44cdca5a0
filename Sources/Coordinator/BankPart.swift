// Base class of the coordinator's parts, with the objects that all parts share.
// Invariant: a part refers only to these objects and to parts created before it. Calls in the other direction use
// closures, most of which `Coordinator.connect()` sets.

import QueueCore

class BankPart {
  final let context: BankContext
  final let queue: QueueDriver
  final let store: any QueueReading
  /// State of the database shared with other branches; nil if the bank has its own database.
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
