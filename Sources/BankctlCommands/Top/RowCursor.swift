// Selection of a row of a list, which may change at any time.
// Invariant: the selection follows its row, and keeps its index if the row was removed. A list that follows
// its end selects its last row until the user moves away.

/// Selection of one row by its key.
struct RowCursor: Sendable, Equatable {
  /// Key of the selected row; nil until the list had a row, or while the selection follows the end.
  private(set) var key: String?
  private var place = 0
  private let followsEnd: Bool

  init(followsEnd: Bool = false) { self.followsEnd = followsEnd }

  /// Index of the selected row; nil for an empty list.
  func chosen(in keys: [String]) -> Int? {
    guard !keys.isEmpty else { return nil }
    guard let key else { return followsEnd ? keys.count - 1 : 0 }
    return keys.firstIndex(of: key) ?? min(place, keys.count - 1)
  }

  /// Binds the selection to the key of the row that is selected now, so that it follows this row when the list changes.
  mutating func settle(in keys: [String]) {
    guard let chosen = chosen(in: keys) else { return }
    if key == nil, followsEnd { return }
    (key, place) = (keys[chosen], chosen)
  }

  /// Moves the selection, at most to the first or last row.
  mutating func move(by rows: Int, in keys: [String]) {
    guard let chosen = chosen(in: keys) else { return }
    let sum = chosen.addingReportingOverflow(rows)
    let next = max(0, min(sum.overflow ? (rows < 0 ? 0 : .max) : sum.partialValue, keys.count - 1))
    (key, place) = (followsEnd && next == keys.count - 1 ? nil : keys[next], next)
  }
}
