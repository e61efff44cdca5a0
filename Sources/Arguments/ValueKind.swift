// Kinds of values of options and operands, with their placeholders in help, and the values.
// Invariant: the parser creates a `Value` only after it has checked the text against its kind.

import Time

/// One of the accepted words of a choice.
public struct Choice: Sendable, Hashable, ExpressibleByStringLiteral {
  /// Canonical word, used by the program and in help.
  public var value: String
  /// Other accepted spellings, such as the name in another language.
  public var aliases: [String]

  public init(_ value: String, aliases: [String] = []) { (self.value, self.aliases) = (value, aliases) }

  /// A choice with one spelling.
  public init(stringLiteral value: String) { self.init(value) }
}

/// Kind of the value of an option or operand, checked while the line is parsed.
public enum ValueKind: Sendable, Hashable {
  /// No value: the option is present or not.
  case flag
  /// Whole number within a range, in ASCII digits.
  case integer(ClosedRange<Int64>)
  /// Whole number within a range, or one of the given words: `3`, `all`.
  case integerOrWord(ClosedRange<Int64>, [Choice])
  /// Duration with its unit: `700ms`, `1m30s`. See ``DurationText``.
  case duration
  /// Speed factor: `10`, `0.5`, `max`. See ``SpeedText``.
  case speed
  /// One of the given words.
  case choice([Choice])
  /// Name of a file or directory, of any bytes, not empty. The caller handles `-`.
  case path
  /// Any text that is not empty.
  case text
  /// Any bytes, including none.
  case bytes
  /// A day of the Gregorian calendar, `2026-07-01`, years 0001–9999.
  case date
  /// `NAME=N`: one of the given names (any name if the list is empty) and a whole number within a range.
  case assignment(names: [Choice], ClosedRange<Int64>)

  /// Placeholder of a value of this kind in help, if the table names none.
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

  /// True if an argument such as `-3` can be a value of this kind and not an option. A negative duration is
  /// refused as a duration, not as an unknown option.
  var isNumeric: Bool {
    switch self {
    case .integer, .integerOrWord, .duration, .speed: true
    case .flag, .choice, .path, .text, .bytes, .date, .assignment: false
    }
  }

  /// Values that completions offer for this kind.
  var offeredWords: [String] {
    switch self {
    case .choice(let choices), .integerOrWord(_, let choices): choices.map(\.value)
    case .speed: ["max"]
    case .flag, .integer, .duration, .path, .text, .bytes, .date, .assignment: []
    }
  }
}

/// A checked value of the form `NAME=N`: a name and a number.
public struct Assignment: Sendable, Hashable {
  /// Name, in its canonical spelling.
  public var name: String
  /// Number.
  public var number: Int64

  public init(name: String, number: Int64) { (self.name, self.number) = (name, number) }
}

/// The checked value of an option or operand on a command line.
public enum Value: Sendable, Hashable {
  /// A given flag.
  case flag
  /// A number within its range.
  case integer(Int64)
  /// A duration.
  case duration(TimeSpan)
  /// A speed factor.
  case speed(SpeedFactor)
  /// A choice or word in its canonical spelling, a path, a text, bytes or a date.
  case text(String)
  /// A name and a number.
  case assignment(Assignment)
}
