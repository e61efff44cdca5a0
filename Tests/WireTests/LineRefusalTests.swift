// Each rule of a worker's lines, broken: the error, and its byte. No bytes do harm.

import BankModel
import JSON
import Testing
import Time

@testable import Wire

@Suite("Refusing lines") struct LineRefusalTests {
  private static let lease = #""ticket":7,"attempt":1,"generation":3"#

  private func fault(_ line: String) -> LineParseError? { fault(Array(line.utf8)) }
  private func fault(_ line: [UInt8]) -> LineParseError? {
    do throws(LineParseError) { _ = try readLine(line) } catch { return error }
    return nil
  }

  private static let lines: [(line: String, reason: LineParseError.Reason, byte: Int)] = [
    // Not a line.
    ("[]", .notObject, 0), ("  7", .notObject, 2), ("\"ready\"", .notObject, 0), ("null", .notObject, 0),
    ("{}", .noKind, 1), ("{ }", .noKind, 2), ("{", .endsEarly, 1), ("{\"ready\"", .endsEarly, 8),
    ("{\"ready\":{}", .endsEarly, 11), ("{ready:{}}", .unexpected(0x72), 1),
    ("{\"ready\":{}}}", .trailing, 12),
    ("{\"ready\":{}} {}", .trailing, 13), ("{\"ready\":{},\"done\":{}}", .severalKinds, 11),
    ("{\"ready\":{},}", .severalKinds, 11), ("{\"ready\" {}}", .unexpected(0x7b), 9),
    ("{\"sing\":{}}", .unknownKind("sing"), 1), (" { \"\":{}}", .unknownKind(""), 3),
    ("{\"assign\":{}}", .unknownKind("assign"), 1), ("{\"ticket\":7}", .unknownKind("ticket"), 1),
    ("{\"si\\nng\":{}}", .unknownKind("\"si\\nng\""), 1),
    ("{\"ready\":[]}", .wanted("ready", "an object"), 9), ("{\"ready\":", .endsEarly, 9),
    ("{\"ready\":{,}}", .unexpected(0x2c), 10), ("{\"ready\":{\"a\":1,}}", .unexpected(0x7d), 16),
    ("{\"ready\":{\"a\":1 \"b\":2}}", .unexpected(0x22), 16), ("{\"ready\":{\"a\"}}", .unexpected(0x7d), 13),
    // Values that are skipped are read as strictly.
    ("{\"ready\":{\"a\":nil}}", .unexpected(0x6e), 14), ("{\"ready\":{\"a\":}}", .unexpected(0x7d), 14),
    ("{\"ready\":{\"a\":01}}", .badNumber, 14), ("{\"ready\":{\"a\":1.}}", .badNumber, 14),
    ("{\"ready\":{\"a\":-}}", .badNumber, 14), ("{\"ready\":{\"a\":1e}}", .badNumber, 14),
    ("{\"ready\":{\"a\":.5}}", .unexpected(0x2e), 14), ("{\"ready\":{\"a\":[1,]}}", .unexpected(0x5d), 17),
    ("{\"ready\":{\"a\":\"\u{1}\"}}", .controlCharacter, 15), ("{\"ready\":{\"a\":\"\\x\"}}", .badEscape, 15),
    ("{\"ready\":{\"a\":\"\\u12g4\"}}", .badEscape, 15), ("{\"ready\":{\"a\":\"\\u+123\"}}", .badEscape, 15),
    ("{\"ready\":{\"a\":\"\\ud83d\"}}", .badEscape, 15), ("{\"ready\":{\"a\":\"\\udf53\"}}", .badEscape, 15),
    ("{\"ready\":{\"a\":\"\\ud83d\\ud83d\"}}", .badEscape, 15),
    ("{\"ready\":{\"a\":\"\\ud83dx\"}}", .badEscape, 15), ("{\"ready\":{\"a\":\"\\u12", .badEscape, 15),
    ("{\"ready\":{\"a\":\"\\", .endsEarly, 16), ("{\"ready\":{\"a\":\"b", .endsEarly, 16),
    // Leases.
    ("{\"done\":{}}", .missing("ticket"), 8), ("{\"done\":{\"ticket\":7}}", .missing("attempt"), 8),
    ("{\"beat\":{\"ticket\":7,\"attempt\":1}}", .missing("generation"), 8),
    ("{\"returned\":{\"attempt\":1}}", .missing("ticket"), 12),
    ("{\"done\":{\"ticket\":\"7\"}}", .wanted("ticket", "a whole number"), 18),
    ("{\"done\":{\"ticket\":7.0}}", .wanted("ticket", "a whole number"), 18),
    ("{\"done\":{\"ticket\":7e2}}", .wanted("ticket", "a whole number"), 18),
    ("{\"done\":{\"ticket\":-}}", .wanted("ticket", "a whole number"), 18),
    ("{\"done\":{\"ticket\":null}}", .wanted("ticket", "a whole number"), 18),
    ("{\"done\":{\"ticket\":07}}", .badNumber, 18),
    ("{\"done\":{\"ticket\":0}}", .wanted("ticket", "a whole number from 1 to 9223372036854775807"), 18),
    ("{\"done\":{\"ticket\":-7}}", .wanted("ticket", "a whole number from 1 to 9223372036854775807"), 18),
    (
      "{\"done\":{\"ticket\":9223372036854775808}}",
      .wanted("ticket", "a whole number from 1 to 9223372036854775807"), 18
    ),
    (
      "{\"done\":{\"ticket\":-9223372036854775808}}",
      .wanted("ticket", "a whole number from 1 to 9223372036854775807"), 18
    ),
    (
      "{\"done\":{\"ticket\":99999999999999999999999999}}",
      .wanted("ticket", "a whole number from 1 to 9223372036854775807"), 18
    ),
    ("{\"done\":{\"attempt\":2147483648}}", .wanted("attempt", "a whole number from 1 to 2147483647"), 19),
    ("{\"done\":{\"generation\":0}}", .wanted("generation", "a whole number from 1 to 2147483647"), 22),
    ("{\"done\":{\"ticket\":7,\"ticket\":7}}", .twice("ticket"), 20),
    ("{\"done\":{\"ticket\":7,\"\\u0074icket\":7}}", .twice("ticket"), 20),
    ("{\"done\":{\"ticket\":7", .endsEarly, 19), ("{\"done\":{\"ticket\":", .endsEarly, 18),
    // Values beside them.
    ("{\"done\":{\(lease),\"result\":7}}", .wanted("result", "a string"), 56),
    (
      "{\"done\":{\(lease),\"result\":\"\",\"result_b64\":\"\"}}", .together("result", "result_b64"), 72
    ),
    ("{\"failed\":{\(lease)}}", .missing("reason"), 10),
    ("{\"failed\":{\(lease),\"reason\":null}}", .wanted("reason", "a string"), 58),
    ("{\"failed\":{\(lease),\"retry\":1}}", .wanted("retry", "true or false"), 57),
    (
      "{\"failed\":{\(lease),\"after_ms\":-1}}", .wanted("after_ms", "a whole number from 0 to 31536000000"),
      60
    ),
    (
      "{\"failed\":{\(lease),\"after_ms\":31536000001}}",
      .wanted("after_ms", "a whole number from 0 to 31536000000"), 60
    ),
    ("{\"beat\":{\(lease),\"percent\":\"40\"}}", .wanted("percent", "a number"), 57),
    ("{\"beat\":{\(lease),\"percent\":4.}}", .badNumber, 57),
    ("{\"beat\":{\(lease),\"percent\":-}}", .badNumber, 57),
    ("{\"beat\":{\(lease),\"text\":40}}", .wanted("text", "a string"), 54),
    // Hello.
    ("{\"hello\":{}}", .missing("version"), 9), ("{\"hello\":{\"version\":1}}", .missing("role"), 9),
    (
      "{\"hello\":{\"version\":1,\"role\":\"client\"}}",
      .wanted("role", "\"worker\": only workers use lines"), 29
    ),
    ("{\"hello\":{\"role\":2}}", .wanted("role", "a string"), 17),
    ("{\"hello\":{\"version\":\"1\"}}", .wanted("version", "a whole number"), 20),
    ("{\"hello\":{\"version\":4294967296}}", .wanted("version", "a whole number from 0 to 4294967295"), 20),
    ("{\"hello\":{\"in_hand\":0}}", .wanted("in_hand", "a whole number from 1 to 2147483647"), 20),
    ("{\"hello\":{\"services\":\"a\"}}", .wanted("services", "a list of names"), 21),
    ("{\"hello\":{\"services\":[]}}", .wanted("services", "a list of 1 to 1000 names"), 21),
    ("{\"hello\":{\"services\":[7]}}", .wanted("services", "a string"), 22),
    (
      "{\"hello\":{\"services\":[\"a\",\"B\"]}}",
      .wanted("services", "a list of service names"), 26
    ),
  ]

