// The contents of targets, forms, cookies and headers, and invalid ones.

import BankModel
import Testing

@testable import WebCore

@Suite("Targets and forms")
struct FormTests {
  @Test("a target is a path and a query, decoded")
  func target() throws {
    let target = try #require(RequestTarget("/ticket/7?lang=ko&notice=a%7Eb&x".utf8))
    #expect(target.path == "/ticket/7" && target.segments == ["ticket", "7"])
    #expect(target.query["lang"] == "ko" && target.query["notice"] == "a~b" && target.query["x"] == "")
    #expect(try #require(RequestTarget("/%EC%98%88".utf8)).path == "/예")
  }

  @Test(
    "an invalid target is refused",
    arguments: [
      "", "*", "http://127.0.0.1/", "x", "/%", "/%4", "/%zz", "/%00", "/%ff", "/\u{7f}", "/?a=%c3",
      "/" + String(repeating: "a", count: RequestTarget.longest),
    ])
  func noTarget(text: String) { #expect(RequestTarget(text.utf8) == nil) }

  @Test("a form keeps its order, names several times, spaces and line breaks")
  func form() throws {
    let form = try #require(FormFields("ticket=3&ticket=5&a=1+2%0A&empty=&&=x".utf8))
    #expect(form.all("ticket") == ["3", "5"] && form["a"] == "1 2\n" && form["empty"] == "")
    #expect(form.text("empty") == nil && form.number("ticket") == 3 && form.number("a") == nil)
    #expect(FormFields(form.text.utf8) == form)
  }

  @Test("the number of a form's fields is limited")
  func tooMany() {
    let field = "a=b"
    let maximumCount = Array(repeating: field, count: FormFields.maximumCount).joined(separator: "&")
    #expect(FormFields(maximumCount.utf8)?.fields.count == FormFields.maximumCount)
    #expect(FormFields((maximumCount + "&" + field).utf8) == nil)
  }

  @Test(
    "any bytes are a form or none, and a form comes back the same",
    arguments: 0..<40 as Range<UInt64>)
  func anything(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<200 {
      let bytes = (0..<Int(generator.next() % 40)).map { _ -> UInt8 in
        let kind = generator.next() % 4
        return kind == 0
          ? UInt8(truncatingIfNeeded: generator.next()) : Array("%&=+a0?/".utf8)[Int(generator.next() % 8)]
      }
      if let form = FormFields(bytes) {
        #expect(FormFields(form.text.utf8) == form, "seed \(seed): \(bytes)")
      }
      _ = RequestTarget([UInt8(ascii: "/")] + bytes)
    }
  }

  @Test("a header with a line break is left out")
  func split() {
    var response = HTTPResponse(200)
    response.set("Location", "/\r\nSet-Cookie: a=b")
    #expect(!response.headers.contains { $0.name == "Location" })
  }

  @Test("names of headers are checked letter by letter")
  func names() {
    #expect(HTTPHeaders([("Host", "a"), ("X-Y", "")]).haveValidNames)
    for name in ["Host ", "", "a b", "a\t", "é", "a:b"] { #expect(!HTTPHeaders([(name, "")]).haveValidNames) }
  }
}

@Suite("Preferences")
struct PreferencesTests {
  private func request(_ headers: [(String, String)], lang: String? = nil) -> HTTPRequest {
    var query = FormFields()
    if let lang { query.set("lang", lang) }
    return HTTPRequest(
      method: .get, target: RequestTarget(path: "/", query: query), headers: HTTPHeaders(headers))
  }

  @Test(
    "the language is the chosen one, else the one that the browser prefers",
    arguments: [
      ("", Language.english), ("ko", .korean), ("ko-KR,ko;q=0.9,en;q=0.8", .korean),
      ("en-US,ko;q=0.9", .english),
      ("ko;q=0.5,en;q=0.6", .english), ("fr,ko;q=0.1", .korean), ("ko;q=0", .english), ("ko;q=x", .english),
      (";;,,q=1", .english), ("KO", .korean), ("korean", .english),
    ])
  func accepted(header: String, language: Language) {
    #expect(Preferences.language(of: request([("accept-language", header)])) == language)
    let chosen = [("accept-language", header), ("cookie", "bank-lang=en")]
    #expect(Preferences.language(of: request(chosen)) == .english)
    #expect(Preferences.language(of: request(chosen, lang: "ko")) == .korean)
  }

  @Test("an event's name is valid for one life of the server")
  func events() {
    let id = EventID(epoch: .max, sequence: 7)
    #expect(EventID(id.text) == id)
    for text in ["", "-", "a-", "-1", "a-0", "a--1", "a-1-2", String(repeating: "a", count: 50)] {
      #expect(EventID(text) == nil, "\(text)")
    }
  }
}
