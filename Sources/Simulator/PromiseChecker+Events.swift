// Checks of one event and of the effects that the core returns for it.
// Invariant: in one step every cause has its effect and every effect its cause, except that changes staged again after
// a refused commit are not checked again. When a lease ends, its attempt is recorded and its customer gets a new state.
// When a customer is done, its receipt is written.
import BankModel
import QueueCore
import Time

struct CheckedStep {
  /// Attempts that have ended and must be recorded.
  var owed: [(holder: PromiseChecker.Holder, end: AttemptEnd)] = []
  /// The customer whose receipt must be written.
  var done: PromiseChecker.Holder?
  /// Customers whose attempt was recorded and who must get a new state.
  var afloat: [TicketNumber] = []
  /// Tellers that must be killed, and leases that must be recalled.
  var stuck: [Window] = []
  var toRecall: [(window: Window, lease: Lease)] = []
  /// A customer that a client cancels, in any state.
  var cancelling: TicketNumber?
  /// True if this step's changes were staged before, in a commit that was refused.
  var isRepeat = false
  /// True if the sender of the message belongs to a dead generation.
  var isLate = false
  /// The window of a teller that has violated the protocol.
  var rogue: Window?
  /// A service whose pause must be reported in this step.
  var owedPause: Service?
  var inserted: Int64 = 0
  /// Number of customers who wait, are delayed, or belong to a partly accepted request, when a new request arrives; nil
  /// for any other event.
  var standing: Int64?
  var wasJammed = false
  /// Consequences of this step for customers of commands and of concurrent workers.
  var verdict = PromiseChecker.Verdict()
  /// Customers whose start this step has made durable.
  var settledStarts: Set<TicketNumber> = []
  /// Customers whose attempt was lost with a coordinator, each with the maximum number of coordinators that lost it.
  var fallen: [TicketNumber: Int] = [:]
  /// Customers whose work was not started in the attempt that has ended.
  var unbegun: Set<TicketNumber> = []
}

extension PromiseChecker {
  func willApply(_ event: QueueEvent, to core: borrowing QueueMachine, at now: Moment) {
    step = CheckedStep()
    step.wasJammed = core.isJammed || isShort
    latestWall = max(latestWall, now.wall)
    noteWhoIsAlone()
    if let request = event.request { note(request) }
    switch event {
    case .enqueue(let request, _, _, let isLast, _):
      if takingIn != request {
        // Space for all customers of a partly accepted request is already reserved.
        step.standing = core.books.waitingInAll + core.books.delayed + (core.arriving?.total ?? 0)
      }
      if !isLast { takingIn = request } else if takingIn == request { takingIn = nil }
    case .sealed:
      let before = seals.reduce(into: Set<TicketNumber>()) { $0.formUnion($1.starting) }
      seals.append(
        Seal(
          issued: core.books.issued, paused: paused, starting: Set(starting.keys).subtracting(before)))
    case .committed:
      let settled =
        seals.isEmpty
        ? Seal(issued: core.books.issued, paused: paused, starting: Set(starting.keys)) : seals.removeFirst()
      settledPauses = settled.paused
      step.settledStarts = settled.starting
      view.settleNewcomers(through: settled.issued)
    case .roomChanged(let isShort): self.isShort = isShort
    case .commitRefused:
      step.isRepeat = true
      takingIn = nil
      paused = settledPauses
      seals.removeAll()
      takeBackStarts()
      view.dropNewcomers()
    case .intakeAbandoned:
      if let request = core.arriving?.request { close(request) }
      takingIn = nil
      view.dropArriving()
    case .tellerReady(let window, let generation, _):
      generations[window] = generation
      recalled.removeAll { $0.window == window }
      cancelled.removeAll { $0.window == window }
      closing.remove(window)
    case .workerReady(let window, let generation, _, let inHand):
      workerCame([window], generation, inHand: inHand)
    case .workerCame(let services, let number, let generation, _, let inHand):
      workerCame(services.map { .outside($0, number: number) }, generation, inHand: inHand)
    case .workerGone(let generation): loseForeign(generation, at: outsidePlaces(of: generation))
    case .tellerAnswered(let window, let generation, let lease, let answer):
      hear(window, generation, lease, answer, at: now)
    case .tellerProgressed(let window, let generation, let lease):
      hear(window, generation, lease, nil, at: now)
    case .tellerLost(let window, let generation, _): lose(window, generation)
    case .cancel(let request, let ticket):
      step.cancelling = ticket
      open[request] = .cancel(TicketName(day: view.day, ticket: ticket))
    case .reset(let request): if open[request] != nil { open[request] = .reset(view.day) }
    case .pause(_, let service): if !core.isJammed { setPaused(true, service) }
    case .resume(_, let service): if !core.isJammed { setPaused(false, service) }
    case .drain: isDraining = true
    case .finish: isFinishing = true
    case .vacate:
      isFinishing = true
      while let first = holders.first {
        step.owed.append((first, .recalled))
        holders.removeFirst()
        takeBackAhead(first.window)
      }
    case .endDay:
      if hasEndedDay {
        violate(.books, "day \(view.day) is closed right after the previous day")
      }
      hasEndedDay = true
    default: break
    }
  }

