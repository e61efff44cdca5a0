// The queue's core with a planted bug: the production core, with events or effects dropped, changed or invented around
// it.
// Invariant: as far as this can be done outside the core, the planted bug is the only fault.
import BankModel
import QueueCore
import Time

struct MutantQueue {
  let bug: PlantedBug
  /// Requests that were answered before their commit.
  private var announced: Set<RequestNumber> = []
  private var inserts = 0
  private var lastResult: WorkResult?
  private var lastResultByWindow: [Window: WorkResult] = [:]
  var transit = MutantTransit()

  init(_ bug: PlantedBug) { self.bug = bug }

  /// Returns the policy with the wrong limit or lease of the bug.
  func corrupt(_ policy: QueuePolicy) -> QueuePolicy {
    var policy = policy
    switch bug {
    case .ignoresQueueLimit: policy.maxWaiting = .max
    case .neverDeadLetters:
      policy.maxCrashes = .max
      policy.maxFailures = .max
    case .deadLettersTooEarly:
      policy.maxCrashes -= 1
      policy.maxFailures -= 1
    case .expiresLeasesEarly: policy.lease = policy.lease / 2
    default: break
    }
    return policy
  }

  /// Returns the stored queue, with reversed priorities if the bug requires it.
  func corrupt(_ stored: StoredQueue) -> StoredQueue {
    bug == .reversesPriorities ? PriorityMirror.mirrored(stored) : stored
  }

  /// Applies an event to the core, with the defect of the bug.
  mutating func apply(
    _ event: QueueEvent, to machine: inout QueueMachine, at now: Moment, into effects: inout [QueueEffect]
  ) {
    var wanted: [QueueEffect] = []
    if settlesOtherTransactions(event, of: &machine, at: now, into: &effects) { return }
    let event = withAnotherResult(event)
    for each in events(for: event, machine) { machine.apply(each, at: now, into: &wanted) }
    if bug == .ignoresUnreturnedRecalls {
      for case .recall(let window, let lease) in wanted where window.isOutside {
        machine.apply(
          .tellerAnswered(window, lease.generation, lease, .returned), at: now, into: &wanted)
      }
    }
    effects.append(contentsOf: corrupt(wanted, of: event, machine))
  }

  /// Returns the event, with a wrong result or none if the bug requires that.
  private mutating func withAnotherResult(_ event: QueueEvent) -> QueueEvent {
    guard case .tellerAnswered(let window, let generation, let lease, .worked(let result)) = event else {
      return event
    }
    func answer(_ answer: TellerAnswer) -> QueueEvent { .tellerAnswered(window, generation, lease, answer) }
    switch bug {
    case .storesResultOfOtherCustomer:
      defer { lastResult = result }
      return answer(.worked(lastResult ?? result))
    case .storesPreviousCommandResult where window.service.isForCommands:
      return answer(.worked(lastResultByWindow.updateValue(result, forKey: window) ?? result))
    case .omitsCommandResults where window.service.isForCommands: return answer(.done)
    case .hidesTruncation where window.service.isForCommands:
      let output = TruncatedOutput(first: result.output.bytes) ?? .nothing
      return answer(
        .worked(
          WorkResult(
            ending: result.ending, duration: result.duration, output: output, errors: result.errors)))
    default: return event
    }
  }

