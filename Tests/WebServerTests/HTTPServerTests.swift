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
private final class Answerer: HTTPHandler {
  var served: [HTTPExchange] = []
  var onServe: ((HTTPExchange) -> Void)?
  func admit(_ request: HTTPRequest) -> HTTPResponse? {
    request.target.path == "/forbidden" ? .words(403, "no") : nil
  }
  func answer(refused status: Int, _ request: HTTPRequest) -> HTTPResponse { .words(status, "refused") }
  func serve(_ exchange: HTTPExchange) {
    served.append(exchange)
    if let onServe { onServe(exchange) } else { exchange.respond(.words(200, exchange.request.target.path)) }
  }
}

/// A feed whose items the test adds.
private final class Feed: EventFeed {
  var items: [EventBytes] = []
  var viewers: [ObjectIdentifier: EventViewer] = [:]
  func join(_ viewer: EventViewer) { viewers[ObjectIdentifier(viewer)] = viewer }
  func next(for viewer: EventViewer) -> EventBytes? {
    guard viewer.place < items.count else { return nil }
    viewer.place += 1
    return items[Int(viewer.place) - 1]
  }
  func leave(_ viewer: EventViewer) { viewers[ObjectIdentifier(viewer)] = nil }
  func say(_ text: String) {
    items.append(EventBytes(Array(text.utf8)))
    for viewer in viewers.values { viewer.wake() }
  }
}

/// A server and its clients on one loop.
private final class Stage {
  let loop: EventLoop
  let server: HTTPServer
  let answerer = Answerer()

  init(_ limits: HTTPServer.Limits = HTTPServer.Limits()) throws {
    loop = try EventLoop()
    server = try HTTPServer(loop: loop, limits: limits)
    server.handler = answerer
  }

  func connect(isLocal: Bool = true) throws -> Caller {
    let pair = try UnixSocket.pair(nonBlocking: true)
    server.take(pair.first, isLocal: isLocal)
    return Caller(pair.second, self)
  }

  func turn() throws {
    let deadline = SystemClock.monotonic() + .milliseconds(20)
    try loop.runOnce(until: .earliest(server.nextDeadline, deadline))
    server.endTurn(SystemClock.monotonic())
  }

  func turn(until condition: () throws -> Bool) throws {
    let end = SystemClock.monotonic() + .seconds(120)
    while try !condition() {
      try #require(SystemClock.monotonic() < end, "the condition does not hold in time")
      try turn()
    }
  }
}

private final class Caller {
  private let socket: FileDescriptor
  private let stage: Stage
  private(set) var heard = ""
  private(set) var hasEnded = false

  init(_ socket: consuming FileDescriptor, _ stage: Stage) {
    self.socket = socket
    self.stage = stage
  }

  func say(_ text: String) throws { _ = try Array(text.utf8).withUnsafeBytes { try socket.send($0) } }

