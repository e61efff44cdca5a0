// Start and end of the vending machine: under a coordinator, alone, without a stock, with a product table or
// a database that it cannot use.

import BankModel
import Glibc
import Posix
import Storage
import Testing
import Time
import VendingClient
import Wire

@Suite("The life of the vending machine", .serialized)
struct VendingLifeTests {
  @Test("sends hello and ready to its coordinator, reports that it is alive, and ends on request")
  func supervised() throws {
    let fixture = try VendingFixture()
    try fixture.startSupervised()
    guard case .hello(let hello)? = fixture.heard.first else {
      Issue.record("\(fixture.heard)")
      return
    }
    #expect(hello.role == .vending && hello.version == protocolVersion)
    fixture.say(.welcome(fixture.orders(7)))
    try fixture.wait { fixture.heard.contains(.ready) }
    fixture.say(.check(41))
    try fixture.wait { fixture.heard.last == .beat(41) }
    #expect(try fixture.call(.insert(1_000)).change?.balance == 1_000)
    fixture.say(.close)
    #expect(try fixture.end() == .code(0))
    #expect(fixture.log.contains("worker=vending") && fixture.log.contains("gen=7"))
    #expect(try FileMetadata.inspect(Paths.join(fixture.home, "run", "vending.sock")) == nil)
  }

  @Test("reports to its coordinator that work on the database continues while it cannot answer")
  func progress() throws {
    let fixture = try VendingFixture()
    try fixture.startSupervised()
    fixture.say(.welcome(fixture.orders()))
    try fixture.wait { fixture.heard.contains(.ready) }
    let client = fixture.customer()
    for _ in 0..<100 {
      for command in [VendingCommand.insert(1_000), .giveChange] {
        _ = try client.call(command, within: VendingFixture.patience)
      }
    }
    // SQLite reports this after a number of steps of a statement, wherever they fall.
    try fixture.wait {
      for _ in 0..<20 {
        _ = try client.call(.history(PurchasePage(after: 0, limit: 500)), within: VendingFixture.patience)
      }
      return fixture.heard.contains(.beat(ServiceProcessMessage.progress))
    }
    fixture.say(.close)
    #expect(try fixture.end() == .code(0))
  }

  @Test("wakes no client that has hung up")
  func nothingAsked() throws {
    let fixture = try VendingFixture()
    try fixture.start()
    let client = fixture.customer()
    _ = try client.call(.balance, within: .seconds(30))
    client.close()
    // A moment that has passed would keep the client's loop awake for ever.
    #expect(!client.isConnected && client.nextDeadline == nil)
  }

  @Test("ends when its coordinator is gone, and a successor continues at once")
  func orphaned() throws {
    let fixture = try VendingFixture()
    for round in 1...3 as ClosedRange<Int32> {
      try fixture.startSupervised()
      fixture.say(.welcome(fixture.orders(round)))
      try fixture.wait { fixture.heard.contains(.ready) }
      #expect(try fixture.call(.insert(1_000)).change?.balance == Int64(round) * 1_000)
      fixture.hangUp()
      #expect(try fixture.end() == .code(0))
    }
  }

  @Test(
    "takes and returns money without a stock; views and purchases are deferred, free of charge"
  )
  func withoutStock() throws {
    let fixture = try VendingFixture()
    try fixture.startMachine()
    #expect(try fixture.call(.insert(5_000)).change?.balance == 5_000)
    #expect(try fixture.call(.querySnapshot).failure?.code == .stockUnavailable)
    #expect(try fixture.call(.buy(ItemID("top")), as: "b").failure?.code == .stockUnavailable)
    #expect(try fixture.add("top", 1).failure?.code == .stockUnavailable)
    guard case .snapshot(let picture) = try fixture.call(.balance) else {
      Issue.record("no balance")
      return
    }
    #expect(picture.balance == 5_000 && picture.availableBalance == 5_000)
    // The stock comes: abandoned purchases are released, and their names buy nothing any more.
    try fixture.startStock()
    _ = try fixture.picture()
    _ = try fixture.add("top", 1)
    try fixture.wait { try fixture.audit()?.unfinished == 0 }
    #expect(try fixture.call(.buy(ItemID("top")), as: "b").failure?.code == .stockUnavailable)
    #expect(try fixture.call(.buy(ItemID("top")), as: "c").change?.balance == 3_300)
    #expect(try fixture.call(.giveChange).change?.amount == 3_300)
  }

