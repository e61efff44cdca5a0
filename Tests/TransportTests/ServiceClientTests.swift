// The client of any service, at the socket of an example: which requests it repeats and for how long, in
// which order it gives up, and how it reports a service that refuses it. The socket and the client are on one
// loop.

import BankModel
import Posix
import ServiceFixture
import Testing
import Time
import Wire

@testable import Transport

@Suite("The client of a service", .serialized) struct ServiceClientTests {
  @Test("sends a long question to no third service; others are repeated until there is an answer")
  func longQuestion() throws {
    let fixture = try BellFixture()
    var (audits, looks) = (0, 0)
    fixture.socket.onRequest = { [socket = fixture.socket] session, request in
      if request.command == .audit {
        audits += 1
        session.channel.close()
      } else {
        looks += 1
        guard looks > 4 else { return session.channel.close() }
        socket.answer(session, request.number, BellAnswer(rings: 7))
      }
    }
    try fixture.socket.listen(at: fixture.path)
    let client = fixture.client()
    func ask(_ command: BellCommand) throws -> BellOutcome? {
      var outcome: BellOutcome?
      client.ask(command, until: fixture.deadline) { outcome = $0 }
      try fixture.wait(client) { outcome != nil }
      return outcome
    }
    guard case .failure(.tryLater(let detail, _)) = try ask(.audit) else {
      Issue.record("there was an answer")
      return
    }
    #expect(audits == 2 && detail.description.contains("exited 2 times"))
    #expect(try ask(.look) == .success(BellAnswer(rings: 7)) && looks == 5)
    client.close()
  }

  @Test("handles an answer that came during a stall before it gives the question up")
  func heardFirst() throws {
    let fixture = try BellFixture()
    var looks = 0
    fixture.socket.onRequest = { [socket = fixture.socket] session, request in
      looks += 1
      socket.answer(session, request.number, BellAnswer(rings: 7))
    }
    try fixture.socket.listen(at: fixture.path)
    // The client has a loop of its own, which does not run while the service does.
    let client = BellClient(socket: fixture.path, loop: try EventLoop())
    var answers: [BellOutcome] = []
    client.ask(.look, until: fixture.deadline) { answers.append($0) }
    try fixture.wait {
      try client.runIteration(until: SystemClock.monotonic())
      return !answers.isEmpty
    }
    #expect(answers.count == 1 && looks == 1)
    let deadline = SystemClock.monotonic() + .milliseconds(500)
    client.ask(.look, until: deadline) { answers.append($0) }
    client.finishIteration()
    try fixture.wait { looks == 2 && SystemClock.monotonic() >= deadline }
    client.finishIteration()
    #expect(answers == Array(repeating: .success(BellAnswer(rings: 7)), count: 2))
    client.close()
  }

  @Test(
    "gives a change a name if its caller gives none, and repeats it; a question has none"
  )
  func names() throws {
    let fixture = try BellFixture()
    var orders: [OrderID?] = []
    fixture.socket.onRequest = { [socket = fixture.socket] session, request in
      orders.append(request.order)
      guard orders.count > 1 else { return session.channel.close() }
      socket.answer(session, request.number, BellAnswer(rings: 1))
    }
    try fixture.socket.listen(at: fixture.path)
    let client = fixture.client()
    var answers = 0
    client.ask(.ring, until: fixture.deadline) { _ in answers += 1 }
    try fixture.wait(client) { answers == 1 }
    client.ask(.look, until: fixture.deadline) { _ in answers += 1 }
    client.ask(.ring, as: OrderID("mine"), until: fixture.deadline) { _ in answers += 1 }
    try fixture.wait(client) { answers == 3 }
    #expect(orders.count == 4 && orders[0] != nil && orders[0] == orders[1])
    #expect(orders.suffix(2) == [nil, OrderID("mine")])
    client.close()
  }

  @Test("gives up in the order of the requests, for any reason")
  func order() throws {
    let fixture = try BellFixture()
    let client = fixture.client()
    let count = 100
    var failed: [Int] = []
    let deadline = SystemClock.monotonic() + .milliseconds(1)
    for number in 0..<count { client.ask(.look, until: deadline) { _ in failed.append(number) } }
    try fixture.wait(client) { failed.count == count }
    #expect(failed == Array(0..<count))
    failed = []
    let bell = try fixture.speak(.welcome(Welcome(version: protocolVersion + 1, build: "other")))
    for number in 0..<count { client.ask(.look, until: fixture.deadline) { _ in failed.append(number) } }
    try fixture.wait(client) { failed.count == count }
    #expect(failed == Array(0..<count))
    withExtendedLifetime(bell) {}
  }

