// The contract of a channel whose peer may send lines, the same as that of frames: order, one end, bounded
// memory, and that a peer can end nothing but its channel.

import BankModel
import Posix
import Testing
import Time
import Wire

@testable import Transport

@Suite("A channel of lines") struct LineChannelTests {
  private let lease = Lease(ticket: 7, attempt: 1, generation: 3)
  private let done = #"{"done":{"ticket":7,"attempt":1,"generation":3}}"# + "\n"

  private func frame(_ message: some FrameMessage) throws -> [UInt8] {
    var bytes: [UInt8] = []
    try FrameEncoder().append(message, to: &bytes, limit: FrameLimits.teller)
    return bytes
  }

  private func order(_ payload: [UInt8]?) -> MessageToTeller {
    .assignWork(
      WorkItem(day: 1, lease: lease, service: .deposit, priority: 0, payload: payload, key: "k"))
  }

  private func words(_ tap: LineTap) throws -> String {
    guard case .malformed(let words)? = tap.ends.first else {
      Issue.record("ended with \(tap.ends)")
      return ""
    }
    return words
  }

  // MARK: The first byte

  @Test(
    "a peer whose first byte is a brace sends lines, and is answered in lines",
    arguments: ["", " ", "\n", "\r\n\t "])
  func lines(_ before: String) throws {
    let tap = try LineTap()
    #expect(tap.channel.encoding == nil)
    try tap.send(before + done + done)
    try tap.settle()
    #expect(tap.channel.encoding == .lines)
    #expect(tap.heard == [.done(lease), .done(lease)])
    tap.notify(.recall(lease))
    tap.notify(.acknowledged(lease))
    tap.notify(.close)
    #expect(
      try tap.readText() == #"{"recall":{"ticket":7,"attempt":1,"generation":3}}"# + "\n{\"close\":{}}\n",
      "what has no line is not sent")
    #expect(tap.ends.isEmpty && !tap.channel.hasUnflushedOutput)
  }

  @Test("a peer that starts with a length sends frames, and is answered in frames") func frames() throws {
    let tap = try LineTap()
    for byte in try frame(TellerMessage.done(lease)) { try tap.send([byte]) }
    try tap.settle()
    #expect(tap.channel.encoding == .frames)
    #expect(tap.heard == [.done(lease)])
    tap.notify(.acknowledged(lease))
    #expect(try tap.read() == frame(MessageToTeller.acknowledged(lease)))
    try tap.send(done)
    try tap.settle()
    #expect(tap.ends == [.oversized], "a brace is the start of a long frame")
  }

  @Test(
    "any other first byte ends the channel with an error",
    arguments: [0x01, 0x5b, 0x47, 0xef, 0xff] as [UInt8])
  func neither(_ byte: UInt8) throws {
    let tap = try LineTap()
    tap.channel.finalMessage = { _ in
      .refused(Refusal(reason: .malformed, build: "dev", detail: "neither"))
    }
    try tap.send([byte, 0x7b])
    try tap.settle()
    #expect(
      try words(tap) == "the first byte is \(byte), which starts neither a frame nor a line of JSON")
    #expect(try tap.readText() == #"{"refused":{"reason":"malformed","text":"neither"}}"# + "\n")
    #expect(tap.heard.isEmpty)
  }

  @Test("a channel for frames alone refuses a line as before") func framesAlone() throws {
    let tap = try LineTap(lineLimit: nil)
    #expect(tap.channel.encoding == .frames)
    try tap.send(done)
    try tap.settle()
    #expect(tap.ends == [.oversized])
  }

  @Test("a peer that has sent nothing is answered in a line") func silent() throws {
    let tap = try LineTap()
    tap.channel.send(.refused(Refusal(reason: .hello, build: "dev", detail: "no hello came")))
    tap.channel.closeAfterFlush()
    #expect(try tap.readText() == #"{"refused":{"reason":"hello","text":"no hello came"}}"# + "\n")
    #expect(tap.ends == [.closedLocally])
    let refusalFrame = LineTap.Channel.line(of: .close, limit: 100)
    #expect(refusalFrame == Array("{\"close\":{}}\n".utf8))
    #expect(LineTap.Channel.line(of: .closing, limit: 100).isEmpty)
    #expect(LineTap.Channel.line(of: .close, limit: 5).isEmpty)
  }

  // MARK: Receiving

  @Test("delivers a line that comes byte by byte, and recognises an incomplete one") func bytewise() throws {
    let tap = try LineTap()
    for (place, byte) in done.utf8.enumerated() {
      #expect(tap.heard.isEmpty && tap.channel.isMidFrame == (place > 0))
      try tap.send([byte])
    }
    #expect(tap.heard == [.done(lease)] && !tap.channel.isMidFrame)
  }

  @Test("delivers a line of a mebibyte, and many of them", arguments: [1, 5]) func long(_ count: Int) throws {
    let tap = try LineTap()
    let text = String(repeating: "열", count: (1 << 20) / 3)
    let line = #"{"done":{"ticket":7,"attempt":1,"generation":3,"result":"\#(text)"}}"# + "\n"
    for _ in 0..<count { try tap.send(line) }
    try tap.settle()
    #expect(tap.heard.count == count && tap.ends.isEmpty)
    guard case .worked(_, let result)? = tap.heard.last else {
      Issue.record("received \(tap.heard.count)")
      return
    }
    #expect(result.output.length == Int64(text.utf8.count) && result.output.isCut)
  }

  @Test("a line beyond the limit ends the channel before its end arrives") func oversized() throws {
    let tap = try LineTap(lineLimit: 100)
    try tap.send(done + String(repeating: " ", count: 101))
    try tap.settle()
    #expect(tap.heard == [.done(lease)] && tap.ends == [.oversized])
  }

  @Test("an incomplete line at the end of the file is not a message", arguments: [true, false])
  func half(isWholeObject: Bool) throws {
    let tap = try LineTap()
    try tap.send(done + (isWholeObject ? String(done.dropLast()) : #"{"done":"#))
    tap.hangUp()
    try tap.settle()
    #expect(tap.heard == [.done(lease)] && tap.ends == [.truncatedMessage])
  }

  @Test("the end after a line is a clean end") func endOfFile() throws {
    let tap = try LineTap()
    try tap.send(done)
    tap.hangUp()
    try tap.settle()
    #expect(tap.heard == [.done(lease)] && tap.ends == [.endOfFile])
  }

  @Test("a malformed line ends the channel with an error, after earlier messages and a last message")
  func malformed() throws {
    let tap = try LineTap()
    tap.channel.finalMessage = { end in
      .refused(Refusal(reason: .malformed, build: "dev", detail: end.description))
    }
    tap.channel.send(.recall(lease))
    try tap.send(done + #"{"done":{"ticket":"seven"}}"# + "\n" + done)
    try tap.settle()
    #expect(tap.heard == [.done(lease)] && tap.ends.count == 1)
    let words = try words(tap)
    #expect(words == "refused the line at byte 18: 'ticket' has to be a whole number")
    let said = try tap.readText().split(separator: "\n")
    #expect(said.count == 2, "earlier messages are sent first")
    #expect(said.last?.contains(words) == true, "\(said)")
  }

  @Test("invalid UTF-8 is malformed") func notUTF8() throws {
    let tap = try LineTap()
    try tap.send(Array("{\"ready\":{\"a\":\"".utf8) + [0xc3, 0x28] + Array("\"}}\n".utf8))
    try tap.settle()
    #expect(try words(tap) == "refused the line at byte 15: it is not valid UTF-8")
  }

  @Test("delivers nothing while paused, and the rest when reading is resumed") func pause() throws {
    let tap = try LineTap()
    tap.channel.onMessage = { [unowned tap] in
      tap.heard.append($0)
      if tap.heard.count == 2 { tap.channel.pauseReading() }
    }
    try tap.send(String(repeating: done, count: 4))
    try tap.settle()
    try tap.send(done)
    #expect(tap.heard.count == 2 && tap.channel.isMidFrame)
    tap.channel.resumeReading()
    #expect(tap.heard.count == 4)
    try tap.settle()
    #expect(tap.heard.count == 5 && !tap.channel.isMidFrame)
  }

  @Test("reads its peer to the end and then no more") func hearsOut() throws {
    let tap = try LineTap()
    try tap.far!.writeAll(Array(String(repeating: done, count: 500).utf8) + Array("{\"re".utf8))
    tap.channel.drainInput()
    #expect(tap.heard.count == 500 && tap.ends.isEmpty)
    tap.channel.send(.close)
    tap.channel.closeAfterFlush()
    #expect(try tap.readText() == "{\"close\":{}}\n")
    #expect(tap.ends == [.closedLocally])
  }

  // MARK: Sending

  @Test("keeps what a slow reader does not take, and continues when it does") func slowReader() throws {
    let tap = try LineTap(backlogLimit: 64 << 20)
    try tap.send("{\"ready\":{}}\n")
    try tap.settle()
    var drained = 0
    tap.channel.onDrained = { drained += 1 }
    let payload = [UInt8](repeating: 0x79, count: 10_000)
    for _ in 0..<500 { tap.channel.send(order(payload)) }
    tap.channel.flush()
    #expect(tap.channel.backlog > 0)
    var bytes: [UInt8] = []
    while tap.channel.backlog > 0 {
      bytes += try tap.read(limit: 50_000)
      try tap.settle()
    }
    bytes += try tap.read(limit: 8 << 20)
    let line = LineTap.Channel.line(of: order(payload), limit: LineLimits.worker)
    #expect(bytes.count == 500 * line.count && bytes.suffix(line.count) == line[...])
    #expect(drained == 1 && tap.ends.isEmpty)
  }

  @Test("ends when more than the backlog waits for a peer that does not read") func backlog() throws {
    let tap = try LineTap(backlogLimit: 20_000)
    try tap.send("{\"ready\":{}}\n")
    try tap.settle()
    var sent = 0
    while sent < 10_000, tap.ends.isEmpty {
      tap.notify(order([UInt8](repeating: 1, count: 1_000)))
      #expect(tap.channel.backlog < 27_000)
      sent += 1
    }
    #expect(tap.ends == [.backlogExceeded] && sent < 10_000)
  }

  @Test("the largest payload fits a line, with any bytes; a longer line is a bug of this side")
  func largest() throws {
    for byte: UInt8 in [0x01, 0x79, 0xff] {
      let message = order([UInt8](repeating: byte, count: Limits.payloadLength))
      #expect(!LineTap.Channel.line(of: message, limit: LineLimits.worker).isEmpty, "\(byte)")
    }
    let tap = try LineTap(lineLimit: 50)
    tap.channel.send(order([UInt8](repeating: 0x79, count: 100)))
    #expect(tap.ends.isEmpty)
    tap.channel.flush()
    guard case .unsendable? = tap.ends.first else {
      Issue.record("ended with \(tap.ends)")
      return
    }
  }
}
