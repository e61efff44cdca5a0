// JSON messages to and from a browser, with literals and subscripts for tests.
// Invariant: a missing member is `null`, so that a failed expectation shows the value instead of trapping.
import JSON

/// A JSON value in the messages to and from a browser.
package enum JSONValue: Sendable, Equatable {
  case null
  case flag(Bool)
  case number(Double)
  case text(String)
  case list([JSONValue])
  case object([String: JSONValue])

  /// Parses a JSON text.
  package init(parsing text: some Sequence<UInt8>) throws(BrowserError) {
    do throws(JSONFault) { self.init(try JSONReader.read(Array(text))) } catch {
      throw BrowserError("the browser did not send JSON: \(error)")
    }
  }

  private init(_ node: JSONNode) {
    self =
      switch node.content {
      case .null: .null
      case .bool(let flag): .flag(flag)
      case .number(let digits): .number(Double(digits) ?? .nan)
      case .string(let text): .text(text)
      case .array(let elements): .list(elements.map(JSONValue.init))
      case .object(let members):
        .object(Dictionary(members.map { ($0.key, JSONValue($0.value)) }, uniquingKeysWith: { $1 }))
      }
  }

  /// The member of an object; `null` if there is none.
  package subscript(_ name: String) -> JSONValue {
    if case .object(let members) = self { members[name] ?? .null } else { .null }
  }

  /// The element of a list; `null` if there is none.
  package subscript(_ index: Int) -> JSONValue { items.indices.contains(index) ? items[index] : .null }

  /// The elements of a list; none for another value.
  package var items: [JSONValue] { if case .list(let items) = self { items } else { [] } }
  /// The members of an object; none for another value.
  package var members: [String: JSONValue] { if case .object(let members) = self { members } else { [:] } }
  /// The text; nil for another value.
  package var text: String? { if case .text(let text) = self { text } else { nil } }
  /// The number; nil for another value.
  package var number: Double? { if case .number(let number) = self { number } else { nil } }
  /// The number if it is a whole one; nil for another value.
  package var integer: Int? { number.flatMap { Int(exactly: $0) } }
  /// The Boolean; nil for another value.
  package var flag: Bool? { if case .flag(let flag) = self { flag } else { nil } }
  package var isNull: Bool { self == .null }
}

extension JSONValue: CustomStringConvertible {
  /// The value as JSON, which is also a JavaScript expression.
  package var description: String {
    switch self {
    case .null: "null"
    case .flag(let flag): "\(flag)"
    case .number(let number): Int(exactly: number).map { "\($0)" } ?? "\(number)"
    case .text(let text): Self.quoted(text)
    case .list(let items): "[" + items.map(\.description).joined(separator: ",") + "]"
    case .object(let members):
      "{"
        + members.sorted { $0.key < $1.key }.map { "\(Self.quoted($0.key)):\($0.value)" }.joined(
          separator: ",")
        + "}"
    }
  }

  private static func quoted(_ text: String) -> String {
    var quoted = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"", "\\": quoted += "\\\(scalar)"
      case _ where scalar.value < 0x20:
        let digits = String(scalar.value, radix: 16)
        quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: quoted.unicodeScalars.append(scalar)
      }
    }
    return quoted + "\""
  }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByStringInterpolation,
  ExpressibleByBooleanLiteral,
  ExpressibleByIntegerLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
  package init(stringLiteral text: String) { self = .text(text) }
  package init(booleanLiteral flag: Bool) { self = .flag(flag) }
  package init(integerLiteral number: Int) { self = .number(Double(number)) }
  package init(arrayLiteral items: JSONValue...) { self = .list(items) }
  package init(dictionaryLiteral members: (String, JSONValue)...) {
    self = .object(Dictionary(members, uniquingKeysWith: { $1 }))
  }
}
