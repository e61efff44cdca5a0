// Random histories of the queue: after events in any order, the guarantees hold after every step. A failure
// prints its seed; `BANK_QUEUE_SEED=N scripts/test QueueHistoryTests` repeats it.

import BankModel
import Glibc
import QueueCore
import Testing
import Time

extension QueueHarness {
  /// One random event.
  func step() {
    switch chance.draw(0...99) {
    case 0..<18: enqueue()
    case 18..<38: commit()
    case 38..<41: refuseCommit()
    case 41..<52: tellerComes()
    case 52..<72: tellerAnswers()
    case 72..<77: tellerExits()
    case 77..<80:
      if chance.draw(0...3) == 0 { now.wall.milliseconds += chance.draw(-20_000...20_000) }
      timePasses(.milliseconds(chance.draw(1...9_000)))
    case 80: timePasses(.seconds(11))
    case 81..<84: process(.cancel(request(), anyTicket()))
    case 84..<86: process(.requeue(request(), anyTicket()))
    case 86: process(.requeueDead(request()))
    case 87: process(.pause(request(), chance.draw(0...2) == 0 ? nil : anyService()))
    case 88..<90: process(.resume(request(), chance.draw(0...2) == 0 ? nil : anyService()))
    case 90..<93: process(.scale(anyService(), windows: Int32(chance.draw(0...3))))
    case 93: if chance.draw(0...3) == 0 { process(.reset(request())) }
    case 94: if chance.draw(0...1) == 0 { crash() }
    case 95..<97: tellerViolatesProtocol()
    case 97: if let window = tellers.keys.sorted().first { process(.replace(window)) }
    default: tellersBeat()
    }
  }

  func anyService() -> Service { [.deposit, .loan, .juice][Int(chance.draw(0...2))] }
  func anyTicket() -> TicketNumber { chance.draw(1...max(2, machine.dayCounters.issued + 1)) }

  private func enqueue() {
    let count = chance.draw(1...12)
    let orders = (0..<count).map { _ in
      let service = anyService()
      return CustomerOrder(
        service: service, priority: Priority.grades[Int(chance.draw(0...2))], amount: chance.draw(1...1_000),
        account: chance.draw(1...9), itemName: service == .juice ? "juice \(chance.draw(1...99))" : "",
        dueAt: randomDueTime())
    }
    let number = request()
    guard chance.draw(0...3) == 0, count > 1 else {
      return process(.enqueue(number, orders: orders, total: count, isLast: true))
    }
    enqueue(orders, inSlicesAs: number)
  }

  /// Some customers are ordered for later, and some of these due times have passed.
  private func randomDueTime() -> WallTime? {
    guard chance.draw(0...3) == 0 else { return nil }
    return WallTime(milliseconds: now.wall.milliseconds + chance.draw(-2_000...30_000))
  }

  /// The first customers come last if they are held back for others, and these come in between.
  private func enqueue(_ orders: [CustomerOrder], inSlicesAs number: RequestNumber) {
    let slice = Int(chance.draw(1...3))
    var held = Int(chance.draw(0...Int64(orders.count / 2))) / slice * slice
    var places = stride(from: held, to: orders.count, by: slice).map { $0..<min($0 + slice, orders.count) }
    places += stride(from: 0, to: held, by: slice).reversed().map { $0..<$0 + slice }
    for (index, place) in places.enumerated() {
      if place.upperBound <= held { held -= place.count }
      process(
        .enqueue(
          number, orders: Array(orders[place]), total: Int64(orders.count), isLast: index == places.count - 1,
          heldBack: Int64(held)))
      guard machine.isTakingIn else { return }
      // Between two slices the windows continue, other customers come, and the disk may turn out to be full.
      if chance.draw(0...1) == 0 { tellerAnswers() }
      if chance.draw(0...1) == 0, machine.concurrentEnqueueLimit > 0 {
        let order = CustomerOrder(service: .deposit, priority: .regular, amount: 7, account: 7)
        process(.enqueue(request(), orders: [order], total: 1, isLast: true))
      }
      if chance.draw(0...1) == 0 { commit() }
      if chance.draw(0...11) == 0 { refuseCommit() }
      if machine.isTakingIn, chance.draw(0...11) == 0 { abandonEnqueue() }
      if chance.draw(0...19) == 0 { return crash() }
      guard machine.isTakingIn else { return }
    }
  }

