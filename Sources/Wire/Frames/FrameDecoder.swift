// Owns the cutting of a byte stream into frames. Invariant: a length is judged as soon as its four bytes are there and
// before anything is kept for its body; every byte is moved a bounded number of times, however many frames one read
// brings. After a refusal the decoder is failed for good: it drops what it holds and gives the same error again.

/// Cuts a byte stream into the bodies of frames.
///
/// Append what a read brought, then take frames until there is none:
///
///     decoder.append(bytes)
///     while let body = try decoder.next() { … }
///
/// The memory it holds is one incomplete frame and what was appended since the last call of ``next()``.
public struct FrameDecoder: Sendable {
  private let maximumBodyLength: Int
  private(set) var buffer: [UInt8] = []
  private var consumed = 0
  private var failure: FrameError?

  /// A buffer larger than this is given back to the system when it runs empty, in bytes.
  private static let keptCapacity = 64 << 10

  /// A decoder at the beginning of a stream.
  ///
  /// - Parameter maximumBodyLength: The longest body that is accepted, in bytes; one of ``FrameLimits``.
  /// - Precondition: `maximumBodyLength` is at least 1.
  public init(maximumBodyLength: Int) {
    precondition(maximumBodyLength >= 1, "a frame's body has at least one byte")
    self.maximumBodyLength = maximumBodyLength
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

  /// The body of the next frame, or nil when more bytes are needed.
  ///
  /// The slice shares the decoder's memory: it should be gone before more bytes are appended, or they cost a copy.
  ///
  /// - Throws: ``FrameError`` when the next frame is empty or too long; from then on every call does.
  public mutating func next() throws(FrameError) -> ArraySlice<UInt8>? {
    if let failure { throw failure }
    guard bufferedByteCount >= Frame.headerLength else {
      compact()
      return nil
    }
    var length = 0
    for place in 0..<Frame.headerLength { length = length << 8 | Int(buffer[consumed + place]) }
    do { try Frame.check(length: length, limit: maximumBodyLength) } catch {
      failure = error
      buffer = []
      consumed = 0
      throw error
    }
    guard bufferedByteCount - Frame.headerLength >= length else { return nil }
    let begin = consumed + Frame.headerLength
    consumed = begin + length
    return buffer[begin..<consumed]
  }

  /// Whether bytes are held that no call of ``next()`` has given out.
  ///
  /// When ``next()`` has said nil and the stream has ended, this tells a truncated frame from a clean end.
  public var isMidFrame: Bool { bufferedByteCount > 0 }

  /// How many bytes are held that no call of ``next()`` has given out.
  public var bufferedByteCount: Int { buffer.count - consumed }

  /// Drops what was given out, when at least half of the buffer is: then each byte is moved once in its life at most
  /// for each byte that was dropped.
  private mutating func compact() {
    if consumed == buffer.count {
      if buffer.capacity > Self.keptCapacity { buffer = [] } else { buffer.removeAll(keepingCapacity: true) }
      consumed = 0
    } else if consumed >= buffer.count - consumed {
      buffer.removeSubrange(..<consumed)
      consumed = 0
    }
  }
}
