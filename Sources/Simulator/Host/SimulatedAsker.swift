// Owns somebody's way to a service in the simulated world: a process of its own with the production client in it.
// It must not know what is done with an answer. Invariant: every request is answered exactly once, by the service or by
// its deadline, unless its process has ended.

import BankModel
import Posix
import Transport
import Wire

final class SimulatedAsker<Command: ServiceCommand> {
  /// What hears the answer; nil for none before the deadline.
  typealias Listener = (Command.Answer?) -> Void

  private final class Program: SimulatedProgram {
    let loop: EventLoop
    let client: ServiceClient<Command>

    init(socket: String) throws(SystemError) {
      loop = try EventLoop()
      client = ServiceClient(socket: socket, loop: loop)
    }

    func turn() throws(SystemError) -> Int32? {
      try loop.runOnce(until: client.nextDeadline)
      client.endTurn()
      return nil
    }

    func hear(signal: Int32) {}
  }

  private unowned let world: Simulation
  private let process: SimulatedProcess
  /// Held by its process: when that ends, it goes as a process goes.
  private weak var program: Program?

  init(socket: String, world: Simulation) {
    self.world = world
    process = world.host.start { _ in try? Program(socket: socket) }
    program = process.begin() as? Program
  }

  var pid: Int32 { process.pid }

  /// Asks; a change has a name of the caller's.
  func ask(
    _ command: Command, as order: OrderID? = nil, until deadline: MonotonicTime,
    _ listener: @escaping Listener
  ) {
    var isAnswered = false
    use { client in
      client.ask(command, as: order, until: MonotonicInstant(deadline)) { [unowned world] outcome in
        guard !isAnswered else {
          return world.violate(
            .answer, "\(Command.serviceName) has one answer to a request, and two are heard")
        }
        isAnswered = true
        switch outcome {
        case .success(let answer): listener(answer)
        case .failure(.tryLater): listener(nil)
        case .failure(let error):
          world.violate(.conversation, "\(Command.serviceName) cannot be asked: \(error)")
        }
      }
    }
  }

  /// Follows the service from now on, over lost connections too.
  func follow(_ seen: Command.View, _ hear: @escaping (Command.View.News) -> Void) {
    use { $0.follow(seen, hear) }
  }

  private func use(_ body: (ServiceClient<Command>) -> Void) {
    guard let client = program?.client else { return }
    process.call {
      body(client)
      client.endTurn()
    }
  }

  func close() { process.kill() }
  func stand(_ isStanding: Bool) { if isStanding { process.stop() } else { process.goOn() } }
}
