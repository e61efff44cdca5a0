// A branch of a shared bank. Requests for tickets are handed in whole, questions about the whole bank go to
// the database, and its events are applied: customers come and go with the lease, the bank drains, and the
// branch leaves.

import BankModel
import Posix
import QueueCore
import Testing
import Time
import Wire

@testable import Coordinator

@Suite("A branch of a shared bank")
struct BranchDeskTests {
  private func bank() throws -> (TestBank, TestClient, ScriptedBooks) {
    let books = ScriptedBooks()
    let bank = try TestBank(sharing: books)
    books.say(.leaseHolds(until: MonotonicTime(nanoseconds: .max)))
    hear(bank)
    return (bank, try TestClient(bank.coordinator), books)
  }

  /// An iteration of the loop, without its sockets.
  private func hear(_ bank: TestBank) {
    bank.coordinator.context.takeTime()
    bank.coordinator.queue.takeResults()
    bank.coordinator.branch.hear()
    bank.coordinator.intake.advance()
    bank.coordinator.queue.commitIfDue(isHurried: false)
  }

  private func ask(_ command: ControlCommand, _ client: TestClient, _ bank: TestBank) -> UInt32 {
    let number = client.ask(command, bank.coordinator)
    hear(bank)
    return number
  }

  /// Claims customers; one of them is served.
  private func claim(_ tickets: ClosedRange<TicketNumber>, _ books: ScriptedBooks, _ bank: TestBank) {
    bank.openWindows(1)
    books.say(.somebodyMayWait(Line(service: .deposit, priority: .regular)))
    hear(bank)
    books.say(page: tickets)
    hear(bank)
  }

  @Test("a request for tickets is handed in whole, and answered with the tickets of the database")
  func intake() throws {
    let (bank, client, books) = try bank()
    let number = ask(.enqueue(.deposits(3, key: "k")), client, bank)
    let (request, customers) = try #require(books.arrived.first)
    #expect(customers.orders.count == 3 && customers.key == "k" && customers.digest != nil)
    #expect(try client.answers(bank.coordinator).isEmpty)
    books.say(.answered(request, .issued(IssuedTickets(day: 1, first: 41, last: 43), known: [])))
    hear(bank)
    let report = try #require(try client.answers(to: number, bank.coordinator).first?.enqueued)
    #expect((report.first, report.last, report.count, report.known) == (41, 43, 3, 0))
  }

  @Test("a known key is answered with its tickets, and with another request it is refused")
  func keys() throws {
    let (bank, client, books) = try bank()
    let first = ask(.enqueue(.deposits(2, key: "k")), client, bank)
    books.say(
      .answered(books.arrived[0].request, .issued(nil, known: [IssuedTickets(day: 1, first: 5, last: 6)])))
    let second = ask(.enqueue(.deposits(9, key: "k")), client, bank)
    books.say(.answered(books.arrived[1].request, .keyConflict("k")))
    hear(bank)
    let replies = try client.answers(bank.coordinator)
    let known = try #require(replies.first { $0.number == first }?.answer.enqueued)
    #expect((known.first, known.last, known.known) == (5, 6, 2))
    #expect(replies.first { $0.number == second }?.answer.failure?.code == .keyConflict)
  }

  @Test("a list is handed in with its keys at their places")
  func list() throws {
    let (bank, client, books) = try bank()
    let entries = (0..<4).map { place in
      EnqueueEntry(service: .deposit, priority: .regular, amount: 1, account: 7, key: "key \(place)")
    }
    _ = ask(.enqueueList(EnqueueList(entries: entries, isLast: true)), client, bank)
    let customers = try #require(books.arrived.first).customers
    #expect(customers.keyed.map(\.place) == [0, 1, 2, 3] && customers.keyed.map(\.key) == entries.map(\.key))
  }

  @Test("a reset is not done, and too many requests at once are refused, each with its name")
  func refusals() throws {
    let (bank, client, books) = try bank()
    let numbers = [
      ask(.reset(day: nil), client, bank), ask(.enqueue(.deposits(1_000_001)), client, bank),
    ]
    let replies = try client.answers(bank.coordinator)
    let codes = numbers.map { number in replies.first { $0.number == number }?.answer.failure?.code }
    #expect(codes == [.notInSharedBank, .badRequest])
    #expect(books.arrived.isEmpty)
  }

  @Test(
    "juice is handed in, and a drain counts only juice that this branch's own stock can make"
  )
  func juice() throws {
    let (bank, client, books) = try bank()
    var juice = EnqueueOrder.deposits(1)
    (juice.service, juice.amount, juice.account, juice.article) = (.juice, nil, nil, "strawberry")
    _ = ask(.enqueue(juice), client, bank)
    #expect(books.arrived.first?.customers.orders.map(\.article) == ["strawberry"])
    books.say(.numbers(numbers(waiting: [2, 0, 7], juices: [3, 4])))
    hear(bank)
    let shared = try #require(bank.coordinator.branch.shared)
    #expect(shared.remaining == [2, 0, 3] && shared.counts(of: .juice).waiting == 7)
    #expect(shared.branchReports.map(\.juices) == [3, 4])
  }

