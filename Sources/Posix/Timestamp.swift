// Times as text in the form of RFC 3339, in UTC with milliseconds: 2026-11-21T08:00:00.123Z. The calendar
// arithmetic is in this file, so no C library state, time zone or locale is used.
// Invariant: parse(utc(t)) is t for t from 1970 to 9999. Texts of equal length sort like the times.
// Errors: nil for an invalid text; a time outside the range becomes the nearest end of the range.

/// Converts milliseconds since 1970 UTC to a text such as `2026-11-21T08:00:00.123Z` and back.
public enum Timestamp {
  /// The first time: 1970-01-01T00:00:00.000Z.
  public static let earliest: Int64 = 0
  /// The last time: 9999-12-31T23:59:59.999Z.
  public static let latest: Int64 = 253_402_300_799_999
  /// The length of the text in bytes.
  public static let length = 24
  private static let millisecondsPerDay: Int64 = 86_400_000

  /// The text of a time in milliseconds since 1970 UTC.
  public static func utc(milliseconds: Int64) -> String {
    String(unsafeUninitializedCapacity: length) { buffer in
      write(milliseconds, to: buffer)
      return length
    }
  }

  /// Appends the text of a time to bytes, without making a string.
  public static func appendUTC(milliseconds: Int64, to bytes: inout [UInt8]) {
    let start = bytes.count
    bytes.append(contentsOf: repeatElement(UInt8(ascii: "Z"), count: length))
    bytes.withUnsafeMutableBufferPointer { write(milliseconds, to: .init(rebasing: $0[start...])) }
  }

  /// Writes the text of a time into a buffer of ``length`` bytes.
  private static func write(_ milliseconds: Int64, to buffer: UnsafeMutableBufferPointer<UInt8>) {
    let instant = min(max(milliseconds, earliest), latest)
    let date = civilDate(ofDay: instant / millisecondsPerDay)
    let time = instant % millisecondsPerDay
    for (place, byte) in "0000-00-00T00:00:00.000Z".utf8.enumerated() { buffer[place] = byte }
    put(date.year, 4, to: buffer, at: 0)
    put(date.month, 2, to: buffer, at: 5)
    put(date.day, 2, to: buffer, at: 8)
    put(time / 3_600_000, 2, to: buffer, at: 11)
    put(time / 60_000 % 60, 2, to: buffer, at: 14)
    put(time / 1000 % 60, 2, to: buffer, at: 17)
    put(time % 1000, 3, to: buffer, at: 20)
  }

  /// Writes a number with leading zeros, at an offset of the buffer.
  private static func put(
    _ value: Int64, _ digits: Int, to buffer: UnsafeMutableBufferPointer<UInt8>, at offset: Int
  ) {
    var rest = value
    for index in stride(from: offset + digits - 1, through: offset, by: -1) {
      buffer[index] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
      rest /= 10
    }
  }

  /// Parses a text. Returns milliseconds since 1970 UTC, or nil if the text is invalid.
  ///
  /// The form is `YYYY-MM-DDTHH:MM:SSZ`, optionally with a fraction of 1 to 9 digits, of which only the first
  /// three count. The year is from 1970 to 9999. Any other zone, lower-case letters and leap seconds are
  /// invalid.
  public static func parse(_ text: String) -> Int64? {
    var text = text
    return text.withUTF8 { parse($0) }
  }

  /// The time of a text given as bytes; see ``parse(_:)-(String)``.
  public static func parse(_ bytes: [UInt8]) -> Int64? { bytes.withUnsafeBufferPointer { parse($0) } }

  /// The time of a text in a buffer; see ``parse(_:)-(String)``.
  private static func parse(_ bytes: UnsafeBufferPointer<UInt8>) -> Int64? {
    guard bytes.count >= 20, bytes.count <= 30, bytes.last == UInt8(ascii: "Z"), hasSeparators(bytes),
      let year = number(bytes, 0, 4), year >= 1970,
      let month = number(bytes, 5, 2), (1...12).contains(month),
      let day = number(bytes, 8, 2), day >= 1, day <= daysIn(month: month, year: year),
      let hour = number(bytes, 11, 2), hour < 24,
      let minute = number(bytes, 14, 2), minute < 60,
      let second = number(bytes, 17, 2), second < 60,
      let fraction = milliseconds(ofFraction: bytes)
    else { return nil }
    let seconds = (hour * 60 + minute) * 60 + second
    return dayNumber(year: year, month: month, day: day) * millisecondsPerDay + seconds * 1000 + fraction
  }

