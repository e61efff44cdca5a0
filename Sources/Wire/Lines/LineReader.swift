// Reader of one line of JSON (RFC 8259). After a check of its UTF-8 the line is parsed in a single pass and without a
// tree, because a worker may send many lines per second.
// Invariant: any input gives a value or a typed fault with its offset. The nesting is limited, and therefore
// the stack. The value of an unknown key is skipped, but checked as strictly as any other value. A known key
// must not occur twice, because JSON parsers differ in which of the two values they use.

/// Reads one line, from its first byte to its last.
struct LineReader {
  /// Set of the known keys that were read in one object, to refuse a repeated key. It contains no values.
  struct Members {
    fileprivate var seen: UInt32 = 0
    fileprivate var isFirst = true
    /// Key whose value is this object, and offset of the object.
    let owner: LineKey
    let begin: Int
  }

  /// Maximum nesting of objects and arrays.
  static let maximumDepth = 32

  let bytes: UnsafeBufferPointer<UInt8>
  /// Offset of the next byte.
  var position = 0

  /// A reader before the first byte.
  ///
  /// - Throws: a fault if the line is not valid UTF-8.
  init(_ bytes: UnsafeBufferPointer<UInt8>) throws(LineParseError) {
    self.bytes = bytes
    do throws(UTF8.ValidationError) { _ = try UTF8Span(validating: bytes.span) } catch {
      throw LineParseError(.notUTF8, at: error.byteOffsets.lowerBound)
    }
  }

  /// The fault with this reason at the present position.
  func fault(_ reason: LineParseError.Reason) -> LineParseError { LineParseError(reason, at: position) }

  /// The fault for the unexpected byte at this position.
  func unexpected() -> LineParseError {
    fault(position < bytes.count ? .unexpected(bytes[position]) : .endsEarly)
  }

  /// True if this byte is next.
  @inline(__always) func isAt(_ byte: UInt8) -> Bool { position < bytes.count && bytes[position] == byte }

  /// Skips the whitespace of JSON.
  @inline(__always) mutating func skipSpace() {
    while position < bytes.count, bytes[position] <= 0x20 {
      let byte = bytes[position]
      guard byte == 0x20 || byte == 0x09 || byte == 0x0a || byte == 0x0d else { return }
      position += 1
    }
  }

  /// Consumes this byte. Throws a fault if another byte is next.
  @inline(__always) mutating func take(_ byte: UInt8) throws(LineParseError) {
    guard isAt(byte) else { throw unexpected() }
    position += 1
  }

  // MARK: Objects

  /// Reads the first key of the line's object, and moves to its value. ``end()`` checks that there is no other
  /// key.
  mutating func kind() throws(LineParseError) -> LineKey {
    skipSpace()
    guard isAt(UInt8(ascii: "{")) else { throw fault(.notObject) }
    position += 1
    skipSpace()
    if isAt(UInt8(ascii: "}")) { throw fault(.noKind) }
    return try key()
  }

  /// Checks that the line's object ends and that nothing follows it.
  mutating func end() throws(LineParseError) {
    skipSpace()
    if isAt(UInt8(ascii: ",")) { throw fault(.severalKinds) }
    try take(UInt8(ascii: "}"))
    skipSpace()
    if position < bytes.count { throw fault(.trailing) }
  }

  /// Enters the object that is the value of a key.
  mutating func open(_ owner: LineKey) throws(LineParseError) -> Members {
    guard isAt(UInt8(ascii: "{")) else { throw wanted(owner, "an object") }
    position += 1
    return Members(owner: owner, begin: position - 1)
  }

  /// Reads the next key of an object, and moves to its value. Returns nil at the end of the object.
  mutating func next(_ members: inout Members) throws(LineParseError) -> LineKey? {
    guard try hasNext(isFirst: members.isFirst, before: UInt8(ascii: "}")) else { return nil }
    members.isFirst = false
    let begin = position
    let word = try key()
    guard word != .unknown else { return .unknown }
    let bit: UInt32 = 1 << UInt32(word.rawValue)
    guard members.seen & bit == 0 else { throw LineParseError(.twice(word.name), at: begin) }
    members.seen |= bit
    return word
  }

  /// The fault for an object without a required key.
  func missing(_ word: LineKey, in members: Members) -> LineParseError {
    LineParseError(.missing(word.name), at: members.begin)
  }

  /// The fault for an invalid value, with the offset at which the value starts; `endsEarly` at the end of the
  /// line.
  func wanted(_ word: LineKey, _ what: String, at begin: Int? = nil) -> LineParseError {
    position < bytes.count
      ? LineParseError(.wanted(word.name, what), at: begin ?? position) : fault(.endsEarly)
  }

  /// Consumes the closing bracket and returns false. If the bracket is not next, consumes the comma, unless
  /// this is the first element, and returns true: an element has to follow.
  mutating func hasNext(isFirst: Bool, before close: UInt8) throws(LineParseError) -> Bool {
    skipSpace()
    if isAt(close) {
      position += 1
      return false
    }
    if !isFirst {
      try take(UInt8(ascii: ","))
      skipSpace()
    }
    return true
  }

  /// Reads a key and its colon.
  private mutating func key() throws(LineParseError) -> LineKey {
    let text = try string()
    skipSpace()
    try take(UInt8(ascii: ":"))
    skipSpace()
    return withBytes(of: text) { LineKey.of($0) }
  }

