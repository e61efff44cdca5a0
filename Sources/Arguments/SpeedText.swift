// Speed of simulated time: `10`, `0.5`, `max`, as an exact factor that divides a duration.
// Invariant: a parsed factor is a whole number of thousandths above zero, or "max". Dividing does not trap.
// Errors: `SpeedText.Failure` for an invalid text.

import Time

/// Factor that divides simulated durations.
public enum SpeedFactor: Sendable, Hashable, CustomStringConvertible {
  /// A factor in thousandths, 1…1,000,000,000,000: 500 is `0.5`.
  case thousandths(Int64)
  /// Every duration becomes zero.
  case max

  /// Real time: the factor 1.
  public static let one = SpeedFactor.thousandths(1000)

  /// The factor as text, in the format of ``SpeedText/parse(_:)``.
  public var description: String { SpeedText.print(self) }

  /// A duration divided by this factor, truncated to whole nanoseconds: zero for `max`, the longest duration on
  /// overflow.
  public func dividing(_ duration: TimeSpan) -> TimeSpan {
    guard duration > .zero, case .thousandths(let factor) = self else { return .zero }
    guard factor > 0 else { return TimeSpan(nanoseconds: .max) }
    let product = duration.nanoseconds.multipliedFullWidth(by: 1000)
    // The quotient fits exactly if it is below 2⁶³, that is if the doubled high word is below the factor.
    let doubledHigh = product.high << 1 | Int64(product.low >> 63)
    guard doubledHigh < factor else { return TimeSpan(nanoseconds: .max) }
    return TimeSpan(nanoseconds: factor.dividingFullWidth(product).quotient)
  }
}

/// Parses and formats speed factors: a whole number of thousandths above zero, written as a decimal, or `max`.
public enum SpeedText {
  /// Reason why a text is not a speed.
  public enum Failure: Error, Sendable, Hashable {
    /// Neither a decimal number nor `max`.
    case malformed
    /// Negative factor.
    case negative
    /// Zero: no simulated duration would end.
    case zero
    /// More than three decimal places.
    case tooFine
    /// More than a billion; use `max`.
    case tooLarge

    /// A sentence with the remedy. The caller adds the faulty text.
    public func advice(in language: TextLanguage) -> String {
      language == .english ? UsageError.english(self) : UsageError.korean(self)
    }
  }

  /// The largest numeric factor.
  static let largest: Int64 = 1_000_000_000

  /// Parses a speed factor such as `10`, `0.5` or `max`.
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

  /// Formats a speed. ``parse(_:)`` of the result returns the same factor if it is valid.
  public static func print(_ speed: SpeedFactor) -> String {
    switch speed {
    case .max: "max"
    case .thousandths(let thousandths): DecimalText.print(thousandths.magnitude, places: 3)
    }
  }
}
