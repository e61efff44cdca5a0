// Owns the answers that somebody who looks on has not been sent yet: each encoded once, in the order in which they came.
// It must not know who looks on, nor what is in an answer. Invariant: it keeps at most `limit` bytes and a page; whoever
// stands before what is kept has lost answers, and must be told so.
// Failure: an answer that fits no frame counts as one that everybody has lost.
import Wire

/// What has happened, for those who look on.
public struct AnswerFeed {
  /// A place in the feed: behind so many answers of a page.
  public struct Place: Equatable, Sendable {
    var page: Int64
    var index: Int

    /// Whether it is on an earlier page than another.
    public func isOnPage(before other: Place) -> Bool { page < other.page }
  }

  private struct Page {
    var bytes: [UInt8] = []
    var ends: [Int] = []
  }

  /// Bytes of a page, which are sent to one client in one go.
  public static let pageBytes = 32 << 10
  /// Bytes that are kept for those who are behind.
  public static let limit = 8 << 20
  /// The most that a frame adds to what is kept: its length, the heads, and the longest number.
  private static let heads = 16
  /// Answers that were encoded since the beginning.
  public private(set) var encoded = 0
  private let frame: Int
  private var pages = [Page()]
  private var firstPage: Int64 = 0
  private(set) var kept = 0
  /// What was made last, for the next who has seen as much and asked under the same number.
  private var made: (place: Place, end: Place, number: UInt32, bytes: [UInt8], next: Place)?

  /// An empty feed of answers whose frames have so many bytes at most; one of ``FrameLimits``.
  public init(frame: Int) { self.frame = frame }

  /// The place behind everything.
  public var end: Place {
    Place(page: firstPage + Int64(pages.count) - 1, index: pages[pages.count - 1].ends.count)
  }

  /// Whether everything behind a place is still there.
  public func keeps(_ place: Place) -> Bool { place.page >= firstPage }

  /// Puts an answer behind all others: what ``AnswerTail`` makes of it.
  public mutating func append(_ write: (inout [UInt8]) throws(FrameEncodingError) -> Void) {
    if pages[pages.count - 1].bytes.count >= Self.pageBytes { turnPage() }
    let last = pages.count - 1
    let begin = pages[last].bytes.count
    do throws(FrameEncodingError) { try write(&pages[last].bytes) } catch { return loseAll() }
    let length = pages[last].bytes.count - begin
    guard length + Self.heads <= frame else { return loseAll() }
    pages[last].ends.append(pages[last].bytes.count)
    kept += length
    encoded += 1
  }

  private mutating func turnPage() {
    pages.append(Page())
    while kept > Self.limit, pages.count > 1 { dropPages(1) }
  }

  private mutating func dropPages(_ count: Int) {
    for page in pages[..<count] { kept -= page.bytes.count }
    pages.removeFirst(count)
    firstPage += Int64(count)
  }

  /// The frames with what is behind a place, up to the end of its page; the place is behind them then.
  public mutating func next(behind place: inout Place, for number: UInt32) -> [UInt8] {
    let end = end
    if let made, made.place == place, made.end == end, made.number == number {
      place = made.next
      return made.bytes
    }
    let (bytes, next) = frames(behind: place, for: number)
    made = (place, end, number, bytes, next)
    place = next
    return bytes
  }

  private func frames(behind place: Place, for number: UInt32) -> (bytes: [UInt8], next: Place) {
    precondition(keeps(place), "what is not kept cannot be sent")
    let page = pages[Int(place.page - firstPage)]
    var bytes: [UInt8] = []
    var begin = place.index == 0 ? 0 : page.ends[place.index - 1]
    bytes.reserveCapacity(page.bytes.count - begin + Self.heads * (page.ends.count - place.index))
    for end in page.ends[place.index...] {
      // What fits no frame was never kept.
      try? AnswerTail.appendFrame(to: number, page.bytes[begin..<end], to: &bytes, limit: frame)
      begin = end
    }
    let isLast = place.page == end.page
    return (bytes, isLast ? end : Place(page: place.page + 1, index: 0))
  }

  /// Forgets the pages before the one of a place, which nobody stands on.
  public mutating func forget(before place: Place) {
    made = nil
    let count = Int(min(place.page, end.page) - firstPage)
    if count > 0 { dropPages(count) }
  }

  /// Forgets everything: nobody is behind.
  public mutating func forgetAll() {
    guard end.index > 0 else { return forget(before: end) }
    loseAll()
  }

  /// Whoever stands anywhere has lost something.
  private mutating func loseAll() {
    made = nil
    firstPage = end.page + 1
    pages = [Page()]
    kept = 0
  }
}
