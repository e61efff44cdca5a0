// Plots in one line: a bar of one eighth to eight eighths of a line's height for each number.
// Invariant: zero has the lowest bar, and a positive maximum has the full one.

/// Plots of numbers as block characters.
enum Sparkline {
  private static let bars = Array("▁▂▃▄▅▆▇█")

  /// The plot of these numbers.
  /// - Parameter values: At least 0; negative numbers count as 0.
  static func text(_ values: some Collection<Int64>) -> String {
    let highest = max(1, values.max() ?? 1)
    return String(
      values.map { value in
        guard value > 0 else { return bars[0] }
        // The division is in floating point, because a multiple of the largest integer would overflow.
        return bars[min(7, 1 + Int(Double(value) / Double(highest) * 6))]
      })
  }
}
