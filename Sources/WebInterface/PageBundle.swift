// Several pages of one browser on one stream. If the page of an event differs from that of the preceding event, an
// event with the index of the page is sent first.
// Invariant: each page has its own position, so a delay or gap of one page does not affect the others.
import WebCore
import WebServer

/// A feed with the events of several pages, for one stream of a browser.
final class PageBundle: EventFeed {
  /// The viewer of one page. It wakes the viewer of the stream.
  private final class Part: EventViewer {
    let page: LivePage
    weak var stream: EventViewer?

    init(_ page: LivePage, from position: Int64) {
      self.page = page
      super.init()
      self.position = position
    }

    override func wake() { stream?.wake() }
    // All pages send keep-alives at the same time, and a stream counts the consecutive keep-alives for which its
    // socket buffer has no room. So only the first page passes its keep-alive on.
    override func keepAlive() { if isFirst { stream?.keepAlive() } }
    /// True for the first page of the stream.
    var isFirst = false
  }

  /// The viewers of the pages, in the order of the request.
  private let parts: [Part]
  /// The stream holds its feed weakly, so the bundle keeps itself alive while it has a viewer.
  private var selfReference: PageBundle?
  /// Index of the page of the last event; -1 before the first one.
  private var last = -1
  /// Index of the page to check next.
  private var next = 0

  init(_ pages: [LivePage], from positions: [Int64]) {
    parts = zip(pages, positions).map { Part($0, from: $1) }
    parts.first?.isFirst = true
  }

  /// Adds the viewer to all pages.
  func join(_ viewer: EventViewer) {
    selfReference = self
    for part in parts {
      part.stream = viewer
      part.page.join(part)
    }
  }

  /// The next event of any page; the pages take turns. Nil if no page has one.
  func next(for viewer: EventViewer) -> EventBytes? {
    for _ in parts.indices {
      let position = next
      next = (next + 1) % parts.count
      guard let item = parts[position].page.next(for: parts[position]) else { continue }
      defer { last = position }
      return position == last ? item : EventBytes(EventText.page(position) + item.bytes)
    }
    return nil
  }

  /// Removes the viewer from all pages.
  func leave(_ viewer: EventViewer) {
    for part in parts { part.page.leave(part) }
    selfReference = nil
  }
}
