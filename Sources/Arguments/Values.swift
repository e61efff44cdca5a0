// The checked values of a parsed line, by name. Owns: typed access to values. Invariant: asking for a name
// the table does not declare, or for another type than it declares, is a mistake in the program, not in its
// input, and stops it with a sentence that names the mistake. Input alone cannot get there.

import Time

/// Values by the names the table gives them.
public struct Values: Sendable, Hashable {
  private var kinds: [String: ValueKind] = [:]
  private var byName: [String: [Value]] = [:]

  init() {}

  /// Declares a name, so that it can be asked for.
  mutating func declare(_ name: String, _ kind: ValueKind) { kinds[name] = kind }
  /// Adds a value under a declared name.
  mutating func add(_ value: Value, to name: String) { byName[name, default: []].append(value) }
  /// Whether the table declares the name for this command.
  public func declares(_ name: String) -> Bool { kinds[name] != nil }

  /// Whether a value was given under the name.
  public func has(_ name: String) -> Bool {
    precondition(declares(name), "no option or operand named '\(name)' is declared for this command")
    return byName[name] != nil
  }

  /// Whether a flag was given.
  public func flag(_ name: String) -> Bool { !values(name, asked: "a flag", { $0 == .flag }) { $0 }.isEmpty }
  /// The number, or nil when none was given (or a word, where words are allowed).
  public func integer(_ name: String) -> Int64? { integers(name).first }

  /// All numbers, in the order given.
  public func integers(_ name: String) -> [Int64] {
    values(name, asked: "an integer", \.holdsIntegers) {
      if case .integer(let number) = $0 { number } else { nil }
    }
  }

  /// The text, choice, path, date, or word instead of a number; nil when none was given.
  public func text(_ name: String) -> String? { texts(name).first }

  /// All texts, in the order given.
  public func texts(_ name: String) -> [String] {
    values(name, asked: "a text", \.holdsTexts) { if case .text(let text) = $0 { text } else { nil } }
  }

  /// The duration; nil when none was given.
  public func duration(_ name: String) -> TimeSpan? {
    let values = values(name, asked: "a duration", { $0 == .duration }) {
      if case .duration(let span) = $0 { span } else { nil }
    }
    return values.first
  }

  /// The speed factor; nil when none was given.
  public func speed(_ name: String) -> SpeedFactor? {
    let values = values(name, asked: "a speed", { $0 == .speed }) {
      if case .speed(let speed) = $0 { speed } else { nil }
    }
    return values.first
  }

  /// All assignments, in the order given.
  public func assignments(_ name: String) -> [Assignment] {
    values(name, asked: "an assignment", { if case .assignment = $0 { true } else { false } }) {
      if case .assignment(let assignment) = $0 { assignment } else { nil }
    }
  }

  private func values<Wanted>(
    _ name: String, asked: String, _ fits: (ValueKind) -> Bool, _ taken: (Value) -> Wanted?
  ) -> [Wanted] {
    guard let kind = kinds[name] else {
      preconditionFailure("no option or operand named '\(name)' is declared for this command")
    }
    precondition(fits(kind), "'\(name)' is not declared as \(asked)")
    return (byName[name] ?? []).compactMap(taken)
  }
}

extension ValueKind {
  fileprivate var holdsIntegers: Bool {
    switch self {
    case .integer, .integerOrWord: true
    default: false
    }
  }

  fileprivate var holdsTexts: Bool {
    switch self {
    case .text, .bytes, .choice, .path, .date, .integerOrWord: true
    default: false
    }
  }
}
