// Owns somebody's way to the stock service in the simulated world: a process of its own with the production client in it.
// It must not know what is done with an answer. Invariant: every request is answered exactly once, by the service or by
// its deadline, unless its process has ended.

import BankModel
import Posix
import StockClient
import Wire

/// Somebody's connection to the stock service.
final class SimulatedAsker {
  /// What hears the answer; nil for none before the deadline.
  typealias Listener = (StockResult?) -> Void

  /// The process in which the client lives.
  private final class Program: SimulatedProgram {
    let loop: EventLoop
    let client: StockClient
    var onLost: (() -> Void)?
    private var wasConnected = false

    init() throws(SystemError) {
      loop = try EventLoop()
      client = StockClient(socket: StockProgram.home.socket, loop: loop)
    }

    func turn() throws(SystemError) -> Int32? {
      try loop.runOnce(until: client.nextDeadline)
      client.endTurn()
      if wasConnected, !client.isConnected { onLost?() }
      wasConnected = client.isConnected
      return nil
    }

    func hear(signal: Int32) {}
  }

  private unowned let world: Simulation
  private let process: SimulatedProcess
  /// Held by its process: when that ends, it goes as a process goes.
  private weak var program: Program?
  /// Called when the connection has ended.
  var onLost: (() -> Void)? {
    get { program?.onLost }
    set { program?.onLost = newValue }
  }

  init(world: Simulation) {
    self.world = world
    process = world.host.start { _ in try? Program() }
    program = process.begin() as? Program
  }

  /// Whether the service has said welcome and has not gone since.
  var isConnected: Bool { program?.client.isConnected ?? false }

  /// The process in which the client lives.
  var pid: Int32 { process.pid }

  /// Asks; a change has a name of the caller's.
  func ask(
    _ command: StockCommand, as order: OrderID? = nil, until deadline: MonotonicTime,
    _ listener: @escaping Listener
  ) {
    guard let client = program?.client else { return }
    process.call {
      client.ask(command, as: order, until: MonotonicInstant(deadline)) { [unowned world] outcome in
        switch outcome {
        case .success(let result): listener(result)
        case .failure(.tryLater): listener(nil)
        case .failure(let error): world.violate(.conversation, "the stock cannot be asked: \(error)")
        }
      }
      client.endTurn()
    }
  }

  /// Follows the stock: a picture, and then every change, over lost connections too.
  func follow(_ hear: @escaping (StockNews) -> Void) {
    guard let client = program?.client else { return }
    process.call {
      client.follow(hear)
      client.endTurn()
    }
  }

  /// The process has ended: nobody hears anything any more.
  func close() {
    process.kill()
  }

  /// The process stands still, or goes on.
  func stand(_ isStanding: Bool) {
    if isStanding { process.stop() } else { process.goOn() }
  }
}
