// Subscribers get a share of the coordinator's time and memory, however many they are. Events are encoded
// once, a slow subscriber is sent an error, and the work for a served customer does not grow with the number
// of waiting clients.

import BankModel
import Posix
import QueueCore
import Testing
import Time
import Transport
import Wire

@testable import Coordinator

@Suite("Subscribers")
struct SubscriptionTests {
  private static func event(_ ticket: Int64) -> AttemptEvent {
    AttemptEvent(
      phase: .started, at: 1_700_000_000_000, day: 1, ticket: ticket, service: .loan, priority: .vip,
      window: "loan-1", attempt: 1)
  }

  private func tickets(_ replies: [ControlReply], of number: UInt32? = nil) -> [Int64] {
    replies.filter { number == nil || $0.number == number }.compactMap {
      if case .event(let event) = $0.answer { event.ticket } else { nil }
    }
  }

  /// Runs rounds until a condition holds, each when subscribers may be served again.
  private func rounds(_ bank: TestBank, until isDone: () throws -> Bool) throws {
    for _ in 0..<100_000 {
      if try isDone() { return }
      // The loop notices room in a socket.
      _ = try bank.coordinator.context.loop.spin(for: .zero)
      bank.coordinator.subscriptions.views.scheduler.due = MonotonicTime(nanoseconds: 0)
      bank.round()
    }
    Issue.record("it did not come to an end")
  }

  @Test("one connection has four subscriptions, and the fifth is refused with an error")
  func limit() throws {
    let bank = try TestBank()
    let client = try TestClient(bank.coordinator)
    let commands: [ControlCommand] = [
      .follow, .watch, .receipts(ReceiptQuery(days: .all, follow: true)), .follow,
    ]
    for command in commands { client.ask(command, bank.coordinator) }
    #expect(try client.answers(bank.coordinator).allSatisfy { $0.answer.failure == nil })
    for command in commands.prefix(3) {
      let number = client.ask(command, bank.coordinator)
      let failure = try client.answers(to: number, bank.coordinator).first?.failure
      #expect(failure?.code == .badRequest && failure?.detail.contains("at most 4") == true)
    }
    let once = client.ask(.receipts(ReceiptQuery(days: .all, follow: false)), bank.coordinator)
    bank.round()
    #expect(try client.answers(to: once, bank.coordinator).first?.failure == nil)
    let other = try TestClient(bank.coordinator)
    let number = other.ask(.follow, bank.coordinator)
    bank.coordinator.subscriptions.views.publish([Self.event(1)])
    try rounds(bank) { try !other.answers(to: number, bank.coordinator).isEmpty }
    bank.coordinator.router.forget(client.session)
    #expect(bank.coordinator.subscriptions.views.scheduler.all.count == 1 && client.session.requesters == 0)
  }

  @Test("an event is encoded once, and every follower gets all of them in their order")
  func once() throws {
    let bank = try TestBank()
    let clients = try (0..<50).map { _ in try TestClient(bank.coordinator) }
    var numbers: [UInt32] = []
    for (place, client) in clients.enumerated() {
      numbers.append(client.ask(.follow, bank.coordinator, number: UInt32(place * place * 1_000)))
    }
    var told = [[Int64]](repeating: [], count: clients.count)
    for ticket in 1...2_000 {
      bank.coordinator.subscriptions.views.publish([Self.event(Int64(ticket))])
      guard ticket % 100 == 0 else { continue }
      try rounds(bank) { !bank.coordinator.subscriptions.views.scheduler.hasPending }
      for (place, client) in clients.enumerated() {
        told[place] += tickets(try client.answers(bank.coordinator), of: numbers[place])
      }
    }
    #expect(told.allSatisfy { $0 == Array(1...2_000) })
    #expect(bank.coordinator.subscriptions.views.feed.encoded == 2_000)
  }

