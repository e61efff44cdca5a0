// Every line that is sent to a worker, byte by byte, and every line of a worker that was ever accepted. A
// changed byte here is a program in another language that no longer understands us. The files are written by
// people and never deleted.

import BankModel
import Testing

@testable import Wire

@Suite("Golden lines of workers") struct LineGoldenTests {
  /// Cut from the file as from a connection.
  private func lines(_ name: String) throws -> [[UInt8]] {
    let path = goldenPath(name).dropLast(4) + ".jsonl"
    let text = try #require(readFile(String(path)), "\(path) is missing")
    var decoder = LineDecoder(maximumLength: LineLimits.worker)
    decoder.append(text.utf8)
    var lines: [[UInt8]] = []
    while let line = try decoder.next() { lines.append(Array(line)) }
    #expect(!decoder.isMidLine && !lines.isEmpty, "\(name)")
    return lines
  }

  @Test("the messages of a worker are read as ever, in every spelling") func read() throws {
    for sample in LineSamples.all {
      for line in try lines(sample.name) {
        #expect(
          try readLine(line) == sample.message, "\(sample.name): \(String(decoding: line, as: UTF8.self))")
      }
    }
  }

  @Test("the messages to a worker have their permanent bytes") func written() throws {
    for sample in MessageToTeller.samples {
      guard let line = lineTold(by: sample.message) else { continue }
      #expect(try lines(sample.name).map { String(decoding: $0, as: UTF8.self) } == [line], "\(sample.name)")
      var framed: [UInt8] = [1]
      try LineEncoder().append(sample.message, to: &framed, limit: line.utf8.count)
      #expect(framed == [1] + Array(line.utf8) + [0x0a])
    }
  }

  @Test("only messages of the contract are sent in lines, in both directions") func kinds() throws {
    let told: Set<MessageToTeller.Case> = [.workerAccepted, .refused, .assignWork, .recall, .close]
    for which in MessageToTeller.Case.allCases {
      #expect((lineTold(by: .sample(which)) != nil) == told.contains(which), "\(which)")
    }
    #expect(
      Set(LineSamples.all.map(\.message.itsCase)) == [
        .hello, .ready, .done, .worked, .failed, .beat, .progressed, .returned,
      ])
    for sample in TellerMessage.samples {
      var bytes: [UInt8] = []
      sample.message.appendLine(to: &bytes)
      #expect(bytes.isEmpty)
    }
    #expect(throws: LineParseError(.noLines, at: 0)) {
      let none = UnsafeBufferPointer<UInt8>(start: nil, count: 0)
      _ = try MessageToTeller.readLine(none)
    }
  }

  @Test("a refusal has its reason's name") func reasons() {
    let names = ["version", "build", "hello", "malformed", "too_many_connections", "closing", "service"]
    for (number, name) in zip(UInt8(1)..., names) {
      let refusal = Refusal(reason: .init(rawValue: number)!, build: "dev", detail: "x")
      #expect(lineTold(by: .refused(refusal)) == #"{"refused":{"reason":"\#(name)","text":"x"}}"#)
    }
    #expect(Refusal.Reason(rawValue: 8) == nil, "a new reason needs a name in lines")
  }

  @Test("no golden line is unused, and none is missing") func noOrphans() throws {
    let names =
      LineSamples.all.map(\.name)
      + MessageToTeller.samples.filter { lineTold(by: $0.message) != nil }.map(\.name)
    #expect(try Set(#require(goldenNames(".jsonl"))) == Set(names))
  }

  @Test("a line that is too long is not written") func tooLong() {
    var bytes: [UInt8] = [1]
    #expect(throws: LineError.tooLong(maximum: 11)) {
      try LineEncoder().append(MessageToTeller.close, to: &bytes, limit: 11)
    }
    #expect(bytes == [1])
  }

  @Test("the first byte of a stream tells its encoding") func firstByte() {
    for byte in UInt8.min...UInt8.max {
      let expected: MessageEncoding? =
        byte == 0 ? .frames : [0x7b, 0x20, 0x09, 0x0a, 0x0d].contains(byte) ? .lines : nil
      #expect(MessageEncoding(firstByte: byte) == expected)
    }
    #expect(FrameLimits.teller < 1 << 24 && FrameLimits.control < 1 << 24, "frames start with 0")
  }
}

@Suite("The schema of the lines") struct LineSchemaTests {
  @Test("the schema has every key of the golden lines, and no other") func keys() throws {
    let root = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
    let path = "/\(root)/Sources/Wire/Wire.docc/lines.cddl"
    let text = try #require(readFile(path), "\(path) is missing")
    let code = text.split(separator: "\n").map { $0.prefix { $0 != ";" } }.joined(separator: "\n")
    let written = Set(code.matches(of: /([a-z_0-9]+)\s*:/).map { String($0.output.1) })
    var spoken: Set<String> = []
    for name in try #require(goldenNames(".jsonl")) {
      let path = goldenPath(name).dropLast(4) + ".jsonl"
      let line = try #require(readFile(String(path))).split(separator: "\n")[0]
      spoken.formUnion(line.matches(of: /"([a-z_0-9]+)":/).map { String($0.output.1) })
    }
    #expect(written == spoken)
  }

  @Test("the schema has the bounds that the code checks") func bounds() {
    #expect(WorkerOffer.longest == 1_000 && ServiceName.longest == 64 && WorkProgress.longestText == 200)
    #expect(Attempt.maxFailureTextBytes == 2_048 && TruncatedOutput.longest == 65_536)
  }
}
