// Checked values of a parsed line, by name, with typed access.
// Invariant: access to an undeclared name, or with another type, is a programming error and traps with a
// message. Input alone cannot cause the trap.

import Time

/// The checked values of the options, or of the operands, of a command line, by their names in the table.
public struct Values: Sendable, Hashable {
  /// The declared names with their kinds.
  private var kinds: [String: ValueKind] = [:]
  /// The given values of each name, in order.
  private var byName: [String: [Value]] = [:]

  init() {}

  /// Declares a name, so that it can be accessed.
  mutating func declare(_ name: String, _ kind: ValueKind) { kinds[name] = kind }
  /// Adds a value under a declared name.
  mutating func add(_ value: Value, to name: String) { byName[name, default: []].append(value) }
  /// True if the table declares the name for this command.
  public func declares(_ name: String) -> Bool { kinds[name] != nil }

  /// True if a value was given for the name.
  public func has(_ name: String) -> Bool {
    precondition(declares(name), "no option or operand named '\(name)' is declared for this command")
    return byName[name] != nil
  }

  /// True if the flag was given.
  public func flag(_ name: String) -> Bool {
    !values(name, expected: "a flag", { $0 == .flag }) { $0 }.isEmpty
  }
  /// The number; nil if no value was given, or if a word was given instead.
  public func integer(_ name: String) -> Int64? { integers(name).first }

  /// All numbers, in the given order.
  public func integers(_ name: String) -> [Int64] {
    values(name, expected: "an integer", \.holdsIntegers) {
      if case .integer(let number) = $0 { number } else { nil }
    }
  }

  /// The text, choice, path, date, or word instead of a number; nil if none was given.
  public func text(_ name: String) -> String? { texts(name).first }

  /// All texts, in the given order.
  public func texts(_ name: String) -> [String] {
    values(name, expected: "a text", \.holdsTexts) { if case .text(let text) = $0 { text } else { nil } }
  }

  /// The duration; nil if none was given.
  public func duration(_ name: String) -> TimeSpan? {
    let values = values(name, expected: "a duration", { $0 == .duration }) {
      if case .duration(let span) = $0 { span } else { nil }
    }
    return values.first
  }

  /// The speed factor; nil if none was given.
  public func speed(_ name: String) -> SpeedFactor? {
    let values = values(name, expected: "a speed", { $0 == .speed }) {
      if case .speed(let speed) = $0 { speed } else { nil }
    }
    return values.first
  }

  /// All assignments, in the given order.
  public func assignments(_ name: String) -> [Assignment] {
    values(name, expected: "an assignment", { if case .assignment = $0 { true } else { false } }) {
      if case .assignment(let assignment) = $0 { assignment } else { nil }
    }
  }

  /// The values under a name as the wanted type; traps if the declared kind does not fit.
  private func values<Wanted>(
    _ name: String, expected: String, _ fits: (ValueKind) -> Bool, _ taken: (Value) -> Wanted?
  ) -> [Wanted] {
    guard let kind = kinds[name] else {
      preconditionFailure("no option or operand named '\(name)' is declared for this command")
    }
    precondition(fits(kind), "'\(name)' is not declared as \(expected)")
    return (byName[name] ?? []).compactMap(taken)
  }
}

extension ValueKind {
  /// True if a value of this kind may be a number.
  fileprivate var holdsIntegers: Bool {
    switch self {
    case .integer, .integerOrWord: true
    default: false
    }
  }

  /// True if a value of this kind may be a text.
  fileprivate var holdsTexts: Bool {
    switch self {
    case .text, .bytes, .choice, .path, .date, .integerOrWord: true
    default: false
    }
  }
}
