// The JSON reader: RFC 8259, and a line number for every fault.

import BankModel
import JSON
import Posix
import Testing

@Suite("Reading JSON") struct JSONReaderTests {
  private func read(_ text: String) throws(JSONFault) -> JSONNode { try JSONReader.read(Array(text.utf8)) }

  private func fault(_ bytes: [UInt8]) -> JSONFault? {
    do throws(JSONFault) {
      _ = try JSONReader.read(bytes)
      return nil
    } catch {
      return error
    }
  }

  @Test("keeps order, lines, digits, and keys that appear twice") func tree() throws {
    let node = try read("{\"a\": [1,\n -0.50e+3, true, null],\n\"a\": {}}")
    guard case .object(let members) = node.content, case .array(let elements) = members[0].value.content
    else {
      Issue.record("read \(node)")
      return
    }
    #expect(members.map(\.key) == ["a", "a"])
    #expect(members.map(\.line) == [1, 3])
    #expect(elements.map(\.content) == [.number("1"), .number("-0.50e+3"), .bool(true), .null])
    #expect(elements.map(\.line) == [1, 2, 2, 2])
    #expect(members[1].value.content == .object([]))
  }

  @Test("undoes every escape") func escapes() throws {
    let text = #""\"\\\/\b\f\n\r\t\u0041\uac00\ud83c\udf53 é""#
    #expect(try read(text).content == .string("\"\\/\u{8}\u{C}\n\r\tA가🍓 é"))
  }

  @Test(
    "refuses invalid JSON, with its line",
    arguments: [
      ("", JSONFault.Reason.unexpectedEnd, 1), ("\n\n", .unexpectedEnd, 3), ("{", .unexpectedEnd, 1),
      ("{\"a\"", .unexpectedEnd, 1), ("\"a", .unexpectedEnd, 1), ("[1,\n]", .unexpected("]"), 2),
      ("{\"a\":1,}", .unexpected("}"), 1), ("{a:1}", .unexpected("a"), 1), ("nul", .unexpected("n"), 1),
      ("// x\n1", .unexpected("/"), 1), ("키", .unexpected("키"), 1), ("01", .badNumber, 1),
      ("-", .badNumber, 1),
      ("1.", .badNumber, 1), ("1e", .badNumber, 1), ("+1", .unexpected("+"), 1), ("1 2", .trailing, 1),
      ("\"a\nb\"", .controlCharacter, 1), (#""\x""#, .badEscape, 1), (#""\ud800""#, .badEscape, 1),
      (#""\udc00""#, .badEscape, 1), (#""\u+041""#, .badEscape, 1), (#""\ud800\u0041""#, .badEscape, 1),
    ])
  func refused(text: String, reason: JSONFault.Reason, line: Int) {
    let fault = fault(Array(text.utf8))
    #expect(fault?.reason == reason && fault?.line == line)
  }

  @Test("refuses text that is not UTF-8") func utf8() {
    #expect(fault([0x22, 0xff, 0x22])?.reason == .notUTF8)
    #expect(fault([0xff])?.line == 1)
  }

  @Test("refuses nesting that could exhaust the stack") func deep() {
    #expect(
      fault(Array(repeating: UInt8(ascii: "["), count: 100_000)) == JSONFault(.tooDeep, line: 1, column: 33))
    let brackets = String(repeating: "[", count: 32) + String(repeating: "]", count: 32)
    #expect(fault(Array(brackets.utf8)) == nil)
  }

  @Test("never traps on any bytes") func garbage() {
    let seed = Environment.value("JSON_SEED").flatMap { UInt64($0) } ?? RandomSeed.fromSystem()
    print("garbage: seed \(seed); repeat: JSON_SEED=\(seed) swift test --filter JSONReaderTests")
    var chance = SeededGenerator(seed: seed)
    let alphabet = Array("{}[]\":,\\u0d8-.e truefalsn\n".utf8) + [0xff, 0xea, 0xb0, 0x80]
    for _ in 0..<20_000 {
      let bytes = (0..<Int(chance.draw(0...20))).map { _ in
        alphabet[Int(chance.draw(0...Int64(alphabet.count - 1)))]
      }
      if let fault = fault(bytes) { #expect(fault.line >= 1) }
    }
  }
}
