// The format of a log line: one event is one line, and it reads back as it was written.

import BankModel
import Testing

@testable import Logging

@Suite("A log line") struct LogLineTests {
  private func written(_ value: String) -> String {
    var line: [UInt8] = []
    LogValue.append(value, to: &line)
    return String(decoding: line, as: UTF8.self)
  }

  private func written(bytes: [UInt8]) -> String {
    var line: [UInt8] = []
    bytes.withUnsafeBufferPointer { LogValue.append(bytes: $0, to: &line) }
    return String(decoding: line, as: UTF8.self)
  }

  @Test("parses the example of the contract") func example() throws {
    let text = """
      ts=2026-11-21T08:00:00.123Z level=info worker=deposit-1 pid=4243 gen=1 event=started day=1 ticket=7 \
      service=deposit attempt=1 msg="7번 고객 예금업무 시작"
      """
    let line = try #require(LogLine.parse(Array(text.utf8)))
    #expect(line.timestamp == 1_795_248_000_123)
    #expect(line.level == .info)
    #expect(line["worker"] == "deposit-1" && line["pid"] == "4243" && line["gen"] == "1")
    #expect(line["event"] == "started")
    #expect(line["ticket"] == "7")
    #expect(line["msg"] == "7번 고객 예금업무 시작")
    #expect(line.fields.map(\.key).prefix(4) == ["ts", "level", "worker", "pid"])
    #expect(String(decoding: line.bytes, as: UTF8.self) == text)
  }

  @Test("quotes a value only when it must") func quoting() {
    #expect(written("deposit-1") == "deposit-1")
    #expect(written("/a/b:c,d;e'f") == "/a/b:c,d;e'f")
    #expect(written("") == #""""#)
    #expect(written("a b") == #""a b""#)
    #expect(written("a=b") == #""a=b""#)
    #expect(written(#"say "hi""#) == #""say \"hi\"""#)
    #expect(written(#"back\slash"#) == #""back\\slash""#)
    #expect(written("예금") == "\"예금\"")
  }

  @Test("a sentence that was prepared reads back as the very text", arguments: Language.allCases)
  func sentence(language: Language) throws {
    let phrases = StringCatalog(language)
    var samples = [("say \"", "\"\n"), ("", ""), ("=", "\u{202e}"), ("5 ", " of 9")]
    for grade in Priority.grades {
      for service in ServiceName.branch {
        samples += [
          phrases.started(priority: grade, service: service),
          phrases.completed(priority: grade, service: service),
        ]
      }
    }
    for (before, after) in samples {
      for number in [0, 7, -12, .max, .min] as [Int64] {
        var fields = LogFields(continuing: Array("ts=1970-01-01T00:00:00.000Z".utf8))
        fields.field("msg", LogMessageTemplate(before: before, after: after), number)
        #expect(LogLine.parse(fields.bytes)?["msg"] == "\(before)\(number)\(after)")
      }
    }
  }

  @Test("escapes everything that could break a line or mislead a terminal") func escapes() {
    #expect(written("a\nb\r\n\tc") == #""a\nb\r\n\tc""#)
    #expect(written("\u{1B}[31mred") == #""\u001b[31mred""#)
    #expect(written("\u{0}\u{7F}\u{85}\u{9B}") == #""\u0000\u007f\u0085\u009b""#)
    #expect(written("\u{2028}\u{2029}") == #""\u2028\u2029""#)
    #expect(written("\u{202E}abc\u{2066}") == #""\u202eabc\u2066""#)
    #expect(written("\u{FEFF}x") == #""\ufeffx""#)
    #expect(written("🍓 딸기") == "\"🍓 딸기\"")
  }

  @Test("shows bytes that are not UTF-8, also overlong ones, surrogates and a scalar cut short")
  func invalidUTF8() {
    #expect(written(bytes: [0x61, 0xff, 0x62]) == #""a\xffb""#)
    #expect(written(bytes: [0xc0, 0xaf]) == #""\xc0\xaf""#)
    #expect(written(bytes: [0xed, 0xa0, 0x80]) == #""\xed\xa0\x80""#)
    #expect(written(bytes: [0xe2, 0x80]) == #""\xe2\x80""#)
    #expect(written(bytes: [0xf4, 0x90, 0x80, 0x80]) == #""\xf4\x90\x80\x80""#)
    #expect(written(bytes: [0xe0, 0x80, 0xa8]) == #""\xe0\x80\xa8""#)
  }

