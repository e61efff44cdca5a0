// Speed of simulated time. `SpeedText` defines the syntax.
// Invariant: a factor below one thousandth counts as one thousandth.

import Arguments
import Time

/// Factor that divides simulated time spans.
public enum Speed: Sendable, Hashable {
  /// Factor in thousandths, at least 1: 500 is half of real time.
  case thousandths(Int64)
  /// Spans become zero.
  case max

  /// Real time.
  public static let one = Speed.thousandths(1000)

  /// The speed of a factor from an option or a file.
  public init(_ factor: SpeedFactor) {
    switch factor {
    case .thousandths(let thousandths): self = .thousandths(Swift.max(1, thousandths))
    case .max: self = .max
    }
  }

  /// The span at this speed, truncated to whole nanoseconds.
  public func scaled(_ span: TimeSpan) -> TimeSpan {
    factor.dividing(span)
  }

  /// The text for an option: `10`, `0.5`, `max`.
  public var text: String { factor.description }

  private var factor: SpeedFactor {
    switch self {
    case .thousandths(let thousandths): .thousandths(Swift.max(1, thousandths))
    case .max: .max
    }
  }
}
