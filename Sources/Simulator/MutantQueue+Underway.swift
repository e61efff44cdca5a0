// Planted bugs in the handling of several transactions in flight.
// Invariant: the queue core is the production code. A bug is simulated around the core: events arrive too early, or
// effects are reordered or dropped.
import QueueCore
import Time

/// What a planted bug in the settlement of transactions in flight has to remember.
struct MutantTransit {
  /// Answers of settled transactions that are not sent yet: one entry for each transaction, oldest first.
  var withheld: [[QueueEffect]] = []
  /// Number of transactions in flight that were settled when they were sealed.
  var settled = 0
  /// True after several transactions in flight were refused.
  var hasLostTwo = false
}

extension MutantQueue {
  /// Applies an event with a bug in the settlement of transactions. Returns false if the caller must apply the event
  /// as usual.
  mutating func settlesOtherTransactions(
    _ event: QueueEvent, of machine: inout QueueMachine, at now: Moment, into effects: inout [QueueEffect]
  ) -> Bool {
    switch (bug, event) {
    case (.doesNotRestageTransactions, .commitRefused):
      transit.hasLostTwo = transit.hasLostTwo || machine.underwayCount > 1
      return false
    case (.doesNotRestageTransactions, .committed):
      transit.hasLostTwo = false
      return false
    case (.settlesAllTransactionsWithFirst, .committed):
      for _ in 0..<max(1, machine.underwayCount) { machine.apply(.committed, at: now, into: &effects) }
      return true
    case (.settlesWhenSealed, .sealed):
      transit.settled += 1
      machine.apply(.sealed, at: now, into: &effects)
      machine.apply(.committed, at: now, into: &effects)
      return true
    case (.settlesWhenSealed, .committed) where transit.settled > 0:
      transit.settled -= 1
      return true
    case (.settlesWhenSealed, .commitRefused):
      transit.settled = 0
      return false
    case (.settlesNewestFirst, .committed):
      if transit.withheld.isEmpty { settleThroughTheNewest(of: &machine, at: now, into: &effects) }
      effects.append(contentsOf: transit.withheld.removeLast())
      return true
    case (.settlesNewestFirst, .commitRefused):
      for withheld in transit.withheld { effects.append(contentsOf: withheld) }
      transit.withheld = []
      return false
    default: return false
    }
  }

  /// Settles all transactions, because the core cannot settle the newest one alone. The answers of the older
  /// transactions are sent later.
  private mutating func settleThroughTheNewest(
    of machine: inout QueueMachine, at now: Moment, into effects: inout [QueueEffect]
  ) {
    for _ in 0..<max(1, machine.underwayCount) {
      var wanted: [QueueEffect] = []
      machine.apply(.committed, at: now, into: &wanted)
      transit.withheld.append(wanted.filter(\.isSaid))
      effects.append(contentsOf: wanted.filter { !$0.isSaid })
    }
  }
}

extension QueueEffect {
  /// True for an answer to a client or an acknowledgement to a worker.
  fileprivate var isSaid: Bool {
    switch self {
    case .reply, .acknowledge: true
    default: false
    }
  }
}