  @Test("leaves a service of another version at once, and reports that version")
  func otherVersion() throws {
    let fixture = try BellFixture()
    let bell = try fixture.speak(.welcome(Welcome(version: protocolVersion + 1, build: "other")))
    let client = fixture.client()
    var outcome: BellOutcome?
    client.ask(.look, until: fixture.deadline) { outcome = $0 }
    try fixture.wait(client) { outcome != nil }
    #expect(outcome == .failure(.otherVersion(theirs: protocolVersion + 1, build: "other")))
    #expect(
      "\(ServiceClientError<BellCommand>.otherVersion(theirs: 9, build: "b"))".hasPrefix("the bell (build b)")
    )
    // Without an iteration of the client.
    try fixture.wait { bell.ends == 1 }
  }

  @Test("leaves a service that refuses it, and remembers the service's answer")
  func refused() throws {
    let fixture = try BellFixture()
    let bell = try fixture.speak(
      .refused(Refusal(reason: .crowded, build: "b", detail: "there is no room for you")))
    let client = fixture.client()
    client.ask(.look, until: fixture.deadline) { _ in }
    try fixture.wait { bell.ends == 1 }
    #expect(client.lastError.description == "there is no room for you")
    client.close()
  }

  @Test(
    "a change unanswered by a service that closes was not made; after a mere end it is unknown",
    arguments: [true, false])
  func closing(isOrderly: Bool) throws {
    let fixture = try BellFixture()
    var heard = 0
    fixture.socket.onRequest = { _, _ in heard += 1 }
    try fixture.socket.listen(at: fixture.path)
    let client = fixture.client()
    client.ask(.look, until: fixture.deadline) { _ in }
    try fixture.wait(client) { heard == 1 }
    let asker = try #require(fixture.socket.sessions.values.first)
    // Later messages of the client stay in the socket until its service is gone.
    asker.openRequests = 0
    var outcome: BellOutcome?
    client.ask(.ring, until: SystemClock.monotonic() + .milliseconds(200)) { outcome = $0 }
    client.finishIteration()
    #expect(client.isInDoubt, "it is in flight")
    fixture.socket.stopReceiving()
    if isOrderly { fixture.socket.closeAfterFlush() } else { asker.channel.close() }
    try fixture.wait(client) { outcome != nil }
    guard case .failure(.tryLater(_, isInDoubt: !isOrderly)) = outcome else {
      Issue.record("\(outcome as Any)")
      return
    }
    #expect(heard == 1)
    client.close()
  }

  @Test(
    "a service that closes during an unfinished change does not report it as not made"
  )
  func closingOverAChange() throws {
    let fixture = try BellFixture()
    var heard = 0
    fixture.socket.onRequest = { _, _ in heard += 1 }
    try fixture.socket.listen(at: fixture.path)
    let client = fixture.client()
    var outcome: BellOutcome?
    client.ask(.ring, until: SystemClock.monotonic() + .milliseconds(200)) { outcome = $0 }
    try fixture.wait(client) { heard == 1 }
    fixture.socket.stopReceiving()
    fixture.socket.closeAfterFlush()
    try fixture.wait(client) { outcome != nil }
    guard case .failure(.tryLater(_, isInDoubt: true)) = outcome else {
      Issue.record("\(outcome as Any)")
      return
    }
    client.close()
  }

  @Test("leaves a service that does not send welcome, and reports that")
  func silent() throws {
    let fixture = try BellFixture()
    let bell = try fixture.speak(nil)
    let client = fixture.client(helloTimeout: .milliseconds(20))
    client.ask(.look, until: fixture.deadline) { _ in }
    client.finishIteration()
    var troubles: [MessageDetail] = []
    try fixture.wait {
      client.finishIteration()
      troubles.append(client.lastError)
      return bell.ends > 0
    }
    #expect(troubles.allSatisfy { $0 == MessageDetail(.noAnswer) })
    client.close()
  }

  @Test("may be closed while it handles an answer, with others queued")
  func disconnected() throws {
    let fixture = try BellFixture()
    fixture.socket.onRequest = { [socket = fixture.socket] session, request in
      socket.answer(session, request.number, BellAnswer(rings: 1))
    }
    try fixture.socket.listen(at: fixture.path)
    var client: BellClient? = fixture.client()
    var answers = 0
    for _ in 0..<3 {
      client?.ask(.look, until: fixture.deadline) { _ in
        answers += 1
        client = nil
      }
    }
    client?.finishIteration()
    try fixture.wait { client == nil }
    try fixture.wait { fixture.socket.sessions.isEmpty }
    #expect(answers == 1)
  }

  @Test("follows over lost connections; another view replaces the first")
  func follows() throws {
    let fixture = try BellFixture()
    var rings: Int64 = 0
    fixture.socket.onRequest = { [socket = fixture.socket] session, request in
      rings += 1
      socket.answer(session, request.number, BellAnswer(rings: rings), more: true)
      if rings == 1 { session.channel.closeAfterFlush() }
    }
    try fixture.socket.listen(at: fixture.path)
    let client = fixture.client()
    var (first, second) = ([Int64](), [Int64]())
    client.follow(BellCursor()) { first.append($0) }
    try fixture.wait(client) { first.count == 2 }
    client.follow(BellCursor()) { second.append($0) }
    try fixture.wait(client) { second.count == 1 }
    #expect(first == [1, 2] && second == [3] && client.connectionCount == 2)
    client.close()
  }
}
