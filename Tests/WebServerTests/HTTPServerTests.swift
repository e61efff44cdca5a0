// The server on real sockets: requests that the library accepts and this server refuses, slow and endless
// requests, answers that come later, and streams of events.

import Foundation
import Glibc
import Posix
import PosixFixture
import Testing
import Time
import WebCore

@testable import WebServer

/// Answers as the test decides, and records the requests.
private final class TestHandler: HTTPHandler {
  var served: [HTTPExchange] = []
  var onServe: ((HTTPExchange) -> Void)?
  func admit(_ request: HTTPRequest) -> HTTPResponse? {
    request.target.path == "/forbidden" ? .text(403, "no") : nil
  }
  func answer(refused status: Int, _ request: HTTPRequest) -> HTTPResponse { .text(status, "refused") }
  func serve(_ exchange: HTTPExchange) {
    served.append(exchange)
    if let onServe { onServe(exchange) } else { exchange.respond(.text(200, exchange.request.target.path)) }
  }
}

/// A feed whose items the test adds.
private final class Feed: EventFeed {
  var items: [EventBytes] = []
  var viewers: [ObjectIdentifier: EventViewer] = [:]
  func join(_ viewer: EventViewer) { viewers[ObjectIdentifier(viewer)] = viewer }
  func next(for viewer: EventViewer) -> EventBytes? {
    guard viewer.position < items.count else { return nil }
    viewer.position += 1
    return items[Int(viewer.position) - 1]
  }
  func leave(_ viewer: EventViewer) { viewers[ObjectIdentifier(viewer)] = nil }
  func send(_ text: String) {
    items.append(EventBytes(Array(text.utf8)))
    for viewer in viewers.values { viewer.wake() }
  }
}

/// A server and its clients on one loop.
private final class TestServer {
  let loop: EventLoop
  let server: HTTPServer
  let answerer = TestHandler()

  init(_ limits: HTTPServer.Limits = HTTPServer.Limits()) throws {
    loop = try EventLoop()
    server = try HTTPServer(loop: loop, limits: limits)
    server.handler = answerer
  }

  func connect(isLocal: Bool = true) throws -> TestClient {
    let pair = try UnixSocket.pair(nonBlocking: true)
    server.take(pair.first, isLocal: isLocal)
    return TestClient(pair.second, self)
  }

  func runIteration() throws {
    let deadline = SystemClock.monotonic() + .milliseconds(20)
    try loop.runOnce(until: .earliest(server.nextDeadline, deadline))
    server.finishIteration(SystemClock.monotonic())
  }

  func runIteration(until condition: () throws -> Bool) throws {
    let end = SystemClock.monotonic() + .seconds(120)
    while try !condition() {
      try #require(SystemClock.monotonic() < end, "the condition does not hold in time")
      try runIteration()
    }
  }
}

private final class TestClient {
  private let socket: FileDescriptor
  private let stage: TestServer
  private(set) var received = ""
  private(set) var hasEnded = false

  init(_ socket: consuming FileDescriptor, _ stage: TestServer) {
    self.socket = socket
    self.stage = stage
  }

  func send(_ text: String) throws { _ = try Array(text.utf8).withUnsafeBytes { try socket.send($0) } }

  /// Sends all of it, as the server takes it; returns the number of bytes that could be sent.
  func sendAll(_ text: String) throws -> Int {
    let bytes = Array(text.utf8)
    var sent = 0
    try stage.runIteration {
      while sent < bytes.count {
        switch try bytes.withUnsafeBytes({ try socket.send(UnsafeRawBufferPointer(rebasing: $0[sent...])) }) {
        case .bytes(let count): sent += count
        case .wouldBlock: return false
        case .peerClosed: return true
        }
      }
      return true
    }
    return sent
  }

  func readAvailable() throws {
    var chunk = [UInt8](repeating: 0, count: 16 << 10)
    while true {
      switch try chunk.withUnsafeMutableBytes({ try socket.receive(into: $0) }) {
      case .bytes(let count): received += String(decoding: chunk[..<count], as: UTF8.self)
      case .wouldBlock: return
      case .endOfFile:
        hasEnded = true
        return
      }
    }
  }

