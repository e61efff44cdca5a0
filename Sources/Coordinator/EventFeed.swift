// Owns the events that somebody who follows has not been sent yet: each encoded once, in the order in which they happened.
// It must not know who follows. Invariant: it keeps at most `limit` bytes and a page; whoever stands before what is kept
// has lost events, and must be told so.

import Wire

/// What has happened, for those who follow.
struct EventFeed {
  /// A place in the feed: behind so many events of a page.
  struct Place: Equatable {
    var page: Int64
    var index: Int
  }

  private struct Page {
    var bytes: [UInt8] = []
    /// Where each event ends.
    var ends: [Int] = []
  }

  /// Bytes of a page, which are sent to one client in one go.
  static let pageBytes = 32 << 10
  /// Bytes that are kept for those who are behind.
  static let limit = 8 << 20

  /// Events that were encoded since the beginning.
  private(set) var encoded = 0
  private var pages = [Page()]
  private var firstPage: Int64 = 0

  /// The place behind everything.
  var end: Place { Place(page: firstPage + Int64(pages.count) - 1, index: pages[pages.count - 1].ends.count) }

  /// Whether everything behind a place is still there.
  func keeps(_ place: Place) -> Bool { place.page >= firstPage }

  /// Puts an event behind all others.
  mutating func append(_ event: BranchEvent) {
    if pages[pages.count - 1].bytes.count >= Self.pageBytes {
      pages.append(Page())
      if pages.count > Self.limit / Self.pageBytes {
        pages.removeFirst()
        firstPage += 1
      }
    }
    let last = pages.count - 1
    AnswerTail.append(event, to: &pages[last].bytes)
    pages[last].ends.append(pages[last].bytes.count)
    encoded += 1
  }

  /// The frames with what is behind a place, up to the end of its page.
  ///
  /// - Returns: the frames, and the place behind them.
  func frames(behind place: Place, for number: UInt32) -> (bytes: [UInt8], next: Place) {
    precondition(keeps(place), "what is not kept cannot be sent")
    let page = pages[Int(place.page - firstPage)]
    var bytes: [UInt8] = []
    var begin = place.index == 0 ? 0 : page.ends[place.index - 1]
    bytes.reserveCapacity(page.bytes.count - begin + 14 * (page.ends.count - place.index))
    for end in page.ends[place.index...] {
      // An event is a hundred bytes long, and no frame of it too long.
      try? AnswerTail.appendFrame(
        to: number, page.bytes[begin..<end], to: &bytes, limit: ClientLimits.frame)
      begin = end
    }
    let isLast = place.page == end.page
    return (bytes, isLast ? end : Place(page: place.page + 1, index: 0))
  }

  /// Forgets the pages before one.
  mutating func forget(before page: Int64) {
    let count = Int(min(page, end.page) - firstPage)
    guard count > 0 else { return }
    pages.removeFirst(count)
    firstPage += Int64(count)
  }

  /// Forgets everything: nobody is behind.
  mutating func forgetAll() {
    guard end.index > 0 else { return forget(before: end.page) }
    firstPage = end.page + 1
    pages.removeAll(keepingCapacity: true)
    pages.append(Page())
  }
}
