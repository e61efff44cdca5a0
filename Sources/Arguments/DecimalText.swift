// Exact decimal numbers: digits, optionally a point and more digits.
// Invariant: no floating-point arithmetic is used, so nothing is rounded.
// Errors: nil if a number does not fit.

/// A decimal number of 0 or more, parsed from the start of a text without rounding.
struct DecimalText {
  /// The digits before the point; nil if they do not fit in 64 bits.
  let whole: Int64?
  /// The digits after the point, without trailing zeros.
  let fraction: [UInt8]
  /// True if the number has a point, even if only zeros follow it.
  let hasFraction: Bool

  /// Parses a number at the start of `text` and removes it from `text`. Returns nil if there is no number, or
  /// if a point has no digit after it.
  init?(consuming text: inout ArraySlice<UInt8>) {
    let digits = text.prefix(while: Self.isDigit)
    guard !digits.isEmpty else { return nil }
    text = text.dropFirst(digits.count)
    whole = Int64(String(decoding: digits, as: UTF8.self))
    guard text.first == UInt8(ascii: ".") else {
      (fraction, hasFraction) = ([], false)
      return
    }
    let places = text.dropFirst().prefix(while: Self.isDigit)
    guard let last = places.last else { return nil }
    text = text.dropFirst(places.count + 1)
    let zeros = last == UInt8(ascii: "0") ? places.reversed().prefix { $0 == UInt8(ascii: "0") }.count : 0
    fraction = places.dropLast(zeros).map { $0 - UInt8(ascii: "0") }
    hasFraction = true
  }

  /// The part after the point in units of 1/`unit`: 500 for the number 1.5 and 1000; nil if that is not a whole number.
  ///
  /// - Returns: nil unless the fraction is a whole number of units. A fraction with more than 18 places never is: its
  ///   reduced denominator has more factors 2 or 5 than any unit of a duration, a speed or a fraction (at most 2¹⁶
  ///   and 5¹¹).
  func fraction(of unit: Int64) -> Int64? {
    guard fraction.count <= 18, unit > 0 else { return nil }
    var numerator: Int64 = 0
    var denominator: Int64 = 1
    for digit in fraction {
      numerator = numerator * 10 + Int64(digit)
      denominator *= 10
    }
    // The numerator is below the denominator, so the quotient is below the unit and always fits.
    let (quotient, remainder) = denominator.dividingFullWidth(numerator.multipliedFullWidth(by: unit))
    return remainder == 0 ? quotient : nil
  }

  /// True for an ASCII digit.
  static func isDigit(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") }

  /// Formats a count of small units as a decimal of the large one: `print(1500, places: 3)` is `1.5`.
  static func print(_ parts: UInt64, places: Int) -> String {
    var digits = Array(String(parts).utf8)
    if digits.count <= places {
      digits.insert(contentsOf: Array(repeating: UInt8(ascii: "0"), count: places + 1 - digits.count), at: 0)
    }
    let whole = digits.dropLast(places)
    var fraction = digits.suffix(places)
    while fraction.last == UInt8(ascii: "0") { fraction.removeLast() }
    let text = String(decoding: whole, as: UTF8.self)
    return fraction.isEmpty ? text : text + "." + String(decoding: fraction, as: UTF8.self)
  }
}
