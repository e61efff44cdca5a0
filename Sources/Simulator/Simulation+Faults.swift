// Owns how each fault is done to the simulated world. It must not know what the faults break.
// Invariant: a fault is counted where it happens, not where it was planned: a coordinator that is gone cannot be killed.

import BankModel
import QueueCore
import Storage
import Wire

extension Simulation {
  /// Something goes wrong, and the next thing is planned.
  func goWrong() {
    guard !isCalm else { return }
    let span = plan.interval.nanoseconds
    agenda.add(.fault, at: clock.now + TimeSpan(nanoseconds: chance.draw(span / 4...span * 2)))
    guard let kind = plan.draw(&chance) else { return }
    trace.line(clock.now, "fault: \(kind.name)")
    switch kind {
    case .coordinatorKilled: coordinator?.fuse = Int(chance.draw(0...60))
    case .coordinatorStalled:
      guard let coordinator else { return }
      statistics.note(kind)
      let span = plan.policy.lease.nanoseconds
      coordinator.standsUntil = clock.now + TimeSpan(nanoseconds: chance.draw(span / 8...span * 2))
      coordinator.wake(at: clock.now)
    case .connectionLost:
      let client = clients[Int(chance.draw(0...Int64(clients.count) - 1))]
      guard client.link != nil else { return }
      statistics.note(kind)
      cut(client)
    case .networkSlow:
      guard let teller = anyTeller() else { return }
      statistics.note(kind)
      network.slow(teller.link, by: chance.draw(20...400))
    case .diskFull:
      statistics.note(kind)
      fullUntil = clock.now + .milliseconds(chance.draw(1...700))
    case .diskFailed: failingCommit = chance.draw(0...1) == 0 ? .commit : .commitThatIsKept
    case .clockJumped:
      statistics.note(kind)
      let jump = chance.draw(-100_000_000...100_000_000)
      clock.jump(byMilliseconds: jump)
      host.calendarOrigin += jump * 1_000_000
    case .tellerStillborn: stillborn += Int(chance.draw(1...4))
    case .commitLost, .messageLost: break
    case _ where kind.isOfTheStock: troubleStock(kind)
    case _ where kind.isOfTheMachine: troubleVending(kind)
    default: trouble(kind)
    }
  }

  private func anyTeller() -> SimulatedTeller? {
    living.isEmpty ? nil : tellers[living[Int(chance.draw(0...Int64(living.count) - 1))]]
  }

  /// Something is wrong with a teller.
  private func trouble(_ kind: FaultKind) {
    guard let teller = anyTeller() else { return }
    let lease = plan.policy.lease.nanoseconds
    switch kind {
    case .tellerKilled:
      statistics.note(kind)
      if chance.draw(0...1) == 0 {
        teller.die(.signal(SimulatedTeller.Signal.kill))
      } else {
        teller.fuse = Int(chance.draw(0...5))
      }
    case .messageLate:
      // What it says from now on is heard long after it has died.
      network.slow(teller.link, by: chance.draw(2_000...30_000))
      teller.fuse = Int(chance.draw(1...4))
    case .tellerStuck:
      statistics.note(kind)
      teller.stand(until: nil, isDeaf: chance.draw(0...1) == 0)
    case .tellerSlow:
      statistics.note(kind)
      teller.stand(until: clock.now + TimeSpan(nanoseconds: chance.draw(lease / 4...lease * 3)))
    case .tellerFailed: teller.failsNext = true
    case .tellerRogue:
      statistics.note(kind)
      lie(teller)
    case .tellerBabbled:
      statistics.note(kind)
      var bytes: [UInt8] = [0, 0, 0, UInt8(chance.draw(0...9))]
      for _ in 0..<chance.draw(1...24) { bytes.append(UInt8(chance.draw(0...255))) }
      put(bytes, on: teller.link, to: .server)
    default: break
    }
  }

  /// A teller says what it must not say.
  private func lie(_ teller: SimulatedTeller) {
    // A station may not say by chance that its own customer is done: that is a lie which nobody could find out.
    let away: TicketNumber = teller.window.service.drawsOnStock ? 1_000_000 : 0
    let other = Lease(
      ticket: away + chance.draw(1...30), attempt: Int32(chance.draw(1...3)), generation: teller.generation)
    switch chance.draw(0...6) {
    case 0: teller.say(.done(other))
    case 1: teller.say(.beat(other))
    case 2: teller.say(.failed(other, reason: "somebody else's customer"))
    case 3: teller.say(.returned(teller.lease ?? other))
    case 4: teller.say(.ready)
    case 5:
      // Somebody else's lease to the letter, but for the window.
      let holder = living.map { tellers[$0] }.first { $0 !== teller && $0.lease != nil }
      teller.say(.done(holder?.lease ?? other))
    default: teller.say(.hello(Hello(build: Self.build, role: .teller)))
    }
  }

  // MARK: - The disk

  /// What the disk does with the next call of a kind.
  func meetDisk(_ call: MemoryStore.Call) {
    disk.isFull = fullUntil > clock.now
    if call == .commit, let failing = failingCommit, disk.hasStagedChanges {
      failingCommit = nil
      statistics.note(.diskFailed)
      disk.fail(failing, with: .failed(path: "disk", detail: "the fsync has failed"))
    }
    guard fullUntil > clock.now else { return }
    // Whoever has met the end of the disk lives on its reserve, for longer than the disk is full.
    disk.isShort = true
    let full = StoreError.diskFull(detail: "no space left")
    switch call {
    case .commit: disk.fail(.commit, with: full)
    case .stage: if chance.draw(0...5) == 0 { disk.fail(.stage, with: full) }
    case .read: if chance.draw(0...9) == 0 { disk.fail(.read, with: full) }
    case .commitThatIsKept: break
    }
  }

  /// The store looks whether there is room again.
  func lookForRoom() {
    disk.isFull = fullUntil > clock.now
    if fullUntil + .milliseconds(500) <= clock.now { disk.isShort = false }
  }

  // MARK: - Messages

  /// A message as a frame.
  func encode(_ message: some Encodable, limit: Int) -> [UInt8]? {
    var bytes: [UInt8] = []
    do {
      try FrameEncoder().append(message, to: &bytes, limit: limit)
    } catch {
      violate(.conversation, "a message cannot be encoded: \(error)")
      return nil
    }
    statistics.messages += 1
    return bytes
  }

  /// Sends a message.
  func send(_ message: some Encodable, on link: Int, to end: LinkEnd, limit: Int) {
    guard let bytes = encode(message, limit: limit) else { return }
    put(bytes, on: link, to: end)
  }

  /// Sends bytes.
  func put(_ bytes: [UInt8], on link: Int, to end: LinkEnd) {
    trace.mix(Int64(link))
    trace.mix(bytes)
    network.send(bytes, on: link, to: end, at: clock.now, &agenda)
  }
}
