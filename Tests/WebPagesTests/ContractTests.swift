// Attributes by which scripts outside of the repository find elements, to the letter, and the texts of the
// original screens.

import BankModel
import CWebAssets
import Testing
import WebPages

@Suite("The pages' contract with scripts")
struct ContractTests {
  private func elements(_ name: String, _ language: Language = .korean) throws -> [DocumentReader.Element] {
    let sample = try #require(SamplePage.all(language).first { $0.name == name })
    return try DocumentReader.elements(
      sample.page.html(PageFrame(language: language, address: sample.address, key: "k1")))
  }

  private func words(_ element: DocumentReader.Element) -> String {
    element.inside.replacing(/<[^>]*>/, with: "").replacing("&#39;", with: "'")
  }

  @Test("the bank has its two lists with a row for each ticket, its buttons and its timer")
  func bank() throws {
    let all = try elements("bank")
    func one(_ key: String, _ value: String) throws -> DocumentReader.Element {
      let found = all.filter { $0.attributes[key] == value }
      #expect(found.count == 1, "\(key)=\(value)")
      return try #require(found.first)
    }
    let waiting = try DocumentReader.elements(try one("data-list", "waiting").inside)
    #expect(waiting.compactMap { $0.attributes["data-ticket"] } == (29...40).map { "\($0)" })
    let serving = try DocumentReader.elements(try one("data-list", "serving").inside)
    #expect(serving.compactMap { $0.attributes["data-ticket"] } == ["25", "26", "24", "28"])
    #expect(words(try one("data-ticket", "29")) == "29 - 예금")
    #expect(words(try one("data-ticket", "30")) == "30 - 대출")
    #expect(try one("data-ticket", "30").attributes["class"] == "loan")
    #expect(words(try one("data-action", "add")) == "고객 10명 추가")
    #expect(words(try one("data-action", "reset")) == "초기화")
    let timer = try #require(all.first { $0.attributes["data-timer"] != nil })
    #expect(words(timer) == "업무시간 - 01:02:781")
    #expect(timer.attributes["data-ms"] == "62781" && timer.attributes["data-runs"] == "true")
    #expect(all.filter { $0.name == "h2" }.prefix(2).map { words($0) } == ["대기중 12", "업무중 4"])
  }

