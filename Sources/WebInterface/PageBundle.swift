// Several pages of one browser on one stream: before an event of another page than the last, it says which one comes.
// Invariant: each page has a place of its own, so what was held back or missed of one page changes nothing of the others.
import WebCore
import WebServer

final class PageBundle: EventFeed {
  /// The viewer of one page, which wakes the one of the stream.
  private final class Part: EventViewer {
    let page: LivePage
    weak var stream: EventViewer?

    init(_ page: LivePage, from place: Int64) {
      self.page = page
      super.init()
      self.place = place
    }

    override func wake() { stream?.wake() }
    // All pages pulse at the same time, and a stream counts how often it was found without room: one is enough.
    override func pulse() { if isFirst { stream?.pulse() } }
    var isFirst = false
  }

  private let parts: [Part]
  /// The stream holds its feed weakly, so the bundle lives with what it joins.
  private var itself: PageBundle?
  /// The part whose event was written last, and where the next one is looked for.
  private var last = -1
  private var next = 0

  init(_ pages: [LivePage], from places: [Int64]) {
    parts = zip(pages, places).map { Part($0, from: $1) }
    parts.first?.isFirst = true
  }

  func join(_ viewer: EventViewer) {
    itself = self
    for part in parts {
      part.stream = viewer
      part.page.join(part)
    }
  }

  func next(for viewer: EventViewer) -> EventBytes? {
    for _ in parts.indices {
      let place = next
      next = (next + 1) % parts.count
      guard let item = parts[place].page.next(for: parts[place]) else { continue }
      defer { last = place }
      return place == last ? item : EventBytes(EventText.page(place) + item.bytes)
    }
    return nil
  }

  func leave(_ viewer: EventViewer) {
    for part in parts { part.page.leave(part) }
    itself = nil
  }
}
