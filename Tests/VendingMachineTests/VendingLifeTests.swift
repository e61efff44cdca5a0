// How the vending machine begins and ends: under a coordinator, alone, without a stock, with a product table or a database
// that is not to be used.

import BankModel
import Glibc
import Posix
import Storage
import Testing
import VendingClient
import Wire

@Suite("The life of the vending machine", .serialized)
struct VendingLifeTests {
  @Test("says hello and ready to its coordinator, gives signs of life, and ends when it is told to")
  func supervised() throws {
    let house = try VendingHouse()
    try house.startSupervised()
    guard case .hello(let hello)? = house.heard.first else {
      Issue.record("\(house.heard)")
      return
    }
    #expect(hello.role == .vending && hello.version == protocolVersion)
    house.say(.welcome(house.orders(7)))
    try house.wait { house.heard.contains(.ready) }
    house.say(.check(41))
    try house.wait { house.heard.last == .beat(41) }
    #expect(try house.call(.insert(1_000)).change?.balance == 1_000)
    house.say(.close)
    #expect(try house.end() == .code(0))
    #expect(house.log.contains("worker=vending") && house.log.contains("gen=7"))
    #expect(try FileFacts.inspect(Paths.join(house.home, "run", "vending.sock")) == nil)
  }

  @Test("tells its coordinator that work on the database goes on, which keeps it from turning")
  func progress() throws {
    let house = try VendingHouse()
    try house.startSupervised()
    house.say(.welcome(house.orders()))
    try house.wait { house.heard.contains(.ready) }
    let client = house.customer()
    for _ in 0..<100 {
      for command in [VendingCommand.insert(1_000), .giveChange] {
        _ = try client.call(command, within: VendingHouse.patience)
      }
    }
    // SQLite says so after so many steps of a statement, wherever they fall.
    try house.wait {
      for _ in 0..<20 {
        _ = try client.call(.history(PurchasePage(after: 0, limit: 500)), within: VendingHouse.patience)
      }
      return house.heard.contains(.beat(WorkerMessage.progress))
    }
    house.say(.close)
    #expect(try house.end() == .code(0))
  }

  @Test("whose client has hung up is nothing for that client to wake up for")
  func nothingAsked() throws {
    let house = try VendingHouse()
    try house.start()
    let client = house.customer()
    _ = try client.call(.balance, within: .seconds(30))
    client.close()
    // A moment that has passed would keep the loop of whoever asks awake for ever.
    #expect(!client.isConnected && client.nextDeadline == nil)
  }

  @Test("ends when its coordinator is gone, and a successor goes on at once")
  func orphaned() throws {
    let house = try VendingHouse()
    for round in 1...3 as ClosedRange<Int32> {
      try house.startSupervised()
      house.say(.welcome(house.orders(round)))
      try house.wait { house.heard.contains(.ready) }
      #expect(try house.call(.insert(1_000)).change?.balance == Int64(round) * 1_000)
      house.hangUp()
      #expect(try house.end() == .code(0))
    }
  }

  @Test(
    "takes money and gives it back without a stock; whoever looks or buys is told to try later, and pays nothing"
  )
  func withoutStock() throws {
    let house = try VendingHouse()
    try house.startMachine()
    #expect(try house.call(.insert(5_000)).change?.balance == 5_000)
    #expect(try house.call(.look).failure?.code == .stockUnavailable)
    #expect(try house.call(.buy(ItemID("top")), as: "b").failure?.code == .stockUnavailable)
    #expect(try house.add("top", 1).failure?.code == .stockUnavailable)
    guard case .picture(let picture) = try house.call(.balance) else {
      Issue.record("no balance")
      return
    }
    #expect(picture.balance == 5_000 && picture.free == 5_000)
    // The stock comes: what was given up is let go of, and its name buys nothing any more.
    try house.startStock()
    _ = try house.picture()
    _ = try house.add("top", 1)
    try house.wait { try house.audit()?.unfinished == 0 }
    #expect(try house.call(.buy(ItemID("top")), as: "b").failure?.code == .stockUnavailable)
    #expect(try house.call(.buy(ItemID("top")), as: "c").change?.balance == 3_300)
    #expect(try house.call(.giveChange).change?.amount == 3_300)
  }

  @Test("reports a database that is not to be used, to both who may hear it, and overwrites nothing")
  func damaged() throws {
    let house = try VendingHouse()
    try house.startMachine()
    _ = try house.call(.insert(1_000))
    #expect(try house.end(of: SIGTERM) == .code(0))
    let whole = try VendingHouse.bytes(of: house.database)
    let wrecks: [(bytes: [UInt8], words: String)] = [
      (Array(repeating: 0x61, count: 9_000), "it is not an SQLite database"),
      (Array(whole.prefix(whole.count / 2)), "malformed"), ([], "the file is empty"),
    ]
    for wreck in wrecks {
      try house.write(wreck.bytes, to: house.database)
      try house.startSupervised()
      house.say(.welcome(house.orders()))
      #expect(try house.end() == .code(1))
      try house.wait { house.linkEnd != nil }
      guard case .failed(let failure)? = house.heard.last else {
        Issue.record("\(house.heard)")
        return
      }
      #expect(failure.code == .damaged && failure.subject == house.database)
      #expect(house.complaints.contains("bank-vending: damaged: \(house.database)"))
      #expect(house.complaints.contains(wreck.words), "\(house.complaints)")
      let isUntouched = try VendingHouse.bytes(of: house.database) == wreck.bytes
      #expect(isUntouched)
    }
    try house.write(whole, to: house.database)
    try house.startMachine()
    #expect(try house.call(.insert(1)).change?.balance == 1_001)
  }

  @Test("reads its products, keeps the stock of a new one, and names the line of a mistake")
  func configured() throws {
    let house = try VendingHouse()
    let file = Paths.join(house.home, "products.json")
    let text = """
      {"products": [
        {"id": "cola-zero", "class": "Coke", "brand": "팹시", "ml": 350, "price": 0, "ko": "콜라제로", "en": "zero",
         "emoji": "🥤", "container": "can", "flavour": "cherry", "shelf_life_days": 90}]}
      """
    try house.write(Array(text.utf8), to: file)
    try house.startMachine(["--products", file])
    #expect(try house.end() == .code(1))
    #expect(house.complaints.contains("\(file):2: "), "\(house.complaints)")
    try house.write(Array(text.replacing("\"price\": 0", with: "\"price\": 4000").utf8), to: file)
    try house.startStock()
    try house.startMachine(["--products", file])
    let added = try house.add("cola-zero", 2).stocked?.first
    #expect(added?.dates.map { $0.expires - $0.made } == 90)
    #expect(try house.picture().products.map(\.price) == [4_000])
    #expect(try house.call(.buy(ItemID("top"))).failure?.code == .unknownProduct)
  }

  @Test(
    "says what is wrong with its command line",
    arguments: [[], ["--home"], ["--home", "here"], ["--x", "y"]])
  func misused(_ words: [String]) throws {
    let house = try VendingHouse()
    let stray = try ChildProcess.spawn(
      executable: try VendingHouse.program("bank-vending"), arguments: words, environment: [:],
      standardOutput: .null, standardError: .null)
    defer {
      stray.kill(SIGKILL)
      _ = stray.wait()
    }
    try house.wait { stray.reap() != nil }
    #expect(stray.exitStatus?.ending == .code(2))
  }
}
