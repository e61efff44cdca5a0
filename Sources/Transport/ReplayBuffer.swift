// Buffer of the answers that have not been sent to all subscribers yet, in order of arrival. Above `limit`, the
// oldest answers are dropped. A subscriber whose place is on a dropped page counts as too slow. If an answer cannot be
// encoded or does not fit into a frame, all subscribers count as too slow.
import Wire

/// Encoded answers that not all subscribers have received yet.
public struct ReplayBuffer {
  /// A position in the buffer: after the first `index` answers of a page.
  public struct Position: Equatable, Sendable {
    var page: Int64
    var index: Int

    /// True if the position is on an earlier page than `other`.
    public func isOnPage(before other: Position) -> Bool { page < other.page }
  }

  /// Consecutive encoded answers.
  private struct Page {
    var bytes: [UInt8] = []
    /// End of each answer in `bytes`.
    var ends: [Int] = []
  }

  /// Size in bytes at which a page is full.
  public static let pageBytes = 32 << 10
  /// Number of retained bytes above which the oldest pages are dropped.
  public static let limit = 8 << 20
  /// Maximum number of bytes that a frame adds to a retained answer: the frame's length, the CBOR heads, and
  /// the longest request number.
  private static let frameOverhead = 16
  /// Number of answers encoded so far.
  public private(set) var encoded = 0
  /// Maximum frame size in bytes.
  private let frame: Int
  /// The retained pages, the oldest first; at least one.
  private var pages = [Page()]
  /// Number of the first retained page.
  private var firstPage: Int64 = 0
  /// Number of bytes of the retained answers.
  private(set) var retainedBytes = 0
  /// The last result of ``next(behind:for:)``, for further subscribers at the same place with the same request
  /// number.
  private var lastFrames: (place: Position, end: Position, number: UInt32, bytes: [UInt8], next: Position)?

  /// An empty buffer. `frame` is the maximum frame size in bytes; one of ``FrameLimits``.
  public init(frame: Int) { self.frame = frame }

  /// The position after the last answer.
  public var end: Position {
    Position(page: firstPage + Int64(pages.count) - 1, index: pages[pages.count - 1].ends.count)
  }

  /// True if the page of a position, and so everything after the position, is still retained.
  public func retains(_ position: Position) -> Bool { position.page >= firstPage }

  /// Appends an answer, which `write` encodes with ``AnswerTail``. If it cannot be sent in a frame, drops all
  /// answers.
  public mutating func append(_ write: (inout [UInt8]) throws(FrameEncodingError) -> Void) {
    if pages[pages.count - 1].bytes.count >= Self.pageBytes { startPage() }
    let last = pages.count - 1
    let begin = pages[last].bytes.count
    do throws(FrameEncodingError) { try write(&pages[last].bytes) } catch { return invalidateAll() }
    let length = pages[last].bytes.count - begin
    guard length + Self.frameOverhead <= frame else { return invalidateAll() }
    pages[last].ends.append(pages[last].bytes.count)
    retainedBytes += length
    encoded += 1
  }

  /// Starts a new page, and drops the oldest pages above the limit.
  private mutating func startPage() {
    pages.append(Page())
    while retainedBytes > Self.limit, pages.count > 1 { dropPages(1) }
  }

  private mutating func dropPages(_ count: Int) {
    for page in pages[..<count] { retainedBytes -= page.bytes.count }
    pages.removeFirst(count)
    firstPage += Int64(count)
  }

  /// Returns frames with the answers after a position, up to the end of its page, for the subscription with this
  /// request number. Advances the position past these answers.
  public mutating func next(behind position: inout Position, for number: UInt32) -> [UInt8] {
    let end = end
    if let lastFrames, lastFrames.place == position, lastFrames.end == end, lastFrames.number == number {
      position = lastFrames.next
      return lastFrames.bytes
    }
    let (bytes, next) = frames(behind: position, for: number)
    lastFrames = (position, end, number, bytes, next)
    position = next
    return bytes
  }

  /// Frames with the answers after a position on its page, for this request number, and the position after them.
  private func frames(behind position: Position, for number: UInt32) -> (bytes: [UInt8], next: Position) {
    precondition(retains(position), "only a stored answer can be sent")
    let page = pages[Int(position.page - firstPage)]
    var bytes: [UInt8] = []
    var begin = position.index == 0 ? 0 : page.ends[position.index - 1]
    bytes.reserveCapacity(page.bytes.count - begin + Self.frameOverhead * (page.ends.count - position.index))
    for end in page.ends[position.index...] {
      // This does not fail, because `append` retains no answer that exceeds a frame.
      try? AnswerTail.appendFrame(to: number, page.bytes[begin..<end], to: &bytes, limit: frame)
      begin = end
    }
    let isLast = position.page == end.page
    return (bytes, isLast ? end : Position(page: position.page + 1, index: 0))
  }

  /// Drops the pages before a position.
  public mutating func forget(before position: Position) {
    lastFrames = nil
    let count = Int(min(position.page, end.page) - firstPage)
    if count > 0 { dropPages(count) }
  }

  /// Drops all answers.
  public mutating func dropAll() {
    guard end.index > 0 else { return forget(before: end) }
    invalidateAll()
  }

  /// Drops all answers, and makes existing positions outdated.
  private mutating func invalidateAll() {
    lastFrames = nil
    firstPage = end.page + 1
    pages = [Page()]
    retainedBytes = 0
  }
}
