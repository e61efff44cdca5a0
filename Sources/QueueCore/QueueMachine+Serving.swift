// Messages between queue and tellers: assignment, answer, progress. A lease consists of ticket, attempt and generation.
// A message about a lease that the teller does not hold is late and ignored, or a protocol violation, which ends the
// teller.

import BankModel
import Time

extension QueueMachine {
  /// Assigns waiting customers of a service to its idle tellers, then in advance to busy ones, by priority and number.
  mutating func assignWaiting(_ index: Int, at now: Moment, into effects: inout [QueueEffect]) {
    let service = Service(index: index)
    guard stage != .finishing, !dayCounters.paused[index], mayServe(at: now) else { return }
    let rules = policy[index]
    let isCounted = rules.maxAttempts != nil
    if isCounted, isDiskFull { return }
    if rules.awaitsProcessExit, windows[index].contains(where: { $0.isBeingEnded }) { return }
    while idleWindows[index] > 0, !isSaturated {
      guard let customer = nextInLine(service, into: &effects) else { return }
      guard let place = windows[index].firstIndex(where: { $0.state == .idle }) else {
        preconditionFailure("an idle window of service \(service.number) is counted and cannot be found")
      }
      startAttempt(customer, at: place, of: index, isCounted: isCounted, now, into: &effects)
    }
    if rules.prefetch > 1, isCounted || !hasPendingStarts(of: service) {
      prefetchWaiting(service, upTo: rules.prefetch, isCounted: isCounted, at: now, into: &effects)
    }
  }

  /// Assigns customers in advance to busy tellers, first to the teller with the fewest customers.
  private mutating func prefetchWaiting(
    _ service: Service, upTo prefetch: Int, isCounted: Bool, at now: Moment,
    into effects: inout [QueueEffect]
  ) {
    let index = service.index
    while !isSaturated, let place = leastLoaded(index, below: prefetch, isCounted: isCounted) {
      if isCounted { deadLetterExhausted(service, into: &effects) }
      if let next = firstInMemory(of: service), isSuspect(next),
        windows[index][place].isSideBySide || !next.isSuspect
      {
        return
      }
      guard let customer = nextInLine(service, into: &effects) else { return }
      prefetchCustomer(customer, index, place, isCounted: isCounted, at: now, into: &effects)
    }
  }

  /// Assigns a customer to a worker that already has one. The lease starts now at a side-by-side worker, and when the
  /// earlier customers are done at a teller. If attempts are counted, the start is first written to disk.
  mutating func prefetchCustomer(
    _ customer: consuming Customer, _ service: Int, _ place: Int, isCounted: Bool, at now: Moment,
    into effects: inout [QueueEffect]
  ) {
    if isCounted { return stageStart(of: customer, service, place, at: now, into: &effects) }
    let window = windows[service][place].window
    let lease = windows[service][place].lease(of: customer)
    let isSideBySide = windows[service][place].isSideBySide
    effects.append(.assign(window, lease, customer))
    if isSideBySide { effects.append(.announce(.started, window, lease, customer)) }
    var next = WindowState.PrefetchedCustomer(customer: customer, at: now)
    if isSideBySide { next.deadline = leaseEnd(service, startedAt: now, at: now) }
    windows[service][place].prefetched.append(next)
    servingCount += 1
  }

  /// Returns the next customer of a service without removing it; nil if none waits, or a page must be loaded.
  func firstInMemory(of service: Service) -> Customer? {
    for place in dayCounters.waiting.places(of: service) {
      if let first = lines[place].front.peek { return first }
      if lines[place].count > 0 { return nil }
    }
    return nil
  }

  /// End of a lease that starts or is renewed now: after the service's `lease`, but not later than `timeout` after
  /// `startedAt`.
  func leaseEnd(_ service: Int, startedAt: Moment, at now: Moment) -> MonotonicTime {
    let rules = policy[service]
    let end = now.listeningTime + rules.lease
    return rules.timeout.map { min(end, startedAt.listeningTime + $0) } ?? end
  }

  /// The window with the fewest assigned customers that can take one more; nil if there is none.
  private func leastLoaded(_ service: Int, below prefetch: Int, isCounted: Bool) -> Int? {
    var (best, fewest) = (-1, prefetch)
    for place in windows[service].indices {
      guard let held = windows[service][place].room(below: fewest, isCounted: isCounted),
        coordinatorCrashes.isEmpty || !servesAlone(windows[service][place])
      else { continue }
      (best, fewest) = (place, held)
    }
    return best < 0 ? nil : best
  }

