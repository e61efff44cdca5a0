// The first and last bytes of a stream whose middle is discarded.
// Invariant: the value holds at most `firstLimit` and `lastLimit` bytes, however long the stream is. As long as no
// byte was discarded, `first` and `last` together are the stream.

/// The first and last bytes of a stream, and its length.
struct HeadTailBuffer {
  private let firstLimit: Int
  private let lastLimit: Int
  private(set) var first: [UInt8] = []
  /// Bytes after `first`: in order until `lastLimit` is reached, then a ring buffer whose oldest byte is at
  /// `oldest`.
  private var ring: [UInt8] = []
  private var oldest = 0
  /// Number of bytes of the whole stream; saturates.
  private(set) var length: Int64 = 0

  /// An empty stream, with the maximum numbers of bytes that are kept from its start and its end.
  init(firstLimit: Int, lastLimit: Int) {
    (self.firstLimit, self.lastLimit) = (max(0, firstLimit), max(0, lastLimit))
  }

  /// The last bytes of the stream, in order, without those in `first`.
  var last: [UInt8] { Array(ring[oldest...] + ring[..<oldest]) }

  /// Adds bytes at the end of the stream, and drops bytes from its middle beyond the limits.
  mutating func append(_ bytes: UnsafeRawBufferPointer) {
    let (sum, overflow) = length.addingReportingOverflow(Int64(bytes.count))
    length = overflow ? .max : sum
    let beginning = min(firstLimit - first.count, bytes.count)
    if beginning > 0 { first.append(contentsOf: bytes[..<beginning]) }
    // Skip the bytes that later bytes of the same call would overwrite.
    appendToRing(UnsafeRawBufferPointer(rebasing: bytes[max(beginning, bytes.count - lastLimit)...]))
  }

  /// Adds bytes to the ring buffer; the newest bytes overwrite the oldest ones.
  private mutating func appendToRing(_ bytes: UnsafeRawBufferPointer) {
    var place = min(lastLimit - ring.count, bytes.count)
    ring.append(contentsOf: bytes[..<place])
    while place < bytes.count {
      let count = min(lastLimit - oldest, bytes.count - place)
      ring.replaceSubrange(oldest..<oldest + count, with: bytes[place..<place + count])
      oldest = (oldest + count) % lastLimit
      place += count
    }
  }
}