  /// Sends all of it, as the server takes it; returns the number of bytes that could be sent.
  func sayAll(_ text: String) throws -> Int {
    let bytes = Array(text.utf8)
    var sent = 0
    try stage.turn {
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

  func listen() throws {
    var chunk = [UInt8](repeating: 0, count: 16 << 10)
    while true {
      switch try chunk.withUnsafeMutableBytes({ try socket.receive(into: $0) }) {
      case .bytes(let count): heard += String(decoding: chunk[..<count], as: UTF8.self)
      case .wouldBlock: return
      case .endOfFile:
        hasEnded = true
        return
      }
    }
  }

  /// Receives until a text has come, or the end.
  @discardableResult
  func hear(_ text: String) throws -> String {
    try stage.turn {
      try listen()
      return heard.contains(text) || hasEnded
    }
    return heard
  }

  func ask(_ request: String) throws -> String {
    heard = ""
    try say(request)
    return try hear("\r\n\r\n")
  }
}

@Suite("The HTTP server")
struct HTTPServerTests {
  private func status(_ answer: String) -> String { String(answer.dropFirst(9).prefix(3)) }

  @Test("a request is answered, and the connection stays for the next")
  func simple() throws {
    let stage = try Stage()
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
    let stage = try Stage()
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
    let stage = try Stage()
    let caller = try stage.connect()
    let body = String(repeating: "b", count: 64 << 10)
    #expect(
      status(
        try caller.ask("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: \(body.utf8.count)\r\n\r\n" + body))
        == "200")
    #expect(stage.answerer.served.last?.request.body.count == 64 << 10)
    let other = try stage.connect()
    try other.say("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
    for _ in 0..<9 {
      try other.say("2000\r\n" + String(repeating: "c", count: 0x2000) + "\r\n")
      try stage.turn()
    }
    #expect(status(try other.ask("0\r\n\r\n")) == "413")
    #expect(stage.answerer.served.count == 1)
  }

  @Test("a client that sends a request too slowly is disconnected; so is a silent one")
  func slow() throws {
    var limits = HTTPServer.Limits()
    limits.request = .milliseconds(200)
    let stage = try Stage(limits)
    let silent = try stage.connect()
    let slow = try stage.connect()
    try slow.say("GET / HTTP/1.1\r\nHo")
    try stage.turn {
      if !slow.hasEnded { try? slow.say("s") }
      try slow.listen()
      try silent.listen()
      return slow.hasEnded && silent.hasEnded
    }
    try stage.turn { stage.server.count == 0 }
    #expect(stage.server.nextDeadline == nil)
  }

  @Test("an answer may come later, and a client that has left meanwhile costs nothing more")
  func later() throws {
    let stage = try Stage()
    stage.answerer.onServe = { _ in }
    var gone: Caller? = try stage.connect()
    let caller = try stage.connect()
    try gone?.say("GET /gone HTTP/1.1\r\nHost: x\r\n\r\n")
    try caller.say("GET /later HTTP/1.1\r\nHost: x\r\n\r\n")
    try stage.turn { stage.answerer.served.count == 2 }
    gone = nil
    for exchange in stage.answerer.served { exchange.respond(.words(200, "at last")) }
    #expect(try caller.hear("at last").contains("at last"))
    try stage.turn { stage.server.count == 1 }
  }

  @Test(
    "many viewers get the same in order; a lost one is found by the next write, none wakes for nothing"
  )
  func streams() throws {
    let stage = try Stage()
    let feed = Feed()
    stage.answerer.onServe = { $0.stream(feed) }
    var callers = try (0..<100).map { _ in try stage.connect() }
    for caller in callers { try caller.say("GET /events HTTP/1.1\r\nHost: x\r\n\r\n") }
    try stage.turn { feed.viewers.count == 100 }
    let long = String(repeating: "x", count: 40_000)
    for text in ["first;", long, ";last\n"] { feed.say(text) }
    // The head is complete, although the library is set to forget it when the first bytes are written.
    for caller in callers {
      let heard = try caller.hear(";last")
      #expect(HTTPResponse.events.headers.allSatisfy { heard.contains("\($0.name): \($0.value)\r\n") })
    }
    #expect(stage.server.nextDeadline == nil)
    callers.removeLast(60)
    for viewer in feed.viewers.values { viewer.pulse() }
    try stage.turn { feed.viewers.count == 40 }
    #expect(try callers[0].hear(":\n\n").contains(":\n\n"))
    for viewer in feed.viewers.values { viewer.end() }
    try stage.turn { feed.viewers.isEmpty }
    try stage.turn {
      try callers[0].listen()
      return callers[0].hasEnded
    }
  }

  @Test("a viewer who reads nothing is disconnected after some pulses")
  func deaf() throws {
    let stage = try Stage()
    let feed = Feed()
    stage.answerer.onServe = { $0.stream(feed) }
    let caller = try stage.connect()
    try caller.say("GET /events HTTP/1.1\r\nHost: x\r\n\r\n")
    try stage.turn { feed.viewers.count == 1 }
    feed.say(String(repeating: "y", count: 8 << 20))
    for _ in 0..<6 {
      for _ in 0..<3 { try stage.turn() }
      for viewer in feed.viewers.values { viewer.pulse() }
    }
    try stage.turn { feed.viewers.isEmpty && stage.server.count == 0 }
  }

  @Test("a server that ends disconnects all clients, whatever they wait for")
  func end() throws {
    let stage = try Stage()
    let feed = Feed()
    stage.answerer.onServe = { if $0.request.target.path == "/events" { $0.stream(feed) } }
    let viewer = try stage.connect()
    let waiting = try stage.connect()
    let idle = try stage.connect()
    try viewer.say("GET /events HTTP/1.1\r\nHost: x\r\n\r\n")
    try waiting.say("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    try stage.turn { feed.viewers.count == 1 && stage.answerer.served.count == 2 }
    stage.server.close()
    try stage.turn {
      for caller in [viewer, waiting, idle] { try caller.listen() }
      return viewer.hasEnded && waiting.hasEnded && idle.hasEnded
    }
  }

  @Test(
    "a request with 14 kB of cookies is answered, also repeated; one with more is refused, once")
  func cookies() throws {
    let stage = try Stage()
    let caller = try stage.connect()
    for count in [1_500, 5_000, 14_000, 300] {
      let answer = try caller.ask(
        "GET /a HTTP/1.1\r\nHost: x\r\nCookie: a=\(String(repeating: "c", count: count))\r\n\r\n")
      #expect(status(answer) == "200", "\(count)")
    }
    for count in [17_000, 40_000, 100_000] {
      let other = try stage.connect()
      _ = try other.sayAll(
        "GET /a HTTP/1.1\r\nHost: x\r\nCookie: a=\(String(repeating: "c", count: count))\r\n\r\n")
      try stage.turn {
        try other.listen()
        return other.hasEnded
      }
      #expect(status(other.heard) == "431", "\(count)")
      #expect(
        other.heard.components(separatedBy: "HTTP/1.1").count == 2, "one head and no second one as text")
      #expect(other.heard.contains("Content-Type: text/plain") && other.heard.hasSuffix("refused\n"))
    }
    #expect(stage.answerer.served.count == 4)
  }

  @Test("a head that comes in pieces is put together, and one that never comes gets an error")
  func pieces() throws {
    var limits = HTTPServer.Limits()
    limits.request = .seconds(2)
    let stage = try Stage(limits)
    let caller = try stage.connect()
    for piece in ["GET /a HT", "TP/1.1\r\nHo", "st: x\r\n\r", "\n"] {
      try caller.say(piece)
      try stage.turn()
    }
    #expect(status(try caller.hear("\r\n\r\n")) == "200")
    let slow = try stage.connect()
    try slow.say("GET / HTTP/1.1\r\n")
    #expect(status(try slow.hear("refused")) == "408")
  }

  @Test("silent connections shut out no other one, nor the socket in the home")
  func idle() throws {
    var limits = HTTPServer.Limits()
    (limits.waiting, limits.connections) = (20, 10)
    let stage = try Stage(limits)
    let silent = try (0..<60).map { _ in try stage.connect(isLocal: false) }
    #expect(stage.server.count == 20)
    let kept = try (0..<30).map { _ in
      let caller = try stage.connect(isLocal: false)
      #expect(status(try caller.ask("GET /a HTTP/1.1\r\nHost: x\r\n\r\n")) == "200")
      return caller
    }
    try stage.turn { stage.server.count <= 30 }
    let local = try stage.connect(isLocal: true)
    #expect(status(try local.ask("GET /b HTTP/1.1\r\nHost: x\r\n\r\n")) == "200")
    try kept[0].listen()
    #expect(kept[0].hasEnded, "the one that was idle the longest is closed")
    withExtendedLifetime(silent) {}
  }

  @Test("a refused request is read, so that its client gets the reason")
  func refusedBody() throws {
    let stage = try Stage()
    for (path, count, expected) in [("/forbidden", 60 << 10, "403"), ("/a", 3 << 20, "413")] {
      let body = String(repeating: "b", count: count)
      let caller = try stage.connect()
      let head = "POST \(path) HTTP/1.1\r\nHost: x\r\nContent-Length: \(body.utf8.count)\r\n\r\n"
      #expect(try caller.sayAll(head + body) == head.utf8.count + body.utf8.count, "the pipe broke")
      #expect(status(try caller.hear("\r\n\r\n")) == expected)
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
    let stage = try Stage()
    let feed = Feed()
    var owners = ["a", "b", "a"].makeIterator()
    stage.answerer.onServe = { $0.stream(feed, owner: owners.next()) }
    var callers: [Caller] = []
    for count in 1...3 {
      callers.append(try stage.connect())
      try callers[count - 1].say("GET /events HTTP/1.1\r\nHost: x\r\n\r\n")
      try stage.turn { feed.viewers.count == count }
    }
    stage.server.endStreams(of: ["a"])
    try stage.turn {
      for caller in callers { try caller.listen() }
      return callers[0].hasEnded && callers[2].hasEnded
    }
    #expect(!callers[1].hasEnded && feed.viewers.count == 1)
    callers = []
    try stage.turn { feed.viewers.isEmpty && stage.server.count == 0 }
  }
}
