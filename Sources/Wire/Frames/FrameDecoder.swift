// Splits a byte stream into frames. Invariant: a length is checked before the decoder waits for the rest of its body.
// After a refusal the decoder stays failed: it drops its data and throws the same error again.

/// Splits a byte stream into the bodies of frames.
///
/// Append the bytes of a read, then call ``next()`` until it returns nil:
///
///     decoder.append(bytes)
///     while let body = try decoder.next() { … }
///
/// A caller that does this after every read leaves at most one incomplete frame in the decoder.
public struct FrameDecoder: Sendable {
  private let maximumBodyLength: Int
  private(set) var buffer: [UInt8] = []
  /// Number of bytes at the start of the buffer that were returned.
  private var consumed = 0
  private var failure: FrameError?

  /// Capacity in bytes above which an empty buffer is freed.
  private static let retainedCapacity = 64 << 10

  /// A decoder at the start of a stream.
  ///
  /// - Parameter maximumBodyLength: maximum body in bytes; one of ``FrameLimits``.
  /// - Precondition: `maximumBodyLength` is at least 1.
  public init(maximumBodyLength: Int) {
    precondition(maximumBodyLength >= 1, "a frame's body has at least one byte")
    self.maximumBodyLength = maximumBodyLength
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

  /// The body of the next frame, or nil if more bytes are needed.
  ///
  /// The slice shares the decoder's memory. Release the slice before appending more bytes; if it is still held,
  /// the append copies the buffer.
  ///
  /// - Throws: ``FrameError`` if the next frame is empty or too long; every later call throws the same error.
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

  /// True if the decoder holds bytes that no call of ``next()`` has returned.
  ///
  /// After ``next()`` has returned nil and the stream has ended, this distinguishes a truncated frame from a
  /// clean end.
  public var isMidFrame: Bool { bufferedByteCount > 0 }

  /// Number of bytes that no call of ``next()`` has returned.
  public var bufferedByteCount: Int { buffer.count - consumed }

  /// Drops the returned bytes once they are at least half of the buffer, so that a call does not move more bytes than
  /// it drops.
  private mutating func compact() {
    if consumed == buffer.count {
      if buffer.capacity > Self.retainedCapacity {
        buffer = []
      } else {
        buffer.removeAll(keepingCapacity: true)
      }
      consumed = 0
    } else if consumed >= buffer.count - consumed {
      buffer.removeSubrange(..<consumed)
      consumed = 0
    }
  }
}
