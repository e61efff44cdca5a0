// Owns those who look on without end: who follows the events, who watches the state, and what each has seen of it.
// Invariant: what all are shown is encoded once; a view of events
// loses none of them, or is ended; a view of the state may miss pictures, and never the latest.

import Transport
import Wire

struct Views {
  /// One request that is told of changes until its client leaves.
  final class View {
    let seat: Seat
    let isOfEvents: Bool
    fileprivate(set) var place: AnswerFeed.Place
    fileprivate(set) var picture: UInt64
    fileprivate(set) var isEnded = false

    fileprivate init(_ seat: Seat, isOfEvents: Bool, _ place: AnswerFeed.Place, _ picture: UInt64) {
      self.seat = seat
      self.isOfEvents = isOfEvents
      self.place = place
      self.picture = picture
    }
  }

  /// Everybody, and their share of the time.
  let audience = Audience<View>()
  private(set) var feed = AnswerFeed(frame: ClientLimits.frame)
  private(set) var followerCount = 0
  var watcherCount: Int { audience.all.count - followerCount }

  private var tail: [UInt8] = []
  private var picture: UInt64 = 0

  /// Takes in somebody who has seen everything until now.
  mutating func admit(_ seat: Seat, isOfEvents: Bool) {
    audience.admit(View(seat, isOfEvents: isOfEvents, feed.end, picture))
    if isOfEvents { followerCount += 1 }
    seat.session.views += 1
    seat.session.seats += 1
  }

  mutating func end(_ view: View) {
    guard !view.isEnded else { return }
    view.isEnded = true
    view.seat.session.views -= 1
    view.seat.session.seats -= 1
    if view.isOfEvents { followerCount -= 1 }
    audience.remove { $0 === view }
    if followerCount == 0 { feed.forgetAll() }
  }

  mutating func forget(_ session: ControlSession) {
    for view in audience.all where view.seat.session === session { end(view) }
  }

  /// Ends every view of the state; their seats.
  mutating func takeWatchers() -> [Seat] {
    let watchers = audience.all.filter { !$0.isOfEvents }
    for view in watchers { end(view) }
    return watchers.map(\.seat)
  }

  /// Something has happened, and is on disk as far as it has to be.
  mutating func publish(_ events: [BranchEvent]) {
    guard followerCount > 0, !events.isEmpty else { return }
    for event in events { feed.append { AnswerTail.append(event, to: &$0) } }
    audience.hasNews()
  }

  mutating func show(_ report: StatusReport) {
    guard let tail = try? AnswerTail.bytes(of: .status(report)) else { return }
    self.tail = tail
    picture += 1
    audience.hasNews()
  }

  func isBehind(_ view: View) -> Bool {
    guard !view.isEnded else { return false }
    return view.isOfEvents ? view.place != feed.end : view.picture != picture
  }

  /// Whether a view has lost events because it was too slow.
  func isLost(_ view: View) -> Bool { view.isOfEvents && !feed.keeps(view.place) }

  /// The frames with what comes next for a view, which has seen it from now on.
  mutating func next(for view: View) -> [UInt8] {
    guard view.isOfEvents else {
      view.picture = picture
      var bytes: [UInt8] = []
      try? AnswerTail.appendFrame(to: view.seat.number, tail[...], to: &bytes, limit: ClientLimits.frame)
      return bytes
    }
    return feed.next(behind: &view.place, for: view.seat.number)
  }

  /// Forgets what everybody has seen.
  mutating func tidy() {
    guard followerCount > 0 else { return feed.forgetAll() }
    var earliest = feed.end
    for view in audience.all where view.isOfEvents && view.place.isOnPage(before: earliest) {
      earliest = view.place
    }
    feed.forget(before: earliest)
  }
}
