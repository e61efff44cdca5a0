// Fruit reserved for cancelled tickets goes back to the shelves: once, after the cancellation is on disk,
// however often the stock is killed meanwhile.

import BankModel
import Posix
import QueueCore
import StockClient
import Storage
import Testing
import Time

@testable import Coordinator

@Suite("Fruit of cancelled tickets", .serialized)
struct ReleaseQueueTests {
  /// A store with notes, and a queue that works on them.
  private final class ReleaseQueueFixture {
    let fixture: StockFixture
    let store = MemoryStore()
    let stock: StockClient
    let queue: ReleaseQueue
    private(set) var released: [TicketNumber] = []
    private(set) var troubles: [String] = []
    private var dayCounters: DayCounters

    init(_ fixture: StockFixture) throws {
      self.fixture = fixture
      stock = fixture.client()
      queue = ReleaseQueue(stock)
      dayCounters = try store.load(now: WallTime(milliseconds: 1)).dayCounters
      queue.onReleased = { [unowned self] ticket in
        released.append(ticket.ticket)
        #expect(throws: Never.self) { try self.store.stage(.released(ticket)) }
      }
      queue.onReleaseRefused = { [unowned self] ticket, words in troubles.append("\(ticket.ticket): \(words)")
      }
    }

    /// Tickets are issued and cancelled; with a commit the notes are on disk.
    func cancel(_ tickets: ClosedRange<TicketNumber>, commits: Bool = true) throws {
      for ticket in tickets {
        let customer = Customer(
          ticket: ticket, service: .juice, priority: .regular, amount: 0, account: 0,
          issuedAt: WallTime(milliseconds: 1),
          itemName: "kiwi")
        try store.stage(.insert(customer))
        let receipt = Receipt(
          day: 1, ticket: ticket, service: .juice, priority: .regular, outcome: .cancelled, window: nil,
          generation: 0,
          pid: 0, attempts: 0, amount: 0, account: 0, issuedAt: customer.issuedAt, startedAt: nil,
          finishedAt: WallTime(milliseconds: 2), itemName: "kiwi")
        try store.stage(.finish(customer, from: .waiting, receipt))
        dayCounters.issued += 1
        dayCounters.cancelled += 1
      }
      if commits { try commit() }
    }

    func commit() throws {
      try store.commit(dayCounters)
      queue.requestScan()
    }

    func runIteration() throws {
      try queue.advance(store, now: MonotonicTime(nanoseconds: SystemClock.monotonic().nanoseconds))
      stock.finishIteration()
      if store.hasStagedChanges { try store.commit(dayCounters) }
    }

    func wait(for what: String = "it", until condition: () throws -> Bool) throws {
      try fixture.wait(for: what) {
        try runIteration()
        return try condition()
      }
    }
  }

  @Test("fruit of a ticket goes back, and a ticket without any is done as well")
  func givesBack() throws {
    let fixture = try StockFixture()
    try fixture.start()
    _ = try fixture.take([("kiwi", 3)], as: "1-1")
    let office = try ReleaseQueueFixture(fixture)
    try office.cancel(1...2)
    try office.wait { try office.store.unreleased(after: nil, limit: 9).isEmpty }
    #expect(office.released.sorted() == [1, 2] && office.troubles == [])
    #expect(try fixture.quantities() == [10, 10, 10, 10, 10])
    // A late order, from a station that was killed, takes nothing any more.
    #expect(try fixture.take([("kiwi", 3)], as: "1-2").failure?.code == .wasReturned)
    #expect(try fixture.audit()?.problems == [])
  }

  @Test("nothing is given back for a cancellation that is not on disk")
  func waitsForDisk() throws {
    let fixture = try StockFixture()
    try fixture.start()
    _ = try fixture.take([("kiwi", 3)], as: "1-1")
    let office = try ReleaseQueueFixture(fixture)
    try office.cancel(1...1, commits: false)
    office.queue.requestScan()
    try office.queue.advance(office.store, now: MonotonicTime(nanoseconds: 0))
    office.stock.finishIteration()
    #expect(office.stock.nextDeadline == nil, "no request was sent")
    office.store.rollBack()
    try office.queue.advance(office.store, now: MonotonicTime(nanoseconds: 0))
    #expect(office.stock.nextDeadline == nil)
    #expect(try fixture.quantities()[3] == 7)
  }