  @Test("reports an unusable database to coordinator and clients, and overwrites nothing")
  func damaged() throws {
    let fixture = try VendingFixture()
    try fixture.startMachine()
    _ = try fixture.call(.insert(1_000))
    #expect(try fixture.end(of: SIGTERM) == .code(0))
    let whole = try VendingFixture.bytes(of: fixture.database)
    let wrecks: [(bytes: [UInt8], words: String)] = [
      (Array(repeating: 0x61, count: 9_000), "it is not an SQLite database"),
      (Array(whole.prefix(whole.count / 2)), "malformed"), ([], "the file is empty"),
    ]
    for wreck in wrecks {
      try fixture.write(wreck.bytes, to: fixture.database)
      try fixture.startSupervised()
      fixture.say(.welcome(fixture.orders()))
      #expect(try fixture.end() == .code(1))
      try fixture.wait { fixture.linkEnd != nil }
      guard case .failed(let failure)? = fixture.heard.last else {
        Issue.record("\(fixture.heard)")
        return
      }
      #expect(failure.code == .damaged && failure.subject == fixture.database)
      #expect(fixture.complaints.contains("bank-vending: database_damaged: \(fixture.database)"))
      #expect(fixture.complaints.contains(wreck.words), "\(fixture.complaints)")
      let isUntouched = try VendingFixture.bytes(of: fixture.database) == wreck.bytes
      #expect(isUntouched)
    }
    try fixture.write(whole, to: fixture.database)
    try fixture.startMachine()
    #expect(try fixture.call(.insert(1)).change?.balance == 1_001)
  }

  @Test("reads its products, keeps the stock of a new one, and names the line of a mistake")
  func configured() throws {
    let fixture = try VendingFixture()
    let file = Paths.join(fixture.home, "products.json")
    let text = """
      {"products": [
        {"id": "cola-zero", "class": "Coke", "brand": "팹시", "ml": 350, "price": 0, "ko": "콜라제로", "en": "zero",
         "emoji": "🥤", "container": "can", "flavour": "cherry", "shelf_life_days": 90}]}
      """
    try fixture.write(Array(text.utf8), to: file)
    try fixture.startMachine(["--products", file])
    #expect(try fixture.end() == .code(1))
    #expect(fixture.complaints.contains("\(file):2: "), "\(fixture.complaints)")
    try fixture.write(Array(text.replacing("\"price\": 0", with: "\"price\": 4000").utf8), to: file)
    try fixture.startStock()
    try fixture.startMachine(["--products", file])
    let added = try fixture.add("cola-zero", 2).stocked?.first
    #expect(added?.dates.map { $0.expires - $0.made } == 90)
    #expect(try fixture.picture().products.map(\.price) == [4_000])
    #expect(try fixture.call(.buy(ItemID("top"))).failure?.code == .unknownProduct)
  }

  @Test(
    "reports mistakes on its command line",
    arguments: [[], ["--home"], ["--home", "here"], ["--x", "y"]])
  func misused(_ words: [String]) throws {
    let fixture = try VendingFixture()
    let stray = try ChildProcess.spawn(
      executable: try VendingFixture.program("bank-vending"), arguments: words, environment: [:],
      standardOutput: .null, standardError: .null)
    defer {
      stray.kill(SIGKILL)
      _ = stray.wait()
    }
    try fixture.wait { stray.reap() != nil }
    #expect(stray.exitStatus?.ending == .code(2))
  }
}
