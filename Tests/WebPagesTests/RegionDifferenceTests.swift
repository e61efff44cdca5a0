// For any two values a plain list that applies the changes as the script in the page does must show the
// second value afterwards.

import JSON
import Testing
import WebPages

@testable import BankModel

@Suite("Changes between two values of a page")
struct RegionDifferenceTests {
  private typealias Row = (key: String, html: String)

  /// The effect of live.js on the rows of a list; nil for a row that was to be placed before a missing one.
  private func applied(_ change: RegionChange, to rows: [Row]) -> [Row]? {
    switch change {
    case .block: return nil
    case .allRows(_, let all): return all
    case .rows(_, let removed, let set):
      var rows = rows.filter { !removed.contains($0.key) }
      for placement in set {
        rows.removeAll { $0.key == placement.key }
        let row = (key: placement.key, html: placement.html)
        if placement.before.isEmpty {
          rows.append(row)
        } else {
          guard let place = rows.firstIndex(where: { $0.key == placement.before }) else { return nil }
          rows.insert(row, at: place)
        }
      }
      return rows
    }
  }

  private func list(_ generator: inout SeededGenerator) -> [Row] {
    (0..<12).shuffled(using: &generator).prefix(Int.random(in: 0...12, using: &generator)).map {
      ("\($0)", "<li>\($0).\(Int.random(in: 0...2, using: &generator))</li>")
    }
  }

  @Test("a list that applies it shows the second value, in its order", arguments: 0..<2_000)
  func lists(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let (old, new) = (list(&generator), list(&generator))
    let difference = RegionDifference(
      from: [.rows(name: "waiting", rows: old)], to: [.rows(name: "waiting", rows: new)])
    guard let change = difference.changes.first else {
      #expect(old.elementsEqual(new, by: ==), "seed \(seed)")
      return
    }
    let shown = try #require(applied(change, to: old), "seed \(seed)")
    #expect(shown.elementsEqual(new, by: ==), "seed \(seed): \(old) to \(new) gave \(shown)")
  }

  @Test("only rows that leave at the head and come at the end are sent")
  func small() {
    let old: [Region] = [.rows(name: "waiting", rows: [("7", "a"), ("8", "b"), ("9", "c")])]
    let new: [Region] = [.rows(name: "waiting", rows: [("8", "b"), ("9", "c"), ("10", "d")])]
    #expect(
      RegionDifference(from: old, to: new).json
        == #"{"blocks":{},"rows":{"waiting":{"gone":["7"],"set":[["10","d",""]]}}}"#)
  }

  @Test("an unchanged region is not sent, and a new one comes whole")
  func regions() {
    let old: [Region] = [.block(name: "a", html: "1"), .block(name: "b", html: "1")]
    let new: [Region] = [
      .block(name: "a", html: "1"), .block(name: "b", html: #"2 "quoted""#),
      .rows(name: "c", rows: [("1", "x")]),
    ]
    #expect(
      RegionDifference(from: old, to: new).json
        == #"{"blocks":{"b":"2 \"quoted\""},"rows":{"c":{"all":[["1","x"]]}}}"#)
    #expect(RegionDifference(from: new, to: new).isEmpty)
  }

  @Test("many rows that look alike except for their keys are written once, and expanded as before")
  func looks() throws {
    func row(_ number: Int) -> (key: String, html: String) {
      (
        "\(number)",
        #"<li data-key="\#(number)"><a href="/ticket/\#(number)">\#(number) - \#(number % 2)</a></li>"#
      )
    }
    let old: [Region] = [.rows(name: "waiting", rows: (100..<300).map(row))]
    let new: [Region] = [.rows(name: "waiting", rows: (500..<700).map(row) + [("x", "<li>\u{7F}x</li>")])]
    let text = RegionDifference(from: old, to: new).json
    #expect(text.utf8.count < 4_000)
    let told = try #require(JSONReader.read(Array(text.utf8)).object)
    let written = try #require(told["looks"]?.array)
    let looks = written.compactMap { $0.text }
    #expect(looks.count == 2 && looks.allSatisfy { $0.contains("\u{7F}") })
    let all = try #require(told["rows"]?.object?["waiting"]?.object?["all"]?.array)
    let spelled = all.compactMap { $0.array }.map { row -> Row in
      let key = row[0].text ?? ""
      let html =
        row[1].text
        ?? looks[row[1].integer ?? 0].split(
          separator: "\u{7F}", omittingEmptySubsequences: false
        ).joined(separator: key)
      return (key, html)
    }
    guard case .rows(_, let rows) = new[0] else { return }
    #expect(spelled.elementsEqual(rows, by: ==))
  }

  @Test("lists can be left unchanged")
  func blocks() {
    let old: [Region] = [.block(name: "a", html: "1"), .rows(name: "b", rows: [("1", "x")])]
    let new: [Region] = [.block(name: "a", html: "2"), .rows(name: "b", rows: [])]
    #expect(RegionDifference(from: old, to: new).hasLists)
    let blocks = RegionDifference(from: old, to: new, withoutLists: true)
    #expect(!blocks.hasLists && blocks.json == #"{"blocks":{"a":"2"},"rows":{}}"#)
  }

  @Test("the text is one line of JSON, with any contents")
  func json() throws {
    let regions: [Region] = [
      .block(name: "a", html: "\n\r\t\"\\\u{1}</script>예금"), .rows(name: "b", rows: [("1", "<li>\n</li>")]),
    ]
    let text = RegionDifference(snapshot: regions).json
    #expect(!text.contains("\n"))
    _ = try JSONReader.read(Array(text.utf8))
  }
}

extension JSONNode {
  fileprivate var object: [String: JSONNode]? {
    guard case .object(let members) = content else { return nil }
    return Dictionary(members.map { ($0.key, $0.value) }, uniquingKeysWith: { first, _ in first })
  }
  fileprivate var array: [JSONNode]? { if case .array(let nodes) = content { nodes } else { nil } }
  fileprivate var text: String? { if case .string(let text) = content { text } else { nil } }
  fileprivate var integer: Int? { if case .number(let digits) = content { Int("\(digits)") } else { nil } }
}
