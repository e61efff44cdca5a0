// Encoding and decoding of single heads and fields of the profile, for messages of a fixed shape.
// Invariant: only the shortest form of a head is written and read, so the bytes equal those of `CBOREncoder`,
// and `CBORDecoder` accepts them. A reader that finds any other input fails and stays failed; `isComplete` is
// then false.

extension [UInt8] {
  /// Appends the start of a message: a map of one field, whose key is the kind, and the head of the content's map.
  mutating func appendHeads(kind: UInt8, fields: UInt8) {
    append(heads: 3) { $0.put(kind: kind, fields: fields) }
  }

  mutating func appendField(_ key: UInt8, _ value: some FixedWidthInteger) {
    append(heads: 2) { $0.put(field: key, value) }
  }

  /// Appends an optional field; nil writes nothing.
  mutating func appendField(_ key: UInt8, ifPresent value: (some FixedWidthInteger)?) {
    if let value { appendField(key, value) }
  }

  /// Appends an optional text field; nil writes nothing.
  mutating func appendField(_ key: UInt8, ifPresent value: String?) {
    guard var text = value else { return }
    precondition(key < 24, "this head is one byte long")
    append(key)
    text.withUTF8 { bytes in
      appendHead(CBORMajor.text, UInt64(bytes.count))
      append(contentsOf: bytes)
    }
  }

  mutating func appendField(_ key: UInt8, bytes: [UInt8]) {
    precondition(key < 24, "this head is one byte long")
    append(key)
    appendHead(CBORMajor.bytes, UInt64(bytes.count))
    append(contentsOf: bytes)
  }

  /// Appends the key of a field whose value is a map, and the head of that map with this number of fields.
  mutating func appendField(_ key: UInt8, mapOf fields: UInt8) {
    precondition(key < 24 && fields < 24, "these heads are one byte long")
    append(key)
    append(CBORMajor.map | fields)
  }

  mutating func appendField(_ key: UInt8, _ value: Bool) {
    precondition(key < 24, "this head is one byte long")
    append(key)
    append(value ? CBORSimple.true : CBORSimple.false)
  }

  /// Appends the head of a data item (RFC 8949, section 3) in its shortest form.
  @inline(__always) mutating func appendHead(_ major: UInt8, _ argument: UInt64) {
    if argument < 24 {
      append(major | UInt8(truncatingIfNeeded: argument))
    } else {
      appendLongHead(major, argument)
    }
  }

  /// Appends a head with an argument of at least 24.
  private mutating func appendLongHead(_ major: UInt8, _ argument: UInt64) {
    append(heads: 1) { $0.put(major, argument) }
  }

  /// Appends at most `most` heads, so that the array checks its capacity once and not for every byte.
  @inline(__always) mutating func append(heads most: Int, _ write: (inout DirectWriter) -> Void) {
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: most * DirectWriter.longestHead) { room in
      var writer = DirectWriter(room)
      write(&writer)
      append(contentsOf: UnsafeBufferPointer(rebasing: room[..<writer.count]))
    }
  }
}

/// Writes heads into memory that the caller has made large enough.
struct DirectWriter {
  /// The longest head, in bytes.
  static let longestHead = 9

  private let room: UnsafeMutableBufferPointer<UInt8>
  private(set) var count = 0

  init(_ room: UnsafeMutableBufferPointer<UInt8>) { self.room = room }

  /// The start of a message: a map of one field, whose key is the kind, and the head of the content's map.
  @inline(__always) mutating func put(kind: UInt8, fields: UInt8) {
    put(CBORMajor.map, 1)
    put(CBORMajor.unsigned, UInt64(kind))
    put(CBORMajor.map, UInt64(fields))
  }

  /// Writes a field with an integer.
  @inline(__always) mutating func put(field key: UInt8, _ value: some FixedWidthInteger) {
    put(CBORMajor.unsigned, UInt64(key))
    if value < 0 {
      // −1 − n is the complement of n (RFC 8949, section 3.1).
      put(CBORMajor.negative, UInt64(bitPattern: ~Int64(value)))
    } else {
      put(CBORMajor.unsigned, UInt64(value))
    }
  }

  /// The head of a data item (RFC 8949, section 3) in its shortest form.
  @inline(__always) mutating func put(_ major: UInt8, _ argument: UInt64) {
    if argument < 24 { put(major | UInt8(truncatingIfNeeded: argument)) } else { putLong(major, argument) }
  }

  /// Writes a head with an argument of at least 24.
  private mutating func putLong(_ major: UInt8, _ argument: UInt64) {
    let widthLog: UInt8 = argument <= 0xFF ? 0 : argument <= 0xFFFF ? 1 : argument <= 0xFFFF_FFFF ? 2 : 3
    put(major | (24 + widthLog))
    var shift = (8 << Int(widthLog)) - 8
    while shift >= 0 {
      put(UInt8(truncatingIfNeeded: argument >> UInt64(shift)))
      shift -= 8
    }
  }

  /// Writes one byte.
  @inline(__always) private mutating func put(_ byte: UInt8) {
    precondition(count < room.count, "there is room for every head")
    room[count] = byte
    count += 1
  }
}

/// Reads a message of a fixed shape, from its first byte to its last.
struct DirectReader {
  private let bytes: UnsafeBufferPointer<UInt8>
  /// Offset of the next byte.
  private var position = 0
  private var hasFailed = false

