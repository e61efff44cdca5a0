// The plain values of the domain: names, numbers, and repeatable randomness.

import BankModel
import Testing
import Time

@Suite struct ModelTests {
  @Test("names of windows are read back as they were written")
  func windows() {
    let window = Window(service: .loan, place: 12)
    let services = ServiceDirectory()
    #expect(services.name(of: window) == "loan-12")
    #expect(services.window(named: "loan-12") == window)
  }

  @Test(
    "an invalid name is refused",
    arguments: ["", "loan", "loan-", "loan-0", "loan--1", "cocoa-1", "loan-257", "-1"])
  func badWindows(name: String) { #expect(ServiceDirectory().window(named: name) == nil) }

  @Test("lines are ordered by service, and then by the order of serving")
  func lines() {
    #expect(Line.graded.sorted() == Line.graded)
    #expect(Line.graded.first == Line(service: .deposit, priority: .vvip))
    #expect(Priority.vvip < .vip && Priority.vip < .regular)
  }

  @Test("a grade is a name for a number, and every number has a code by which it is found")
  func priorities() {
    #expect(Priority.grades.map(\.number) == [0, 1_023, 1_024] && Priority.grades.map(\.code) == [1, 2, 3])
    for (name, priority) in zip(Priority.gradeNames, Priority.grades) {
      #expect(Priority(name: name) == priority && priority.name == name)
    }
    for number in [1, 2, 1_022, 1_025, UInt32.max] {
      let priority = Priority(number)
      #expect(priority.code == Int64(number) + 4 && Priority(code: priority.code) == priority)
      #expect(priority.grade == nil && Priority(name: priority.name) == priority)
    }
    for code in [Int64.min, -1, 0, 4, 1_027, 1_028, Int64(UInt32.max) + 5, .max] {
      #expect(Priority(code: code) == nil, "\(code) is the code of nothing, or of a grade that has another")
    }
    for name in ["", "+5", "05", "-1", "4294967296", "VIP", "1 "] { #expect(Priority(name: name) == nil) }
  }

  @Test("every kind has a name of its own, by which it is found")
  func names() {
    func check<Kind: NameCodable & Equatable>(_ kind: Kind.Type) {
      #expect(Set(kind.names).count == kind.allCases.count && kind.names.count == kind.allCases.count)
      for (place, one) in kind.allCases.enumerated() {
        #expect(Int(one.rawValue) == place + 1 && kind.init(name: one.name) == one)
      }
      #expect(kind.init(name: "nonsense") == nil)
    }
    check(CustomerState.self)
    check(Outcome.self)
    check(AttemptEnd.self)
    check(WorkerRole.self)
    check(WorkerState.self)
    check(BankState.self)
    check(DrainStep.self)
    check(DatabaseMismatch.self)
    check(StockChange.Kind.self)
    check(MoneyChange.Kind.self)
    check(DrinkClass.Kind.self)
    #expect(AttemptEnd.leaseExpired.name == "lease_expired" && DrainStep.kill.name == "kill")
  }

  @Test("each account has a code, and the branch's own are below zero")
  func accounts() {
    #expect([LedgerAccount.cash, .loans, .customer(0), .customer(12)].map(\.code) == [-1, -2, 0, 12])
    #expect(LedgerAccount.customer(12).description == "customer-12")
  }

  @Test("a deposit moves from cash to the customer, a loan from the loans, and juice moves no money")
  func transfers() {
    func transfer(
      _ service: Service, _ outcome: Outcome = .served, amount: Won = 5, by rule: PostingRule? = nil
    ) -> Transfer? {
      Receipt(
        day: 1, ticket: 1, service: service, priority: .regular, outcome: outcome, window: nil, generation: 0,
        pid: 0, attempts: 1, amount: amount, account: 3, issuedAt: WallTime(milliseconds: 0), startedAt: nil,
        finishedAt: WallTime(milliseconds: 0), postingRule: rule
      ).transfer
    }
    let fee = PostingRule(debit: .customer, credit: .cash)
    let own = Service(number: 9)
    #expect(transfer(.deposit) == Transfer(debit: .cash, credit: .customer(3), amount: 5))
    #expect(transfer(.loan) == Transfer(debit: .loans, credit: .customer(3), amount: 5))
    #expect(transfer(.deposit, by: fee) == transfer(.deposit), "a deposit is one in every branch")
    #expect(transfer(own, by: fee) == Transfer(debit: .customer(3), credit: .cash, amount: 5))
    #expect(transfer(own, .cancelled, by: fee) == nil)
    #expect(transfer(own, amount: 0, by: fee) == nil, "a customer who came before the service had a ledger")
    #expect(transfer(own) == nil && transfer(.juice) == nil)
  }

  @Test("the accounts of a transfer identify the rule that made it, and fit no other rule")
  func postingRules() throws {
    for debit in PostingRule.Side.allCases {
      #expect(PostingRule(debit: debit, credit: debit) == nil)
      for credit in PostingRule.Side.allCases where credit != debit {
        let rule = try #require(PostingRule(debit: debit, credit: credit))
        let transfer = Transfer(by: rule, amount: 5, account: 3)
        let (from, to) = (transfer.debit.code, transfer.credit.code)
        #expect(PostingRule(debit: from, credit: to, account: 3) == rule)
        #expect(PostingRule(debit: from, credit: from, account: 3) == nil)
        let touchesCustomer = debit == .customer || credit == .customer
        #expect((PostingRule(debit: from, credit: to, account: 4) == rule) == !touchesCustomer)
      }
    }
    #expect(PostingRule(debit: -3, credit: 3, account: 3) == nil)
  }

  @Test("the same seed draws the same customers, and draws stay within their bounds")
  func draws() {
    for seed in UInt64(0)..<50 {
      var one = CustomerGenerator(service: nil, priority: .vip, amount: nil, account: nil, seed: seed)
      var two = CustomerGenerator(service: nil, priority: .vip, amount: nil, account: nil, seed: seed)
      for _ in 0..<100 {
        let order = one.next()
        #expect(order == two.next(), "seed \(seed)")
        #expect(
          CustomerGenerator.amounts.contains(order.amount) && order.amount % CustomerGenerator.amountStep == 0
        )
        #expect(CustomerGenerator.accounts.contains(order.account))
        #expect(order.priority == .vip)
      }
    }
  }

  @Test(
    "customers drawn in slices, the first of them last, are the same as those drawn at once",
    arguments: [Service.deposit, .juice, nil], [1, 2, 7, 40])
  func slices(_ service: Service?, _ total: Int64) {
    let draw = CustomerGenerator(
      service: service, priority: .vip, amount: nil, account: nil, itemName: "p", seed: 7)
    var whole = draw
    let all = (0..<total).map { _ in whole.next() }
    for limit in [0, 4, 100] as [Int64] {
      var sliced = CustomerSliceGenerator(draw, total: total, slice: 3, heldBackLimit: limit)
      let begin = sliced.heldBack
      #expect(begin <= min(limit, total / 2) && begin % 3 == 0)
      var (first, last): ([CustomerOrder], [CustomerOrder]) = ([], [])
      while sliced.drawn < total {
        let before = sliced.heldBack
        let slice = sliced.next()
        if sliced.heldBack < before { first = slice + first } else { last += slice }
      }
      #expect(first + last == all && sliced.heldBack == 0 && sliced.next().isEmpty)
    }
  }

  @Test("both services are drawn about equally often")
  func fairness() {
    var draw = CustomerGenerator(service: nil, priority: .regular, amount: nil, account: nil, seed: 42)
    let deposits = (0..<10_000).count { _ in draw.next().service == .deposit }
    #expect((4_700...5_300).contains(deposits))
  }

  @Test("the generator is SplitMix64: its first numbers for seed 1234567 are the published ones")
  func splitMix() {
    var generator = SeededGenerator(seed: 1_234_567)
    #expect(generator.next() == 6_457_827_717_110_365_317)
    #expect(generator.next() == 3_203_168_211_198_807_973)
  }

  @Test("a draw reaches both ends of its range and nothing beyond")
  func range() {
    var generator = SeededGenerator(seed: 9)
    var seen: Set<Int64> = []
    for _ in 0..<1_000 { seen.insert(generator.draw(-2...2)) }
    #expect(seen == [-2, -1, 0, 1, 2])
    #expect(generator.draw(7...7) == 7)
    _ = generator.draw(.min ... .max)
  }
}
