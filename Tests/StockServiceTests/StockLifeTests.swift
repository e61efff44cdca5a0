// Start and end of the stock service: under a coordinator, alone, on a home that it cannot use, with a
// database that must not be touched.

import BankModel
import Glibc
import Posix
import StockClient
import Storage
import Testing
import Time
import Wire

@Suite("The life of the stock service", .serialized)
struct StockLifeTests {
  @Test("sends hello and ready to its coordinator, reports that it is alive, and ends on request")
  func supervised() throws {
    let fixture = try StockFixture()
    try fixture.startSupervised()
    guard case .hello(let hello)? = fixture.heard.first else {
      Issue.record("\(fixture.heard)")
      return
    }
    #expect(hello.role == .stock && hello.version == protocolVersion)
    #expect(try FileMetadata.inspect(fixture.database) == nil)
    fixture.say(.welcome(fixture.orders(7)))
    try fixture.wait { fixture.heard.contains(.ready) }
    fixture.say(.check(41))
    fixture.say(.check(42))
    try fixture.wait { fixture.heard.suffix(2) == [.beat(41), .beat(42)] }
    _ = try fixture.take([("kiwi", 1)], as: "a")
    fixture.say(.close)
    #expect(try fixture.end() == .code(0))
    #expect(fixture.log.contains("worker=stock") && fixture.log.contains("gen=7"))
    #expect(try FileMetadata.inspect(fixture.socket) == nil)
  }

  @Test("reports to its coordinator that work on the database continues while it cannot answer")
  func progress() throws {
    let fixture = try StockFixture()
    try fixture.startSupervised()
    fixture.say(.welcome(fixture.orders()))
    try fixture.wait { fixture.heard.contains(.ready) }
    let client = fixture.client()
    let names = (1...StockLimits.ordersPerPage).map { OrderID("o-\($0)") }
    // SQLite reports this after a number of steps of a statement, wherever they fall.
    try fixture.wait(for: "a report of progress") {
      _ = try fixture.call(.known(names), as: nil, client)
      return fixture.heard.contains(.beat(ServiceProcessMessage.progress))
    }
    fixture.say(.close)
    #expect(try fixture.end() == .code(0))
  }

