// A parsed schema in CDDL (RFC 8610): its rules, in the part of the language that the bank's protocol needs.
// Invariant: every named rule exists, every rule is reached from the first one, and no rule contains itself
// without a map or an array in between. Any other schema is a CDDLError, and so is an unsupported construct.

/// The reason why a schema cannot be used.
struct CDDLError: Error, Equatable, CustomStringConvertible {
  /// The line, from 1; 0 for an error of the schema as a whole.
  let line: Int
  let words: String
  var description: String { line == 0 ? words : "line \(line): \(words)" }
}

/// The values of a type.
indirect enum CDDLType: Sendable {
  /// The rule of this name.
  case rule(String)
  /// A whole number: `uint`, a range, or a number alone.
  case integer(ClosedRange<Int128>)
  /// Any text with this number of bytes of UTF-8.
  case text(ClosedRange<Int>)
  /// This very text.
  case word(String)
  /// Any flag, or this one.
  case bool(Bool?)
  case bytes
  case null
  /// This number of elements, all of one type.
  case array(CDDLType, ClosedRange<Int>)
  /// The fields of one of these groups.
  case map([CDDLGroup])
  /// One of these, in this order.
  case choice([CDDLOption])
}

/// The fields that occur together in a map.
struct CDDLGroup: Sendable {
  var fields: [CDDLField] = []
}

/// A field of a map.
struct CDDLField: Sendable {
  let number: Int
  let isOptional: Bool
  let type: CDDLType
  /// Its name in the schema: `receipt.16`, and `control-command.15,24` for a field beside a kind.
  let place: String
}

/// One of several types.
struct CDDLOption: Sendable {
  let type: CDDLType
  /// Its name in the schema: `grade/2`.
  let place: String
}

struct CDDLSchema: Sendable {
  /// The rules by their names.
  let rules: [String: CDDLType]
  /// The rule of a whole document: the first one.
  let root: String
  /// All rules, fields and options that a value can match, with their types.
  let places: [String: CDDLType]

  /// The schema of a text.
  init(_ text: String) throws(CDDLError) {
    var parser = try CDDLParser(text)
    (rules, root, places) = try parser.schema()
    for (name, type) in rules {
      for next in Self.names(in: type, alsoInside: true) where rules[next] == nil {
        throw CDDLError(line: 0, words: "\(name) names \(next), which is not a rule")
      }
    }
    for name in rules.keys where reached(from: name, alsoInside: false).contains(name) {
      throw CDDLError(line: 0, words: "\(name) contains itself")
    }
    let idle = Set(rules.keys).subtracting(reached(from: root, alsoInside: true)).subtracting([root])
    guard idle.isEmpty else {
      throw CDDLError(line: 0, words: "unused: \(idle.sorted().joined(separator: ", "))")
    }
  }

  /// The numbers and the words that a place can have, with the places of them; nil if it can have anything
  /// else.
  func values(at place: String) -> [AnyValue: String]? {
    guard let type = places[place] else { return nil }
    switch type {
    case .rule(let name): return values(at: name)
    case .choice(let options):
      var all: [AnyValue: String] = [:]
      for option in options {
        guard let one = values(at: option.place) else { return nil }
        all.merge(one) { first, _ in first }
      }
      return all
    case .integer(let range) where range.count == 1 && range.lowerBound >= 0:
      return [.unsigned(UInt64(range.lowerBound)): place]
    case .word(let word): return [.text(word): place]
    default: return nil
    }
  }

  /// The range of a place's numbers, of the bytes of its text, or of the elements of its array; nil if it has
  /// no bounds.
  func bounds(at place: String) -> ClosedRange<Int128>? {
    switch places[place] {
    case .rule(let name): bounds(at: name)
    case .integer(let range): range
    case .text(let counts), .array(_, let counts): Int128(counts.lowerBound)...Int128(counts.upperBound)
    default: nil
    }
  }

  /// The fields that may be left out.
  var optionalFields: Set<String> {
    var found: Set<String> = []
    for case .map(let groups) in allTypes {
      for group in groups { found.formUnion(group.fields.filter(\.isOptional).map(\.place)) }
    }
    return found
  }

  /// Every type with every part of it.
  private var allTypes: [CDDLType] { rules.values.flatMap(Self.parts) }

  private static func parts(of type: CDDLType) -> [CDDLType] {
    switch type {
    case .array(let element, _): [type] + parts(of: element)
    case .map(let groups): [type] + groups.flatMap(\.fields).flatMap { parts(of: $0.type) }
    case .choice(let options): [type] + options.flatMap { parts(of: $0.type) }
    case .rule, .integer, .text, .word, .bool, .bytes, .null: [type]
    }
  }

  private static func names(in type: CDDLType, alsoInside: Bool) -> [String] {
    switch type {
    case .rule(let name): [name]
    case .choice(let options): options.flatMap { names(in: $0.type, alsoInside: alsoInside) }
    case .array, .map:
      alsoInside ? parts(of: type).dropFirst().flatMap { names(in: $0, alsoInside: false) } : []
    case .integer, .text, .word, .bool, .bytes, .null: []
    }
  }

  private func reached(from name: String, alsoInside: Bool) -> Set<String> {
    var found: Set<String> = []
    var open = [name]
    while let next = open.popLast() {
      guard let type = rules[next] else { continue }
      open += Self.names(in: type, alsoInside: alsoInside).filter { found.insert($0).inserted }
    }
    return found
  }
}
