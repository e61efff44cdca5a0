// A plain list that applies changes as the script in the page does must show the second value afterwards, for any two values.

import JSON
import Testing
import WebPages

@testable import BankModel

@Suite("What has changed between two values of a page")
struct RegionDifferenceTests {
  private typealias Row = (key: String, html: String)

  /// What live.js does to the rows of a list; nil for a row that was to stand before one that is not there.
  private func applied(_ change: RegionChange, to rows: [Row]) -> [Row]? {
    switch change {
    case .block: return nil
    case .allRows(_, let all): return all
    case .rows(_, let gone, let set):
      var rows = rows.filter { !gone.contains($0.key) }
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

  @Test("whoever leaves at the head and comes at the end are all that is sent")
  func small() {
    let old: [Region] = [.rows(name: "waiting", rows: [("7", "a"), ("8", "b"), ("9", "c")])]
    let new: [Region] = [.rows(name: "waiting", rows: [("8", "b"), ("9", "c"), ("10", "d")])]
    #expect(
      RegionDifference(from: old, to: new).json
        == #"{"blocks":{},"rows":{"waiting":{"gone":["7"],"set":[["10","d",""]]}}}"#)
  }

  @Test("a region that is the same is not sent, and one that is new comes whole")
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

  @Test("the text is one line of JSON, whatever stands in it")
  func json() throws {
    let regions: [Region] = [
      .block(name: "a", html: "\n\r\t\"\\\u{1}</script>예금"), .rows(name: "b", rows: [("1", "<li>\n</li>")]),
    ]
    let text = RegionDifference(snapshot: regions).json
    #expect(!text.contains("\n"))
    _ = try JSONReader.read(Array(text.utf8))
  }
}
