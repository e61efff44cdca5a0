// The kinds of values an option or operand may have, and the values themselves. Owns: the list of kinds, and
// the word that stands for each in help. Must not know which option a value belongs to: the parser adds that
// to an error. Invariant: a `Value` exists only after its text was checked against its kind.

import Time

/// One of the words a choice accepts.
public struct Choice: Sendable, Hashable, ExpressibleByStringLiteral {
  /// The word the program works with, and help shows.
  public var value: String
  /// Other spellings that mean the same, such as the name in another language.
  public var aliases: [String]

  public init(_ value: String, aliases: [String] = []) { (self.value, self.aliases) = (value, aliases) }

  /// A choice with one spelling.
  public init(stringLiteral value: String) { self.init(value) }
}

/// What may be written as the value of an option or operand. Checked while the line is parsed.
public enum ValueKind: Sendable, Hashable {
  /// No value: the option is there or not.
  case flag
  /// A whole number within a range, written in ASCII digits.
  case integer(ClosedRange<Int64>)
  /// A whole number within a range, or one of some words: `3`, `all`.
  case integerOrWord(ClosedRange<Int64>, [Choice])
  /// A length of time with its unit: `700ms`, `1m30s`. See ``DurationText``.
  case duration
  /// A speed factor: `10`, `0.5`, `max`. See ``SpeedText``.
  case speed
  /// One of some words.
  case choice([Choice])
  /// The name of a file or directory, of any bytes; `-` is left to the caller. Not empty.
  case path
  /// Any text that is not empty.
  case text
  /// Any bytes, also none.
  case bytes
  /// A day of the Gregorian calendar, `2026-07-01`, years 0001–9999.
  case date
  /// `NAME=N`: one of some names (any, when the list is empty) and a whole number within a range.
  case assignment(names: [Choice], ClosedRange<Int64>)

  /// The word for such a value in help, where the table names none.
  public var placeholder: String {
    switch self {
    case .flag: ""
    case .integer: "N"
    case .integerOrWord(_, let words): (["N"] + words.map(\.value)).joined(separator: "|")
    case .duration: "DURATION"
    case .speed: "SPEED"
    case .choice(let choices): choices.map(\.value).joined(separator: "|")
    case .path: "FILE"
    case .text, .bytes: "TEXT"
    case .date: "DATE"
    case .assignment: "NAME=N"
    }
  }

  /// Whether a word such as `-3` can be meant as a value of this kind, so that it is not taken for an option.
  /// A negative duration is refused, but with its own words rather than as an unknown option.
  var isNumeric: Bool {
    switch self {
    case .integer, .integerOrWord, .duration, .speed: true
    case .flag, .choice, .path, .text, .bytes, .date, .assignment: false
    }
  }

  /// The words that can be offered for a value of this kind.
  var offeredWords: [String] {
    switch self {
    case .choice(let choices), .integerOrWord(_, let choices): choices.map(\.value)
    case .speed: ["max"]
    case .flag, .integer, .duration, .path, .text, .bytes, .date, .assignment: []
    }
  }
}

/// A checked `NAME=N`.
public struct Assignment: Sendable, Hashable {
  /// The name, in its canonical spelling.
  public var name: String
  /// The number.
  public var number: Int64

  public init(name: String, number: Int64) { (self.name, self.number) = (name, number) }
}

/// A checked value.
public enum Value: Sendable, Hashable {
  /// The flag was given.
  case flag
  /// A number within its range.
  case integer(Int64)
  /// A duration.
  case duration(TimeSpan)
  /// A speed factor.
  case speed(SpeedFactor)
  /// A choice in its canonical spelling, a path, a text or a date.
  case text(String)
  /// A name and a number.
  case assignment(Assignment)
}
