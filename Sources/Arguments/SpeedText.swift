// How fast simulated time runs: `10`, `0.5`, `max`. Owns: the speed factor as an exact number, its text, and
// how it divides a duration. Must not know what is simulated. Invariant: a factor is a whole number of
// thousandths above zero, or "max"; every text gives a factor or a typed refusal, and dividing never traps.

import Time

/// A factor that divides every simulated duration.
public enum SpeedFactor: Sendable, Hashable, CustomStringConvertible {
  /// A factor in thousandths, 1…1,000,000,000,000: 500 is `0.5`.
  case thousandths(Int64)
  /// Every duration becomes zero.
  case max

  /// Real time: the factor 1.
  public static let one = SpeedFactor.thousandths(1000)

  /// The text that ``SpeedText/parse(_:)`` reads back.
  public var description: String { SpeedText.print(self) }

  /// A duration divided by this factor, cut off to whole nanoseconds; the longest there is where it would be longer.
  public func dividing(_ duration: TimeSpan) -> TimeSpan {
    guard duration > .zero, case .thousandths(let factor) = self else { return .zero }
    guard factor > 0 else { return TimeSpan(nanoseconds: .max) }
    let product = duration.nanoseconds.multipliedFullWidth(by: 1000)
    // The quotient fits exactly when it is below 2⁶³, which holds when the doubled high word is below the factor.
    let doubledHigh = product.high << 1 | Int64(product.low >> 63)
    guard doubledHigh < factor else { return TimeSpan(nanoseconds: .max) }
    return TimeSpan(nanoseconds: factor.dividingFullWidth(product).quotient)
  }
}

/// Reads and writes speed factors: a decimal above zero with at most three places, or `max`.
public enum SpeedText {
  /// Why a text is not a speed.
  public enum Failure: Error, Sendable, Hashable {
    /// Neither a decimal number nor `max`.
    case malformed
    /// A minus sign stands before it.
    case negative
    /// Zero: time would stand still.
    case zero
    /// More than three places after the point.
    case tooFine
    /// More than a billion; `max` is what is meant.
    case tooLarge

    /// A sentence that says what to do, for whoever says on what it failed.
    public func advice(in language: TextLanguage) -> String {
      language == .english ? UsageError.english(self) : UsageError.korean(self)
    }
  }

  /// The largest factor that is a number.
  static let largest: Int64 = 1_000_000_000

  /// Reads a speed.
  ///
  /// - Throws: A ``Failure``; nothing is rounded.
  public static func parse(_ text: String) throws(Failure) -> SpeedFactor {
    if text == "max" { return .max }
    var rest = Array(text.utf8)[...]
    if rest.first == UInt8(ascii: "-") { throw .negative }
    guard let number = DecimalText(consuming: &rest), rest.isEmpty else { throw .malformed }
    guard let whole = number.whole, whole <= largest else { throw .tooLarge }
    guard let part = number.fraction(of: 1000) else { throw .tooFine }
    let thousandths = whole * 1000 + part
    if thousandths == 0 { throw .zero }
    if thousandths > largest * 1000 { throw .tooLarge }
    return .thousandths(thousandths)
  }

  /// Writes a speed so that ``parse(_:)`` gives the same one back.
  public static func print(_ speed: SpeedFactor) -> String {
    switch speed {
    case .max: "max"
    case .thousandths(let thousandths): DecimalText.print(thousandths.magnitude, places: 3)
    }
  }
}