  func tellerComes() {
    guard let window = tellers.keys.sorted().first(where: { tellers[$0] == .starting }) else { return }
    generations[window, default: 0] += 1
    tellers[window] = .idle
    process(.tellerReady(window, generations[window]!, pid: Int32(chance.draw(100...9_999))))
  }

  private func holders() -> [(Window, Lease)] {
    tellers.keys.sorted().compactMap { window in
      tellers[window]?.leases.first.map { (window, $0) }
    }
  }

  /// The first assigned customer is about to be answered.
  private func removeFirstLease(_ window: Window) {
    let rest = tellers[window]?.leases.dropFirst() ?? []
    tellers[window] = rest.isEmpty ? .idle : .holding(Array(rest))
  }

  private func tellerAnswers() {
    let all = holders()
    guard !all.isEmpty else { return }
    let (window, lease) = all[Int(chance.draw(0...Int64(all.count - 1)))]
    let isRecalled = machine.numbers(of: window)?.lease != lease
    removeFirstLease(window)
    var answer: TellerAnswer =
      isRecalled && chance.draw(0...1) == 0
      ? .returned : chance.draw(0...3) == 0 ? .failed(WorkFailure("paper jam")) : .done
    if window.service == .juice, answer == .done, chance.draw(0...2) == 0 {
      let missing = shortages()
      answer = .outOfStock(missing)
      // A customer recalled meanwhile belongs to another worker, and this answer has no effect.
      if !isRecalled { sentAway[TicketOfDay(day: machine.dayCounters.day, ticket: lease.ticket)] = missing }
    }
    process(.tellerAnswered(window, generations[window]!, lease, answer))
  }

  private func shortages() -> [Shortage] {
    (0..<chance.draw(1...3)).map { place in
      let needed = chance.draw(1...20)
      return Shortage(
        item: ItemID("fruit-\(place)"), needed: needed, available: chance.draw(0...(needed - 1)))
    }
  }

  private func tellerExits() {
    let alive = tellers.keys.sorted().filter { tellers[$0] != .starting || chance.draw(0...4) == 0 }
    guard !alive.isEmpty else { return }
    let window = alive[Int(chance.draw(0...Int64(alive.count - 1)))]
    let generation = generations[window] ?? 0
    tellers[window] = .starting
    process(.tellerLost(window, generation, chance.draw(0...1) == 0 ? .signal(9) : .code(1)))
    if machine.numbers(of: window) == nil { tellers[window] = nil }
  }

  /// A teller answers for a customer it does not hold: it must be ended, and no customer may be harmed.
  private func tellerViolatesProtocol() {
    guard let window = tellers.keys.sorted().last(where: { tellers[$0] != .starting }) else { return }
    let generation = generations[window] ?? 0
    let lease = Lease(ticket: anyTicket(), attempt: Int32(chance.draw(1...3)), generation: generation)
    guard machine.numbers(of: window)?.lease != lease, tellers[window]?.leases.contains(lease) != true else {
      return sendInvalidShortages(window, generation, lease)
    }
    process(.tellerAnswered(window, generation, lease, .done))
    if tellers[window] != .dismissed, machine.numbers(of: window)?.generation == generation {
      fault("\(window) lied about \(lease) and was not ended")
    }
  }

