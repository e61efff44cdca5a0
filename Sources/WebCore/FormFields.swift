// Fields of forms and queries (application/x-www-form-urlencoded).
// Invariant: a parsed form has at most `maximumCount` fields, and its texts are UTF-8 without ASCII control characters
// except line breaks and tabs.
// Errors: nil for other input.

/// Names and values of a form or a query, in order. A name may be repeated.
public struct FormFields: Sendable, Equatable {
  /// Maximum number of fields in a parsed form.
  public static let maximumCount = 10_100

  /// Name and value of one field.
  public struct Field: Sendable, Equatable {
    /// Decoded name and value.
    public var name, value: String
    public init(name: String, value: String) { (self.name, self.value) = (name, value) }
  }

  /// The fields in order.
  public private(set) var fields: [Field] = []

  public init() {}

  /// A form with these fields.
  public init(_ fields: [(String, String)]) {
    self.fields = fields.map { Field(name: $0.0, value: $0.1) }
  }

  /// Parses a form; nil if it is malformed or has too many fields.
  public init?(_ bytes: some Collection<UInt8>) {
    for part in bytes.split(separator: UInt8(ascii: "&")) {
      guard fields.count < Self.maximumCount else { return nil }
      let halves = part.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
      guard let name = PercentText.decode(halves[0], plusIsSpace: true),
        let value = halves.count == 2 ? PercentText.decode(halves[1], plusIsSpace: true) : ""
      else { return nil }
      fields.append(Field(name: name, value: value))
    }
  }

  /// The first value of a field; nil if the field is missing.
  public subscript(name: String) -> String? { fields.first { $0.name == name }?.value }

  /// The first value of a field; nil if it is missing or empty.
  public func text(_ name: String) -> String? { self[name].flatMap { $0.isEmpty ? nil : $0 } }

  /// All values of a field.
  public func all(_ name: String) -> [String] { fields.compactMap { $0.name == name ? $0.value : nil } }

  /// The whole number in a field; nil for any other text, such as a number with thousands separators.
  public func number(_ name: String) -> Int64? { text(name).flatMap { Int64($0) } }

  /// Replaces all values of a field by one.
  public mutating func set(_ name: String, _ value: String) {
    fields.removeAll { $0.name == name }
    fields.append(Field(name: name, value: value))
  }

  /// Removes all values of a field.
  public mutating func remove(_ name: String) { fields.removeAll { $0.name == name } }

  /// The encoded fields for a URL, without a question mark.
  public var text: String {
    fields.map { PercentText.encode($0.name) + "=" + PercentText.encode($0.value) }.joined(separator: "&")
  }
}

/// Percent encoding, `%41` (RFC 3986, section 2.1).
public enum PercentText {
  /// Decodes bytes; nil if a percent sign is not followed by two hexadecimal digits, or if the result is not UTF-8 or
  /// contains an ASCII control character other than tabs and line breaks.
  public static func decode(_ bytes: some Sequence<UInt8>, plusIsSpace: Bool) -> String? {
    var decoded: [UInt8] = []
    var iterator = bytes.makeIterator()
    while let byte = iterator.next() {
      switch byte {
      case UInt8(ascii: "%"):
        guard let high = iterator.next().flatMap(digit), let low = iterator.next().flatMap(digit) else {
          return nil
        }
        decoded.append(high << 4 | low)
      case UInt8(ascii: "+") where plusIsSpace: decoded.append(UInt8(ascii: " "))
      default: decoded.append(byte)
      }
    }
    guard decoded.allSatisfy({ $0 >= 0x20 && $0 != 0x7f || $0 == 9 || $0 == 10 || $0 == 13 }) else {
      return nil
    }
    return String(validating: decoded, as: UTF8.self)
  }

  /// Encodes every byte except the unreserved characters (RFC 3986, section 2.3).
  public static func encode(_ text: String) -> String {
    var encoded: [UInt8] = []
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
        UInt8(ascii: "~"):
        encoded.append(byte)
      default: encoded += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      }
    }
    return String(decoding: encoded, as: UTF8.self)
  }

  private static let digits = Array("0123456789ABCDEF".utf8)

  /// Value of a hexadecimal digit; nil for any other byte.
  private static func digit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}