  /// True if the bytes have the hyphens, the colons and the `T` of a time at their places.
  private static func hasSeparators(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    zip(bytes, "0000-00-00T00:00:00".utf8).allSatisfy { $1 == UInt8(ascii: "0") || $0 == $1 }
  }

  /// Milliseconds of the fraction, 0 without one; nil if the fraction is invalid.
  private static func milliseconds(ofFraction bytes: UnsafeBufferPointer<UInt8>) -> Int64? {
    if bytes.count == 20 { return 0 }
    let digits = bytes.count - 21
    guard bytes[19] == UInt8(ascii: "."), digits >= 1, number(bytes, 20, digits) != nil,
      let leading = number(bytes, 20, min(digits, 3))
    else { return nil }
    return leading * (digits == 1 ? 100 : digits == 2 ? 10 : 1)
  }

  /// Number from `count` digits at an offset; nil if one of them is not a digit.
  private static func number(_ bytes: UnsafeBufferPointer<UInt8>, _ offset: Int, _ count: Int) -> Int64? {
    var value: Int64 = 0
    for index in offset..<(offset + count) {
      let digit = bytes[index] &- UInt8(ascii: "0")
      guard digit < 10 else { return nil }
      value = value * 10 + Int64(digit)
    }
    return value
  }
}

// The proleptic Gregorian calendar, counted in years that start on the first of March: the leap day is then
// the last day of a year, and the months before it have the regular lengths 31, 30, 31, 30, 31.
extension Timestamp {
  private static let daysPerCentury: Int64 = 36_524
  /// Days in 400 years.
  private static let daysPerEra: Int64 = 146_097
  /// Days from 0000-03-01 to 1970-01-01.
  private static let daysToEpoch: Int64 = 719_468

  /// Calendar date of a day that is counted from 1970-01-01.
  static func civilDate(ofDay day: Int64) -> (year: Int64, month: Int64, day: Int64) {
    let sinceMarchOfZero = day + daysToEpoch
    let era = sinceMarchOfZero / daysPerEra
    let dayOfEra = sinceMarchOfZero % daysPerEra
    // Subtracting the leap days before this day makes every year 365 days long.
    let leapDays = dayOfEra / 1460 - dayOfEra / daysPerCentury + dayOfEra / (daysPerEra - 1)
    let yearOfEra = (dayOfEra - leapDays) / 365
    let dayOfYear = dayOfEra - daysBefore(yearOfEra: yearOfEra)
    let monthFromMarch = (5 * dayOfYear + 2) / 153
    let dayOfMonth = dayOfYear - daysBefore(monthFromMarch: monthFromMarch) + 1
    let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
    return (era * 400 + yearOfEra + (month <= 2 ? 1 : 0), month, dayOfMonth)
  }

  /// Number of days from 1970-01-01 to a calendar date.
  static func dayNumber(year: Int64, month: Int64, day: Int64) -> Int64 {
    let marchYear = month <= 2 ? year - 1 : year
    let monthFromMarch = month <= 2 ? month + 9 : month - 3
    let dayOfEra =
      daysBefore(yearOfEra: marchYear % 400) + daysBefore(monthFromMarch: monthFromMarch) + day - 1
    return marchYear / 400 * daysPerEra + dayOfEra - daysToEpoch
  }

  /// Days before a year, counted from the start of its 400 years.
  private static func daysBefore(yearOfEra year: Int64) -> Int64 { year * 365 + year / 4 - year / 100 }
  /// Days before a month, counted from March: every five months have 153 days.
  private static func daysBefore(monthFromMarch month: Int64) -> Int64 { (153 * month + 2) / 5 }

  private static func daysIn(month: Int64, year: Int64) -> Int64 {
    switch month {
    case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }
}
