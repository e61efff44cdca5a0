// The feed of events for subscribers: its memory is bounded, and no subscriber reads past a gap.

import Testing
import Wire

@testable import Transport

@Suite("The feed of events for subscribers") struct ReplayBufferTests {
  private func append(_ count: Int, to feed: inout ReplayBuffer) {
    feed.append { $0 += [UInt8](repeating: 0xF6, count: count) }
  }

  @Test("it keeps no more than its limit, for events of any size")
  func bounded() {
    for size in [5_000, 900_000] {
      var feed = ReplayBuffer(frame: FrameLimits.control)
      let begin = feed.end
      var length = 0
      while length <= ReplayBuffer.limit + 2 * (size + ReplayBuffer.pageBytes) {
        append(size, to: &feed)
        length += size
      }
      #expect(!feed.retains(begin), "of \(size) bytes each")
      #expect(feed.retainedBytes <= ReplayBuffer.limit + ReplayBuffer.pageBytes + size)
      var place = feed.end
      append(size, to: &feed)
      #expect(feed.retains(place))
      var frames = 0
      while place != feed.end { frames += feed.next(behind: &place, for: 1).count }
      #expect(frames > size && frames < size + 20)
    }
  }

  @Test("an event that fits into no frame is lost for all present subscribers, and for no later one")
  func tooLong() {
    var feed = ReplayBuffer(frame: 1_000)
    append(10, to: &feed)
    let place = feed.end
    append(990, to: &feed)
    #expect(!feed.retains(place) && feed.encoded == 1)
    var next = feed.end
    append(10, to: &feed)
    #expect(feed.retains(next) && !feed.next(behind: &next, for: .max).isEmpty && next == feed.end)
    let encoded = feed.end
    feed.append { _ throws(FrameEncodingError) in throw .frame(.emptyBody) }
    #expect(!feed.retains(encoded))
  }

  @Test("an event that all have seen is not kept")
  func forgets() {
    var feed = ReplayBuffer(frame: FrameLimits.control)
    for _ in 0..<100 { append(1_000, to: &feed) }
    feed.forget(before: feed.end)
    #expect(feed.retainedBytes <= ReplayBuffer.pageBytes + 1_000)
    feed.dropAll()
    #expect(feed.retainedBytes == 0)
  }
}
