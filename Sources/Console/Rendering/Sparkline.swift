// Owns small plots in one line: a bar of an eighth to eight eighths of a line's height for each number.
// Invariant: as many places wide as there are numbers; only nothing has the lowest bar, and the highest number the full one.

enum Sparkline {
  private static let bars = Array("▁▂▃▄▅▆▇█")

  /// - Parameter values: At least 0 each; what is below counts as nothing.
  static func text(_ values: some Collection<Int64>) -> String {
    let highest = max(1, values.max() ?? 1)
    return String(
      values.map { value in
        guard value > 0 else { return bars[0] }
        // Not in whole numbers, of which the largest times seven is none.
        return bars[min(7, 1 + Int(Double(value) / Double(highest) * 6))]
      })
  }
}
