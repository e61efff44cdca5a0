// Owns the integer methods of the keyed decoding container, one a width.
// It must not do anything but name the width: `CBORInput` converts, with a check.
// Invariant: none of them is generic. A generic method that stood in for all widths would be called unspecialised
// through Codable's tables, with a dynamic call for every step of a conversion.
// An integer that the width cannot hold is refused with its offset.

extension CBORKeyedDecodingContainer {
  func decode(_ type: Int.Type, forKey key: Key) throws -> Int {
    try input.integer(type, at: offset(of: key))
  }

  func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 {
    try input.integer(type, at: offset(of: key))
  }

  func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 {
    try input.integer(type, at: offset(of: key))
  }

  func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 {
    try input.integer(type, at: offset(of: key))
  }

  func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 {
    try input.integer(type, at: offset(of: key))
  }

  func decode(_ type: Int128.Type, forKey key: Key) throws -> Int128 {
    try input.integer(type, at: offset(of: key))
  }

  func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt {
    try input.integer(type, at: offset(of: key))
  }

  func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 {
    try input.integer(type, at: offset(of: key))
  }

  func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 {
    try input.integer(type, at: offset(of: key))
  }

  func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 {
    try input.integer(type, at: offset(of: key))
  }

  func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 {
    try input.integer(type, at: offset(of: key))
  }

  func decode(_ type: UInt128.Type, forKey key: Key) throws -> UInt128 {
    try input.integer(type, at: offset(of: key))
  }

  // MARK: Optional fields

  func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? {
    guard let offset = try offsetIfPresent(of: key) else { return nil }
    return try input.integer(type, at: offset)
  }

  func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? {
    guard let offset = try offsetIfPresent(of: key) else { return nil }
    return try input.integer(type, at: offset)
  }

  func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? {
    guard let offset = try offsetIfPresent(of: key) else { return nil }
    return try input.integer(type, at: offset)
  }

  func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? {
    guard let offset = try offsetIfPresent(of: key) else { return nil }
    return try input.integer(type, at: offset)
  }

  func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? {
    guard let offset = try offsetIfPresent(of: key) else { return nil }
    return try input.integer(type, at: offset)
  }

  func decodeIfPresent(_ type: Int128.Type, forKey key: Key) throws -> Int128? {
    guard let offset = try offsetIfPresent(of: key) else { return nil }
    return try input.integer(type, at: offset)
  }

  func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? {
    guard let offset = try offsetIfPresent(of: key) else { return nil }
    return try input.integer(type, at: offset)
  }

  func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? {
    guard let offset = try offsetIfPresent(of: key) else { return nil }
    return try input.integer(type, at: offset)
  }

  func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? {
    guard let offset = try offsetIfPresent(of: key) else { return nil }
    return try input.integer(type, at: offset)
  }

  func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? {
    guard let offset = try offsetIfPresent(of: key) else { return nil }
    return try input.integer(type, at: offset)
  }

  func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? {
    guard let offset = try offsetIfPresent(of: key) else { return nil }
    return try input.integer(type, at: offset)
  }

  func decodeIfPresent(_ type: UInt128.Type, forKey key: Key) throws -> UInt128? {
    guard let offset = try offsetIfPresent(of: key) else { return nil }
    return try input.integer(type, at: offset)
  }
}
