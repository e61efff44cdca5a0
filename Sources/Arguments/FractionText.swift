// Fractions from 0 to 1 as text: `0.25`.
// Invariant: a fraction is a whole number of thousandths; nothing is rounded.

/// Parses and formats fractions in thousandths.
public enum FractionText {
  /// Parses a decimal number from 0 to 1 into thousandths; nil for other text, or if more than three places are needed.
  public static func parse(_ text: String) -> Int32? {
    var rest = Array(text.utf8)[...]
    guard let number = DecimalText(consuming: &rest), rest.isEmpty, let whole = number.whole, whole <= 1,
      let part = number.fraction(of: 1000), whole * 1000 + part <= 1000
    else { return nil }
    return Int32(whole * 1000 + part)
  }

  /// Formats thousandths. ``parse(_:)`` of the result returns the same number if it is from 0 to 1000.
  public static func print(_ thousandths: Int32) -> String {
    DecimalText.print(UInt64(thousandths.magnitude), places: 3)
  }
}
