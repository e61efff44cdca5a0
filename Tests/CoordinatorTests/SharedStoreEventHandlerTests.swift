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
struct SharedStoreEventHandlerTests {
  private func bank() throws -> (TestBank, TestClient, ScriptedStore) {
    let sharedStore = ScriptedStore()
    let bank = try TestBank(sharing: sharedStore)
    sharedStore.emit(.leaseExtended(until: MonotonicTime(nanoseconds: .max)))
    handle(bank)
    return (bank, try TestClient(bank.coordinator), sharedStore)
  }

  /// An iteration of the loop, without its sockets.
  private func handle(_ bank: TestBank) {
    bank.coordinator.context.updateTime()
    bank.coordinator.queue.handleResults()
    bank.coordinator.branch.handle()
    bank.coordinator.enqueueHandler.advance()
    bank.coordinator.queue.commitIfDue(isImmediate: false)
  }

  private func ask(_ command: ControlCommand, _ client: TestClient, _ bank: TestBank) -> UInt32 {
    let number = client.ask(command, bank.coordinator)
    handle(bank)
    return number
  }

  /// Claims customers; one of them is served.
  private func claim(_ tickets: ClosedRange<TicketNumber>, _ sharedStore: ScriptedStore, _ bank: TestBank) {
    bank.openWindows(1)
    sharedStore.emit(.lineMayHaveCustomers(Line(service: .deposit, priority: .regular)))
    handle(bank)
    sharedStore.emit(page: tickets)
    handle(bank)
  }

  @Test("a request for tickets is handed in whole, and answered with the tickets of the database")
  func enqueueHandler() throws {
    let (bank, client, sharedStore) = try bank()
    let number = ask(.enqueue(.deposits(3, key: "k")), client, bank)
    let (request, customers) = try #require(sharedStore.arrived.first)
    #expect(customers.orders.count == 3 && customers.key == "k" && customers.digest != nil)
    #expect(try client.answers(bank.coordinator).isEmpty)
    sharedStore.emit(.answered(request, .issued(IssuedTickets(day: 1, first: 41, last: 43), known: [])))
    handle(bank)
    let report = try #require(try client.answers(to: number, bank.coordinator).first?.enqueued)
    #expect((report.first, report.last, report.count, report.known) == (41, 43, 3, 0))
  }

  @Test("a known key is answered with its tickets, and with another request it is refused")
  func keys() throws {
    let (bank, client, sharedStore) = try bank()
    let first = ask(.enqueue(.deposits(2, key: "k")), client, bank)
    sharedStore.emit(
      .answered(
        sharedStore.arrived[0].request, .issued(nil, known: [IssuedTickets(day: 1, first: 5, last: 6)])))
    let second = ask(.enqueue(.deposits(9, key: "k")), client, bank)
    sharedStore.emit(.answered(sharedStore.arrived[1].request, .keyConflict("k")))
    handle(bank)
    let replies = try client.answers(bank.coordinator)
    let known = try #require(replies.first { $0.number == first }?.answer.enqueued)
    #expect((known.first, known.last, known.known) == (5, 6, 2))
    #expect(replies.first { $0.number == second }?.answer.failure?.code == .keyConflict)
  }

  @Test("a list is handed in with its keys at their places")
  func list() throws {
    let (bank, client, sharedStore) = try bank()
    let entries = (0..<4).map { place in
      EnqueueEntry(service: .deposit, priority: .regular, amount: 1, account: 7, key: "key \(place)")
    }
    _ = ask(.enqueueList(EnqueueList(entries: entries, isLast: true)), client, bank)
    let customers = try #require(sharedStore.arrived.first).customers
    #expect(customers.keyed.map(\.place) == [0, 1, 2, 3] && customers.keyed.map(\.key) == entries.map(\.key))
  }

  @Test("a reset is not done, and too many requests at once are refused, each with its name")
  func refusals() throws {
    let (bank, client, sharedStore) = try bank()
    let numbers = [
      ask(.reset(day: nil), client, bank), ask(.enqueue(.deposits(1_000_001)), client, bank),
    ]
    let replies = try client.answers(bank.coordinator)
    let codes = numbers.map { number in replies.first { $0.number == number }?.answer.failure?.code }
    #expect(codes == [.unsupportedWithSharedStore, .badRequest])
    #expect(sharedStore.arrived.isEmpty)
  }

