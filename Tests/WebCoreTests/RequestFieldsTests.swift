// Bodies, forms and queries, all read by one strict rule, and a fault names the field.

import Testing
import WebCore

@Suite("Fields of requests")
struct RequestFieldsTests {
  private static let names: Set<String> = ["count", "word", "list"]

  private func json(_ text: String) throws(FieldError) -> RequestFields {
    try RequestFields(json: Array(text.utf8), known: Self.names)
  }

  private func form(_ text: String) throws -> RequestFields {
    let fields = try #require(FormFields(text.utf8))
    return try RequestFields(fields, known: Self.names, repeatable: ["list"])
  }

  private func fault(_ act: () throws -> Void) -> FieldError? {
    do {
      try act()
      return nil
    } catch { return error as? FieldError }
  }

  @Test("values of the right kind are read, and missing ones are absent")
  func values() throws {
    let body = try json(#"{"count":3,"word":"x","list":[1,2]}"#)
    #expect(try body.number("count") == 3 && body.text("word") == "x")
    #expect(try body.numbers("list", in: 1...5, atMost: 2) == [1, 2])
    let sent = try form("count=3&word=x&list=1&list=2")
    #expect(try sent.number("count") == 3 && sent.text("word") == "x")
    #expect(try sent.numbers("list", in: 1...5, atMost: 2) == [1, 2])
    for empty in [try json(""), try json(#"{"count":null}"#), try form("count=&word="), try form("")] {
      #expect(try empty.number("count") == nil && empty.text("word") == nil && !empty.has("count"))
      #expect(try empty.numbers("list", in: 1...5, atMost: 2) == nil)
    }
  }

  @Test("a body that is not one object of known fields is refused by name")
  func bodies() {
    for text in ["[]", "1", "{", "count=1", "null", #""x""#] {
      #expect(fault { _ = try json(text) }?.field == "", "\(text)")
    }
    #expect(fault { _ = try json(#"{"count":1,"count":2}"#) } == FieldError("count", .repeated))
    #expect(
      fault { _ = try json(#"{"counts":1}"#) }
        == FieldError("counts", .unknown(known: ["count", "list", "word"])))
    #expect(fault { _ = try form("count=1&count=1") } == FieldError("count", .repeated))
    #expect(fault { _ = try form("counts=1") }?.field == "counts")
  }

  @Test(
    "a value of another kind or out of range is refused, and never treated as absent",
    arguments: [#""1""#, "1.5", "1e2", "true", "[]", "{}", "0", "6", "99999999999999999999"])
  func numbers(value: String) {
    let body = #"{"count":\#(value)}"#
    let found = fault { _ = try json(body).number("count", in: 1...5) }
    #expect(found?.field == "count", "\(value)")
    #expect(found?.message == "count: a whole number from 1 to 5 is needed")
  }

  @Test("texts, lists and choices are as strict")
  func others() {
    for value in ["1", "true", "[]", #"{"url":"x"}"#] {
      #expect(fault { _ = try json(#"{"word":\#(value)}"#).text("word") }?.field == "word", "\(value)")
    }
    for value in ["1", "[]", #"["1"]"#, "[1,2,3]", "[0]", "[1.0]"] {
      #expect(
        fault { _ = try json(#"{"list":\#(value)}"#).numbers("list", in: 1...5, atMost: 2) }?.field == "list",
        "\(value)")
    }
    #expect(
      fault { _ = try form("list=1&list=x").numbers("list", in: 1...5, atMost: 2) }?.field == "list")
    let choice = fault { _ = try form("word=c").choice("word", of: ["a", "b"]) { ["a": 1, "b": 2][$0] } }
    #expect(choice?.message == "word: one of a, b is needed")
    #expect(
      fault { _ = try form("").needed(form("").number("count"), "count") } == FieldError("count", .missing))
    #expect(
      fault { try form("count=1&word=x").exclude("word", beside: "count") }
        == FieldError("word", .excluded(by: "count")))
  }
}
