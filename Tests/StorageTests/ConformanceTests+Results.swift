// Guarantees of every store about results: they are stored with their receipts by the same commit, unchanged,
// and pages of receipts are bounded by their bytes. The message of an attempt is stored with it.

import BankModel
import CSQLite
import QueueCore
import Testing
import Time

@testable import Storage

extension ConformanceTests {
  private static func bytes(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0 / 3) } }

  /// A result of every kind.
  private static func results() throws -> [WorkResult?] {
    let cut = try #require(
      TruncatedOutput(
        first: bytes(TruncatedOutput.longestEnd), last: bytes(TruncatedOutput.longestEnd), length: 1 << 40,
        filed: 9_000_000))
    let whole = try #require(TruncatedOutput(first: bytes(TruncatedOutput.longest)))
    let text = try #require(TruncatedOutput(first: Array("결과\u{0}\n".utf8)))
    return [
      nil, WorkResult(duration: .zero), WorkResult(ending: .code(0), duration: .nanoseconds(1), output: text),
      WorkResult(ending: .code(255), duration: .milliseconds(61), output: cut, errors: text),
      WorkResult(ending: .signal(9), duration: TimeSpan(nanoseconds: .max), output: whole, errors: whole),
      WorkResult(duration: .seconds(3), errors: try #require(TruncatedOutput(first: [], length: 7))),
      WorkResult(
        ending: .code(-1), duration: .zero, errors: try #require(TruncatedOutput(first: [], last: [0]))),
      nil,
    ]
  }

  /// The results of the tickets from 1 on, by every way to read receipts.
  private func results(_ branch: StoreFixture) throws -> [WorkResult?] {
    let store = branch.store
    let all = try store.allReceipts()
    #expect(try store.receipts(of: .deposit, after: 0, through: .max, limit: 99) == all)
    #expect(try store.receipts(day: branch.dayCounters.day, after: 0, limit: 99) == all)
    for receipt in all {
      #expect(try store.receipt(day: receipt.day, ticket: receipt.ticket) == receipt)
      #expect(try store.receipts(day: nil, after: receipt.sequence - 1, limit: 1) == [receipt])
    }
    return all.map(\.result)
  }

  @Test(
    "a result belongs to its receipt alone, whole or cut, and none is none",
    arguments: StoreKind.allCases)
  func results(_ kind: StoreKind) throws {
    let branch = try StoreFixture(kind)
    let expected = try Self.results()
    for result in expected { try branch.finish(try branch.arrive(.deposit), leaving: result) }
    #expect(try results(branch) == expected)
    try branch.commit()
    try branch.crash()
    #expect(try results(branch) == expected)
    let account = try branch.store.statement(of: 12, limit: 99)
    #expect(account.latest.count == expected.count && account.latest.allSatisfy { $0.result == nil })
    #expect(try branch.store.audit().problems == [])
  }

  @Test("an uncommitted result is rolled back with its receipt", arguments: StoreKind.allCases)
  func resultRolledBack(_ kind: StoreKind) throws {
    let branch = try StoreFixture(kind)
    let result = try Self.results()[3]
    let customer = try branch.arrive(.deposit)
    try branch.commit()
    let dayCounters = branch.dayCounters
    for _ in 0..<2 {
      try branch.finish(customer, leaving: result)
      #expect(try branch.store.receipt(day: 1, ticket: 1)?.result == result)
      branch.rollBack(to: dayCounters)
      #expect(try branch.store.receipt(day: 1, ticket: 1) == nil)
    }
    try branch.finish(customer, leaving: result)
    try branch.crash()
    #expect(try branch.store.receipts(day: nil, after: 0, limit: 9).isEmpty)
    // The same receipt number belongs to another customer, without a result.
    try branch.finish(customer)
    try branch.commit()
    try branch.crash()
    #expect(try branch.store.receipt(day: 1, ticket: 1).map(\.result) == .some(nil))
    #expect(try branch.store.audit().problems == [])
  }

  @Test(
    "a cancelled customer leaves no result, and results of others stay over the days",
    arguments: StoreKind.allCases)
  func resultsOverDays(_ kind: StoreKind) throws {
    let branch = try StoreFixture(kind)
    let result = try Self.results()[2]
    try branch.finish(try branch.arrive(.deposit), leaving: result)
    try branch.finish(try branch.arrive(.loan), .cancelled)
    for _ in 0..<3 { try branch.arrive(.deposit) }
    try branch.cancelEveryone()
    branch.startNextDay()
    try branch.finish(try branch.arrive(.loan), leaving: result)
    try branch.commit()
    branch.startNextDay()
    try branch.commit()
    try branch.crash()
    let receipts = try branch.store.receipts(day: nil, after: 0, limit: 99)
    #expect(receipts.map(\.result) == [result, nil, nil, nil, nil, result])
    #expect(try branch.store.receipts(day: 2, after: 0, limit: 99) == receipts.suffix(1))
    #expect(
      try branch.store.receipts(of: .loan, after: 0, through: .max, limit: 9) == [receipts[1], receipts[5]])
    #expect(try branch.store.audit().problems == [])
  }

  @Test(
    "a page ends when its results are long, and reports that more may follow", arguments: StoreKind.allCases)
  func longPages(_ kind: StoreKind) throws {
    let branch = try StoreFixture(kind)
    let long = WorkResult(
      duration: .zero, output: try #require(TruncatedOutput(first: Self.bytes(TruncatedOutput.longest))))
    let perPage = [Receipt].maxResultBytes / TruncatedOutput.longest
    for index in 0..<perPage * 4 {
      try branch.finish(
        try branch.arrive(index % 2 == 0 ? .deposit : .loan), leaving: index % 2 == 0 ? long : nil)
    }
    try branch.commit()
    let page = try branch.store.receipts(day: nil, after: 0, limit: 999)
    // The last receipt of the page is the one with which it reaches the length of a page.
    #expect(page.count == perPage * 2 - 1 && page.mayHaveMore(limit: 999))
    #expect(try branch.store.receipts(day: 1, after: 0, limit: 999) == page)
    #expect(try branch.store.receipts(day: nil, after: 0, limit: 5).count == 5)
    let deposits = try branch.store.receipts(of: .deposit, after: 0, through: .max, limit: 999)
    #expect(deposits.count == perPage && deposits.mayHaveMore(limit: 999))
    let loans = try branch.store.receipts(of: .loan, after: 0, through: .max, limit: 999)
    #expect(
      loans.count == perPage * 2 && !loans.mayHaveMore(limit: 999) && loans.mayHaveMore(limit: loans.count))
    #expect(try branch.store.allReceipts().map(\.ticket) == (1...Int64(perPage * 4)).map(\.self))
  }

  @Test(
    "of a result that comes while there is no room only its numbers are stored", arguments: StoreKind.allCases
  )
  func resultWithoutRoom(_ kind: StoreKind) throws {
    let branch = try StoreFixture(kind)
    let result = try #require(try Self.results()[3])
    let customer = try branch.arrive(.deposit)
    try branch.commit()
    let dayCounters = branch.dayCounters
    let (memory, store) = (branch.store as? MemoryStore, branch.store as? SQLiteStore)
    memory?.fail(.commit, with: .diskFull(detail: "for a test"))
    store?.enableReserve()
    let fault = store.map { FileFault(in: $0, .log) }
    fault?.write = SQLITE_FULL
    try branch.finish(customer, leaving: result)
    #expect(storeError { try branch.commit() }?.kind == "diskFull")
    branch.rollBack(to: dayCounters)
    memory?.isLowOnSpace = true
    fault?.heal()
    #expect(branch.store.isLowOnSpace)
    #expect(try branch.store.receipt(day: 1, ticket: 1) == nil)
    try branch.finish(customer, leaving: result)
    try branch.commit()
    let kept = try #require(try branch.store.receipt(day: 1, ticket: 1)?.result)
    #expect(kept == result.withoutBytes && kept.output.isCut && kept.size == 0)
    #expect((kept.ending, kept.output.length, kept.errors.length) == (.code(255), 1 << 40, 8))
    #expect(try branch.store.audit().problems == [])
  }

  @Test("a result of a customer that was not served is found by the audit", arguments: StoreKind.allCases)
  func resultOfCancelled(_ kind: StoreKind) throws {
    let branch = try StoreFixture(kind)
    try branch.finish(try branch.arrive(.deposit), .cancelled, leaving: try Self.results()[1])
    try branch.commit()
    #expect(try branch.store.audit().messageDetails == [MessageDetail(.resultWithoutReceipt, 1, 1)])
  }

  @Test("the message of an attempt is stored with it", arguments: StoreKind.allCases)
  func words(_ kind: StoreKind) throws {
    let branch = try StoreFixture(kind)
    let said = [
      "", "no such file", "망가짐\u{0}\n\u{1F95D} '\"",
      String(repeating: "x", count: Attempt.maxFailureTextBytes),
    ]
    var customer = try branch.arrive(.deposit)
    for words in said { customer = try branch.fail(customer, .failed, words: words) }
    #expect(try branch.store.attempts(day: 1, ticket: 1).map(\.words) == said)
    try branch.commit()
    try branch.crash()
    #expect(try branch.store.attempts(day: 1, ticket: 1).map(\.words) == said)
  }
}
