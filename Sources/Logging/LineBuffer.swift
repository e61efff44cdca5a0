// Splits a byte stream into lines within fixed memory.
// Invariant: the buffer keeps at most `capacity` bytes of a line. It counts the bytes cut from a longer line and
// appends their number to the line.
// Errors: a failed read loses no stored bytes.
import Glibc

/// Bytes of one log that were read and not yet returned as lines.
final class LineBuffer {
  /// Maximum stored length of a line, and maximum size of one read, in bytes.
  static let capacity = 64 << 10
  private let storage = UnsafeMutableRawBufferPointer.allocate(byteCount: capacity, alignment: 16)
  private var start = 0
  private var end = 0
  /// End of the bytes from `start` on that contain no line feed.
  private var searched = 0
  /// The first bytes of a line that did not fit, and the number of its bytes dropped so far.
  private var overlongLine: (kept: [UInt8], dropped: Int)?

  deinit { storage.deallocate() }

  /// Number of bytes that were read and not yet returned in a line.
  var pending: Int { end - start + (overlongLine.map { $0.kept.count + $0.dropped } ?? 0) }

  /// Removes and returns the next complete line without its line feed. Returns nil if no complete line is stored.
  func nextLine() -> [UInt8]? {
    if let feed = lineFeed() {
      defer {
        start = feed + 1
        searched = start
      }
      return line(endingAt: feed)
    }
    searched = end
    if overlongLine != nil {
      overlongLine?.dropped += end - start
      empty()
    } else if end - start == Self.capacity {
      overlongLine = (kept: Array(storage[start..<end]), dropped: 0)
      empty()
    }
    return nil
  }

  /// Removes and returns the last line of a file that has no final line feed. Returns nil if no bytes are stored.
  func lastLine() -> [UInt8]? {
    guard pending > 0 else { return nil }
    defer { empty() }
    return line(endingAt: end)
  }

  func discard() {
    overlongLine = nil
    empty()
  }

  /// Lets `read` write into the free space, and returns the number of bytes written. The buffer has free space after
  /// ``nextLine()`` has returned nil.
  func fill<Failure: Error>(
    _ read: (UnsafeMutableRawBufferPointer) throws(Failure) -> Int
  ) throws(Failure) -> Int {
    if start > 0 {
      storage.copyMemory(from: UnsafeRawBufferPointer(rebasing: storage[start..<end]))
      searched -= start
      end -= start
      start = 0
    }
    precondition(end < Self.capacity, "a full buffer is emptied by nextLine")
    let count = try read(UnsafeMutableRawBufferPointer(rebasing: storage[end...]))
    end += count
    return count
  }

  private func empty() { (start, end, searched) = (0, 0, 0) }

  /// Index of the next line feed; nil if none is stored.
  private func lineFeed() -> Int? {
    guard searched < end, let base = storage.baseAddress else { return nil }
    guard let found = memchr(base + searched, 0x0a, end - searched) else { return nil }
    return UnsafeRawPointer(found) - UnsafeRawPointer(base)
  }

  /// The line from the start of the buffer to this index.
  private func line(endingAt feed: Int) -> [UInt8] {
    guard let (kept, dropped) = overlongLine else { return Array(storage[start..<feed]) }
    overlongLine = nil
    let lost = dropped + feed - start
    return lost == 0 ? kept : Self.cut(kept, lost: lost)
  }

  /// Cuts the stored part of an overlong line after a whole character, and appends the number of missing bytes.
  private static func cut(_ kept: [UInt8], lost: Int) -> [UInt8] {
    var whole = kept
    // At most three bytes follow the first byte of a UTF-8 character. Removing a last character that was complete
    // does no harm.
    while let last = whole.last, last & 0xc0 == 0x80, kept.count - whole.count < 3 { whole.removeLast() }
    if let last = whole.last, last & 0xc0 == 0xc0 { whole.removeLast() }
    return whole + Array(" …[\(lost + kept.count - whole.count) more bytes]".utf8)
  }
}
