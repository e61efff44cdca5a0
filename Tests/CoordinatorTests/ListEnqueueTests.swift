// Long lists in the coordinator. Other customers come in beside them, and still every customer and every key
// of the list has one ticket, even if keys were known before or are in the list twice.

import BankModel
import Posix
import QueueCore
import Storage
import Testing
import Time
import Wire

@testable import Coordinator

@Suite("Intake of long lists")
struct ListEnqueueTests {
  /// A customer who is recognised by the amount.
  private func entry(_ number: Int64, key: String? = nil) -> EnqueueEntry {
    EnqueueEntry(
      service: number % 3 == 0 ? .loan : .deposit, priority: number % 7 == 0 ? .vip : .regular,
      amount: number + 1, account: 6, key: key, drawn: [])
  }

  /// Sends a list, in parts of a size.
  private func ask(
    _ entries: [EnqueueEntry], _ bank: TestBank, _ client: TestClient, number: UInt32 = 900, part: Int = 2_000
  ) {
    var place = 0
    repeat {
      let end = min(entries.count, place + part)
      let list = EnqueueList(entries: Array(entries[place..<end]), isLast: end == entries.count)
      client.ask(.enqueueList(list), bank.coordinator, number: number)
      place = end
    } while place < entries.count
  }

  private func begin(_ bank: TestBank) throws {
    while !bank.coordinator.queue.isTakingIn, bank.coordinator.enqueueHandler.hasWork {
      bank.enqueueCustomers()
    }
    try #require(
      bank.coordinator.queue.isTakingIn, "it was accepted at once, which this test is not made for")
  }

  /// All waiting customers, by ticket.
  private func waiting(_ bank: TestBank) throws -> [TicketNumber: Customer] {
    var all: [TicketNumber: Customer] = [:]
    for line in Line.graded {
      var last: TicketNumber = 0
      while let page = try Optional(bank.store.page(of: line, after: last, limit: 5_000)), let end = page.last
      {
        for customer in page { all[customer.ticket] = customer }
        last = end.ticket
      }
    }
    return all
  }

  @Test(
    "small requests do not wait for a list, whose tickets stay in order; with keys or without",
    arguments: [false, true])
  func beside(hasKeys: Bool) throws {
    let bank = try TestBank()
    let (client, other) = (try TestClient(bank.coordinator), try TestClient(bank.coordinator))
    let entries = (0..<60_000 as Range<Int64>).map { entry($0, key: hasKeys ? "key-\($0)" : nil) }
    ask(entries, bank, client)
    try begin(bank)
    let small = other.ask(.enqueue(.deposits(3, key: "k")), bank.coordinator)
    bank.coordinator.enqueueHandler.advance()
    bank.coordinator.queue.commit()
    #expect(bank.coordinator.queue.isTakingIn)
    #expect(
      try other.answers(to: small, bank.coordinator).first?.enqueued
        == EnqueuedReport(day: 1, first: 1, last: 3, count: 3))
    bank.finishEnqueue()
    let report = try client.answers(to: 900, bank.coordinator).last?.enqueued
    #expect(report == EnqueuedReport(day: 1, first: 4, last: 60_003, count: 60_000))
    let tickets = try waiting(bank)
    let amounts = (4...60_003 as ClosedRange<Int64>).map { tickets[$0]?.amount ?? 0 }
    #expect(amounts.sorted() == Array(1...60_000))
    // Three are at its end, and all others in its order.
    #expect(
      amounts.dropLast(3).allSatisfy { $0 > 0 } && zip(amounts, amounts.dropFirst()).count { $0 > $1 } == 1)
    #expect(try bank.store.audit().problems == [])
  }

  @Test(
    "each key of a long list names its customer: known, added beside it, or in it twice",
    arguments: 0..<12)
  func keys(round: UInt64) throws {
    let seed = RandomSeed.fromSystem()
    var chance = SeededGenerator(seed: seed)
    let story: Comment = "seed \(seed), round \(round)"
    let bank = try TestBank()
    let (client, other) = (try TestClient(bank.coordinator), try TestClient(bank.coordinator))
    let count = Int64.random(in: 4_001...14_000, using: &chance)
    let (everyNth, twice) = (Int64.random(in: 1...4, using: &chance), round % 4 == 3)
    var entries = (0..<count).map { entry($0, key: $0 % everyNth == 0 ? "key-\($0)" : nil) }
    // Some are known.
    let known =
      round % 3 == 0 ? [] : entries.filter { $0.key != nil && Bool.random(using: &chance) }.prefix(1_900)
    if !known.isEmpty {
      ask(Array(known), bank, other, number: 7)
      bank.finishEnqueue()
      #expect(try other.answers(to: 7, bank.coordinator).last?.enqueued?.count == Int64(known.count), story)
    }
    // And some are in it twice, near and far.
    let copies =
      twice ? (0..<5).map { _ in entries.filter { $0.key != nil }.randomElement(using: &chance)! } : []
    for copy in copies { entries.insert(copy, at: Int.random(in: 0...entries.count, using: &chance)) }
    ask(entries, bank, client, part: Int.random(in: 700...2_000, using: &chance))
    var others: Int64 = 0
    while bank.coordinator.enqueueHandler.hasWork {
      let order = EnqueueParameters.deposits(Int64.random(in: 1...9, using: &chance), amount: 999_999)
      if Bool.random(using: &chance), bank.coordinator.queue.isTakingIn {
        other.ask(.enqueue(order), bank.coordinator)
        others += order.count
      }
      bank.enqueueCustomers()
      if Bool.random(using: &chance) { bank.coordinator.queue.commit() }
    }
    bank.coordinator.queue.commit()
    let answers = try client.answers(to: 900, bank.coordinator)
    let report = try #require(answers.last?.enqueued, "\(answers) \(story)")
    #expect(report.count == count - Int64(known.count), story)
    #expect(report.known == Int64(known.count + copies.count), story)
    #expect(report.last - report.first + 1 == report.count, story)
    let tickets = try waiting(bank)
    #expect(
      Int64(tickets.count) == count + others
        && bank.coordinator.queue.machine.dayCounters.issued == count + others,
      story
    )
    for entry in entries {
      guard let key = entry.key else { continue }
      let ticket = try bank.store.request(forKey: key)?.tickets.first ?? 0
      guard tickets[ticket]?.amount == entry.amount else {
        Issue.record("\(key) names \(ticket), which is \(String(describing: tickets[ticket])); \(story)")
        break
      }
    }
    let amounts = (report.first...report.last).compactMap { tickets[$0]?.amount }
    #expect(Set(amounts).count == Int(report.count) && !amounts.contains(999_999), story)
    #expect(try bank.store.audit().problems == [], story)
  }

  @Test(
    "a keyed request need not wait for a list with keys; one of the list's keys gives its ticket",
    arguments: 0..<8)
  func keysBeside(round: Int) throws {
    let seed = RandomSeed.fromSystem()
    var chance = SeededGenerator(seed: seed)
    let story: Comment = "seed \(seed), round \(round)"
    let bank = try TestBank()
    let client = try TestClient(bank.coordinator)
    let count = Int64.random(in: 8_001...20_000, using: &chance)
    let entries = (0..<count).map { entry($0, key: "key-\($0)") }
    ask(entries, bank, client)
    var unknownProcesses: [TestClient] = []
    var secondClients: [(client: TestClient, entry: EnqueueEntry)] = []
    while bank.coordinator.enqueueHandler.hasWork {
      // A request may overtake those of other clients only: each has a client of its own.
      if unknownProcesses.count < 40, Bool.random(using: &chance) {
        let stranger = try TestClient(bank.coordinator)
        stranger.ask(
          .enqueue(.deposits(1, key: "own-\(unknownProcesses.count)", amount: 999_999)), bank.coordinator,
          number: 1)
        unknownProcesses.append(stranger)
      }
      if secondClients.count < 40, Bool.random(using: &chance) {
        let secondClient = try TestClient(bank.coordinator)
        let entry = entries.randomElement(using: &chance)!
        ask([entry], bank, secondClient, number: 1)
        secondClients.append((secondClient, entry))
      }
      bank.enqueueCustomers()
      if Bool.random(using: &chance) { bank.coordinator.queue.commit() }
    }
    bank.coordinator.queue.commit()
    let answers = try client.answers(to: 900, bank.coordinator)
    let report = try #require(answers.last?.enqueued, "\(answers) \(story)")
    #expect(
      report.count + report.known == count && report.last - report.first + 1 == report.count, story)
    let tickets = try waiting(bank)
    #expect(Int64(tickets.count) == count + Int64(unknownProcesses.count), story)
    for entry in entries {
      let ticket = try bank.store.request(forKey: entry.key ?? "")?.tickets.first ?? 0
      guard tickets[ticket]?.amount == entry.amount else {
        Issue.record("\(entry) has ticket \(ticket); \(story)")
        break
      }
    }
    for stranger in unknownProcesses {
      #expect(try stranger.answers(to: 1, bank.coordinator).last?.enqueued?.count == 1, story)
    }
    for (secondClient, entry) in secondClients {
      let ticket = try bank.store.request(forKey: entry.key ?? "")?.tickets.first
      let answers = try secondClient.answers(to: 1, bank.coordinator)
      let answer = try #require(answers.last?.enqueued, "\(answers) \(story)")
      #expect(
        answer.first == ticket || answer.alreadyIssuedTickets?.first?.first == ticket, "\(answer) \(story)")
    }
    #expect(try bank.store.audit().problems == [], story)
  }

  @Test("a list in progress when the coordinator is killed leaves no customer, no key and no number")
  func killed() throws {
    let bank = try TestBank()
    let (client, other) = (try TestClient(bank.coordinator), try TestClient(bank.coordinator))
    ask((0..<12_000 as Range<Int64>).map { entry($0, key: "key-\($0)") }, bank, client)
    try begin(bank)
    other.ask(.enqueue(.deposits(2)), bank.coordinator)
    bank.coordinator.enqueueHandler.advance()
    bank.coordinator.queue.commit()
    try #require(bank.coordinator.queue.isTakingIn && bank.store.hasUnissuedCustomers)
    bank.store.crash()
    #expect(try bank.store.load(now: WallTime(milliseconds: 1)).dayCounters.issued == 2)
    #expect(try bank.store.audit().problems == [])
    // Its keys go with its customers, before the numbers can be reused.
    let dayCounters = try bank.store.load(now: WallTime(milliseconds: 1)).dayCounters
    while bank.store.hasUnissuedCustomers {
      try bank.store.removeUnissuedCustomers(limit: 5_000)
      try bank.store.commit(dayCounters)
    }
    let left = try (0..<12_000).filter { try bank.store.request(forKey: "key-\($0)") != nil }
    #expect(left == [] && bank.store.hasStagedChanges == false)
  }

  @Test(
    "a key of an incomplete or abandoned list is unknown, also while its customers are removed"
  )
  func keyWithoutTickets() throws {
    let bank = try TestBank()
    let (client, other) = (try TestClient(bank.coordinator), try TestClient(bank.coordinator))
    let third = try TestClient(bank.coordinator)
    ask((0..<24_000 as Range<Int64>).map { entry($0, key: "key-\($0)") }, bank, client)
    try begin(bank)
    bank.coordinator.queue.commit()
    let key = try #require(
      (0..<24_000).first { try bank.store.request(forKey: "key-\($0)") != nil }.map { "key-\($0)" })
    ask([entry(1, key: key)], bank, other, number: 7)
    third.ask(.enqueue(.deposits(1, key: key)), bank.coordinator, number: 9)
    bank.enqueueCustomers()
    bank.coordinator.queue.commit()
    try #require(bank.coordinator.queue.isTakingIn)
    #expect(
      try other.answers(to: 7, bank.coordinator).isEmpty && third.answers(to: 9, bank.coordinator).isEmpty,
      "it is not known yet whether the list will be complete")
    bank.coordinator.enqueueHandler.giveUp(because: Failure(.withdrawn))
    try #require(bank.store.hasUnissuedCustomers)
    ask([entry(2)], bank, client, number: 8)
    bank.coordinator.enqueueHandler.advance()
    bank.coordinator.queue.commit()
    #expect(
      bank.coordinator.queue.machine.dayCounters.issued == 1,
      "only the customer without a key of that list is accepted at once")
    bank.finishEnqueue()
    #expect(
      try other.answers(to: 7, bank.coordinator).last?.enqueued
        == EnqueuedReport(day: 1, first: 2, last: 2, count: 1))
    #expect(try bank.store.request(forKey: key)?.tickets.first == 2)
    #expect(try third.answers(to: 9, bank.coordinator).first?.failure?.code == .keyConflict)
    #expect(try bank.store.audit().problems == [])
  }

  @Test(
    "a key conflict is found before any customer of a list comes in, also among those held back"
  )
  func conflict() throws {
    let bank = try TestBank()
    let client = try TestClient(bank.coordinator)
    ask([entry(1, key: "key-1")], bank, client, number: 7)
    bank.finishEnqueue()
    let entries = (0..<12_000 as Range<Int64>).map { entry($0 == 1 ? 2 : $0, key: "key-\($0)") }
    ask(entries, bank, client)
    bank.finishEnqueue()
    let answers = try client.answers(bank.coordinator).filter { $0.number == 900 }
    #expect(answers.map(\.answer.failure) == [Failure(.keyConflict, subject: "key-1")])
    #expect(bank.coordinator.queue.machine.dayCounters.issued == 1 && !bank.store.hasUnissuedCustomers)
  }

  @Test(
    "a full disk while a list is looked up refuses no customer, and its known keys are read again"
  )
  func fullWhileLooking() throws {
    let bank = try TestBank()
    let (client, other) = (try TestClient(bank.coordinator), try TestClient(bank.coordinator))
    // Staged, and not on disk when the list is looked up.
    ask((0..<1_000 as Range<Int64>).map { entry($0, key: "key-\($0)") }, bank, other, number: 7)
    bank.coordinator.context.updateTime()
    bank.coordinator.enqueueHandler.advance()
    ask((0..<40_000 as Range<Int64>).map { entry($0, key: "key-\($0)") }, bank, client)
    bank.coordinator.context.updateTime()
    bank.coordinator.enqueueHandler.rest(until: nil)
    bank.coordinator.enqueueHandler.advance()
    try #require(
      !bank.coordinator.queue.isTakingIn && bank.coordinator.enqueueHandler.current?.known == 1_000)
    bank.store.fail(.commit, with: .diskFull(detail: "of this test"))
    bank.coordinator.queue.commit()
    #expect(try other.answers(to: 7, bank.coordinator).first?.failure?.code == .diskFull)
    bank.coordinator.queue.retry()
    bank.finishEnqueue()
    let report = try client.answers(to: 900, bank.coordinator).last?.enqueued
    #expect(report == EnqueuedReport(day: 1, first: 1, last: 40_000, count: 40_000))
    #expect(try bank.store.audit().problems == [])
  }
}
