// Planted bugs of a core with several transactions in flight.
// Invariant: the core itself is the real one. The fault comes from outside, as events that are too early or
// effects in another order.
import QueueCore
import Time

/// State of a bug in transactions that are in flight.
struct MutantWay {
  /// Answers that were due when transactions were settled, and are not sent yet.
  var withheld: [[QueueEffect]] = []
  /// Number of transactions in flight that were settled when they were sealed.
  var settled = 0
  /// True after several transactions in flight were refused.
  var hasLostTwo = false
}

extension MutantQueue {
  /// Settles other transactions than the event names; false if the event is to be applied as usual.
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

  /// The core cannot settle the newest transaction alone. So all are settled, and the answers of the others
  /// are sent later.
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
