// Owns somebody's way to the vending machine in the simulated world: a process of its own with the production client in it.
// It must not know what is done with an answer. Invariant: every request is answered exactly once, by the machine or by
// its deadline.

import BankModel
import Posix
import VendingClient
import Wire

/// Somebody's connection to the vending machine.
final class SimulatedCaller {
  /// The process in which the client lives.
  private final class Program: SimulatedProgram {
    let loop: EventLoop
    let client: VendingClient

    init(socket: String) throws(SystemError) {
      loop = try EventLoop()
      client = VendingClient(socket: socket, loop: loop)
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
  private weak var program: Program?

  init(asManager isManager: Bool, world: Simulation) {
    self.world = world
    let home = VendingProgram.home.path
    let socket =
      isManager ? VendingClient.managersSocket(inHome: home) : VendingClient.customersSocket(inHome: home)
    process = world.host.start { _ in try? Program(socket: socket) }
    program = process.begin() as? Program
  }

  /// Asks; a change has a name of the caller's. The listener hears nil where no answer came before the deadline.
  func ask(
    _ command: VendingCommand, as order: OrderID?, until deadline: MonotonicTime,
    _ listener: @escaping (VendingResult?) -> Void
  ) {
    guard let client = program?.client else { return }
    process.call {
      client.ask(command, as: order, until: MonotonicInstant(deadline)) { [unowned world] outcome in
        switch outcome {
        case .success(let result): listener(result)
        case .failure(.tryLater): listener(nil)
        case .failure(let error): world.violate(.conversation, "the machine cannot be asked: \(error)")
        }
      }
      client.endTurn()
    }
  }
}