  @Test("a stock that is killed repeatedly is asked again, and gives back each order once")
  func kills() throws {
    let fixture = try StockFixture()
    try fixture.start()
    let count: TicketNumber = 200
    _ = try fixture.call(.set(ItemAmount(ItemID("kiwi"), 1_000)))
    for ticket in 1...count { _ = try fixture.take([("kiwi", 3)], as: "1-\(ticket)") }
    #expect(try fixture.quantities()[3] == 400)
    let office = try ReleaseQueueFixture(fixture)
    try office.cancel(1...count)
    for goal in [1, 40, 80, 120, 160] {
      try office.wait { office.released.count >= goal }
      fixture.kill()
      try fixture.start()
    }
    try office.wait { try office.store.unreleased(after: nil, limit: 9).isEmpty }
    #expect(office.released.sorted() == Array(1...count) && office.troubles == [])
    #expect(try fixture.quantities()[3] == 1_000)
    #expect(try fixture.audit()?.problems == [])
  }

  @Test("a stock that is away is asked again later; the note stays until then")
  func away() throws {
    let fixture = try StockFixture()
    try fixture.start()
    _ = try fixture.take([("kiwi", 3)], as: "1-1")
    fixture.kill()
    let office = try ReleaseQueueFixture(fixture)
    try office.cancel(1...1)
    for _ in 0..<20 {
      try office.runIteration()
      try fixture.loop.runOnce(until: SystemClock.monotonic() + .milliseconds(5))
    }
    #expect(office.released == [])
    #expect(try !office.store.unreleased(after: nil, limit: 9).isEmpty)
    try fixture.start()
    try office.wait { office.released == [1] }
    #expect(try fixture.quantities()[3] == 10)
  }

  @Test("on a full disk no request is sent until a pause is over, however often the queue is checked")
  func postpone() throws {
    let fixture = try StockFixture()
    try fixture.start()
    _ = try fixture.take([("kiwi", 3)], as: "1-1")
    let office = try ReleaseQueueFixture(fixture)
    try office.cancel(1...1)
    let now = SystemClock.monotonic()
    office.queue.postpone()
    for _ in 0..<5 { try office.queue.advance(office.store, now: now) }
    #expect(office.stock.nextDeadline == nil, "the stock was not asked")
    let due = try #require(office.queue.nextDeadline)
    #expect(due > now)
    try office.queue.advance(office.store, now: due)
    #expect(office.stock.nextDeadline != nil)
    try office.wait { office.released == [1] }
  }

  @Test(
    "a refused release blocks no later one; it is named, and repeated with a longer pause")
  func stuck() throws {
    let fixture = try StockFixture()
    try fixture.start()
    let count = TicketNumber(ReleaseQueue.limit) + 6
    _ = try fixture.call(.set(ItemAmount(ItemID("kiwi"), 100)))
    for ticket in 1...count { _ = try fixture.take([("kiwi", 1)], as: "1-\(ticket)") }
    for ticket in count + 1...count + 3 { _ = try fixture.take([("mango", 1)], as: "1-\(ticket)") }
    // There is no room on the shelf for what these would give back.
    _ = try fixture.call(.set(ItemAmount(ItemID("kiwi"), StockLimits.quantity)))
    let office = try ReleaseQueueFixture(fixture)
    try office.cancel(1...count + 3)
    try office.wait(for: "the release after \(count) refused ones") {
      office.released.count == 3 && office.queue.refused.count == count
    }
    #expect(office.released.sorted() == Array(count + 1...count + 3))
    #expect(Set(office.troubles.map { $0.split(separator: ":")[0] }).count == Int(count))
    #expect(office.troubles.count == Int(count), "each is reported once")
    #expect(office.queue.problems(limit: 5).count == 6)
    #expect(
      office.queue.problems()[0].description.contains("ticket 1 of day 1")
        && office.queue.problems()[0].description.contains("quantity_limit_exceeded"))
    // A new note is worked on, and does not cause those that are stuck to be repeated.
    office.queue.requestScan()
    try office.runIteration()
    #expect(office.stock.nextDeadline == nil && office.troubles.count == Int(count))
    _ = try fixture.call(.set(ItemAmount(ItemID("kiwi"), 0)))
    let due = try #require(office.queue.nextDeadline)
    try office.queue.advance(office.store, now: due)
    try office.wait { try office.store.unreleased(after: nil, limit: 9).isEmpty }
    #expect(office.queue.refused.isEmpty && office.queue.problems() == [])
    #expect(try fixture.quantities()[3] == count)
  }
}
