// The part of CDDL in which the schema of the protocol is written: its supported constructs, and that all
// others are an error and not skipped.

import Testing

@Suite("CDDL")
struct CDDLTests {
  private func fits(_ value: AnyValue, _ schema: String) throws -> Bool {
    let schema = try CDDLSchema(schema)
    do throws(CDDLMismatch) { _ = try CDDLValidator(schema).check(value, by: schema.root) } catch {
      return false
    }
    return true
  }

  private func map(_ fields: (Int, AnyValue)...) -> AnyValue {
    .map(fields.map { AnyValue.Field(number: $0.0, value: $0.1) })
  }

  @Test("numbers have the given ranges, up to both ends of 64 bits")
  func numbers() throws {
    #expect(try fits(.unsigned(.max), "a = uint"))
    #expect(try !fits(.negative(-1), "a = uint"))
    #expect(try fits(.negative(.min), "a = nint"))
    #expect(try !fits(.unsigned(0), "a = nint"))
    #expect(try fits(.negative(-3), "a = int") && fits(.unsigned(3), "a = int"))
    #expect(try fits(.unsigned(2), "a = 2..4") && fits(.unsigned(4), "a = 2..4"))
    #expect(try !fits(.unsigned(1), "a = 2..4") && !fits(.unsigned(5), "a = 2..4"))
    #expect(try fits(.negative(-2), "a = -2..4") && !fits(.negative(-3), "a = -2..4"))
    #expect(try fits(.negative(-2), "a = nint .ge -2") && !fits(.negative(-3), "a = nint .ge -2"))
    #expect(try fits(.unsigned(7), "a = 7") && !fits(.unsigned(8), "a = 7") && !fits(.text("7"), "a = 7"))
  }

  @Test("texts are measured in bytes, and words are compared byte by byte")
  func texts() throws {
    #expect(try fits(.text(""), "a = tstr") && !fits(.byteString([]), "a = tstr"))
    #expect(try fits(.text("ab"), "a = tstr .size (2..3)") && !fits(.text("a"), "a = tstr .size (2..3)"))
    #expect(try fits(.text("열"), "a = tstr .size (2..3)") && !fits(.text("열쇠"), "a = tstr .size (2..3)"))
    #expect(try fits(.text("é"), "a = \"é\"") && !fits(.text("e\u{301}"), "a = \"é\""))
    #expect(try fits(.byteString([1]), "a = bstr") && !fits(.text("a"), "a = bstr"))
  }

  @Test("flags and null are distinguished")
  func simple() throws {
    #expect(try fits(.bool(true), "a = bool") && fits(.bool(false), "a = bool") && !fits(.null, "a = bool"))
    #expect(try fits(.bool(true), "a = true") && !fits(.bool(false), "a = true"))
    #expect(try fits(.null, "a = nil") && fits(.null, "a = null") && !fits(.bool(false), "a = nil"))
  }

  @Test("arrays have the given numbers of elements")
  func arrays() throws {
    func fitting(_ schema: String) throws -> [Int] {
      try (0...4).filter { try fits(.array(Array(repeating: .unsigned(1), count: $0)), schema) }
    }
    #expect(try fitting("a = [* b] b = 1") == [0, 1, 2, 3, 4])
    #expect(try fitting("a = [+ b] b = 1") == [1, 2, 3, 4])
    #expect(try fitting("a = [? b] b = 1") == [0, 1])
    #expect(try fitting("a = [1*3 b] b = 1") == [1, 2, 3])
    #expect(try fitting("a = [2* b] b = 1") == [2, 3, 4])
    #expect(try fitting("a = [*2 b] b = 1") == [0, 1, 2])
    #expect(try fitting("a = [b] b = 1") == [1])
    #expect(try fitting("a = [* b] b = 2") == [0])
  }

  @Test("a map has its fields and no others, in any order")
  func maps() throws {
    let schema = "a = { 1: uint, ? 2: tstr, } ; a comma may end it"
    #expect(try fits(map((1, .unsigned(1))), schema))
    #expect(try fits(map((2, .text("")), (1, .unsigned(1))), schema))
    #expect(try !fits(map((2, .text(""))), schema))
    #expect(try !fits(map((1, .unsigned(1)), (3, .null)), schema))
    #expect(try !fits(map((1, .unsigned(1)), (2, .null)), schema))
    #expect(try !fits(.array([]), schema))
  }

  @Test("of several groups the first field decides, and the fields beside it belong to it")
  func groups() throws {
    let schema = "a = { 1: {} // 2: uint, ? 9: bool // 3: tstr }"
    #expect(try fits(map((1, map())), schema) && fits(map((3, .text("x"))), schema))
    #expect(try fits(map((2, .unsigned(1)), (9, .bool(true))), schema))
    #expect(try !fits(map((1, map()), (9, .bool(true))), schema))
    #expect(try !fits(map((9, .bool(true))), schema))
    #expect(try !fits(map((1, map()), (3, .text("x"))), schema))
    #expect(try !fits(map(), schema))
  }

  @Test("the deepest mismatch is reported")
  func mismatch() throws {
    let validator = CDDLValidator(try CDDLSchema("a = b / { 1: 0 / 7 } b = { 1: [* c] } c = { 5: 1 / 2 }"))
    let value = map((1, .array([map((5, .unsigned(2))), map((5, .unsigned(3)))])))
    let error = #expect(throws: CDDLMismatch.self) { _ = try validator.check(value, by: "a") }
    #expect(error?.path == [1, 1, 5])
  }

  @Test(
    "an unsupported construct is an error, and so is a schema without meaning",
    arguments: [
      "", "a", "a =", "a = any", "a = float", "a = b", "a = 1 a = 2", "uint = 1", "a = 1 b = 2", "a = a",
      "a = b / 1 b = a",
      "a = 1.5", "a = 0x10", "a = 01", "a = -", "a = 1...5", "a = 5..1", "a = 1..", "a = 1..b b = 2",
      "a = uint .size 4",
      "a = tstr .size 4", "a = tstr .size (-1..4)", "a = tstr .regexp \"x\"", "a = uint .ge 4",
      "a = nint .ge 4",
      "a = \"x", "a = \"\\n\"", "a = 'x'", "a = h'00'", "a = #6.1(tstr)", "a = (1 / 2)", "a = &b", "a = ~b",
      "a<b> = 1",
      "a /= 1", "a //= 1", "a = { x: uint }", "a = { \"x\": uint }", "a = { 256: uint }", "a = { -1: uint }",
      "a = { * uint => tstr }", "a = { 1 => tstr }", "a = { 1: uint 1: tstr }", "a = { b } b = 1",
      "a = { 1: uint",
      "a = { 1: {} // ? 2: {} }", "a = { 1: {} // 1: {} }", "a = { 1: {} // }", "a = { * 1: uint }",
      "a = [1, 2]",
      "a = [* 1, 2]", "a = [3*1 b] b = 1", "a = [1 ", "a = 1 /", "a = 1 ; b\n = 2",
    ])
  func refused(_ schema: String) {
    #expect(throws: CDDLError.self) { _ = try CDDLSchema(schema) }
  }

  @Test("an error names the line")
  func lines() {
    let error = #expect(throws: CDDLError.self) { _ = try CDDLSchema("a = 1 / b ; \"\n; more\n\nb = $") }
    #expect(error == CDDLError(line: 4, words: "$ is not understood"))
  }
}
