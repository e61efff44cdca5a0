// How the stock service begins and ends: under a coordinator, alone, on a home that it cannot use, with a database that
// is not to be touched.

import BankModel
import Glibc
import Posix
import StockClient
import Storage
import Testing
import Wire

@Suite("The life of the stock service", .serialized)
struct StockLifeTests {
  @Test("says hello and ready to its coordinator, gives signs of life, and ends when it is told to")
  func supervised() throws {
    let house = try StockHouse()
    try house.startSupervised()
    guard case .hello(let hello)? = house.heard.first else {
      Issue.record("\(house.heard)")
      return
    }
    #expect(hello.role == .stock && hello.version == protocolVersion)
    #expect(try FileFacts.inspect(house.database) == nil)
    house.say(.welcome(house.orders(7)))
    try house.wait { house.heard.contains(.ready) }
    house.say(.check(41))
    house.say(.check(42))
    try house.wait { house.heard.suffix(2) == [.beat(41), .beat(42)] }
    _ = try house.take([("kiwi", 1)], as: "a")
    house.say(.close)
    #expect(try house.end() == .code(0))
    #expect(house.log.contains("worker=stock") && house.log.contains("gen=7"))
    #expect(try FileFacts.inspect(house.socket) == nil)
  }

  @Test("tells its coordinator that work on the database goes on, which keeps it from turning")
  func progress() throws {
    let house = try StockHouse()
    try house.startSupervised()
    house.say(.welcome(house.orders()))
    try house.wait { house.heard.contains(.ready) }
    let client = house.client()
    let names = (1...StockLimits.ordersPerPage).map { OrderID("o-\($0)") }
    // SQLite says so after so many steps of a statement, wherever they fall.
    try house.wait(for: "a sign of progress") {
      _ = try house.call(.known(names), as: nil, client)
      return house.heard.contains(.beat(WorkerMessage.progress))
    }
    house.say(.close)
    #expect(try house.end() == .code(0))
  }

  @Test("a change that comes while it ends is made and answered, or said not to be made")
  func askedToTheEnd() throws {
    let house = try StockHouse()
    try house.start()
    let client = house.client()
    guard case .picture = try house.call(.look, as: nil, client) else {
      Issue.record("no picture")
      return
    }
    // The word that it ends is there before the changes, of which it hears some, and all wait for a process that stands
    // still.
    house.process?.kill(SIGSTOP)
    house.process?.kill(SIGTERM)
    var results: [Result<StockResult, StockClientError>] = []
    let change = StockCommand.change(ItemAmount(ItemID("kiwi"), 1), nil)
    let (count, limit) = (500, SystemClock.monotonic() + .seconds(1))
    for _ in 0..<count { client.ask(change, until: limit) { results.append($0) } }
    client.endTurn()
    house.process?.kill(SIGCONT)
    #expect(try house.end() == .code(0))
    try house.wait {
      client.endTurn()
      return results.count == count
    }
    var made = 0
    for result in results {
      switch result {
      case .success(.done): made += 1
      case .failure(.tryLater(_, isInDoubt: false)): break
      default: Issue.record("\(result)")
      }
    }
    try house.start()
    let rest = Int64(10 + made)
    #expect(try house.take([("kiwi", rest)], as: "rest").rows?.map(\.present) == [0])
  }

  @Test("ends when its coordinator is gone, and a successor goes on at once")
  func orphaned() throws {
    let house = try StockHouse()
    for round in 1...3 as ClosedRange<Int32> {
      try house.startSupervised()
      house.say(.welcome(house.orders(round)))
      try house.wait { house.heard.contains(.ready) }
      #expect(try house.take([("kiwi", 1)], as: "a").rows?.map(\.present) == [9])
      house.hangUp()
      #expect(try house.end() == .code(0))
    }
    try house.startSupervised()
    house.hangUp()
    #expect(try house.end() == .code(0))
  }

  @Test("that its coordinator refuses or does not understand ends with 1")
  func refused() throws {
    for message in [
      SupervisorMessage.refused(Refusal(reason: .build, build: "other", detail: "another build")), .check(1),
    ] {
      let house = try StockHouse()
      try house.startSupervised()
      house.say(message)
      #expect(try house.end() == .code(1))
      #expect(house.complaints.contains("bank-stockd: "))
      #expect(try FileFacts.inspect(house.database) == nil)
    }
  }

  @Test("that has gone is nothing to wake up for while nobody asks it anything")
  func goneWhileNobodyAsks() throws {
    let house = try StockHouse()
    try house.start()
    let client = house.client()
    guard case .picture = try client.call(.look, within: StockHouse.patience) else {
      Issue.record("it does not say what it has")
      return
    }
    house.process?.kill(SIGKILL)
    try house.wait {
      client.endTurn()
      return !client.isConnected
    }
    // A moment that has passed would keep the loop of whoever asks awake for ever.
    #expect(client.nextDeadline == nil)
  }