  private func note(_ request: RequestNumber) {
    if closed.contains(request) { violate(.answer, "request \(request) continues after its response") }
    if open[request] == nil { open[request] = .other }
  }

  private func setPaused(_ isPaused: Bool, _ service: Service?) {
    for index in paused.indices where service == nil || service?.index == index { paused[index] = isPaused }
  }

  /// A teller has answered a lease, or reported progress if the answer is nil.
  private func hear(
    _ window: Window, _ generation: Generation, _ lease: Lease, _ answer: TellerAnswer?, at now: Moment
  ) {
    guard generations[window] == generation else {
      step.isLate = true
      return
    }
    guard foreign[window] == nil else { return hearForeign(window, lease, answer, at: now) }
    // Messages about a cancelled customer change nothing, and the teller continues with the others.
    if let place = cancelled.firstIndex(where: { $0.window == window && $0.lease == lease }) {
      if answer != nil { cancelled.remove(at: place) }
      return
    }
    guard let place = holders.firstIndex(where: { $0.window == window }) else {
      // The teller holds no customer: this is its answer to a recall, a late message, or a lie.
      if answer != nil, recalled.contains(where: { $0.window == window && $0.lease == lease }) {
        recalled.removeAll { $0.window == window && $0.lease == lease }
      } else {
        step.rogue = window
      }
      return
    }
    if holders[place].lease == lease, let answer, answer != .returned || closing.contains(window) {
      let holder = holders.remove(at: place)
      if window.service.isForCommands { hearCommand(holder, answer) }
      switch answer {
      case .failed(let failure) where window.service.isForCommands:
        step.owed.append((holder, end(of: failure, holder)))
      case .failed: step.owed.append((holder, .failed))
      case .returned: step.owed.append((holder, .recalled))
      case .done, .worked, .outOfStock: step.done = holder
      }
      // The lease of the next assigned customer, if any, starts.
      if let next = holders.firstIndex(where: { $0.window == window }) {
        holders[next].progressAt = now.attended
      }
    } else if holders[place].lease == lease, answer == nil {
      holders[place].progressAt = now.attended
    } else {
      step.rogue = window
      step.owed.append((holders.remove(at: place), .killed))
      takeBackAhead(window)
    }
  }

  /// The first customer of a window has left without an answer. The other customers assigned to the window were not
  /// started, and return to their lines.
  func takeBackAhead(_ window: Window) {
    for holder in holders where holder.window == window { step.owed.append((holder, .recalled)) }
    holders.removeAll { $0.window == window }
  }

  private func lose(_ window: Window, _ generation: Generation) {
    guard foreign[window] == nil else { return loseForeign(generation, at: [window]) }
    recalled.removeAll { $0.window == window }
    cancelled.removeAll { $0.window == window }
    // From now on every message of this teller is late.
    if generations[window] == generation { generations[window] = nil }
    guard let place = holders.firstIndex(where: { $0.window == window && $0.lease.generation == generation })
    else { return }
    step.owed.append((holders.remove(at: place), .killed))
    takeBackAhead(window)
  }

  // MARK: - Effects of the core

  func didApply(
    _ event: QueueEvent, to core: borrowing QueueMachine, _ effects: ArraySlice<QueueEffect>, at now: Moment
  ) {
    // Any event also returns due customers to their lines. A late message must have no other effect.
    let isCall = effects.first?.callsTheDelayed == true
    if step.isLate, let effect = isCall ? effects.first(where: { !$0.followsACall }) : effects.first {
      violate(.lateWord, "a message of a dead generation led to \(effect)")
    }
    for effect in effects { follow(effect, event, at: now) }
    checkEnqueue(event, effects)
    checkIssued(by: core)
    if case .tellerReady(let window, let generation, _) = event, let numbers = core.numbers(of: window),
      numbers.generation != generation || !numbers.isReady, !effects.contains(.dismissTeller(window))
    {
      violate(.conversation, "generation \(generation) of \(window) is ready, but the queue does not know it")
    }
    checkConsequences(of: event, at: now)
    checkNumbers(of: core)
    view.day = core.books.day
  }

  private func follow(_ effect: QueueEffect, _ event: QueueEvent, at now: Moment) {
    switch effect {
    case .stage(let change): if !step.isRepeat { follow(change, at: now) }
    case .assign(let window, let lease, let customer): assign(window, lease, customer, at: now)
    case .acknowledge(let window, let lease):
      if finished.remove(Finished(window: window, lease: lease)) == nil {
        violate(.notDurable, "\(window) is notified that ticket \(lease.ticket) is on disk, but it is not")
      }
    case .recall(let window, let lease):
      step.toRecall.removeAll { $0.window == window && $0.lease == lease }
      // A customer that a worker still has to return counts as held.
      if foreign[window] != nil
        || step.cancelling == lease.ticket
          && holders.contains(where: { $0.window == window })
      {
        cancelled.append((window, lease))
      } else {
        recalled.append((window, lease))
      }
    case .reportPause(let service, _):
      if step.owedPause != service { violate(.paused, "service \(service.number) is paused for no reason") }
      step.owedPause = nil
    case .announceClosing(let window): closing.insert(window)
    case .endStuckTeller(let window, let generation): endStuck(window, generation)
    case .endRogueTeller(let window, let generation, let reason):
      if step.rogue != window || generations[window] != generation {
        violate(.conversation, "generation \(generation) of \(window) is ended because it \(reason)")
      }
    case .dismissTeller(let window):
      if holders.contains(where: { $0.window == window }) {
        violate(.conversation, "\(window) is closed while it holds a customer")
      }
    case .reply(let request, let answer): reply(request, answer)
    case .reportDrained:
      if hasDrained { violate(.answer, "the drain was reported twice") }
      hasDrained = true
    default: break
    }
  }

