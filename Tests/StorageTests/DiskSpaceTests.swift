// The reserve: how much is held back, when it is used, and when it is held back again. The full disk is
// injected where SQLite calls the system; the end-to-end tests use a disk that is really full.

import BankModel
import CSQLite
import Glibc
import QueueCore
import Testing
import Time

@testable import Storage

@Suite("Room on the disk")
struct DiskSpaceTests {
  @Test("a reserve grows, shrinks, and has its former size when it is opened again")
  func reserve() throws {
    let scratch = Scratch()
    let path = "\(scratch.path)/reserve"
    do {
      let reserve = DiskReserve(path: path)
      #expect(reserve.isPossible && reserve.size == 0)
      #expect(reserve.grow(to: 1 << 20) && reserve.size == 1 << 20)
      #expect(reserve.grow(to: 5), "it has that much")
      #expect(reserve.size == 1 << 20)
      reserve.cut(to: 300 << 10)
      reserve.cut(to: 400 << 10)
      #expect(reserve.size == 300 << 10)
      let room = try #require(reserve.room)
      #expect(room.free > 0 && room.free <= room.capacity)
      #expect(!reserve.grow(to: room.capacity + 1 << 40), "no disk is larger than itself")
      #expect(reserve.size == 300 << 10)
    }
    var facts = stat()
    #expect(stat(path, &facts) == 0 && facts.st_size == 300 << 10 && facts.st_mode & 0o777 == 0o600)
    #expect(DiskReserve(path: path).size == 300 << 10)
    // A length without blocks holds nothing back.
    #expect(truncate(path, 0) == 0 && truncate(path, 1 << 20) == 0)
    #expect(DiskReserve(path: path).size == 0)
  }

  @Test("if its file cannot be created there is no reserve, and the store works without")
  func noReserve() throws {
    #expect(!DiskReserve(path: "/nonexistent/reserve").isPossible)
    let scratch = Scratch()
    mkdir("\(scratch.database)-reserve", 0o700)
    defer { rmdir("\(scratch.database)-reserve") }
    let branch = try Counter(scratch)
    branch.store.enableReserve()
    #expect(branch.store.reservedBytes == 0 && !branch.store.isLowOnSpace)
    try branch.arrive(10)
    #expect(branch.store.hasRoom(toMove: .max), "it is unknown, and the disk will tell")
  }

  @Test("the reserve grows with the waiting customers; without a request there is none")
  func growth() throws {
    let scratch = Scratch()
    let branch = try Counter(scratch)
    try branch.arrive(100)
    #expect(branch.store.reservedBytes == 0)
    branch.store.enableReserve()
    let base = branch.store.reservedBytes
    #expect(base > 0 && !branch.store.isLowOnSpace)
    try branch.arrive(60_000)
    #expect(branch.store.reservedBytes >= base - (1 << 20) + 60_000 * 128)
    try branch.arrive(60_000, .juice)
    let need: Int64 = 60_000 * 128 + 60_000 * (128 + 96)
    #expect(
      branch.store.reservedBytes >= base - (1 << 20) + need,
      "a customer with a shortage has a row for what was missing")
    let before = branch.store.reservedBytes
    let work = Service(number: 4)
    try branch.store.assignNumbers(to: [try #require(ServiceName("work"))])
    branch.dayCounters.know(services: 4)
    try branch.arrive(60_000, work)
    #expect(
      branch.store.reservedBytes >= before - (1 << 20) + 60_000 * (128 + 64), "and a result has its row")
    #expect(branch.store.hasRoom(toMove: 60_000))
    #expect(!branch.store.hasRoom(toMove: .max))
  }

  @Test("the reserve for a juice follows the recipe with the most possible shortages")
  func recipes() throws {
    let scratch = Scratch()
    let branch = try Counter(scratch)
    branch.store.enableReserve()
    branch.store.holdBack(forJuicesOf: .standard)
    try branch.arrive(2_000, .juice)
    let before = branch.store.reservedBytes
    let fruits = (1...32).map { ItemAmount(ItemID("fruit-with-a-long-name-\($0)"), 1) }
    let everything = Juice(id: ItemID("everything"), korean: "", english: "", recipe: fruits)
    branch.store.holdBack(
      forJuicesOf: Assortment(fruits: [], juices: Assortment.standard.juices + [everything]))
    #expect(branch.store.reservedBytes >= 4 << 20 + 2_000 * 32 * 60, "a row for each fruit, with its name")
    try branch.arrive(1_000, .juice)
    #expect(branch.store.reservedBytes >= 4 << 20 + 3_000 * 32 * 60)
    #expect(branch.store.reservedBytes > before && !branch.store.isLowOnSpace)
  }

  @Test(
    "a full disk uses a part: no newcomers, completions work, and with room all is as before"
  )
  func shortage() throws {
    let scratch = Scratch()
    let branch = try Counter(scratch)
    branch.store.enableReserve()
    try branch.arrive(5)
    let held = branch.store.reservedBytes
    let fault = FileFault(in: branch.store, .log)
    fault.write = SQLITE_FULL
    #expect(storeError { try branch.finish(1) }?.kind == "diskFull")
    fault.heal()
    #expect(branch.store.isLowOnSpace && branch.store.reservedBytes < held)
    try branch.finish(1)
    #expect(storeError { try branch.arrive(1) }?.kind == "diskFull")
    #expect(!branch.store.hasStagedChanges)
    try branch.finish(2)
    branch.store.refreshDiskSpace()
    #expect(!branch.store.isLowOnSpace && branch.store.reservedBytes >= held - (1 << 20))
    try branch.arrive(1)
    #expect(try branch.store.audit().problems == [])
  }

