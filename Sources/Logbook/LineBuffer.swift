// Owns cutting a stream of bytes into lines within a fixed piece of memory. Invariant: never more than 64 KiB
// of a line are kept; what a longer line loses is counted and said at its end. Failure: none of its own; a
// read that fails leaves the buffer as it was.
import Glibc

final class LineBuffer {
  /// The most that is kept of one line, and the size of one read, in bytes.
  static let capacity = 64 << 10
  private let storage = UnsafeMutableRawBufferPointer.allocate(byteCount: capacity, alignment: 16)
  private var start = 0
  private var end = 0
  /// Up to where the bytes from `start` on are known to hold no line feed.
  private var searched = 0
  /// The line that did not fit, and how many bytes of it went by since.
  private var long: (kept: [UInt8], dropped: Int)?

  deinit { storage.deallocate() }

  /// The bytes that are here and not yet handed out as part of a line.
  var pending: Int { end - start + (long.map { $0.kept.count + $0.dropped } ?? 0) }

  /// The next whole line without its line feed, or nil until more bytes come.
  func nextLine() -> [UInt8]? {
    if let feed = lineFeed() {
      defer {
        start = feed + 1
        searched = start
      }
      return line(endingAt: feed)
    }
    searched = end
    if long != nil {
      long?.dropped += end - start
      empty()
    } else if end - start == Self.capacity {
      long = (kept: Array(storage[start..<end]), dropped: 0)
      empty()
    }
    return nil
  }

  /// The last line of a file that has ended without a line feed, or nil where there is none.
  func lastLine() -> [UInt8]? {
    guard pending > 0 else { return nil }
    defer { empty() }
    return line(endingAt: end)
  }

  func discard() {
    long = nil
    empty()
  }

  /// Lets `read` put bytes where there is room, of which there is some after ``nextLine()`` has said nil.
  ///
  /// - Returns: what `read` says, which is how many bytes it has put there.
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

  private func lineFeed() -> Int? {
    guard searched < end, let base = storage.baseAddress else { return nil }
    guard let found = memchr(base + searched, 0x0a, end - searched) else { return nil }
    return UnsafeRawPointer(found) - UnsafeRawPointer(base)
  }

  private func line(endingAt feed: Int) -> [UInt8] {
    guard let (kept, dropped) = long else { return Array(storage[start..<feed]) }
    long = nil
    let lost = dropped + feed - start
    return lost == 0 ? kept : Self.cut(kept, lost: lost)
  }

  /// Ends a line that lost bytes: at a whole character, with a mark that says how much is missing.
  private static func cut(_ kept: [UInt8], lost: Int) -> [UInt8] {
    var whole = kept
    // At most three bytes follow the first of a character. The last character may go although it was whole:
    // no harm.
    while let last = whole.last, last & 0xc0 == 0x80, kept.count - whole.count < 3 { whole.removeLast() }
    if let last = whole.last, last & 0xc0 == 0xc0 { whole.removeLast() }
    return whole + Array(" …[\(lost + kept.count - whole.count) more bytes]".utf8)
  }
}
