// The text that a worker program writes beside its channel, in the coordinator: lines of any bytes, in
// bounds.

import Glibc
import Posix
import Testing
import Time

@testable import Coordinator

@Suite("Output of a worker program") struct WorkerOutputReaderTests {
  private final class OutputFixture {
    let loop: EventLoop
    let workerOutput: WorkerOutputReader
    private var end: FileDescriptor?
    private(set) var lines: [[UInt8]] = []
    private(set) var omitted: [Int64] = []

    init() throws {
      loop = try EventLoop()
      let pipe = try DescriptorPair.pipe()
      workerOutput = try WorkerOutputReader(pipe.first, on: loop)
      let writer = pipe.second
      try writer.setNonBlocking(true)
      end = consume writer
      workerOutput.onLine = { [unowned self] in lines.append($0) }
      workerOutput.onOmitted = { [unowned self] in omitted.append($0) }
    }

    /// Writes all of it, whatever a pipe holds.
    func write(_ bytes: [UInt8]) throws {
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

    func closePipe() { end = nil }
    var texts: [String] { lines.map { String(decoding: $0, as: UTF8.self) } }
  }

  @Test("lines are passed on as they come, and the rest at the end")
  func lines() throws {
    let fixture = try OutputFixture()
    try fixture.write(Array("one\ntwo".utf8))
    #expect(fixture.texts == ["one"])
    try fixture.write(Array(" and\n\n".utf8) + [0xff, 0x0a] + Array("half".utf8))
    #expect(fixture.lines == [Array("one".utf8), Array("two and".utf8), [], [0xff]])
    fixture.workerOutput.finish()
    #expect(fixture.texts.last == "half" && fixture.omitted.isEmpty)
    #expect(fixture.workerOutput.lastOutputText == "\u{fffd} | half", "an empty line is not a reason")
  }

  @Test(
    "endless output costs no more than the bounds, and its last lines are passed on")
  func flood() throws {
    let fixture = try OutputFixture()
    // As much as reading it takes in less than a second on any machine, and far more than is passed on in
    // one.
    for _ in 0..<20 { try fixture.write([UInt8](repeating: 0x78, count: 100_000) + [0x0a]) }
    for number in 1...2_000 { try fixture.write(Array("line \(number)\n".utf8)) }
    try fixture.write(Array("ModuleNotFoundError: nosuchmodule\u{1b}[0m\n".utf8))
    fixture.closePipe()
    fixture.workerOutput.finish()
    #expect(fixture.lines.allSatisfy { $0.count <= WorkerOutputReader.longestLine + 1 })
    #expect(
      Int64(fixture.lines.count) + fixture.omitted.reduce(0, +) == 2_021, "each line is passed on or counted")
    #expect(fixture.texts.last?.hasPrefix("ModuleNotFoundError") == true)
    #expect(
      fixture.workerOutput.lastOutputText == "line 1999 | line 2000 | ModuleNotFoundError: nosuchmodule [0m",
      "no control character reaches a terminal")
  }

  @Test("a program that is killed while its children hold the pipe is not waited for")
  func held() throws {
    let fixture = try OutputFixture()
    try fixture.write(Array("last\n".utf8))
    fixture.workerOutput.finish()
    #expect(fixture.texts == ["last"])
    // The reading end is closed: a later write fails.
    Signals.ignorePipe()
    #expect(throws: SystemError.self) { try fixture.write([0x0a]) }
  }
}
