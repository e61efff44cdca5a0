// Updates to viewers of a page with lists that change faster than anyone reads.

import Posix
import Testing
import Time
import WebCore
import WebPages

@testable import WebInterface
@testable import WebServer

@Suite("Updates to viewers")
struct LivePageTests {
  private func page() -> LivePage {
    LivePage(PageKey(path: .bank, address: "/", language: .english, isManager: false), epoch: 1) { _ in }
  }

  /// A page with a number and a list of this many rows from one on, no two of which look alike.
  private func regions(_ number: Int, from first: Int, count: Int = 200) -> [Region] {
    let rows = (first..<(first + count)).map { position in
      (
        key: "\(position)",
        html: "<li>\(position) \(String(repeating: "x", count: 100 + position % 200))</li>"
      )
    }
    return [.block(name: "count", html: "\(number)"), .rows(name: "waiting", rows: rows)]
  }

  /// A viewer that the library knows nothing of, and that is therefore never woken.
  private func viewer(of page: LivePage, _ server: HTTPServer) -> EventViewer {
    EventViewer()
  }

  /// Updates that a viewer has not got yet.
  private func told(_ page: LivePage, _ viewer: EventViewer) -> [String] {
    var told: [String] = []
    while let item = page.next(for: viewer) { told.append(String(decoding: item.bytes, as: UTF8.self)) }
    return told
  }

  @Test("a small update is sent at once, and so is the first large change")
  func small() throws {
    let server = try HTTPServer(loop: EventLoop())
    let page = page()
    let viewer = viewer(of: page, server)
    var now = MonotonicTime(nanoseconds: 5_000_000_000)
    page.show(regions(1, from: 0), at: now)
    #expect(told(page, viewer).count == 1)
    for step in 1...100 {
      now = now + .milliseconds(50)
      page.show(regions(step, from: step), at: now)
      let told = told(page, viewer)
      #expect(told.count == 1 && told[0].contains("waiting") && page.heldUntil == nil, "\(step): \(told)")
    }
    page.show(regions(1, from: 10_000), at: now + .milliseconds(500))
    #expect(told(page, viewer).first?.contains("waiting") == true)
  }

  @Test(
    "of lists that change whole a bounded share is sent, numbers are, and in the end the last lists"
  )
  func fullSpeed() throws {
    let server = try HTTPServer(loop: EventLoop())
    let page = page()
    let viewer = viewer(of: page, server)
    var now = MonotonicTime(nanoseconds: 5_000_000_000)
    page.show(regions(0, from: 0), at: now)
    _ = told(page, viewer)
    var (bytes, lists, numbers) = (0, 0, 0)
    for step in 1...200 {
      now = now + .milliseconds(50)
      page.sendHeldLists(now)
      page.show(regions(step, from: step * 1_000), at: now)
      for text in told(page, viewer) {
        bytes += text.utf8.count
        lists += text.contains("waiting") ? 1 : 0
        numbers += text.contains("count") ? 1 : 0
      }
    }
    // Ten seconds.
    #expect(
      bytes < 10 * 100_000 && lists >= 5 && lists <= 60 && numbers >= 200, "\(bytes) \(lists) \(numbers)")
    let owed = try #require(page.heldUntil)
    page.sendHeldLists(owed)
    #expect(page.heldUntil == nil)
    #expect(told(page, viewer).last?.contains("200000") == true)
    #expect(page.interval == .milliseconds(50))
  }

  @Test("a viewer that joins while lists are held back gets the same as the others, then updates")
  func newcomer() throws {
    let server = try HTTPServer(loop: EventLoop())
    let page = page()
    let now = MonotonicTime(nanoseconds: 5_000_000_000)
    for step in 0...9 { page.show(regions(step, from: step * 1_000), at: now) }
    #expect(page.heldUntil != nil && page.interval == .milliseconds(100))
    let newcomer = viewer(of: page, server)
    let first = try #require(told(page, newcomer).first)
    // The number is the last one, and the list is one that all have got.
    #expect(first.contains(#""count":"9""#) && !first.contains(#"["9000""#))
    page.sendHeldLists(try #require(page.heldUntil))
    let second = told(page, newcomer)
    #expect(second.count == 1 && second[0].contains(#"["9000""#))
  }
}

@Suite("The budget of updates")
struct ListRateLimiterTests {
  @Test(
    "over time no viewer gets more than its share, however large the pieces are",
    arguments: [5_000, 50_000])
  func share(size: Int) {
    for isCrowd in [false, true] {
      var rateLimiter = ListRateLimiter()
      var now = MonotonicTime(nanoseconds: 1)
      var bytes = 0
      let end = now + .seconds(60)
      while now < end, bytes <= 10_000_000 {
        if let later = rateLimiter.consume(size, at: now, withManyViewers: isCrowd) {
          #expect(later > now)
          now = later
        } else {
          bytes += size
        }
      }
      let share = isCrowd ? 20_000 : 80_000
      #expect(bytes >= 58 * share && bytes <= 60 * share + 70_000, "\(size) \(isCrowd): \(bytes)")
    }
  }