  @Test(
    "juice is handed in, and a drain counts only juice that this branch's own stock can make"
  )
  func juice() throws {
    let (bank, client, sharedStore) = try bank()
    var juice = EnqueueParameters.deposits(1)
    (juice.service, juice.amount, juice.account, juice.itemName) = (.juice, nil, nil, "strawberry")
    _ = ask(.enqueue(juice), client, bank)
    #expect(sharedStore.arrived.first?.customers.orders.map(\.itemName) == ["strawberry"])
    sharedStore.emit(.numbers(numbers(waiting: [2, 0, 7], juices: [3, 4])))
    handle(bank)
    let shared = try #require(bank.coordinator.branch.shared)
    #expect(shared.remaining == [2, 0, 3] && shared.counts(of: .juice).waiting == 7)
    #expect(shared.branchReports.map(\.juices) == [3, 4])
  }

  @Test(
    "wait is answered by a look at the bank after the request, not by an earlier one")
  func idle() throws {
    let (bank, client, sharedStore) = try bank()
    sharedStore.emit(.numbers(numbers(waiting: [0], juices: [])))
    sharedStore.emit(.countersConfirmed(askedAt: MonotonicTime(nanoseconds: 1)))
    handle(bank)
    let number = ask(.awaitIdle, client, bank)
    bank.coordinator.reportProgress()
    #expect(
      try client.answers(to: number, bank.coordinator).isEmpty,
      "other branches may have accepted customers meanwhile")
    sharedStore.emit(.numbers(numbers(waiting: [5], juices: [])))
    sharedStore.emit(.countersConfirmed(askedAt: SystemClock.monotonic()))
    handle(bank)
    bank.coordinator.reportProgress()
    #expect(try client.answers(to: number, bank.coordinator).isEmpty)
    sharedStore.emit(.numbers(numbers(waiting: [0], juices: [])))
    sharedStore.emit(.countersConfirmed(askedAt: SystemClock.monotonic()))
    handle(bank)
    bank.coordinator.reportProgress()
    guard case .status? = try client.answers(to: number, bank.coordinator).last else {
      Issue.record("no customer is left, and it is not reported")
      return
    }
  }

  @Test("the last branch of a bank that ends its day reports the branches with juice left")
  func left() throws {
    let (bank, client, sharedStore) = try bank()
    let number = ask(
      .stop(StopParameters(now: false, timeoutMilliseconds: nil, closesWholeBank: true)), client, bank)
    sharedStore.emit(.draining)
    handle(bank)
    var last = numbers(waiting: [0, 0, 4], juices: [0, 4])
    last.branches[1].state = .closed
    sharedStore.emit(.answered(sharedStore.drains[0], .queue(.done)))
    sharedStore.emit(.numbers(last))
    handle(bank)
    sharedStore.emit(.countersConfirmed(askedAt: SystemClock.monotonic()))
    handle(bank)
    bank.coordinator.shutdownController.advance()
    #expect(sharedStore.isLeaving, "no customer is left who can be served here")
    sharedStore.emit(.left)
    handle(bank)
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
    let (bank, client, sharedStore) = try bank()
    let number = ask(
      .stop(StopParameters(now: false, timeoutMilliseconds: nil, closesWholeBank: true)), client, bank)
    sharedStore.emit(.draining)
    handle(bank)
    sharedStore.emit(.answered(sharedStore.drains[0], .queue(.done)))
    sharedStore.emit(.numbers(numbers(waiting: [0, 0, 0], juices: [0, 0])))
    handle(bank)
    sharedStore.emit(.countersConfirmed(askedAt: SystemClock.monotonic()))
    handle(bank)
    bank.coordinator.shutdownController.advance()
    #expect(sharedStore.isLeaving)
    // Another day may have ended before the last look.
    var next = BankCounters(day: day + 1)
    next.ended = BankCounters.EndedDay(day: day, served: 40, sentAway: 2)
    sharedStore.emit(.numbers(next))
    sharedStore.emit(.left)
    handle(bank)
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
    let (bank, _, sharedStore) = try bank()
    let owed = (1...3).map { ticket in
      OwedRelease(
        ticket: TicketOfDay(day: 1, ticket: ticket), issuedAt: WallTime(milliseconds: 40 + ticket))
    }
    sharedStore.emit(.releases(owed))
    handle(bank)
    let view = SharedStoreCache(try #require(bank.coordinator.branch.shared))
    #expect(try view.unreleased(after: owed[0].ticket, limit: 1) == [owed[1].ticket])
    #expect(try view.issueTime(ofUnreleased: owed[2].ticket) == owed[2].issuedAt)
    try #require(bank.coordinator.branch.shared).released(owed[1].ticket)
    #expect(try view.unreleased(after: nil, limit: 9).map(\.ticket) == [1, 3])
  }

  /// The numbers of two branches: waiting customers by service, and for the juice of each.
  private func numbers(waiting: [Int64], juices: [Int64]) -> BankCounters {
    var numbers = BankCounters(day: 1, issued: waiting.reduce(0, +))
    numbers.services = waiting.map { count in
      var counts = BankCounters.ServiceCounts()
      counts.waiting = count
      return counts
    }
    numbers.branches = juices.enumerated().map { place, count in
      var branch = BankCounters.Branch(
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
    let (bank, client, sharedStore) = try bank()
    claim(1...3, sharedStore, bank)
    _ = ask(.cancel(2, day: nil), client, bank)
    #expect(sharedStore.orders.isEmpty)
    #expect(sharedStore.handedOver.joined().contains { if case .finish = $0 { true } else { false } })
    let number = ask(.cancel(77, day: nil), client, bank)
    #expect(sharedStore.orders.map(\.order) == [.cancel(77)])
    sharedStore.emit(.answered(sharedStore.orders[0].request, .queue(.refused(.noSuchTicket(77)))))
    handle(bank)
    #expect(try client.answers(to: number, bank.coordinator).first?.failure?.code == .noSuchTicket)
  }

  @Test("with the lease all customers go, and with the next one they come again")
  func lease() throws {
    let (bank, _, sharedStore) = try bank()
    claim(1...3, sharedStore, bank)
    bank.serveAll()
    handle(bank)
    sharedStore.emit(.claimsLost)
    sharedStore.emit(.lost(MessageDetail(quoting: "cut off")))
    handle(bank)
    let queue = bank.coordinator.queue
    #expect(
      queue.machine.serving == 0 && queue.machine.waitingCount == 0 && !queue.machine.hasUncommittedChanges)
    #expect(!queue.engine.isUnderway && bank.log.contains("event=lease_lost"))
    sharedStore.emit(.joined(BranchIdentity(number: 1, name: "here", epoch: 2)))
    sharedStore.emit(.leaseExtended(until: MonotonicTime(nanoseconds: .max)))
    handle(bank)
    #expect(bank.log.contains("event=branch_joined") && bank.coordinator.branch.shared?.identity.epoch == 2)
  }

  @Test("work without effect is logged, and not counted")
  func withoutEffect() throws {
    let (bank, _, sharedStore) = try bank()
    claim(1...2, sharedStore, bank)
    bank.serveAll()
    bank.coordinator.queue.commit()
    sharedStore.commitOldest(rejectedCompletions: [1])
    handle(bank)
    #expect(bank.coordinator.queue.machine.dayCounters.served == 0)
    #expect(bank.log.contains("event=completion_rejected") && bank.log.contains("ticket=1"))
  }

  @Test("a stop leaves the database at once, reports it, and does not wait for waiting customers")
  func stop() throws {
    let (bank, client, sharedStore) = try bank()
    var numbers = BankCounters(day: 1)
    numbers.services = [.init()]
    numbers.services[0].waiting = 5
    sharedStore.emit(.numbers(numbers))
    let number = ask(.stop(StopParameters(now: false, timeoutMilliseconds: nil)), client, bank)
    bank.coordinator.shutdownController.advance()
    #expect(sharedStore.isLeaving && sharedStore.drains.isEmpty)
    #expect(try client.answers(to: number, bank.coordinator).isEmpty)
    sharedStore.emit(.left)
    handle(bank)
    guard case .stopped? = try client.answers(to: number, bank.coordinator).first else {
      Issue.record("the branch has not reported its stop")
      return
    }
  }

  @Test("a stop of the whole bank lets it drain, and waits for customers who can be served here")
  func stopBank() throws {
    let (bank, client, sharedStore) = try bank()
    bank.openWindows(1)
    var numbers = BankCounters(day: 1)
    numbers.services = [.init()]
    numbers.services[0].waiting = 5
    sharedStore.emit(.numbers(numbers))
    handle(bank)
    _ = ask(.stop(StopParameters(now: false, timeoutMilliseconds: nil, closesWholeBank: true)), client, bank)
    bank.coordinator.shutdownController.advance()
    #expect(sharedStore.drains.count == 1 && !sharedStore.isLeaving)
    let late = ask(.enqueue(.deposits(1)), client, bank)
    #expect(sharedStore.arrived.isEmpty)
    #expect(try client.answers(to: late, bank.coordinator).first?.failure?.code == .draining)
  }

  @Test("a pause holds at once, and is answered when the database has it")
  func pause() throws {
    let (bank, client, sharedStore) = try bank()
    let number = ask(.pause(.deposit), client, bank)
    #expect(bank.coordinator.queue.machine.numbers(of: .deposit).isPaused)
    #expect(try client.answers(to: number, bank.coordinator).isEmpty)
    #expect(sharedStore.paused.map(\.services) == [[.deposit]])
    sharedStore.emit(.answered(sharedStore.paused[0].request, .queue(.done)))
    handle(bank)
    #expect(try client.answers(to: number, bank.coordinator).count == 1)
  }

  @Test("while no branch reads the database, waiting for tickets is refused at once")
  func awaitTickets() throws {
    let (bank, client, sharedStore) = try bank()
    let number = ask(.awaitTickets(day: 1, first: 1, last: 3), client, bank)
    #expect(try client.answers(to: number, bank.coordinator).first?.failure?.code == .notOpen)
    #expect(sharedStore.arrived.isEmpty)
  }

  @Test("a bank counts as empty by a look after the database has the drain, and not before")
  func looksAgain() throws {
    let (bank, client, sharedStore) = try bank()
    bank.openWindows(1)
    sharedStore.emit(.numbers(numbers(waiting: [0], juices: [])))
    handle(bank)
    _ = ask(.stop(StopParameters(now: false, timeoutMilliseconds: nil, closesWholeBank: true)), client, bank)
    let early = SystemClock.monotonic()
    sharedStore.emit(.answered(sharedStore.drains[0], .queue(.done)))
    sharedStore.emit(.countersConfirmed(askedAt: early))
    handle(bank)
    bank.coordinator.shutdownController.advance()
    #expect(!sharedStore.isLeaving, "customers may have come elsewhere until then")
    sharedStore.emit(.numbers(numbers(waiting: [5], juices: [])))
    sharedStore.emit(.countersConfirmed(askedAt: SystemClock.monotonic()))
    handle(bank)
    bank.coordinator.shutdownController.advance()
    #expect(!sharedStore.isLeaving, "a customer is left")
    sharedStore.emit(.numbers(numbers(waiting: [0], juices: [])))
    handle(bank)
    bank.coordinator.shutdownController.advance()
    #expect(bank.log.contains("step=finish_serving"))
  }

  @Test("the client that ends the day of the whole bank gets the reason why the database refused")
  func dayNotEnded() throws {
    let (bank, client, sharedStore) = try bank()
    let number = ask(
      .stop(StopParameters(now: false, timeoutMilliseconds: nil, closesWholeBank: true)), client, bank)
    sharedStore.emit(.answered(sharedStore.drains[0], .queue(.done)))
    handle(bank)
    sharedStore.emit(.countersConfirmed(askedAt: SystemClock.monotonic()))
    handle(bank)
    bank.coordinator.shutdownController.advance()
    #expect(sharedStore.isLeaving)
    sharedStore.emit(
      .dayEndFailed(.failed(path: "postgres", detail: MessageDetail(quoting: "no replica identity"))))
    sharedStore.emit(.left)
    handle(bank)
    let failure = try client.answers(to: number, bank.coordinator).last?.failure
    #expect(failure?.code == .system && failure?.detail.contains("no replica identity") == true)
    #expect(bank.log.contains("event=day_end_failed"))
  }

  @Test("when the bank drains this branch ends with it")
  func draining() throws {
    let (bank, _, sharedStore) = try bank()
    sharedStore.emit(.draining)
    sharedStore.emit(.countersConfirmed(askedAt: MonotonicTime(nanoseconds: 1)))
    handle(bank)
    bank.coordinator.shutdownController.advance()
    #expect(bank.coordinator.context.isEnding && sharedStore.isLeaving)
  }

  @Test(
    "when its day has ended this branch closes, and does not wait for customers of the next one")
  func dayEnded() throws {
    let (bank, _, sharedStore) = try bank()
    bank.openWindows(1)
    var numbers = BankCounters(day: 2)
    numbers.services = [.init()]
    numbers.services[0].waiting = 5
    sharedStore.emit(.numbers(numbers))
    sharedStore.emit(.dayEnded)
    handle(bank)
    bank.coordinator.shutdownController.advance()
    #expect(bank.coordinator.context.isEnding && bank.log.contains("event=day_ended"))
    #expect(bank.log.contains("step=finish_serving"))
  }

  @Test("the status shows this branch and the whole bank, with the branches apart")
  func reports() throws {
    let (bank, client, sharedStore) = try bank()
    var numbers = BankCounters(day: 1, issued: 9)
    numbers.services = [.init()]
    (numbers.services[0].waiting, numbers.services[0].served) = (4, 5)
    numbers.branches = [1, 2].map { place in
      BankCounters.Branch(
        identity: BranchIdentity(number: place, name: "b\(place)", epoch: 1), host: "h",
        state: place == 1 ? .open : .expired, leaseMilliseconds: 3_000, windows: 2, served: 5, commits: 3)
    }
    sharedStore.emit(.numbers(numbers))
    handle(bank)
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
