// A closed bank of a test's own with every kind of contents, written by driving its store, and an empty
// database for it to move into. Invariant: it is the same bank every time.

import BankModel
import Glibc
import Posix
import Postgres
import PosixFixture
import PostgresFixture
import PostgresQueries
import QueueCore
import Storage
import Testing
import Time
import Wire

@testable import Coordinator
@testable import PostgresBackend

final class MoveFixture {
  static let thumbs = Service(number: 4)
  let directory: TemporaryDirectory
  let home: BankHome
  let database: ReaderDatabase
  private(set) var receipts: [Receipt] = []
  private(set) var attempts: [Attempt] = []
  private var dayCounters = DayCounters(day: 1, openedAt: WallTime(milliseconds: 1_000))

  /// - Parameters:
  ///   - extraCustomers: additional customers who wait, and as many who have a receipt.
  ///   - juice: true if a customer waits for one, and another was cancelled.
  init(extraCustomers: Int64 = 0, juice: Bool = false) throws {
    directory = try TemporaryDirectory()
    home = BankHome(directory.path)
    database = try ReaderDatabase(prepared: false)
    let store = try SQLiteStore(path: home.database)
    dayCounters = try store.load(now: WallTime(milliseconds: 1_000)).dayCounters
    _ = try store.bankID(new: 4_711)
    try store.assignNumbers(to: [ServiceName("thumbs")!, ServiceName("mail")!])
    dayCounters.know(services: store.services.count)
    try firstDay(store)
    dayCounters = dayCounters.next(openedAt: WallTime(milliseconds: 90_000))
    try store.commit(dayCounters)
    try secondDay(store, extraCustomers: extraCustomers, juice: juice)
    try store.close()
  }

  private func customer(
    _ ticket: TicketNumber, _ service: Service, _ priority: Priority = .regular, amount: Won = 500
  ) -> Customer {
    Customer(
      ticket: ticket, service: service, priority: priority, amount: amount, account: ticket % 7,
      issuedAt: WallTime(milliseconds: 2_000 + ticket), attempts: 0, crashes: 0, failures: 0)
  }

  private func come(_ store: SQLiteStore, _ one: Customer) throws {
    try store.stage(.insert(one))
    dayCounters.issued += 1
    dayCounters.waiting[one.line] += 1
  }

  private func end(
    _ store: SQLiteStore, _ one: Customer, _ outcome: Outcome = .served, attempts: Int32 = 1,
    result: WorkResult? = nil, from state: CustomerState = .waiting
  ) throws {
    let isFinishedByWorker = outcome.isFinishedByWorker
    let receipt = Receipt(
      day: dayCounters.day, ticket: one.ticket, service: one.service, priority: one.priority,
      outcome: outcome,
      window: isFinishedByWorker ? Window(service: one.service, place: 1) : nil,
      generation: isFinishedByWorker ? 3 : 0,
      pid: isFinishedByWorker ? 4_242 : 0, attempts: attempts, amount: one.amount, account: one.account,
      issuedAt: one.issuedAt,
      startedAt: isFinishedByWorker ? WallTime(milliseconds: 3_000 + one.ticket) : nil,
      finishedAt: WallTime(milliseconds: 9_000 + one.ticket), result: result)
    try store.stage(.finish(one, from: state, receipt))
    receipts.append(receipt)
    dayCounters.waiting[one.line] -= 1
    if isFinishedByWorker {
      dayCounters.served += 1
      dayCounters.servedByService[one.service.index] += 1
    } else {
      dayCounters.cancelled += 1
    }
  }

  private func fail(_ store: SQLiteStore, _ one: inout Customer, words: String) throws {
    one.attempts += 1
    one.failures += 1
    let attempt = Attempt(
      day: dayCounters.day, ticket: one.ticket, number: one.attempts,
      window: Window(service: one.service, place: 1), generation: 2, pid: 99,
      startedAt: WallTime(milliseconds: 2_500), endedAt: WallTime(milliseconds: 2_600), end: .failed,
      processEnd: ProcessEnd(code: 7, signal: nil), words: words)
    try store.stage(.record(attempt))
    attempts.append(attempt)
  }

  /// All customers of it are done: with a result, after a failure, cancelled.
  private func firstDay(_ store: SQLiteStore) throws {
    var all = [
      customer(1, .deposit), customer(2, .loan, .vip), customer(3, Self.thumbs, Priority(77), amount: 0),
      customer(4, .deposit),
    ]
    for one in all { try come(store, one) }
    try store.stage(.remember(key: "월요일", day: 1, first: 2, last: 3, request: -5))
    try store.commit(dayCounters)
    try fail(store, &all[3], words: "nothing\0 to be done")
    try store.stage(.update(all[3]))
    try end(store, all[0])
    try end(store, all[1], .cancelled, attempts: 0)
    try end(
      store, all[2],
      result: WorkResult(
        ending: ProcessEnd(code: 0, signal: nil), duration: .milliseconds(17),
        output: TruncatedOutput(first: [0, 1, 255], last: [9], length: 40, filed: 12)!,
        errors: TruncatedOutput(first: Array("말".utf8))!))
    try end(store, all[3], attempts: 2)
    try store.commit(dayCounters)
  }

  /// A customer is in every state, with payloads and keys; later ones have been served.
  private func secondDay(_ store: SQLiteStore, extraCustomers: Int64, juice: Bool) throws {
    var all = (1...8).map { customer($0, $0 % 2 == 0 ? .loan : .deposit, $0 == 5 ? .vvip : .regular) }
    for one in all { try come(store, one) }
    try store.stage(.attach(payload: Array("thumb \0 nail".utf8), to: 3...4))
    try store.stage(.remember(key: "k", day: 2, first: 5, last: 5))
    try store.commit(dayCounters)
    try fail(store, &all[5], words: "again")
    try store.stage(.postpone(all[5], dueAt: WallTime(milliseconds: 99_000)))
    dayCounters.waiting[all[5].line] -= 1
    dayCounters.delay(of: .loan)
    try fail(store, &all[6], words: "no")
    try store.stage(.bury(all[6]))
    dayCounters.waiting[all[6].line] -= 1
    dayCounters.dead += 1
    try end(store, all[7])
    try store.commit(dayCounters)
    if juice {
      for ticket: TicketNumber in [9, 10] { try come(store, customer(ticket, .juice, amount: 0)) }
      try end(store, customer(10, .juice, amount: 0), .cancelled, attempts: 0)
    }
    guard extraCustomers > 0 else { return _ = try store.commit(dayCounters) }
    let first = dayCounters.issued + 1
    for ticket in first..<(first + 2 * extraCustomers) {
      let one = customer(ticket, .deposit)
      try come(store, one)
      if ticket < first + extraCustomers { try end(store, one) }
      if ticket % 5_000 == 0 { try store.commit(dayCounters) }
    }
    try store.commit(dayCounters)
  }

  /// Moves the database, as an inspection of the closed bank does it.
  func move(
    to address: String? = nil, _ told: @escaping (ProgressReport) -> Bool = { _ in true }
  ) throws -> MoveReport {
    let bank = try ClosedBank(home, now: WallTime(milliseconds: 100_000))
    return try HomeMove(home, bank, PostgresStoreOpener()).run(
      MoveParameters(address: address ?? database.address, branch: "seoul"), told)
  }

  func original() throws -> SQLiteStore { try SQLiteStore(inspecting: home.database) }
}
