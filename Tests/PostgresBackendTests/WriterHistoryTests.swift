// The audit of a database in which real branches write: clean in the middle of their work and at its end,
// whatever they do to their customers and whichever of them dies.

import BankModel
import Posix
import Postgres
import PostgresFixture
import PostgresQueries
import PostgresStore
import QueueCore
import Testing
import Time

/// A branch that claims, and does what branches do, at random. Claimed customers start in the order of the
/// numbers.
private final class WritingBranch {
  let name: String
  let store: SharedStore
  private(set) var opening: JoinResult?
  var inFlight: [Customer] = []
  private(set) var day: BusinessDay = 1
  /// Pages and requests without an answer yet.
  private(set) var claims = 0
  var requests: Set<RequestNumber> = []

  init(_ name: String, _ address: String, _ loop: EventLoop) throws {
    self.name = name
    var settings = SharedStore.Settings(place: try .ofSharedStore(address), name: name, host: "h")
    settings.lease = .seconds(60)
    store = SharedStore(settings, loop: loop)
  }

  func claim(_ line: Line) {
    guard opening != nil else { return }
    claims += 1
    store.claim(line, limit: 6)
  }

  func handleEvents() {
    store.finishIteration()
    while let event = store.takeEvent() {
      switch event {
      case .joined(let opening): (self.opening, day) = (opening, opening.day)
      case .refused(let failure): Issue.record("\(failure)")
      case .lost: (opening, inFlight, claims) = (nil, [], 0)
      case .answered(let request, _): requests.remove(request)
      case .dropped, .commitRefused: inFlight = []
      case .page(_, let page):
        claims -= 1
        inFlight = (inFlight + page.map(\.customer)).sorted { $0.ticket < $1.ticket }
      case .dayBegan(let day, _): (self.day, inFlight) = (day, [])
      default: break
      }
    }
  }
}

@Suite("The audit during writes", .enabled(if: PostgresCluster.isInstalled))
struct WriterHistoryTests {
  private static let lines = [
    Line(service: .deposit, priority: .regular), Line(service: .deposit, priority: .vip),
    Line(service: .loan, priority: .regular),
  ]

  @Test("A database in which three branches write is clean at any moment", arguments: 0..<3)
  func history(_ run: Int) throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    print("audit beside three branches, seed \(seed)")
    var chance = SeededGenerator(seed: seed)
    let stage = try ReaderDatabase(prepared: false)
    let loop = stage.client.loop
    var writers = try (0..<3).map { try WritingBranch("b\($0)", stage.address, loop) }
    var request: RequestNumber = 0
    var clock: Int64 = 1_000_000
    func runLoop(until isDone: () -> Bool) throws {
      let end = SystemClock.monotonic() + .seconds(120)
      while !isDone() {
        try #require(SystemClock.monotonic() < end, "seed \(seed)")
        try loop.runOnce(until: SystemClock.monotonic() + .milliseconds(5))
        stage.client.connection.finishIteration()
        for writer in writers { writer.handleEvents() }
      }
    }
    func settle() throws {
      try runLoop {
        writers.allSatisfy {
          $0.opening != nil && $0.store.underwayCount == 0 && $0.claims == 0 && $0.requests.isEmpty
        }
      }
    }
    try settle()
    let reading = try stage.reading()
    for step in 1...600 {
      let writer = writers[Int(chance.draw(0...2))]
      let line = Self.lines[Int(chance.draw(0...2))]
      clock += 1
      request += 1
      switch chance.draw(0...20) {
      case 0...3:
        var customers = EnqueueRequest(issuedAt: WallTime(milliseconds: clock))
        for _ in 0...chance.draw(0...8) {
          var order = CustomerOrder(service: line.service, priority: line.priority, amount: 5, account: 3)
          if chance.draw(0...9) == 0 {
            order.dueAt = WallTime(milliseconds: chance.draw(0...2) == 0 ? .max / 4 : 5)
          }
          customers.add(order)
        }
        writer.store.enqueueCustomers(request, customers)
        writer.requests.insert(request)
      case 4...8: writer.claim(line)
      case 9...14: serve(writer, &chance, &clock)
      case 15:
        writer.store.requeueDead(request, limit: 3)
        writer.requests.insert(request)
      case 16:
        writer.store.cancel(request, 1 + chance.draw(0...60))
        writer.requests.insert(request)
      case 17:
        if let last = writer.inFlight.last, chance.draw(0...1) == 0 {
          writer.inFlight.removeLast()
          writer.store.returnClaimed(last.line, [last.ticket])
        }
      case 18 where chance.draw(0...3) == 0:
        // It dies without notice, and starts again.
        let place = Int(chance.draw(0...2))
        writers[place] = try WritingBranch(writers[place].name, stage.address, loop)
      case 19 where chance.draw(0...15) == 0:
        // No request is open when the day ends: those in flight then are left to the tests of the writers.
        try settle()
        for other in writers { other.inFlight = [] }
        let day = writer.day
        writer.store.endDay(request, cancellingAll: true)
        try runLoop { writers.allSatisfy { $0.day > day } }
      default: try runLoop { true }
      }
      try loop.runOnce(until: SystemClock.monotonic() + .milliseconds(1))
      for writer in writers { writer.handleEvents() }
      if step % 50 == 0 {
        try settle()
        let problems = try reading.audit().problems
        #expect(problems == [], "seed \(seed), step \(step)")
      }
    }
    try settle()
    let audit = try reading.audit()
    #expect(audit.problems == [], "seed \(seed)")
    print("\(audit.issued) issued, \(audit.served) served, \(audit.cancelled) cancelled")
    #expect(audit.served > 0)
  }

  private func serve(_ writer: WritingBranch, _ chance: inout SeededGenerator, _ clock: inout Int64) {
    guard writer.opening != nil, !writer.inFlight.isEmpty else { return }
    for var customer in writer.inFlight.prefix(3) {
      clock += 1
      let started = WallTime(milliseconds: clock)
      let window = Window(service: customer.service, place: 1)
      let kind = chance.draw(0...9)
      if kind <= 7 {
        writer.store.stage(
          .finish(
            customer, from: .waiting,
            Receipt(
              day: writer.day, ticket: customer.ticket, service: customer.service,
              priority: customer.priority,
              outcome: kind == 7 ? .outOfStock : .served, window: window, generation: 1, pid: 7,
              attempts: customer.attempts + 1, amount: customer.amount, account: customer.account,
              issuedAt: customer.issuedAt, startedAt: started, finishedAt: WallTime(milliseconds: clock + 1)))
        )
        continue
      }
      customer.attempts += 1
      writer.store.stage(
        .record(
          Attempt(
            day: writer.day, ticket: customer.ticket, number: customer.attempts, window: window,
            generation: 1,
            pid: 7, startedAt: started, endedAt: started, end: .failed, processEnd: nil, words: "no")))
      writer.store.stage(
        kind == 8 ? .postpone(customer, dueAt: WallTime(milliseconds: 5)) : .bury(customer))
    }
    writer.inFlight.removeFirst(min(3, writer.inFlight.count))
    writer.store.commit()
  }
}
