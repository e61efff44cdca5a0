// The built vending machine and the built stock service, over their sockets: each operation of the original,
// the two sides, the viewers, and refusals.

import BankModel
import Glibc
import Posix
import Testing
import VendingClient
import Wire

@Suite("The vending machine", .serialized)
struct VendingMachineTests {
  private let day: DayNumber = 20_000

  @Test("starts without drinks and without money")
  func empty() throws {
    let fixture = try VendingFixture()
    try fixture.start()
    let picture = try fixture.picture()
    #expect(picture.balance == 0 && picture.sales == [] && picture.recent == [])
    #expect(picture.products.map(\.id) == ProductTable.standard.products.map(\.id))
    #expect(picture.products.allSatisfy { $0.stock == 0 && $0.expired == 0 && $0.lots == nil })
    #expect(try fixture.history() == [])
  }

  @Test("takes money, sells, shows its history, and returns the change")
  func sale() throws {
    let fixture = try VendingFixture()
    try fixture.start()
    #expect(try fixture.add("top", 2).stocked?.map(\.difference) == [2])
    #expect(try fixture.call(.insert(1_000)).change?.balance == 1_000)
    #expect(try fixture.call(.buy(ItemID("top"))).failure?.code == .tooLittleMoney)
    #expect(try fixture.call(.insert(5_000)).change?.balance == 6_000)
    let picture = try fixture.picture()
    #expect(picture.products.filter { picture.isBuyable($0) }.map(\.id.name) == ["top"])
    let bought = try #require(try fixture.call(.buy(ItemID("top"))).change)
    #expect(bought.balance == 4_300 && bought.amount == 1_700)
    #expect(bought.dates.map { $0.expires - $0.made } == 7)
    #expect(try fixture.picture().stock("top") == 1)
    #expect(try fixture.history() == [bought])
    #expect(try fixture.call(.giveChange).change?.amount == 4_300)
    #expect(try fixture.picture().balance == 0)
    #expect(
      try fixture.audit()?.account == MoneyAccount(balance: 0, inserted: 6_000, spent: 1_700, returned: 4_300)
    )
  }

  @Test("sells the earliest to expire first, and expired ones never")
  func expiry() throws {
    let fixture = try VendingFixture()
    try fixture.start()
    let today = try fixture.picture().today
    for days in [-1, 9, 3] as [Int64] {
      _ = try fixture.add("hot6", 1, made: today - 20, expires: today + days)
    }
    _ = try fixture.call(.insert(10_000))
    let picture = try fixture.picture()
    #expect(picture.stock("hot6") == 2 && picture.products.first { $0.id.name == "hot6" }?.expired == 1)
    for days in [3, 9] as [Int64] {
      #expect(try fixture.call(.buy(ItemID("hot6"))).change?.dates?.expires == today + days)
    }
    #expect(try fixture.call(.buy(ItemID("hot6"))).failure?.code == .onlyExpired)
    #expect(try fixture.call(.buy(ItemID("coke"))).failure?.code == .soldOut)
    #expect(try fixture.picture().balance == 8_000)
    guard case .snapshot(let expired) = try fixture.call(.expired) else {
      Issue.record("no answer")
      return
    }
    #expect(expired.products.map(\.id.name) == ["hot6"] && expired.products[0].lots?.map(\.quantity) == [1])
    #expect(try fixture.call(.discardExpired).stocked?.map(\.difference) == [-1])
    #expect(try fixture.call(.buy(ItemID("hot6"))).failure?.code == .soldOut)
  }

  @Test("shows the manager every lot as its drinks describe themselves, by product")
  func lots() throws {
    let fixture = try VendingFixture()
    try fixture.start()
    _ = try fixture.add("top", 3, made: day, expires: day + 1)
    _ = try fixture.add("top", 1, made: day, expires: day)
    guard case .snapshot(let picture) = try fixture.call(.stock) else {
      Issue.record("no answer")
      return
    }
    let top = try #require(picture.products.first { $0.id.name == "top" })
    #expect(top.lots?.map(\.quantity) == [1, 3])
    #expect(top.lots?.last?.description == "맥심, 275ml, 1700원, 맥심TOP, 20241004, 20241005, 100mg")
    #expect(picture.products.filter { $0.isHot() }.map(\.id.name) == ["top", "cantata", "georgia"])
    #expect(try fixture.call(.remove(ItemAmount(ItemID("top"), 2))).stocked?.map(\.difference) == [-1, -1])
    #expect(try fixture.call(.remove(ItemAmount(ItemID("top"), 9))).failure?.code == .soldOut)
  }

  @Test("refuses invalid requests, with a reason, and changes nothing")
  func refusals() throws {
    let fixture = try VendingFixture()
    try fixture.start()
    for amount in [0, -1, 1_000_001, .max, .min] as [Won] {
      #expect(try fixture.call(.insert(amount)).failure?.code == .badRequest)
    }
    #expect(try fixture.call(.buy(ItemID("tea"))).failure?.code == .unknownProduct)
    #expect(try fixture.add("tea", 1).failure?.code == .unknownProduct)
    for count in [0, -1, 1_000_001, .min] as [Quantity] {
      #expect(try fixture.add("top", count).failure?.code == .badRequest)
      #expect(try fixture.call(.remove(ItemAmount(ItemID("top"), count))).failure?.code == .badRequest)
    }
    for (made, expires) in [(10, 9), (-1, 5), (5, 99_999_999)] as [(DayNumber, DayNumber)] {
      #expect(try fixture.add("top", 1, made: made, expires: expires).failure?.code == .badRequest)
    }
    _ = try fixture.add("top", 999_999)
    #expect(try fixture.add("top", 2).failure?.code == .shelfFull)
    #expect(try fixture.picture().stock("top") == 999_999)
    #expect(try fixture.audit()?.changes == 0)
  }

  @Test("the customers' socket refuses requests of the manager's, and the other way round")
  func sides() throws {
    let fixture = try VendingFixture()
    try fixture.start()
    _ = try fixture.picture()
    let managers: [VendingCommand] = [
      .add(AddedDrinks(product: ItemID("top"), quantity: 1)), .remove(ItemAmount(ItemID("top"), 1)), .stock,
      .expired, .discardExpired, .audit,
    ]
    for command in managers {
      #expect(command.side == .manager)
      let answer = try fixture.customer().call(command, within: VendingFixture.patience)
      #expect(answer.failure?.code == .wrongSide, "\(command)")
    }
    for command in [VendingCommand.insert(1_000), .buy(ItemID("top")), .giveChange] {
      let answer = try fixture.manager().call(command, within: VendingFixture.patience)
      #expect(answer.failure?.code == .wrongSide, "\(command)")
    }
    #expect(try fixture.picture().stock("top") == 0 && fixture.picture().balance == 0)
    for name in ["vending.sock", "vending-admin.sock"] {
      #expect(
        try #require(try FileMetadata.inspect(Paths.join(fixture.home, "run", name))).mode & 0o777 == 0o600)
    }
  }

  @Test("a request repeated under its name is answered and not repeated, also after a kill")
  func repeated() throws {
    let fixture = try VendingFixture()
    try fixture.start()
    _ = try fixture.add("top", 5)
    let coin = try fixture.call(.insert(5_000), as: "coin")
    let bought = try fixture.call(.buy(ItemID("top")), as: "buy")
    let added = try fixture.call(.add(AddedDrinks(product: ItemID("coke"), quantity: 2)), as: "add")
    for _ in 0..<2 {
      #expect(try fixture.call(.insert(5_000), as: "coin") == coin)
      #expect(try fixture.call(.buy(ItemID("top")), as: "buy") == bought)
      #expect(try fixture.call(.add(AddedDrinks(product: ItemID("coke"), quantity: 2)), as: "add") == added)
      #expect(try fixture.call(.insert(1), as: "coin").failure?.code == .orderConflict)
      fixture.kill(fixture.machine)
      try fixture.startMachine()
    }
    let picture = try fixture.picture()
    #expect(picture.stock("top") == 4 && picture.stock("coke") == 2 && picture.balance == 3_300)
    #expect(try fixture.call(.buy(ItemID("top")), as: "with space").failure?.code == .badRequest)
  }

  @Test("a page of purchases has at most the documented number, and the next one continues without a gap")
  func pages() throws {
    let fixture = try VendingFixture()
    try fixture.start()
    let limit = PurchasePage.maxLimit
    _ = try fixture.add("coke", limit + 20)
    let client = fixture.customer()
    for _ in 1...limit + 20 {
      _ = try client.call(.insert(10_000), within: VendingFixture.patience)
      let answer = try client.call(.buy(ItemID("coke")), within: VendingFixture.patience)
      try #require(answer.change != nil, "\(answer)")
      if try fixture.picture().balance > 1_000_000 { _ = try fixture.call(.giveChange) }
    }
    guard case .history(let first) = try fixture.call(.history(PurchasePage(after: 0, limit: .max))),
      case .history(let rest) = try fixture.call(
        .history(PurchasePage(after: try #require(first.last).sequence, limit: limit)))
    else {
      Issue.record("no answer")
      return
    }
    #expect(first.count == Int(limit) && rest.count == 20)
    #expect(try fixture.history() == first + rest)
  }

  @Test("sends followers stock, balance and history; the manager sees lots, a customer does not")
  func viewers() throws {
    let fixture = try VendingFixture()
    try fixture.start()
    var (seen, managed): (VendingSnapshot?, VendingSnapshot?)
    func follow(_ client: VendingClient, _ hear: @escaping (VendingUpdate) -> Void) { client.follow(hear) }
    let (customer, manager) = (fixture.customer(), fixture.manager())
    follow(customer) { notice in
      switch notice {
      case .snapshot(let picture): seen = picture
      case .news(let news): seen?.apply(news)
      case .refused(let failure): Issue.record("\(failure)")
      }
    }
    follow(manager) { notice in
      switch notice {
      case .snapshot(let picture): managed = picture
      case .news(let news): managed?.apply(news)
      case .refused(let failure): Issue.record("\(failure)")
      }
    }
    func wait(until condition: () -> Bool) throws {
      try fixture.wait {
        customer.finishIteration()
        manager.finishIteration()
        return condition()
      }
    }
    try wait { seen != nil && managed != nil }
    _ = try fixture.add("top", 3)
    try wait { seen?.stock("top") == 3 && managed?.stock("top") == 3 }
    #expect(managed?.products.first { $0.id.name == "top" }?.lots?.count == 1)
    #expect(seen?.products.allSatisfy { $0.lots == nil } == true)
    _ = try fixture.call(.insert(5_000))
    try wait { seen?.balance == 5_000 && managed?.balance == 5_000 }
    _ = try fixture.call(.buy(ItemID("top")))
    try wait { seen?.balance == 3_300 && seen?.stock("top") == 2 && seen?.recent.count == 1 }
    #expect(seen?.sales == [SalesReport(product: ItemID("top"), count: 1)])
    // A machine that was killed shows itself again.
    fixture.kill(fixture.machine)
    try fixture.startMachine()
    _ = try fixture.call(.buy(ItemID("top")))
    try wait { seen?.balance == 1_600 && seen?.stock("top") == 1 && seen?.recent.count == 2 }
    #expect(try fixture.picture().recent == seen?.recent)
  }

  @Test("a customers' socket that is opened to a group opens neither the till nor the other sockets")
  func group() throws {
    let fixture = try VendingFixture()
    let file = Paths.join(fixture.home, "vending.json")
    let name = try #require(groupName(getgid()))
    let products = try VendingFixture.text(of: Self.repository("config/vending.json"))
    try fixture.write(
      Array(products.replacing("\"customers_group\": null", with: "\"customers_group\": \"\(name)\"").utf8),
      to: file)
    try fixture.startStock()
    try fixture.startMachine(["--products", file])
    _ = try fixture.picture()
    func mode(_ path: String) throws -> UInt32 {
      UInt32(try #require(try FileMetadata.inspect(Paths.join(fixture.home, path))).mode & 0o777)
    }
    #expect(try mode("run/vending.sock") == 0o660 && mode("run/vending-admin.sock") == 0o600)
    #expect(try mode("run") == 0o710 && mode("run/stock.sock") == 0o600 && mode("vending.db") == 0o600)
    #expect(try fixture.customer().call(.audit, within: VendingFixture.patience).failure?.code == .wrongSide)
  }

  private func groupName(_ number: gid_t) -> String? {
    getgrgid(number).map { String(cString: $0.pointee.gr_name) }
  }

  private static func repository(_ path: String) -> String {
    Paths.join(Paths.directory(of: Paths.directory(of: Paths.directory(of: #filePath))), path)
  }
}
