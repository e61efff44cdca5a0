// A coordinator that did not run for a while: all messages that wait in sockets are handled before any lease
// or client is judged, even if one poll of the sockets does not return all of them.

import Glibc
import Posix
import Testing
import Time
import Wire

@testable import Coordinator

@Suite("Messages before judgements")
struct SilenceTimeoutTests {
  @Test("the messages of all clients are handled, however many there are")
  func allClients() throws {
    let bank = try TestBank()
    let loop = bank.coordinator.context.loop
    // The time of an iteration counts in full, from the next poll of the sockets on.
    loop.trackListening(inStepsOf: .seconds(7_200))
    try loop.runOnce(until: SystemClock.monotonic())
    var hello: [UInt8] = []
    try FrameEncoder().append(
      ClientMessage.hello(Hello(build: "test", role: .client)), to: &hello, limit: FrameLimits.control)
    var others: [CInt] = []
    defer { others.forEach { close($0) } }
    for _ in 0..<300 {
      let pair = try UnixSocket.pair(nonBlocking: true)
      others.append(dup(pair.second.rawValue))
      _ = try bank.coordinator.server.adopt(FileDescriptor(owning: dup(pair.first.rawValue)))
      #expect(write(others[others.count - 1], hello, hello.count) == hello.count)
    }
    // An hour has passed in which no client was read.
    loop.trackListening(until: SystemClock.monotonic() + .seconds(3_600))
    try bank.coordinator.runIteration()
    let sessions = bank.coordinator.server.sessions.values
    #expect(sessions.count == 300 && sessions.count(where: \.isOpen) == 300)
    #expect(sessions.count(where: \.isGreeted) == 300)
  }

  @Test(
    "time without reading counts against no client, whether it sent nothing or half a message")
  func unattended() throws {
    let bank = try TestBank()
    let (loop, server) = (bank.coordinator.context.loop, bank.coordinator.server)
    var sessions: [ControlSession] = []
    var others: [CInt] = []
    defer { others.forEach { close($0) } }
    for words in [[], [0, 0]] as [[UInt8]] {
      let pair = try UnixSocket.pair(nonBlocking: true)
      others.append(dup(pair.second.rawValue))
      sessions.append(try server.adopt(FileDescriptor(owning: dup(pair.first.rawValue))))
      #expect(write(others[others.count - 1], words, words.count) == words.count)
    }
    sessions[1].isGreeted = true
    try loop.runOnce(until: SystemClock.monotonic())
    try #require(sessions[1].channel.isMidFrame)
    // Stopped for an hour, of which the time of a poll counts; and then for as long as a client may take.
    let begin = loop.moment()
    func pass(_ steady: TimeSpan, _ listeningTime: TimeSpan) {
      server.runTimers(
        Moment(
          monotonic: begin.monotonic + steady, wall: begin.wall,
          listeningTime: begin.listeningTime + listeningTime))
    }
    let limits = ClientLimits.ofSocket
    pass(.seconds(3_600), limits.check)
    #expect(sessions.count(where: \.isOpen) == 2)
    pass(.seconds(3_600), limits.check + limits.midFrame)
    #expect(sessions.count(where: \.isOpen) == 0)
  }
}
