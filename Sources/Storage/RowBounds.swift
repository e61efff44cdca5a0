// Bounds on the keys of a table in which most possible keys have no row.
// Invariant: a key outside the bounds has no row, so it need not be queried.

/// Range that contains the keys of a table.
struct RowBounds {
  private var bounds: ClosedRange<Int64>?

  /// Makes the bounds from the lowest and the highest key; both are nil for an empty table.
  init(_ lowest: Int64? = nil, _ highest: Int64? = nil) {
    if let lowest, let highest, lowest <= highest { bounds = lowest...highest }
  }

  /// True if the key is in the bounds, so that it may have a row.
  func mayHave(_ number: Int64) -> Bool { bounds?.contains(number) ?? false }
  /// True if any key of the range is in the bounds.
  func mayHaveAny(in numbers: ClosedRange<Int64>) -> Bool { bounds?.overlaps(numbers) ?? false }

  mutating func add(_ numbers: ClosedRange<Int64>) {
    let bounds = bounds ?? numbers
    self.bounds =
      min(bounds.lowerBound, numbers.lowerBound)...max(bounds.upperBound, numbers.upperBound)
  }
}
