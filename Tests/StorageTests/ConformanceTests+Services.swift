// What every store promises of services: a number is given once, and never again to another.

import BankModel
import QueueCore
import Testing
import Time

@testable import Storage

extension ConformanceTests {
  private static func names(_ texts: String...) throws -> [ServiceName] {
    try texts.map { try #require(ServiceName($0)) }
  }

  @Test("gives a number to each service once, over crashes", arguments: StoreKind.allCases)
  func numbers(_ kind: StoreKind) throws {
    let branch = try Branch(kind)
    #expect(branch.store.services == ServiceDirectory())
    let first = try Self.names("thumbs", "mail")
    try branch.store.giveNumbers(to: ServiceName.branch + first)
    #expect(branch.store.services.names == ServiceName.branch + first)
    try branch.crash()
    #expect(branch.store.services.names == ServiceName.branch + first)
    // What nobody names any more keeps its number, and comes back to it.
    let second = try Self.names("fax", "mail", "loan")
    try branch.store.giveNumbers(to: second)
    #expect(branch.store.services.names == ServiceName.branch + first + second.prefix(1))
    try branch.store.giveNumbers(to: first)
    try branch.crash()
    #expect(branch.store.services.names == ServiceName.branch + first + second.prefix(1))
    #expect(branch.books.servedByService == [0, 0, 0, 0, 0, 0] && branch.books.paused.count == 6)
  }

  @Test(
    "gives a thousand numbers, and keeps customers, receipts and pauses by them",
    arguments: StoreKind.allCases)
  func manyServices(_ kind: StoreKind) throws {
    let branch = try Branch(kind)
    let names = try (1...1_000).map { try #require(ServiceName("service-\($0)")) }
    try branch.store.giveNumbers(to: names)
    branch.books.know(services: branch.store.services.count)
    let last = try #require(branch.store.services[names[999]])
    #expect(last.number == 1_003)
    let lines = [Priority.vvip, .regular, Priority(7)].map { Line(service: last, priority: $0) }
    let customers = try lines.map { try branch.arrive($0) }
    branch.books.paused[last.index] = true
    try branch.commit()
    try branch.finish(customers[1])
    try branch.bury(customers[2])
    try branch.commit()
    let books = branch.books
    try branch.crash()
    #expect(branch.books == books && branch.books.paused[last.index])
    #expect(branch.books.servedByService[last.index] == 1)
    #expect(try branch.store.page(of: lines[0], after: 0, limit: 9).map(\.ticket) == [1])
    #expect(try branch.store.receipts(of: last, after: 0, through: .max, limit: 9).map(\.ticket) == [2])
    #expect(try branch.store.find(3)?.customer.service == last)
    #expect(try branch.store.audit().problems == [])
  }
}