  private func endStuck(_ window: Window, _ generation: Generation) {
    if generations[window] != generation {
      violate(.conversation, "generation \(generation) of \(window) is ended, but another one is running")
    }
    if let place = step.stuck.firstIndex(of: window) {
      step.stuck.remove(at: place)
    } else if (recalled + cancelled).contains(where: { $0.window == window }) {
      recalled.removeAll { $0.window == window }
      cancelled.removeAll { $0.window == window }
    } else {
      violate(.lease, "\(window) is ended as stuck too early")
    }
  }

  private func assign(_ window: Window, _ lease: Lease, _ customer: Customer, at now: Moment) {
    world.statistics.assignments += 1
    if customer.service != window.service {
      return violate(
        .crossedServices,
        "\(window) got ticket \(customer.ticket), which is for service \(customer.service.number)")
    }
    let isForeign = window.service.isForForeigners
    if isForeign { assignForeign(window, lease, customer) }
    let held = holders.filter { $0.window == window }
    let prefetch = policy[window.service.index].prefetch
    if !isForeign, held.count + cancelled.count(where: { $0.window == window }) >= prefetch {
      let tickets = held.map { String($0.lease.ticket) }.joined(separator: ", ")
      return violate(
        .doubleLease,
        "\(window) got ticket \(customer.ticket), may hold \(prefetch) and holds \(tickets)")
    }
    checkFall(of: customer, at: window)
    if let held = holders.first(where: { $0.lease.ticket == customer.ticket }) {
      return violate(.doubleLease, "\(window) got ticket \(customer.ticket), which \(held.window) holds")
    }
    if recalled.contains(where: { $0.window == window }) {
      return violate(.doubleLease, "\(window) got ticket \(customer.ticket) before it had returned another")
    }
    if lease.generation != generations[window] || lease.attempt != customer.attempts + 1 {
      return violate(.lease, "\(window) got the lease \(lease) of another window")
    }
    if paused[customer.service.index] || isFinishing {
      return violate(.paused, "\(window) got ticket \(customer.ticket), but its service is paused")
    }
    if view.newcomers.contains(customer.ticket) {
      return violate(.notDurable, "ticket \(customer.ticket) is assigned before it is on disk")
    }
    if let moment = asked[JuiceOrder(customer.article)?.account ?? customer.account], latestWall < moment {
      return violate(
        .early,
        "ticket \(customer.ticket) is served \(moment.milliseconds - latestWall.milliseconds) ms before its due time"
      )
    }
    if countsAttempts(of: window.service) || customer.isBegun {
      guard step.settledStarts.contains(customer.ticket),
        starting.removeValue(forKey: customer.ticket) == customer
      else {
        return violate(.notDurable, "ticket \(customer.ticket) starts before that is on disk")
      }
      return hold(window, lease, customer, at: now, isInTurn: held.isEmpty || isForeign)
    }
    let first = view.first(of: window.service)
    if first != customer.ticket || view.customers[customer.ticket] != customer {
      return violate(.order, "\(window) got ticket \(customer.ticket), but ticket \(first ?? 0) is first")
    }
    _ = view.leaveLine(customer)
    view.states[customer.ticket] = .serving
    hold(window, lease, customer, at: now, isInTurn: held.isEmpty || isForeign)
  }

  private func hold(_ window: Window, _ lease: Lease, _ customer: Customer, at now: Moment, isInTurn: Bool) {
    let begins = isInTurn ? now.attended : MonotonicTime(nanoseconds: .max)
    holders.append(
      Holder(
        window: window, lease: lease, customer: customer, progressAt: begins, heldSince: now.attended))
  }
}

extension QueueEvent {
  fileprivate var request: RequestNumber? {
    switch self {
    case .enqueue(let request, _, _, _, _), .cancel(let request, _), .requeue(let request, _),
      .requeueDead(let request), .pause(let request, _), .resume(let request, _), .reset(let request):
      request
    default: nil
    }
  }
}

extension QueueEffect {
  /// True if a due customer joins its line, or the next due ones are requested from the store.
  fileprivate var callsTheDelayed: Bool {
    switch self {
    case .stage(.revive(_, from: .delayed)), .loadDelayed: true
    default: false
    }
  }

  /// True if the effect can follow from a customer joining its line.
  fileprivate var followsACall: Bool {
    switch self {
    case .assign, .announce(.started, _, _, _), .loadPage: true
    default: callsTheDelayed
    }
  }
}
