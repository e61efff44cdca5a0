// The text that a worker program writes beside its channel, in the coordinator: lines of any bytes, in
// bounds.

import Glibc
import Posix
import Testing
import Time

@testable import Coordinator

@Suite("Output of a worker program") struct WorkerSpeechTests {
  private final class Ear {
    let loop: EventLoop
    let speech: WorkerSpeech
    private var end: FileDescriptor?
    private(set) var lines: [[UInt8]] = []
    private(set) var omitted: [Int64] = []

    init() throws {
      loop = try EventLoop()
      let pipe = try DescriptorPair.pipe()
      speech = try WorkerSpeech(pipe.first, on: loop)
      let writer = pipe.second
      try writer.setNonBlocking(true)
      end = consume writer
      speech.onLine = { [unowned self] in lines.append($0) }
      speech.onOmitted = { [unowned self] in omitted.append($0) }
    }

    /// Writes all of it, whatever a pipe holds.
    func say(_ bytes: [UInt8]) throws {
      var rest = bytes[...]
      while !rest.isEmpty {
        let result = try rest.withUnsafeBytes { try end?.write($0) ?? .wouldBlock }
        switch result {
        case .bytes(let count): rest = rest.dropFirst(count)
        case .wouldBlock: break
        case .peerClosed: throw SystemError(call: "write", subject: "pipe", code: EPIPE)
        }
        try loop.runOnce(until: SystemClock.monotonic() + .milliseconds(1))
      }
    }

    func hangUp() { end = nil }
    var texts: [String] { lines.map { String(decoding: $0, as: UTF8.self) } }
  }

  @Test("lines are passed on as they come, and the rest at the end")
  func lines() throws {
    let ear = try Ear()
    try ear.say(Array("one\ntwo".utf8))
    #expect(ear.texts == ["one"])
    try ear.say(Array(" and\n\n".utf8) + [0xff, 0x0a] + Array("half".utf8))
    #expect(ear.lines == [Array("one".utf8), Array("two and".utf8), [], [0xff]])
    ear.speech.finish()
    #expect(ear.texts.last == "half" && ear.omitted.isEmpty)
    #expect(ear.speech.lastWords == "\u{fffd} | half", "an empty line is not a reason")
  }

  @Test(
    "endless output costs no more than the bounds, and its last lines are passed on")
  func flood() throws {
    let ear = try Ear()
    // As much as reading it takes in less than a second on any machine, and far more than is passed on in
    // one.
    for _ in 0..<20 { try ear.say([UInt8](repeating: 0x78, count: 100_000) + [0x0a]) }
    for number in 1...2_000 { try ear.say(Array("line \(number)\n".utf8)) }
    try ear.say(Array("ModuleNotFoundError: nosuchmodule\u{1b}[0m\n".utf8))
    ear.hangUp()
    ear.speech.finish()
    #expect(ear.lines.allSatisfy { $0.count <= WorkerSpeech.longestLine + 1 })
    #expect(Int64(ear.lines.count) + ear.omitted.reduce(0, +) == 2_021, "each line is passed on or counted")
    #expect(ear.texts.last?.hasPrefix("ModuleNotFoundError") == true)
    #expect(
      ear.speech.lastWords == "line 1999 | line 2000 | ModuleNotFoundError: nosuchmodule [0m",
      "no control character reaches a terminal")
  }

  @Test("a program that is killed while its children hold the pipe is not waited for")
  func held() throws {
    let ear = try Ear()
    try ear.say(Array("last\n".utf8))
    ear.speech.finish()
    #expect(ear.texts == ["last"])
    // The reading end is closed: a later write fails.
    Signals.ignorePipe()
    #expect(throws: SystemError.self) { try ear.say([0x0a]) }
  }
}