  /// Returns the events that the core receives in place of this event.
  private func events(for event: QueueEvent, _ machine: borrowing QueueMachine) -> [QueueEvent] {
    switch (bug, event) {
    case (.ignoresTellerExit, .tellerLost(let window, let generation, _)):
      held(at: window, by: generation, machine) == nil ? [event] : [.tick]
    case (.ignoresGenerations, .tellerAnswered(let window, let generation, _, let answer)):
      // Treats an earlier teller as the current one, and its answer as one for the current teller's customer.
      machine.numbers(of: window).flatMap { present in
        present.generation <= generation
          ? nil : present.lease.map { [.tellerAnswered(window, present.generation, $0, answer)] }
      } ?? [event]
    case (.ignoresLeaseOfAnswer, .tellerAnswered(let window, let generation, let lease, .done))
    where lease.generation == generation:
      held(at: window, by: generation, machine).map { [.tellerAnswered(window, generation, $0, .done)] }
        ?? [event]
    case (.treatsProgressAsDone, .tellerProgressed(let window, let generation, let lease)):
      [.tellerAnswered(window, generation, lease, .done)]
    case (.treatsCrashAsFailure, .tellerLost(let window, let generation, _)):
      held(at: window, by: generation, machine).map {
        [.tellerAnswered(window, generation, $0, .failed(WorkFailure("it died"))), event]
      } ?? [event]
    case (.neverExpiresLeases, .tick): renewals(of: machine) + [event]
    case (.renewsAllLeasesOfWorker, .tellerProgressed(let window, let generation, let lease))
    where lease.generation == generation && window.service.isForForeigners:
      [event] + renewals(of: machine) { $0 == window }
    case (.neverExpiresOutsideLeases, .tick): renewals(of: machine, \.isOutside) + [event]
    case (.keepsCustomersOfGoneWorker, .workerDisconnected): [.tick]
    case (.matchesAnswersInOrder, .tellerAnswered(let window, let generation, let lease, let answer))
    where window.service.isForForeigners && machine.holds(lease, at: window):
      renewals(of: machine) { $0 == window }.compactMap { progress in
        guard case .tellerProgressed(_, _, let lease) = progress else { return nil }
        return lease
      }.min { $0.ticket < $1.ticket }.map { [.tellerAnswered(window, generation, $0, answer)] } ?? [event]
    case (.ignoresPause, .pause(let request, let service)): [.resume(request, service)]
    case (.admitsWhileDraining, .drain): [.tick]
    case (
      .servesUnloadedDelayedEarly,
      .enqueue(let request, let orders, let total, let isLast, let heldBack, let attachments)
    )
    where machine.dayCounters.delayed >= machine.policy.delayedCapacity:
      [
        .enqueue(
          request,
          orders: orders.map { order in
            var order = order
            order.dueAt = nil
            return order
          }, total: total, isLast: isLast, heldBack: heldBack, attachments: attachments)
      ]
    case (.ignoresLowDiskSpace, .roomChanged): [.tick]
    case (.forgetsStartedAttempts, .pageLoaded(let line, let page)):
      [.pageLoaded(line, page.map(\.withoutStart))]
    case (.reversesPriorities, _): [PriorityMirror.mirrored(event)]
    default: [event]
    }
  }

  /// Returns the lease that this generation holds at a window; nil if it holds none.
  private func held(at window: Window, by generation: Generation, _ machine: borrowing QueueMachine) -> Lease?
  {
    machine.numbers(of: window).flatMap { $0.generation == generation ? $0.lease : nil }
  }

  /// Progress events for the current customer of each window, if its work has started.
  private func renewals(of machine: borrowing QueueMachine) -> [QueueEvent] {
    machine.servingCustomers.compactMap { place in
      machine.numbers(of: place.window)?.lease.flatMap { lease in
        machine.hasNotStarted(lease, at: place.window)
          ? nil : .tellerProgressed(place.window, place.generation, lease)
      }
    }
  }

  /// Progress events for all customers at the matching windows whose work has started.
  private func renewals(of machine: borrowing QueueMachine, _ isMeant: (Window) -> Bool) -> [QueueEvent] {
    machine.servingCustomers.filter { isMeant($0.window) }.compactMap { place in
      let lease = Lease(
        ticket: place.customer.ticket, attempt: place.customer.attempts + 1, generation: place.generation)
      guard !machine.hasNotStarted(lease, at: place.window) else { return nil }
      return .tellerProgressed(place.window, place.generation, lease)
    }
  }

  /// Returns the effects of an event as the bug changes them.
  private mutating func corrupt(
    _ wanted: [QueueEffect], of event: QueueEvent, _ machine: borrowing QueueMachine
  ) -> [QueueEffect] {
    var spoiled: [QueueEffect] = []
    for effect in wanted { spoiled.append(contentsOf: corrupt(effect, of: event, machine)) }
    if bug == .reportsDrainTooEarly, case .drain = event { spoiled.append(.reportDrained) }
    if bug == .repliesBeforeCommit { spoiled.append(contentsOf: earlyReply(to: event, wanted, machine)) }
    return spoiled
  }

