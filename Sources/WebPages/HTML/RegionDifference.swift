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

  /// Whether it is a list that changes.
  var isOfList: Bool { if case .block = self { false } else { true } }

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
  ///
  /// - Parameter withoutLists: Whether lists are left as they are.
  public init(from old: [Region], to new: [Region], withoutLists: Bool = false) {
    let former = Dictionary(old.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    changes = new.compactMap { region in
      if withoutLists, region.isList { return nil }
      let before = former[region.name]
      guard before != region else { return nil }
      switch (before, region) {
      case (.rows(_, let oldRows), .rows(let name, let newRows)):
        let change = Self.difference(from: oldRows, to: newRows)
        if change.gone.count + change.set.count > Self.few { return .allRows(name: name, rows: newRows) }
        return .rows(name: name, gone: change.gone, set: change.set)
      case (_, .rows(let name, let rows)): return .allRows(name: name, rows: rows)
      case (_, .block(let name, let html)): return .block(name: name, html: html)
      }
    }
  }

  /// With more changes than so many a list comes whole: that says less of each row, and is sooner put in place.
  private static let few = 64

  /// Whether a list has changed.
  public var hasLists: Bool { changes.contains { $0.isOfList } }

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
