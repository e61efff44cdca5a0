// Outside workers: they have no window, serve one or more services, and are neither started nor killed by the
// coordinator. If a worker disconnects, its customers return to their lines or become dead letters. If a worker reports
// no progress for one customer, it loses the lease of this customer and continues with its other customers.
// Invariant: the queue assigns a worker at most `inFlight` customers over all its services. Recalled customers that the
// worker has not returned yet are counted.

import BankModel
import Time

/// A connected outside worker.
struct OutsideWorker: Sendable {
  /// Slots of the worker, one for each of its services.
  var places: [Window]
  /// Maximum number of customers that the worker holds at once.
  let capacity: Int
}

extension QueueMachine {
  /// Registers an outside worker that has connected, with one slot for each service.
  mutating func admit(
    _ services: [Service], number: Int32, _ generation: Generation, pid: Int32, inFlight: Int
  ) {
    guard outsideWorkers[generation] == nil else { return }
    var places: [Window] = []
    for service in services {
      know(service)
      let window = Window.outside(service, number: number)
      guard locate(window) == nil else { continue }
      var windowState = WindowState(window: window)
      (windowState.generation, windowState.pid, windowState.state) = (generation, pid, .idle)
      (windowState.isSideBySide, windowState.capacity) = (true, inFlight)
      windows[service.index].append(windowState)
      outsideCounts[service.index] += 1
      places.append(window)
    }
    outsideWorkers[generation] = OutsideWorker(places: places, capacity: inFlight)
  }

  /// Removes a slot of an outside worker whose customers were returned.
  mutating func removeOutside(_ window: Window) {
    guard let (service, place) = locate(window) else { return }
    let generation = windows[service][place].generation
    windows[service].remove(at: place)
    outsideCounts[service] -= 1
    outsideWorkers[generation]?.places.removeAll { $0 == window }
    if outsideWorkers[generation]?.places.isEmpty == true { outsideWorkers[generation] = nil }
  }

  /// Index of an outside worker's slot among the windows of a service; nil if there is no such slot.
  func locateOutside(_ window: Window, _ service: Int) -> (service: Int, place: Int)? {
    let first = windows[service].count - outsideCounts[service]
    return windows[service][first...].firstIndex { $0.window == window }.map { (service, $0) }
  }

  /// Assigns waiting customers to outside workers, the highest priority over all services first. Among services with
  /// the same priority, the one whose last assignment is oldest is next, so that none starves.
  mutating func assignToOutsideWorkers(at now: Moment, into effects: inout [QueueEffect]) {
    guard stage != .finishing, mayServe(at: now) else { return }
    // Services without a free worker, or without a customer to assign now.
    var passed: Set<Int> = []
    while !isSaturated, let index = nextOutside(besides: passed) {
      let service = Service(index: index)
      let isCounted = policy[index].maxAttempts != nil
      if isCounted { deadLetterExhausted(service, into: &effects) }
      guard let place = mostIdle(index, for: firstInMemory(of: service)) else {
        passed.insert(index)
        continue
      }
      guard let customer = nextInLine(service, into: &effects) else {
        // The next page of this service is being loaded. A local store returns it soon, so services with a lower
        // priority wait.
        guard policy.isShared || !hasHead(service) else { return }
        passed.insert(index)
        continue
      }
      outsideAssignmentSerials[index] = (outsideAssignmentSerials.max() ?? 0) + 1
      if windows[index][place].state == .idle {
        startAttempt(customer, at: place, of: index, isCounted: isCounted, now, into: &effects)
      } else {
        prefetchCustomer(customer, index, place, isCounted: isCounted, at: now, into: &effects)
      }
      if isCounted { deadLetterExhausted(service, into: &effects) }
    }
  }

  /// Index of the service, other than those in `passed`, whose customer is assigned next to an outside worker; nil for
  /// none.
  private func nextOutside(besides passed: Set<Int>) -> Int? {
    var best: (index: Int, priority: Priority)?
    for index in windows.indices
    where outsideCounts[index] > 0 && !dayCounters.paused[index] && !passed.contains(index) {
      if isDiskFull, policy[index].maxAttempts != nil { continue }
      guard let priority = headPriority(of: Service(index: index)) else { continue }
      if let best {
        guard
          priority == best.priority
            ? outsideAssignmentSerials[index] < outsideAssignmentSerials[best.index]
            : priority < best.priority
        else { continue }
      }
      best = (index, priority)
    }
    return best?.index
  }

  /// True if a customer waits for the service, or may wait for it in the shared database.
  private func hasHead(_ service: Service) -> Bool { headPriority(of: service) != nil }

