// Every page as a document, in both languages: what a strict policy would block, what users of screen readers
// and keyboards need, what the script needs, and what scripts outside of the repository look for.

import BankModel
import Testing
import WebPages

@Suite("Every page")
struct PageTests {
  static let names = SamplePage.all(.korean).map(\.name)

  private func each(_ name: String, _ change: (inout PageFrame) -> Void = { _ in }) throws -> [(
    page: any WebPage, frame: PageFrame, html: String, elements: [DocumentReader.Element]
  )] {
    try Language.allCases.map { language in
      let sample = try #require(SamplePage.all(language).first { $0.name == name })
      var frame = PageFrame(language: language, address: sample.address, key: "k1", hasChaos: true)
      change(&frame)
      let html = sample.page.html(frame)
      return (sample.page, frame, html, try DocumentReader.elements(html))
    }
  }

  @Test("is a whole document in its language, with a title and one first heading", arguments: names)
  func document(name: String) throws {
    for (page, frame, html, elements) in try each(name) {
      #expect(html.hasPrefix("<!DOCTYPE html>\n<html lang=\"\(frame.language.code)\""))
      #expect(!page.title(frame).isEmpty)
      #expect(elements.count { $0.name == "h1" } == 1)
      #expect(elements.count { $0.name == "main" } == 1)
    }
  }

  @Test("contains no script, no style and no handler, and names no other server", arguments: names)
  func policy(name: String) throws {
    for (_, _, _, elements) in try each(name) {
      for element in elements {
        #expect(element.name != "style")
        #expect(element.name != "script" || element.inside.isEmpty && element.attributes["src"] != nil)
        for (key, value) in element.attributes {
          #expect(key != "style" && !key.hasPrefix("on"), "\(element.name) \(key)")
          guard ["href", "src", "action", "formaction"].contains(key) else { continue }
          #expect(value.hasPrefix("/") && !value.hasPrefix("//") || value.hasPrefix("#"), "\(key)=\(value)")
        }
      }
    }
  }

  @Test(
    "shows each of its regions once, with just its contents; the key of a row is on the row",
    arguments: names)
  func regions(name: String) throws {
    for (page, frame, _, elements) in try each(name) {
      let regions = page.regions(frame)
      let placed = elements.filter { $0.attributes["data-region"] != nil }
      #expect(Set(placed.compactMap { $0.attributes["data-region"] }) == Set(regions.map(\.name)))
      #expect(placed.count == regions.count)
      for region in regions {
        let element = try #require(placed.first { $0.attributes["data-region"] == region.name })
        #expect(element.inside == region.html)
        guard case .rows(_, let rows) = region else { continue }
        #expect(Set(rows.map(\.key)).count == rows.count)
        for row in rows {
          let first = try #require(try DocumentReader.elements(row.html).last)
          #expect(first.attributes["data-key"] == row.key)
        }
      }
    }
  }

  @Test("changes nothing of its regions by the viewer's key and notice", arguments: names)
  func shared(name: String) throws {
    let plain = try each(name) { $0.key = "" }.map { $0.page.regions($0.frame) }
    let told = try each(name) {
      ($0.key, $0.notice) = ("", .added(count: 10, first: 1))
    }.map { $0.page.regions($0.frame) }
    #expect(plain == told)
  }

  @Test("sends its forms to addresses of the server, with a key", arguments: names)
  func forms(name: String) throws {
    for (_, _, _, elements) in try each(name) {
      for form in elements where form.name == "form" {
        let action = try #require(form.attributes["action"])
        guard form.attributes["method"] == "post" else { continue }
        let known = try #require(FormAction(rawValue: action), "\(action)")
        let names = try DocumentReader.elements(form.inside).compactMap { $0.attributes["name"] }
        #expect(Set(names).isSubset(of: known.fields.union(["key", "back"])), "\(action) \(names)")
        guard action != FormAction.language.rawValue, action != FormAction.theme.rawValue else { continue }
        #expect(form.inside.hasPrefix(#"<input type="hidden" name="key" value="k1">"#), "\(action)")
      }
    }
  }

  @Test("disables every button that changes something while the viewer may not", arguments: names)
  func readOnly(name: String) throws {
    for (_, _, _, elements) in try each(name, { $0.isReadOnly = true }) {
      for form in elements where form.name == "form" && form.attributes["method"] == "post" {
        guard form.attributes["data-plain"] == nil else { continue }
        for button in try DocumentReader.elements(form.inside) where button.name == "button" {
          #expect(button.attributes["disabled"] != nil, "\(form.attributes["action"] ?? "")")
        }
      }
    }
  }