  /// Returns the effects that take the place of one effect.
  private mutating func corrupt(
    _ effect: QueueEffect, of event: QueueEvent, _ machine: borrowing QueueMachine
  ) -> [QueueEffect] {
    switch effect {
    case .stage(let change):
      return corrupt(change, of: event).map { .stage($0) } + earlyAcknowledgement(of: change)
        + earlyStart(of: change, machine)
    case .assign(_, _, let customer) where bug == .startsBeforeCommit && customer.isAttemptRunning: return []
    case .loadPage where bug == .neverLoadsNextPage: return []
    case .loadDelayed where bug == .neverLoadsNextDelayedPage: return []
    case .recall where bug == .dropsRecalls: return []
    case .logPause where bug == .pausesWithoutNotification: return []
    case .killStuckTeller where bug == .doesNotKillStuckTeller: return []
    case .killStuckTeller(let window, let generation) where bug == .killsWrongGeneration:
      return [.killStuckTeller(window, generation - 1)]
    case .acknowledge where bug == .acknowledgesBeforeCommit: return []
    case .acknowledge(let window, var lease) where bug == .acknowledgesWrongTicket:
      lease.ticket += 1
      return [.acknowledge(window, lease)]
    case .assign(let window, let lease, let customer): return corrupt(window, lease, customer, machine)
    case .reply(let request, let answer): return corrupt(request, answer, of: event, machine)
    case .reportDrained where bug == .neverReportsDrain || bug == .reportsDrainTooEarly: return []
    case .loadPage(let line, let after, let limit) where bug == .reversesPriorities:
      return [.loadPage(PriorityMirror.mirrored(line), after: after, limit: limit)]
    default: return [effect]
    }
  }

  /// Returns the changes that the bug stages in place of this change.
  private mutating func corrupt(_ change: StoreChange, of event: QueueEvent) -> [StoreChange] {
    if bug == .dropsRefusedChanges || transit.hasLostTwo, case .commitRefused = event { return [] }
    switch (bug, change) {
    case (.deadLettersConcurrentCustomers, .update(let customer))
    where customer.service.isForForeigners && customer.isBeside(event) && customer.startedAttempts == 0:
      return [.bury(customer)]
    // In a service that counts attempts, the start of an attempt is an `.update` too. It is not dropped.
    case (.doesNotRequeueAfterTellerExit, .update(let customer))
    where customer.startedAttempts == 0 && !customer.isAttemptRunning: return []
    case (.doesNotStoreDeadLetter, .bury), (.doesNotStoreRequeue, .revive),
      (.omitsFailedAttempts, .record), (.resetOmitsReceipts, .cancelAllCustomers):
      return []
    case (.omitsReceipt, .finish(_, _, let receipt)) where receipt.outcome == .served: return []
    case (.omitsCancelledReceipt, .finish(_, _, let receipt)) where receipt.outcome == .cancelled: return []
    case (.writesReceiptsTwice, .finish): return [change, change]
    case (.recordsWrongAmount, .finish(let customer, let state, var receipt)):
      receipt.amount += 1
      return [.finish(customer, from: state, receipt)]
    case (.recordsWrongAccount, .finish(let customer, let state, var receipt)):
      receipt.account += 1
      return [.finish(customer, from: state, receipt)]
    case (.skipsServicePosting, .finish(let customer, let state, var receipt))
    where receipt.service.isForForeigners:
      receipt.postingRule = nil
      return [.finish(customer, from: state, receipt)]
    case (.reusesTicketNumber, .insert(var customer)):
      inserts += 1
      if inserts % 7 == 0, customer.ticket > 1 { customer.ticket -= 1 }
      return [.insert(customer)]
    case (.forgetsIdempotencyKeys, .remember): return []
    case (.storesFirstSliceOfKey, .remember(let key, let day, let first, _, let request)):
      return [.remember(key: key, day: day, first: first, last: first, request: request)]
    case (.shiftsPayloads, .attach(let payload, let tickets)) where tickets.count == 1:
      return [.attach(payload: payload, to: tickets.lowerBound + 1...tickets.upperBound + 1)]
    case (.reversesPriorities, _): return [PriorityMirror.mirrored(change)]
    default: return [change]
    }
  }

