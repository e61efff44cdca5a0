// Output bytes, and the stack of the containers that can still grow. Invariant: an open container's head contains its
// current number of entries, so there is no closing step. The innermost container grows, and writing to an outer one
// closes the containers inside it permanently. The first failure is stored and empties the stack, so that later calls
// that add an entry to a container throw the same failure.

/// Bytes of an encoding in progress, with its open containers.
struct CBORBuffer {
  /// An open container.
  private struct Level {
    /// Offset of the container's head.
    let head: Int
    /// ``CBORMajor/array`` or ``CBORMajor/map``.
    let major: UInt8
    var count: UInt32 = 0
    var keys = CBORKeySet()
  }

  var bytes: [UInt8] = []
  /// Open containers, the outermost first.
  private var levels: [Level] = []
  /// The first failure of the encoding; nil if there is none.
  private(set) var failure: CBOREncodingError?

  @inline(__always) mutating func append(unsigned value: UInt64) {
    bytes.appendHead(CBORMajor.unsigned, value)
  }

  @inline(__always) mutating func append(signed value: Int64) {
    if value >= 0 {
      bytes.appendHead(CBORMajor.unsigned, UInt64(bitPattern: value))
    } else {
      // −1 − n is the complement of n (RFC 8949, section 3.1).
      bytes.appendHead(CBORMajor.negative, UInt64(bitPattern: ~value))
    }
  }

  /// Appends an integer of any width. Throws `integerOutOfRange` if it does not fit the profile.
  mutating func append(wide value: some BinaryInteger) throws(CBOREncodingError) {
    if let signed = Int64(exactly: value) {
      append(signed: signed)
    } else if let unsigned = UInt64(exactly: value) {
      append(unsigned: unsigned)
    } else {
      throw fail(.integerOutOfRange)
    }
  }

  @inline(__always)
  mutating func append(bool value: Bool) { bytes.append(value ? CBORSimple.true : CBORSimple.false) }
  @inline(__always) mutating func appendNull() { bytes.append(CBORSimple.null) }

  mutating func append(text value: String) {
    let utf8 = value.utf8
    bytes.appendHead(CBORMajor.text, UInt64(utf8.count))
    let isDone: Void? = utf8.withContiguousStorageIfAvailable { bytes.append(contentsOf: $0) }
    if isDone == nil { bytes.append(contentsOf: utf8) }
  }

  mutating func append(byteString value: [UInt8]) {
    bytes.appendHead(CBORMajor.bytes, UInt64(value.count))
    bytes.append(contentsOf: value)
  }

  /// Writes the head of an empty container, unless the same container is open at this position.
  mutating func openContainer(_ major: UInt8, in slot: CBORSlot) {
    guard failure == nil else { return }
    guard bytes.count == slot.start else {
      let isSame =
        slot.level < levels.count && levels[slot.level].head == slot.start
        && levels[slot.level].major == major
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

  /// Increments the number of fields in the map's head and writes the key. The caller has to write the value
  /// next.
  mutating func beginField(_ number: Int, in slot: CBORSlot) throws(CBOREncodingError) {
    try enter(slot)
    guard let key = UInt8(exactly: number) else { throw fail(.fieldNumberOutOfRange(number)) }
    guard levels[slot.level].keys.insert(key) else { throw fail(.duplicateField(number)) }
    countEntry(at: slot.level)
    bytes.appendHead(CBORMajor.unsigned, UInt64(key))
  }

  mutating func append(signed value: Int64, for number: Int, in slot: CBORSlot) throws(CBOREncodingError) {
    try beginField(number, in: slot)
    append(signed: value)
  }

  mutating func append(unsigned value: UInt64, for number: Int, in slot: CBORSlot) throws(CBOREncodingError) {
    try beginField(number, in: slot)
    append(unsigned: value)
  }

  /// Increments the number of elements in the array's head. The caller has to write the element next.
  mutating func beginElement(in slot: CBORSlot) throws(CBOREncodingError) {
    try enter(slot)
    countEntry(at: slot.level)
  }

  /// Number of entries of an open container; 0 if it is not open.
  func count(of slot: CBORSlot) -> Int {
    guard slot.level < levels.count, levels[slot.level].head == slot.start else { return 0 }
    return Int(levels[slot.level].count)
  }

  /// Makes the slot's container the innermost open one. Offsets only grow, so the offset of a head identifies
  /// its container.
  @inline(__always) private mutating func enter(_ slot: CBORSlot) throws(CBOREncodingError) {
    guard slot.level < levels.count, levels[slot.level].head == slot.start else {
      throw fail(.containerOutOfOrder)
    }
    if levels.count > slot.level + 1 { levels.removeSubrange((slot.level + 1)...) }
  }

  /// Increments the number of entries in the innermost container's head. The head becomes longer at 24, 256 and
  /// 65,536 entries.
  @inline(__always) private mutating func countEntry(at level: Int) {
    levels[level].count += 1
    let (count, head) = (levels[level].count, levels[level].head)
    if count < 24 {
      bytes[head] = levels[level].major | UInt8(truncatingIfNeeded: count)
    } else {
      patchLongHead(at: head, major: levels[level].major, count: count)
    }
  }

  /// Writes a number of entries from 24 into the head of a container, which becomes longer if necessary.
  private mutating func patchLongHead(at head: Int, major: UInt8, count: UInt32) {
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

  /// Stores the error, unless an earlier one is stored. Returns the stored error for the caller to throw.
  mutating func fail(_ error: CBOREncodingError) -> CBOREncodingError {
    if let failure { return failure }
    failure = error
    levels.removeAll()
    return error
  }
}