  @Test(
    "wait is answered by a look at the bank after the request, not by an earlier one")
  func idle() throws {
    let (bank, client, books) = try bank()
    books.say(.numbers(numbers(waiting: [0], juices: [])))
    books.say(.looked(askedAt: MonotonicTime(nanoseconds: 1)))
    hear(bank)
    let number = ask(.awaitIdle, client, bank)
    bank.coordinator.reportProgress()
    #expect(
      try client.answers(to: number, bank.coordinator).isEmpty,
      "other branches may have accepted customers meanwhile")
    books.say(.numbers(numbers(waiting: [5], juices: [])))
    books.say(.looked(askedAt: SystemClock.monotonic()))
    hear(bank)
    bank.coordinator.reportProgress()
    #expect(try client.answers(to: number, bank.coordinator).isEmpty)
    books.say(.numbers(numbers(waiting: [0], juices: [])))
    books.say(.looked(askedAt: SystemClock.monotonic()))
    hear(bank)
    bank.coordinator.reportProgress()
    guard case .status? = try client.answers(to: number, bank.coordinator).last else {
      Issue.record("no customer is left, and it is not reported")
      return
    }
  }

  @Test("the last branch of a bank that ends its day reports the branches with juice left")
  func left() throws {
    let (bank, client, books) = try bank()
    let number = ask(.stop(StopOrder(now: false, timeoutMilliseconds: nil, endsBank: true)), client, bank)
    books.say(.draining)
    hear(bank)
    var last = numbers(waiting: [0, 0, 4], juices: [0, 4])
    last.branches[1].state = .closed
    books.say(.answered(books.drains[0], .queue(.done)))
    books.say(.numbers(last))
    hear(bank)
    books.say(.looked(askedAt: SystemClock.monotonic()))
    hear(bank)
    bank.coordinator.ending.advance()
    #expect(books.isLeaving, "no customer is left who can be served here")
    books.say(.left)
    hear(bank)
    guard case .stopped(let report)? = try client.answers(to: number, bank.coordinator).last else {
      Issue.record("the branch has not reported its stop")
      return
    }
    #expect(!report.isDayClosed && report.waiting == 4 && report.branches?.map(\.number) == [2])
  }

  @Test(
    "the end of the day is reported with the counts of all branches, or as those of this branch",
    arguments: [1, 2] as [BusinessDay])
  func ended(day: BusinessDay) throws {
    let (bank, client, books) = try bank()
    let number = ask(.stop(StopOrder(now: false, timeoutMilliseconds: nil, endsBank: true)), client, bank)
    books.say(.draining)
    hear(bank)
    books.say(.answered(books.drains[0], .queue(.done)))
    books.say(.numbers(numbers(waiting: [0, 0, 0], juices: [0, 0])))
    hear(bank)
    books.say(.looked(askedAt: SystemClock.monotonic()))
    hear(bank)
    bank.coordinator.ending.advance()
    #expect(books.isLeaving)
    // Another day may have ended before the last look.
    var next = BankNumbers(day: day + 1)
    next.ended = BankNumbers.EndedDay(day: day, served: 40, sentAway: 2)
    books.say(.numbers(next))
    books.say(.left)
    hear(bank)
    guard case .stopped(let report)? = try client.answers(to: number, bank.coordinator).last else {
      Issue.record("the branch has not reported its stop")
      return
    }
    #expect(report.isDayClosed && report.day == 1 && report.waiting == 0 && report.dead == 0)
    if day == 1 {
      #expect(report.served == 40 && report.sentAway == 2 && report.branch == nil)
    } else {
      #expect(report.served == 0 && report.branch == 1, "its own count, under its own number")
    }
  }

  @Test("a release owed to the stock is known with its time of issue, until it is done")
  func owed() throws {
    let (bank, _, books) = try bank()
    let owed = (1...3).map { ticket in
      OwedRelease(
        ticket: TicketOfDay(day: 1, ticket: ticket), issuedAt: WallTime(milliseconds: 40 + ticket))
    }
    books.say(.releases(owed))
    hear(bank)
    let view = BranchView(try #require(bank.coordinator.branch.shared))
    #expect(try view.unreleased(after: owed[0].ticket, limit: 1) == [owed[1].ticket])
    #expect(try view.momentOfIssue(ofUnreleased: owed[2].ticket) == owed[2].issuedAt)
    try #require(bank.coordinator.branch.shared).released(owed[1].ticket)
    #expect(try view.unreleased(after: nil, limit: 9).map(\.ticket) == [1, 3])
  }

  /// The numbers of two branches: waiting customers by service, and for the juice of each.
  private func numbers(waiting: [Int64], juices: [Int64]) -> BankNumbers {
    var numbers = BankNumbers(day: 1, issued: waiting.reduce(0, +))
    numbers.services = waiting.map { count in
      var counts = BankNumbers.ServiceCounts()
      counts.waiting = count
      return counts
    }
    numbers.branches = juices.enumerated().map { place, count in
      var branch = BankNumbers.Branch(
        identity: BranchIdentity(number: Int64(place) + 1, name: "b\(place)", epoch: 1), host: "h",
        state: .open,
        leaseMilliseconds: 3_000, windows: 2, served: 5, commits: 3)
      branch.juices = count
      return branch
    }
    return numbers
  }

  @Test("a claimed customer is cancelled here, any other one by the database")
  func cancel() throws {
    let (bank, client, books) = try bank()
    claim(1...3, books, bank)
    _ = ask(.cancel(2, day: nil), client, bank)
    #expect(books.orders.isEmpty)
    #expect(books.handedOver.joined().contains { if case .finish = $0 { true } else { false } })
    let number = ask(.cancel(77, day: nil), client, bank)
    #expect(books.orders.map(\.order) == [.cancel(77)])
    books.say(.answered(books.orders[0].request, .queue(.refused(.noSuchTicket(77)))))
    hear(bank)
    #expect(try client.answers(to: number, bank.coordinator).first?.failure?.code == .noSuchTicket)
  }

  @Test("with the lease all customers go, and with the next one they come again")
  func lease() throws {
    let (bank, _, books) = try bank()
    claim(1...3, books, bank)
    bank.serveAll()
    hear(bank)
    books.say(.branchLost)
    books.say(.lost(Remark(quoting: "cut off")))
    hear(bank)
    let queue = bank.coordinator.queue
    #expect(queue.machine.serving == 0 && queue.machine.waitingCount == 0 && !queue.machine.isUnsettled)
    #expect(!queue.engine.isUnderway && bank.log.contains("event=lease_lost"))
    books.say(.joined(BranchIdentity(number: 1, name: "here", epoch: 2)))
    books.say(.leaseHolds(until: MonotonicTime(nanoseconds: .max)))
    hear(bank)
    #expect(bank.log.contains("event=branch_joined") && bank.coordinator.branch.shared?.identity.epoch == 2)
  }

  @Test("work without effect is logged, and not counted")
  func withoutEffect() throws {
    let (bank, _, books) = try bank()
    claim(1...2, books, bank)
    bank.serveAll()
    bank.coordinator.queue.commit()
    books.come(withoutEffect: [1])
    hear(bank)
    #expect(bank.coordinator.queue.machine.books.served == 0)
    #expect(bank.log.contains("event=completion_rejected") && bank.log.contains("ticket=1"))
  }

  @Test("a stop leaves the database at once, reports it, and does not wait for waiting customers")
  func stop() throws {
    let (bank, client, books) = try bank()
    var numbers = BankNumbers(day: 1)
    numbers.services = [.init()]
    numbers.services[0].waiting = 5
    books.say(.numbers(numbers))
    let number = ask(.stop(StopOrder(now: false, timeoutMilliseconds: nil)), client, bank)
    bank.coordinator.ending.advance()
    #expect(books.isLeaving && books.drains.isEmpty)
    #expect(try client.answers(to: number, bank.coordinator).isEmpty)
    books.say(.left)
    hear(bank)
    guard case .stopped? = try client.answers(to: number, bank.coordinator).first else {
      Issue.record("the branch has not reported its stop")
      return
    }
  }

  @Test("a stop of the whole bank lets it drain, and waits for customers who can be served here")
  func stopBank() throws {
    let (bank, client, books) = try bank()
    bank.openWindows(1)
    var numbers = BankNumbers(day: 1)
    numbers.services = [.init()]
    numbers.services[0].waiting = 5
    books.say(.numbers(numbers))
    hear(bank)
    _ = ask(.stop(StopOrder(now: false, timeoutMilliseconds: nil, endsBank: true)), client, bank)
    bank.coordinator.ending.advance()
    #expect(books.drains.count == 1 && !books.isLeaving)
    let late = ask(.enqueue(.deposits(1)), client, bank)
    #expect(books.arrived.isEmpty)
    #expect(try client.answers(to: late, bank.coordinator).first?.failure?.code == .draining)
  }

  @Test("a pause holds at once, and is answered when the database has it")
  func pause() throws {
    let (bank, client, books) = try bank()
    let number = ask(.pause(.deposit), client, bank)
    #expect(bank.coordinator.queue.machine.numbers(of: .deposit).isPaused)
    #expect(try client.answers(to: number, bank.coordinator).isEmpty)
    #expect(books.paused.map(\.services) == [[.deposit]])
    books.say(.answered(books.paused[0].request, .queue(.done)))
    hear(bank)
    #expect(try client.answers(to: number, bank.coordinator).count == 1)
  }

  @Test("while no branch reads the database, waiting for tickets is refused at once")
  func awaitTickets() throws {
    let (bank, client, books) = try bank()
    let number = ask(.awaitTickets(day: 1, first: 1, last: 3), client, bank)
    #expect(try client.answers(to: number, bank.coordinator).first?.failure?.code == .notOpen)
    #expect(books.arrived.isEmpty)
  }

  @Test("a bank counts as empty by a look after the database has the drain, and not before")
  func looksAgain() throws {
    let (bank, client, books) = try bank()
    bank.openWindows(1)
    books.say(.numbers(numbers(waiting: [0], juices: [])))
    hear(bank)
    _ = ask(.stop(StopOrder(now: false, timeoutMilliseconds: nil, endsBank: true)), client, bank)
    let early = SystemClock.monotonic()
    books.say(.answered(books.drains[0], .queue(.done)))
    books.say(.looked(askedAt: early))
    hear(bank)
    bank.coordinator.ending.advance()
    #expect(!books.isLeaving, "customers may have come elsewhere until then")
    books.say(.numbers(numbers(waiting: [5], juices: [])))
    books.say(.looked(askedAt: SystemClock.monotonic()))
    hear(bank)
    bank.coordinator.ending.advance()
    #expect(!books.isLeaving, "a customer is left")
    books.say(.numbers(numbers(waiting: [0], juices: [])))
    hear(bank)
    bank.coordinator.ending.advance()
    #expect(bank.log.contains("step=finish_serving"))
  }

  @Test("the client that ends the day of the whole bank gets the reason why the database refused")
  func dayNotEnded() throws {
    let (bank, client, books) = try bank()
    let number = ask(.stop(StopOrder(now: false, timeoutMilliseconds: nil, endsBank: true)), client, bank)
    books.say(.answered(books.drains[0], .queue(.done)))
    hear(bank)
    books.say(.looked(askedAt: SystemClock.monotonic()))
    hear(bank)
    bank.coordinator.ending.advance()
    #expect(books.isLeaving)
    books.say(.dayNotEnded(.failed(path: "books", detail: Remark(quoting: "no replica identity"))))
    books.say(.left)
    hear(bank)
    let failure = try client.answers(to: number, bank.coordinator).last?.failure
    #expect(failure?.code == .system && failure?.detail.contains("no replica identity") == true)
    #expect(bank.log.contains("event=day_end_failed"))
  }

  @Test("when the bank drains this branch ends with it")
  func draining() throws {
    let (bank, _, books) = try bank()
    books.say(.draining)
    books.say(.looked(askedAt: MonotonicTime(nanoseconds: 1)))
    hear(bank)
    bank.coordinator.ending.advance()
    #expect(bank.coordinator.context.isEnding && books.isLeaving)
  }

  @Test(
    "when its day has ended this branch closes, and does not wait for customers of the next one")
  func dayEnded() throws {
    let (bank, _, books) = try bank()
    bank.openWindows(1)
    var numbers = BankNumbers(day: 2)
    numbers.services = [.init()]
    numbers.services[0].waiting = 5
    books.say(.numbers(numbers))
    books.say(.dayEnded)
    hear(bank)
    bank.coordinator.ending.advance()
    #expect(bank.coordinator.context.isEnding && bank.log.contains("event=day_ended"))
    #expect(bank.log.contains("step=finish_serving"))
  }

  @Test("the status shows this branch and the whole bank, with the branches apart")
  func reports() throws {
    let (bank, client, books) = try bank()
    var numbers = BankNumbers(day: 1, issued: 9)
    numbers.services = [.init()]
    (numbers.services[0].waiting, numbers.services[0].served) = (4, 5)
    numbers.branches = [1, 2].map { place in
      BankNumbers.Branch(
        identity: BranchIdentity(number: place, name: "b\(place)", epoch: 1), host: "h",
        state: place == 1 ? .open : .expired, leaseMilliseconds: 3_000, windows: 2, served: 5, commits: 3)
    }
    books.say(.numbers(numbers))
    hear(bank)
    let number = ask(.branches, client, bank)
    guard case .branches(let branches)? = try client.answers(to: number, bank.coordinator).first else {
      Issue.record("no branches were reported")
      return
    }
    #expect(branches.map(\.isThis) == [true, false] && branches[1].state == .expired)
    let status = bank.coordinator.reports.status()
    #expect(status.bank?.queue.waiting == 4 && status.bank?.queue.issued == 9 && status.branch?.number == 1)
  }
}
