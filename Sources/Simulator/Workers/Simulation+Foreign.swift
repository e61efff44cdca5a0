// Concurrent workers of the simulated world: their starts, their reconnections, their faults, and the check of each
// customer sent to them.
// Invariant: all draws come from a separate generator, so that histories without concurrent workers do not change.
import BankModel
import Glibc
import Posix
import QueueCore
import Time

extension Simulation {
  var hasForeignWorkers: Bool { plan.foreign.isThere }

  /// Schedules the first outside workers, and creates the program file for those that are started at windows.
  func hireForeignWorkers() {
    guard hasForeignWorkers else { return }
    host.files.makeDirectories(Paths.directory(of: ForeignPlan.program))
    _ = host.files.make(ForeignPlan.program, isDirectory: false, mode: 0o755)
    for number in plan.foreign.offers.indices {
      agenda.add(.foreignerComes(number), at: clock.now + .milliseconds(foreign.chance.draw(0...300)))
    }
    planForeignFault()
  }

  func foreignerComes(_ number: Int) {
    let seed = foreign.chance.next()
    host.start { [unowned self] process in
      begin(process, window: nil, number, plan.foreign.offers[number], seed: seed)
    }
  }

  /// Returns a closure that creates the program at the workers' path; nil in a history without concurrent workers.
  func foreignProgram() -> ((SimulatedProcess) -> (any SimulatedProgram)?)? {
    guard hasForeignWorkers else { return nil }
    let seed = foreign.chance.next()
    return { [unowned self] process in
      let window = process.environment["BANK_WINDOW"]
      if window == nil { violate(.conversation, "a worker is started without the name of its window") }
      return begin(process, window: window, 0, [], seed: seed)
    }
  }

  private func begin(
    _ process: SimulatedProcess, window: String?, _ number: Int, _ services: [ServiceName], seed: UInt64
  ) -> (any SimulatedProgram)? {
    foreign.pids.insert(process.pid)
    guard
      let worker = try? ForeignWorker(process, window: window, services: services, seed: seed, in: self)
    else { return nil }
    foreign.workers.append(ForeignSeat(worker, of: process, window: window, number: number))
    return worker
  }

  func foreignerEnded(_ process: SimulatedProcess) {
    guard let place = foreign.workers.firstIndex(where: { $0.process === process }) else { return }
    let worker = foreign.workers.remove(at: place)
    trace.line(clock.now, "worker \(process.pid) (\(worker.window ?? "outside")) ends")
    guard worker.window == nil else { return }
    agenda.add(.foreignerComes(worker.number), at: clock.now + .milliseconds(foreign.chance.draw(5...800)))
  }

  /// Checks a customer that a worker has received: its payload, and the same key in every attempt.
  func checkOrder(_ order: ForeignOrder) {
    let name = TicketName(day: order.day, ticket: order.lease.ticket)
    if let known = foreign.keys.updateValue(order.key, forKey: name), known != order.key {
      violate(.conversation, "ticket \(name.ticket) has the key \(order.key), but had \(known)")
    }
    noteBegun(name)
    guard checker.view.day == order.day, let customer = checker.view.customers[name.ticket],
      let expected = ServiceName(order.service).map({
        SimulatedPayload.of($0, customer.account, customer.article)
      })
    else { return }
    if expected ?? [] != order.payload {
      violate(
        .payload, "a worker gets ticket \(name.ticket) with \(order.payload.count) bytes, not its payload"
      )
    }
  }

  // MARK: - Faults

  func planForeignFault() {
    if hasForeignWorkers { planFault(.foreignFault, &foreign.chance) { $0 / 3...$0 * 2 } }
  }

  func troubleForeigners() {
    guard !isCalm else { return }
    planForeignFault()
    guard let worker = some(ofForeign: foreign.workers) else { return }
    let process = worker.process
    let lease = plan.policy.lease.nanoseconds
    let drawn = foreign.chance.draw(0...12)
    guard drawn < 2 || !process.standsStill(at: clock.now) else { return }
    trace.line(clock.now, "fault \(drawn) in worker \(process.pid)")
    switch drawn {
    case 0...1:
      // Prefer a worker that holds customers, because its kill tests more.
      let victim = foreign.workers.first { $0.worker?.holdsSomebody == true } ?? worker
      statistics.note(.workerKilled)
      victim.process.kill()
    case 2: process.fuse = Int(foreign.chance.draw(0...20))
    case 3:
      let bytes = worker.worker?.bytesOfAnAnswer() ?? [0, 0]
      statistics.note(.workerKilled)
      worker.worker?.say(raw: Array(bytes.prefix(Int(foreign.chance.draw(1...Int64(bytes.count - 1))))))
      process.kill()
    case 4...5: if worker.worker?.hang() == true { statistics.note(.workerHung) }
    case 6:
      statistics.note(.workerStopped)
      process.stop()
      // The bank does not kill an outside worker, so the world resumes it after a while.
      agenda.add(.relief(pid: process.pid), at: clock.now + .milliseconds(foreign.chance.draw(10...3_000)))
    case 7:
      statistics.note(.workerStopped)
      process.stand(until: clock.now + TimeSpan(nanoseconds: foreign.chance.draw(lease / 4...lease * 3)))
    case 8: if worker.worker?.repeatItself() == true { statistics.note(.workerLied) }
    case 9:
      // Choose the lease of another worker, because an answer for the worker's own lease would be valid.
      let others = checker.holders.filter {
        $0.window.service.isForForeigners && $0.window.isOutside != (worker.window == nil)
      }
      let other =
        others.isEmpty || foreign.chance.draw(0...1) == 0
        ? Lease(ticket: 1_000_000, attempt: 1, generation: 1)
        : others[Int(foreign.chance.draw(0...Int64(others.count - 1)))].lease
      if worker.worker?.lie(about: other) == true { statistics.note(.workerLied) }
    case 10:
      statistics.note(.workerBabbled)
      let bytes = worker.worker?.bytesOfAnAnswer() ?? []
      let unknown = Array("{\"sing\":{\"song\":1}}\n".utf8)
      let isHalf = foreign.chance.draw(0...1) == 0 || worker.worker?.speaksFrames == true
      worker.worker?.say(raw: isHalf ? Array(bytes.dropLast(2)) : unknown)
    default:
      guard worker.window == nil else { return }
      statistics.note(.workerLeft)
      worker.worker?.goAway(for: .milliseconds(foreign.chance.draw(1...600)))
    }
  }

  private func some(ofForeign workers: [ForeignSeat]) -> ForeignSeat? {
    guard !workers.isEmpty else { return nil }
    return workers[Int(foreign.chance.draw(0...Int64(workers.count) - 1))]
  }

  func calmForeigners() {
    for worker in foreign.workers {
      worker.process.fuse = nil
      worker.process.goOn()
      worker.worker?.calm()
    }
  }

  /// True if every remaining customer of these services is a dead letter. A closing bank does not wait for customers
  /// that only outside workers serve.
  var areForeignersServed: Bool {
    guard hasForeignWorkers else { return true }
    return checker.view.customers.values.allSatisfy {
      !$0.service.isForForeigners || checker.view.states[$0.ticket] == .dead
    }
  }

  /// True for a connection between the bank and a concurrent worker.
  func isForeign(_ end: StreamEnd) -> Bool { foreign.pids.contains(end.maker) }
}

extension Service {
  /// True if concurrent workers serve this service, in a history with them.
  var isForForeigners: Bool {
    (ServiceName.branch.count..<ServiceName.branch.count + ForeignPlan.services.count).contains(index)
  }
}