  @Test("every broken rule is named, with its byte") func rules() {
    for (line, reason, byte) in Self.lines {
      #expect(fault(line) == LineParseError(reason, at: byte), "\(line)")
    }
  }

  @Test("no line is accepted before its last byte is there") func prefixes() {
    let refused = Self.lines.filter { $0.reason != .trailing }.map(\.line)
    for sample in refused + ["{\"done\":{\(Self.lease),\"result\":\"\\ud83c\\udf53é\"}}"] {
      let bytes = Array(sample.utf8)
      for count in 0..<bytes.count { #expect(fault(Array(bytes[..<count])) != nil, "\(sample): \(count)") }
    }
  }

  @Test("invalid UTF-8 is refused anywhere, with its byte") func notUTF8() {
    let line = Array("{\"ready\":{\"a\":\"b\"}}".utf8)
    for bad: [UInt8] in [
      [0xff], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xe2, 0x82], [0xf5, 0x80, 0x80, 0x80],
    ] {
      for place in 0..<line.count {
        #expect(fault(Array(line[..<place]) + bad + line[place...]) == LineParseError(.notUTF8, at: place))
      }
    }
  }

  @Test(
    "base 64 is read strictly",
    arguments: [
      "A", "AA", "AAA", "AA=", "A===", "====", "=AAA", "AA==AAAA", "AAAA=", "AB==", "AAB=", "AA-_", "A A=",
      "AAAA\\n",
      "AA\\u003d", "é===", "AAAA====",
    ])
  func base64(_ text: String) {
    let line = "{\"done\":{\(Self.lease),\"result_b64\":\"\(text)\"}}"
    let what = "base64 with padding and without space (RFC 4648)"
    #expect(fault(line) == LineParseError(.wanted("result_b64", what), at: 60))
  }

