// Observer of a production coordinator's queue. It passes the events to the machine, changed only by a planted bug,
// and reports the event and the machine's effects to the checker. Sometimes it makes up a late message of a dead
// worker: the supervisor closes the connection of a dead worker, but the queue must ignore late messages in any case.
// Invariant: events of a dead process are not checked, and no event is checked after a broken promise.
import BankModel
import Coordinator
import QueueCore
import Time

final class SimulationQueueObserver: QueueObserver {
  /// A late message of a dead worker, and the time when the queue receives it.
  private struct DelayedMessage {
    let due: MonotonicTime
    let event: QueueEvent
  }

  /// Limit of the effects in one loop iteration, including those that follow from other effects. More effects are an
  /// endless loop.
  private static let maxEffectsPerIteration = 100_000
  private unowned let world: Simulation
  private unowned let process: SimulatedProcess
  private var mutant: MutantQueue?
  private var chance: SeededGenerator
  private var delayedMessages: [DelayedMessage] = []
  private var effectsInIteration = 0
  /// Time when a partly accepted request was last abandoned.
  private var abandonedAt: MonotonicTime?

  init(of process: SimulatedProcess, _ mutant: MutantQueue?, seed: UInt64, in world: Simulation) {
    (self.process, self.mutant, self.world) = (process, mutant, world)
    chance = SeededGenerator(seed: seed)
  }

  /// Resets the number of effects.
  func beginIteration() { effectsInIteration = 0 }

  /// Applies an event to the machine, and lets the checker follow it.
  func apply(
    _ event: QueueEvent, to machine: inout QueueMachine, at now: Moment, into effects: inout [QueueEffect]
  ) {
    guard effectsInIteration <= Self.maxEffectsPerIteration else { return }
    let before = effects.count
    guard !process.isMarkedForTermination, world.violation == nil else {
      machine.apply(event, at: now, into: &effects)
      return effectsInIteration += effects.count - before
    }
    world.statistics.events += 1
    world.trace.line(now.monotonic, "  event \(event)")
    note(event, at: now)
    world.checker.willApply(event, to: machine, at: now)
    if mutant == nil {
      machine.apply(event, at: now, into: &effects)
    } else {
      mutant?.apply(event, to: &machine, at: now, into: &effects)
    }
    let wanted = effects[before...]
    for effect in wanted { note(effect, at: now) }
    world.checker.didApply(event, to: machine, wanted, at: now)
    effectsInIteration += wanted.count
    if effectsInIteration > Self.maxEffectsPerIteration {
      world.violate(.notDrained, "one iteration has endless effects")
    }
    guard world.violation != nil else { return }
    // After a broken promise the machine may be inconsistent, and its effects could crash the simulator.
    effects.removeSubrange(before...)
    process.kill()
  }

  /// Counts an abandoned request, and plans the late message of a lost worker.
  private func note(_ event: QueueEvent, at now: Moment) {
    switch event {
    case .tellerLost(let window, let generation, _): delayMessage(of: window, generation, at: now)
    case .enqueueAbandoned:
      abandonedAt = now.monotonic
      world.statistics.withdrawnInPart += 1
    case .reset where abandonedAt == now.monotonic:
      // The request was abandoned because of this reset.
      world.statistics.withdrawnInPart -= 1
      world.statistics.givenUpForResets += 1
    default: break
    }
  }

  private func note(_ effect: QueueEffect, at now: Moment) {
    world.statistics.effects += 1
    world.trace.line(now.monotonic, "    effect \(effect)")
    if case .logDeadLetter = effect { world.statistics.deadLetters += 1 }
  }

  /// Makes up a late message of a worker that was lost with a customer, if a fault requires it.
  private func delayMessage(of window: Window, _ generation: Generation, at now: Moment) {
    guard world.delayedMessages > 0,
      let lease = world.checker.holders.first(where: { $0.window == window })?.lease,
      lease.generation == generation
    else { return }
    world.delayedMessages -= 1
    let event: QueueEvent =
      switch chance.draw(0...2) {
      case 0: .tellerAnswered(window, generation, lease, .done)
      case 1: .tellerProgressed(window, generation, lease)
      default: .tellerAnswered(window, generation, lease, .returned)
      }
    let due = now.monotonic + TimeSpan(nanoseconds: chance.draw(100_000...300_000_000))
    delayedMessages.append(DelayedMessage(due: due, event: event))
  }

  /// Removes and returns a late message that is due; nil if there is none.
  func nextDelayedMessage(at moment: MonotonicTime) -> QueueEvent? {
    guard let place = delayedMessages.firstIndex(where: { $0.due <= moment }) else { return nil }
    world.statistics.note(.messageLate)
    return delayedMessages.remove(at: place).event
  }

  /// Wakes the coordinator's process when the next late message is due.
  func wakeForDelayedMessages() {
    if let due = delayedMessages.map(\.due).min() { world.host.wake(process, at: due) }
  }
}
