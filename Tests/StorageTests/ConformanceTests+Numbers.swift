// Guarantees of every store about lists of customers by number, over all lines, and about counts of dead
// letters by service.

import BankModel
import QueueCore
import Testing
import Time

@testable import Storage

extension ConformanceTests {
  /// Customers of three services in lines of their own, by turns; of each six one is delayed and one is dead.
  private func mixed(_ count: Int, at branch: StoreFixture) throws {
    let lines: [Line] = [
      .loan, .deposit, Line(service: .juice, priority: .vip), Line(service: .deposit, priority: .vvip),
      .deposit,
      Line(service: .loan, priority: Priority(7)),
    ]
    for place in 0..<count {
      let customer = try branch.arrive(lines[place % 6])
      switch (place / 6 + place) % 6 {
      case 1: try branch.postpone(try branch.fail(customer, .failed), until: Int64(10_000 - place))
      case 4: try branch.deadLetter(try branch.fail(customer))
      default: break
      }
    }
    try branch.commit()
  }

  @Test(
    "lists customers of any states in the order of their numbers over all lines, page after page",
    arguments: StoreKind.allCases)
  func byNumber(_ kind: StoreKind) throws {
    let branch = try StoreFixture(kind)
    // More than are read of a line at once.
    try mixed(900, at: branch)
    let all = try (1...900).map { try #require(try branch.store.find($0)) }
    let sets: [[CustomerState]] = [
      [.waiting], [.delayed], [.dead], [.waiting, .delayed, .dead], [.dead, .waiting], [.serving, .done], [],
    ]
    for states in sets {
      for service in [nil, Service.deposit, .loan, .juice, Service(number: 99)] {
        let wanted = all.filter {
          states.contains($0.state) && (service == nil || $0.customer.service == service)
        }
        let found = try branch.store.customersByNumber(in: states, of: service, after: 0, limit: 1_000)
        #expect(found == wanted, "\(states) of \(String(describing: service))")
        var pages: [StoredCustomer] = []
        while true {
          let page = try branch.store.customersByNumber(
            in: states, of: service, after: pages.last?.customer.ticket ?? 0, limit: 70)
          #expect(page.count <= 70)
          pages += page
          guard page.count == 70 else { break }
        }
        #expect(pages == wanted, "in pages, \(states) of \(String(describing: service))")
      }
    }
    let even = try branch.store.customersByNumber(in: [.waiting], of: nil, after: 450, limit: 9) {
      $0.ticket % 2 == 0
    }
    #expect(
      even
        == Array(
          all.filter { $0.state == .waiting && $0.customer.ticket > 450 && $0.customer.ticket % 2 == 0 }
            .prefix(9)))
    #expect(try branch.store.customersByNumber(in: [.waiting], of: nil, after: 0, limit: 0).isEmpty)
    #expect(try branch.store.customersByNumber(in: [.waiting], of: nil, after: 900, limit: 9).isEmpty)
  }

  @Test("counts the dead letters of each service, over crashes and days", arguments: StoreKind.allCases)
  func deadByService(_ kind: StoreKind) throws {
    let branch = try StoreFixture(kind)
    func counts() throws -> [Int64] {
      try [.deposit, .loan, .juice, Service(number: 99)].map(branch.store.countDead)
    }
    #expect(try counts() == [0, 0, 0, 0])
    try mixed(72, at: branch)
    let dead = try (1...72).compactMap { try branch.store.find($0) }.filter { $0.state == .dead }
    let wanted = [Service.deposit, .loan, .juice].map { service in
      Int64(dead.count { $0.customer.service == service })
    }
    #expect(wanted.reduce(0, +) == 12 && wanted.allSatisfy { $0 > 0 })
    #expect(try counts() == wanted + [0])
    try branch.crash()
    #expect(try counts() == wanted + [0])
    // A customer that is requeued, or cancelled, is not counted any more.
    let loan = try #require(dead.first { $0.customer.service == .loan })
    try branch.makeWaiting(loan.customer, from: .dead)
    try branch.commit()
    #expect(try counts() == [wanted[0], wanted[1] - 1, wanted[2], 0])
    try branch.cancelEveryone()
    branch.startNextDay()
    try branch.commit()
    #expect(try counts() == [0, 0, 0, 0])
  }
}
