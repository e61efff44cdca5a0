// JSON writer for small documents; fields keep their order.
// Invariant: the output is valid JSON (RFC 8259) in UTF-8 on one line. Rates are clamped, see `rate(_:)`.

import Arguments
import ByteText
import JSON

/// A JSON value with ordered fields.
package enum JSONValue: Sendable, Equatable {
  case null
  case bool(Bool)
  case integer(Int64)
  /// A number that may exceed 64 bits.
  case wide(Int128)
  /// A number in thousandths, at least 0.
  case thousandths(Int32)
  case string(String)
  case array([JSONValue])
  case object([Field])

  /// A name with its value in an object.
  package struct Field: Sendable, Equatable {
    package var name: String
    package var value: JSONValue
    package init(name: String, value: JSONValue) { (self.name, self.value) = (name, value) }
  }

  /// A number; null if there is none.
  package init(_ number: (some BinaryInteger)?) {
    self =
      number.map { number in Int64(exactly: number).map { .integer($0) } ?? .wide(Int128(clamping: number)) }
      ?? .null
  }

  /// A string; null if there is none.
  package init(_ text: String?) { self = text.map { .string($0) } ?? .null }
  package init(_ truth: Bool) { self = .bool(truth) }

  /// The fields of a path. If it is not UTF-8, an invalid byte is written as in `\xE9`, and the exact bytes follow as
  /// base64 under `NAME_b64`.
  package static func path(_ path: String?, named name: String) -> JSONValue {
    guard let path, ByteText.containsNonUTF8Bytes(path) else {
      return .object([Field(name: name, value: JSONValue(path))])
    }
    return .object([
      Field(name: name, value: .string(ByteText.shown(path))),
      Field(name: name + "_b64", value: .string(Base64.encode(ByteText.bytes(of: path)))),
    ])
  }

  /// Rate in customers a second. A negative rate becomes 0, and one that exceeds 32 bits the maximum.
  ///
  /// - Parameter thousandths: the rate in thousandths; nil if it is unknown.
  package static func rate(_ thousandths: (some BinaryInteger)?) -> JSONValue {
    thousandths.map { .thousandths(Int32(clamping: max(0, $0))) } ?? .null
  }

  /// The object with further fields appended; the same value if one of the two is not an object.
  package func adding(_ more: JSONValue) -> JSONValue {
    guard case .object(let fields) = self, case .object(let others) = more else { return self }
    return .object(fields + others)
  }

  /// The document on one line, without a newline at the end.
  package var text: String {
    var bytes: [UInt8] = []
    append(to: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Appends the document on one line.
  package func append(to bytes: inout [UInt8]) {
    switch self {
    case .null: bytes.append(contentsOf: "null".utf8)
    case .bool(let truth): bytes.append(contentsOf: (truth ? "true" : "false").utf8)
    case .integer(let number): bytes.append(contentsOf: String(number).utf8)
    case .wide(let number): bytes.append(contentsOf: String(number).utf8)
    case .thousandths(let number): bytes.append(contentsOf: FractionText.print(number).utf8)
    case .string(let text): JSONText.append(text, to: &bytes)
    case .array(let values):
      Self.append(values, between: ("[", "]"), to: &bytes) { value, bytes in value.append(to: &bytes) }
    case .object(let fields):
      Self.append(fields, between: ("{", "}"), to: &bytes) { field, bytes in
        JSONText.append(field.name, to: &bytes)
        bytes.append(UInt8(ascii: ":"))
        field.value.append(to: &bytes)
      }
    }
  }

  private static func append<Element>(
    _ elements: [Element], between brackets: (Unicode.Scalar, Unicode.Scalar), to bytes: inout [UInt8],
    _ each: (Element, inout [UInt8]) -> Void
  ) {
    bytes.append(UInt8(ascii: brackets.0))
    var isFirst = true
    for element in elements {
      if !isFirst { bytes.append(UInt8(ascii: ",")) }
      isFirst = false
      each(element, &bytes)
    }
    bytes.append(UInt8(ascii: brackets.1))
  }
}

extension JSONValue: ExpressibleByIntegerLiteral, ExpressibleByStringLiteral, ExpressibleByBooleanLiteral,
  ExpressibleByNilLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
  package init(integerLiteral value: Int64) { self = .integer(value) }
  package init(stringLiteral value: String) { self = .string(value) }
  package init(booleanLiteral value: Bool) { self = .bool(value) }
  package init(nilLiteral: ()) { self = .null }
  package init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
  package init(dictionaryLiteral elements: (String, JSONValue)...) {
    self = .object(elements.map { Field(name: $0.0, value: $0.1) })
  }
}
