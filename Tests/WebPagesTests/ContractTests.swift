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