  @Test("a clock that stops, or has stopped for years, does no harm")
  func clock() {
    var rateLimiter = ListRateLimiter()
    #expect(rateLimiter.consume(5_000, at: MonotonicTime(nanoseconds: 0), withManyViewers: true) == nil)
    #expect(rateLimiter.consume(.max, at: MonotonicTime(nanoseconds: .max), withManyViewers: false) == nil)
    #expect(rateLimiter.consume(5_000, at: MonotonicTime(nanoseconds: 0), withManyViewers: false) != nil)
    // Whatever was sent before.
    #expect(rateLimiter.consume(500, at: MonotonicTime(nanoseconds: 0), withManyViewers: false) == nil)
  }
}

@Suite("Release of memory")
struct IdleMemoryTrimmerTests {
  private func at(_ milliseconds: Int64) -> MonotonicTime {
    MonotonicTime(nanoseconds: milliseconds * 1_000_000)
  }

  @Test("once a second while there is work, once more when there was none for a second, and then never")
  func rhythm() {
    var rest = IdleMemoryTrimmer()
    #expect(rest.nextDeadline == nil)
    #expect(rest.finishIteration(at(10_000), hasWorked: true) == nil)
    #expect(rest.nextDeadline == at(11_000))
    #expect(rest.finishIteration(at(10_900), hasWorked: true) == nil)
    #expect(rest.finishIteration(at(11_000), hasWorked: false) == .program)
    #expect(rest.nextDeadline == at(12_000))
    #expect(rest.finishIteration(at(12_000), hasWorked: false) == .all)
    #expect(rest.nextDeadline == nil)
  }

  @Test("a keep-alive to viewers does not cause another wake-up")
  func keepAlive() {
    var rest = IdleMemoryTrimmer()
    #expect(rest.finishIteration(at(10_000), hasWorked: true) == nil)
    #expect(rest.finishIteration(at(11_000), hasWorked: false) == .all)
    #expect(rest.finishIteration(at(26_000), hasWorked: false) == .program)
    #expect(rest.finishIteration(at(26_001), hasWorked: false) == nil)
    #expect(rest.nextDeadline == nil)
  }
}

@Suite("Several pages on one stream")
struct PageBundleTests {
  @Test(
    "several pages share a stream: each event names its page, and each page has its own place")
  func together() {
    func regions(_ number: Int) -> [Region] { [.block(name: "count", html: "\(number)")] }
    let pages = ["/", "/lobby"].map { address in
      LivePage(PageKey(path: .bank, address: address, language: .english, isManager: false), epoch: 7) { _ in
      }
    }
    let now = MonotonicTime(nanoseconds: 5_000_000_000)
    for page in pages { page.show(regions(0), at: now) }
    let bundle = PageBundle(
      pages, from: [pages[0].position(of: nil), pages[1].position(of: EventID(epoch: 7, sequence: 1).text)])
    final class Viewer: EventViewer {
      var (wakings, pulses) = (0, 0)
      override func wake() { wakings += 1 }
      override func keepAlive() { pulses += 1 }
    }
    let viewer = Viewer()
    bundle.join(viewer)
    func told() -> [String] {
      var told: [String] = []
      while let item = bundle.next(for: viewer) { told.append(String(decoding: item.bytes, as: UTF8.self)) }
      return told
    }
    let first = told()
    #expect(
      first.count == 1 && first[0].hasPrefix("event: page\ndata: 0\n\n")
        && first[0].contains("event: snapshot"))
    pages[1].show(regions(1), at: now + .seconds(1))
    pages[1].show(regions(2), at: now + .seconds(2))
    let second = told()
    #expect(viewer.wakings == 2 && second.count == 2, "\(second)")
    #expect(second[0].hasPrefix("event: page\ndata: 1\n\n") && second[0].contains("event: change"))
    #expect(!second[1].contains("event: page"), "it is of the same page as the one before")
    pages[0].show(regions(3), at: now + .seconds(3))
    #expect(told().first?.hasPrefix("event: page\ndata: 0\n\n") == true)
    for page in pages { page.keepAlive() }
    #expect(viewer.pulses == 1, "one stream pulses once")
    bundle.leave(viewer)
    #expect(pages.allSatisfy { $0.viewers.isEmpty })
  }
}
