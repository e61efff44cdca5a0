// A reset in pieces: meanwhile it can be continued, abandoned, or completed by a caller that cannot wait, and
// the result is the same as at once.

import BankModel
import QueueCore
import Testing
import Time

@testable import Storage

@Suite("A reset in pieces")
struct BulkCancelTests {
  private static let now = WallTime(milliseconds: 1_700_000_000_000)
  private static let count: Int64 = 5_000

  /// A store with many waiting customers, of all lines.
  private func filled(_ scratch: Scratch) throws -> (SQLiteStore, DayCounters) {
    let store = try SQLiteStore(path: scratch.database)
    var dayCounters = try store.load(now: Self.now).dayCounters
    for ticket in 1...Self.count {
      let line = Line.graded[Int(ticket % Int64(Line.graded.count))]
      try store.stage(
        .insert(
          Customer(
            ticket: ticket, service: line.service, priority: line.priority, amount: 1, account: 0,
            issuedAt: Self.now, itemName: line.service.usesStock ? "kiwi" : "")))
      dayCounters.issued += 1
      dayCounters.waiting[line] += 1
    }
    try store.commit(dayCounters)
    return (store, dayCounters)
  }

  @Test("each piece is small, and the receipts are in the order of the tickets")
  func pieces() throws {
    let scratch = Scratch()
    let (store, dayCounters) = try filled(scratch)
    try store.stage(.cancelAllCustomers(day: 1, at: Self.now))
    var last: Int64 = 0
    var pieces = 0
    while let progress = store.resetProgress {
      #expect(progress.total == Self.count)
      #expect(progress.done >= last && progress.done - last <= BulkCancel.piece)
      last = progress.done
      pieces += 1
      try store.continueReset()
    }
    #expect(last == Self.count && pieces >= 5)
    try store.commit(dayCounters.next(openedAt: Self.now))
    try expectEmptied(store)
  }

  @Test("a commit or a read in the middle causes the rest to be written", arguments: [true, false])
  func impatience(byReading: Bool) throws {
    let scratch = Scratch()
    let (store, dayCounters) = try filled(scratch)
    try store.stage(.cancelAllCustomers(day: 1, at: Self.now))
    try store.continueReset()
    if byReading {
      #expect(try store.find(Self.count) == nil)
      #expect(store.resetProgress == nil)
    }
    try store.commit(dayCounters.next(openedAt: Self.now))
    try expectEmptied(store)
  }

  @Test("the written part is forgotten with the transaction")
  func takenBack() throws {
    let scratch = Scratch()
    let (store, dayCounters) = try filled(scratch)
    try store.stage(.cancelAllCustomers(day: 1, at: Self.now))
    try store.continueReset()
    store.rollBack()
    #expect(store.resetProgress == nil && !store.hasStagedChanges)
    #expect(try store.receipts(day: nil, after: 0, limit: 10).isEmpty)
    #expect(try store.find(1)?.state == .waiting)
    try store.stage(.cancelAllCustomers(day: 1, at: Self.now))
    try store.commit(dayCounters.next(openedAt: Self.now))
    try expectEmptied(store)
  }

  private func expectEmptied(_ store: SQLiteStore) throws {
    let receipts = try store.receipts(day: 1, after: 0, limit: Int(Self.count) + 1)
    #expect(receipts.map(\.ticket) == Array(1...Self.count))
    #expect(receipts.map(\.sequence) == Array(1...Self.count))
    #expect(receipts.allSatisfy { $0.outcome == .cancelled })
    let juices = receipts.filter { $0.service.usesStock }.map { TicketOfDay(day: 1, ticket: $0.ticket) }
    #expect(Set(try store.unreleased(after: nil, limit: Int(Self.count))) == Set(juices) && !juices.isEmpty)
    #expect(try store.audit().problems == [])
  }
}
