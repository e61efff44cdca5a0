// The contract of the channel: order, one end, bounded memory, and that a peer can end nothing but its
// channel.

import Posix
import Testing
import Time
import Wire

@testable import Transport

@Suite("A message channel") struct MessageChannelTests {
  // MARK: Receiving

  @Test("delivers a message that arrives byte by byte") func bytewise() throws {
    let tap = try Wiretap()
    let bytes = try frame(Note(7, "일곱"))
    for (place, byte) in bytes.enumerated() {
      #expect(tap.notes.isEmpty)
      #expect(tap.channel.isMidFrame == (place > 0))
      try tap.send([byte])
      try tap.settle()
    }
    #expect(tap.notes == [Note(7, "일곱")])
    #expect(!tap.channel.isMidFrame)
  }

  @Test("delivers arrived messages to a caller before the loop does, also the end") func now() throws {
    let tap = try Wiretap()
    #expect(!tap.channel.receiveNow())
    let bytes = try frame(Note(7, "일곱"))
    try tap.send(bytes.prefix(5))
    #expect(tap.channel.receiveNow() && tap.notes.isEmpty)
    try tap.send(bytes.dropFirst(5))
    #expect(tap.channel.receiveNow() && tap.notes == [Note(7, "일곱")])
    tap.channel.pauseReading()
    try tap.send(bytes)
    #expect(!tap.channel.receiveNow() && tap.notes.count == 1)
    tap.channel.resumeReading()
    #expect(tap.channel.receiveNow() && tap.notes.count == 2)
    tap.hangUp()
    #expect(tap.channel.receiveNow() && tap.ends.count == 1)
    #expect(!tap.channel.receiveNow())
  }

  @Test("reads its peer to the end and then no more: later messages fail there", arguments: [false, true])
  func hearsOut(isPaused: Bool) throws {
    let tap = try Wiretap()
    let notes = (1...2_000).map { Note($0, "note") }
    try tap.send(try notes.flatMap { try frame($0) } + [0, 0])
    if isPaused { tap.channel.pauseReading() }
    tap.channel.drainInput()
    #expect(tap.notes == notes && tap.ends.isEmpty)
    let late = try frame(Note(9))
    let sent = try late.withUnsafeBytes { try tap.far!.send($0) }
    #expect(sent == .peerClosed, "the sender learns that they are not read")
    tap.channel.send(Note(7, "goodbye"))
    try tap.settle()
    #expect(tap.ends.isEmpty, "the end that was read is this side's own")
    tap.channel.closeAfterFlush()
    #expect(try tap.handle() == frame(Note(7, "goodbye")))
    #expect(tap.ends == [.closedLocally] && tap.notes.count == 2_000)
  }

  @Test("delivers many messages of one write in order") func many() throws {
    let tap = try Wiretap()
    let sent = (1...1000).map { Note($0, "note") }
    try tap.send(try sent.flatMap { try frame($0) })
    try tap.settle()
    #expect(tap.notes == sent)
    #expect(tap.ends.isEmpty)
  }

  @Test("delivers a message longer than one read") func long() throws {
    let tap = try Wiretap()
    let note = Note(1, String(repeating: "x", count: 150_000))
    let bytes = try frame(note)
    for begin in stride(from: 0, to: bytes.count, by: 60_000) {
      try tap.send(bytes[begin..<min(begin + 60_000, bytes.count)])
      try tap.settle()
    }
    #expect(tap.notes == [note])
  }

  @Test("reports since when the peer is silent") func silence() throws {
    let tap = try Wiretap()
    let made = tap.channel.lastReceiveAt
    try tap.send([0])
    try tap.settle()
    #expect(tap.channel.lastReceiveAt > made)
  }

  // MARK: Sending

  @Test("writes nothing before a flush, then everything at once") func batches() throws {
    let tap = try Wiretap()
    for number in 1...100 { tap.channel.send(Note(number)) }
    #expect(try tap.handle().isEmpty)
    #expect(tap.channel.hasUnflushedOutput)
    tap.channel.flush()
    #expect(!tap.channel.hasUnflushedOutput)
    #expect(try notes(in: tap.handle()) == (1...100).map { Note($0) })
  }

  @Test("keeps what a slow reader does not take, and continues when it does") func slowReader() throws {
    let tap = try Wiretap(backlogLimit: 64 << 20)
    var drained = 0
    tap.channel.onDrained = { drained += 1 }
    let sent = (1...2000).map { Note($0, String(repeating: "y", count: 1000)) }
    for note in sent { tap.channel.send(note) }
    tap.channel.flush()
    #expect(tap.channel.backlog > 0)
    var heard: [UInt8] = []
    while tap.channel.backlog > 0 {
      heard += try tap.handle(limit: 50_000)
      try tap.settle()
    }
    heard += try tap.handle(limit: 8 << 20)
    #expect(try notes(in: heard) == sent)
    #expect(drained == 1)
    #expect(tap.ends.isEmpty)
  }

