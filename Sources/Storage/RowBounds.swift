// Owns between which numbers a table has rows that few have. It knows no table.
// Invariant: whoever is outside has no row, so that those who have none cost no look into it.

/// Between which numbers there may be rows.
struct RowBounds {
  private var bounds: ClosedRange<Int64>?

  /// The bounds of a table with the lowest and the highest number in it; nil for none.
  init(_ lowest: Int64? = nil, _ highest: Int64? = nil) {
    if let lowest, let highest, lowest <= highest { bounds = lowest...highest }
  }

  func mayHave(_ number: Int64) -> Bool { bounds?.contains(number) ?? false }
  func mayHaveAny(in numbers: ClosedRange<Int64>) -> Bool { bounds?.overlaps(numbers) ?? false }

  mutating func add(_ numbers: ClosedRange<Int64>) {
    let bounds = bounds ?? numbers
    self.bounds =
      min(bounds.lowerBound, numbers.lowerBound)...max(bounds.upperBound, numbers.upperBound)
  }
}