  @Test(
    "a bank with several branches has a line for each, and another one has none", arguments: Language.allCases
  )
  func branches(language: Language) throws {
    let all = try elements("bank-shared", language)
    let lines = all.filter { $0.attributes["data-branch"] != nil }
    #expect(lines.compactMap { $0.attributes["data-branch"] } == ["1", "2", "3"])
    #expect(lines.map { $0.attributes["aria-current"] } == ["true", nil, nil])
    let said = lines.map { words($0).replacing("\n", with: "") }
    #expect(
      said
        == (language == .korean
          ? [
            "영업 중 1 · seoul · db-1 · 창구 4개 · 완료 1,200 · 초당 12.5명 · 이 지점",
            "만료 2 · &lt;b&gt;busan&lt;/b&gt; · db-2 · 창구 1개 · 완료 3 · 초당 0.0명", "마감 3 · jeju · 창구 0개 · 완료 0",
          ]
          : [
            "open 1 · seoul · db-1 · 4 windows · 1,200 served · 12.5/s · this branch",
            "expired 2 · &lt;b&gt;busan&lt;/b&gt; · db-2 · 1 window · 3 served · 0.0/s",
            "closed 3 · jeju · 0 windows · 0 served",
          ]))
    let list = try #require(all.first { $0.attributes["class"] == "branches" })
    #expect(list.attributes["aria-label"] == (language == .korean ? "지점" : "Branches"))
    let alone = try elements("bank", language)
    #expect(!alone.contains { $0.attributes["data-branch"] != nil })
    #expect(alone.first { $0.attributes["data-region"] == "branches" }?.inside == "")
  }

  @Test("an attempt in a bank with several branches names its branch, and leads to no log of this one")
  func attemptElsewhere() throws {
    func attempts(_ branch: Int64?, _ language: Language) throws -> String {
      var attempt = SamplePage.attempts[0]
      attempt.branch = branch
      let page = TicketPage(
        day: 1, ticket: 24, service: .loan, priority: .vip, amount: 1, account: 7, issuedAt: 0,
        state: .waiting,
        attempts: [attempt])
      let all = try DocumentReader.elements(
        page.html(PageFrame(language: language, address: "/ticket/24", key: "k1")))
      return try #require(all.first { $0.attributes["data-region"] == "attempts" }).inside
    }
    #expect(
      try attempts(nil, .english).contains(
        #"<a href="/windows/loan-1/log">loan-1</a>, generation 1, pid 4963</p>"#))
    #expect(try attempts(2, .english).contains(" loan-1, generation 1, pid 4963, branch 2</p>"))
    #expect(try attempts(2, .korean).contains("pid 4963, 지점 2</p>"))
  }

  @Test("a juice shows whether it can be made, and a fruit its amount")
  func juice() throws {
    let all = try elements("juice")
    let juices = all.filter { $0.attributes["data-juice"] != nil }
    #expect(juices.count == 7)
    let strawberry = try #require(juices.first { $0.attributes["data-juice"] == "strawberry" })
    #expect(strawberry.attributes["aria-disabled"] == "true")
    #expect(words(strawberry).hasPrefix("딸기쥬스 주문"))
    #expect(juices.first { $0.attributes["data-juice"] == "mango" }?.attributes["aria-disabled"] == "false")
    for page in ["juice", "stock"] {
      let fruits = try elements(page).filter { $0.attributes["data-fruit"] != nil }
      #expect(fruits.map(\.inside) == ["10", "8", "10", "1", "997"])
    }
  }

  @Test("a drink and a purchase can be found, each with its own picture")
  func vending() throws {
    let all = try elements("vending")
    let drinks = all.filter { $0.attributes["data-product"] != nil }
    #expect(drinks.count == 10)
    #expect(all.filter { $0.attributes["data-purchase"] != nil }.count == 14)
    let pictures = Set(all.filter { $0.name == "symbol" }.compactMap { $0.attributes["id"] })
    #expect(pictures.count == 10)
    for drink in drinks {
      #expect(drink.inside.contains("\"#drink-\(drink.attributes["data-product"] ?? "")\""))
    }
    for use in all where use.name == "use" {
      #expect(pictures.contains(String((use.attributes["href"] ?? "").dropFirst())))
    }
  }

  @Test("every link leads to a page of the table")
  func links() throws {
    let paths: Set = [
      "/", "/kiosk", "/lobby", "/juice", "/juice/stock", "/vending", "/vending/admin", "/windows",
      "/services", "/dead",
      "/tickets", "/receipts", "/audit", "/ledger",
    ]
    for sample in SamplePage.all(.english) {
      for link in try elements(sample.name, .english) where link.name == "a" {
        let path = String((link.attributes["href"] ?? "").prefix { $0 != "?" })
        guard path != "#main" else { continue }
        #expect(
          paths.contains(path) || path.wholeMatch(of: /\/ticket\/\d+|\/windows\/[a-z0-9_.-]+\/log/) != nil,
          "\(path)")
      }
    }
  }

  @Test(
    "a link to a ticket and a form about one contain its day, as numbers repeat each day")
  func days() throws {
    var seen: Set<String> = []
    for sample in SamplePage.all(.english) {
      for element in try elements(sample.name, .english) {
        if element.name == "a", let link = element.attributes["href"], link.hasPrefix("/ticket/") {
          seen.insert(sample.name)
          #expect(link.wholeMatch(of: /\/ticket\/\d+\?day=1/) != nil, "\(sample.name): \(link)")
        }
        guard element.name == "form", element.attributes["action"]?.hasPrefix("/tickets/") == true else {
          continue
        }
        seen.insert(sample.name)
        let fields = try DocumentReader.elements(element.inside)
        #expect(
          fields.contains { $0.attributes["name"] == "day" && $0.attributes["value"] == "1" },
          "\(sample.name)")
      }
    }
    #expect(
      seen.isSuperset(of: [
        "bank", "kiosk", "windows", "tickets", "dead", "receipts", "ticket-waiting", "confirm-dead",
        "confirm-all",
      ]), "\(seen)")
    let ticket = try #require(SamplePage.all(.english).first { $0.name == "ticket" })
    #expect(ticket.page.lastingAddress == "/ticket/24?day=1")
  }

  @Test(
    "an event of an earlier day leads to the ticket of that day, like a receipt and a selected row")
  func earlierDays() throws {
    var page = SamplePage.bank
    page.day = 3
    page.events[1].day = 2
    let html = page.html(PageFrame(language: .english))
    #expect(html.contains("/ticket/24?day=2") && html.contains("/ticket/29?day=3"))
    var receipt = SamplePage.receipt
    receipt.day = 2
    let pages: [any WebPage] = [
      ReceiptsPage(rows: [receipt]), LedgerPage(lines: [], account: "customer-712", latest: [receipt]),
    ]
    for book in pages { #expect(book.html(PageFrame(language: .english)).contains("/ticket/24?day=2")) }
    // A selected row is cancelled with its day, and does not become the row of the next one.
    let row = TicketRow(day: 2, ticket: 5, service: .loan, state: .dead, issuedAt: 0)
    let list = TicketsPage(TicketList(rows: [row], total: 1, day: 2))
    #expect(list.html(PageFrame(language: .english)).contains(#"<tr data-key="2-5" data-ticket="5""#))
  }

  @Test("a confirmation is restored from its digits, and nothing else is")
  func confirmed() {
    for bound in [
      ConfirmationToken(count: 1, last: 1, day: 1),
      ConfirmationToken(count: 2_000, last: 1_000_000_000_000, day: 12),
      ConfirmationToken(count: .max, last: .max, day: .max),
    ] {
      #expect(ConfirmationToken(digits: bound.digits) == bound && bound.digits.allSatisfy(\.isWholeNumber))
    }
    let digits = ConfirmationToken(count: 5, last: 7, day: 2).digits
    for text in [
      "", "5", "x" + digits, "-" + digits, String(digits.dropFirst()), digits + digits, "٥" + digits,
    ] {
      #expect(ConfirmationToken(digits: text) == nil, "\(text)")
    }
  }

  @Test("lines of a log are marked by their level, and not by words with the same letters")
  func levels() throws {
    let lines = [
      "ts=1 level=warn event=x", "ts=1 level=error event=x", "ts=1 level=info msg=\"level=warn level=error\"",
      "",
    ]
    let page = WindowLogPage(
      name: "a", lines: lines.enumerated().map { LogLine(number: Int64($0.offset), text: $0.element) })
    let marks = try DocumentReader.elements(page.html(PageFrame(language: .english))).filter {
      $0.name == "span" && $0.attributes["data-key"] != nil
    }
    #expect(marks.map { $0.attributes["class"] } == ["warn", "alarm", "", ""])
  }

  @Test("the numbers of the audit add up, the delayed among them", arguments: Language.allCases)
  func audit(language: Language) throws {
    let figures = try elements("audit", language).filter { $0.name == "dd" }.compactMap { Int($0.inside) }
    #expect(figures.count == 6 && figures[0] == figures.dropFirst().reduce(0, +), "\(figures)")
  }

  @Test(
    "a ticket shows all of its payload and result, or the amount left out", arguments: Language.allCases
  )
  func texts(language: Language) throws {
    func html(_ change: (inout TicketPage) -> Void) -> String {
      var page = TicketPage(
        day: 1, ticket: 1, service: SamplePage.thumbs, issuedAt: 0, state: .done, receipt: SamplePage.receipt)
      page.receipt?.result = nil
      change(&page)
      return page.html(PageFrame(language: language))
    }
    let long = [UInt8](repeating: UInt8(ascii: "x"), count: 48_000)
    let whole = html {
      $0.payload = AbridgedText(long)
      $0.receipt?.result = AbridgedText(TruncatedOutput(first: long)!)
      $0.receipt?.errors = AbridgedText("to-stderr")
    }
    #expect(whole.ranges(of: String(repeating: "x", count: 48_000)).count == 2)
    #expect(whole.contains("to-stderr") && !whole.contains(language == .korean ? "생략" : "left out"))
    let unsaid = language == .korean ? "아직 출력이 없습니다." : "No output yet."
    #expect(!whole.contains(unsaid))
    let cut = html {
      $0.payload = AbridgedText(long + long)
      $0.receipt?.result = AbridgedText(TruncatedOutput(first: [65], last: [66], length: 1_000)!)
    }
    for (hidden, length) in [("30,464", "96,000"), ("998", "1,000")] {
      #expect(
        cut.contains(
          language == .korean
            ? "전체 \(length)바이트 가운데 \(hidden)바이트를 여기서 생략했습니다."
            : "\(hidden) of \(length) bytes are left out here."), "\(length)")
    }
    #expect(
      html {
        $0.state = .serving; $0.receipt = nil
      }.contains(unsaid))
    let receipt = ReceiptRow(
      sequence: 1, day: 1, ticket: 1, service: .loan, outcome: .served, finishedAt: 0,
      result: AbridgedText("a"), errors: AbridgedText("b"), exitCode: 3)
    #expect(receipt.result?.first == "a" && receipt.errors?.first == "b" && receipt.exitCode == 3)
    #expect(html { _ in }.contains(language == .korean ? "출력이 없습니다." : "No output."))
  }

  @Test("a juice is not a choice of the kiosk, which leads to the page of the juices")
  func kiosk() throws {
    let choices = try elements("kiosk").filter { $0.name == "option" }.compactMap { $0.attributes["value"] }
    #expect(choices.contains("deposit") && choices.contains("thumbs") && !choices.contains("juice"))
    #expect(try elements("kiosk").contains { $0.parents.last == "p" && $0.attributes["href"] == "/juice" })
  }

  private var assets: [String: (type: String, bytes: [UInt8])] {
    let all = (0..<bank_web_asset_count()).map { bank_web_asset_at($0) }
    return Dictionary(
      uniqueKeysWithValues: all.map {
        (
          String(cString: $0.name),
          (String(cString: $0.type), sent($0))
        )
      })
  }

  /// An asset as a browser gets it.
  private func sent(_ asset: bank_web_asset) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: asset.length) { room, count in
      count = room.baseAddress.map { bank_web_asset_plain(asset, $0) } ?? 0
    }
  }

  @Test("a sheet and a script are sent without comments and layout, and a drawing unchanged")
  func plain() {
    for asset in (0..<bank_web_asset_count()).map({ bank_web_asset_at($0) }) {
      let whole = String(
        decoding: UnsafeBufferPointer(start: asset.bytes, count: asset.length), as: UTF8.self)
      let sent = String(decoding: sent(asset), as: UTF8.self)
      guard String(cString: asset.type) != "image/svg+xml" else {
        #expect(sent == whole)
        continue
      }
      let mark = String(cString: asset.type).hasPrefix("text/css") ? "/*" : "//"
      let lines = whole.split(separator: "\n").map { $0.drop { $0 == " " } }.filter { !$0.isEmpty }
      #expect(
        sent.split(separator: "\n") == lines.filter { !$0.hasPrefix(mark) }, "\(String(cString: asset.name))")
    }
  }

  @Test(
    "every file that a page or a script loads is in the executable, with a digest of its own")
  func files() throws {
    let assets = assets
    for sample in SamplePage.all(.korean) {
      for element in try elements(sample.name) {
        for value in [element.attributes["src"], element.attributes["href"]].compactMap({ $0 }) {
          guard value.hasPrefix("/assets/") else { continue }
          #expect(assets[String(value.dropFirst(8))] != nil, "\(value)")
        }
      }
    }
    let script = String(decoding: try #require(assets["page.js"]).bytes, as: UTF8.self)
    let imported = script.matches(of: /import[ \(]'\.\/([a-z]+\.js)'/).map { String($0.1) }
    #expect(
      imported.count == 6 && imported.allSatisfy { assets[$0]?.type == "text/javascript; charset=utf-8" })
    let digests = (0..<bank_web_asset_count()).map { bank_web_asset_digest(bank_web_asset_at($0)) }
    #expect(Set(digests).count == digests.count)
    for (name, asset) in assets {
      #expect(!asset.bytes.isEmpty && String(validating: asset.bytes, as: UTF8.self) != nil, "\(name)")
    }
  }

  @Test("the first page weighs 60 kB at most with all that it needs, also with 200 waiting customers")
  func weight() throws {
    var page = SamplePage.bank
    page.waiting = (1...200).map { WaitingRow(ticket: 1_000_000 + $0, service: .deposit) }
    let html = page.html(PageFrame(language: .korean, key: String(repeating: "k", count: 32)))
    let loaded = [
      "style.css", "page.js", "live.js", "timer.js", "dialog.js", "server.js", "proof.js", "icon.svg",
    ]
    // The worker and its stream are loaded after the first paint, once for all windows of a browser.
    #expect(!html.contains("more.css"))
    let assets = assets
    let total = loaded.reduce(html.utf8.count) { $0 + (assets[$1]?.bytes.count ?? 60_000) }
    #expect(total <= 60_000, "\(total) bytes")
  }
}
