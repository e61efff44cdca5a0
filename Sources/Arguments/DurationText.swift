// Durations as text: `700ms`, `1.1s`, `5m`, `2h`, `1m30s`, and their exact conversion to and from
// nanoseconds.
// Invariant: `parse(print(span)) == span` for every span that is not negative, and nothing is rounded.
// Errors: `Failure` for a text that is not a duration, is not a whole number of nanoseconds, or does not fit in 64
// bits.

import Time

/// Parses and formats durations.
///
/// The text is one or more numbers, each with a unit: `d`, `h`, `m`, `s`, `ms`, `us`, `ns`. Each unit appears
/// at most once, from large to small. Only the last number may have a fraction: `1m30.5s`.
public enum DurationText {
  /// Reason why a text is not a duration.
  public enum Failure: Error, Sendable, Hashable {
    /// Text without any character.
    case empty
    /// Negative duration.
    case negative
    /// Number without a unit: seconds or minutes cannot be guessed.
    case missingUnit
    /// Text after a number that is not the name of a unit.
    case unknownUnit(String)
    /// Repeated unit, or a larger one after a smaller one.
    case unitsOutOfOrder
    /// Not of the form number, unit, number, unit …
    case malformed
    /// Finer than a nanosecond.
    case tooFine
    /// More than 2⁶³ − 1 nanoseconds, about 292 years.
    case tooLong

    /// A sentence with the remedy. The caller adds the faulty text.
    public func advice(in language: TextLanguage) -> String {
      language == .english ? UsageError.english(self) : UsageError.korean(self)
    }
  }

  /// The units from large to small, in nanoseconds.
  private static let units: [(name: String, nanoseconds: Int64)] = [
    ("d", 86_400_000_000_000), ("h", 3_600_000_000_000), ("m", 60_000_000_000), ("s", 1_000_000_000),
    ("ms", 1_000_000), ("us", 1000), ("ns", 1),
  ]

  /// Parses a duration with units, such as `700ms` or `1m30.5s`.
  ///
  /// - Throws: A ``Failure``; nothing is rounded or truncated.
  public static func parse(_ text: String) throws(Failure) -> TimeSpan {
    var rest = Array(text.utf8)[...]
    guard let first = rest.first else { throw .empty }
    if first == UInt8(ascii: "-") { throw .negative }
    var total: Int64 = 0
    var nextUnit = 0
    while !rest.isEmpty {
      guard let number = DecimalText(consuming: &rest) else { throw .malformed }
      let name = scanUnit(from: &rest)
      if name.isEmpty { throw rest.isEmpty ? .missingUnit : .malformed }
      guard let index = units.firstIndex(where: { $0.name == name }) else { throw .unknownUnit(name) }
      if index < nextUnit { throw .unitsOutOfOrder }
      if number.hasFraction && !rest.isEmpty { throw .malformed }
      nextUnit = index + 1
      total = try add(number, of: units[index].nanoseconds, to: total)
    }
    return TimeSpan(nanoseconds: total)
  }

  /// Formats a duration. ``parse(_:)`` of the result returns the same duration if it is not negative.
  public static func print(_ span: TimeSpan) -> String {
    let magnitude = span.nanoseconds.magnitude
    switch magnitude {
    case 0: return "0s"
    case ..<1000: return "\(magnitude)ns"
    case ..<1_000_000: return DecimalText.print(magnitude, places: 3) + "us"
    case ..<1_000_000_000: return DecimalText.print(magnitude, places: 6) + "ms"
    default: break
    }
    let hours = magnitude / 3_600_000_000_000
    let minutes = magnitude / 60_000_000_000 % 60
    let seconds = magnitude % 60_000_000_000
    var text = ""
    if hours > 0 { text += "\(hours)h" }
    if minutes > 0 { text += "\(minutes)m" }
    if seconds > 0 { text += DecimalText.print(seconds, places: 9) + "s" }
    return text
  }

  /// Removes and returns the name of a unit: everything before the next digit or point.
  private static func scanUnit(from rest: inout ArraySlice<UInt8>) -> String {
    let unit = rest.prefix { !DecimalText.isDigit($0) && $0 != UInt8(ascii: ".") }
    rest = rest.dropFirst(unit.count)
    return String(decoding: unit, as: UTF8.self)
  }

  /// Adds a number of units to a sum; throws if the result is not exact or does not fit.
  private static func add(_ number: DecimalText, of unit: Int64, to sum: Int64) throws(Failure) -> Int64 {
    guard let whole = number.whole else { throw .tooLong }
    let (nanoseconds, overflow) = whole.multipliedReportingOverflow(by: unit)
    if overflow { throw .tooLong }
    guard let part = number.fraction(of: unit) else { throw .tooFine }
    let (withPart, overflowPart) = nanoseconds.addingReportingOverflow(part)
    if overflowPart { throw .tooLong }
    let (result, overflowSum) = sum.addingReportingOverflow(withPart)
    if overflowSum { throw .tooLong }
    return result
  }
}