  /// A teller returns its customer for a shortage that is impossible: it is ended, and the customer waits
  /// again.
  private func sendInvalidShortages(_ window: Window, _ generation: Generation, _ lease: Lease) {
    guard machine.numbers(of: window)?.lease == lease, tellers[window]?.leases.first == lease else { return }
    let one = Shortage(item: "kiwi", needed: 2, available: 1)
    let lies: [[Shortage]] = [
      [], [one, one], [Shortage(item: "kiwi", needed: 1, available: 1)],
      [Shortage(item: "kiwi", needed: 1, available: -1)],
      [Shortage(item: "no such name", needed: 1, available: 0)],
    ]
    let lie = window.service == .juice ? lies[Int(chance.draw(0...Int64(lies.count - 1)))] : [one]
    process(.tellerAnswered(window, generation, lease, .outOfStock(lie)))
    if tellers[window] != .dismissed {
      fault("\(window) reported an impossible shortage of \(lie) and was not ended")
    }
  }

  private func tellersBeat() {
    for (window, lease) in holders() { process(.tellerProgressed(window, generations[window]!, lease)) }
  }

  func timePasses(_ span: TimeSpan) {
    now.monotonic = now.monotonic + span
    now.listeningTime = now.listeningTime + span
    now.wall.milliseconds += span.milliseconds
    process(.tick)
  }

  /// No more faults from here on: every customer that is not a dead letter must be served.
  func finishEverything() {
    if machine.isTakingIn { refuseCommit() }
    commitAll()
    process(.resume(request(), nil))
    for service in ServiceDirectory().services { process(.scale(service, windows: 2)) }
    for round in 0..<20_000 {
      commit()
      for window in tellers.keys.sorted() where tellers[window] == .dismissed {
        tellers[window] = .starting
        process(.tellerLost(window, generations[window] ?? 0, .code(0)))
        if machine.numbers(of: window) == nil { tellers[window] = nil }
      }
      while tellers.values.contains(.starting) { tellerComes() }
      for (window, lease) in holders() {
        removeFirstLease(window)
        process(.tellerAnswered(window, generations[window]!, lease, .done))
      }
      if machine.isIdle { break }
      if round % 4 == 3 { timePasses(.seconds(61)) }
    }
    commitAll()
    if !machine.isIdle { fault("a customer waits for ever") }
    if !open.isEmpty { fault("\(open.count) requests were never answered") }
    let missing = reportedTickets.filter {
      committed.receipts[$0] == nil && committed.customers[$0]?.state != .dead
    }
    if !missing.isEmpty { fault("tickets \(missing.sorted().prefix(5)) have no receipt") }
  }
}

@Suite struct QueueHistoryTests {
  private static var seeds: [UInt64] {
    if let chosen = getenv("BANK_QUEUE_SEED").flatMap({ UInt64(String(cString: $0)) }) { return [chosen] }
    return Array(1...600)
  }

  @Test("in every history the numbers add up, the order holds, and every ticket ends once")
  func histories() {
    var assignments = 0
    var dead = 0
    var refused = 0
    var sentAway = 0
    var together = 0
    for seed in Self.seeds {
      let world = QueueHarness(seed: seed)
      for service in ServiceDirectory().services { world.process(.scale(service, windows: 2)) }
      for _ in 0..<250 where world.faults.isEmpty { world.step() }
      if world.faults.isEmpty { world.finishEverything() }
      assignments += world.assignments
      dead += world.dead
      refused += world.refusedForDisk
      together += world.together
      sentAway += world.committed.receipts.values.count { $0.outcome == .outOfStock }
      #expect(
        world.faults.isEmpty,
        "seed \(seed): \(world.faults.prefix(3)); repeat: BANK_QUEUE_SEED=\(seed) scripts/test QueueHistoryTests"
      )
      if !world.faults.isEmpty { return }
    }
    // A check without events would prove nothing.
    guard Self.seeds.count > 1 else { return }
    #expect(assignments > 20_000)
    #expect(dead > 100)
    #expect(refused > 100)
    #expect(sentAway > 500)
    #expect(together > 1_000, "several transactions are in flight")
    print(
      "QueueHistoryTests: \(assignments) customers handed out, \(dead) put aside, \(sentAway) sent away for want of "
        + "something, \(refused) refused by a full disk, \(together) transactions handed over beside others"
    )
  }
}
