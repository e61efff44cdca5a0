// A client of a coordinator that answers, refuses, sends garbage, dies, or is silent. The other end is a
// socket of the test itself: most answers are there before their questions.
import BankModel
import Glibc
import Posix
import Testing
import Time
import Wire

@testable import ControlClient

/// The coordinator's end of a connection.
private struct RemotePeer: ~Copyable {
  let socket: FileDescriptor

  func say(_ message: BankMessage) throws {
    var bytes: [UInt8] = []
    try FrameEncoder().append(message, to: &bytes, limit: FrameLimits.control)
    try say(bytes)
  }

  func say(_ bytes: [UInt8]) throws { try socket.writeAll(bytes) }

  /// All messages of the client so far.
  func heard() throws -> [ClientMessage] {
    var decoder = FrameDecoder(maximumBodyLength: FrameLimits.control)
    try socket.setNonBlocking(true)
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 16)
    defer { buffer.deallocate() }
    while case .bytes(let count) = try socket.read(into: buffer) {
      decoder.append(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
    }
    var messages: [ClientMessage] = []
    while let body = try decoder.next() {
      messages.append(try CBORDecoder().decode(ClientMessage.self, from: body))
    }
    return messages
  }
}

private let welcome = BankMessage.welcome(Welcome(build: "another"))
private let quick = ControlConnection.Timeouts(hello: .milliseconds(50), stall: .milliseconds(50))

/// The error of a connection in which the coordinator sends these bytes and hangs up.
private func error(after messages: [BankMessage], bytes: [UInt8] = []) throws -> ControlError? {
  let pair = try UnixSocket.pair()
  let far = RemotePeer(socket: pair.second)
  for message in messages { try far.say(message) }
  try far.say(bytes)
  try UnixSocket.shutdownWriting(far.socket)
  do throws(ControlError) {
    let connection = try ControlConnection.greet(pair.first, timeouts: quick)
    while try connection.next(until: nil) != nil {}
    return nil
  } catch {
    return error
  }
}

@Test("another build with the same version of the protocol is welcome")
func otherBuild() throws {
  let pair = try UnixSocket.pair()
  let far = RemotePeer(socket: pair.second)
  try far.say(welcome)
  let connection = try ControlConnection.greet(pair.first, build: "mine")
  #expect(connection.coordinator.build == "another")
  #expect(try far.heard() == [.hello(Hello(build: "mine", role: .client))])
}

@Test("another version of the protocol is reported with both numbers")
func otherVersion() throws {
  let refusal = Refusal(reason: .version, version: 7, build: "new", detail: "")
  #expect(try error(after: [.refused(refusal)]) == .otherVersion(theirs: 7, build: "new"))
  #expect(
    try error(after: [.welcome(Welcome(version: 9, build: "x"))]) == .otherVersion(theirs: 9, build: "x"))
}

@Test("a refusal is reported, also in the middle of a connection")
func refusal() throws {
  let refusal = Refusal(reason: .crowded, build: "b", detail: "too many")
  #expect(try error(after: [.refused(refusal)]) == .refused(refusal))
  #expect(try error(after: [welcome, .refused(refusal)]) == .refused(refusal))
}

@Test("answers find their questions by number")
func numbers() throws {
  let pair = try UnixSocket.pair()
  let far = RemotePeer(socket: pair.second)
  try far.say(welcome)
  try far.say(.reply(ControlReply(number: 9, answer: .requeued(9), more: true)))
  try far.say(.reply(ControlReply(number: 2, answer: .requeued(2))))
  let connection = try ControlConnection.greet(pair.first)
  try connection.send(.follow)
  #expect(try connection.call(.requeueDead, within: .seconds(5)) == .requeued(2))
  #expect(
    try far.heard().dropFirst() == [
      .request(ControlRequest(number: 1, command: .follow)),
      .request(ControlRequest(number: 2, command: .requeueDead)),
    ])
}

@Test("the parts of one request share its number")
func parts() throws {
  let pair = try UnixSocket.pair()
  let far = RemotePeer(socket: pair.second)
  try far.say(welcome)
  let connection = try ControlConnection.greet(pair.first)
  let number = try connection.send(.enqueueList(EnqueueList(entries: [], isLast: false)))
  try connection.send(.enqueueList(EnqueueList(entries: [], isLast: true)), continuing: number)
  try connection.send(.status)
  let numbers = try far.heard().compactMap {
    if case .request(let request) = $0 { request.number } else { nil }
  }
  #expect(numbers == [1, 1, 2])
}

@Test("silence ends at the deadline, before the welcome and after it")
func silence() throws {
  let pair = try UnixSocket.pair()
  let far = RemotePeer(socket: pair.second)
  do throws(ControlError) {
    _ = try ControlConnection.greet(pair.first, timeouts: quick)
    Issue.record("there was no answer, and yet there is a connection")
  } catch {
    #expect(error == .noWelcome)
  }
  let other = try UnixSocket.pair()
  let talking = RemotePeer(socket: other.second)
  try talking.say(welcome)
  let connection = try ControlConnection.greet(other.first, timeouts: quick)
  #expect(try connection.next(until: SystemClock.monotonic() + .milliseconds(20)) == nil)
  #expect(throws: ControlError.timedOut(what: "a response")) {
    try connection.call(.status, within: .milliseconds(20))
  }
  withExtendedLifetime(far.socket.rawValue) {}
}

