// Owns the integer methods of the keyed encoding container, one a width.
// It must not do anything but widen: the writer knows 64 bits of either sign.
// Invariant: none of them is generic. A generic method that stood in for all widths would be called unspecialised
// through Codable's tables, with a dynamic call for every step of a conversion.
// A 128-bit integer that fits neither Int64 nor UInt64 is refused.

extension CBORKeyedEncodingContainer {
  func encode(_ value: Int, forKey key: Key) throws {
    try writer.append(signed: Int64(value), for: key, in: slot)
  }

  func encode(_ value: Int8, forKey key: Key) throws {
    try writer.append(signed: Int64(value), for: key, in: slot)
  }

  func encode(_ value: Int16, forKey key: Key) throws {
    try writer.append(signed: Int64(value), for: key, in: slot)
  }

  func encode(_ value: Int32, forKey key: Key) throws {
    try writer.append(signed: Int64(value), for: key, in: slot)
  }

  func encode(_ value: Int64, forKey key: Key) throws {
    try writer.append(signed: Int64(value), for: key, in: slot)
  }

  func encode(_ value: Int128, forKey key: Key) throws {
    try writer.beginField(key, in: slot)
    try writer.append(wide: value)
  }

  func encode(_ value: UInt, forKey key: Key) throws {
    try writer.append(unsigned: UInt64(value), for: key, in: slot)
  }

  func encode(_ value: UInt8, forKey key: Key) throws {
    try writer.append(unsigned: UInt64(value), for: key, in: slot)
  }

  func encode(_ value: UInt16, forKey key: Key) throws {
    try writer.append(unsigned: UInt64(value), for: key, in: slot)
  }

  func encode(_ value: UInt32, forKey key: Key) throws {
    try writer.append(unsigned: UInt64(value), for: key, in: slot)
  }

  func encode(_ value: UInt64, forKey key: Key) throws {
    try writer.append(unsigned: UInt64(value), for: key, in: slot)
  }

  func encode(_ value: UInt128, forKey key: Key) throws {
    try writer.beginField(key, in: slot)
    try writer.append(wide: value)
  }

  // MARK: Optional fields: nil writes nothing

  func encodeIfPresent(_ value: Int?, forKey key: Key) throws {
    if let value { try encode(value, forKey: key) }
  }

  func encodeIfPresent(_ value: Int8?, forKey key: Key) throws {
    if let value { try encode(value, forKey: key) }
  }

  func encodeIfPresent(_ value: Int16?, forKey key: Key) throws {
    if let value { try encode(value, forKey: key) }
  }

  func encodeIfPresent(_ value: Int32?, forKey key: Key) throws {
    if let value { try encode(value, forKey: key) }
  }

  func encodeIfPresent(_ value: Int64?, forKey key: Key) throws {
    if let value { try encode(value, forKey: key) }
  }

  func encodeIfPresent(_ value: Int128?, forKey key: Key) throws {
    if let value { try encode(value, forKey: key) }
  }

  func encodeIfPresent(_ value: UInt?, forKey key: Key) throws {
    if let value { try encode(value, forKey: key) }
  }

  func encodeIfPresent(_ value: UInt8?, forKey key: Key) throws {
    if let value { try encode(value, forKey: key) }
  }

  func encodeIfPresent(_ value: UInt16?, forKey key: Key) throws {
    if let value { try encode(value, forKey: key) }
  }

  func encodeIfPresent(_ value: UInt32?, forKey key: Key) throws {
    if let value { try encode(value, forKey: key) }
  }

  func encodeIfPresent(_ value: UInt64?, forKey key: Key) throws {
    if let value { try encode(value, forKey: key) }
  }

  func encodeIfPresent(_ value: UInt128?, forKey key: Key) throws {
    if let value { try encode(value, forKey: key) }
  }
}
