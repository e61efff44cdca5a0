// Owns how a part of a whole is written: `0.25`, from 0 to 1. It knows nothing of what is divided.
// Invariant: a part is a whole number of thousandths; nothing is rounded.

/// Reads and writes parts of a whole, in thousandths.
public enum FractionText {
  /// Reads a decimal number from 0 to 1 with at most three places; nil where it is none.
  public static func parse(_ text: String) -> Int32? {
    var rest = Array(text.utf8)[...]
    guard let number = DecimalText(consuming: &rest), rest.isEmpty, let whole = number.whole, whole <= 1,
      let part = number.fraction(of: 1000), whole * 1000 + part <= 1000
    else { return nil }
    return Int32(whole * 1000 + part)
  }

  /// Writes so many thousandths so that ``parse(_:)`` gives the same back.
  public static func print(_ thousandths: Int32) -> String {
    DecimalText.print(UInt64(thousandths.magnitude), places: 3)
  }
}
