// Owns one teller's process in the simulated world: the real machine of a teller, the bytes it has not read yet, and
// everything that can be wrong with a process. It must not decide what an honest teller says: `TellerMachine` does.
// Invariant: a process that has ended says nothing more. What it said before may still be on its way.

import BankModel
import Teller
import Wire

/// A teller's process.
final class SimulatedTeller {
  /// Signals that are sent here, by their numbers on Linux (signal(7)).
  enum Signal {
    static let abort: Int32 = 6
    static let kill: Int32 = 9
    static let segmentation: Int32 = 11
  }

  let number: Int
  let window: Window
  let generation: Generation
  let link: Int
  let incarnation: Int
  private unowned let world: Simulation
  private var machine: TellerMachine
  private var decoder = FrameDecoder(maximumBodyLength: FrameLimits.teller)
  private var actions: [TellerAction] = []

  /// How the process has ended; nil while it lives.
  private(set) var end: ProcessEnd?
  /// What has arrived while the process stood still.
  private var unread: [Arrival] = []
  /// Until when the process stands still.
  private(set) var standsUntil: MonotonicTime?
  /// Whether only SIGKILL ends it.
  private var isDeaf = false
  /// It dies before the action with this number.
  var fuse: Int?
  /// It reports the next customer as failed.
  var failsNext = false
  /// Whom it has in hand, in the order in which they are served.
  private var leases: [Lease] = []
  /// Whom it serves.
  var lease: Lease? { leases.first }
  private var wakesAt: MonotonicTime?
  /// What gets each customer its fruit; nil where nobody needs any.
  private var station: SimulatedStation?

  init(number: Int, window: Window, generation: Generation, link: Int, incarnation: Int, world: Simulation) {
    self.number = number
    self.window = window
    self.generation = generation
    self.link = link
    self.incarnation = incarnation
    self.world = world
    guard window.service.drawsOnStock else {
      machine = TellerMachine(build: Simulation.build)
      return
    }
    machine = TellerMachine(build: Simulation.build, role: .juice, provides: true)
    station = SimulatedStation(self, world: world)
  }

  var isAlive: Bool { end == nil }

  /// The process begins to run.
  func begin() { apply(.began) }

  /// Something has come from the coordinator.
  func hear(_ arrival: Arrival) {
    guard isAlive else { return }
    guard standsUntil == nil else {
      unread.append(arrival)
      return
    }
    switch arrival {
    case .end: apply(.coordinatorGone)
    case .bytes(let bytes):
      decoder.append(bytes)
      do {
        while isAlive, let body = try decoder.next() {
          let message = try CBORDecoder().decode(WindowMessage.self, from: body)
          if case .assign(let assignment) = message { leases.append(assignment.lease) }
          apply(.heard(message))
        }
      } catch {
        apply(.coordinatorUnintelligible("\(error)"))
      }
    }
  }

  /// What the customer needs is there, or is not to be had.
  func provided(_ lease: Lease, _ provision: Provision) { apply(.provided(lease, provision)) }

  /// The moment has come that the machine asked to be woken at.
  func wake() {
    guard isAlive, standsUntil == nil, let wakesAt, wakesAt <= world.clock.now else { return }
    self.wakesAt = nil
    apply(.timeCame)
  }

  /// The process stands still until a moment, or for good.
  func stand(until moment: MonotonicTime?, isDeaf: Bool = false) {
    guard isAlive else { return }
    standsUntil = moment ?? MonotonicTime(nanoseconds: .max)
    station?.asker.stand(true)
    self.isDeaf = isDeaf
    if let moment { world.agenda.add(.tellerWentOn(number), at: moment) }
  }

  /// The process goes on with everything that has come meanwhile.
  func goOn() {
    guard isAlive, let until = standsUntil, until <= world.clock.now else { return }
    standsUntil = nil
    let arrivals = unread
    unread.removeAll()
    // What is due is done before the next message is read, as after a wait of the real loop.
    if let due = machine.wakeAt, due <= world.clock.now { apply(.timeCame) }
    for arrival in arrivals { hear(arrival) }
    station?.asker.stand(false)
  }

  /// A signal has come.
  func receive(signal: Int32) {
    if signal == Signal.abort, isDeaf { return }
    die(.signal(signal))
  }

  /// The process ends.
  func die(_ end: ProcessEnd) {
    guard isAlive else { return }
    self.end = end
    station?.asker.close()
    world.trace.mix(Int64(number))
    world.trace.line(world.clock.now, "teller \(number) at \(window) ends: \(end)")
    world.tellerEnded(self)
  }

  /// Says something that no machine decided.
  func say(_ message: TellerMessage) {
    guard isAlive else { return }
    world.send(message, on: link, to: .server, limit: FrameLimits.teller)
  }

  private func apply(_ event: TellerEvent) {
    guard isAlive else { return }
    machine.apply(event, at: world.clock.now, into: &actions)
    let planned = actions
    actions.removeAll(keepingCapacity: true)
    for action in planned { perform(action) }
    guard isAlive, let due = machine.wakeAt, due != wakesAt else { return }
    wakesAt = due
    world.agenda.add(.tellerWoke(number), at: max(due, world.clock.now))
  }

  private func perform(_ action: TellerAction) {
    guard isAlive else { return }
    if let left = fuse {
      fuse = left - 1
      if left <= 0 { return die(.signal(Signal.kill)) }
    }
    switch action {
    case .say(.done(let lease)) where failsNext:
      failsNext = false
      world.statistics.note(.tellerFailed)
      leases.removeAll { $0 == lease }
      say(.failed(lease, reason: "the simulated work has failed"))
    case .say(let message):
      switch message {
      case .done(let lease), .outOfStock(let lease, _), .failed(let lease, _), .returned(let lease):
        leases.removeAll { $0 == lease }
      default: break
      }
      say(message)
    case .exit(let code): die(.code(code))
    case .openLog(let orders): station?.begin(orders)
    case .provide(let assignment): station?.provide(assignment)
    case .log, .complain: break
    }
  }
}
