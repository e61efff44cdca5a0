// Owns the integer methods of the unkeyed decoding container, one a width.
// It must not do anything but name the width: `CBORInput` converts, with a check.
// Invariant: none of them is generic, for the reason given with the keyed container's.
// An integer that the width cannot hold is refused with its offset.

extension CBORUnkeyedDecodingContainer {
  mutating func decode(_ type: Int.Type) throws -> Int { try integer(type) }

  mutating func decode(_ type: Int8.Type) throws -> Int8 { try integer(type) }

  mutating func decode(_ type: Int16.Type) throws -> Int16 { try integer(type) }

  mutating func decode(_ type: Int32.Type) throws -> Int32 { try integer(type) }

  mutating func decode(_ type: Int64.Type) throws -> Int64 { try integer(type) }

  mutating func decode(_ type: Int128.Type) throws -> Int128 { try integer(type) }

  mutating func decode(_ type: UInt.Type) throws -> UInt { try integer(type) }

  mutating func decode(_ type: UInt8.Type) throws -> UInt8 { try integer(type) }

  mutating func decode(_ type: UInt16.Type) throws -> UInt16 { try integer(type) }

  mutating func decode(_ type: UInt32.Type) throws -> UInt32 { try integer(type) }

  mutating func decode(_ type: UInt64.Type) throws -> UInt64 { try integer(type) }

  mutating func decode(_ type: UInt128.Type) throws -> UInt128 { try integer(type) }
}