  @Test("objects and arrays may be nested up to a depth, and the stack does not overflow") func depth()
    throws
  {
    func nested(_ count: Int) -> String {
      "{\"ready\":{\"a\":" + String(repeating: "[", count: count) + String(repeating: "]", count: count)
        + "}}"
    }
    #expect(try readLine(nested(30)) == .ready)
    #expect(fault(nested(31)) == LineParseError(.tooDeep(limit: 32), at: 44))
    #expect(fault(nested(1_000_000))?.reason == .tooDeep(limit: 32))
    let objects = String(repeating: "{\"a\":", count: 100_000)
    #expect(fault("{\"ready\":" + objects)?.reason == .tooDeep(limit: 32))
  }

  @Test("a result is cut to its ends and keeps its length, in every notation") func cut() throws {
    for count in [TruncatedOutput.longest - 1, TruncatedOutput.longest, TruncatedOutput.longest + 1, 3 << 20]
    {
      let bytes = (0..<count).map { UInt8(0x61 + $0 % 26) }
      let text = String(decoding: bytes, as: UTF8.self)
      var encoded: [UInt8] = []
      Base64.append(bytes, to: &encoded)
      for result in [
        "\"result\":\"\(text)\"", "\"result\":\"\\u0061\(text.dropFirst())\"",
        "\"result_b64\":\"\(String(decoding: encoded, as: UTF8.self))\"",
      ] {
        guard case .worked(_, let work) = try readLine("{\"done\":{\(Self.lease),\(result)}}") else {
          Issue.record("not worked")
          return
        }
        #expect(work.output.length == Int64(count) && work.duration == .zero && work.ending == nil)
        let isCut = count > TruncatedOutput.longest
        #expect(work.output.isCut == isCut)
        #expect(work.output.first == (isCut ? Array(bytes.prefix(TruncatedOutput.longestEnd)) : bytes))
        #expect(work.output.last == (isCut ? Array(bytes.suffix(TruncatedOutput.longestEnd)) : []))
      }
    }
  }

  @Test("reasons and texts are cut between characters") func longWords() throws {
    let long = String(repeating: "끝나지 않는다 ", count: 100_000)
    guard case .failed(_, let failure) = try readLine("{\"failed\":{\(Self.lease),\"reason\":\"\(long)\"}}"),
      case .progressed(_, let progress) = try readLine("{\"beat\":{\(Self.lease),\"text\":\"\(long)\"}}")
    else {
      Issue.record("not understood")
      return
    }
    #expect(failure.words.utf8.count <= Attempt.maxFailureTextBytes && failure.words.hasPrefix("…"))
    #expect(
      long.hasSuffix(failure.words.dropFirst()) && failure.words.utf8.count > Attempt.maxFailureTextBytes - 16
    )
    #expect(progress.text.utf8.count <= WorkProgress.longestText && progress.text.hasSuffix("…"))
    #expect(long.hasPrefix(progress.text.dropLast()) && progress.text.utf8.count > 180)
  }

  @Test("a thousand services may be named, and no more") func services() throws {
    func hello(_ count: Int) -> String {
      let names = Array(repeating: "\"a\"", count: count).joined(separator: ",")
      return "{\"hello\":{\"version\":1,\"role\":\"worker\",\"services\":[\(names)]}}"
    }
    guard case .hello(let greeting) = try readLine(hello(WorkerOffer.longest)) else {
      Issue.record("no hello")
      return
    }
    #expect(greeting.offer?.services?.count == WorkerOffer.longest)
    #expect(
      fault(hello(WorkerOffer.longest + 1))?.reason == .wanted("services", "a list of 1 to 1000 names"))
  }

  @Test("a long unknown kind is reported in short") func longKind() {
    guard case .unknownKind(let name)? = fault("{\"\(String(repeating: "é", count: 1_000_000))\":{}}")?.reason
    else {
      Issue.record("taken")
      return
    }
    #expect(name == String(repeating: "é", count: 32))
  }

  @Test("a fault names what was refused, where and why") func words() {
    #expect(
      fault("{\"sing\":{}}")?.description
        == "refused the line at byte 1: 'sing' is not a message of a worker")
    #expect(
      fault("{\"done\":{\"ticket\":0.5}}")?.description
        == "refused the line at byte 18: 'ticket' has to be a whole number")
    #expect(fault("{ready}")?.description == "refused the line at byte 1: 'r' is not allowed here")
  }
}
