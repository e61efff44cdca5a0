// Owns which row of a list is selected.
// Invariant: the selection follows its row wherever that goes, and stays at its place where the row is gone. A list that
// follows its end shows its last row until somebody moves away from it.

struct RowCursor: Sendable, Equatable {
  /// What the row is known by; nil before there was any, or while the end is followed.
  private(set) var key: String?
  private var place = 0
  private let followsEnd: Bool

  init(followsEnd: Bool = false) { self.followsEnd = followsEnd }

  /// The place of the selected row among these, in the order in which they are shown; nil where there is none.
  func chosen(in keys: [String]) -> Int? {
    guard !keys.isEmpty else { return nil }
    guard let key else { return followsEnd ? keys.count - 1 : 0 }
    return keys.firstIndex(of: key) ?? min(place, keys.count - 1)
  }

  /// Takes hold of the row that is selected now.
  mutating func settle(in keys: [String]) {
    guard let chosen = chosen(in: keys) else { return }
    if key == nil, followsEnd { return }
    (key, place) = (keys[chosen], chosen)
  }

  /// Moves by so many rows, and no further than to the first or the last.
  mutating func move(by rows: Int, in keys: [String]) {
    guard let chosen = chosen(in: keys) else { return }
    let sum = chosen.addingReportingOverflow(rows)
    let next = max(0, min(sum.overflow ? (rows < 0 ? 0 : .max) : sum.partialValue, keys.count - 1))
    (key, place) = (followsEnd && next == keys.count - 1 ? nil : keys[next], next)
  }
}
