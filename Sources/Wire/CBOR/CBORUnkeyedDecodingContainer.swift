// Iteration over the elements of an array. Invariant: the position advances after an element was read without an
// error. Reading beyond the last element throws `endOfArray`.

/// The container from which a type decodes the elements of an array.
struct CBORUnkeyedDecodingContainer: UnkeyedDecodingContainer {
  private let input: CBORInput
  private let elements: Int
  private var offset: Int
  private(set) var currentIndex = 0

  init(_ input: CBORInput, at offset: Int) throws(CBORDecodingError) {
    self.input = input
    (elements, self.offset) = try input.container(CBORMajor.array, at: offset)
  }

  var codingPath: [any CodingKey] { [] }
  var count: Int? { elements }
  var isAtEnd: Bool { currentIndex >= elements }

  /// True if the next element is null, which is skipped then; otherwise false, without a change.
  mutating func decodeNil() throws -> Bool {
    guard try input.isNull(at: current()) else { return false }
    try advance()
    return true
  }

  mutating func decode(_ type: Bool.Type) throws -> Bool {
    let value = try input.bool(at: current())
    try advance()
    return value
  }

  mutating func decode(_ type: String.Type) throws -> String {
    let value = try input.text(at: current())
    try advance()
    return value
  }

  /// Throws an error: the profile has no floating-point numbers.
  mutating func decode(_ type: Double.Type) throws -> Double {
    throw CBORDecodingError(.floatingPointUnsupported, at: try current())
  }

  /// Throws an error: the profile has no floating-point numbers.
  mutating func decode(_ type: Float.Type) throws -> Float {
    throw CBORDecodingError(.floatingPointUnsupported, at: try current())
  }

  // The methods for integers are not generic; see the comment in `CBORKeyedDecodingContainer`.

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

  /// Reads an integer of any width. The compiler inlines a specialized copy into each caller.
  @inline(__always)
  mutating func integer<I: FixedWidthInteger>(_ type: I.Type) throws(CBORDecodingError) -> I {
    let value = try input.integer(type, at: current())
    try advance()
    return value
  }

  mutating func decode<T: Decodable>(_ type: T.Type) throws -> T {
    let value = try input.value(type, at: current())
    try advance()
    return value
  }

  mutating func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type
  ) throws -> KeyedDecodingContainer<NestedKey> {
    let container = try CBORValueDecoder(input: input, offset: current()).container(keyedBy: type)
    try advance()
    return container
  }

  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
    let container = try CBORUnkeyedDecodingContainer(input, at: current())
    try advance()
    return container
  }

  /// Throws an error: message types are not classes that inherit.
  mutating func superDecoder() throws -> any Decoder {
    throw CBORDecodingError(.superDecoderUnsupported, at: offset)
  }

  /// Offset of the next element. Throws `endOfArray` after the last one.
  @inline(__always) private func current() throws(CBORDecodingError) -> Int {
    guard currentIndex < elements else { throw CBORDecodingError(.endOfArray, at: offset) }
    return offset
  }

  /// Moves to the element after the present one.
  @inline(__always) private mutating func advance() throws(CBORDecodingError) {
    offset = try input.end(of: offset)
    currentIndex += 1
  }
}