  @Test("a change that comes while it ends is made and answered, or reported as not made")
  func askedToTheEnd() throws {
    let fixture = try StockFixture()
    try fixture.start()
    let client = fixture.client()
    guard case .snapshot = try fixture.call(.querySnapshot, as: nil, client) else {
      Issue.record("no snapshot")
      return
    }
    // The request to end is there before the changes, of which it reads some, and all wait for a suspended
    // process.
    fixture.process?.kill(SIGSTOP)
    fixture.process?.kill(SIGTERM)
    var results: [Result<StockResult, StockClientError>] = []
    let change = StockCommand.change(ItemAmount(ItemID("kiwi"), 1), nil)
    let (count, limit) = (500, SystemClock.monotonic() + .seconds(60))
    for _ in 0..<count { client.ask(change, until: limit) { results.append($0) } }
    client.finishIteration()
    fixture.process?.kill(SIGCONT)
    #expect(try fixture.end() == .code(0))
    try fixture.wait {
      client.finishIteration()
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
    try fixture.start()
    let rest = Int64(10 + made)
    #expect(try fixture.take([("kiwi", rest)], as: "rest").rows?.map(\.present) == [0])
  }

  @Test("ends when its coordinator is gone, and a successor continues at once")
  func orphaned() throws {
    let fixture = try StockFixture()
    for round in 1...3 as ClosedRange<Int32> {
      try fixture.startSupervised()
      fixture.say(.welcome(fixture.orders(round)))
      try fixture.wait { fixture.heard.contains(.ready) }
      #expect(try fixture.take([("kiwi", 1)], as: "a").rows?.map(\.present) == [9])
      fixture.hangUp()
      #expect(try fixture.end() == .code(0))
    }
    try fixture.startSupervised()
    fixture.hangUp()
    #expect(try fixture.end() == .code(0))
  }

  @Test("ends with 1 if its coordinator refuses or does not understand it")
  func refused() throws {
    for message in [
      SupervisorMessage.refused(Refusal(reason: .build, build: "other", detail: "another build")), .check(1),
    ] {
      let fixture = try StockFixture()
      try fixture.startSupervised()
      fixture.say(message)
      #expect(try fixture.end() == .code(1))
      #expect(fixture.complaints.contains("bank-stockd: "))
      #expect(try FileMetadata.inspect(fixture.database) == nil)
    }
  }

  @Test("wakes no client without requests when it has gone")
  func goneWhileIdle() throws {
    let fixture = try StockFixture()
    try fixture.start()
    let client = fixture.client()
    guard case .snapshot = try client.call(.querySnapshot, within: StockFixture.patience) else {
      Issue.record("it does not list its contents")
      return
    }
    fixture.process?.kill(SIGKILL)
    try fixture.wait {
      client.finishIteration()
      return !client.isConnected
    }
    // A moment that has passed would keep the client's loop awake for ever.
    #expect(client.nextDeadline == nil)
  }

  @Test("answers the requests that it has read before a signal ends it")
  func terminated() throws {
    let fixture = try StockFixture()
    try fixture.start()
    _ = try fixture.call(.querySnapshot)
    let client = fixture.client()
    var answers = 0
    for number in 0..<50 {
      let take = StockCommand.take([ItemAmount(ItemID("kiwi"), 1)], today: nil)
      client.ask(take, as: OrderID("o\(number)"), until: SystemClock.monotonic() + StockFixture.patience) {
        _ in
        answers += 1
      }
    }
    try fixture.wait {
      client.finishIteration()
      return client.isConnected
    }
    #expect(try fixture.end(of: SIGTERM) == .code(0))
    try fixture.start()
    try fixture.wait {
      client.finishIteration()
      return answers == 50
    }
    #expect(try fixture.audit()?.orders == 50)
    #expect(try fixture.quantities()[3] == 0)
  }

  @Test("is alone on its home")
  func alone() throws {
    let fixture = try StockFixture()
    try fixture.start()
    _ = try fixture.call(.querySnapshot)
    let second = try ChildProcess.spawn(
      executable: try StockFixture.program(), arguments: ["--home", fixture.home], environment: [:],
      standardOutput: .null, standardError: .append(path: fixture.home + "/second"))
    defer {
      second.kill(SIGKILL)
      _ = second.wait()
    }
    try fixture.wait { second.reap() != nil }
    #expect(second.exitStatus?.ending == .code(1))
    let pid = try #require(fixture.process?.pid)
    #expect(try StockFixture.text(of: fixture.home + "/second").contains("already_open: \(pid)"))
    #expect(try fixture.quantities().count == 5)
  }

  @Test("works in a home whose path is longer than a socket's address")
  func longHome() throws {
    let fixture = try StockFixture(homeName: String(repeating: "long/", count: 40) + "home")
    try fixture.start()
    #expect(try fixture.take([("kiwi", 1)], as: "a").rows?.count == 1)
  }

  @Test("reports an unusable database to coordinator and clients, and overwrites nothing")
  func damaged() throws {
    let fixture = try StockFixture()
    try fixture.start()
    _ = try fixture.take([("kiwi", 1)], as: "a")
    #expect(try fixture.end(of: SIGTERM) == .code(0))
    let whole = try StockFixture.bytes(of: fixture.database)
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
      #expect(fixture.complaints.contains("bank-stockd: database_damaged: \(fixture.database)"))
      #expect(fixture.complaints.contains(wreck.words), "\(fixture.complaints)")
      let isUntouched = try StockFixture.bytes(of: fixture.database) == wreck.bytes
      #expect(isUntouched)
    }
    // Once the owner has restored a copy, all is as it was.
    try fixture.write(whole, to: fixture.database)
    try fixture.start()
    #expect(try fixture.quantities() == [10, 10, 10, 9, 10])
  }

  @Test("reads its assortment, adds what is new in it, and names the line of a mistake")
  func configured() throws {
    let fixture = try StockFixture()
    try fixture.start()
    _ = try fixture.take([("kiwi", 4)], as: "a")
    #expect(try fixture.end(of: SIGTERM) == .code(0))
    let file = Paths.join(fixture.home, "assortment.json")
    let text = """
      {"fruits": [
        {"id": "kiwi", "ko": "키위", "en": "kiwi", "emoji": "🥝"},
        {"id": "cherry", "ko": "체리", "en": "cherry", "emoji": "🍒", "initial": 33}],
       "juices": [
        {"id": "cherry", "ko": "체리쥬스", "en": "cherry juice", "recipe": {"cherry": 0}}]}
      """
    try fixture.write(Array(text.utf8), to: file)
    try fixture.start(["--config", file])
    #expect(try fixture.end() == .code(1))
    #expect(fixture.complaints.contains("\(file):5: "))
    try fixture.write(Array(text.replacing("\"cherry\": 0", with: "\"cherry\": 3").utf8), to: file)
    try fixture.start(["--config", file])
    #expect(try fixture.quantities() == [10, 10, 10, 6, 10, 33])
    guard case .assortment(let assortment) = try fixture.call(.assortment) else {
      Issue.record("no assortment")
      return
    }
    #expect(assortment.juices.map(\.korean) == ["체리쥬스"])
  }

  @Test(
    "reports mistakes on its command line",
    arguments: [[], ["--home"], ["--home", "here"], ["--x", "y"]])
  func misused(_ words: [String]) throws {
    let fixture = try StockFixture()
    let stray = try ChildProcess.spawn(
      executable: try StockFixture.program(), arguments: words, environment: [:], standardOutput: .null,
      standardError: .null)
    defer {
      stray.kill(SIGKILL)
      _ = stray.wait()
    }
    try fixture.wait { stray.reap() != nil }
    #expect(stray.exitStatus?.ending == .code(2))
  }
}
