// Difference between two values of a page, for the script in the page.
// Invariant: a document of the first value equals the second one after the changes, including the order of rows, except
// for skipped lists. Unchanged parts are not touched, so focus, selection and typed text are kept.
import JSON

/// Change of one region of a page, which the script applies.
public enum RegionChange: Sendable, Equatable {
  /// A row that is inserted, or that replaces the row with the same key. It is placed before the row `before`.
  public struct Placement: Sendable, Equatable {
    /// Key and HTML of the row.
    public var key, html: String
    /// Key of the following row, which exists when this change is applied; "" to place the row at the end.
    public var before: String
  }

  /// Replaces the content.
  case block(name: String, html: String)
  /// Removes the rows `removed`, then inserts the rows `set` in their order.
  case rows(name: String, removed: [String], set: [Placement])
  /// Replaces the list by these rows in this order. Equal rows stay untouched.
  case allRows(name: String, rows: [(key: String, html: String)])

  /// True for a change of a list.
  var isListChange: Bool { if case .block = self { false } else { true } }

  /// True if both make the same change to the same region.
  public static func == (left: RegionChange, right: RegionChange) -> Bool {
    switch (left, right) {
    case (.block(let name, let html), .block(let other, let otherHTML)): name == other && html == otherHTML
    case (.rows(let name, let removed, let set), .rows(let other, let otherRemoved, let otherSet)):
      name == other && removed == otherRemoved && set == otherSet
    case (.allRows(let name, let rows), .allRows(let other, let otherRows)):
      name == other && rows.elementsEqual(otherRows, by: ==)
    default: false
    }
  }
}

/// The changes that turn one value of a page into another.
public struct RegionDifference: Sendable, Equatable {
  /// Changes by region; empty if the values are equal.
  public private(set) var changes: [RegionChange] = []

  /// Makes the changes that set all regions.
  public init(snapshot regions: [Region]) {
    changes = regions.map {
      switch $0 {
      case .block(let name, let html): .block(name: name, html: html)
      case .rows(let name, let rows): .allRows(name: name, rows: rows)
      }
    }
  }

  /// Changes from one value of the page to another. A region that is new or has changed its kind is sent completely.
  ///
  /// - Parameter withoutLists: skip lists.
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
        return .rows(name: name, removed: change.gone, set: change.set)
      case (_, .rows(let name, let rows)): return .allRows(name: name, rows: rows)
      case (_, .block(let name, let html)): return .block(name: name, html: html)
      }
    }
  }

  /// A list with more changes than this is sent completely.
  private static let few = 64

  /// True if a list has changed.
  public var hasLists: Bool { changes.contains { $0.isListChange } }

  /// True if nothing has changed.
  public var isEmpty: Bool { changes.isEmpty }

  /// Key and HTML of a row.
  private typealias Row = (key: String, html: String)

  /// The change of a list: keys of the removed rows (`gone`), and rows to insert or to replace (`set`).
  ///
  /// Rows whose order is unchanged stay in place, and are replaced if their HTML differs. Every other row is inserted,
  /// from the last to the first, so that the row that follows it exists.
  private static func difference(
    from old: [Row], to new: [Row]
  ) -> (gone: [String], set: [RegionChange.Placement]) {
    let indexes = Dictionary(
      old.enumerated().map { ($0.element.key, $0.offset) }, uniquingKeysWith: { first, _ in first })
    let present = Set(new.map(\.key))
    var set: [RegionChange.Placement] = []
    var reached = -1
    for (offset, row) in new.enumerated() {
      let index = indexes[row.key]
      let stays = index.map { $0 > reached } ?? false
      if stays, let index { reached = index }
      if stays, let index, old[index].html == row.html { continue }
      let before = offset + 1 < new.count ? new[offset + 1].key : ""
      set.append(RegionChange.Placement(key: row.key, html: row.html, before: before))
    }
    return (old.map(\.key).filter { !present.contains($0) }, set.reversed())
  }
}