  @Test(
    "a client that does not read is ended as too slow within its share; the others lose nothing"
  )
  func slow() throws {
    let bank = try TestBank()
    let (deaf, reader) = (try TestClient(bank.coordinator), try TestClient(bank.coordinator))
    deaf.ask(.follow, bank.coordinator)
    reader.ask(.follow, bank.coordinator)
    var (ticket, told): (Int64, [Int64]) = (0, [])
    while bank.coordinator.subscriptions.views.followerCount == 2, ticket < 1_000_000 {
      bank.coordinator.subscriptions.views.publish((1...1_000).map { Self.event(ticket + $0) })
      ticket += 1_000
      try rounds(bank) {
        told += tickets(try reader.answers(bank.coordinator))
        return told.count == ticket
      }
      #expect(deaf.session.channel.backlog < bank.coordinator.server.share + 2 * ReplayBuffer.pageBytes)
    }
    #expect(told == Array(1...ticket))
    var answers: [ControlReply] = []
    try rounds(bank) {
      answers += try deaf.answers(bank.coordinator)
      return answers.last?.answer.failure != nil
    }
    #expect(answers.last?.answer.failure?.code == .slowConsumer && answers.last?.more == false)
    let seen = tickets(answers)
    #expect(
      seen == Array(1..<Int64(seen.count) + 1) && Int64(seen.count) < ticket, "none is left out in between")
    #expect(bank.log.contains("event=slow_consumer"))
    // It may start again.
    let number = deaf.ask(.follow, bank.coordinator, number: 9)
    bank.coordinator.subscriptions.views.publish([Self.event(7)])
    try rounds(bank) { tickets(try deaf.answers(bank.coordinator), of: number) == [7] }
  }

  @Test("subscribers get a share of the time: other work comes before their iteration and after it")
  func share() throws {
    let bank = try TestBank()
    let asker = try TestClient(bank.coordinator)
    let clients = try (0..<20).map { _ in try TestClient(bank.coordinator) }
    for client in clients { for _ in 1...4 { client.ask(.follow, bank.coordinator) } }
    bank.coordinator.subscriptions.views.publish((1...20_000).map { Self.event($0) })
    bank.coordinator.context.updateTime()
    asker.ask(.status, bank.coordinator)
    try #require(asker.session.channel.backlog > 0)
    let begin = bank.coordinator.context.now.monotonic
    bank.coordinator.views.notify()
    #expect(asker.session.channel.backlog == 0, "requests are answered before subscribers are served")
    // Their events are written at once, since otherwise the time for this would be counted for none.
    #expect(clients.contains { $0.session.channel.backlog == 0 && $0.hasSomethingToRead })
    let views = bank.coordinator.subscriptions.views.scheduler
    // Two hundred megabytes are not copied in a millisecond.
    #expect(views.hasPending && !views.allBlocked)
    #expect(views.due.since(begin) >= PublishingPeriods.turn * (1 + PublishingPeriods.rest))
    // This iteration is too early for them, so they are sent nothing, and have no rest after it.
    let due = views.due
    bank.coordinator.views.notify()
    #expect(views.due == due && views.hasPending)
    #expect(
      bank.coordinator.subscriptions.nextDeadline(isTimerRunning: false)
        == views.due)
  }

  @Test("a watcher that does not read misses snapshots, but not the latest")
  func pictures() throws {
    let bank = try TestBank()
    let client = try TestClient(bank.coordinator)
    client.ask(.watch, bank.coordinator)
    func show(_ day: Int64) {
      var report = bank.coordinator.reports.status()
      report.day = day
      bank.coordinator.subscriptions.views.show(report)
    }
    for day in 1...3_000 {
      show(Int64(day))
      bank.coordinator.subscriptions.changed = false
      bank.coordinator.subscriptions.views.scheduler.due = MonotonicTime(nanoseconds: 0)
      bank.round()
    }
    #expect(client.session.channel.backlog < bank.coordinator.server.share + ReplayBuffer.pageBytes)
    var days: [Int64] = []
    try rounds(bank) {
      days += try client.answers(bank.coordinator).compactMap {
        if case .status(let report) = $0.answer { report.day } else { nil }
      }
      return days.last == 3_000
    }
    #expect(days.count < 3_000)
  }

  @Test("two thousand clients that wait for tickets are counted in turn, each is answered at its end")
  func manyWaiters() throws {
    let bank = try TestBank()
    let clients = try (0..<10).map { _ in try TestClient(bank.coordinator) }
    bank.openWindows(1)
    _ = try bank.enqueue(2_000, clients[0])
    var waiting: [UInt32: Int64] = [:]
    for place in 0..<2_000 {
      let last = Int64(1 + (place * 7) % 2_000)
      let number = clients[place % 10].ask(
        .awaitTickets(day: 1, first: max(1, last - Int64(place % 50)), last: last), bank.coordinator,
        number: UInt32(place + 1))
      waiting[number] = last
    }
    var served: Int64 = 0
    while served < 2_000 {
      for _ in 1...100 {
        bank.serveAll()
        served += 1
      }
      bank.coordinator.queue.commit()
      try settle(bank)
      for client in clients {
        for reply in try client.answers(bank.coordinator) {
          guard case .ended = reply.answer else { continue }
          let last = waiting.removeValue(forKey: reply.number) ?? .max
          #expect(last <= served, "no client is answered too early")
        }
      }
      #expect(waiting.values.allSatisfy { $0 > served }, "no client waits for longer than necessary")
    }
    #expect(waiting.isEmpty && bank.coordinator.subscriptions.tickets.isEmpty)
    #expect(clients.allSatisfy { $0.session.requesters == 0 })
    let counts = bank.coordinator.subscriptions.tickets.counts
    #expect(counts < 2_000 * 100, "\(counts) counts for 2000 customers")
  }

  /// Runs rounds until all staged changes are counted.
  private func settle(_ bank: TestBank) throws {
    for _ in 0..<100_000 where bank.coordinator.subscriptions.tickets.nextDeadline != nil { bank.round() }
    bank.round()
    #expect(bank.coordinator.subscriptions.tickets.nextDeadline == nil)
  }
}