  @Test("gives every button, link, field and picture a name", arguments: names)
  func labels(name: String) throws {
    for (_, _, _, elements) in try each(name) {
      for element in elements {
        let isNamed = element.attributes["aria-label"] != nil || element.attributes["aria-labelledby"] != nil
        let text = try DocumentReader.elements("<p>\(element.inside)</p>").last?.inside ?? ""
        switch element.name {
        case "button", "a":
          let message = text.replacing(/<svg.*?<\/svg>/, with: "").replacing(/<[^>]*>/, with: "")
          #expect(isNamed || message.contains { $0.isLetter || $0.isNumber }, "\(element)")
        case "input":
          guard element.attributes["type"] != "hidden" else { continue }
          #expect(isNamed || element.parents.contains("label"), "\(element)")
        case "select", "textarea": #expect(isNamed || element.parents.contains("label"), "\(element)")
        case "svg":
          #expect(isNamed || element.attributes["aria-hidden"] == "true", "\(element.attributes)")
        default: break
        }
      }
    }
  }

  @Test("names nothing twice", arguments: names)
  func identifiers(name: String) throws {
    for (_, _, _, elements) in try each(name) {
      let all = elements.compactMap { $0.attributes["id"] }
      #expect(Set(all).count == all.count, "\(all.filter { id in all.count { $0 == id } > 1 })")
    }
  }

  @Test("is English without a Korean word, except in the choice of languages", arguments: names)
  func english(name: String) throws {
    // Brands and descriptions of drinks, and lines of a log, are texts of users.
    guard !["vending", "admin", "log"].contains(name) else { return }
    let document = try #require(try each(name).last)
    #expect(document.frame.language == .english)
    let korean = document.html.replacing("한국어", with: "").unicodeScalars.filter {
      (0xAC00...0xD7A3).contains($0.value)
    }
    #expect(korean.isEmpty, "\(String(String.UnicodeScalarView(korean)))")
  }

  @Test("shows users' texts as text, everywhere")
  func hostile() throws {
    let evil = #""><script>alert(1)</script><img src=x onerror=alert(1)>"#
    let row = AttemptRow(
      window: evil, generation: 1, pid: 2, startedAt: .min, endedAt: .max, end: .failed, signal: evil,
      message: evil)
    var receipt = SamplePage.receipt
    (receipt.result, receipt.errors) = (AbridgedText(evil), AbridgedText(evil))
    (receipt.debit, receipt.credit, receipt.window) = (evil, evil, evil)
    let pages: [any WebPage] = [
      TicketPage(
        day: 1, ticket: 1, service: .loan, itemName: evil, issuedAt: 0, state: .serving, window: evil,
        progress: evil,
        attempts: [row], receipt: receipt, payload: AbridgedText(evil),
        output: [OutputChunk(number: 0, text: evil)]),
      WindowLogPage(name: evil, lines: [LogLine(number: 1, text: evil)]),
      WindowsPage(
        windows: [
          WindowRow(name: evil, pid: 1, state: .stopped, trouble: evil, isFailed: true),
          WindowRow(name: evil + "2", service: .loan, pid: 1, state: .idle, memoryBytes: .min),
        ], services: [ServiceRow(service: .loan, isPaused: true, pauseReason: evil, windows: .min)],
        lastKill: KillOutcome(
          window: evil, generation: .min, pid: .min,
          stage: .served(ticket: .max, window: evil, milliseconds: .min, isExact: false)), day: .min),
      AuditPage(problems: [evil], notes: [evil]),
      LedgerPage(lines: [LedgerLine(account: evil, debit: .max, credit: .min)]),
      JuicePage(fruits: [FruitRow(id: ItemID(evil), name: evil, emoji: evil, quantity: .max)]),
      VendingPage(
        balance: .min, drinks: [],
        purchases: [PurchaseRow(number: 1, product: ItemID(evil), name: evil, price: 1, time: .max)]),
      ErrorPage(status: 404, detail: evil), CrossSitePage(address: evil),
      ErrorPage(status: 400, detail: FieldProblem.unknown(evil).text(.korean)),
      ConfirmPage(confirmation: .end(window: evil, generation: 1, pid: 1), back: "/"),
      BankPage(
        state: .open, day: .max, businessMilliseconds: .min, counts: BankCounts(waiting: .min),
        events: [EventRow(sequence: 1, time: .min, kind: .died, day: 1, window: evil, pid: 1, signal: evil)]),
      ServicesPage(services: [ServiceRow(service: .loan, history: [.min, .max, 0])]),
    ]
    for page in pages {
      let html = page.html(PageFrame(language: .korean, address: evil, key: evil, hasChaos: true))
      #expect(
        try DocumentReader.elements(html).allSatisfy { $0.name != "img" && $0.attributes["onerror"] == nil })
      #expect(!html.contains("<script>"))
    }
  }

  @Test("keeps one of several rows with one key")
  func duplicates() throws {
    let row = WaitingRow(ticket: 7, service: .deposit)
    let page = BankPage(state: .open, day: 1, waiting: [row, row])
    let html = page.html(PageFrame(language: .korean))
    #expect(try DocumentReader.elements(html).count { $0.attributes["data-ticket"] == "7" } == 1)
  }
}
