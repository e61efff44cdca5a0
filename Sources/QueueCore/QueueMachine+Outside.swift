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

  /// Gives those who wait to workers that have come by themselves, the one with the most room first.
  mutating func handOutside(
    _ service: Service, isCounted: Bool, at now: Moment, into effects: inout [QueueEffect]
  ) {
    let index = service.index
    if isCounted { putAsideTheSpent(service, into: &effects) }
    while !isSaturated, books.waiting.places(of: service).contains(where: { lines[$0].count > 0 }),
      let place = roomiest(index, for: firstInMemory(of: service))
    {
      guard let customer = nextInLine(service, into: &effects) else { return }
      if windows[index][place].state == .idle {
        begin(customer, at: place, of: index, isCounted: isCounted, now, into: &effects)
      } else {
        handAhead(customer, index, place, isCounted: isCounted, at: now, into: &effects)
      }
      if isCounted { putAsideTheSpent(service, into: &effects) }
    }
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
        if other.servesASuspect || other.recalled.contains(where: { $0 == lease }) { isKeptOff = true }
      }
      let isSuspect = next?.isSuspect == true
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