  init(_ bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }
  /// True if all bytes were read without a failure.
  var isComplete: Bool { !hasFailed && position == bytes.count }

  /// Skips the start of a message of this kind with this number of fields.
  mutating func expectHeads(kind: UInt8, fields: UInt8) {
    expect(CBORMajor.map | 1)
    expect(kind)
    expect(CBORMajor.map | fields)
  }

  /// Skips the start of a message of this kind, except the head of the content's map.
  mutating func expectHeads(kind: UInt8) {
    expect(CBORMajor.map | 1)
    expect(kind)
  }

  /// Skips this byte. Any other byte is a failure.
  private mutating func expect(_ byte: UInt8) {
    if position < bytes.count, bytes[position] == byte { position += 1 } else { hasFailed = true }
  }

  /// Skips the key of a field.
  mutating func expectField(_ key: UInt8) { expect(key) }

  /// Skips the key of a field whose value is a map of one field, the head of that map, and its key, which is
  /// the kind.
  mutating func expectField(_ key: UInt8, kind: UInt8) {
    expect(key)
    expect(CBORMajor.map | 1)
    expect(kind)
  }

  /// Reads the head of a map of fewer than 24 fields. Returns the number of fields, or 0 after a failure.
  mutating func mapCount() -> UInt8 {
    guard !hasFailed, position < bytes.count, bytes[position] & 0xE0 == CBORMajor.map,
      bytes[position] & 0x1F < 24
    else {
      hasFailed = true
      return 0
    }
    position += 1
    return bytes[position - 1] & 0x1F
  }

  /// True if this byte is next.
  func isAt(_ key: UInt8) -> Bool { !hasFailed && position < bytes.count && bytes[position] == key }

  /// Reads a field with a Boolean and a key below 24. Returns the Boolean, or false after a failure.
  mutating func flag(_ key: UInt8) -> Bool {
    expect(key)
    let isTrue = isAt(CBORSimple.true)
    expect(isTrue ? CBORSimple.true : CBORSimple.false)
    return isTrue
  }

  /// Reads a field with an integer and a key below 24. Returns the integer, or 0 after a failure.
  mutating func field<I: FixedWidthInteger>(_ key: UInt8) -> I {
    expect(key)
    guard let (major, argument) = head() else { return fail() }
    switch major {
    case CBORMajor.unsigned: return I(exactly: argument) ?? fail()
    case CBORMajor.negative: return Int64(exactly: argument).flatMap { I(exactly: ~$0) } ?? fail()
    default: return fail()
    }
  }

  /// Reads a head; nil if it is incomplete or not in its shortest form.
  private mutating func head() -> (major: UInt8, argument: UInt64)? {
    guard !hasFailed, position < bytes.count else { return nil }
    let (major, information) = (bytes[position] & 0xE0, bytes[position] & 0x1F)
    guard information < 28 else { return nil }
    position += 1
    guard information >= 24 else { return (major, UInt64(information)) }
    let width = 1 << Int(information - 24)
    guard width <= bytes.count - position else { return nil }
    var argument: UInt64 = 0
    for _ in 0..<width {
      argument = argument << 8 | UInt64(bytes[position])
      position += 1
    }
    let leastForThisWidth: UInt64 = width == 1 ? 24 : 1 << (4 * UInt64(width))
    return argument >= leastForThisWidth ? (major, argument) : nil
  }

  /// Reads an optional field with a text and a key below 24. Adds 1 to `present` if the field is present.
  mutating func text(_ key: UInt8, counting present: inout UInt8) -> String? {
    guard isAt(key) else { return nil }
    present += 1
    position += 1
    guard let (major, length) = head(), major == CBORMajor.text, length <= UInt64(bytes.count - position),
      let text = Self.text(UnsafeBufferPointer(rebasing: bytes[position..<(position + Int(length))]))
    else {
      hasFailed = true
      return nil
    }
    position += Int(length)
    return text
  }

  /// Returns the bytes as text, or nil if they are not UTF-8. ASCII needs no validation.
  private static func text(_ bytes: UnsafeBufferPointer<UInt8>) -> String? {
    if bytes.allSatisfy({ $0 < 0x80 }) { return String(decoding: bytes, as: UTF8.self) }
    return String(validating: bytes, as: UTF8.self)
  }

  /// Reads a field with a byte string and a key below 24. Returns its bytes, or none after a failure.
  mutating func bytes(_ key: UInt8) -> [UInt8] {
    expect(key)
    guard let (major, length) = head(), major == CBORMajor.bytes, length <= UInt64(bytes.count - position)
    else {
      hasFailed = true
      return []
    }
    defer { position += Int(length) }
    return Array(bytes[position..<(position + Int(length))])
  }

  /// Reads an optional field with a byte string and a key below 24. Adds 1 to `present` if the field is
  /// present.
  mutating func bytes(_ key: UInt8, counting present: inout UInt8) -> [UInt8]? {
    guard isAt(key) else { return nil }
    present += 1
    return bytes(key)
  }

  /// Reads an optional field with an integer and a key below 24. Adds 1 to `present` if the field is present.
  mutating func field<I: FixedWidthInteger>(_ key: UInt8, counting present: inout UInt8) -> I? {
    guard isAt(key) else { return nil }
    present += 1
    return field(key)
  }

  /// Records a failure and returns 0.
  private mutating func fail<I: FixedWidthInteger>() -> I {
    hasFailed = true
    return 0
  }
}
