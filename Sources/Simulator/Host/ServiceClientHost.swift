// Client of a service in the simulated world: a separate process that contains the production client.
// Invariant: a request gets at most one answer, from the service or from the client that gives up. A second one is a
// violation, and so is any error but `tryLater`.
import BankModel
import Posix
import Time
import Transport

/// A simulated process with a client of the stock or the vending machine.
final class ServiceClientHost<Command: ServiceCommand> {
  /// Receives the answer; nil if the client has given up.
  typealias Completion = (Command.Answer?) -> Void
  private unowned let world: Simulation
  private let process: SimulatedProcess
  /// The client's program, owned by its process, and released with it.
  private weak var program: ClientProgram<ServiceClient<Command>>?

  init(socket: String, world: Simulation) {
    self.world = world
    process = world.host.start { _ in
      let program = try? ClientProgram<ServiceClient<Command>>(until: \.nextDeadline) { $0.finishIteration() }
      program?.client = program.map { ServiceClient(socket: socket, loop: $0.loop) }
      return program
    }
    program = process.begin() as? ClientProgram<ServiceClient<Command>>
  }

  var pid: Int32 { process.pid }

  /// Sends a request to the service, and passes on the answer, or nil if the client gives up, at the latest at the
  /// deadline.
  func ask(
    _ command: Command, as order: OrderID? = nil, until deadline: MonotonicTime,
    _ completion: @escaping Completion
  ) {
    var isAnswered = false
    use { client in
      client.ask(command, as: order, until: deadline) { [unowned world] outcome in
        guard !isAnswered else {
          return world.violate(
            .answer, "\(Command.serviceName) sends one response to a request, but two arrived")
        }
        isAnswered = true
        switch outcome {
        case .success(let answer): completion(answer)
        case .failure(.tryLater): completion(nil)
        case .failure(let error):
          world.violate(.protocolViolation, "\(Command.serviceName) cannot be asked: \(error)")
        }
      }
    }
  }

  /// Subscribes to the changes of the service after those that were seen.
  func follow(_ seen: Command.Cursor, _ handle: @escaping (Command.Cursor.Update) -> Void) {
    use { $0.follow(seen, handle) }
  }

  /// Runs code with the client in its process.
  private func use(_ body: (ServiceClient<Command>) -> Void) {
    guard let client = program?.client else { return }
    process.call {
      body(client)
      client.finishIteration()
    }
  }

  func close() { process.kill() }
  /// Stops the process of the client, or lets it continue.
  func stall(_ isStalled: Bool) { if isStalled { process.stop() } else { process.resume() } }
}

/// A process that only sends and receives: an event loop with a client of the production code.
final class ClientProgram<Client>: SimulatedProgram {
  let loop: EventLoop
  var client: Client?
  private let nextDeadline: (Client) -> MonotonicTime?
  private let finishIteration: (Client) -> Void

  init(
    until nextDeadline: @escaping (Client) -> MonotonicTime? = { _ in nil },
    _ finishIteration: @escaping (Client) -> Void
  ) throws(SystemError) {
    (self.nextDeadline, self.finishIteration) = (nextDeadline, finishIteration)
    loop = try EventLoop()
  }

  /// Waits for an event once, and lets the client handle it.
  func runIteration() throws(SystemError) -> Int32? {
    try loop.runOnce(until: client.flatMap(nextDeadline))
    client.map(finishIteration)
    return nil
  }

  /// Does nothing: the process ignores signals.
  func handle(signal: Int32) {}
}
