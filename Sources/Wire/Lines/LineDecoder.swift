// Splits a byte stream into lines. Invariant: a line that is too long is refused when the limit is exceeded. After a
// refusal the decoder stays failed: it drops its data and throws the same error again.

/// Reason for refusing a line before parsing it.
public enum LineError: Error, Equatable, Sendable {
  /// The line exceeds the connection's limit, in bytes without the newline.
  case tooLong(maximum: Int)
}

extension LineError: CustomStringConvertible {
  /// One sentence: the refusal and its reason.
  public var description: String {
    switch self {
    case .tooLong(let maximum): "refused a line of more than \(maximum) bytes: this connection allows no more"
    }
  }
}

/// Splits a byte stream into lines.
///
/// Append the bytes of a read, then call ``next()`` until it returns nil, as with ``FrameDecoder``. A line ends
/// with a newline; a carriage return before it is dropped, and an empty line is skipped. Bytes at the end of
/// the stream without a newline are not a line.
public struct LineDecoder: Sendable {
  private let maximumLength: Int
  private(set) var buffer: [UInt8] = []
  /// Number of bytes at the start of the buffer that were returned.
  private var consumed = 0
  /// Position up to which the unconsumed bytes contain no newline.
  private var searched = 0
  private var failure: LineError?

  /// Capacity in bytes above which an empty buffer is freed.
  private static let retainedCapacity = 64 << 10

  /// A decoder at the start of a stream.
  ///
  /// - Parameter maximumLength: maximum length of a line in bytes, including a carriage return but not the
  ///   newline.
  /// - Precondition: `maximumLength` is at least 1.
  public init(maximumLength: Int) {
    precondition(maximumLength >= 1, "a line has at least one byte")
    self.maximumLength = maximumLength
  }

  /// Appends the next bytes of the stream, in portions of any size.
  public mutating func append(_ bytes: some Collection<UInt8>) {
    guard failure == nil else { return }
    compact()
    buffer.append(contentsOf: bytes)
  }

  /// Appends the next bytes of the stream from the memory of a read; they are copied.
  public mutating func append(_ bytes: UnsafeRawBufferPointer) {
    guard failure == nil else { return }
    compact()
    buffer.append(contentsOf: bytes)
  }

  /// The next line without its newline, or nil if more bytes are needed.
  ///
  /// The slice shares the decoder's memory. Release the slice before appending more bytes; if it is still held,
  /// the append copies the buffer.
  ///
  /// - Throws: ``LineError`` if the next line is too long; every later call throws the same error.
  public mutating func next() throws(LineError) -> ArraySlice<UInt8>? {
    if let failure { throw failure }
    while let end = findNewline() {
      let begin = consumed
      guard end - begin <= maximumLength else { throw fail() }
      (consumed, searched) = (end + 1, end + 1)
      let last = end > begin && buffer[end - 1] == 0x0d ? end - 1 : end
      if last > begin { return buffer[begin..<last] }
    }
    guard bufferedByteCount <= maximumLength else { throw fail() }
    compact()
    return nil
  }

  /// True if the decoder holds bytes that no call of ``next()`` has returned. At the end of the stream these
  /// bytes are an incomplete line.
  public var isMidLine: Bool { bufferedByteCount > 0 }

  /// Number of bytes that no call of ``next()`` has returned.
  public var bufferedByteCount: Int { buffer.count - consumed }

  /// Drops all data, and returns the error that every later call throws.
  private mutating func fail() -> LineError {
    let error = LineError.tooLong(maximum: maximumLength)
    failure = error
    buffer = []
    (consumed, searched) = (0, 0)
    return error
  }

  /// Position of the next newline in the buffer; nil if there is none.
  private mutating func findNewline() -> Int? {
    let begin = searched
    let position = buffer.withUnsafeBytes { Self.newline(in: $0, from: begin) }
    searched = position ?? buffer.count
    return position
  }

  /// Position of the first newline at or after `begin`; nil if there is none.
  private static func newline(in bytes: UnsafeRawBufferPointer, from begin: Int) -> Int? {
    var position = begin
    // Each step compares eight bytes. A byte of `difference` is 0 exactly where `word` has a newline. The
    // lowest set bit of `found` belongs to the first newline; higher set bits may be false positives.
    while position + 8 <= bytes.count {
      let word = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self))
      let difference = word ^ 0x0a0a_0a0a_0a0a_0a0a
      let found = (difference &- 0x0101_0101_0101_0101) & ~difference & 0x8080_8080_8080_8080
      if found != 0 { return position + found.trailingZeroBitCount / 8 }
      position += 8
    }
    while position < bytes.count {
      if bytes[position] == 0x0a { return position }
      position += 1
    }
    return nil
  }

  /// Drops returned bytes once they are at least half of the buffer; see ``FrameDecoder``.
  private mutating func compact() {
    if consumed == buffer.count {
      if buffer.capacity > Self.retainedCapacity {
        buffer = []
      } else {
        buffer.removeAll(keepingCapacity: true)
      }
      (consumed, searched) = (0, 0)
    } else if consumed >= buffer.count - consumed {
      buffer.removeSubrange(..<consumed)
      (consumed, searched) = (0, searched - consumed)
    }
  }
}
