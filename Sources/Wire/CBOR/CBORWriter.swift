// Owns the growing buffer and the stack of containers that are being written.
// It must not know Codable's protocols beyond `Encodable`; the containers in front of it translate.
// Invariant: every open container's head says how many entries it has so far, so there is no closing step;
// only the innermost container grows, and using an outer one closes those inside it for good.
// The first failure stays: it empties the stack, so that every later call fails with it.

final class CBORWriter {
  /// A container that can still grow.
  private struct Level {
    /// Where its head begins.
    let head: Int
    /// ``CBORMajor/array`` or ``CBORMajor/map``.
    let major: UInt8
    var count: UInt32 = 0
    var keys = CBORKeySet()
  }

  var bytes: [UInt8] = []
  private var levels: [Level] = []
  private var failure: CBOREncodingError?

  // MARK: Scalars

  @inline(__always)
  func appendHead(_ major: UInt8, _ argument: UInt64) {
    if argument < 24 {
      bytes.append(major | UInt8(truncatingIfNeeded: argument))
    } else {
      appendLongHead(major, argument)
    }
  }

  private func appendLongHead(_ major: UInt8, _ argument: UInt64) {
    let widthLog: UInt8 = argument <= 0xFF ? 0 : argument <= 0xFFFF ? 1 : argument <= 0xFFFF_FFFF ? 2 : 3
    bytes.append(major | (24 + widthLog))
    var shift = (8 << Int(widthLog)) - 8
    while shift >= 0 {
      bytes.append(UInt8(truncatingIfNeeded: argument >> UInt64(shift)))
      shift -= 8
    }
  }

  @inline(__always)
  func append<I: FixedWidthInteger>(integer value: I) throws(CBOREncodingError) {
    if let unsigned = UInt64(exactly: value) {
      appendHead(CBORMajor.unsigned, unsigned)
    } else if let signed = Int64(exactly: value) {
      // −1 − n is the complement of n (RFC 8949, section 3.1).
      appendHead(CBORMajor.negative, UInt64(bitPattern: ~signed))
    } else {
      throw fail(.integerOutOfRange)
    }
  }

  @inline(__always)
  func append(bool value: Bool) { bytes.append(value ? CBORSimple.true : CBORSimple.false) }

  @inline(__always)
  func appendNull() { bytes.append(CBORSimple.null) }

  func append(text value: String) {
    let utf8 = value.utf8
    appendHead(CBORMajor.text, UInt64(utf8.count))
    let isDone: Void? = utf8.withContiguousStorageIfAvailable { bytes.append(contentsOf: $0) }
    if isDone == nil { bytes.append(contentsOf: utf8) }
  }

  func append(byteString value: [UInt8]) {
    appendHead(CBORMajor.bytes, UInt64(value.count))
    bytes.append(contentsOf: value)
  }

  // MARK: Values and containers

  /// Writes a value of any type; `level` is how many containers stand around it.
  func append<T: Encodable>(_ value: T, level: Int) throws(CBOREncodingError) {
    if T.self == [UInt8].self, let byteString = value as? [UInt8] {
      append(byteString: byteString)
      return
    }
    let slot = CBORSlot(writer: self, start: bytes.count, level: level)
    do {
      try value.encode(to: slot)
    } catch let error as CBOREncodingError {
      throw fail(error)
    } catch {
      throw fail(.valueRefused(String(String(describing: error).prefix(200))))
    }
    guard bytes.count > slot.start else {
      throw fail(.nothingEncoded(String(describing: T.self)))
    }
  }

  /// Begins the container of a slot, or finds it again when the type asks for it a second time.
  func openContainer(_ major: UInt8, in slot: CBORSlot) {
    guard failure == nil else { return }
    guard bytes.count == slot.start else {
      let isSame =
        slot.level < levels.count && levels[slot.level].head == slot.start && levels[slot.level].major == major
      if !isSame { _ = fail(.secondValue) }
      return
    }
    guard slot.level < CBORLimits.standard.maximumDepth else {
      _ = fail(.nestingTooDeep(limit: CBORLimits.standard.maximumDepth))
      return
    }
    bytes.append(major)
    levels.append(Level(head: slot.start, major: major))
  }

  /// Makes room for one more entry of a map and writes its key; the value has to follow.
  @inline(__always)
  func beginField(_ key: some CodingKey, in slot: CBORSlot) throws(CBOREncodingError) {
    guard let number = key.intValue else { throw fail(.keyWithoutFieldNumber(key.stringValue)) }
    try beginField(number: number, in: slot)
  }

  private func beginField(number: Int, in slot: CBORSlot) throws(CBOREncodingError) {
    try enter(slot)
    guard let key = UInt8(exactly: number) else { throw fail(.fieldNumberOutOfRange(number)) }
    guard levels[slot.level].keys.insert(key) else { throw fail(.duplicateField(number)) }
    countEntry(at: slot.level)
    appendHead(CBORMajor.unsigned, UInt64(key))
  }

  /// Makes room for one more element of an array; the value has to follow.
  func beginElement(in slot: CBORSlot) throws(CBOREncodingError) {
    try enter(slot)
    countEntry(at: slot.level)
  }

  /// How many entries a slot's container has; 0 once it can no longer grow.
  func count(of slot: CBORSlot) -> Int {
    guard slot.level < levels.count, levels[slot.level].head == slot.start else { return 0 }
    return Int(levels[slot.level].count)
  }

  /// Makes a slot's container the innermost one. Offsets only grow, so a head's offset names its container.
  @inline(__always)
  private func enter(_ slot: CBORSlot) throws(CBOREncodingError) {
    guard slot.level < levels.count, levels[slot.level].head == slot.start else {
      throw fail(.containerOutOfOrder)
    }
    if levels.count > slot.level + 1 { levels.removeSubrange((slot.level + 1)...) }
  }

  /// Counts one more entry in the innermost container's head, which grows at 24, 256 and 65,536 entries.
  @inline(__always)
  private func countEntry(at level: Int) {
    levels[level].count += 1
    let (count, head) = (levels[level].count, levels[level].head)
    if count < 24 {
      bytes[head] = levels[level].major | UInt8(truncatingIfNeeded: count)
    } else {
      patchLongHead(at: head, major: levels[level].major, count: count)
    }
  }

  private func patchLongHead(at head: Int, major: UInt8, count: UInt32) {
    switch count {
    case 24:
      bytes[head] = major | 24
      bytes.insert(0, at: head + 1)
    case 0x100:
      bytes[head] = major | 25
      bytes.insert(0, at: head + 1)
    case 0x1_0000:
      bytes[head] = major | 26
      bytes.insert(contentsOf: [0, 0], at: head + 1)
    default: break
    }
    let width = count < 0x100 ? 1 : count < 0x1_0000 ? 2 : 4
    for place in 0..<width {
      bytes[head + width - place] = UInt8(truncatingIfNeeded: count >> UInt32(8 * place))
    }
  }

  /// Ends the writing: a container that outlived its value can write no more.
  func finish() throws(CBOREncodingError) {
    // A failure that a type's own encode(to:) swallowed has left half a value behind.
    if let failure { throw failure }
    _ = fail(.containerOutOfOrder)
  }

  /// Remembers the first failure and gives it back to be thrown.
  func fail(_ error: CBOREncodingError) -> CBOREncodingError {
    if let failure { return failure }
    failure = error
    levels.removeAll()
    return error
  }
}
