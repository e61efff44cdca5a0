// Requests for tickets in the coordinator: a request is stored whole or not at all, its failure affects no
// other one, and its key identifies its contents.

import BankModel
import Glibc
import Posix
import QueueCore
import Storage
import Testing
import Time
import Wire

@testable import Coordinator

@Suite("Intake of requests")
struct EnqueueHandlerTests {
  /// Accepts as much of a large request as one iteration does.
  private func begin(
    _ bank: TestBank, _ client: TestClient, key: String, count: Int64 = 400_000
  ) throws -> UInt32 {
    let number = client.ask(.enqueue(.deposits(count, key: key)), bank.coordinator)
    bank.coordinator.context.updateTime()
    bank.coordinator.enqueueHandler.advance()
    try #require(
      bank.coordinator.queue.isTakingIn, "it was accepted at once, which this test is not made for")
    return number
  }

  @Test("a refusal contains its reason, so that it can be worded in any language")
  func refused() throws {
    let bank = try TestBank()
    let client = try TestClient(bank.coordinator)
    func refusal(_ command: ControlCommand) throws -> MessageDetail? {
      let number = client.ask(command, bank.coordinator)
      let failure = try client.answers(to: number, bank.coordinator).first?.failure
      #expect(failure?.code == .badRequest && failure?.detail == failure?.messageDetail?.description)
      return failure?.messageDetail
    }
    func order(_ change: (inout EnqueueParameters) -> Void) -> ControlCommand {
      var order = EnqueueParameters.deposits(1)
      change(&order)
      return .enqueue(order)
    }
    let most = BankModel.Limits.customersPerCommand
    #expect(try refusal(order { $0.count = 0 }) == MessageDetail(.customersRange, most, 0))
    #expect(try refusal(order { $0.amount = 0 }) == MessageDetail(.moneyRange, BankModel.Limits.amount, 0))
    #expect(
      try refusal(order { $0.account = -1 }) == MessageDetail(.accountRange, BankModel.Limits.account, -1))
    #expect(try refusal(order { $0.key = "" }) == MessageDetail(.keyLength, BankModel.Limits.keyLength, 0))
    let long = String(repeating: "x", count: BankModel.Limits.itemNameLength + 1)
    #expect(
      try refusal(order { $0.itemName = long })
        == MessageDetail(.itemNameTooLong, BankModel.Limits.itemNameLength, long.utf8.count))
    let juice = EnqueueEntry(service: .juice, priority: .regular, amount: 1, account: 1, key: nil)
    #expect(
      try refusal(.enqueueList(EnqueueList(entries: [juice], isLast: true)))
        == MessageDetail(.notInList, "juice"))
  }

  @Test("a bank that ends at once stores nothing of a request in progress, and everything else")
  func leftAtOnce() throws {
    let bank = try TestBank()
    let client = try TestClient(bank.coordinator)
    bank.openWindows(1)
    _ = try bank.enqueue(2, client)
    let number = try begin(bank, client, key: "k")
    bank.serveAll()
    var events = 0
    bank.coordinator.tellerSupervisor.onEvent = { _, _, _ in events += 1 }
    bank.coordinator.releases.onReleased = { _ in events += 1 }
    bank.coordinator.exitImmediately()
    #expect(try client.answers(to: number, bank.coordinator) == [.failure(Failure(.draining))])
    #expect(bank.coordinator.queue.machine.dayCounters.issued == 2)
    // What the next coordinator finds.
    bank.store.crash()
    let kept = try bank.store.load(now: WallTime(milliseconds: 1)).dayCounters
    #expect(kept.issued == 2 && kept.served == 1)
    #expect(try bank.store.request(forKey: "k") == nil)
    #expect(try bank.store.receipt(day: 1, ticket: 1) != nil)
    #expect(try bank.store.audit().problems == [])
    #expect(bank.log.contains("event=request_withdrawn") && bank.log.contains("event=stopped_without_drain"))
    #expect(!bank.log.contains("level=error"))
    // Killed tellers end while the last messages are sent: this has no effect any more.
    let window = Window(service: .deposit, place: 1)
    bank.coordinator.tellerSupervisor.onEvent?(window, 1, .ended(.signal(SIGKILL)))
    bank.coordinator.releases.onReleased?(TicketOfDay(day: 1, ticket: 1))
    #expect(events == 0)
  }

  @Test(
    "commits during a request in progress contain only other changes, and no client sees a part of it"
  )
  func neverInHalf() throws {
    let bank = try TestBank()
    let client = try TestClient(bank.coordinator)
    bank.openWindows(1)
    _ = try bank.enqueue(1, client)
    _ = try begin(bank, client, key: "k")
    bank.serveAll()
    bank.coordinator.queue.commit()
    #expect(bank.coordinator.queue.isTakingIn && !bank.store.hasStagedChanges)
    let first = try #require(bank.store.firstUnissuedTicket)
    #expect(bank.coordinator.queue.engine.durableCounters.issued == 1)
    #expect(try bank.store.receipt(day: 1, ticket: 1) != nil)
    #expect(try bank.store.customers(in: .waiting, after: nil, limit: 9).isEmpty)
    #expect(try bank.store.countUnfinished(1...1_000_000) == 0)
    #expect(try bank.store.find(first) == nil)
    let cancelled = client.ask(.cancel(first), bank.coordinator)
    #expect(try client.answers(to: cancelled, bank.coordinator).first?.failure?.code == .noSuchTicket)
    // The process is killed: the next one finds what it is to remove, and the numbers are free.
    bank.store.crash()
    #expect(try bank.store.load(now: WallTime(milliseconds: 1)).dayCounters.issued == 1)
    #expect(try bank.store.request(forKey: "k") == nil)
    #expect(try bank.store.audit().problems == [])
    #expect(bank.store.hasUnissuedCustomers)
  }

  @Test("small requests do not wait for a large one, whose numbers are consecutive all the same")
  func beside() throws {
    let bank = try TestBank()
    let (client, other) = (try TestClient(bank.coordinator), try TestClient(bank.coordinator))
    let large = try begin(bank, client, key: "k", count: 60_000)
    // It rests, and others need not.
    bank.coordinator.enqueueHandler.rest(until: bank.coordinator.context.now.monotonic + .seconds(60))
    let small = other.ask(.enqueue(.deposits(3)), bank.coordinator)
    let (own, same) = (
      client.ask(.enqueue(.deposits(1)), bank.coordinator),
      other.ask(.enqueue(.deposits(60_000, key: "k")), bank.coordinator)
    )
    bank.coordinator.enqueueHandler.advance()
    bank.coordinator.queue.commit()
    #expect(bank.coordinator.queue.isTakingIn)
    let answered = try other.answers(to: small, bank.coordinator).first?.enqueued
    #expect(answered == EnqueuedReport(day: 1, first: 1, last: 3, count: 3))
    bank.finishEnqueue()
    let first = try client.answers(bank.coordinator).filter { $0.number == large }.last?.answer.enqueued
    #expect(first == EnqueuedReport(day: 1, first: 4, last: 60_003, count: 60_000))
    _ = (own, same)
    #expect(bank.coordinator.queue.machine.dayCounters.issued == 60_004)
    #expect(try bank.store.request(forKey: "k")?.tickets.first == 4)
    #expect(try bank.store.audit().problems == [])
    #expect(
      try bank.store.page(of: Line(service: .deposit, priority: .regular), after: 0, limit: 9).count == 9)
  }

  @Test("no small request overtakes one of its own client, nor one with its key")
  func notBeside() throws {
    let bank = try TestBank()
    let (client, other) = (try TestClient(bank.coordinator), try TestClient(bank.coordinator))
    let large = try begin(bank, client, key: "k", count: 60_000)
    let own = client.ask(.enqueue(.deposits(1)), bank.coordinator)
    let same = other.ask(.enqueue(.deposits(2, key: "k")), bank.coordinator)
    let third = try TestClient(bank.coordinator)
    let list = third.ask(.enqueueList(EnqueueList(entries: [entry("k")], isLast: true)), bank.coordinator)
    bank.coordinator.context.updateTime()
    bank.coordinator.enqueueHandler.advance()
    bank.coordinator.queue.commit()
    #expect(bank.coordinator.queue.isTakingIn && bank.coordinator.queue.machine.dayCounters.issued == 0)
    bank.finishEnqueue()
    let answers = try client.answers(bank.coordinator).filter { $0.answer.enqueued != nil }
    #expect(answers.map(\.number) == [large, own])
    #expect(answers.last?.answer.enqueued?.first == 60_001)
    #expect(try other.answers(to: same, bank.coordinator).first?.failure?.code == .keyConflict)
    #expect(try third.answers(to: list, bank.coordinator).first?.failure?.code == .keyConflict)
  }

  @Test("customers who come while an incomplete request is removed get the numbers before it")
  func withdrawnAfterACommit() throws {
    let bank = try TestBank()
    let client = try TestClient(bank.coordinator)
    _ = try begin(bank, client, key: "k")
    while let arriving = bank.coordinator.queue.machine.arriving, arriving.count < 9_000 {
      bank.coordinator.context.updateTime()
      bank.coordinator.enqueueHandler.advance()
    }
    bank.coordinator.enqueueHandler.giveUp(because: Failure(.withdrawn))
    #expect(bank.store.hasUnissuedCustomers)
    let next = client.ask(.enqueue(.deposits(2, key: "k")), bank.coordinator)
    let large = client.ask(.enqueue(.deposits(4_000)), bank.coordinator)
    bank.coordinator.context.updateTime()
    bank.coordinator.enqueueHandler.advance()
    #expect(bank.store.hasUnissuedCustomers && !bank.coordinator.queue.isTakingIn)
    let report = try client.answers(to: next, bank.coordinator).first?.enqueued
    #expect(report == EnqueuedReport(day: 1, first: 1, last: 2, count: 2))
    bank.finishEnqueue()
    #expect(try client.answers(bank.coordinator).last { $0.number == large }?.answer.enqueued?.first == 3)
    #expect(!bank.store.hasUnissuedCustomers)
    #expect(try bank.store.audit().problems == [])
  }

  @Test("while customers are served, an intake rests longer than it has worked")
  func rest() throws {
    let bank = try TestBank()
    let client = try TestClient(bank.coordinator)
    bank.openWindows(1)
    _ = try bank.enqueue(1, client)
    _ = try begin(bank, client, key: "k")
    #expect(
      bank.coordinator.queue.commitDue(isImmediate: bank.coordinator.enqueueHandler.isShared).map {
        $0 <= bank.coordinator.context.now.monotonic
      } == true)
    let began = try #require(bank.coordinator.enqueueHandler.pacing.began)
    bank.coordinator.enqueueHandler.finishIteration()
    let until = try #require(bank.coordinator.enqueueHandler.pacing.restsUntil)
    #expect(until.since(began).nanoseconds >= TimeSpan.milliseconds(10).nanoseconds)
    // Without other clients it does not rest.
    bank.serveAll()
    try #require(bank.coordinator.queue.machine.serving == 0)
    bank.coordinator.enqueueHandler.rest(until: nil)
    bank.coordinator.enqueueHandler.advance()
    bank.coordinator.enqueueHandler.finishIteration()
    #expect(bank.coordinator.enqueueHandler.pacing.restsUntil == nil)
  }

  @Test(
    "a reset waits for no request: one in progress is abandoned, its new customers are cancelled"
  )
  func resetInTheMiddle() throws {
    let bank = try TestBank()
    let (client, other) = (try TestClient(bank.coordinator), try TestClient(bank.coordinator))
    _ = try bank.enqueue(3, other)
    let large = try begin(bank, client, key: "k")
    bank.coordinator.queue.commit()
    // Beside it, and not on disk.
    let small = other.ask(.enqueue(.deposits(2)), bank.coordinator)
    bank.coordinator.enqueueHandler.advance()
    let behind = client.ask(.enqueue(.deposits(5)), bank.coordinator)
    let reset = other.ask(.reset(day: 1), bank.coordinator)
    bank.coordinator.queue.commit()
    let told = try client.answers(to: large, bank.coordinator)
    #expect(told == [.failure(Failure(.withdrawn, messageDetail: MessageDetail(.resetMeanwhile)))])
    let answers = try other.answers(bank.coordinator)
    #expect(answers.map(\.number) == [small, reset])
    #expect(answers.first?.answer.enqueued?.first == 4)
    guard case .status(let report)? = answers.last?.answer else {
      return _ = Issue.record("the reset is answered by \(answers)")
    }
    #expect(report.day == 2 && report.cancelledByReset == 5)
    bank.finishEnqueue()
    // A request that had not started comes in on the new day, and its key is unknown.
    let next = try client.answers(to: behind, bank.coordinator).first?.enqueued
    #expect(next == EnqueuedReport(day: 2, first: 1, last: 5, count: 5))
    #expect(try bank.enqueue(1, key: "k", client).first?.enqueued?.known == 0)
    #expect(try bank.store.audit().problems == [])
  }

  @Test(
    "a reset that waits for tickets in flight does not wait for a large request after them")
  func resetBeforeALargeOne() throws {
    let bank = try TestBank()
    let (client, other) = (try TestClient(bank.coordinator), try TestClient(bank.coordinator))
    let small = other.ask(.enqueue(.deposits(2)), bank.coordinator)
    bank.coordinator.enqueueHandler.advance()
    let reset = other.ask(.reset(day: nil), bank.coordinator)
    let large = try begin(bank, client, key: "k", count: 60_000)
    bank.coordinator.queue.commit()
    #expect(try other.answers(bank.coordinator).map(\.number) == [small, reset])
    try #require(bank.coordinator.queue.machine.dayCounters.day == 2 && bank.coordinator.queue.isTakingIn)
    bank.finishEnqueue()
    #expect(try client.answers(bank.coordinator).last { $0.number == large }?.answer.enqueued?.first == 1)
    #expect(try bank.store.audit().problems == [])
  }

  @Test("an abandoned request costs no other change: receipts, pauses and a later reset are stored")
  func othersAreKept() throws {
    let bank = try TestBank()
    let (client, other) = (try TestClient(bank.coordinator), try TestClient(bank.coordinator))
    bank.openWindows(1)
    _ = try bank.enqueue(3, client)
    // Staged and not committed when the large one starts.
    let small = other.ask(.enqueue(.deposits(1)), bank.coordinator)
    bank.coordinator.enqueueHandler.advance()
    let large = try begin(bank, client, key: "k")
    bank.coordinator.queue.commit()
    #expect(try other.answers(to: small, bank.coordinator).first?.enqueued?.first == 4)
    bank.serveAll()
    let paused = other.ask(.pause(.loan), bank.coordinator)
    bank.coordinator.enqueueHandler.giveUp(because: Failure(.system, detail: "of this test"))
    let reset = other.ask(.reset(day: nil), bank.coordinator)
    bank.coordinator.queue.commit()
    #expect(try client.answers(to: large, bank.coordinator).first?.failure?.code == .system)
    let answers = try other.answers(bank.coordinator)
    #expect(answers.map(\.number) == [paused, reset])
    #expect(answers.allSatisfy { $0.answer.failure == nil })
    #expect(bank.coordinator.queue.machine.dayCounters.day == 2)
    #expect(bank.coordinator.queue.machine.dayCounters.paused == [false, true, false])
    #expect(
      try bank.store.receipts(day: 1, after: 0, limit: 99).map(\.outcome).count(where: { $0 == .served }) == 1
    )
    #expect(try bank.store.audit().problems == [])
    #expect(!bank.coordinator.queue.isDiskFull)
  }

  @Test("a list whose spool cannot be read back is refused with that reason, and no other request")
  func brokenSpool() throws {
    let bank = try TestBank()
    let (client, other) = (try TestClient(bank.coordinator), try TestClient(bank.coordinator))
    bank.openWindows(1)
    _ = try bank.enqueue(1, client)
    let entry = EnqueueEntry(service: .deposit, priority: .regular, amount: 5, account: 6, key: nil)
    for part in 1...3 {
      // The list is broken off before its last part, which makes the coordinator read it.
      if part == 3 { try #require(damageSpools(under: bank.home) == 1) }
      let entries = Array(repeating: entry, count: 2_000)
      client.ask(.enqueueList(EnqueueList(entries: entries, isLast: part == 3)), bank.coordinator, number: 9)
    }
    let small = other.ask(.enqueue(.deposits(1)), bank.coordinator)
    bank.serveAll()
    while !bank.coordinator.enqueueHandler.isEmpty {
      bank.coordinator.context.updateTime()
      bank.coordinator.enqueueHandler.advance()
    }
    bank.coordinator.queue.commit()
    #expect(try client.answers(to: 9, bank.coordinator).first?.failure?.code == .system)
    #expect(try other.answers(to: small, bank.coordinator).first?.enqueued?.first == 2)
    #expect(bank.store.commits > 0 && !bank.coordinator.queue.isDiskFull)
    #expect(bank.log.contains("event=list_read_failed") && !bank.log.contains("disk_full"))
    #expect(try bank.store.receipt(day: 1, ticket: 1) != nil)
  }

  /// Empties every file without a name that this process has open under a home; returns their number.
  private func damageSpools(under home: String) throws -> Int {
    var broken = 0
    for name in try Directory.entries(of: "/proc/self/fd") {
      var target = [UInt8](repeating: 0, count: 4_096)
      let length = target.withUnsafeMutableBytes {
        readlink("/proc/self/fd/\(name)", $0.baseAddress!.assumingMemoryBound(to: CChar.self), $0.count)
      }
      guard length > 0 else { continue }
      let path = String(decoding: target.prefix(length), as: UTF8.self)
      guard path.hasPrefix(home), path.contains("/list-"), let number = CInt(name) else { continue }
      ftruncate(number, 0)
      broken += 1
    }
    return broken
  }

  @Test("a key that cannot be looked up for want of room is reported as a full disk")
  func fullDisk() throws {
    let bank = try TestBank()
    let client = try TestClient(bank.coordinator)
    bank.store.fail(.read, with: .diskFull(detail: "of this test"))
    let number = client.ask(.enqueue(.deposits(1, key: "k")), bank.coordinator)
    bank.coordinator.enqueueHandler.advance()
    #expect(try client.answers(to: number, bank.coordinator).first?.failure?.code == .diskFull)
    #expect(bank.log.contains("event=disk_full"))
  }

  @Test(
    "a damaged page under a key ends the coordinator, and the log names it", arguments: [false, true])
  func damage(inList: Bool) throws {
    let bank = try TestBank()
    let (client, other) = (try TestClient(bank.coordinator), try TestClient(bank.coordinator))
    bank.openWindows(1)
    _ = try bank.enqueue(1, other)
    bank.serveAll()
    bank.store.fail(.read, with: .damaged(path: "bank.db", detail: "a page of this test"))
    let number =
      inList
      ? client.ask(.enqueueList(EnqueueList(entries: [entry("k")], isLast: true)), bank.coordinator)
      : client.ask(.enqueue(.deposits(1, key: "k")), bank.coordinator)
    let behind = other.ask(.enqueue(.deposits(1)), bank.coordinator)
    bank.coordinator.enqueueHandler.advance()
    #expect(try client.answers(to: number, bank.coordinator).first?.failure?.code == .damaged)
    // Nothing after it is done, stored or answered.
    let commits = bank.store.commits
    other.ask(.status, bank.coordinator)
    bank.coordinator.queue.commit()
    #expect(try bank.coordinator.run() == 1)
    #expect(bank.store.commits == commits && bank.coordinator.queue.machine.dayCounters.issued == 1)
    #expect(try other.answers(bank.coordinator).isEmpty, "\(behind) is sent again to the next coordinator")
    #expect(bank.log.contains("event=store_failed") && bank.log.contains("a page of this test"))
  }

  // MARK: - Keys

  private func list(_ entries: [EnqueueEntry], _ bank: TestBank, _ client: TestClient) throws
    -> ControlAnswer?
  {
    let number = client.ask(.enqueueList(EnqueueList(entries: entries, isLast: true)), bank.coordinator)
    bank.coordinator.enqueueHandler.advance()
    bank.coordinator.queue.commit()
    return try client.answers(to: number, bank.coordinator).first
  }

  private func entry(_ key: String?, amount: Int64 = 5, drawn: RandomFields? = []) -> EnqueueEntry {
    EnqueueEntry(service: .deposit, priority: .regular, amount: amount, account: 6, key: key, drawn: drawn)
  }

  @Test("two spellings of one character are two keys, in a list and when it is repeated")
  func spellings() throws {
    let bank = try TestBank()
    let client = try TestClient(bank.coordinator)
    let entries = [entry("caf\u{E9}"), entry("cafe\u{301}")]
    #expect(try list(entries, bank, client)?.enqueued?.count == 2)
    let again = try list(entries, bank, client)?.enqueued
    #expect(again?.count == 0 && again?.known == 2)
    #expect(again?.alreadyIssuedTickets == [TicketSpan(day: 1, first: 1, last: 2)])
  }

  @Test("a customer twice in one list has the first one's ticket, in one slice and across slices")
  func twiceInAList() throws {
    let bank = try TestBank()
    let client = try TestClient(bank.coordinator)
    _ = try bank.enqueue(2, client)
    let report = try list([entry("a"), entry("b"), entry(nil), entry("a")], bank, client)?.enqueued
    #expect(report?.first == 3 && report?.count == 3 && report?.known == 1)
    #expect(report?.alreadyIssuedTickets == [TicketSpan(day: 1, first: 3, last: 3)])
    // The parts of a list are slices of their own.
    let number = client.ask(
      .enqueueList(EnqueueList(entries: [entry("c"), entry("d")], isLast: false)), bank.coordinator,
      number: 900)
    client.ask(
      .enqueueList(EnqueueList(entries: [entry(nil), entry("d")], isLast: true)), bank.coordinator,
      number: number)
    bank.coordinator.enqueueHandler.advance()
    bank.coordinator.queue.commit()
    let parts = try client.answers(to: number, bank.coordinator).first?.enqueued
    #expect(parts?.first == 6 && parts?.count == 3 && parts?.known == 1)
    #expect(parts?.alreadyIssuedTickets == [TicketSpan(day: 1, first: 7, last: 7)])
  }

  @Test("a repeated key is reported as known, with the tickets of the first time")
  func repeated() throws {
    let bank = try TestBank()
    let client = try TestClient(bank.coordinator)
    let first = try bank.enqueue(5, key: "k", client).first?.enqueued
    #expect(first == EnqueuedReport(day: 1, first: 1, last: 5, count: 5))
    let again = try bank.enqueue(5, key: "k", client).first?.enqueued
    #expect(again == EnqueuedReport(day: 1, first: 1, last: 5, count: 5, known: 5))
  }

  @Test("the same key with another request is refused, and no customer is added")
  func conflict() throws {
    let bank = try TestBank()
    let client = try TestClient(bank.coordinator)
    _ = try bank.enqueue(5, key: "k", client)
    #expect(try bank.enqueue(6, key: "k", client) == [.failure(Failure(.keyConflict, subject: "k"))])
    let number = client.ask(.enqueue(.deposits(5, key: "k", amount: 1)), bank.coordinator)
    bank.coordinator.enqueueHandler.advance()
    #expect(try client.answers(to: number, bank.coordinator).first?.failure?.code == .keyConflict)
    // In a list, and in one list.
    #expect(try list([entry("k")], bank, client)?.failure?.code == .keyConflict)
    #expect(try list([entry("a"), entry("a", amount: 6)], bank, client)?.failure?.subject == "a")
    #expect(try list([entry("a"), entry("a")], bank, client)?.enqueued?.known == 1)
    // A conflict in the second part of a list refuses all of it.
    let many = (0..<2_000).map { entry("many-\($0)") }
    client.ask(.enqueueList(EnqueueList(entries: many, isLast: false)), bank.coordinator, number: 77)
    client.ask(
      .enqueueList(EnqueueList(entries: [entry("a", amount: 7)], isLast: true)), bank.coordinator, number: 77)
    bank.finishEnqueue()
    #expect(try client.answers(to: 77, bank.coordinator).first?.failure?.code == .keyConflict)
    #expect(bank.coordinator.queue.machine.dayCounters.issued == 6)
    #expect(try bank.store.request(forKey: "many-0") == nil)
  }

  @Test("fields that a client leaves out, or that were not recorded, cause no key conflict")
  func unknown() throws {
    let bank = try TestBank()
    let client = try TestClient(bank.coordinator)
    // A client that does not report its random choices draws another amount the next time.
    _ = try list([entry("old", amount: 1, drawn: nil)], bank, client)
    #expect(try list([entry("old", amount: 2, drawn: nil)], bank, client)?.enqueued?.known == 1)
    #expect(try list([entry("old", amount: 3)], bank, client)?.enqueued?.known == 1)
    _ = try list([entry("new", amount: 1, drawn: .amount)], bank, client)
    #expect(try list([entry("new", amount: 2, drawn: .amount)], bank, client)?.enqueued?.known == 1)
    #expect(try list([entry("new", amount: 1)], bank, client)?.failure?.code == .keyConflict)
  }

  @Test("a change for another day affects no customer of this one", arguments: [false, true])
  func otherDay(isRequeue: Bool) throws {
    let bank = try TestBank()
    let client = try TestClient(bank.coordinator)
    func change(_ day: Int64?) throws -> ControlAnswer? {
      let number = client.ask(isRequeue ? .requeue(1, day: day) : .cancel(1, day: day), bank.coordinator)
      bank.coordinator.queue.commit()
      return try client.answers(to: number, bank.coordinator).first
    }
    _ = try bank.enqueue(1, client)
    client.ask(.reset(day: nil), bank.coordinator)
    bank.coordinator.queue.commit()
    _ = try bank.enqueue(1, client)
    #expect(try change(1)?.failure?.code == .wrongDay)
    #expect(try change(9)?.failure?.code == .noSuchDay)
    #expect(bank.coordinator.queue.machine.dayCounters.waitingInAll == 1)
    if isRequeue { return #expect(try change(2)?.failure?.code == .wrongState) }
    guard case .ticket(let report)? = try change(2) else {
      Issue.record("ticket 1 of day 2 is not cancelled")
      return
    }
    #expect(report.day == 2 && report.receipt?.outcome == .cancelled)
  }
}

@Suite("Known tickets")
struct AlreadyIssuedTicketsTests {
  private func tickets(_ numbers: [Int64], day: Int64 = 1) -> AlreadyIssuedTickets {
    var known = AlreadyIssuedTickets()
    for number in numbers { known.add(IssuedTickets(day: day, first: number, last: number)) }
    return known
  }

  @Test("neighbours are one span, in whatever order they come, and days are kept apart")
  func spans() {
    #expect(AlreadyIssuedTickets().report == nil)
    #expect(tickets([1, 2, 3]).report == [TicketSpan(day: 1, first: 1, last: 3)])
    #expect(tickets([3, 2, 1, 2]).report == [TicketSpan(day: 1, first: 1, last: 3)])
    #expect(
      tickets([5, 1, 2, 4]).report == [
        TicketSpan(day: 1, first: 1, last: 2), TicketSpan(day: 1, first: 4, last: 5),
      ])
    var known = tickets([1])
    known.add(IssuedTickets(day: 2, first: 2, last: 2))
    #expect(known.report?.count == 2)
  }

  @Test("there are never more spans than an answer may have, and each ticket is in one of them")
  func limit() {
    let numbers = (0..<20_000).map { Int64($0) * 2 + 1 }
    let spans = tickets(numbers).report ?? []
    #expect(!spans.isEmpty && spans.count <= TicketSpan.limit)
    #expect(spans.first?.first == 1 && spans.last?.last == 39_999)
    var place = 0
    for number in numbers {
      while place < spans.count, spans[place].last < number { place += 1 }
      #expect(place < spans.count && spans[place].first <= number)
    }
  }
}
