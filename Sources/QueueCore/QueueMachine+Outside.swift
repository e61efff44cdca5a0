// Owns what is different with workers that have come by themselves: they stand at no window, serve many services, and nobody
// started or ends them. One that goes away gives its customers back; one that is silent loses a lease, and goes on with the
// others. Invariant: over all its services a worker holds no more than it takes at once, those counted who were taken back and
// whom it has not given back yet.

import BankModel
import Time

/// A worker that has come by itself, as long as it is there.
struct OutsideWorker: Sendable {
  /// Where it stands, one place for each of its services.
  var places: [Window]
  /// Customers that it takes at once.
  let capacity: Int
}

extension QueueMachine {
  /// Takes a worker in that has come by itself.
  mutating func admit(
    _ services: [Service], number: Int32, _ generation: Generation, pid: Int32, inHand: Int
  ) {
    guard outsideWorkers[generation] == nil else { return }
    var places: [Window] = []
    for service in services {
      know(service)
      let window = Window.outside(service, number: number)
      guard locate(window) == nil else { continue }
      var windowState = WindowState(window: window)
      (windowState.generation, windowState.pid, windowState.state) = (generation, pid, .idle)
      (windowState.isSideBySide, windowState.capacity) = (true, inHand)
      windows[service.index].append(windowState)
      outsideCounts[service.index] += 1
      places.append(window)
    }
    outsideWorkers[generation] = OutsideWorker(places: places, capacity: inHand)
  }

  /// The place of a worker is gone, with everybody who was there.
  mutating func removeOutside(_ window: Window) {
    guard let (service, place) = locate(window) else { return }
    let generation = windows[service][place].generation
    windows[service].remove(at: place)
    outsideCounts[service] -= 1
    outsideWorkers[generation]?.places.removeAll { $0 == window }
    if outsideWorkers[generation]?.places.isEmpty == true { outsideWorkers[generation] = nil }
  }

  func locateOutside(_ window: Window, _ service: Int) -> (service: Int, place: Int)? {
    let first = windows[service].count - outsideCounts[service]
    return windows[service][first...].firstIndex { $0.window == window }.map { (service, $0) }
  }

  /// Gives waiting customers to workers that have come by themselves: over all services the highest priority first. Of services
  /// with the same priority the one with the longest wait for its turn is next. A worker for several services starves none.
  mutating func handOutside(at now: Moment, into effects: inout [QueueEffect]) {
    guard stage != .finishing, mayServe(at: now) else { return }
    // Services without a free worker, or without a customer to hand out now.
    var passed: Set<Int> = []
    while !isSaturated, let index = nextOutside(besides: passed) {
      let service = Service(index: index)
      let isCounted = policy[index].maxAttempts != nil
      if isCounted { putAsideTheSpent(service, into: &effects) }
      guard let place = roomiest(index, for: firstInMemory(of: service)) else {
        passed.insert(index)
        continue
      }
      guard let customer = nextInLine(service, into: &effects) else {
        // A page of the bank's own books comes soon, and services with a lower priority wait for it.
        guard policy.isShared || !hasHead(service) else { return }
        passed.insert(index)
        continue
      }
      outsideTurns[index] = (outsideTurns.max() ?? 0) + 1
      if windows[index][place].state == .idle {
        begin(customer, at: place, of: index, isCounted: isCounted, now, into: &effects)
      } else {
        handAhead(customer, index, place, isCounted: isCounted, at: now, into: &effects)
      }
      if isCounted { putAsideTheSpent(service, into: &effects) }
    }
  }

  /// The index of the service whose customer goes next to a worker that has come by itself; nil for none.
  private func nextOutside(besides passed: Set<Int>) -> Int? {
    var best: (index: Int, priority: Priority)?
    for index in windows.indices
    where outsideCounts[index] > 0 && !books.paused[index] && !passed.contains(index) {
      if isJammed, policy[index].maxAttempts != nil { continue }
      guard let priority = headPriority(of: Service(index: index)) else { continue }
      if let best {
        guard
          priority == best.priority
            ? outsideTurns[index] < outsideTurns[best.index] : priority < best.priority
        else { continue }
      }
      best = (index, priority)
    }
    return best?.index
  }