  /// Returns an assignment whose start is not on disk yet, if the bug requires it.
  private func earlyStart(of change: StoreChange, _ machine: borrowing QueueMachine) -> [QueueEffect] {
    guard bug == .startsBeforeCommit, case .update(let customer) = change, customer.isAttemptRunning,
      let place = machine.servingCustomers.first(where: { $0.customer.ticket == customer.ticket })
    else { return [] }
    let lease = Lease(
      ticket: customer.ticket, attempt: customer.attempts + 1, generation: place.generation)
    return [.assign(place.window, lease, customer)]
  }

  /// Returns an acknowledgement of a receipt that is not on disk yet, if the bug requires it.
  private func earlyAcknowledgement(of change: StoreChange) -> [QueueEffect] {
    guard bug == .acknowledgesBeforeCommit, case .finish(_, _, let receipt) = change,
      receipt.outcome == .served,
      let window = receipt.window
    else { return [] }
    let lease = Lease(ticket: receipt.ticket, attempt: receipt.attempts, generation: receipt.generation)
    return [.acknowledge(window, lease)]
  }

  private func corrupt(
    _ window: Window, _ lease: Lease, _ customer: Customer, _ machine: borrowing QueueMachine
  ) -> [QueueEffect] {
    switch bug {
    case .assignsAcrossServices:
      let other: Service = window.service == .deposit ? .loan : .deposit
      guard customer.ticket % 5 == 0 else { return [.assign(window, lease, customer)] }
      return [.assign(Window(service: other, place: 1), lease, customer)]
    case .assignsTwice:
      let other = Window(service: window.service, place: window.place == 1 ? 2 : 1)
      guard let numbers = machine.numbers(of: other), numbers.isReady, numbers.lease == nil else {
        return [.assign(window, lease, customer)]
      }
      var second = lease
      second.generation = numbers.generation
      return [.assign(window, lease, customer), .assign(other, second, customer)]
    case .reversesPriorities: return [.assign(window, lease, PriorityMirror.mirrored(customer))]
    default: return [.assign(window, lease, customer)]
    }
  }

  private func corrupt(
    _ request: RequestNumber, _ answer: QueueAnswer, of event: QueueEvent, _ machine: borrowing QueueMachine
  ) -> [QueueEffect] {
    switch (bug, answer) {
    case (.repliesTwice, _): return [.reply(request, answer), .reply(request, answer)]
    case (.dropsReplies, .done): return []
    case (.repliesBeforeCommit, .enqueued) where announced.contains(request): return []
    case (.reportsRefusedTickets, .refused(.diskFull)):
      guard case .commitRefused = event else { return [.reply(request, answer)] }
      let next = machine.dayCounters.issued + 1
      return [
        .reply(request, .enqueued(IssuedTickets(day: machine.dayCounters.day, first: next, last: next)))
      ]
    default: return [.reply(request, answer)]
    }
  }

  /// Returns an answer with tickets that are not on disk yet.
  private mutating func earlyReply(
    to event: QueueEvent, _ wanted: [QueueEffect], _ machine: borrowing QueueMachine
  ) -> [QueueEffect] {
    guard case .enqueue(let request, let orders, let total, let isLast, _, _) = event, isLast,
      Int64(orders.count) == total, total > 0
    else { return [] }
    for case .reply(request, _) in wanted { return [] }
    announced.insert(request)
    let last = machine.dayCounters.issued
    return [
      .reply(
        request, .enqueued(IssuedTickets(day: machine.dayCounters.day, first: last - total + 1, last: last)))
    ]
  }
}

extension Customer {
  /// This customer as if its attempt had not started.
  fileprivate var withoutStart: Customer {
    var customer = self
    if isAttemptRunning {
      (customer.startedAttempts, customer.isAttemptRunning) = (startedAttempts - 1, false)
    }
    return customer
  }

  /// True if the event is the loss of a worker and the customer has counted a crash.
  fileprivate func isBeside(_ event: QueueEvent) -> Bool {
    switch event {
    case .workerDisconnected, .tellerLost: crashes > 0
    default: false
    }
  }
}
