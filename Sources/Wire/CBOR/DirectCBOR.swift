// Owns the writing and reading of single heads and integers of the profile, for messages whose shape is known.
// It must not know any message, nor Codable. Invariant: heads are written in their shortest form, and only the
// shortest form is read, so that the bytes are those of `CBOREncoder` and pass `CBORDecoder`.
// Failure: a reader that has met anything else says so, and stays failed.

extension [UInt8] {
  /// Appends what every message begins with: a map of one field, whose key is the kind, and the map of the content.
  mutating func appendHeads(kind: UInt8, fields: UInt8) {
    precondition(kind < 24 && fields < 24, "these heads are one byte long")
    append(CBORMajor.map | 1)
    append(kind)
    append(CBORMajor.map | fields)
  }

  /// Appends a field with a key below 24.
  mutating func appendField(_ key: UInt8, _ value: some FixedWidthInteger) {
    precondition(key < 24, "this head is one byte long")
    append(key)
    append(integer: Int64(value))
  }

  private mutating func append(integer value: Int64) {
    // −1 − n is the complement of n (RFC 8949, section 3.1).
    let major = value < 0 ? CBORMajor.negative : CBORMajor.unsigned
    let argument = UInt64(bitPattern: value < 0 ? ~value : value)
    guard argument >= 24 else { return append(major | UInt8(truncatingIfNeeded: argument)) }
    let widthLog: UInt8 = argument <= 0xFF ? 0 : argument <= 0xFFFF ? 1 : argument <= 0xFFFF_FFFF ? 2 : 3
    append(major | (24 + widthLog))
    var shift = (8 << Int(widthLog)) - 8
    while shift >= 0 {
      append(UInt8(truncatingIfNeeded: argument >> UInt64(shift)))
      shift -= 8
    }
  }
}

/// Reads a message whose shape is known, from its first byte to its last.
struct DirectReader {
  private let bytes: UnsafeBufferPointer<UInt8>
  private var place = 0
  private var hasFailed = false

  init(_ bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

  /// Whether everything was as expected and nothing is left.
  var isComplete: Bool { !hasFailed && place == bytes.count }

  /// Goes past what every message begins with.
  mutating func expectHeads(kind: UInt8, fields: UInt8) {
    expect(CBORMajor.map | 1)
    expect(kind)
    expect(CBORMajor.map | fields)
  }

  private mutating func expect(_ byte: UInt8) {
    if place < bytes.count, bytes[place] == byte { place += 1 } else { hasFailed = true }
  }

  /// The integer in a field with a key below 24; 0 after a failure.
  mutating func field<I: FixedWidthInteger>(_ key: UInt8) -> I {
    expect(key)
    guard let value = I(exactly: integer()) else {
      hasFailed = true
      return 0
    }
    return value
  }

  private mutating func integer() -> Int64 {
    guard !hasFailed, place < bytes.count else { return fail() }
    let (major, information) = (bytes[place] & 0xE0, bytes[place] & 0x1F)
    guard major == CBORMajor.unsigned || major == CBORMajor.negative, information < 28 else { return fail() }
    place += 1
    var argument = UInt64(information)
    if information >= 24 {
      let width = 1 << Int(information - 24)
      guard width <= bytes.count - place else { return fail() }
      argument = 0
      for _ in 0..<width {
        argument = argument << 8 | UInt64(bytes[place])
        place += 1
      }
      let leastForThisWidth: UInt64 = width == 1 ? 24 : 1 << (4 * UInt64(width))
      guard argument >= leastForThisWidth else { return fail() }
    }
    guard let value = Int64(exactly: argument) else { return fail() }
    return major == CBORMajor.negative ? ~value : value
  }

  private mutating func fail() -> Int64 {
    hasFailed = true
    return 0
  }
}