  /// Takes the next customer of a service out of its line; nil if no customer waits, or a page must be loaded first.
  mutating func nextInLine(_ service: Service, into effects: inout [QueueEffect]) -> Customer? {
    while let customer = takeFirst(service, into: &effects) {
      if customer.startedAttempts == 0, coordinatorCrashes.isEmpty { return customer }
      if let customer = checkBeforeAssignment(customer, into: &effects) { return customer }
    }
    return nil
  }

  /// Takes the first customer out of the lines of a service, and requests the next page of a short line. Returns nil
  /// if no customer waits, or if a page must be loaded first.
  private mutating func takeFirst(_ service: Service, into effects: inout [QueueEffect]) -> Customer? {
    for place in dayCounters.waiting.places(of: service) {
      let customer = lines[place].dequeue()
      if policy.isShared {
        claim(place, isWanted: customer == nil, into: &effects)
      } else {
        let wanted = lines[place].nextPage(lowWater: policy.lowWater(ofLineAt: place))
        if wanted > 0 {
          effects.append(
            .loadPage(dayCounters.waiting.lines[place], after: lines[place].cursor, limit: wanted))
        }
      }
      if let customer { return customer }
      // Customers of a lower priority wait until the page of this line is loaded.
      if lines[place].isLoading { return nil }
    }
    return nil
  }

  /// Adds a loaded page of waiting customers to its line, without those that workers hold.
  mutating func addPage(_ page: [Customer], _ line: Line) {
    guard !policy.isShared else { return receive(page, line) }
    var held: Set<TicketNumber> = []
    for windowState in windows[line.service.index] where windowState.isServing {
      if let customer = windowState.customer { held.insert(customer.ticket) }
      for next in windowState.prefetched { held.insert(next.customer.ticket) }
    }
    // Most customers of a page have higher numbers than the assigned customers, so the set is searched only for numbers
    // up to the highest assigned one.
    let last = held.max() ?? .min
    lines[index(of: line)].append(page: page) { $0 <= last && held.contains($0) }
  }

  /// Assigns a customer to an idle worker. If attempts are counted, the start is first written to disk.
  mutating func startAttempt(
    _ customer: consuming Customer, at place: Int, of service: Int, isCounted: Bool, _ now: Moment,
    into effects: inout [QueueEffect]
  ) {
    leaveIdle(service, place)
    if isCounted { return stageStart(of: customer, service, place, at: now, into: &effects) }
    servingCount += 1
    effects.append(
      .assign(windows[service][place].window, windows[service][place].lease(of: customer), customer))
    serve(WindowState.PrefetchedCustomer(customer: customer, at: now), service, place, now, into: &effects)
  }

  private mutating func serve(
    _ next: consuming WindowState.PrefetchedCustomer, _ service: Int, _ place: Int, _ now: Moment,
    into effects: inout [QueueEffect]
  ) {
    let end = leaseEnd(service, startedAt: next.at, at: now)
    let lease = windows[service][place].lease(of: next.customer)
    effects.append(.announce(.started, windows[service][place].window, lease, next.customer))
    _ = windows[service][place].startAttempt(next, until: end)
  }

  /// Continues with the teller's next customer, waits for recalled customers, or marks the teller as idle.
  mutating func continueServing(
    _ service: Int, _ place: Int, _ now: Moment, into effects: inout [QueueEffect]
  ) {
    guard !windows[service][place].prefetched.isEmpty else {
      // The coordinator does not kill an outside worker. Its recalled customers that were not returned yet count
      // against its capacity instead.
      guard !windows[service][place].recalled.isEmpty, !windows[service][place].window.isOutside else {
        return free(service, place, into: &effects)
      }
      // The teller becomes idle after it has returned all recalled customers.
      windows[service][place].state = .recalling(windows[service][place].recalled)
      windows[service][place].recalled = []
      windows[service][place].deadline = now.listeningTime + recallTimeout(service)
      return
    }
    let next = windows[service][place].prefetched.removeFirst()
    guard windows[service][place].isSideBySide else {
      return serve(next, service, place, now, into: &effects)
    }
    // At a side-by-side worker, the lease started when the customer was sent to it.
    _ = windows[service][place].startAttempt(next, until: next.deadline)
  }

