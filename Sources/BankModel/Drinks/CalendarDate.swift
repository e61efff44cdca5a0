// Calendar: conversion between day numbers and dates.
// Invariant: a day number of ``StockLimits/days`` is converted to a date, and this date back to the same number.
// A date that does not exist, such as 30 February, is rejected.

/// A day of the Gregorian calendar, in the years 1970 to 9999.
public struct CalendarDate: Hashable, Sendable, Comparable {
  /// Year, 1970 to 9999.
  public let year: Int64
  /// Month, 1 to 12.
  public let month: Int64
  /// Day of the month, from 1.
  public let day: Int64

  /// A date; nil if it does not exist.
  public init?(year: Int64, month: Int64, day: Int64) {
    guard (1970...9999).contains(year), (1...12).contains(month),
      (1...Self.days(in: month, of: year)).contains(day)
    else { return nil }
    (self.year, self.month, self.day) = (year, month, day)
  }

  /// The date of a day number; clamped to the first or last date for a number outside ``StockLimits/days``.
  ///
  /// Computed with eras of 400 years whose years start on 1 March, so that the leap day is the last day of a
  /// year.
  public init(_ number: DayNumber) {
    let bounds = StockLimits.days
    let shifted = min(max(number, bounds.lowerBound), bounds.upperBound) + 719_468
    let (era, dayOfEra) = (shifted / 146_097, shifted % 146_097)
    let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let monthFromMarch = (5 * dayOfYear + 2) / 153
    day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
    month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
    year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
  }

  /// Parses `2026-03-01` or `20260301`; nil for anything else, and for a date that does not exist.
  public init?(text: some StringProtocol) {
    let bytes = Array(text.utf8)
    let hasDashes = bytes.count == 10 && bytes[4] == 0x2D && bytes[7] == 0x2D
    guard hasDashes || bytes.count == 8 else { return nil }
    let digits = hasDashes ? bytes[0..<4] + bytes[5..<7] + bytes[8..<10] : bytes[...]
    guard digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    let number = digits.reduce(Int64(0)) { $0 * 10 + Int64($1 - 0x30) }
    self.init(year: number / 10_000, month: number / 100 % 100, day: number % 100)
  }

  /// Days since 1970-01-01.
  public var number: DayNumber {
    let yearFromMarch = month <= 2 ? year - 1 : year
    let (era, yearOfEra) = (yearFromMarch / 400, yearFromMarch % 400)
    let monthFromMarch = month > 2 ? month - 3 : month + 9
    let dayOfYear = (153 * monthFromMarch + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }

  /// The date as eight digits: `20260301`.
  public var compact: String { String(year, digits: 4) + String(month, digits: 2) + String(day, digits: 2) }
  /// The date with dashes: `2026-03-01`.
  public var dashed: String {
    String(year, digits: 4) + "-" + String(month, digits: 2) + "-" + String(day, digits: 2)
  }

  /// Ordered by time.
  public static func < (left: CalendarDate, right: CalendarDate) -> Bool {
    (left.year, left.month, left.day) < (right.year, right.month, right.day)
  }

  private static func days(in month: Int64, of year: Int64) -> Int64 {
    switch month {
    case 4, 6, 9, 11: 30
    case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
    default: 31
    }
  }
}
