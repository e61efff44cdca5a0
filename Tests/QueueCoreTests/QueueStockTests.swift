// Juice in the queue: the order of a customer stays with it, and a customer for whom the stock is too small
// ends with a receipt that names what is missing.

import BankModel
import QueueCore
import Testing

extension ItemID: ExpressibleByStringLiteral {
  public init(stringLiteral value: String) { self.init(value) }
}

@Suite struct QueueStockTests {
  private static let missing = [
    Shortage(item: "strawberry", needed: 16, available: 10), Shortage(item: "kiwi", needed: 1, available: 0),
  ]

  @Test("the order is sent to the station and written into the receipt")
  func article() throws {
    let branch = TestBranch()
    branch.open(.juice)
    let effects = branch.arrive(.juice("banana"), .juice("kiwi"))
    guard
      case .assign(_, _, let customer)? = effects.first(where: {
        if case .assign = $0 { true } else { false }
      })
    else {
      Issue.record("no customer was assigned")
      return
    }
    #expect(customer.itemName == "banana")
    let receipt = try #require(try branch.answer(.juice1).receipts.first)
    #expect(receipt.itemName == "banana" && receipt.outcome == .served && receipt.shortages.isEmpty)
    #expect(try branch.answer(.juice1).receipts.first?.itemName == "kiwi")
  }

  @Test(
    "a short stock is an end, not a failure: the receipt names the shortage, the next customer comes")
  func outOfStock() throws {
    let branch = TestBranch()
    branch.open(.juice)
    branch.arrive(.juice("strawberry"), .juice("kiwi"))
    let effects = try branch.answer(.juice1, .outOfStock(Self.missing))
    let receipt = try #require(effects.receipts.first)
    #expect(receipt.outcome == .outOfStock && receipt.shortages == Self.missing && receipt.ticket == 1)
    #expect(receipt.transfer == nil, "no money moves")
    #expect(effects.attempts.map(\.end) == [.served] || effects.attempts.isEmpty)
    #expect(effects.assigned == [2] && effects.rogues.isEmpty)
    #expect(branch.machine.dayCounters.served == 1 && branch.machine.dayCounters.dead == 0)
    #expect(
      branch.process(.committed).acknowledged.map(\.ticket) == [1], "it is acknowledged when it is on disk")
  }

  @Test("a customer whose station dies comes back with its order")
  func death() throws {
    let branch = TestBranch()
    branch.open(.juice)
    branch.arrive(.juice("mango"))
    branch.kill(.juice1)
    let effects = branch.ready(.juice1, generation: 2)
    #expect(effects.assigned == [1])
    guard
      case .assign(_, _, let customer)? = effects.first(where: {
        if case .assign = $0 { true } else { false }
      })
    else {
      Issue.record("no customer was assigned")
      return
    }
    #expect(customer.itemName == "mango" && customer.crashes == 1)
  }

  @Test(
    "a station that reports an impossible shortage is ended, and the customer waits again",
    arguments: [
      [], [missing[0], missing[0]], [Shortage(item: "kiwi", needed: 1, available: 1)],
      [Shortage(item: "kiwi", needed: 1, available: -1)], [Shortage(item: "Kiwi!", needed: 1, available: 0)],
      (0...StockLimits.itemsPerOrder).map { Shortage(item: ItemID("fruit-\($0)"), needed: 1, available: 0) },
    ])
  func impossible(missing: [Shortage]) throws {
    let branch = TestBranch()
    branch.open(.juice)
    branch.arrive(.juice("kiwi"))
    let effects = try branch.answer(.juice1, .outOfStock(missing))
    #expect(effects.rogues == [.juice1] && effects.receipts.isEmpty)
    branch.kill(.juice1)
    #expect(branch.ready(.juice1, generation: 2).assigned == [1])
  }

  @Test("a bank's window has no stock: a teller that reports a shortage is ended")
  func depositOutOfStock() throws {
    let branch = TestBranch()
    branch.open(.deposit)
    branch.arrive(.deposit)
    let effects = try branch.answer(.deposit1, .outOfStock(Self.missing))
    #expect(effects.rogues == [.deposit1] && effects.receipts.isEmpty)
  }

  @Test("an order cancelled while it waits leaves a receipt with its contents")
  func cancelled() throws {
    let branch = TestBranch()
    branch.arrive(.juice("kiwi"))
    let number = branch.request()
    var effects = branch.process(.cancel(number, 1))
    effects += branch.process(
      .found(
        number, ticket: 1,
        StoredCustomer(
          customer: CustomerOrder.juice("kiwi").customer(ticket: 1, issuedAt: branch.now.wall),
          state: .waiting,
          dueAt: nil)))
    let receipt = try #require(effects.receipts.first)
    #expect(receipt.outcome == .cancelled && receipt.itemName == "kiwi" && receipt.shortages.isEmpty)
  }

  /// Ways in which a station learns that no more customers follow.
  enum Closing: CaseIterable { case scaled, replaced, finished }

  @Test(
    "a closing station may return customers that it cannot start to serve, and no attempt counts",
    arguments: Closing.allCases)
  func givesBack(_ closing: Closing) throws {
    let branch = TestBranch()
    branch.open(.juice)
    branch.open(.deposit)
    branch.arrive(.juice("mango"), .juice("kiwi"), .deposit(.regular))
    let effects =
      switch closing {
      case .scaled: branch.process(.scale(.juice, windows: 0))
      case .replaced: branch.process(.replace(.juice1))
      case .finished: branch.process(.finish)
      }
    #expect(effects.contains(.notifyNoMoreCustomers(.juice1)))
    #expect(
      !effects.contains(.notifyNoMoreCustomers(.deposit1)), "a deposit does not wait for the stock")
    let returned = try branch.answer(.juice1, .returned)
    #expect(returned.rogues.isEmpty && returned.receipts.isEmpty)
    #expect(returned.attempts.map(\.end) == [.recalled])
    #expect(branch.tickets(.juice) == [1, 2], "at the head of the line")
    branch.process(.committed)
    #expect(branch.machine.dayCounters.dead == 0 && branch.machine.dayCounters.delayed == 0)
    guard closing != .finished else { return }
    #expect(returned.contains(.dismissTeller(.juice1)))
    branch.process(.scale(.juice, windows: 1))
    branch.process(.tellerLost(.juice1, 1, .code(0)))
    if closing == .scaled { branch.process(.scale(.juice, windows: 1)) }
    #expect(branch.ready(.juice1, generation: 2).assigned == [1])
    #expect(try branch.answer(.juice1, .returned).rogues == [.juice1], "it has not been recalled now")
  }
}