  @Test("cuts a value that is too long between two characters, and marks it") func cut() throws {
    let long = String(repeating: "가", count: LogValue.longest)
    let line = try #require(LogLine.parse(Array("k=\(written(long))".utf8)))
    let value = try #require(line["k"])
    #expect(value == String(repeating: "가", count: LogValue.longest / 3) + "…")
    let fits = String(repeating: "x", count: LogValue.longest)
    #expect(written(fits) == fits)
    #expect(written(fits + "y") == "\"\(fits)…\"")
  }

  @Test(
    "writes whole numbers to the ends of 64 bits", arguments: [0, 7, -7, 1234567890, .max, .min] as [Int64])
  func numbers(_ number: Int64) {
    var line: [UInt8] = []
    LogValue.append(number, to: &line)
    #expect(String(decoding: line, as: UTF8.self) == "\(number)")
  }

  @Test(
    "is nil for lines that no writer of ours has written",
    arguments: [
      "", " ", "hello", "a=", "a=b ", " a=b", "a=b  c=d", "=b", "a=\"", "a=\"x", "a=\"x\"y", "a=b=c", "a=b\"",
      #"a="\q""#, #"a="\"#, #"a="\u12"#, #"a="\ud800""#, #"a="\xZZ""#, #"a=b\c"#, "키=값", "a=\u{1}",
    ])
  func refused(_ text: String) {
    #expect(LogLine.parse(Array(text.utf8)) == nil)
  }

  @Test("gives the first of two fields with one key, and keeps both") func twice() throws {
    let line = try #require(LogLine.parse(Array("a=1 a=2".utf8)))
    #expect(line["a"] == "1")
    #expect(line.fields.map(\.value) == ["1", "2"])
  }

  @Test("reads back any text, and is always one line") func roundTrip() throws {
    var chance = SeededNumbers(test: "LogLineTests")
    let alphabet: [Unicode.Scalar] = [
      "a", "=", "\"", "\\", " ", "\n", "\t", "\u{0}", "\u{7F}", "\u{85}", "\u{2028}", "\u{202E}", "가", "🍓",
      "é",
      "\u{FEFF}", "x", "u", "n",
    ]
    for _ in 0..<2_000 {
      let fields = (0..<Int(chance.next() % 5 + 1)).map { number in
        var text = ""
        for _ in 0..<Int(chance.next() % 12) {
          text.unicodeScalars.append(alphabet[Int(chance.next() % UInt64(alphabet.count))])
        }
        return LogLine.Field(key: "key.\(number)", value: text)
      }
      let bytes = LogLine(fields: fields).bytes
      #expect(!bytes.contains { $0 < 0x20 || $0 == 0x7f })
      #expect(LogLine.parse(bytes) == LogLine(fields: fields))
    }
  }

  @Test("never traps on any bytes") func garbage() {
    var chance = SeededNumbers(test: "LogLineTests")
    let alphabet = Array("ab=\"\\ unx0f ".utf8) + [0, 0x80, 0xff, 0xe2]
    for _ in 0..<5_000 {
      let bytes = (0..<Int(chance.next() % 24)).map { _ in
        alphabet[Int(chance.next() % UInt64(alphabet.count))]
      }
      if let line = LogLine.parse(bytes) { #expect(!line.fields.isEmpty) }
    }
  }
}

extension LogLine {
  /// The line as ``LogFile`` would write it, without the line feed.
  fileprivate var bytes: [UInt8] {
    var line: [UInt8] = []
    for field in fields {
      if !line.isEmpty { line.append(UInt8(ascii: " ")) }
      line.append(contentsOf: field.key.utf8)
      line.append(UInt8(ascii: "="))
      LogValue.append(field.value, to: &line)
    }
    return line
  }
}
