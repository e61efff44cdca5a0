// The built stock service over its socket: sales, repeated orders, refusals, views of every change, and its
// ends.

import BankModel
import Glibc
import Posix
import StockClient
import Testing
import Time
import Transport
import Wire

@Suite("The stock service", .serialized)
struct StockServiceTests {
  @Test("sells from its initial contents, remembers its orders, and has private files")
  func sells() throws {
    let fixture = try StockFixture()
    try fixture.start()
    #expect(try fixture.call(.assortment) == .assortment(.standard))
    #expect(try fixture.quantities() == [10, 10, 10, 10, 10])
    let taken = try fixture.take([("mango", 2), ("kiwi", 1)], as: "1-1")
    #expect(taken.rows?.map(\.present) == [8, 9])
    let short = try fixture.take([("strawberry", 16)], as: "1-2")
    #expect(short == .short([Shortage(item: ItemID("strawberry"), needed: 16, available: 10)]))
    fixture.kill()
    try fixture.start()
    #expect(try fixture.take([("kiwi", 1), ("mango", 2)], as: "1-1") == taken)
    #expect(try fixture.take([("strawberry", 16)], as: "1-2") == short)
    #expect(try fixture.call(.returnItems, as: "1-1").rows?.map(\.difference) == [2, 1])
    #expect(try fixture.take([("mango", 2), ("kiwi", 1)], as: "1-1").failure?.code == .wasReturned)
    #expect(try fixture.call(.set(ItemAmount(ItemID("strawberry"), 20))).rows?.map(\.difference) == [10])
    #expect(try fixture.call(.change(ItemAmount(ItemID("banana"), -3), nil)).rows?.map(\.present) == [7])
    #expect(try fixture.quantities() == [20, 7, 10, 10, 10])
    #expect(
      try fixture.audit() == StockAuditReport(items: 5, orders: 4, changes: 11, difference: 0, problems: []))
    for file in [fixture.database, fixture.socket] {
      #expect(try FileMetadata.inspect(file)?.mode == 0o600)
    }
    #expect(fixture.log.contains("event=ready items=5"))
  }

  @Test("keeps lots with dates, sells the earliest to expire and never what has expired")
  func lots() throws {
    let fixture = try StockFixture()
    try fixture.start()
    let kiwi = ItemID("kiwi")
    _ = try fixture.call(.change(ItemAmount(kiwi, 4), LotDates(made: 0, expires: 7)))
    _ = try fixture.call(.change(ItemAmount(kiwi, 5), LotDates(made: 1, expires: 2_932_896)))
    let rows = try fixture.call(.take([ItemAmount(kiwi, 7)], today: nil), as: "a").rows
    #expect(rows?.map(\.dates?.made) == [1, nil] && rows?.map(\.difference) == [-5, -2])
    let past = try fixture.call(.take([ItemAmount(kiwi, 5)], today: 7), as: "b").rows
    #expect(past?.map(\.dates?.made) == [0, nil])
    _ = try fixture.call(.change(ItemAmount(kiwi, 4), LotDates(made: 0, expires: 7)))
    #expect(try fixture.call(.discardExpired(today: nil)).rows?.map(\.difference) == [-4])
    #expect(try fixture.call(.set(ItemAmount(kiwi, 3))).rows?.map(\.present) == [3])
    #expect(try fixture.audit()?.problems == [])
  }

  @Test("refuses impossible requests with a code, and continues with the same client")
  func refusals() throws {
    let fixture = try StockFixture()
    try fixture.start()
    let client = fixture.client()
    func code(_ command: StockCommand, _ order: String? = nil) throws -> StockFailure.Code? {
      try fixture.call(command, as: order, client).failure?.code
    }
    func take(_ item: String, _ quantity: Quantity) -> StockCommand {
      .take([ItemAmount(ItemID(item), quantity)], today: nil)
    }
    #expect(try code(take("durian", 1), "a") == .unknownItem)
    #expect(try code(take(String(repeating: "가", count: 5_000), 1), "a") == .unknownItem)
    for quantity in [0, -1, 1_000_001, .max, .min] as [Quantity] {
      #expect(try code(take("kiwi", quantity), "a") == .badRequest)
    }
    #expect(try code(take("kiwi", 1), "two words") == .badRequest)
    #expect(try code(take("kiwi", 1), String(repeating: "x", count: 65)) == .badRequest)
    #expect(try code(.take([], today: nil), "a") == .badRequest)
    #expect(try code(.take([ItemAmount(ItemID("kiwi"), 1)], today: -1), "a") == .badRequest)
    #expect(try code(.set(ItemAmount(ItemID("kiwi"), -1))) == .badRequest)
    #expect(try code(.change(ItemAmount(ItemID("kiwi"), 1_000_000), nil)) == .overflow)
    #expect(try code(.change(ItemAmount(ItemID("kiwi"), 1), LotDates(made: 3, expires: 2))) == .badRequest)
    #expect(try fixture.call(take("kiwi", 1), as: "a", client).rows?.count == 1)
    #expect(try code(take("kiwi", 2), "a") == .orderConflict)
    #expect(try code(.set(ItemAmount(ItemID("kiwi"), 2)), "a") == .orderConflict)
    #expect(try fixture.quantities() == [10, 10, 10, 9, 10])
  }

  @Test("ends a connection that sends nonsense, and no other client notices")
  func nonsense() throws {
    let fixture = try StockFixture()
    try fixture.start()
    let client = fixture.client()
    _ = try call(fixture, .querySnapshot, client)
    let hello = Hello(build: "x", role: .client)
    let beginnings: [[StockMessage]] = [
      [.request(StockRequest(number: 1, command: .querySnapshot))], [.hello(hello), .hello(hello)],
      [.hello(Hello(version: 99, build: "x", role: .client))], [.hello(Hello(build: "x", role: .teller))],
    ]
    for messages in beginnings {
      let end = try stranger(fixture) { channel in for message in messages { channel.send(message) } }
      #expect(end == .endOfFile)
    }
    guard case .connected(let socket) = try UnixSocket.connect(path: fixture.socket) else {
      Issue.record("there is no listener")
      return
    }
    _ = try [UInt8]([0xFF, 0xFF, 0xFF, 0xFF, 0]).withUnsafeBytes { try socket.send($0) }
    var byte: UInt8 = 0
    #expect(withUnsafeMutableBytes(of: &byte) { recv(socket.rawValue, $0.baseAddress, 1, 0) } >= 0)
    #expect(try call(fixture, .querySnapshot, client).failure == nil)
  }

  private func call(_ fixture: StockFixture, _ command: StockCommand, _ client: StockClient) throws
    -> StockResult
  {
    try fixture.call(command, as: nil, client)
  }

  /// Connects, sends bytes, and returns how the connection ended, with a refusal as the last message.
  private func stranger(
    _ fixture: StockFixture, _ speak: (MessageChannel<StockServiceMessage, StockMessage>) -> Void
  ) throws -> CloseReason? {
    guard case .connected(let socket) = try UnixSocket.connect(path: fixture.socket) else { return nil }
    let channel = try MessageChannel<StockServiceMessage, StockMessage>(
      descriptor: socket, loop: fixture.loop, incomingLimit: FrameLimits.control, backlogLimit: 1 << 20)
    var end: CloseReason?
    var last: StockServiceMessage?
    channel.onMessage = { last = $0 }
    channel.onEnd = { end = $0 }
    speak(channel)
    channel.flush()
    try fixture.wait { end != nil }
    guard case .refused = last else {
      Issue.record("the last message was \(String(describing: last))")
      return nil
    }
    return end
  }

  @Test("answers many requests in flight, each once, and each order once")
  func inFlight() throws {
    let fixture = try StockFixture()
    try fixture.start()
    _ = try fixture.call(.set(ItemAmount(ItemID("banana"), 1_000_000)))
    let clients = (0..<4).map { _ in fixture.client() }
    var (answers, rows) = (0, Set<Int64>())
    let deadline = SystemClock.monotonic() + StockFixture.patience
    for number in 0..<2_000 {
      let command = StockCommand.take([ItemAmount(ItemID("banana"), 2)], today: nil)
      clients[number % 4].ask(command, as: OrderID("o\(number / 2)"), until: deadline) { result in
        answers += 1
        for row in (try? result.get())?.rows ?? [] { rows.insert(row.sequence) }
      }
    }
    for client in clients { client.finishIteration() }
    try fixture.wait {
      for client in clients { client.finishIteration() }
      return answers == 2_000
    }
    #expect(rows.count == 1_000)
    #expect(try fixture.quantities()[1] == 998_000)
    #expect(try fixture.audit()?.problems == [])
  }

  @Test("shows every change to every viewer, also over its own death, and no change twice")
  func follows() throws {
    let fixture = try StockFixture()
    try fixture.start()
    let viewer = fixture.client()
    var picture: StockSnapshot?
    var pictures = 0
    var seen: [Int64] = []
    viewer.follow { news in
      switch news {
      case .snapshot(let shown): (picture, pictures) = (shown, pictures + 1)
      case .changes(let changes):
        seen += changes.map(\.sequence)
        picture?.apply(changes)
      case .refused(let failure): Issue.record("\(failure)")
      }
    }
    try fixture.wait {
      viewer.finishIteration()
      return picture != nil
    }
    for round in 0..<4 {
      for number in 0..<50 { _ = try fixture.take([("kiwi", 1), ("mango", 1)], as: "\(round)-\(number)") }
      _ = try fixture.call(.set(ItemAmount(ItemID("kiwi"), 60)))
      _ = try fixture.call(.set(ItemAmount(ItemID("mango"), 60)))
      if round % 2 == 0 {
        fixture.kill()
        try fixture.start()
      }
    }
    guard case .snapshot(let present) = try fixture.call(.querySnapshot) else {
      Issue.record("no snapshot")
      return
    }
    try fixture.wait {
      viewer.finishIteration()
      return picture == present
    }
    #expect(seen == Array(6...present.sequence))
    #expect(pictures == 1)
  }

  @Test("shows a returning viewer the missed changes, and a snapshot to one of another ledger")
  func comesBack() throws {
    let fixture = try StockFixture()
    try fixture.start()
    guard case .snapshot(let first) = try fixture.call(.querySnapshot) else {
      Issue.record("no snapshot")
      return
    }
    for number in 0..<3 { _ = try fixture.take([("kiwi", 1)], as: "a\(number)") }
    func news(from place: StockPosition) throws -> StockUpdate? {
      let viewer = fixture.client()
      var news: StockUpdate?
      viewer.follow(from: place) { if news == nil { news = $0 } }
      try fixture.wait {
        viewer.finishIteration()
        return news != nil
      }
      return news
    }
    guard case .changes(let missed) = try news(from: StockPosition(ledger: first.ledger, sequence: 6)) else {
      Issue.record("no changes")
      return
    }
    #expect(missed.map(\.sequence) == [7, 8])
    for place in [
      StockPosition(ledger: first.ledger + 1, sequence: 6), StockPosition(ledger: first.ledger, sequence: 9),
      StockPosition(ledger: first.ledger, sequence: -1),
    ] {
      guard case .snapshot(let picture) = try news(from: place) else {
        Issue.record("no snapshot from \(place)")
        return
      }
      #expect(picture.sequence == 8)
    }
    // A long ledger is not sent again.
    let deadline = SystemClock.monotonic() + StockFixture.patience
    let (client, count) = (fixture.client(), 10_100)
    var answers = 0
    for number in 0..<count {
      let change = StockCommand.change(ItemAmount(ItemID("kiwi"), number % 2 == 0 ? 1 : -1), nil)
      client.ask(change, until: deadline) { _ in answers += 1 }
    }
    try fixture.wait {
      client.finishIteration()
      return answers == count
    }
    guard case .snapshot = try news(from: StockPosition(ledger: first.ledger, sequence: 6)) else {
      Issue.record("no snapshot after a long time")
      return
    }
  }

  @Test("is waited for while it is away, and asked for no longer than the caller allows")
  func away() throws {
    let fixture = try StockFixture()
    let client = fixture.client()
    #expect(throws: StockClientError.self) { try client.call(.querySnapshot, within: .milliseconds(50)) }
    var result: Result<StockResult, StockClientError>?
    let take = StockCommand.take([ItemAmount(ItemID("kiwi"), 1)], today: nil)
    client.ask(take, as: OrderID("a"), until: SystemClock.monotonic() + StockFixture.patience) { result = $0 }
    client.finishIteration()
    #expect(!client.isConnected)
    try fixture.start()
    try fixture.wait {
      client.finishIteration()
      return result != nil
    }
    #expect(try result?.get().rows?.count == 1)
    fixture.kill()
    do {
      _ = try client.call(take, as: OrderID("b"), within: .milliseconds(50))
      Issue.record("there was an answer")
    } catch {
      guard case .tryLater = error else {
        Issue.record("\(error)")
        return
      }
    }
  }
}