  private func hasHead(_ service: Service) -> Bool { headPriority(of: service) != nil }

  /// The priority of a service's first occupied line; nil if all lines are empty. A line of shared books counts as occupied while
  /// the books may hold more of it.
  private func headPriority(of service: Service) -> Priority? {
    for place in books.waiting.places(of: service) where lines[place].count > 0 || lines[place].mayHoldMore {
      return books.waiting.lines[place].priority
    }
    return nil
  }

  /// Where the most can still come; nil where there is no room. Whoever is to be alone comes where nobody is, and rather where
  /// nobody has still to be given back either: with one that never gives back anybody the line goes on all the same. And no
  /// worker gets the same lease twice, as it would after a reset, when the numbers begin anew and it has not given back who
  /// had this number before: nobody could tell which of the two it answers for.
  private func roomiest(_ service: Int, for next: Customer?) -> Int? {
    var best: (place: Int, isFree: Bool, room: Int)?
    for place in (windows[service].count - outsideCounts[service])..<windows[service].count {
      let windowState = windows[service][place]
      guard windowState.state == .idle || windowState.isServing, !windowState.isClosing,
        let worker = outsideWorkers[windowState.generation]
      else { continue }
      let lease = next.map { windowState.lease(of: $0) }
      var (held, inHand) = (0, 0)
      var isKeptOff = false
      for window in worker.places {
        guard let (service, place) = locate(window) else { continue }
        let other = windows[service][place]
        held += other.held
        inHand += other.inHand
        if servesAlone(other) || other.recalled.contains(where: { $0 == lease }) { isKeptOff = true }
      }
      let isSuspect = next.map { self.isSuspect($0) } ?? false
      let capacity = min(worker.capacity, max(policy[service].prefetch, 1))
      let room = min(worker.capacity - held, capacity - windowState.held)
      guard room > 0, !isKeptOff, !isSuspect || inHand == 0 else { continue }
      let isFree = isSuspect && held == 0
      guard let known = best else {
        best = (place, isFree, room)
        continue
      }
      if isFree == known.isFree ? room > known.room : isFree { best = (place, isFree, room) }
    }
    return best?.place
  }

  /// Whether nobody but this customer is worked at by whoever stands there, as far as anybody knows: of a worker that has come
  /// by itself at all its places, those counted who were taken back and whom it has not given back yet.
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
        && other.ahead.allSatisfy { $0.customer.ticket == ticket }
        && other.recalled.allSatisfy { $0.ticket == ticket }
    }
  }

  /// Whoever is alone in the hands of a worker that has come by itself: whatever ends all of its attempts at once is held
  /// against this one, and against nobody where there are several.
  func aloneInHand(of generation: Generation) -> TicketNumber? {
    let places = outsideWorkers[generation]?.places.compactMap { locate($0) } ?? []
    for (service, place) in places {
      guard let customer = windows[service][place].customer, windows[service][place].isServing else {
        continue
      }
      return isAlone(customer.ticket, service, place) ? customer.ticket : nil
    }
    return nil
  }

  /// Those whose leases have run out leave a worker's hands, as if it had died; it goes on with the others. What it still says
  /// of them changes nothing.
  ///
  /// - Parameter alone: who was alone in its hands when that began; nil where there were several.
  mutating func takeExpired(
    _ service: Int, _ place: Int, alone: TicketNumber?, at now: Moment, into effects: inout [QueueEffect]
  ) {
    while windows[service][place].isServing, windows[service][place].nextLeaseEnd <= now.attended {
      let windowState = windows[service][place]
      if let late = windowState.ahead.first(where: { $0.deadline <= now.attended }) {
        windows[service][place].bringForward(windowState.lease(of: late.customer))
      }
      guard let customer = release(service, place) else { return }
      let lease = windowState.lease(of: customer)
      interrupt(
        customer, lease, service, place, .leaseExpired, nil, wasAlone: customer.ticket == alone, at: now,
        into: &effects)
      windows[service][place].recalled.append(lease)
      effects.append(.recall(windowState.window, lease))
      goOn(service, place, now, into: &effects)
    }
  }
}
