// Owns how fast simulated time runs, and how it divides a span. How a speed is written is `SpeedText`'s.
// Invariant: a factor is above zero. Nothing here can fail or trap.

import Arguments
import Time

/// A factor that divides every simulated span of time.
public enum Speed: Sendable, Hashable {
  /// A factor in thousandths, at least 1: 500 is half as fast as life.
  case thousandths(Int64)
  /// Every span becomes zero.
  case max

  /// As fast as life.
  public static let one = Speed.thousandths(1000)

  /// The speed of a factor that an option or a file has given.
  public init(_ factor: SpeedFactor) {
    switch factor {
    case .thousandths(let thousandths): self = .thousandths(Swift.max(1, thousandths))
    case .max: self = .max
    }
  }

  /// The span at this speed, cut off to whole nanoseconds.
  public func scaled(_ span: TimeSpan) -> TimeSpan {
    factor.dividing(span)
  }

  /// The text that an option takes: `10`, `0.5`, `max`.
  public var text: String { factor.description }

  private var factor: SpeedFactor {
    switch self {
    case .thousandths(let thousandths): .thousandths(Swift.max(1, thousandths))
    case .max: .max
    }
  }
}