  /// Marks a teller or worker as ready.
  ///
  /// - Parameter inFlight: maximum number of customers that the worker serves side by side; nil for a teller, which
  ///   serves one after the other.
  mutating func registerReady(
    _ window: Window, _ generation: Generation, pid: Int32, inFlight: Int? = nil,
    into effects: inout [QueueEffect]
  ) {
    guard let (service, place) = locate(window), generation > windows[service][place].generation else {
      return
    }
    windows[service][place].generation = generation
    windows[service][place].pid = pid
    windows[service][place].isReplaced = false
    windows[service][place].isBeingEnded = false
    windows[service][place].mayReturn = false
    windows[service][place].recalled = []
    windows[service][place].isSideBySide = inFlight != nil
    windows[service][place].capacity = inFlight ?? Limits.customersPerWorker
    free(service, place, into: &effects)
  }

  /// Handles a teller's answer to a lease.
  mutating func handle(
    _ answer: TellerAnswer, of lease: Lease, from window: Window, _ generation: Generation, at now: Moment,
    into effects: inout [QueueEffect]
  ) {
    guard let (service, place) = locate(window), windows[service][place].generation == generation else {
      return
    }
    // The teller answers the recall, or had sent its answer before the recall arrived.
    if removeRecalled(lease, service, place) { return }
    if hasNotStarted(lease, at: window) {
      return endForViolation(
        service, place, violationText("reported on", lease, generation), at: now, into: &effects)
    }
    let isSideBySide = windows[service][place].isSideBySide
    if isSideBySide { windows[service][place].bringForward(lease) }
    switch windows[service][place].state {
    case .serving(let held) where held == lease:
      if answer == .returned, !windows[service][place].mayReturn, !isSideBySide {
        endForViolation(
          service, place, "returned customer \(lease.ticket) without a recall", at: now, into: &effects)
        return
      }
      if case .outOfStock(let missing) = answer,
        let validationError = window.service.validationError(of: missing)
      {
        endForViolation(
          service, place, "rejected customer \(lease.ticket) \(validationError)", at: now, into: &effects)
        return
      }
      guard let customer = release(service, place) else { return }
      switch answer {
      case .done: complete(customer, lease, service, place, at: now, into: &effects)
      case .worked(var result):
        if isSideBySide {
          let startedAt = windows[service][place].startedAt.monotonic
          result = result.lasting(now.monotonic.since(startedAt))
        }
        complete(customer, lease, service, place, result: result, at: now, into: &effects)
      case .outOfStock(let missing):
        complete(customer, lease, service, place, missing: missing, at: now, into: &effects)
      case .returned where isSideBySide:
        // The returned customer is delayed, as if its work had asked for a later retry: reassigning it now could keep
        // worker and coordinator busy with this customer alone.
        let failure = WorkFailure("returned by the worker", .later, isNotStarted: true)
        fail(customer, failure, service, place, at: now, into: &effects)
      case .returned: requeueAtHead(customer, service, place, mayHaveStarted: false, at: now, into: &effects)
      case .failed(let failure): fail(customer, failure, service, place, at: now, into: &effects)
      }
      continueServing(service, place, now, into: &effects)
    case .recalling(let held) where held.contains(lease):
      let left = held.filter { $0 != lease }
      windows[service][place].state = .recalling(left)
      if left.isEmpty { free(service, place, into: &effects) }
    // The queue ignores a teller that is being killed or was dismissed, and late messages after a teller's exit.
    case .terminating, .vacant: return
    case .serving, .recalling, .idle:
      endForViolation(
        service, place, violationText("reported on", lease, generation), at: now, into: &effects)
    }
  }

  /// Returns true if the lease was recalled, and removes the lease from the recalled ones.
  private mutating func removeRecalled(_ lease: Lease, _ service: Int, _ place: Int) -> Bool {
    guard !windows[service][place].recalled.isEmpty,
      let index = windows[service][place].recalled.firstIndex(of: lease)
    else { return false }
    windows[service][place].recalled.remove(at: index)
    return true
  }

  /// Handles a progress report, which restarts the lease within the service's `timeout`.
  mutating func renew(
    _ lease: Lease, of window: Window, _ generation: Generation, at now: Moment,
    into effects: inout [QueueEffect]
  ) {
    guard let (service, place) = locate(window), windows[service][place].generation == generation else {
      return
    }
    if hasNotStarted(lease, at: window) {
      return endForViolation(
        service, place, violationText("reported progress with", lease, generation), at: now, into: &effects)
    }
    if windows[service][place].isSideBySide { windows[service][place].bringForward(lease) }
    switch windows[service][place].state {
    case .serving(let held) where held == lease:
      let startedAt = windows[service][place].startedAt
      windows[service][place].deadline = leaseEnd(service, startedAt: startedAt, at: now)
    case .recalling(let held) where held.contains(lease): return
    case .terminating, .vacant: return
    case .serving where windows[service][place].recalled.contains(lease): return
    case .idle where windows[service][place].recalled.contains(lease): return
    case .serving, .recalling, .idle:
      endForViolation(
        service, place, violationText("reported progress with", lease, generation), at: now, into: &effects)
    }
  }

