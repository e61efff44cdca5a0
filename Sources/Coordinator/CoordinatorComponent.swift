// Base class of the coordinator's parts,
// with the objects that they share.

import QueueCore

class CoordinatorComponent {
  final let context: BankContext
  final let queue: QueueDriver
  final let store: any QueueReader
  /// State of the database shared with other branches; nil if the bank has its own database.
  final let shared: SharedStoreSession?
  final let server: ControlServer
  final let requests: RequestTable
  final let tellerSupervisor: TellerSupervisor
  final let serviceSupervisor: ServiceSupervisor
  final let subscriptions: Subscriptions
  final let releases: ReleaseQueue

  init(
    _ context: BankContext, _ queue: QueueDriver, _ store: any QueueReader, _ shared: SharedStoreSession?,
    _ server: ControlServer, _ tellerSupervisor: TellerSupervisor, _ serviceSupervisor: ServiceSupervisor,
    _ subscriptions: Subscriptions,
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
    self.subscriptions = subscriptions
    self.releases = releases
  }

  init(_ dependencies: CoordinatorComponent) {
    context = dependencies.context
    queue = dependencies.queue
    store = dependencies.store
    shared = dependencies.shared
    server = dependencies.server
    requests = dependencies.requests
    tellerSupervisor = dependencies.tellerSupervisor
    serviceSupervisor = dependencies.serviceSupervisor
    subscriptions = dependencies.subscriptions
    releases = dependencies.releases
  }
}
