// Owns the fields of a form and of a query, as browsers write them (application/x-www-form-urlencoded).
// Invariant: there are never more fields than the limit, and every text is UTF-8 without control characters but line breaks
// and tabs. Anything else is no form: nil, and no trap.

/// Names and values of a form, in order; a name may be there several times.
public struct FormFields: Sendable, Equatable {
  /// Fields of one form at most: those of a page of tickets, all of them chosen, and a few.
  public static let most = 10_100

  /// One field.
  public struct Field: Sendable, Equatable {
    /// What it is called, and what it says.
    public var name, value: String
    public init(name: String, value: String) { (self.name, self.value) = (name, value) }
  }

  /// The fields in order.
  public private(set) var fields: [Field] = []

  public init() {}

  /// These fields.
  public init(_ fields: [(String, String)]) {
    self.fields = fields.map { Field(name: $0.0, value: $0.1) }
  }

  /// Reads a form; nil where it is none, or has too many fields.
  public init?(_ bytes: some Collection<UInt8>) {
    for part in bytes.split(separator: UInt8(ascii: "&")) {
      guard fields.count < Self.most else { return nil }
      let halves = part.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
      guard let name = PercentText.decode(halves[0], plusIsSpace: true),
        let value = halves.count == 2 ? PercentText.decode(halves[1], plusIsSpace: true) : ""
      else { return nil }
      fields.append(Field(name: name, value: value))
    }
  }

  /// The first value of a name; nil where the name is not there.
  public subscript(name: String) -> String? { fields.first { $0.name == name }?.value }

  /// The first value of a name that is not empty.
  public func text(_ name: String) -> String? { self[name].flatMap { $0.isEmpty ? nil : $0 } }

  /// All values of a name.
  public func all(_ name: String) -> [String] { fields.compactMap { $0.name == name ? $0.value : nil } }

  /// A whole number, where the field is one; separators of thousands are no part of one.
  public func number(_ name: String) -> Int64? { text(name).flatMap { Int64($0) } }

  /// Puts one value in the place of all that a name has.
  public mutating func set(_ name: String, _ value: String) {
    fields.removeAll { $0.name == name }
    fields.append(Field(name: name, value: value))
  }

  /// Takes a name out.
  public mutating func remove(_ name: String) { fields.removeAll { $0.name == name } }

  /// The fields as they stand in a URL, without a question mark.
  public var text: String {
    fields.map { PercentText.encode($0.name) + "=" + PercentText.encode($0.value) }.joined(separator: "&")
  }
}

/// Text in which bytes stand as `%41` (RFC 3986, section 2.1).
public enum PercentText {
  /// The text that is meant; nil where a percent sign has no two digits behind it, or what is meant is no text.
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

  /// The text with everything encoded that has a meaning in a URL.
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

  private static func digit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}
