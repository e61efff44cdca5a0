// Guarantees of every store about payloads: they come with their customers, go with their receipts, and leave
// nothing.

import BankModel
import QueueCore
import Testing
import Time

@testable import Storage

extension ConformanceTests {
  private static let bytes: [UInt8] = [0, 255, 10] + Array("내용".utf8)

  private func payloads(_ branch: StoreFixture, _ tickets: ClosedRange<TicketNumber>) throws -> [[UInt8]?] {
    try tickets.map { try branch.store.payload(of: $0) }
  }

  @Test("a payload belongs to its customer alone, and has any bytes or none", arguments: StoreKind.allCases)
  func payloads(_ kind: StoreKind) throws {
    let branch = try StoreFixture(kind)
    for _ in 1...6 { try branch.arrive(.deposit) }
    try branch.store.stage(.attach(payload: Self.bytes, to: 2...3))
    try branch.store.stage(.attach(payload: [], to: 5...5))
    let expected: [[UInt8]?] = [nil, Self.bytes, Self.bytes, nil, [], nil]
    #expect(try payloads(branch, 1...6) == expected)
    try branch.commit()
    try branch.crash()
    #expect(try payloads(branch, 1...6) == expected)
    #expect(try branch.store.payload(of: 7) == nil && branch.store.payload(of: -1) == nil)
    #expect(try branch.store.audit().problems == [])
  }

  @Test("an uncommitted payload is rolled back, and so is its removal", arguments: StoreKind.allCases)
  func payloadRolledBack(_ kind: StoreKind) throws {
    let branch = try StoreFixture(kind)
    let customer = try branch.arrive(.deposit)
    try branch.store.stage(.attach(payload: Self.bytes, to: 1...1))
    try branch.commit()
    let dayCounters = branch.dayCounters
    try branch.finish(customer)
    try branch.arrive(.loan)
    try branch.store.stage(.attach(payload: [7], to: 2...2))
    #expect(try payloads(branch, 1...2) == [nil, [7]])
    branch.rollBack(to: dayCounters)
    #expect(try payloads(branch, 1...2) == [Self.bytes, nil])
    try branch.arrive(.loan)
    try branch.crash()
    #expect(try payloads(branch, 1...2) == [Self.bytes, nil])
    #expect(try branch.store.audit().problems == [])
  }

  @Test(
    "a payload stays over failures, a delay, a dead letter and a requeue, and goes with the receipt",
    arguments: StoreKind.allCases)
  func payloadStays(_ kind: StoreKind) throws {
    let branch = try StoreFixture(kind)
    var customers: [Customer] = []
    for _ in 1...3 { customers.append(try branch.arrive(.deposit)) }
    try branch.store.stage(.attach(payload: Self.bytes, to: 1...3))
    try branch.commit()
    customers[0] = try branch.fail(customers[0], .failed)
    try branch.postpone(customers[0], until: 5)
    customers[1] = try branch.fail(customers[1])
    try branch.deadLetter(customers[1])
    try branch.commit()
    #expect(try payloads(branch, 1...3) == [Self.bytes, Self.bytes, Self.bytes])
    try branch.makeWaiting(customers[1], from: .dead)
    try branch.commit()
    #expect(try branch.store.payload(of: 2) == Self.bytes)
    try branch.finish(customers[1])
    try branch.finish(customers[0], from: .delayed, .cancelled)
    #expect(try payloads(branch, 1...3) == [nil, nil, Self.bytes])
    try branch.commit()
    try branch.crash()
    #expect(try payloads(branch, 1...3) == [nil, nil, Self.bytes])
    #expect(try branch.store.audit().problems == [])
  }

  @Test(
    "a reset leaves no payload, and the next day gives the numbers to others", arguments: StoreKind.allCases)
  func payloadReset(_ kind: StoreKind) throws {
    let branch = try StoreFixture(kind)
    for _ in 1...4 { try branch.arrive(.deposit) }
    try branch.store.stage(.attach(payload: Self.bytes, to: 1...4))
    try branch.commit()
    try branch.cancelEveryone()
    branch.startNextDay()
    try branch.arrive(.loan)
    try branch.arrive(.loan)
    try branch.store.stage(.attach(payload: [1], to: 2...2))
    try branch.commit()
    #expect(try payloads(branch, 1...4) == [nil, [1], nil, nil])
    try branch.crash()
    #expect(try payloads(branch, 1...4) == [nil, [1], nil, nil])
    #expect(try branch.store.audit().problems == [])
  }

  @Test(
    "payloads of an incomplete request are not visible, and none of them is left",
    arguments: StoreKind.allCases)
  func payloadsOfArrivals(_ kind: StoreKind) throws {
    let branch = try StoreFixture(kind)
    try branch.commit()
    try arrive(21...50, at: branch)
    try branch.store.stage(.attach(payload: [UInt8](repeating: 7, count: 1 << 20), to: 21...50))
    try branch.store.commit(branch.dayCounters, arriving: request(3, at: branch))
    #expect(try payloads(branch, 21...50).allSatisfy { $0 == nil })
    #expect(try branch.store.audit().problems == [])
    try branch.crash()
    #expect(branch.store.hasUnissuedCustomers)
    for _ in 0..<20 where branch.store.hasUnissuedCustomers {
      try branch.store.removeUnissuedCustomers(limit: 100)
      try branch.commit()
      #expect(try branch.store.audit().problems == [])
    }
    #expect(!branch.store.hasUnissuedCustomers)
    for _ in 1...50 { try branch.arrive(.loan) }
    try branch.commit()
    #expect(try payloads(branch, 1...50).allSatisfy { $0 == nil })
  }

  @Test("a second payload is damage, and so is one without customer", arguments: StoreKind.allCases)
  func payloadWithoutTicket(_ kind: StoreKind) throws {
    let branch = try StoreFixture(kind)
    try branch.arrive(.deposit)
    try branch.store.stage(.attach(payload: [1], to: 1...1))
    try branch.commit()
    let dayCounters = branch.dayCounters
    let error = storeError { try branch.store.stage(.attach(payload: [2], to: 1...1)) }
    #expect(error == .damaged(path: try path(of: branch), detail: MessageDetail(.payloadTwice, 1, 1)))
    branch.rollBack(to: dayCounters)
    try branch.store.stage(.attach(payload: [2], to: 9...9))
    try branch.commit()
    #expect(try branch.store.audit().messageDetails == [MessageDetail(.payloadWithoutCustomer, 9)])
  }

  private func path(of branch: StoreFixture) throws -> String {
    branch.kind == .memory ? MemoryStore.path : branch.scratch.database
  }
}