  @Test("answers what it has heard before a signal ends it")
  func terminated() throws {
    let house = try StockHouse()
    try house.start()
    _ = try house.call(.look)
    let client = house.client()
    var answers = 0
    for number in 0..<50 {
      let take = StockCommand.take([ItemAmount(ItemID("kiwi"), 1)], today: nil)
      client.ask(take, as: OrderID("o\(number)"), until: SystemClock.monotonic() + StockHouse.patience) { _ in
        answers += 1
      }
    }
    try house.wait {
      client.endTurn()
      return client.isConnected
    }
    #expect(try house.end(of: SIGTERM) == .code(0))
    try house.start()
    try house.wait {
      client.endTurn()
      return answers == 50
    }
    #expect(try house.audit()?.orders == 50)
    #expect(try house.quantities()[3] == 0)
  }

  @Test("is alone on its home")
  func alone() throws {
    let house = try StockHouse()
    try house.start()
    _ = try house.call(.look)
    let second = try ChildProcess.spawn(
      executable: try StockHouse.program(), arguments: ["--home", house.home], environment: [:],
      standardOutput: .null, standardError: .append(path: house.home + "/second"))
    defer {
      second.kill(SIGKILL)
      _ = second.wait()
    }
    try house.wait { second.reap() != nil }
    #expect(second.exitStatus?.ending == .code(1))
    let pid = try #require(house.process?.pid)
    #expect(try StockHouse.text(of: house.home + "/second").contains("already_open: \(pid)"))
    #expect(try house.quantities().count == 5)
  }

  @Test("works in a home whose path is longer than a socket's address")
  func longHome() throws {
    let house = try StockHouse(homeName: String(repeating: "long/", count: 40) + "home")
    try house.start()
    #expect(try house.take([("kiwi", 1)], as: "a").rows?.count == 1)
  }

  @Test("reports a database that is not to be used, to both who may hear it, and overwrites nothing")
  func damaged() throws {
    let house = try StockHouse()
    try house.start()
    _ = try house.take([("kiwi", 1)], as: "a")
    #expect(try house.end(of: SIGTERM) == .code(0))
    let whole = try StockHouse.bytes(of: house.database)
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
      #expect(house.complaints.contains("bank-stockd: damaged: \(house.database)"))
      #expect(house.complaints.contains(wreck.words), "\(house.complaints)")
      let isUntouched = try StockHouse.bytes(of: house.database) == wreck.bytes
      #expect(isUntouched)
    }
    // Once the owner has put a copy back, all is as it was.
    try house.write(whole, to: house.database)
    try house.start()
    #expect(try house.quantities() == [10, 10, 10, 9, 10])
  }

  @Test("reads its assortment, furnishes what is new in it, and names the line of a mistake")
  func configured() throws {
    let house = try StockHouse()
    try house.start()
    _ = try house.take([("kiwi", 4)], as: "a")
    #expect(try house.end(of: SIGTERM) == .code(0))
    let file = Paths.join(house.home, "assortment.json")
    let text = """
      {"fruits": [
        {"id": "kiwi", "ko": "키위", "en": "kiwi", "emoji": "🥝"},
        {"id": "cherry", "ko": "체리", "en": "cherry", "emoji": "🍒", "initial": 33}],
       "juices": [
        {"id": "cherry", "ko": "체리쥬스", "en": "cherry juice", "recipe": {"cherry": 0}}]}
      """
    try house.write(Array(text.utf8), to: file)
    try house.start(["--config", file])
    #expect(try house.end() == .code(1))
    #expect(house.complaints.contains("\(file):5: "))
    try house.write(Array(text.replacing("\"cherry\": 0", with: "\"cherry\": 3").utf8), to: file)
    try house.start(["--config", file])
    #expect(try house.quantities() == [10, 10, 10, 6, 10, 33])
    guard case .assortment(let assortment) = try house.call(.assortment) else {
      Issue.record("no assortment")
      return
    }
    #expect(assortment.juices.map(\.korean) == ["체리쥬스"])
  }

  @Test(
    "says what is wrong with its command line",
    arguments: [[], ["--home"], ["--home", "here"], ["--x", "y"]])
  func misused(_ words: [String]) throws {
    let house = try StockHouse()
    let stray = try ChildProcess.spawn(
      executable: try StockHouse.program(), arguments: words, environment: [:], standardOutput: .null,
      standardError: .null)
    defer {
      stray.kill(SIGKILL)
      _ = stray.wait()
    }
    try house.wait { stray.reap() != nil }
    #expect(stray.exitStatus?.ending == .code(2))
  }
}