@Test("a frame that stops half way is not waited for, even without a deadline")
func halfFrame() throws {
  let pair = try UnixSocket.pair()
  let far = RemotePeer(socket: pair.second)
  try far.say(welcome)
  try far.say([0, 0, 0, 9, 0xA1])
  let connection = try ControlConnection.greet(pair.first, timeouts: quick)
  #expect(throws: ControlError.timedOut(what: "the rest of a message")) { try connection.next(until: nil) }
}

@Test("an end instead of an answer is a loss, and within a frame it is malformed")
func loss() throws {
  #expect(try error(after: [welcome]) == .lost)
  #expect(try error(after: []) == .lost)
  #expect(try error(after: [welcome], bytes: [0, 0]) == .malformed(detail: MessageDetail(.endsMidFrame)))
}

@Test(
  "an invalid message ends the connection",
  arguments: [
    [0, 0, 0, 0], [0xFF, 0xFF, 0xFF, 0xFF], [0, 0x20, 0, 0, 1], [0, 0, 0, 1, 0xFF], [0, 0, 0, 1, 0x01],
    [0, 0, 0, 3, 0xA1, 0x18, 0x63], Array("HTTP/1.1 400 Bad Request\r\n".utf8),
  ] as [[UInt8]])
func garbage(bytes: [UInt8]) throws {
  for messages in [[], [welcome]] {
    guard case .malformed? = try error(after: messages, bytes: bytes) else {
      Issue.record("\(bytes) after \(messages.count) messages was not found malformed")
      continue
    }
  }
}

@Test("an answer before the welcome, or a second welcome, is out of turn")
func outOfTurn() throws {
  let reply = BankMessage.reply(ControlReply(number: 1, answer: .requeued(1)))
  #expect(try error(after: [reply]) == .unexpected(detail: MessageDetail(.replyBeforeWelcome)))
  #expect(try error(after: [welcome, welcome]) == .unexpected(detail: MessageDetail(.secondWelcome)))
}

@Test("writing to a coordinator that is gone is a loss and not a signal")
func brokenPipe() throws {
  let pair = try UnixSocket.pair()
  let far = RemotePeer(socket: pair.second)
  try far.say(welcome)
  let connection = try ControlConnection.greet(pair.first)
  shutdown(far.socket.rawValue, CInt(SHUT_RDWR))
  #expect(throws: ControlError.lost) {
    for _ in 0..<100 { try connection.send(.status) }
  }
}

@Test("the last message of a coordinator explains more than the broken pipe")
func lastWords() throws {
  let pair = try UnixSocket.pair()
  let far = RemotePeer(socket: pair.second)
  try far.say(welcome)
  let connection = try ControlConnection.greet(pair.first)
  let refusal = Refusal(reason: .malformed, build: "b", detail: "out of turn")
  try far.say(.refused(refusal))
  shutdown(far.socket.rawValue, CInt(SHUT_RDWR))
  #expect(throws: ControlError.refused(refusal)) {
    for _ in 0..<100 { try connection.send(.status) }
  }
}

@Test("an answer that came before the loss was noticed is not lost with the connection")
func answerBeforeLoss() throws {
  let pair = try UnixSocket.pair()
  let far = RemotePeer(socket: pair.second)
  try far.say(welcome)
  let connection = try ControlConnection.greet(pair.first)
  let answer = ControlReply(number: 1, answer: .failure(Failure(.alreadyOpen, subject: "42")))
  try far.say(.reply(answer))
  shutdown(far.socket.rawValue, CInt(SHUT_RDWR))
  #expect(throws: ControlError.lost) {
    for _ in 0..<100 { try connection.send(.status) }
  }
  #expect(try connection.next(until: nil) == answer)
  #expect(throws: ControlError.lost) { _ = try connection.next(until: nil) }
}

@Test("a coordinator that does not read is not waited for without end")
func clogged() throws {
  let pair = try UnixSocket.pair()
  let far = RemotePeer(socket: pair.second)
  try far.say(welcome)
  let connection = try ControlConnection.greet(pair.first, timeouts: quick)
  let entry = EnqueueEntry(
    service: .loan, priority: .vip, amount: 1, account: 1, key: String(repeating: "k", count: 200))
  let part = EnqueueList(
    entries: Array(repeating: entry, count: EnqueueList.partLimit), isLast: false)
  #expect(throws: ControlError.timedOut(what: "it does not read the request")) {
    for _ in 0..<100 { try connection.send(.enqueueList(part)) }
  }
  withExtendedLifetime(far.socket.rawValue) {}
}

@Test("the end of a coordinator is noticed, and answers in flight are dropped")
func awaitEnd() throws {
  let pair = try UnixSocket.pair()
  let far = RemotePeer(socket: pair.second)
  try far.say(welcome)
  try far.say(.reply(ControlReply(number: 1, answer: .requeued(1))))
  let connection = try ControlConnection.greet(pair.first)
  #expect(!connection.awaitEnd(until: SystemClock.monotonic() + .milliseconds(20)))
  try UnixSocket.shutdownWriting(far.socket)
  #expect(connection.awaitEnd(until: SystemClock.monotonic() + .seconds(120)))
}
