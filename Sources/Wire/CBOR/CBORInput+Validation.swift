// Single pass over an input that checks it against the profile before any value is made. Invariant: recursion is
// limited, and a claimed size is compared with the remaining bytes before it is used. The first broken rule is thrown
// with its offset.

extension CBORInput {
  /// Checks that the input is one value of the profile, with nothing after it.
  func validate(maximumDepth: Int) throws(CBORDecodingError) {
    let end = try validateItem(at: 0, depth: 0, maximumDepth: maximumDepth)
    guard end == count else { throw CBORDecodingError(.trailingBytes, at: end) }
  }

  /// Checks one data item, with all items in it, and returns the offset of its end.
  private func validateItem(at offset: Int, depth: Int, maximumDepth: Int) throws(CBORDecodingError) -> Int {
    let head = try head(at: offset)
    switch head.major {
    case CBORMajor.negative where head.argument > UInt64(Int64.max):
      throw CBORDecodingError(.integerOutOfRange, at: offset)
    case CBORMajor.bytes, CBORMajor.text: return try validateString(head, at: offset)
    case CBORMajor.array, CBORMajor.map:
      guard depth < maximumDepth else {
        throw CBORDecodingError(.nestingTooDeep(limit: maximumDepth), at: offset)
      }
      let isMap = head.major == CBORMajor.map
      // An element of an array takes at least one byte, and a field of a map at least two.
      let mostEntries = UInt64(isMap ? (count - head.end) / 2 : count - head.end)
      guard head.argument <= mostEntries else {
        throw CBORDecodingError(.countExceedsInput(head.argument), at: offset)
      }
      return isMap
        ? try validateMap(head, depth: depth, maximumDepth: maximumDepth)
        : try validateArray(head, depth: depth, maximumDepth: maximumDepth)
    default: return head.end
    }
  }

  /// Checks a string, and returns the offset of its end.
  private func validateString(_ head: CBORHead, at offset: Int) throws(CBORDecodingError) -> Int {
    guard head.argument <= UInt64(count - head.end) else {
      throw CBORDecodingError(.lengthExceedsInput(head.argument), at: offset)
    }
    let length = Int(head.argument)
    if head.major == CBORMajor.text && !isUTF8(from: head.end, length: length) {
      throw CBORDecodingError(.invalidUTF8, at: offset)
    }
    return head.end + length
  }

  /// Checks the elements of an array, and returns the offset of its end.
  private func validateArray(
    _ head: CBORHead, depth: Int, maximumDepth: Int
  ) throws(CBORDecodingError) -> Int {
    var offset = head.end
    for _ in 0..<head.argument {
      offset = try validateItem(at: offset, depth: depth + 1, maximumDepth: maximumDepth)
    }
    return offset
  }

  /// Checks the fields of a map, and returns the offset of its end.
  private func validateMap(_ head: CBORHead, depth: Int, maximumDepth: Int) throws(CBORDecodingError) -> Int {
    var offset = head.end
    var keys = CBORKeySet()
    for _ in 0..<head.argument {
      let key = try fieldNumber(at: offset)
      guard keys.insert(key.number) else {
        throw CBORDecodingError(.duplicateField(Int(key.number)), at: offset)
      }
      offset = try validateItem(at: key.end, depth: depth + 1, maximumDepth: maximumDepth)
    }
    return offset
  }

  /// Reads the key of a field.
  @inline(__always) func fieldNumber(at offset: Int) throws(CBORDecodingError) -> (number: UInt8, end: Int) {
    let head = try head(at: offset)
    guard head.major == CBORMajor.unsigned, let number = UInt8(exactly: head.argument) else {
      throw CBORDecodingError(.keyNotAFieldNumber, at: offset)
    }
    return (number, head.end)
  }

  /// True if these bytes of the input are well-formed UTF-8.
  private func isUTF8(from offset: Int, length: Int) -> Bool {
    let content = slice(from: offset, length: length)
    guard let firstBeyondASCII = content.firstIndex(where: { $0 >= 0x80 }) else { return true }
    return Self.isUTF8(content[firstBeyondASCII...])
  }

  /// True if the bytes are well-formed UTF-8 (The Unicode Standard, table 3-7): no overlong forms, no
  /// surrogates.
  private static func isUTF8(_ bytes: ArraySlice<UInt8>) -> Bool {
    var index = bytes.startIndex
    while index < bytes.endIndex {
      let lead = bytes[index]
      index += 1
      let (following, firstRange): (Int, ClosedRange<UInt8>)
      switch lead {
      case 0x00...0x7F: continue
      case 0xC2...0xDF: (following, firstRange) = (1, 0x80...0xBF)
      case 0xE0: (following, firstRange) = (2, 0xA0...0xBF)
      case 0xED: (following, firstRange) = (2, 0x80...0x9F)
      case 0xE1...0xEF: (following, firstRange) = (2, 0x80...0xBF)
      case 0xF0: (following, firstRange) = (3, 0x90...0xBF)
      case 0xF1...0xF3: (following, firstRange) = (3, 0x80...0xBF)
      case 0xF4: (following, firstRange) = (3, 0x80...0x8F)
      default: return false
      }
      guard bytes.endIndex - index >= following, firstRange.contains(bytes[index]) else { return false }
      for later in (index + 1)..<(index + following) where bytes[later] & 0xC0 != 0x80 { return false }
      index += following
    }
    return true
  }
}
