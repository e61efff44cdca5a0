// Owns the integer methods of the single-value encoding container, one a width.
// It must not do anything but widen: the writer knows 64 bits of either sign.
// Invariant: none of them is generic, for the reason given with the keyed container's.
// A 128-bit integer that fits neither Int64 nor UInt64 is refused.

extension CBORSlot {
  func encode(_ value: Int) throws {
    try expectEmpty()
    writer.append(signed: Int64(value))
  }

  func encode(_ value: Int8) throws {
    try expectEmpty()
    writer.append(signed: Int64(value))
  }

  func encode(_ value: Int16) throws {
    try expectEmpty()
    writer.append(signed: Int64(value))
  }

  func encode(_ value: Int32) throws {
    try expectEmpty()
    writer.append(signed: Int64(value))
  }

  func encode(_ value: Int64) throws {
    try expectEmpty()
    writer.append(signed: Int64(value))
  }

  func encode(_ value: Int128) throws {
    try expectEmpty()
    try writer.append(wide: value)
  }

  func encode(_ value: UInt) throws {
    try expectEmpty()
    writer.append(unsigned: UInt64(value))
  }

  func encode(_ value: UInt8) throws {
    try expectEmpty()
    writer.append(unsigned: UInt64(value))
  }

  func encode(_ value: UInt16) throws {
    try expectEmpty()
    writer.append(unsigned: UInt64(value))
  }

  func encode(_ value: UInt32) throws {
    try expectEmpty()
    writer.append(unsigned: UInt64(value))
  }

  func encode(_ value: UInt64) throws {
    try expectEmpty()
    writer.append(unsigned: UInt64(value))
  }

  func encode(_ value: UInt128) throws {
    try expectEmpty()
    try writer.append(wide: value)
  }
}
