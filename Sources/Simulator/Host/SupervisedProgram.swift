// Owns the beginning of a service's process in the simulated world, as `ServiceProcess` has it: hello to the coordinator, its
// orders, and then the service. Invariant: nothing is opened before the orders have come.
// Failure: a service that cannot be opened ends with 1, and is started again by its supervisor.

import BankModel
import Posix
import ServiceProcess
import Transport
import Wire

final class SupervisedProgram: SimulatedProgram {
  private let loop: EventLoop
  private let link: ParentLink
  private(set) var service: (any SimulatedProgram)?
  /// The code of a process that a signal has ended before it watched for any.
  private var endedBySignal: Int32?
  private let open: (EventLoop, ParentLink) -> (any SimulatedProgram)?

  init(
    _ role: PeerRole, _ open: @escaping (EventLoop, ParentLink) -> (any SimulatedProgram)?
  ) throws(SystemError) {
    loop = try EventLoop()
    link = try ParentLink(FileDescriptor(owning: 3), loop: loop, role: role)
    self.open = open
  }

  func turn() throws(SystemError) -> Int32? {
    if let service { return try service.turn() }
    if let endedBySignal { return endedBySignal }
    try loop.runOnce(until: nil)
    switch link.state {
    case .greeting: return nil
    case .gone, .closing: return 0
    case .misunderstood: return 1
    case .atWork:
      service = open(loop, link)
      return service == nil ? 1 : nil
    }
  }

  func hear(signal: Int32) {
    if let service { service.hear(signal: signal) } else { endedBySignal = 128 + signal }
  }
}

/// A service that was opened: the production server, and the disk that a planted bug may owe something to.
final class ServiceProgram<Handler: ServiceHandler, Disk: SimulatedDisk>: SimulatedProgram {
  private let server: Server<Handler>
  private let disk: Disk

  init(_ server: Server<Handler>, on disk: Disk, in home: ServiceHome) throws {
    self.server = server
    self.disk = disk
    try server.open(in: home)
  }

  func turn() throws(SystemError) -> Int32? {
    if server.isAtWork {
      try server.turn()
      disk.payOff()
    }
    guard !server.isAtWork else { return nil }
    disk.process.stayAwake()
    return try server.run()
  }

  func hear(signal: Int32) { server.askToEnd() }
}
