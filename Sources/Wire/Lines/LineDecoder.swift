// Owns the cutting of a byte stream into lines. Invariant: a line that is too long is refused as soon as so many bytes are
// there; every byte is looked at once and moved a bounded number of times, in whatever portions it comes. After a refusal
// the decoder is failed for good: it drops what it holds and gives the same error again.

/// Why a line was refused before it was read.
public enum LineError: Error, Equatable, Sendable {
  /// The line is longer than the connection allows; bytes without the newline.
  case tooLong(maximum: Int)
}

extension LineError: CustomStringConvertible {
  /// One sentence: what was refused and why.
  public var description: String {
    switch self {
    case .tooLong(let maximum): "refused a line of more than \(maximum) bytes: this connection allows no more"
    }
  }
}

/// Cuts a byte stream into lines.
///
/// Append what a read brought, then take lines until there is none, as with ``FrameDecoder``. A line ends with a newline; a
/// carriage return before it is dropped, and a line without anything is skipped. What has no newline behind it is no line.
public struct LineDecoder: Sendable {
  private let maximumLength: Int
  private(set) var buffer: [UInt8] = []
  private var consumed = 0
  /// Between what was consumed and this place is no newline.
  private var searched = 0
  private var failure: LineError?

  /// A buffer larger than this is given back to the system when it runs empty, in bytes.
  private static let keptCapacity = 64 << 10

  /// A decoder at the beginning of a stream.
  ///
  /// - Parameter maximumLength: The longest line that is accepted, in bytes, with a carriage return and without the newline.
  /// - Precondition: `maximumLength` is at least 1.
  public init(maximumLength: Int) {
    precondition(maximumLength >= 1, "a line has at least one byte")
    self.maximumLength = maximumLength
  }

  /// Takes the next bytes of the stream, in any portions.
  public mutating func append(_ bytes: some Collection<UInt8>) {
    guard failure == nil else { return }
    compact()
    buffer.append(contentsOf: bytes)
  }

  /// Takes the next bytes of the stream from memory that a read has filled; they are copied.
  public mutating func append(_ bytes: UnsafeRawBufferPointer) {
    guard failure == nil else { return }
    compact()
    buffer.append(contentsOf: bytes)
  }

  /// The next line without its end, or nil when more bytes are needed.
  ///
  /// The slice shares the decoder's memory: it should be gone before more bytes are appended, or they cost a copy.
  ///
  /// - Throws: ``LineError`` when the next line is too long; from then on every call does.
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

  /// Whether bytes are held that no call of ``next()`` has given out: where the stream has ended, they are half a line.
  public var isMidLine: Bool { bufferedByteCount > 0 }

  /// How many bytes are held that no call of ``next()`` has given out.
  public var bufferedByteCount: Int { buffer.count - consumed }

  private mutating func fail() -> LineError {
    let error = LineError.tooLong(maximum: maximumLength)
    failure = error
    buffer = []
    (consumed, searched) = (0, 0)
    return error
  }

  private mutating func findNewline() -> Int? {
    let begin = searched
    let place = buffer.withUnsafeBytes { Self.newline(in: $0, from: begin) }
    searched = place ?? buffer.count
    return place
  }

  private static func newline(in bytes: UnsafeRawBufferPointer, from begin: Int) -> Int? {
    var place = begin
    // Eight bytes at once: a byte of the difference is 0 where there is a newline, and only there the lowest bit that is set
    // below is that of such a byte.
    while place + 8 <= bytes.count {
      let word = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self))
      let difference = word ^ 0x0a0a_0a0a_0a0a_0a0a
      let found = (difference &- 0x0101_0101_0101_0101) & ~difference & 0x8080_8080_8080_8080
      if found != 0 { return place + found.trailingZeroBitCount / 8 }
      place += 8
    }
    while place < bytes.count {
      if bytes[place] == 0x0a { return place }
      place += 1
    }
    return nil
  }

  /// Drops what was given out, when at least half of the buffer is; see ``FrameDecoder``.
  private mutating func compact() {
    if consumed == buffer.count {
      if buffer.capacity > Self.keptCapacity { buffer = [] } else { buffer.removeAll(keepingCapacity: true) }
      (consumed, searched) = (0, 0)
    } else if consumed >= buffer.count - consumed {
      buffer.removeSubrange(..<consumed)
      (consumed, searched) = (0, searched - consumed)
    }
  }
}
