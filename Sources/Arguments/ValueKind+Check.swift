// Check of a value's text against its kind.
// Invariant: any text gives a value or a typed error.

import ByteText
import Time

/// Reason why a text is not a value of the expected kind.
public indirect enum ValueError: Error, Sendable, Hashable {
  /// Empty value.
  case empty
  /// Byte that is not UTF-8 in a text; `offset` bytes precede it.
  case invalidUTF8Byte(String, byte: UInt8, offset: Int)
  /// Not a whole number in ASCII digits; with the accepted range.
  case notANumber(String, ClosedRange<Int64>)
  /// Whole number out of range.
  case outOfRange(String, ClosedRange<Int64>)
  /// Not one of the choices; with the nearest ones.
  case notAChoice(String, choices: [String], suggestions: [String])
  /// Neither a number nor one of the words.
  case neitherNumberNorWord(String, ClosedRange<Int64>, words: [String])
  /// Invalid duration.
  case duration(String, DurationText.Failure)
  /// Invalid speed.
  case speed(String, SpeedText.Failure)
  /// Invalid date.
  case notADate(String)
  /// Not of the form `NAME=N`.
  case notAnAssignment(String)
  /// Invalid number after `NAME=`.
  case inAssignment(name: String, ValueError)
}

extension ValueKind {
  /// Converts a text into a value of this kind.
  ///
  /// - Parameter text: The argument as the program received it.
  /// - Throws: A ``ValueError`` with the reason.
  public func check(_ text: String) throws(ValueError) -> Value {
    if text.isEmpty, self != .bytes { throw .empty }
    if self != .bytes, self != .path, let (byte, offset) = ByteText.firstNonUTF8Byte(in: text) {
      throw .invalidUTF8Byte(text, byte: byte, offset: offset)
    }
    switch self {
    case .flag: return .flag
    case .integer(let range): return .integer(try Self.integer(text, in: range))
    case .integerOrWord(let range, let words): return try Self.integerOrWord(text, in: range, words)
    case .duration: return .duration(try Self.duration(text))
    case .speed: return .speed(try Self.speed(text))
    case .choice(let choices): return .text(try Self.choice(text, of: choices))
    case .path, .text, .bytes: return .text(text)
    case .date:
      guard Self.isDate(text) else { throw .notADate(text) }
      return .text(text)
    case .assignment(let names, let range): return .assignment(try Self.assignment(text, names, range))
    }
  }

  /// The whole number that a text spells in ASCII digits, with an optional sign.
  private static func integer(_ text: String, in range: ClosedRange<Int64>) throws(ValueError) -> Int64 {
    let digits = text.hasPrefix("-") || text.hasPrefix("+") ? text.dropFirst() : text[...]
    guard !digits.isEmpty, digits.utf8.allSatisfy(DecimalText.isDigit) else { throw .notANumber(text, range) }
    // Digits that do not fit in 64 bits are a number too, but out of every range.
    guard let number = Int64(text), range.contains(number) else { throw .outOfRange(text, range) }
    return number
  }

  /// The canonical word, or the number, that a text spells.
  private static func integerOrWord(
    _ text: String, in range: ClosedRange<Int64>, _ words: [Choice]
  ) throws(ValueError) -> Value {
    if let word = match(text, in: words) { return .text(word) }
    do { return .integer(try integer(text, in: range)) } catch .notANumber {
      throw .neitherNumberNorWord(text, range, words: words.map(\.value))
    }
  }

  /// Canonical spelling of the choice that a text names; nil if it names none.
  private static func match(_ text: String, in choices: [Choice]) -> String? {
    choices.first { $0.value == text || $0.aliases.contains(text) }?.value
  }

  /// Canonical spelling of the choice that a text names; throws an error with the nearest choices.
  private static func choice(_ text: String, of choices: [Choice]) throws(ValueError) -> String {
    if let word = match(text, in: choices) { return word }
    // Aliases are searched too, but the canonical word is suggested.
    let near = Suggestions.nearest(to: text, among: choices.flatMap { [$0.value] + $0.aliases })
    var suggestions: [String] = []
    for word in near.compactMap({ match($0, in: choices) }) where !suggestions.contains(word) {
      suggestions.append(word)
    }
    throw .notAChoice(text, choices: choices.map(\.value), suggestions: suggestions)
  }

  private static func duration(_ text: String) throws(ValueError) -> TimeSpan {
    do { return try DurationText.parse(text) } catch { throw .duration(text, error) }
  }

  private static func speed(_ text: String) throws(ValueError) -> SpeedFactor {
    do { return try SpeedText.parse(text) } catch { throw .speed(text, error) }
  }

  /// The name and number of a text of the form `NAME=N`.
  private static func assignment(
    _ text: String, _ names: [Choice], _ range: ClosedRange<Int64>
  ) throws(ValueError) -> Assignment {
    guard let equals = text.utf8.firstIndex(of: UInt8(ascii: "=")), equals != text.startIndex else {
      throw .notAnAssignment(text)
    }
    let written = String(text[..<equals])
    let name = names.isEmpty ? written : try choice(written, of: names)
    let digits = String(text[text.utf8.index(after: equals)...])
    do throws(ValueError) {
      if digits.isEmpty { throw .empty }
      return Assignment(name: name, number: try integer(digits, in: range))
    } catch {
      throw .inAssignment(name: name, error)
    }
  }

  /// True for an existing day in the extended format of ISO 8601.
  private static func isDate(_ text: String) -> Bool {
    let bytes = Array(text.utf8)
    guard bytes.count == 10, bytes[4] == UInt8(ascii: "-"), bytes[7] == UInt8(ascii: "-") else {
      return false
    }
    let digits = bytes[0..<4] + bytes[5..<7] + bytes[8..<10]
    guard digits.allSatisfy(DecimalText.isDigit) else { return false }
    let number = digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
    let (year, month, day) = (number / 10_000, number / 100 % 100, number % 100)
    guard year >= 1, (1...12).contains(month) else { return false }
    let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    let days = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    return (1...days[month - 1]).contains(day)
  }
}
