// What scripts outside of the repository look for on the pages, to the letter, and the words of the original screens.

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

  @Test("a juice says whether it can be made, and a fruit how many there are")
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

  @Test("every way that leads on leads to a page of the table")
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

  private var assets: [String: (type: String, bytes: [UInt8])] {
    let all = (0..<bank_web_asset_count()).map { bank_web_asset_at($0) }
    return Dictionary(
      uniqueKeysWithValues: all.map {
        (
          String(cString: $0.name),
          (String(cString: $0.type), Array(UnsafeBufferPointer(start: $0.bytes, count: $0.length)))
        )
      })
  }

  @Test(
    "every file that a page or a script asks for stands in the executable, and each has a digest of its own")
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
      imported.count == 5 && imported.allSatisfy { assets[$0]?.type == "text/javascript; charset=utf-8" })
    let digests = (0..<bank_web_asset_count()).map { bank_web_asset_digest(bank_web_asset_at($0)) }
    #expect(Set(digests).count == digests.count)
    for (name, asset) in assets {
      #expect(!asset.bytes.isEmpty && String(validating: asset.bytes, as: UTF8.self) != nil, "\(name)")
    }
  }

  @Test("the first page weighs 60 kB at most with everything that it needs, with 200 who wait, too")
  func weight() throws {
    var page = SamplePage.bank
    page.waiting = (1...200).map { WaitingRow(ticket: 1_000_000 + $0, service: .deposit) }
    let html = page.html(PageFrame(language: .korean, key: String(repeating: "k", count: 32)))
    let loaded = ["style.css", "page.js", "live.js", "timer.js", "dialog.js", "icon.svg"]
    #expect(!html.contains("more.css"))
    let assets = assets
    let total = loaded.reduce(html.utf8.count) { $0 + (assets[$1]?.bytes.count ?? 60_000) }
    #expect(total <= 60_000, "\(total) bytes")
  }
}
