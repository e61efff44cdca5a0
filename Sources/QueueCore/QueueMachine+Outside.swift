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
  mutating func handOutside(_ service: Service, at now: Moment, into effects: inout [QueueEffect]) {
    let index = service.index
    while !isSaturated, books.waiting.places(of: service).contains(where: { lines[$0].count > 0 }),
      let roomy = roomiest(index)
    {
      if !roomy.isFree, isSuspectNext(service) { return }
      guard let customer = nextInLine(service, into: &effects) else { return }
      if windows[index][roomy.place].state == .idle {
        begin(customer, at: roomy.place, of: index, now, into: &effects)
      } else {
        handAhead(customer, index, roomy.place, at: now, into: &effects)
      }
    }
  }

  /// Where the most can still come, and whether nobody is there; nil where there is no room.
  private func roomiest(_ service: Int) -> (place: Int, isFree: Bool)? {
    var best: (place: Int, room: Int, isFree: Bool)?
    for place in (windows[service].count - outsideCounts[service])..<windows[service].count {
      let windowState = windows[service][place]
      guard windowState.state == .idle || windowState.isServing, !windowState.isClosing,
        let worker = outsideWorkers[windowState.generation]
      else { continue }
      var held = 0
      var servesASuspect = false
      for window in worker.places {
        guard let (service, place) = locate(window) else { continue }
        held += windows[service][place].held
        if windows[service][place].servesASuspect { servesASuspect = true }
      }
      let capacity = min(worker.capacity, max(policy[service].prefetch, 1))
      let room = min(worker.capacity - held, capacity - windowState.held)
      guard room > 0, !servesASuspect, room > best?.room ?? 0 else { continue }
      best = (place, room, held == 0)
    }
    return best.map { ($0.place, $0.isFree) }
  }

  /// Those whose leases have run out leave a worker's hands, as if it had died; it goes on with the others. What it still says
  /// of them changes nothing.
  mutating func takeExpired(_ service: Int, _ place: Int, at now: Moment, into effects: inout [QueueEffect]) {
    let wasAlone = windows[service][place].inHand == 1
    while windows[service][place].isServing, windows[service][place].nextLeaseEnd <= now.attended {
      let windowState = windows[service][place]
      if let late = windowState.ahead.first(where: { $0.deadline <= now.attended }) {
        windows[service][place].bringForward(windowState.lease(of: late.customer))
      }
      guard let customer = release(service, place) else { return }
      let lease = windowState.lease(of: customer)
      interrupt(
        customer, lease, service, place, .leaseExpired, nil, wasAlone: wasAlone, at: now, into: &effects)
      windows[service][place].recalled.append(lease)
      effects.append(.recall(windowState.window, lease))
      goOn(service, place, now, into: &effects)
    }
  }
}
