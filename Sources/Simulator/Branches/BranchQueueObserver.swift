// Observer of a branch's queue. It passes the events to the machine, changed only by a planted bug, and checks the
// effects as far as they concern this queue alone; `BranchChecker` does the other checks.
// Invariant: events of a dead process are not checked, and no event is checked after a broken promise.

#if HAS_POSTGRES
  import BankModel
  import Coordinator
  import QueueCore
  import Time

  /// Checks the events and effects of one branch's queue, and inserts planted bugs.
  final class BranchQueueObserver: QueueObserver {
    private unowned let world: BranchSimulation
    private unowned let process: SimulatedProcess
    private let node: BranchNode
    /// Customers that were served or turned away: the number whose commit was reported, those of each transaction in
    /// flight (oldest first), and those not sealed yet.
    private var settled: Int64 = 0
    private var underway: [[TicketNumber]] = []
    private var unsealed: [TicketNumber] = []
    /// True from the loss of the lease until a new one.
    private var isLost = false

    init(of process: SimulatedProcess, _ node: BranchNode, in world: BranchSimulation) {
      (self.process, self.node, self.world) = (process, node, world)
    }

    /// Applies an event to the queue, checks the effects, and kills the process if a promise is broken.
    func apply(
      _ event: QueueEvent, to machine: inout QueueMachine, at now: Moment, into effects: inout [QueueEffect]
    ) {
      let before = effects.count
      guard !process.isMarkedForTermination, world.violation == nil else {
        return machine.apply(event, at: now, into: &effects)
      }
      world.statistics.events += 1
      world.trace.line(now.monotonic, "  \(node.index): event \(event)")
      let holders = machine.servingCustomers.map(\.window).filter { window in
        machine.numbers(of: window)?.lease.map { !machine.hasNotStarted($0, at: window) } ?? false
      }
      let isKept = if case .claimsLost = event { world.bug == .keepsCustomersAfterLeaseLoss } else { false }
      if !isKept { note(event) }
      var wanted: [QueueEffect] = []
      for event in isKept ? [.tick] : spoiled(event) { machine.apply(event, at: now, into: &wanted) }
      wanted = wanted.filter { !isDropped($0, of: event) }
      effects += wanted
      for effect in wanted {
        world.statistics.effects += 1
        world.trace.line(now.monotonic, "    \(node.index): effect \(effect)")
        note(effect, at: now)
      }
      if case .claimsLost = event, !isKept {
        let recalled = Set(wanted.compactMap { if case .recall(let window, _) = $0 { window } else { nil } })
        for window in holders where !recalled.contains(window) {
          world.violate(.protocolViolation, "the lease was lost, but window \(window) is not notified")
        }
      }
      verify(machine)
      guard world.violation != nil else { return }
      // After a broken promise the queue may be inconsistent.
      effects.removeSubrange(before...)
      process.kill()
    }

    /// Checks that the queue is consistent and counts the served customers correctly.
    private func verify(_ machine: borrowing QueueMachine) {
      for messageDetail in machine.inconsistencies(ServiceDirectory()) {
        world.violate(.dayCounters, "\(messageDetail)")
      }
      let served = settled + Int64(underway.reduce(0) { $0 + $1.count } + unsealed.count)
      if machine.dayCounters.served != served {
        world.violate(.dayCounters, "the counters say \(machine.dayCounters.served) served, actual \(served)")
      }
    }

    /// Records which finished customers are in flight, committed or dropped by an event.
    private func note(_ event: QueueEvent) {
      switch event {
      case .sealed:
        underway.append(unsealed)
        unsealed.removeAll()
      case .committed:
        if underway.isEmpty {
          settle(unsealed)
          unsealed.removeAll()
        } else {
          settle(underway.removeFirst())
        }
      case .withoutEffect(let tickets):
        if underway.isEmpty {
          unsealed.removeAll { tickets.contains($0) }
        } else {
          underway[0].removeAll { tickets.contains($0) }
        }
      case .claimsLost: (underway, unsealed, isLost) = ([], [], true)
      case .leaseExtended: isLost = false
      // The queue stages all refused changes again.
      case .commitRefused: (underway, unsealed) = ([], [])
      default: break
      }
    }

    /// Counts customers whose commit was reported, and checks that their receipts are in the database.
    private func settle(_ tickets: [TicketNumber]) {
      settled += Int64(tickets.count)
      if let branch = node.number { world.checker.settled(tickets, by: branch) }
    }

    /// Records and checks one effect: no customer may be assigned after the end of the lease.
    private func note(_ effect: QueueEffect, at now: Moment) {
      switch effect {
      case .stage(.finish(_, _, let receipt)) where receipt.outcome != .cancelled:
        unsealed.append(receipt.ticket)
      case .assign(_, let lease, _):
        world.statistics.assignments += 1
        if let branch = node.number, !world.checker.mayAssign(branch, at: now.monotonic) {
          world.violate(
            .lease, "ticket \(lease.ticket) is assigned by branch \(branch) after the end of its lease")
        }
        if isLost {
          world.violate(.lease, "ticket \(lease.ticket) is assigned by a branch that has lost its lease")
        }
      case .acknowledge(_, let lease): world.checker.acknowledged(lease.ticket, by: Int64(node.index))
      case .logRejectedCompletion: world.statistics.reportedWithoutEffect += 1
      default: break
      }
    }

    // MARK: - Bugs

    /// Returns the events that the queue receives in place of this one because of a planted bug.
    private func spoiled(_ event: QueueEvent) -> [QueueEvent] {
      switch (world.bug, event) {
      case (.assignsAfterLeaseEnd, .leaseExtended): [.leaseExtended(until: MonotonicTime(nanoseconds: .max))]
      case (.countsRejectedCompletions, .withoutEffect): [.tick]
      default: [event]
      }
    }

    /// True if a planted bug removes this effect.
    private func isDropped(_ effect: QueueEffect, of event: QueueEvent) -> Bool {
      switch (world.bug, event, effect) {
      case (.doesNotRecallAfterLeaseLoss, .claimsLost, .recall): true
      case (.dropsRefusedTransaction, .commitRefused, .stage): true
      default: false
      }
    }
  }
#endif
