// Rows that are written several at a time. This is invisible, except that an error of one may be found by a
// later call, and then by its name. The guarantees of every store are in the conformance suite.

import BankModel
import QueueCore
import Testing

@testable import Storage

@Suite("Rows that are written together")
struct RowBatchTests {
  /// A branch with this number of customers of one line, committed.
  private func branch(_ count: Int) throws -> (StoreFixture, [Customer]) {
    let branch = try StoreFixture(.sqlite)
    let customers = try (0..<count).map { _ in try branch.arrive(.deposit) }
    try branch.commit()
    return (branch, customers)
  }

  @Test("of several customers the existing one is named", arguments: [0, 7, 15])
  func standing(_ place: Int) throws {
    let (branch, customers) = try branch(20)
    let dayCounters = branch.dayCounters
    var error: StoreError?
    for index in 0..<RowBatch.perStatement where error == nil {
      error = storeError {
        if index == place {
          try branch.store.stage(.insert(customers[4]))
        } else {
          try branch.arrive(.deposit)
        }
      }
      #expect(error == nil || index == RowBatch.perStatement - 1)
    }
    #expect(error?.description.contains("ticket 5 of day 1 is already queued") == true)
    #expect(!branch.store.hasStagedChanges)
    branch.rollBack(to: dayCounters)
    #expect(try branch.store.page(of: .deposit, after: 0, limit: 99) == customers)
  }

  @Test("of several receipts the second one of a ticket is named", arguments: [0, 8, 63])
  func receipts(_ place: Int) throws {
    let (branch, customers) = try branch(RowBatch.maxEntries + 1)
    let first = try branch.finish(customers[0])
    try branch.commit()
    let dayCounters = branch.dayCounters
    try branch.store.stage(.insert(customers[0]))
    var rest = Array(customers.dropFirst().prefix(RowBatch.maxEntries - 1))
    rest.insert(customers[0], at: place)
    var error: StoreError?
    for (index, customer) in rest.enumerated() where error == nil {
      error = storeError { try branch.finish(customer) }
      #expect(error == nil || index == RowBatch.maxEntries - 1)
    }
    #expect(error?.description.contains("ticket 1 of day 1 already has a receipt") == true)
    #expect(!branch.store.hasStagedChanges)
    branch.rollBack(to: dayCounters)
    #expect(try branch.store.receipts(day: nil, after: 0, limit: 99).map(\.ticket) == [first.ticket])
    #expect(try branch.store.audit().problems == [])
  }

  @Test(
    "the removal of a missing customer is named, alone or among others",
    arguments: [1, 5, 64])
  func departed(_ count: Int) throws {
    let (branch, customers) = try branch(count)
    try branch.finish(customers[count / 2])
    try branch.commit()
    let dayCounters = branch.dayCounters
    let error = storeError {
      for customer in customers { try branch.finish(customer) }
      try branch.commit()
    }
    let named =
      count == 1
      ? "ticket 1 of day 1 is not waiting"
      : "not all of tickets 1 to \(count) of day 1 are waiting"
    #expect(error?.description.contains(named) == true, "\(String(describing: error))")
    branch.rollBack(to: dayCounters)
    #expect(try branch.store.audit().problems == [])
  }

  enum Finding: CaseIterable { case read, readBeforeStage, readBeforeCommit, commit }

  @Test(
    "an error in a small batch is found by the next read and change, or by the commit",
    arguments: Finding.allCases)
  func late(_ finding: Finding) throws {
    let (branch, customers) = try branch(1)
    let dayCounters = branch.dayCounters
    try branch.arrive(.loan)
    try branch.store.stage(.insert(customers[0]))
    var errors: [StoreError?] = []
    if finding != .commit {
      // A reader gets the error as often as it tries, and may ignore it.
      for _ in 0..<2 { errors.append(storeError { _ = try branch.store.find(1) }) }
      #expect(branch.store.hasStagedChanges)
    }
    switch finding {
    case .read: branch.store.rollBack()
    case .readBeforeStage: errors.append(storeError { try branch.arrive(.loan) })
    case .readBeforeCommit, .commit: errors.append(storeError { try branch.commit() })
    }
    for error in errors {
      #expect(error?.description.contains("ticket 1 of day 1 is already queued") == true)
    }
    #expect(!branch.store.hasStagedChanges)
    branch.rollBack(to: dayCounters)
    #expect(try branch.store.find(2) == nil)
    #expect(try branch.store.find(1)?.customer == customers[0])
  }

  @Test("a customer that comes and goes within one transaction leaves a receipt", arguments: [1, 16, 40])
  func comeAndGo(_ count: Int) throws {
    let branch = try StoreFixture(.sqlite)
    for _ in 0..<count { try branch.finish(try branch.arrive(.loan)) }
    try branch.commit()
    #expect(
      try branch.store.receipts(day: 1, after: 0, limit: 99).map(\.sequence) == (1...Int64(count)).map { $0 })
    #expect(try branch.store.audit().problems == [])
  }
}