  /// Receives until a text has come, or the end.
  @discardableResult
  func receive(_ text: String) throws -> String {
    try stage.runIteration {
      try readAvailable()
      return received.contains(text) || hasEnded
    }
    return received
  }

  func ask(_ request: String) throws -> String {
    received = ""
    try send(request)
    return try receive("\r\n\r\n")
  }
}

@Suite("The HTTP server")
struct HTTPServerTests {
  private func status(_ answer: String) -> String { String(answer.dropFirst(9).prefix(3)) }

  @Test("a request is answered, and the connection stays for the next")
  func simple() throws {
    let stage = try TestServer()
    let caller = try stage.connect()
    for path in ["/a", "/b?c=d"] {
      let answer = try caller.ask("GET \(path) HTTP/1.1\r\nHost: x\r\n\r\n")
      #expect(status(answer) == "200" && answer.contains("nosniff") && answer.contains("default-src 'none'"))
    }
    #expect(stage.answerer.served.map(\.request.target.path) == ["/a", "/b"])
    #expect(stage.server.count == 1)
  }

  @Test(
    "a request that other servers on the way would parse differently is refused",
    arguments: [
      ("GET / HTTP/1.1\r\n\r\n", "400"), ("GET / HTTP/1.0\r\n\r\n", "400"),
      ("GET / HTTP/1.1\r\nHost : x\r\n\r\n", "400"), ("GET / HTTP/1.1\r\nHost: x\r\nA B: c\r\n\r\n", "400"),
      ("GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n", "400"),
      ("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\na", "400"),
      (
        "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "400"
      ),
      ("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 65537\r\n\r\n", "413"),
      ("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999\r\n\r\n", "413"),
      ("GET http://x/ HTTP/1.1\r\nHost: x\r\n\r\n", "400"), ("GET /%00 HTTP/1.1\r\nHost: x\r\n\r\n", "400"),
      ("GET /forbidden HTTP/1.1\r\nHost: x\r\n\r\n", "403"),
      ("nonsense\r\n\r\n", "400"),
    ])
  func refused(request: String, expected: String) throws {
    let stage = try TestServer()
    let answer = try stage.connect().ask(request)
    if expected == "413" {
      // The library itself refuses a length beyond its numbers.
      #expect(["413", "400"].contains(status(answer)), "\(answer)")
    } else if !expected.isEmpty {
      #expect(status(answer) == expected, "\(answer)")
    }
    #expect(stage.answerer.served.isEmpty)
  }

  @Test("a body of the limit is accepted, and a longer one in pieces is refused")
  func bodies() throws {
    let stage = try TestServer()
    let caller = try stage.connect()
    let body = String(repeating: "b", count: 64 << 10)
    #expect(
      status(
        try caller.ask("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: \(body.utf8.count)\r\n\r\n" + body))
        == "200")
    #expect(stage.answerer.served.last?.request.body.count == 64 << 10)
    let other = try stage.connect()
    try other.send("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
    for _ in 0..<9 {
      try other.send("2000\r\n" + String(repeating: "c", count: 0x2000) + "\r\n")
      try stage.runIteration()
    }
    #expect(status(try other.ask("0\r\n\r\n")) == "413")
    #expect(stage.answerer.served.count == 1)
  }

  @Test("a client that sends a request too slowly is disconnected; so is a silent one")
  func slow() throws {
    var limits = HTTPServer.Limits()
    limits.request = .milliseconds(200)
    let stage = try TestServer(limits)
    let silent = try stage.connect()
    let slow = try stage.connect()
    try slow.send("GET / HTTP/1.1\r\nHo")
    try stage.runIteration {
      if !slow.hasEnded { try? slow.send("s") }
      try slow.readAvailable()
      try silent.readAvailable()
      return slow.hasEnded && silent.hasEnded
    }
    try stage.runIteration { stage.server.count == 0 }
    #expect(stage.server.nextDeadline == nil)
  }