  /// Description of a message about a lease that the teller does not hold.
  private func violationText(_ action: String, _ lease: Lease, _ generation: Generation) -> String {
    guard lease.generation == generation else {
      return
        "\(action) customer \(lease.ticket) as generation \(lease.generation), but is generation \(generation)"
    }
    return "\(action) customer \(lease.ticket), attempt \(lease.attempt), which it does not hold"
  }

  /// Stages the receipt of a customer that a worker has finished, and counts the customer as served.
  private mutating func complete(
    _ customer: consuming Customer, _ lease: Lease, _ service: Int, _ place: Int, missing: [Shortage] = [],
    result: WorkResult? = nil, at now: Moment, into effects: inout [QueueEffect]
  ) {
    var receipt = receipt(
      of: customer, missing.isEmpty ? .served : .outOfStock, at: windows[service][place].servingAttempt,
      lease, now)
    receipt.shortages = missing
    receipt.result = result
    dayCounters.waiting[customer.line] -= 1
    stage(.finish(copy customer, from: .waiting, receipt), into: &effects)
    if let result { uncommittedBytes += result.size }
    dayCounters.served += 1
    dayCounters.servedByService[service] += 1
    windows[service][place].countServed(lease)
    effects.append(.announce(.completed, windows[service][place].window, lease, customer))
  }

  /// Notifies a busy teller that no customer follows, if its service uses the stock. The teller may be waiting for a
  /// stock that no longer answers, so it may then return customers that it cannot start.
  mutating func announceClosing(_ service: Int, _ place: Int, into effects: inout [QueueEffect]) {
    let windowState = windows[service][place]
    guard windowState.isServing, windowState.window.service.usesStock, !windowState.mayReturn else {
      return
    }
    windows[service][place].mayReturn = true
    effects.append(.notifyNoMoreCustomers(windowState.window))
  }

  /// Removes and returns the further customers of a window, all but the current one.
  mutating func releasePrefetched(_ service: Int, _ place: Int) -> [WindowState.PrefetchedCustomer] {
    let prefetched = windows[service][place].prefetched
    windows[service][place].prefetched = RingBuffer()
    servingCount -= Int64(prefetched.count)
    return Array(prefetched)
  }

  /// Removes and returns the current customer of a window; nil if there is none.
  mutating func release(_ service: Int, _ place: Int) -> Customer? {
    guard windows[service][place].isServing, let customer = windows[service][place].customer.take()
    else { return nil }
    windows[service][place].deadline = MonotonicTime(nanoseconds: .max)
    servingCount -= 1
    return customer
  }

  /// Receipt of a customer that ends now. A customer without a worker has no `servingAttempt` and no `lease`.
  func receipt(
    of customer: Customer, _ outcome: Outcome, at servingAttempt: WindowState.ServingAttempt?,
    _ lease: Lease?, _ now: Moment
  ) -> Receipt {
    Receipt(
      day: dayCounters.day, ticket: customer.ticket, service: customer.service, priority: customer.priority,
      outcome: outcome, window: servingAttempt?.window, generation: servingAttempt?.generation ?? 0,
      pid: servingAttempt?.pid ?? 0, attempts: lease?.attempt ?? customer.attempts, amount: customer.amount,
      account: customer.account, issuedAt: customer.issuedAt, startedAt: servingAttempt?.startedAt,
      finishedAt: now.wall, itemName: customer.itemName,
      postingRule: customer.amount > 0
        ? customer.service.postingRule ?? policy[customer.service.index].postingRule : nil)
  }

  /// Stages the record of an attempt that ended without a receipt from its worker.
  mutating func record(
    _ lease: Lease, at windowState: WindowState, _ end: AttemptEnd, _ processEnd: ProcessEnd? = nil,
    _ words: String? = nil, at now: Moment, into effects: inout [QueueEffect]
  ) {
    stage(
      .record(
        Attempt(
          day: dayCounters.day, ticket: lease.ticket, number: lease.attempt, window: windowState.window,
          generation: windowState.generation, pid: windowState.pid, startedAt: windowState.startedAt.wall,
          endedAt: now.wall, end: end, processEnd: processEnd, words: words ?? "")), into: &effects)
  }
}
