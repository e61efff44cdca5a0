// Strict parser of request fields in a JSON object, a form or a query.
// Invariant: a field is known, appears once unless it may repeat, and has its type and range.
// Errors: `FieldError` with the name of the field.
import JSON

/// The fields of one request, read by name, type and range.
///
/// An empty field of a form, and a `null` in JSON, count as absent.
public struct RequestFields: Sendable {
  /// Value of a field: text of a form or a query, or a JSON value.
  private enum Value: Sendable {
    case written(String)
    case json(JSONNode)
  }

  private var values: [String: [Value]] = [:]

  /// Parses a JSON body; an empty body is an object without fields.
  ///
  /// - Parameter known: accepted names.
  /// - Throws: an error unless the body is an object of known fields without repetitions.
  public init(json bytes: [UInt8], known: Set<String>) throws(FieldError) {
    guard !bytes.isEmpty else { return }
    guard let node = try? JSONReader.read(bytes), case .object(let members) = node.content else {
      throw FieldError("", .form(expected: "the body is not one JSON object"))
    }
    for member in members {
      try add(.json(member.value), as: member.key, known: known, repeatable: [])
    }
  }

  /// The fields of a form or a query.
  ///
  /// - Parameters:
  ///   - known: accepted names.
  ///   - repeatable: names that may be repeated.
  /// - Throws: an error for an unknown or repeated field.
  public init(_ form: FormFields, known: Set<String>, repeatable: Set<String> = []) throws(FieldError) {
    for field in form.fields {
      try add(.written(field.value), as: field.name, known: known, repeatable: repeatable)
    }
  }

  /// Stores a value; throws for an unknown name, or for a second value of a name that must not be repeated.
  private mutating func add(
    _ value: Value, as name: String, known: Set<String>, repeatable: Set<String>
  ) throws(FieldError) {
    guard known.contains(name) else { throw FieldError(name, .unknown(known: known.sorted())) }
    guard values[name] == nil || repeatable.contains(name) else { throw FieldError(name, .repeated) }
    values[name, default: []].append(value)
  }

  /// The values of a field that are neither empty nor `null`.
  private func present(_ name: String) -> [Value] {
    (values[name] ?? []).filter { value in
      switch value {
      case .written(let text): !text.isEmpty
      case .json(let node): node.content != .null
      }
    }
  }

  // MARK: - Values

  /// True if the field is present.
  public func has(_ name: String) -> Bool { !present(name).isEmpty }

  /// The text of a field; nil if it is absent.
  public func text(_ name: String) throws(FieldError) -> String? {
    try value(name, expected: "text") { $0 }
  }

  /// The whole number of a field; nil if it is absent. Throws if it is out of range, a fraction, an exponent or a JSON
  /// string.
  public func number(
    _ name: String, in range: ClosedRange<Int64> = .min ... .max
  ) throws(FieldError) -> Int64? {
    guard let value = present(name).first else { return nil }
    guard let number = Self.number(value), range.contains(number) else {
      throw FieldError(name, .value(expected: Self.rangeText(range)))
    }
    return number
  }

  /// The whole numbers of a field, 1 to `limit` of them: an array in JSON, repetitions in a form; nil if it is absent.
  public func numbers(
    _ name: String, in range: ClosedRange<Int64>, atMost limit: Int64
  ) throws(FieldError) -> [Int64]? {
    let fault = FieldError(
      name, .value(expected: "a list of 1 to \(limit) numbers, each \(Self.rangeText(range)),"))
    var found = present(name)
    guard let first = found.first else { return nil }
    if case .json(let node) = first {
      guard case .array(let nodes) = node.content else { throw fault }
      found = nodes.map { .json($0) }
    }
    guard (1...limit).contains(Int64(found.count)) else { throw fault }
    var numbers: [Int64] = []
    for value in found {
      guard let number = Self.number(value), range.contains(number) else { throw fault }
      numbers.append(number)
    }
    return numbers
  }

  /// The value of a field, parsed by `read`; nil if it is absent. If `read` returns nil, throws an error that contains
  /// `expected`.
  ///
  /// - Parameters:
  ///   - expected: description of the accepted values, in English, for the message of the error.
  ///   - read: parses the text; returns nil for an invalid text.
  public func value<Meaning>(
    _ name: String, expected: @autoclosure () -> String, read: (String) -> Meaning?
  ) throws(FieldError) -> Meaning? {
    guard let value = present(name).first else { return nil }
    let text: String? =
      switch value {
      case .written(let text): text
      case .json(let node): if case .string(let text) = node.content { text } else { nil }
      }
    guard let meaning = text.flatMap(read) else { throw FieldError(name, .value(expected: expected())) }
    return meaning
  }

  /// The value of a field, parsed by `read`; nil if it is absent. `names` are the accepted values, for the message of
  /// an error.
  public func choice<Meaning>(
    _ name: String, of names: [String], read: (String) -> Meaning?
  ) throws(FieldError) -> Meaning? {
    try value(name, expected: "one of " + names.joined(separator: ", "), read: read)
  }

  /// Returns the value of the required field `name`; throws the error for a missing field if the value is nil.
  public func needed<Meaning>(_ value: Meaning?, _ name: String) throws(FieldError) -> Meaning {
    guard let value else { throw FieldError(name, .missing) }
    return value
  }

  /// Throws an error if the fields `name` and `other` are both present.
  public func exclude(_ name: String, beside other: String) throws(FieldError) {
    if has(name), has(other) { throw FieldError(name, .excluded(by: other)) }
  }

  /// Whole number of a value; nil for any other value, such as a fraction or a JSON string.
  private static func number(_ value: Value) -> Int64? {
    switch value {
    case .written(let text): Int64(text)
    case .json(let node): if case .number(let digits) = node.content { Int64(digits) } else { nil }
    }
  }

  /// Description of a range for the message of an error, such as `a whole number from 1 to 9`.
  private static func rangeText(_ range: ClosedRange<Int64>) -> String {
    switch (range.lowerBound, range.upperBound) {
    case (.min, .max): "a whole number"
    case (let low, .max): "a whole number of \(low) or more"
    case (let low, let high): "a whole number from \(low) to \(high)"
    }
  }
}