  /// The key at an offset, truncated, for an error message; empty if there is no valid string.
  func keyName(at begin: Int) -> String {
    var copy = self
    copy.position = begin
    guard let text = try? copy.string() else { return "" }
    let name = self.text(text, first: 64)
    return name.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x7f } ? name.debugDescription : name
  }

  // MARK: Values

  /// Consumes `null` and returns true, if it is next. For an optional key, `null` is equivalent to leaving the
  /// key out.
  mutating func consumesNull() -> Bool { consumes("null") }

  /// Consumes `true` or `false`.
  mutating func flag(_ word: LineKey) throws(LineParseError) -> Bool {
    if consumes("true") { return true }
    if consumes("false") { return false }
    throw wanted(word, "true or false")
  }

  /// Consumes this word and returns true, if it is next.
  private mutating func consumes(_ word: StaticString) -> Bool {
    let count = word.utf8CodeUnitCount
    guard bytes.count - position >= count else { return false }
    for offset in 0..<count where bytes[position + offset] != word.utf8Start[offset] { return false }
    position += count
    return true
  }

  /// Consumes a whole number in this range.
  mutating func integer<I: FixedWidthInteger & SignedInteger>(
    _ word: LineKey, _ range: ClosedRange<I>
  ) throws(LineParseError) -> I {
    let begin = position
    let isNegative = isAt(UInt8(ascii: "-"))
    if isNegative { position += 1 }
    let first = position
    var number: Int64 = 0
    var isTooLarge = false
    while position < bytes.count, case let digit = bytes[position] &- 0x30, digit <= 9 {
      let (times, overflow) = number.multipliedReportingOverflow(by: 10)
      let (sum, carry) = times.addingReportingOverflow(Int64(digit))
      isTooLarge = isTooLarge || overflow || carry
      number = sum
      position += 1
    }
    guard position > first else { throw wanted(word, "a whole number", at: begin) }
    if bytes[first] == 0x30, position > first + 1 { throw LineParseError(.badNumber, at: begin) }
    if position < bytes.count, bytes[position] == 0x2e || bytes[position] | 0x20 == UInt8(ascii: "e") {
      throw wanted(word, "a whole number", at: begin)
    }
    let value = isNegative ? 0 &- number : number
    guard !isTooLarge, let exact = I(exactly: value), range.contains(exact) else {
      throw LineParseError(
        .wanted(word.name, "a whole number from \(range.lowerBound) to \(range.upperBound)"), at: begin)
    }
    return exact
  }

  /// Consumes a number. Returns it rounded down to an integer and clamped to 0 … 100. A long number with an exponent
  /// is refused.
  mutating func percent(_ word: LineKey) throws(LineParseError) -> UInt8 {
    let begin = position
    guard position < bytes.count, bytes[position] == UInt8(ascii: "-") || bytes[position] &- 0x30 <= 9 else {
      throw wanted(word, "a number")
    }
    try skipNumber()
    let text = bytes[begin..<position]
    if text.first == UInt8(ascii: "-") { return 0 }
    if text.contains(where: { $0 | 0x20 == UInt8(ascii: "e") }) {
      guard text.count <= 64, let number = Double(String(decoding: text, as: UTF8.self)) else {
        throw LineParseError(.badNumber, at: begin)
      }
      return UInt8(max(0, min(100, number)))
    }
    var number = 0
    for byte in text {
      guard byte &- 0x30 <= 9 else { break }
      number = min(100, number * 10 + Int(byte - 0x30))
    }
    return UInt8(number)
  }

  /// Skips a value of any kind.
  mutating func skipValue(depth: Int = 2) throws(LineParseError) {
    skipSpace()
    guard position < bytes.count else { throw fault(.endsEarly) }
    switch bytes[position] {
    case UInt8(ascii: "\""): _ = try string()
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): try skipNumber()
    case UInt8(ascii: "{"):
      guard depth < Self.maximumDepth else { throw fault(.tooDeep(limit: Self.maximumDepth)) }
      position += 1
      var isFirst = true
      while try hasNext(isFirst: isFirst, before: UInt8(ascii: "}")) {
        isFirst = false
        _ = try string()
        skipSpace()
        try take(UInt8(ascii: ":"))
        try skipValue(depth: depth + 1)
      }
    case UInt8(ascii: "["):
      guard depth < Self.maximumDepth else { throw fault(.tooDeep(limit: Self.maximumDepth)) }
      position += 1
      var isFirst = true
      while try hasNext(isFirst: isFirst, before: UInt8(ascii: "]")) {
        isFirst = false
        try skipValue(depth: depth + 1)
      }
    default: guard consumes("true") || consumes("false") || consumes("null") else { throw unexpected() }
    }
  }

  /// Skips a number, and checks its form.
  private mutating func skipNumber() throws(LineParseError) {
    let begin = position
    if isAt(UInt8(ascii: "-")) { position += 1 }
    let leading = position
    guard skipDigits(), bytes[leading] != 0x30 || position == leading + 1 else {
      throw LineParseError(.badNumber, at: begin)
    }
    if isAt(UInt8(ascii: ".")) {
      position += 1
      guard skipDigits() else { throw LineParseError(.badNumber, at: begin) }
    }
    if isAt(UInt8(ascii: "e")) || isAt(UInt8(ascii: "E")) {
      position += 1
      if isAt(UInt8(ascii: "+")) || isAt(UInt8(ascii: "-")) { position += 1 }
      guard skipDigits() else { throw LineParseError(.badNumber, at: begin) }
    }
  }

  /// Skips digits. Returns false if there are none.
  private mutating func skipDigits() -> Bool {
    let begin = position
    while position < bytes.count, bytes[position] &- 0x30 <= 9 { position += 1 }
    return position > begin
  }
}
