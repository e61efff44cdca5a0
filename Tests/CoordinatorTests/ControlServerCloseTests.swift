// The end of the control socket: every request is answered, or fails at its client. A request that disappears
// in between would leave the client in doubt whether customers were added.

import Posix
import Testing
import Wire

@testable import Coordinator

@Suite("A control socket that closes")
struct ControlServerCloseTests {
  private func frame(_ message: ClientMessage) throws -> [UInt8] {
    var bytes: [UInt8] = []
    try FrameEncoder().append(message, to: &bytes, limit: FrameLimits.control)
    return bytes
  }

  @Test("it answers the requests that it has received, and accepts no more")
  func lastRequests() throws {
    let server = ControlServer(loop: try EventLoop(), build: "test")
    server.onCommand = { _, _ in Issue.record("nothing is started any more") }
    let pair = try UnixSocket.pair(nonBlocking: true)
    let far = pair.second
    try server.adopt(pair.first)
    try far.writeAll(try frame(.hello(Hello(build: "test", role: .client))))
    for number in 1...3 {
      try far.writeAll(try frame(.request(ControlRequest(number: UInt32(number), command: .ledger))))
    }
    // A list has one answer for all of its parts, and a withdrawal has none of its own.
    for _ in 1...2 {
      let part = EnqueueList(entries: [], isLast: false)
      try far.writeAll(try frame(.request(ControlRequest(number: 4, command: .enqueueList(part)))))
    }
    try far.writeAll(try frame(.request(ControlRequest(number: 5, command: .withdraw(4)))))
    server.close()
    let late = try frame(.request(ControlRequest(number: 6, command: .ledger)))
    let words = UnsafeMutableRawBufferPointer.allocate(byteCount: late.count, alignment: 1)
    defer { words.deallocate() }
    words.copyBytes(from: late)
    #expect(try far.send(UnsafeRawBufferPointer(words)) == .peerClosed)
    var decoder = FrameDecoder(maximumBodyLength: FrameLimits.control)
    decoder.append(try far.readAll()[...])
    var heard: [BankMessage] = []
    while let body = try decoder.next() {
      heard.append(try CBORDecoder().decode(BankMessage.self, from: body))
    }
    let refused = (1...4).map {
      BankMessage.reply(ControlReply(number: $0, answer: .failure(Failure(.notOpen))))
    }
    #expect(heard == [.welcome(Welcome(build: "test"))] + refused)
    #expect(server.sessions.isEmpty)
  }

  @Test("it answers a list once, however many parts of it were sent, and a withdrawal not at all")
  func parts() throws {
    let server = ControlServer(loop: try EventLoop(), build: "test")
    let pair = try UnixSocket.pair(nonBlocking: true)
    let far = pair.second
    try server.adopt(pair.first)
    try far.writeAll(try frame(.hello(Hello(build: "test", role: .client))))
    for isLast in [false, false, true] {
      let part = EnqueueList(entries: [], isLast: isLast)
      try far.writeAll(try frame(.request(ControlRequest(number: 1, command: .enqueueList(part)))))
    }
    try far.writeAll(try frame(.request(ControlRequest(number: 2, command: .withdraw(1)))))
    try far.writeAll(try frame(.request(ControlRequest(number: 3, command: .ledger))))
    server.close()
    var decoder = FrameDecoder(maximumBodyLength: FrameLimits.control)
    decoder.append(try far.readAll()[...])
    var answered: [UInt32] = []
    while let body = try decoder.next() {
      if case .reply(let reply) = try CBORDecoder().decode(BankMessage.self, from: body) {
        answered.append(reply.number)
      }
    }
    #expect(answered == [1, 3])
  }

  @Test("no client can send between the last request that is read and the end")
  func gap() throws {
    let loop = try EventLoop()
    let server = ControlServer(loop: loop, build: "test")
    let pair = try UnixSocket.pair(nonBlocking: true)
    let far = pair.second
    let session = try server.adopt(pair.first)
    // A client that does not read: the connection stays for a while after its last messages.
    session.isGreeted = true
    for _ in 0..<40 {
      session.channel.send(
        .refused(Refusal(reason: .malformed, build: "", detail: .init(repeating: "x", count: 10_000))))
    }
    server.close()
    #expect(!server.sessions.isEmpty, "the last messages are still in flight")
    let words = UnsafeMutableRawBufferPointer.allocate(byteCount: 8, alignment: 1)
    defer { words.deallocate() }
    #expect(try far.send(UnsafeRawBufferPointer(words)) == .peerClosed)
  }
}
