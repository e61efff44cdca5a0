// Bytes of one input, and decoding of single data items at an offset. Offsets count from 0. A broken rule is thrown
// as a `CBORDecodingError` with the offset of the data item.

/// Bytes of one input, with functions that decode single data items.
final class CBORInput {
  private let bytes: ArraySlice<UInt8>
  /// Index of the first byte in the slice.
  private let base: Int
  let count: Int

  init(_ bytes: ArraySlice<UInt8>) {
    self.bytes = bytes
    base = bytes.startIndex
    count = bytes.count
  }

  /// Byte at an offset. Throws `truncated` at the end of the input.
  @inline(__always) func byte(at offset: Int) throws(CBORDecodingError) -> UInt8 {
    guard offset < count else { throw CBORDecodingError(.truncated, at: offset) }
    return bytes[base + offset]
  }

  /// Bytes from an offset. The caller has checked that the input has them.
  func slice(from offset: Int, length: Int) -> ArraySlice<UInt8> {
    bytes[(base + offset)..<(base + offset + length)]
  }

  /// Reads the head at an offset, and refuses a head outside the profile.
  ///
  /// For major type 7 the argument is the simple value.
  @inline(__always) func head(at offset: Int) throws(CBORDecodingError) -> CBORHead {
    let first = try byte(at: offset)
    let (major, information) = (first & 0xE0, first & 0x1F)
    if information < 24 && major < CBORMajor.tag {
      return CBORHead(major: major, argument: UInt64(information), end: offset + 1)
    }
    return try longHead(at: offset, major: major, information: information)
  }

  /// Reads a head that is longer than one byte, or has the major type of tags and simple values.
  private func longHead(
    at offset: Int, major: UInt8, information: UInt8
  ) throws(CBORDecodingError) -> CBORHead {
    switch (major, information) {
    case (_, 28...30): throw CBORDecodingError(.reservedHead, at: offset)
    case (_, 31): throw CBORDecodingError(.indefiniteLength, at: offset)
    case (CBORMajor.simple, 25...27): throw CBORDecodingError(.floatingPoint, at: offset)
    case (_, 0...23):
      let head = CBORHead(major: major, argument: UInt64(information), end: offset + 1)
      return try withinProfile(head, at: offset)
    default: break
    }
    let width = 1 << Int(information - 24)
    guard width < count - offset else { throw CBORDecodingError(.truncated, at: offset) }
    var argument: UInt64 = 0
    for place in 1...width { argument = argument << 8 | UInt64(bytes[base + offset + place]) }
    let head = CBORHead(major: major, argument: argument, end: offset + 1 + width)
    // A value that fits the next shorter form has to use that form. A simple value below 32 must not have the
    // two-byte form (RFC 8949, section 3.3).
    let leastForThisWidth: UInt64 =
      width == 1 ? (major == CBORMajor.simple ? 32 : 24) : 1 << (4 * UInt64(width))
    guard argument >= leastForThisWidth else { throw CBORDecodingError(.nonShortestHead, at: offset) }
    return try withinProfile(head, at: offset)
  }

  /// Returns the head, unless its tag or simple value is outside the profile.
  private func withinProfile(_ head: CBORHead, at offset: Int) throws(CBORDecodingError) -> CBORHead {
    switch (head.major, head.argument) {
    case (CBORMajor.tag, 2...3): throw CBORDecodingError(.bignum, at: offset)
    case (CBORMajor.tag, let number): throw CBORDecodingError(.tag(number), at: offset)
    case (CBORMajor.simple, 20...22): return head
    case (CBORMajor.simple, 23): throw CBORDecodingError(.undefined, at: offset)
    case (CBORMajor.simple, let value):
      throw CBORDecodingError(.simpleValue(UInt8(truncatingIfNeeded: value)), at: offset)
    default: return head
    }
  }

  /// True if the data item at an offset is null.
  @inline(__always)
  func isNull(at offset: Int) throws(CBORDecodingError) -> Bool { try byte(at: offset) == CBORSimple.null }

  func bool(at offset: Int) throws(CBORDecodingError) -> Bool {
    switch try byte(at: offset) {
    case CBORSimple.true: return true
    case CBORSimple.false: return false
    default: throw try mismatch(expected: .boolean, at: offset)
    }
  }

