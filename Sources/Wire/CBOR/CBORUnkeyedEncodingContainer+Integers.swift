// Owns the integer methods of the unkeyed encoding container, one a width.
// It must not do anything but widen: the writer knows 64 bits of either sign.
// Invariant: none of them is generic, for the reason given with the keyed container's.
// A 128-bit integer that fits neither Int64 nor UInt64 is refused.

extension CBORUnkeyedEncodingContainer {
  func encode(_ value: Int) throws {
    try writer.beginElement(in: slot)
    writer.append(signed: Int64(value))
  }

  func encode(_ value: Int8) throws {
    try writer.beginElement(in: slot)
    writer.append(signed: Int64(value))
  }

  func encode(_ value: Int16) throws {
    try writer.beginElement(in: slot)
    writer.append(signed: Int64(value))
  }

  func encode(_ value: Int32) throws {
    try writer.beginElement(in: slot)
    writer.append(signed: Int64(value))
  }

  func encode(_ value: Int64) throws {
    try writer.beginElement(in: slot)
    writer.append(signed: Int64(value))
  }

  func encode(_ value: Int128) throws {
    try writer.beginElement(in: slot)
    try writer.append(wide: value)
  }

  func encode(_ value: UInt) throws {
    try writer.beginElement(in: slot)
    writer.append(unsigned: UInt64(value))
  }

  func encode(_ value: UInt8) throws {
    try writer.beginElement(in: slot)
    writer.append(unsigned: UInt64(value))
  }

  func encode(_ value: UInt16) throws {
    try writer.beginElement(in: slot)
    writer.append(unsigned: UInt64(value))
  }

  func encode(_ value: UInt32) throws {
    try writer.beginElement(in: slot)
    writer.append(unsigned: UInt64(value))
  }

  func encode(_ value: UInt64) throws {
    try writer.beginElement(in: slot)
    writer.append(unsigned: UInt64(value))
  }

  func encode(_ value: UInt128) throws {
    try writer.beginElement(in: slot)
    try writer.append(wide: value)
  }
}
