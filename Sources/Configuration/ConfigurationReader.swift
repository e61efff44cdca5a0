// Owns the step from one JSON value to one checked Swift value, and the blame when it fails.
// It must not know which keys there are.
// Invariant: every value is of the right kind and within its bounds, or the error names its key and line.

import Arguments
import BankModel
import Time

/// One value of the file with its full key.
struct ConfigurationReader {
  let path: String
  let key: String?
  let node: JSONNode

  func fail(_ reason: ConfigurationError.Reason) -> ConfigurationError {
    ConfigurationError(path: path, key: key, line: node.line, reason: reason)
  }

  private func expected(_ expected: ConfigurationError.Expected) -> ConfigurationError {
    fail(.wrongKind(expected: expected, found: node.kind))
  }

  /// Calls `body` with each member of an object. Keys that are unknown or appear twice are refused first.
  func members(
    known: [String], _ body: (String, ConfigurationReader) throws(ConfigurationError) -> Void
  ) throws(ConfigurationError) {
    guard case .object(let members) = node.content else { throw expected(.object) }
    var seen: [String] = []
    for member in members {
      let full = key.map { "\($0).\(member.key)" } ?? member.key
      let isKnown = known.contains(member.key)
      if !isKnown || seen.contains(member.key) {
        let suggestion = Suggestions.nearest(to: member.key, among: known).first
        throw ConfigurationError(
          path: path, key: isKnown ? full : member.key, line: member.line,
          reason: isKnown ? .duplicateKey : .unknownKey(suggestion: suggestion))
      }
      seen.append(member.key)
      try body(member.key, ConfigurationReader(path: path, key: full, node: member.value))
    }
  }

  /// The members of an object whose keys are names from outside, in their order, each with its own line.
  func freeMembers() throws(ConfigurationError) -> [(String, ConfigurationReader)] {
    guard case .object(let members) = node.content else { throw expected(.object) }
    return members.map { member in
      let full = key.map { "\($0).\(member.key)" } ?? member.key
      return (member.key, ConfigurationReader(path: path, key: full, node: member.value))
    }
  }

  /// The values of an object by their keys; some have to be there, others may.
  func parts(needed: [String], open: [String]) throws(ConfigurationError) -> [String: ConfigurationReader] {
    var parts: [String: ConfigurationReader] = [:]
    try members(known: needed + open) { key, value throws(ConfigurationError) in parts[key] = value }
    for name in needed where parts[name] == nil { throw fail(.missing(name)) }
    return parts
  }

  /// One of the parts that have to be there.
  func part(
    _ name: String, _ parts: [String: ConfigurationReader]
  ) throws(ConfigurationError) -> ConfigurationReader {
    guard let part = parts[name] else { throw fail(.missing(name)) }
    return part
  }

  /// The values of a list.
  func elements(atMost limit: Int) throws(ConfigurationError) -> [ConfigurationReader] {
    guard case .array(let elements) = node.content else { throw expected(.list) }
    if elements.count > limit { throw fail(.tooMany(limit)) }
    return elements.enumerated().map { place, node in
      ConfigurationReader(path: path, key: "\(key ?? "")[\(place + 1)]", node: node)
    }
  }

  /// A text that is not empty.
  func text(atMost limit: Int) throws(ConfigurationError) -> String {
    guard case .string(let text) = node.content else { throw expected(.text) }
    let isPlain = text.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
    guard (1...limit).contains(text.count), text.utf8.count <= 8 * limit, isPlain else {
      throw fail(.badText(limit))
    }
    return text
  }

  func wholeNumber<Number: FixedWidthInteger>(
    in bounds: ClosedRange<Int64>, as type: Number.Type = Number.self
  ) throws(ConfigurationError) -> Number {
    guard case .number(let text) = node.content else { throw expected(.wholeNumber) }
    guard let number = Int64(text) else { throw fail(.notWhole(text)) }
    guard bounds.contains(number), let narrow = Number(exactly: number) else {
      throw fail(.outOfRange(text, from: "\(bounds.lowerBound)", to: "\(bounds.upperBound)"))
    }
    return narrow
  }

  func bool() throws(ConfigurationError) -> Bool {
    guard case .bool(let value) = node.content else { throw expected(.bool) }
    return value
  }

  func span(in bounds: ClosedRange<TimeSpan>) throws(ConfigurationError) -> TimeSpan {
    guard case .string(let text) = node.content else { throw expected(.duration) }
    let span: TimeSpan
    do throws(DurationText.Failure) {
      span = try DurationText.parse(text)
    } catch {
      throw fail(.duration(text, error))
    }
    guard bounds.contains(span) else {
      throw fail(
        .outOfRange(
          text, from: DurationText.print(bounds.lowerBound),
          to: DurationText.print(bounds.upperBound)))
    }
    return span
  }

  func speed() throws(ConfigurationError) -> Speed {
    let text: String
    switch node.content {
    case .number(let number): text = number
    case .string(let string): text = string
    default: throw expected(.speed)
    }
    do throws(SpeedText.Failure) {
      return Speed(try SpeedText.parse(text))
    } catch {
      throw fail(.speed(text, error))
    }
  }

  /// Null says what an absent key says: follow the locale.
  func language() throws(ConfigurationError) -> Language? {
    switch node.content {
    case .null: return nil
    case .string(let text):
      guard let language = Language(code: text) else { throw fail(.language(text)) }
      return language
    default: throw expected(.language)
    }
  }

  func byService<Value>(
    _ values: ByService<Value>,
    _ read: (ConfigurationReader) throws(ConfigurationError) -> Value
  ) throws(ConfigurationError) -> ByService<Value> {
    var values = values
    try members(known: Service.allCases.map(\.name)) { key, value throws(ConfigurationError) in
      guard let service = Service(name: key) else { return }
      values[service] = try read(value)
    }
    return values
  }
}