  /// Integer at an offset, converted to the requested width.
  @inline(__always)
  func integer<I: FixedWidthInteger>(_ type: I.Type, at offset: Int) throws(CBORDecodingError) -> I {
    let head = try head(at: offset)
    if head.major == CBORMajor.unsigned, let value = I(exactly: head.argument) { return value }
    // −1 − n is the complement of n. An n above Int64.max is outside the profile.
    if head.major == CBORMajor.negative, let magnitude = Int64(exactly: head.argument),
      let value = I(exactly: ~magnitude)
    {
      return value
    }
    throw try mismatch(expected: .integer, at: offset)
  }

  func text(at offset: Int) throws(CBORDecodingError) -> String {
    let content = try stringContent(major: CBORMajor.text, expected: .textString, at: offset)
    guard let text = String(validating: content, as: UTF8.self) else {
      throw CBORDecodingError(.invalidUTF8, at: offset)
    }
    return text
  }

  func byteString(at offset: Int) throws(CBORDecodingError) -> [UInt8] {
    Array(try stringContent(major: CBORMajor.bytes, expected: .byteString, at: offset))
  }

  /// Content of a text string or a byte string.
  private func stringContent(
    major: UInt8, expected: CBORKind, at offset: Int
  ) throws(CBORDecodingError) -> ArraySlice<UInt8> {
    let head = try head(at: offset)
    guard head.major == major else { throw try mismatch(expected: expected, at: offset) }
    guard let length = Int(exactly: head.argument), length <= count - head.end else {
      throw CBORDecodingError(.lengthExceedsInput(head.argument), at: offset)
    }
    return slice(from: head.end, length: length)
  }

  /// Reads the head of an array or a map. Returns the number of elements or fields, and the offset of the
  /// first.
  func container(_ major: UInt8, at offset: Int) throws(CBORDecodingError) -> (count: Int, begin: Int) {
    let head = try head(at: offset)
    guard head.major == major else {
      throw try mismatch(expected: major == CBORMajor.array ? .array : .map, at: offset)
    }
    guard let entries = Int(exactly: head.argument), entries <= count - head.end else {
      throw CBORDecodingError(.countExceedsInput(head.argument), at: offset)
    }
    return (entries, head.end)
  }

  /// Decodes a value of any type at an offset.
  func value<T: Decodable>(_ type: T.Type, at offset: Int) throws(CBORDecodingError) -> T {
    if T.self == [UInt8].self, let byteString = try byteString(at: offset) as? T { return byteString }
    do { return try T(from: CBORValueDecoder(input: self, offset: offset)) } catch {
      throw error as? CBORDecodingError
        ?? CBORDecodingError(.valueRefused(Self.message(of: error)), at: offset)
    }
  }

  /// Text of an error from a type's own initializer, truncated because it may quote the input.
  private static func message(of error: any Error) -> String {
    let message =
      switch error {
      case DecodingError.dataCorrupted(let context), DecodingError.keyNotFound(_, let context),
        DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context):
        context.debugDescription
      default: String(describing: error)
      }
    return String(message.prefix(200))
  }

  /// Offset of the first byte after the data item at `offset`. The function does not recurse or scan strings.
  func end(of offset: Int) throws(CBORDecodingError) -> Int {
    var offset = offset
    var pending = 1
    while pending > 0 {
      let head = try head(at: offset)
      pending -= 1
      let length = head.major == CBORMajor.bytes || head.major == CBORMajor.text ? head.argument : 0
      guard length <= UInt64(count - head.end) else {
        throw CBORDecodingError(.lengthExceedsInput(length), at: offset)
      }
      let entries = head.major == CBORMajor.array || head.major == CBORMajor.map ? head.argument : 0
      guard entries <= UInt64(count - head.end) else {
        throw CBORDecodingError(.countExceedsInput(entries), at: offset)
      }
      // The sum is less than twice the square of the input's length, which a frame limits, so it does not overflow.
      pending += Int(entries) * (head.major == CBORMajor.map ? 2 : 1)
      offset = head.end + Int(length)
    }
    return offset
  }

  /// The error for a data item of another kind than requested, or for an integer that does not fit.
  func mismatch(expected: CBORKind, at offset: Int) throws(CBORDecodingError) -> CBORDecodingError {
    let head = try head(at: offset)
    let found: CBORKind =
      switch head.major {
      case CBORMajor.unsigned, CBORMajor.negative: .integer
      case CBORMajor.bytes: .byteString
      case CBORMajor.text: .textString
      case CBORMajor.array: .array
      case CBORMajor.map: .map
      default: head.argument == 22 ? .null : .boolean
      }
    if expected == .integer && found == .integer { return CBORDecodingError(.integerOutOfRange, at: offset) }
    return CBORDecodingError(.typeMismatch(expected: expected, found: found), at: offset)
  }
}