  @Test("ends when more than the backlog waits for a peer that does not read") func backlog() throws {
    let tap = try Wiretap(backlogLimit: 10_000)
    var sent = 0
    while sent < 10_000, tap.ends.isEmpty {
      tap.channel.send(Note(sent, String(repeating: "z", count: 1000)))
      #expect(tap.channel.backlog < 12_000)
      tap.channel.flush()
      sent += 1
    }
    #expect(tap.ends == [.backlogExceeded])
    #expect(sent < 10_000)
  }

  @Test("a burst larger than the backlog is not a backlog if the kernel takes it") func burst() throws {
    let tap = try Wiretap(backlogLimit: 1_000)
    for number in 1...200 { tap.channel.send(Note(number, String(repeating: "b", count: 100))) }
    tap.channel.flush()
    #expect(tap.ends.isEmpty)
    #expect(try notes(in: tap.handle()).count == 200)
  }

  @Test("a message that is too long to be sent ends the channel at the flush, and not before")
  func unsendable()
    throws
  {
    let tap = try Wiretap(frameLimit: 100)
    tap.channel.send(Note(1, String(repeating: "x", count: 200)))
    #expect(tap.ends.isEmpty)
    tap.channel.flush()
    guard case .unsendable = try #require(tap.ends.first) else {
      Issue.record("ended with \(tap.ends)")
      return
    }
  }

  // MARK: Ends

  @Test("the end between two messages is a clean end") func endOfFile() throws {
    let tap = try Wiretap()
    try tap.send(try frame(Note(1)))
    tap.hangUp()
    try tap.settle()
    #expect(tap.notes == [Note(1)])
    #expect(tap.ends == [.endOfFile])
    #expect(!tap.channel.isOpen)
    #expect(tap.loop.count == 0)
  }

  @Test("the end within a message is reported as such") func midFrame() throws {
    let tap = try Wiretap()
    try tap.send(try frame(Note(1)) + frame(Note(2)).dropLast())
    tap.hangUp()
    try tap.settle()
    #expect(tap.notes == [Note(1)])
    #expect(tap.ends == [.truncatedMessage])
  }

  @Test("garbage ends the channel with an error, after earlier messages") func garbage() throws {
    let tap = try Wiretap()
    try tap.send(try frame(Note(1)) + [0, 0, 0, 2, 0xff, 0xff] + frame(Note(2)))
    try tap.settle()
    #expect(tap.notes == [Note(1)])
    guard case .malformed(let words) = try #require(tap.ends.first) else {
      Issue.record("ended with \(tap.ends)")
      return
    }
    #expect(!words.isEmpty)
    #expect(tap.ends.count == 1)
  }

  @Test(
    "an empty frame, and a message of another type, are malformed",
    arguments: [[0, 0, 0, 0], [0, 0, 0, 1, 0x01]])
  func malformed(_ bytes: [UInt8]) throws {
    let tap = try Wiretap()
    try tap.send(bytes)
    try tap.settle()
    guard case .malformed = try #require(tap.ends.first) else {
      Issue.record("ended with \(tap.ends)")
      return
    }
  }

  @Test("a length beyond the limit ends the channel as soon as it is read") func oversized() throws {
    let tap = try Wiretap()
    try tap.send([0xff, 0xff, 0xff, 0xff])
    try tap.settle()
    #expect(tap.ends == [.oversized])
  }

  @Test("random bytes never trap") func random() throws {
    let seed = Environment.value("TRANSPORT_SEED").flatMap { UInt64($0) } ?? RandomSeed.fromSystem()
    print(
      "random bytes: seed \(seed); repeat: TRANSPORT_SEED=\(seed) swift test --filter MessageChannelTests")
    var state = seed | 1
    func next() -> UInt8 {
      state ^= state << 13
      state ^= state >> 7
      state ^= state << 17
      return UInt8(truncatingIfNeeded: state >> 32)
    }
    for _ in 0..<200 {
      let tap = try Wiretap()
      let body = (0..<Int(next() % 40) + 1).map { _ in next() }
      try tap.send([0, 0, 0, UInt8(body.count)] + body)
      tap.hangUp()
      try tap.settle()
      #expect(tap.ends.count == 1)
    }
  }

  @Test("messages of a peer that has died are delivered, although writing to it fails") func lastWords()
    throws
  {
    let tap = try Wiretap()
    try tap.send(try frame(Note(9)))
    tap.hangUp()
    tap.channel.send(Note(1))
    tap.channel.flush()
    #expect(tap.ends.isEmpty)
    try tap.settle()
    #expect(tap.notes == [Note(9)])
    #expect(tap.ends == [.endOfFile])
  }

  // MARK: Closing

  @Test("a handler may close in the middle of a delivery") func closeInside() throws {
    let tap = try Wiretap()
    tap.channel.onMessage = { [unowned tap] in
      tap.notes.append($0)
      if $0.number == 2 { tap.channel.close() }
    }
    try tap.send(try (1...5).flatMap { try frame(Note($0)) })
    try tap.settle()
    #expect(tap.notes.map(\.number) == [1, 2])
    #expect(tap.ends == [.closedLocally])
  }

  @Test("a handler may drop the last reference to its channel") func dropInside() throws {
    let loop = try EventLoop()
    let pair = try UnixSocket.pair()
    var channel: NoteChannel? = try NoteChannel(
      descriptor: pair.first, loop: loop, incomingLimit: 100, backlogLimit: 100)
    weak let watched = channel
    var seen = 0
    channel?.onMessage = { _ in
      seen += 1
      channel = nil
    }
    let far = pair.second
    try far.writeAll(try frame(Note(1)) + frame(Note(2)))
    try loop.runOnce(until: MonotonicTime(nanoseconds: 0))
    #expect(seen >= 1)
    #expect(watched == nil)
    #expect(loop.count == 0)
  }

  @Test("a handler may be replaced by itself, as after a handshake") func replacedInside() throws {
    let tap = try Wiretap()
    var greetings = 0
    tap.channel.onMessage = { [unowned tap] _ in
      greetings += 1
      tap.channel.onMessage = { tap.notes.append($0) }
    }
    try tap.send(try (1...3).flatMap { try frame(Note($0)) })
    try tap.settle()
    #expect(greetings == 1)
    #expect(tap.notes.map(\.number) == [2, 3])
  }

  @Test("closing after the flush lets a slow peer read everything first") func closeAfterFlush() throws {
    let tap = try Wiretap(backlogLimit: 64 << 20)
    let sent = (1...1000).map { Note($0, String(repeating: "y", count: 1000)) }
    for note in sent { tap.channel.send(note) }
    tap.channel.closeAfterFlush()
    #expect(tap.ends.isEmpty)
    tap.channel.send(Note(-1))
    var heard: [UInt8] = []
    while tap.ends.isEmpty {
      heard += try tap.handle(limit: 100_000)
      try tap.settle()
    }
    heard += try tap.handle(limit: 8 << 20)
    #expect(try notes(in: heard) == sent)
    #expect(tap.ends == [.closedLocally])
  }

  @Test("closing after the flush does not wait for a peer that is gone") func closeAfterFlushGone() throws {
    let tap = try Wiretap(backlogLimit: 64 << 20)
    for number in 1...1000 { tap.channel.send(Note(number, String(repeating: "y", count: 1000))) }
    tap.channel.closeAfterFlush()
    #expect(tap.ends.isEmpty)
    tap.hangUp()
    try tap.settle()
    #expect(tap.ends == [.endOfFile])
  }

  @Test("everything after the end does nothing") func afterTheEnd() throws {
    let tap = try Wiretap()
    tap.channel.close()
    tap.channel.close()
    tap.channel.send(Note(1))
    tap.channel.flush()
    tap.channel.pauseReading()
    tap.channel.resumeReading()
    tap.channel.closeAfterFlush()
    #expect(tap.ends == [.closedLocally])
    #expect(!tap.channel.hasUnflushedOutput)
  }

  // MARK: Pausing

  @Test("delivers nothing while paused, and the rest when reading is resumed") func pause() throws {
    let tap = try Wiretap()
    tap.channel.onMessage = { [unowned tap] in
      tap.notes.append($0)
      if $0.number == 2 { tap.channel.pauseReading() }
    }
    try tap.send(try (1...4).flatMap { try frame(Note($0)) })
    try tap.settle()
    try tap.send(try frame(Note(5)))
    try tap.settle()
    #expect(tap.notes.map(\.number) == [1, 2])
    tap.channel.resumeReading()
    #expect(tap.notes.map(\.number) == [1, 2, 3, 4])
    try tap.settle()
    #expect(tap.notes.map(\.number) == [1, 2, 3, 4, 5])
  }

  @Test("a peer that hangs up during a pause wakes the loop once; its messages are read later")
  func hangUpWhilePaused() throws {
    let tap = try Wiretap()
    tap.channel.pauseReading()
    try tap.send(try frame(Note(1)))
    tap.hangUp()
    try tap.settle()
    #expect(tap.ends.isEmpty)
    tap.channel.resumeReading()
    try tap.settle()
    #expect(tap.notes == [Note(1)])
    #expect(tap.ends == [.endOfFile])
  }

  @Test("the build has a name") func build() {
    #expect(!BuildIdentity.current.isEmpty)
  }
}
