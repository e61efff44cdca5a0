// Requests with payloads in the coordinator. Every customer has its own payload, however the request is cut,
// and neither a transaction nor the waiting requests hold more bytes than allowed.

import BankModel
import Posix
import QueueCore
import Storage
import Testing
import Time
import Wire

@testable import Coordinator

@Suite("Intake of payloads")
struct PayloadEnqueueTests {
  private func order(_ count: Int64, _ payload: [UInt8], key: String? = nil) -> EnqueueParameters {
    var order = EnqueueParameters.deposits(count, key: key)
    order.payload = payload
    return order
  }

  /// A bank that stores payloads of deposits, for this test alone.
  private func payloadStoringBank() throws -> TestBank {
    var limits = CoordinatorLimits()
    limits.storesUnreadPayloads = true
    return try TestBank(limits: limits)
  }

  @Test("a payload without a command or worker to read it is refused by name, and so is a command line")
  func unread() throws {
    let bank = try TestBank()
    let client = try TestClient(bank.coordinator)
    func refusal(_ command: ControlCommand) throws -> MessageDetail? {
      try client.answers(to: client.ask(command, bank.coordinator), bank.coordinator).first?.failure?
        .messageDetail
    }
    #expect(try refusal(.enqueue(order(2, [1]))) == MessageDetail(.payloadNotAllowed, "deposit"))
    #expect(
      try refusal(.enqueue(order(2, []))) == MessageDetail(.payloadNotAllowed, "deposit"),
      "an empty payload is a payload, too")
    var drawn = order(1, [1])
    drawn.service = nil
    #expect(try refusal(.enqueue(drawn)) == MessageDetail(.payloadWithoutService))
    var line = order(1, [1])
    line.isCommandLine = true
    #expect(try refusal(.enqueue(line)) == MessageDetail(.noCommandLines, "deposit"))
    var entries = (1...3).map {
      EnqueueEntry(service: .loan, priority: .regular, amount: 1, account: $0, key: nil)
    }
    entries[1].payload = [1]
    #expect(
      try refusal(.enqueueList(EnqueueList(entries: entries, isLast: true)))
        == MessageDetail(.payloadOfEntryNotAllowed, "loan", 2))
    bank.finishEnqueue()
    #expect(bank.coordinator.queue.machine.dayCounters.issued == 0)
  }

  private func story(_ ticket: Int64, _ bank: TestBank, _ client: TestClient) throws -> TicketReport? {
    let number = client.ask(.ticket(number: ticket, day: nil), bank.coordinator)
    guard case .ticket(let report)? = try client.answers(to: number, bank.coordinator).first else {
      return nil
    }
    return report
  }

  @Test("a ticket shows what its customer carries, until it has a receipt")
  func told() throws {
    let bank = try payloadStoringBank()
    let client = try TestClient(bank.coordinator)
    client.ask(.enqueue(order(2, [0, 255])), bank.coordinator)
    client.ask(.enqueue(.deposits(1)), bank.coordinator)
    client.ask(.enqueue(order(1, [])), bank.coordinator)
    bank.finishEnqueue()
    _ = try client.answers(bank.coordinator)
    #expect(try (1...4).map { try story($0, bank, client)?.payload } == [[0, 255], [0, 255], nil, []])
    client.ask(.cancel(1), bank.coordinator)
    bank.coordinator.queue.commit()
    _ = try client.answers(bank.coordinator)
    #expect(try story(1, bank, client)?.payload == nil && story(1, bank, client)?.receipt != nil)
    #expect(try bank.store.audit().problems == [])
  }

  @Test("a large request is cut and committed by bytes, and all its customers have the payload")
  func slices() throws {
    let bank = try payloadStoringBank()
    let (client, other) = (try TestClient(bank.coordinator), try TestClient(bank.coordinator))
    let payload = [UInt8](repeating: 7, count: 60_000)
    let number = client.ask(.enqueue(order(400, payload, key: "k")), bank.coordinator)
    bank.coordinator.context.updateTime()
    // The time for one iteration is over before it starts, however fast the machine: one slice is accepted.
    let began = SystemClock.monotonic()
    while SystemClock.monotonic() < began + .milliseconds(5) {}
    bank.coordinator.enqueueHandler.advance()
    #expect(bank.coordinator.queue.isTakingIn)
    // A customer comes beside it, and has a number of the gap.
    other.ask(.enqueue(order(2, [1])), bank.coordinator)
    let commits = bank.store.commits
    bank.finishEnqueue()
    let tickets = try #require(try client.answers(to: number, bank.coordinator).last?.enqueued)
    let beside = try #require(try other.answers(bank.coordinator).last?.answer.enqueued)
    // 24 MB, and at most 8 MiB and a slice in a transaction.
    #expect(bank.store.commits - commits >= 2)
    #expect(tickets.count == 400 && beside.count == 2)
    for ticket in tickets.first...tickets.last { #expect(try bank.store.payload(of: ticket) == payload) }
    for ticket in beside.first...beside.last { #expect(try bank.store.payload(of: ticket) == [1]) }
    #expect(try bank.store.audit().problems == [])
    let again = client.ask(.enqueue(order(400, payload, key: "k")), bank.coordinator)
    bank.finishEnqueue()
    #expect(try client.answers(to: again, bank.coordinator).last?.enqueued?.known == 400)
    let changed = client.ask(.enqueue(order(400, payload + [1], key: "k")), bank.coordinator)
    bank.finishEnqueue()
    #expect(try client.answers(to: changed, bank.coordinator).last?.failure?.code == .keyConflict)
  }

  @Test(
    "each customer of a long list has the payload of its own line, with keys or without",
    arguments: [false, true])
  func lists(hasKeys: Bool) throws {
    let bank = try payloadStoringBank()
    let (client, other) = (try TestClient(bank.coordinator), try TestClient(bank.coordinator))
    func payload(_ place: Int64) -> [UInt8]? {
      // Some carry nothing; so a part has a customer, or very many.
      if place % 5 == 0 { return nil }
      return [UInt8](repeating: UInt8(place % 251), count: place > 3_000 ? 3 : place % 2 == 0 ? 60_000 : 10)
    }
    let entries = (0..<6_000 as Range<Int64>).map { place in
      EnqueueEntry(
        service: .deposit, priority: .regular, amount: place + 1, account: 6,
        key: hasKeys ? "key-\(place)" : nil, drawn: [],
        payload: place < 100 || place > 3_000 ? payload(place) : nil)
    }
    for start in stride(from: 0, to: entries.count, by: 10) {
      let end = min(start + 10, entries.count)
      client.ask(
        .enqueueList(EnqueueList(entries: Array(entries[start..<end]), isLast: end == entries.count)),
        bank.coordinator, number: 900)
    }
    other.ask(.enqueue(order(3, [9, 9])), bank.coordinator)
    bank.finishEnqueue()
    let tickets = try #require(try client.answers(to: 900, bank.coordinator).last?.enqueued)
    #expect(tickets.count == 6_000)
    for ticket in 1...6_003 as ClosedRange<Int64> {
      let customer = try #require(try bank.store.find(ticket)).customer
      let expected = customer.account == 7 ? [9, 9] : entries[Int(customer.amount) - 1].payload
      #expect(try bank.store.payload(of: ticket) == expected, "\(ticket)")
    }
    #expect(try bank.store.audit().problems == [])
  }

  @Test("a payload that is too long is refused with limit and place, and no customer is added")
  func tooLong() throws {
    let bank = try payloadStoringBank()
    let client = try TestClient(bank.coordinator)
    let long = [UInt8](repeating: 0, count: 65_537)
    let most = BankModel.Limits.payloadLength
    let first = client.ask(.enqueue(order(1, long)), bank.coordinator)
    #expect(
      try client.answers(to: first, bank.coordinator).first?.failure?.messageDetail
        == MessageDetail(.payloadTooLarge, 65_536, 65_537, most))
    var entries = (1...5).map {
      EnqueueEntry(service: .loan, priority: .regular, amount: 1, account: $0, key: nil, payload: [1])
    }
    entries[3].payload = long
    let second = client.ask(.enqueueList(EnqueueList(entries: entries, isLast: true)), bank.coordinator)
    #expect(
      try client.answers(to: second, bank.coordinator).first?.failure?.messageDetail
        == MessageDetail(.payloadOfEntryTooLarge, 65_536, 65_537, most, 4))
    var juice = order(1, [1])
    juice.service = .juice
    let third = client.ask(.enqueue(juice), bank.coordinator)
    #expect(
      try client.answers(to: third, bank.coordinator).first?.failure?.messageDetail
        == MessageDetail(.payloadNotAllowed, "juice"))
    juice.payload = nil
    for itemName in [nil, ""] {
      juice.itemName = itemName
      let unnamed = client.ask(.enqueue(juice), bank.coordinator)
      #expect(
        try client.answers(to: unnamed, bank.coordinator).first?.failure?.messageDetail
          == MessageDetail(.itemNameRequired, "juice"), "no station could ever serve it")
    }
    bank.finishEnqueue()
    #expect(bank.coordinator.queue.machine.dayCounters.issued == 0)
  }

  @Test("waiting payloads are bounded: a client is not read, and beyond the total it is refused")
  func bounded() throws {
    let room = PayloadMemoryLimiter()
    var shares: [PayloadReservation] = []
    for _ in 0..<64 {
      let share = PayloadReservation(room, nil)
      #expect(share.hasRoom(for: 1 << 20))
      share.bytes = 1 << 20
      shares.append(share)
    }
    let late = PayloadReservation(room, nil)
    #expect(!late.hasRoom(for: 1) && late.refusal(of: 1).code == .queueFull)
    #expect(shares[0].hasRoom(for: 5) && !shares[0].hasRoom(for: 1 << 20 + 1))
    shares.removeLast(63)
    #expect(room.bytes == 1 << 20 && late.hasRoom(for: 1))
    shares = []
    #expect(room.bytes == 0)
    let bank = try payloadStoringBank()
    let client = try TestClient(bank.coordinator)
    let payload = [UInt8](repeating: 1, count: 65_536)
    for _ in 0..<64 { client.ask(.enqueue(order(1, payload)), bank.coordinator) }
    #expect(client.session.payloadBytes == 4 << 20 && client.session.channel.isReadingPaused)
    #expect(!client.session.canBeRead(within: .max))
    bank.finishEnqueue()
    #expect(client.session.payloadBytes == 0 && client.session.canBeRead(within: .max))
    #expect(bank.coordinator.queue.machine.dayCounters.issued == 64)
  }

  @Test("a full disk leaves no payload, and later customers have their own")
  func fullDisk() throws {
    let bank = try payloadStoringBank()
    let client = try TestClient(bank.coordinator)
    bank.store.fail(.commit, with: .diskFull(detail: "full"))
    let first = client.ask(.enqueue(order(2, [1])), bank.coordinator)
    bank.finishEnqueue()
    #expect(try client.answers(to: first, bank.coordinator).first?.failure?.code == .diskFull)
    bank.coordinator.queue.retry()
    client.ask(.enqueue(.deposits(1)), bank.coordinator)
    client.ask(.enqueue(order(1, [2])), bank.coordinator)
    bank.finishEnqueue()
    #expect(try (1...3).map { try bank.store.payload(of: $0) } == [nil, [2], nil])
    #expect(try bank.store.audit().problems == [])
  }
}
