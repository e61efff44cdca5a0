// Owns what has changed between two values of a page, as the script in the page applies it. Invariant: a document that shows
// the first value shows the second one after its changes, in the order of its rows, too; what has not changed is not touched,
// so that focus, selection and what somebody is typing stay.
import JSON

/// One region and what becomes of it.
public enum RegionChange: Sendable, Equatable {
  /// A row that is put in, in place of the one with its key if there is one, before the row with a key or, with "", at the end.
  public struct Placement: Sendable, Equatable {
    /// The row.
    public var key, html: String
    /// The row behind it, which is there already when this is done; "" for none.
    public var before: String
  }

  /// The inside is replaced.
  case block(name: String, html: String)
  /// Rows are taken out first, and then others are put in, one after the other.
  case rows(name: String, gone: [String], set: [Placement])
  /// Only these rows are there afterwards, in this order. Rows that are the same stay as they are.
  case allRows(name: String, rows: [(key: String, html: String)])

  /// Whether both do the same to the same region.
  public static func == (left: RegionChange, right: RegionChange) -> Bool {
    switch (left, right) {
    case (.block(let name, let html), .block(let other, let otherHTML)): name == other && html == otherHTML
    case (.rows(let name, let gone, let set), .rows(let other, let otherGone, let otherSet)):
      name == other && gone == otherGone && set == otherSet
    case (.allRows(let name, let rows), .allRows(let other, let otherRows)):
      name == other && rows.elementsEqual(otherRows, by: ==)
    default: false
    }
  }
}

/// What has changed between two values of a page.
public struct RegionDifference: Sendable, Equatable {
  /// Region after region; empty where nothing has changed.
  public private(set) var changes: [RegionChange] = []

  /// Everything, for whoever has seen nothing or too little.
  public init(snapshot regions: [Region]) {
    changes = regions.map {
      switch $0 {
      case .block(let name, let html): .block(name: name, html: html)
      case .rows(let name, let rows): .allRows(name: name, rows: rows)
      }
    }
  }

  /// What turns the one into the other. A region that the first value did not have, or had of another kind, comes whole.
  public init(from old: [Region], to new: [Region]) {
    let former = Dictionary(old.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    changes = new.compactMap { region in
      let before = former[region.name]
      guard before != region else { return nil }
      switch (before, region) {
      case (.rows(_, let oldRows), .rows(let name, let newRows)):
        let change = Self.difference(from: oldRows, to: newRows)
        return .rows(name: name, gone: change.gone, set: change.set)
      case (_, .rows(let name, let rows)): return .allRows(name: name, rows: rows)
      case (_, .block(let name, let html)): return .block(name: name, html: html)
      }
    }
  }

  /// Nothing has changed.
  public var isEmpty: Bool { changes.isEmpty }

  private typealias Row = (key: String, html: String)

  /// Rows that stand behind one another as before stay; every other one is put in, from the last to the first, so that the row
  /// behind it is there.
  private static func difference(
    from old: [Row], to new: [Row]
  ) -> (gone: [String], set: [RegionChange.Placement]) {
    let places = Dictionary(
      old.enumerated().map { ($0.element.key, $0.offset) }, uniquingKeysWith: { first, _ in first })
    let present = Set(new.map(\.key))
    var set: [RegionChange.Placement] = []
    var reached = -1
    for (offset, row) in new.enumerated() {
      let place = places[row.key]
      let stays = place.map { $0 > reached } ?? false
      if stays, let place { reached = place }
      if stays, let place, old[place].html == row.html { continue }
      let before = offset + 1 < new.count ? new[offset + 1].key : ""
      set.append(RegionChange.Placement(key: row.key, html: row.html, before: before))
    }
    return (old.map(\.key).filter { !present.contains($0) }, set.reversed())
  }
}

extension RegionDifference {
  /// What the script in the page is sent: `{"blocks":{"name":"html"},"rows":{"name":{"gone":["7"],"set":[["8","<li…>",
  /// "9"]]}}}` on one line; of a list that comes whole `"all":[["8","<li…>"],…]` in place of `gone` and `set`.
  public var json: String {
    var bytes: [UInt8] = Array(#"{"blocks":{"#.utf8)
    append(changes.filter { if case .block = $0 { true } else { false } }, to: &bytes)
    bytes.append(contentsOf: #"},"rows":{"#.utf8)
    append(changes.filter { if case .block = $0 { false } else { true } }, to: &bytes)
    bytes.append(contentsOf: "}}".utf8)
    return String(decoding: bytes, as: UTF8.self)
  }

  private func append(_ changes: [RegionChange], to bytes: inout [UInt8]) {
    Self.list(changes, to: &bytes) { change, bytes in
      switch change {
      case .block(let name, let html):
        Self.name(name, to: &bytes)
        JSONText.append(html, to: &bytes)
      case .rows(let name, let gone, let set):
        Self.name(name, to: &bytes)
        bytes.append(contentsOf: #"{"gone":["#.utf8)
        Self.list(gone, to: &bytes) { JSONText.append($0, to: &$1) }
        bytes.append(contentsOf: #"],"set":["#.utf8)
        Self.list(set, to: &bytes) { Self.texts([$0.key, $0.html, $0.before], to: &$1) }
        bytes.append(contentsOf: "]}".utf8)
      case .allRows(let name, let rows):
        Self.name(name, to: &bytes)
        bytes.append(contentsOf: #"{"all":["#.utf8)
        Self.list(rows, to: &bytes) { Self.texts([$0.key, $0.html], to: &$1) }
        bytes.append(contentsOf: "]}".utf8)
      }
    }
  }

  private static func name(_ name: String, to bytes: inout [UInt8]) {
    JSONText.append(name, to: &bytes)
    bytes.append(UInt8(ascii: ":"))
  }

  private static func texts(_ texts: [String], to bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "["))
    list(texts, to: &bytes) { JSONText.append($0, to: &$1) }
    bytes.append(UInt8(ascii: "]"))
  }

  private static func list<Element>(
    _ elements: [Element], to bytes: inout [UInt8], _ each: (Element, inout [UInt8]) -> Void
  ) {
    for (offset, element) in elements.enumerated() {
      if offset > 0 { bytes.append(UInt8(ascii: ",")) }
      each(element, &bytes)
    }
  }
}