  @Test(
    "when waiting customers are finished their reserve is released with the next copy of the log"
  )
  func ease() throws {
    let scratch = Scratch()
    let branch = try Counter(scratch)
    branch.store.enableReserve()
    let base = branch.store.reservedBytes
    try branch.arrive(150_000)
    try branch.store.runDeferredWork()
    let held = branch.store.reservedBytes
    #expect(held >= base - (1 << 20) + 150_000 * 128)
    try branch.finish(1...150_000)
    #expect(branch.store.reservedBytes == held)
    try branch.store.runDeferredWork()
    #expect(branch.store.reservedBytes == base)
    #expect(!branch.store.isLowOnSpace)
  }

  @Test("the count of starts may use the whole reserve")
  func opening() throws {
    let scratch = Scratch()
    let branch = try Counter(scratch)
    branch.store.enableReserve()
    let fault = FileFault(in: branch.store, .log)
    fault.write = SQLITE_FULL
    #expect(
      storeError { _ = try branch.store.recordStart(at: WallTime(milliseconds: 1)) }?.kind == "diskFull",
      "it fails")
    #expect(branch.store.reservedBytes == 0, "and until nothing is left")
    fault.heal()
    #expect(try branch.store.recordStart(at: WallTime(milliseconds: 1)) == 1)
  }

  @Test("a start finds its room in the log of a killed process, although not a byte is free")
  func longLog() throws {
    let before = Scratch()
    let killed = try Counter(before)
    killed.store.enableReserve()
    try killed.arrive(100_000)
    let scratch = before.copyAfterKill()
    let branch = try Counter(scratch)
    branch.store.enableReserve()
    let log = SystemVolume().length(of: scratch.database + "-wal")
    #expect(log > 1 << 20, "it is longer than what is released for one")
    FileFault(in: branch.store, .log).keepLength()
    #expect(try branch.store.recordStart(at: WallTime(milliseconds: 1)) == 1)
    #expect(branch.dayCounters.issued == 100_000)
  }

  @Test(
    "the reserve for waiting customers is what the database grows by when each is served alone",
    arguments: [false, true])
  func growthWhenServed(isLarge: Bool) throws {
    let branch = try StoreFixture(.sqlite)
    let store = try #require(branch.store as? SQLiteStore)
    let count = 6_000
    let line = Line(service: .deposit, priority: Priority(isLarge ? .max : 1_024))
    let customers = try (0..<count).map { _ in
      try branch.arrive(
        line, amount: isLarge ? Limits.amount : 50_000, account: isLarge ? Limits.account : 12)
    }
    try branch.commit()
    let before = try store.database.pageCount()
    // They have waited for as long as a customer may be ordered ahead.
    if isLarge { branch.clock += Limits.delay }
    for customer in customers {
      var receipt = branch.receipt(for: customer)
      if isLarge {
        (receipt.generation, receipt.pid, receipt.attempts) = (.max, 1 << 22, .max)
        receipt.window = Window(service: .deposit, place: Int32(Limits.windowsPerService))
      }
      try store.stage(.finish(customer, from: .waiting, receipt))
      branch.dayCounters.waiting[line] -= 1
      branch.dayCounters.served += 1
      branch.dayCounters.servedByService[0] += 1
      try branch.commit()
    }
    let growth = (try store.database.pageCount() - before) * 4_096 / Int64(count)
    #expect(growth <= SQLiteStore.growthPerCustomer)
  }
}

/// A store on disk and the counters of one line.
private final class Counter {
  let store: SQLiteStore
  var dayCounters: DayCounters

  init(_ scratch: Scratch) throws {
    store = try SQLiteStore(path: scratch.database)
    dayCounters = try store.load(now: WallTime(milliseconds: 1)).dayCounters
  }

  func customer(_ ticket: TicketNumber, _ service: Service = .deposit) -> Customer {
    Customer(
      ticket: ticket, service: service, priority: .regular, amount: 1, account: 1,
      issuedAt: WallTime(milliseconds: 1))
  }

  func arrive(_ count: Int64, _ service: Service = .deposit) throws {
    var next = dayCounters
    for _ in 0..<count {
      next.issued += 1
      next.waiting[Line(service: service, priority: .regular)] += 1
      try store.stage(.insert(customer(next.issued, service)))
    }
    try store.commit(next)
    dayCounters = next
  }

  func finish(_ ticket: TicketNumber) throws { try finish(ticket...ticket) }

  func finish(_ tickets: ClosedRange<TicketNumber>) throws {
    var next = dayCounters
    next.waiting[Line.deposit] -= Int64(tickets.count)
    next.served += Int64(tickets.count)
    next.servedByService[0] += Int64(tickets.count)
    for ticket in tickets {
      try store.stage(.finish(customer(ticket), from: .waiting, receipt(ticket)))
    }
    try store.commit(next)
    dayCounters = next
  }

  private func receipt(_ ticket: TicketNumber) -> Receipt {
    Receipt(
      sequence: 0, day: 1, ticket: ticket, service: .deposit, priority: .regular, outcome: .served,
      window: Window(service: .deposit, place: 1), generation: 1, pid: 1, attempts: 1, amount: 1, account: 1,
      issuedAt: WallTime(milliseconds: 1), startedAt: WallTime(milliseconds: 1),
      finishedAt: WallTime(milliseconds: 2))
  }
}