  @Test("an answer may come later, and a client that has left meanwhile costs nothing more")
  func later() throws {
    let stage = try TestServer()
    stage.answerer.onServe = { _ in }
    var gone: TestClient? = try stage.connect()
    let caller = try stage.connect()
    try gone?.send("GET /gone HTTP/1.1\r\nHost: x\r\n\r\n")
    try caller.send("GET /later HTTP/1.1\r\nHost: x\r\n\r\n")
    try stage.runIteration { stage.answerer.served.count == 2 }
    gone = nil
    for exchange in stage.answerer.served { exchange.respond(.text(200, "at last")) }
    #expect(try caller.receive("at last").contains("at last"))
    try stage.runIteration { stage.server.count == 1 }
  }

  @Test(
    "many viewers get the same in order; a lost one is found by the next write, none wakes for nothing"
  )
  func streams() throws {
    let stage = try TestServer()
    let feed = Feed()
    stage.answerer.onServe = { $0.stream(feed) }
    var callers = try (0..<100).map { _ in try stage.connect() }
    for caller in callers { try caller.send("GET /events HTTP/1.1\r\nHost: x\r\n\r\n") }
    try stage.runIteration { feed.viewers.count == 100 }
    let long = String(repeating: "x", count: 40_000)
    for text in ["first;", long, ";last\n"] { feed.send(text) }
    // The head is complete, although the library is set to forget it when the first bytes are written.
    for caller in callers {
      let received = try caller.receive(";last")
      #expect(
        HTTPResponse.eventStreamHead.headers.allSatisfy { received.contains("\($0.name): \($0.value)\r\n") })
    }
    #expect(stage.server.nextDeadline == nil)
    callers.removeLast(60)
    for viewer in feed.viewers.values { viewer.keepAlive() }
    try stage.runIteration { feed.viewers.count == 40 }
    #expect(try callers[0].receive(":\n\n").contains(":\n\n"))
    for viewer in feed.viewers.values { viewer.end() }
    try stage.runIteration { feed.viewers.isEmpty }
    try stage.runIteration {
      try callers[0].readAvailable()
      return callers[0].hasEnded
    }
  }

  @Test("a viewer who reads nothing is disconnected after some pulses")
  func deaf() throws {
    let stage = try TestServer()
    let feed = Feed()
    stage.answerer.onServe = { $0.stream(feed) }
    let caller = try stage.connect()
    try caller.send("GET /events HTTP/1.1\r\nHost: x\r\n\r\n")
    try stage.runIteration { feed.viewers.count == 1 }
    feed.send(String(repeating: "y", count: 8 << 20))
    for _ in 0..<6 {
      for _ in 0..<3 { try stage.runIteration() }
      for viewer in feed.viewers.values { viewer.keepAlive() }
    }
    try stage.runIteration { feed.viewers.isEmpty && stage.server.count == 0 }
  }

  @Test("a server that ends disconnects all clients, whatever they wait for")
  func end() throws {
    let stage = try TestServer()
    let feed = Feed()
    stage.answerer.onServe = { if $0.request.target.path == "/events" { $0.stream(feed) } }
    let viewer = try stage.connect()
    let waiting = try stage.connect()
    let idle = try stage.connect()
    try viewer.send("GET /events HTTP/1.1\r\nHost: x\r\n\r\n")
    try waiting.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    try stage.runIteration { feed.viewers.count == 1 && stage.answerer.served.count == 2 }
    stage.server.close()
    try stage.runIteration {
      for caller in [viewer, waiting, idle] { try caller.readAvailable() }
      return viewer.hasEnded && waiting.hasEnded && idle.hasEnded
    }
  }

  @Test(
    "a request with 14 kB of cookies is answered, also repeated; one with more is refused, once")
  func cookies() throws {
    let stage = try TestServer()
    let caller = try stage.connect()
    for count in [1_500, 5_000, 14_000, 300] {
      let answer = try caller.ask(
        "GET /a HTTP/1.1\r\nHost: x\r\nCookie: a=\(String(repeating: "c", count: count))\r\n\r\n")
      #expect(status(answer) == "200", "\(count)")
    }
    for count in [17_000, 40_000, 100_000] {
      let other = try stage.connect()
      _ = try other.sendAll(
        "GET /a HTTP/1.1\r\nHost: x\r\nCookie: a=\(String(repeating: "c", count: count))\r\n\r\n")
      try stage.runIteration {
        try other.readAvailable()
        return other.hasEnded
      }
      #expect(status(other.received) == "431", "\(count)")
      #expect(
        other.received.components(separatedBy: "HTTP/1.1").count == 2, "one head and no second one as text")
      #expect(other.received.contains("Content-Type: text/plain") && other.received.hasSuffix("refused\n"))
    }
    #expect(stage.answerer.served.count == 4)
  }

  @Test("a head that comes in pieces is put together, and one that never comes gets an error")
  func pieces() throws {
    var limits = HTTPServer.Limits()
    limits.request = .seconds(2)
    let stage = try TestServer(limits)
    let caller = try stage.connect()
    for piece in ["GET /a HT", "TP/1.1\r\nHo", "st: x\r\n\r", "\n"] {
      try caller.send(piece)
      try stage.runIteration()
    }
    #expect(status(try caller.receive("\r\n\r\n")) == "200")
    let slow = try stage.connect()
    try slow.send("GET / HTTP/1.1\r\n")
    #expect(status(try slow.receive("refused")) == "408")
  }

  @Test("silent connections shut out no other one, nor the socket in the home")
  func idle() throws {
    var limits = HTTPServer.Limits()
    (limits.waiting, limits.connections) = (20, 10)
    let stage = try TestServer(limits)
    let silent = try (0..<60).map { _ in try stage.connect(isLocal: false) }
    #expect(stage.server.count == 20)
    let kept = try (0..<30).map { _ in
      let caller = try stage.connect(isLocal: false)
      #expect(status(try caller.ask("GET /a HTTP/1.1\r\nHost: x\r\n\r\n")) == "200")
      return caller
    }
    try stage.runIteration { stage.server.count <= 30 }
    let local = try stage.connect(isLocal: true)
    #expect(status(try local.ask("GET /b HTTP/1.1\r\nHost: x\r\n\r\n")) == "200")
    try kept[0].readAvailable()
    #expect(kept[0].hasEnded, "the one that was idle the longest is closed")
    withExtendedLifetime(silent) {}
  }

  @Test("a refused request is read, so that its client gets the reason")
  func refusedBody() throws {
    let stage = try TestServer()
    for (path, count, expected) in [("/forbidden", 60 << 10, "403"), ("/a", 3 << 20, "413")] {
      let body = String(repeating: "b", count: count)
      let caller = try stage.connect()
      let head = "POST \(path) HTTP/1.1\r\nHost: x\r\nContent-Length: \(body.utf8.count)\r\n\r\n"
      #expect(try caller.sendAll(head + body) == head.utf8.count + body.utf8.count, "the pipe broke")
      #expect(status(try caller.receive("\r\n\r\n")) == expected)
    }
    // A client that sends no body after all is answered a second later, and one that waits for 100 at once.
    let silent = try stage.connect()
    #expect(
      status(try silent.ask("POST /forbidden HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n")) == "403")
    let waiting = try stage.connect()
    let answer = try waiting.ask(
      "POST /forbidden HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\nExpect: 100-continue\r\n\r\n")
    #expect(status(answer) == "403")
    #expect(stage.answerer.served.isEmpty)
  }

  @Test("the streams of an owner end, and no others; a lost client is found at once")
  func owners() throws {
    let stage = try TestServer()
    let feed = Feed()
    var owners = ["a", "b", "a"].makeIterator()
    stage.answerer.onServe = { $0.stream(feed, owner: owners.next()) }
    var callers: [TestClient] = []
    for count in 1...3 {
      callers.append(try stage.connect())
      try callers[count - 1].send("GET /events HTTP/1.1\r\nHost: x\r\n\r\n")
      try stage.runIteration { feed.viewers.count == count }
    }
    stage.server.endStreams(of: ["a"])
    try stage.runIteration {
      for caller in callers { try caller.readAvailable() }
      return callers[0].hasEnded && callers[2].hasEnded
    }
    #expect(!callers[1].hasEnded && feed.viewers.count == 1)
    callers = []
    try stage.runIteration { feed.viewers.isEmpty && stage.server.count == 0 }
  }
}
