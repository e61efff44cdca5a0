// A worker's process in the simulated world: the production teller, juice station or runner on the simulated host, with
// the channel from its coordinator.
// Invariant: faults are injected into the worker's process, its connection, or its provider.
import BankModel
import JuiceStation
import Posix
import Teller
import Time
import Wire

/// The process of a worker at a window, and the generation that it serves there.
final class SimulatedWorker {
  let process: SimulatedProcess
  let window: Window
  let generation: Generation
  /// Provides what the customers need; nil for runners and for most tellers. The process owns the provider, which is
  /// released when the process ends.
  fileprivate(set) weak var provider: SimulatedProvider?

  init(_ process: SimulatedProcess, _ window: Window, _ generation: Generation) {
    (self.process, self.window, self.generation) = (process, window, generation)
  }

  /// The worker's end of the channel to the coordinator; nil if it is closed.
  var stream: StreamEnd? { if case .stream(let end)? = process.descriptors[3] { end } else { nil } }
}

/// The program of a window: the production teller with any provider.
protocol WindowProgram: SimulatedProgram {
  var teller: TellerProcess { get }
}

extension WindowProgram {
  /// Runs one loop iteration of the teller. Returns the exit code after the last one.
  func runIteration() throws(SystemError) -> Int32? {
    if let finalExitCode = teller.finalExitCode { return finalExitCode }
    try teller.runIteration()
    return teller.finalExitCode
  }

  /// Asks the teller to exit.
  func handle(signal: Int32) { teller.requestStop() }
}

/// The program of a teller or a juice station.
final class WorkerProgram: WindowProgram {
  let teller: TellerProcess
  private let fruit: FruitProvider?

  init(_ worker: SimulatedWorker, in world: Simulation) throws(SystemError) {
    let loop = try EventLoop()
    let isStation = worker.window.service.usesStock
    fruit = isStation ? FruitProvider(loop: loop) : nil
    var provider: SimulatedProvider?
    // Most tellers have no provider, as in production.
    if isStation || world.host.chance.draw(0...2) == 0 {
      provider = SimulatedProvider(of: worker.process, fruit, in: world)
    }
    worker.provider = provider
    teller = try TellerProcess(
      descriptor: FileDescriptor(owning: 3), loop: loop, role: isStation ? .juice : .teller,
      provider: provider, reportError: { _ in })
  }
}

/// The provider of a simulated worker: it passes on the production provider's fruit, or provides nothing. Sometimes the
/// work fails.
final class SimulatedProvider: ResourceProvider {
  var onResult: ((Lease, ProvisionResult) -> Void)?
  /// True if the work for the next customer fails.
  var failsNext = false
  private unowned let world: Simulation
  private unowned let process: SimulatedProcess
  /// The production provider of a juice station; nil for a teller.
  private let real: FruitProvider?
  /// The lease for which a simulated result is due, and the time when it is due.
  private var ready: (lease: Lease, due: MonotonicTime)?

  init(of process: SimulatedProcess, _ real: FruitProvider?, in world: Simulation) {
    (self.process, self.real, self.world) = (process, real, world)
    real?.onResult = { [unowned self] lease, provision in
      // The fruit is taken, and the coordinator was not notified yet.
      if provision == .ready, self.world.killPlannedStation(self.process) { return }
      finish(lease, provision)
    }
  }

  /// Passes the settings of the coordinator to the production provider.
  func begin(_ orders: TellerSettings) { real?.begin(orders) }

  /// Requests the fruit of a juice; for other customers, prepares a simulated result.
  func provide(_ assignment: Assignment) {
    let skips = world.bug == .servesWithoutStock && assignment.ticket % 5 == 0
    guard let real, !skips else {
      return ready = (assignment.lease, SystemClock.monotonic() + .microseconds(20))
    }
    ready = nil
    var assignment = assignment
    assignment.itemName =
      assignment.itemName.flatMap(JuiceOrder.init).map { "\($0.juice)" } ?? assignment.itemName
    real.provide(assignment)
  }

  var nextDeadline: MonotonicTime? { MonotonicTime.earlier(real?.nextDeadline, ready?.due) }

  /// Sends the fruit provider's output, and reports the simulated result if it is due.
  func finishIteration() {
    real?.finishIteration()
    guard let (lease, due) = ready, SystemClock.monotonic() >= due else { return }
    ready = nil
    finish(lease, .ready)
  }

  /// Reports that the customer's need is provided, or a failure if the work is to fail.
  private func finish(_ lease: Lease, _ provision: ProvisionResult) {
    guard failsNext, provision == .ready else {
      onResult?(lease, provision)
      return
    }
    failsNext = false
    world.statistics.note(.tellerFailed)
    onResult?(lease, .unknown("the simulated work has failed"))
  }
}

/// The article of a simulated customer: a juice or the word `work`, and an account number that identifies the order.
struct JuiceOrder {
  let juice: ItemID
  let account: AccountNumber

  init(juice: ItemID, account: AccountNumber) { (self.juice, self.account) = (juice, account) }

  /// Parses an article; nil if it has another form.
  init?(_ itemName: String) {
    let words = itemName.split(separator: " ")
    guard words.count == 2, let account = AccountNumber(words[1]) else { return nil }
    self.init(juice: ItemID(String(words[0])), account: account)
  }

  var itemName: String { "\(juice) \(account)" }
}
