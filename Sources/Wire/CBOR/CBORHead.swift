// Terms of RFC 8949, section 3: major types, the head of a data item,
// and the set of a map's keys.

/// Major type: the high three bits of the first byte of a head, not shifted (RFC 8949, section 3.1).
enum CBORMajor {
  /// Integers from 0.
  static let unsigned: UInt8 = 0x00
  /// Integers below 0: the argument n stands for −1 − n.
  static let negative: UInt8 = 0x20
  static let bytes: UInt8 = 0x40
  static let text: UInt8 = 0x60
  static let array: UInt8 = 0x80
  static let map: UInt8 = 0xA0
  static let tag: UInt8 = 0xC0
  /// Simple values, such as true and null, and floating-point numbers.
  static let simple: UInt8 = 0xE0
}

/// The simple values of the profile, each a whole data item of one byte.
enum CBORSimple {
  static let `false`: UInt8 = 0xF4
  static let `true`: UInt8 = 0xF5
  static let null: UInt8 = 0xF6
}

/// A decoded head. The content of the data item starts at the offset `end`.
struct CBORHead {
  let major: UInt8
  /// The value, length, count, tag number or simple value, depending on the major type.
  let argument: UInt64
  let end: Int
}

/// Kind of a data item within the profile, for error messages.
public enum CBORKind: String, Sendable, Equatable {
  /// An integer of either sign.
  case integer
  /// A byte string.
  case byteString = "byte string"
  /// A text string.
  case textString = "text string"
  /// An array.
  case array
  /// A map of field numbers to values.
  case map
  /// True or false.
  case boolean
  /// The simple value null: an absent value.
  case null
}

/// The set of the field numbers seen so far in one map: 256 bits, without an allocation.
struct CBORKeySet {
  private var bits: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)

  /// Adds a key. Returns true if it is new.
  @inline(__always) mutating func insert(_ key: UInt8) -> Bool {
    let bit: UInt64 = 1 << UInt64(key & 63)
    switch key >> 6 {
    case 0: return Self.set(bit, in: &bits.0)
    case 1: return Self.set(bit, in: &bits.1)
    case 2: return Self.set(bit, in: &bits.2)
    default: return Self.set(bit, in: &bits.3)
    }
  }

  /// Sets a bit. Returns false if it was set before.
  @inline(__always) private static func set(_ bit: UInt64, in word: inout UInt64) -> Bool {
    guard word & bit == 0 else { return false }
    word |= bit
    return true
  }
}