  /// The priority of a service's first occupied line; nil if all lines are empty. With a shared database, a line
  /// counts as occupied while the database may contain further customers of the line.
  private func headPriority(of service: Service) -> Priority? {
    for place in dayCounters.waiting.places(of: service)
    where lines[place].count > 0 || lines[place].mayHoldMore {
      return dayCounters.waiting.lines[place].priority
    }
    return nil
  }

  /// Index of the outside worker's slot with the most free capacity that may serve the customer `next`; nil if there
  /// is none.
  ///
  /// A customer that must be served alone goes only to a worker that serves no other customer. Among these workers,
  /// one that has also returned all recalled customers is preferred. Such a worker is not required, because the line
  /// would stop if a worker never returned a recalled customer.
  ///
  /// No worker gets a lease that it has not returned yet, because its answers would be ambiguous. A lease can repeat
  /// after a reset, when numbers restart and the worker has not returned the earlier customer with the same number.
  private func mostIdle(_ service: Int, for next: Customer?) -> Int? {
    var best: (place: Int, isFree: Bool, room: Int)?
    for place in (windows[service].count - outsideCounts[service])..<windows[service].count {
      let windowState = windows[service][place]
      guard windowState.state == .idle || windowState.isServing, !windowState.isClosing,
        let worker = outsideWorkers[windowState.generation]
      else { continue }
      let lease = next.map { windowState.lease(of: $0) }
      var (held, inFlight) = (0, 0)
      var isKeptOff = false
      for window in worker.places {
        guard let (service, place) = locate(window) else { continue }
        let other = windows[service][place]
        held += other.held
        inFlight += other.inFlight
        if servesAlone(other) || other.recalled.contains(where: { $0 == lease }) { isKeptOff = true }
      }
      let isSuspect = next.map { self.isSuspect($0) } ?? false
      let capacity = min(worker.capacity, max(policy[service].prefetch, 1))
      let room = min(worker.capacity - held, capacity - windowState.held)
      guard room > 0, !isKeptOff, !isSuspect || inFlight == 0 else { continue }
      let isFree = isSuspect && held == 0
      guard let known = best else {
        best = (place, isFree, room)
        continue
      }
      if isFree == known.isFree ? room > known.room : isFree { best = (place, isFree, room) }
    }
    return best?.place
  }

  /// True if the worker at this slot serves no other customer, as far as the coordinator can tell. All slots of an
  /// outside worker are considered, and recalled customers that the worker has not returned yet. True for a teller,
  /// which serves one customer at a time.
  func isAlone(_ ticket: TicketNumber, _ service: Int, _ place: Int) -> Bool {
    let windowState = windows[service][place]
    guard windowState.isSideBySide else { return true }
    var places = [(service: service, place: place)]
    if windowState.window.isOutside {
      places = outsideWorkers[windowState.generation]?.places.compactMap { locate($0) } ?? []
    }
    return places.allSatisfy { service, place in
      let other = windows[service][place]
      return (!other.isServing || other.customer?.ticket == ticket)
        && other.prefetched.allSatisfy { $0.customer.ticket == ticket }
        && other.recalled.allSatisfy { $0.ticket == ticket }
    }
  }

  /// The customer of an outside worker if it is the worker's only customer; nil if there are several or none. It is
  /// blamed for an event that ends all attempts of the worker at once.
  func onlyCustomer(of generation: Generation) -> TicketNumber? {
    let places = outsideWorkers[generation]?.places.compactMap { locate($0) } ?? []
    for (service, place) in places {
      guard let customer = windows[service][place].customer, windows[service][place].isServing else {
        continue
      }
      return isAlone(customer.ticket, service, place) ? customer.ticket : nil
    }
    return nil
  }

  /// Takes customers with expired leases from a side-by-side worker, as if it had crashed. An outside worker continues
  /// with its other customers.
  ///
  /// - Parameter alone: the worker's only customer when the first lease expired; nil if there were several.
  mutating func interruptExpired(
    _ service: Int, _ place: Int, alone: TicketNumber?, at now: Moment, into effects: inout [QueueEffect]
  ) {
    while windows[service][place].isServing, windows[service][place].nextLeaseEnd <= now.listeningTime {
      let windowState = windows[service][place]
      if let late = windowState.prefetched.first(where: { $0.deadline <= now.listeningTime }) {
        windows[service][place].bringForward(windowState.lease(of: late.customer))
      }
      guard let customer = release(service, place) else { return }
      let lease = windowState.lease(of: customer)
      interrupt(
        customer, lease, service, place, .leaseExpired, nil, wasAlone: customer.ticket == alone, at: now,
        into: &effects)
      windows[service][place].recalled.append(lease)
      effects.append(.recall(windowState.window, lease))
      continueServing(service, place, now, into: &effects)
    }
  }
}
