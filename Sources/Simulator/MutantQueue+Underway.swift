// Owns the planted bugs of a core that has several transactions on their way. Invariant: as of all of them, the core is the real
// one, and what is wrong is done from outside: events that come too early, and effects that come in another order.
import QueueCore
import Time

/// What such a core has to remember.
struct MutantWay {
  /// What was to be said when transactions were settled, and is not said yet.
  var withheld: [[QueueEffect]] = []
  /// Transactions on their way that were settled when they set out.
  var settled = 0
  /// Several were refused that were on their way.
  var hasLostTwo = false
}

extension MutantQueue {
  /// Settles something else than the event says; false where it is to be applied as ever.
  mutating func settlesAnother(
    _ event: QueueEvent, of machine: inout QueueMachine, at now: Moment, into effects: inout [QueueEffect]
  ) -> Bool {
    switch (bug, event) {
    case (.stagesNothingAgainOfTwo, .commitRefused):
      way.hasLostTwo = way.hasLostTwo || machine.underwayCount > 1
      return false
    case (.stagesNothingAgainOfTwo, .committed):
      way.hasLostTwo = false
      return false
    case (.settlesAllWithTheFirst, .committed):
      for _ in 0..<max(1, machine.underwayCount) { machine.apply(.committed, at: now, into: &effects) }
      return true
    case (.answersAtTheSeal, .sealed):
      way.settled += 1
      machine.apply(.sealed, at: now, into: &effects)
      machine.apply(.committed, at: now, into: &effects)
      return true
    case (.answersAtTheSeal, .committed) where way.settled > 0:
      way.settled -= 1
      return true
    case (.answersAtTheSeal, .commitRefused):
      way.settled = 0
      return false
    case (.settlesTheNewest, .committed):
      if way.withheld.isEmpty { settleThroughTheNewest(of: &machine, at: now, into: &effects) }
      effects.append(contentsOf: way.withheld.removeLast())
      return true
    case (.settlesTheNewest, .commitRefused):
      for withheld in way.withheld { effects.append(contentsOf: withheld) }
      way.withheld = []
      return false
    default: return false
    }
  }

  /// The core cannot settle the newest alone: it settles all of them, and what is said of the others is said later.
  private mutating func settleThroughTheNewest(
    of machine: inout QueueMachine, at now: Moment, into effects: inout [QueueEffect]
  ) {
    for _ in 0..<max(1, machine.underwayCount) {
      var wanted: [QueueEffect] = []
      machine.apply(.committed, at: now, into: &wanted)
      way.withheld.append(wanted.filter(\.isSaid))
      effects.append(contentsOf: wanted.filter { !$0.isSaid })
    }
  }
}

extension QueueEffect {
  fileprivate var isSaid: Bool {
    switch self {
    case .reply, .acknowledge: true
    default: false
    }
  }
}
