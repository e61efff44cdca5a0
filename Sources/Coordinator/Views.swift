// Owns those who look on without end: who follows the events, who watches the state, and what each has seen of it.
// It must not know a socket, nor when anybody is told. Invariant: what all are shown is encoded once; a view of events
// loses none of them, or is ended; a view of the state may miss pictures, and never the latest.

import BankModel
import QueueCore
import Wire

/// Everybody who looks on.
struct Views {
  /// One request that is told of changes until its client leaves.
  final class View {
    let seat: Followers.Seat
    let isOfEvents: Bool
    fileprivate(set) var place: EventFeed.Place
    fileprivate(set) var picture: UInt64
    fileprivate(set) var isEnded = false

    fileprivate init(_ seat: Followers.Seat, isOfEvents: Bool, _ place: EventFeed.Place, _ picture: UInt64) {
      self.seat = seat
      self.isOfEvents = isOfEvents
      self.place = place
      self.picture = picture
    }
  }

  /// The longest time in one go that is spent on those who look on.
  static let turn = TimeSpan.milliseconds(1)
  /// After so much time on them the coordinator does something else for so many times as long: with any number of them
  /// the customers have three quarters of its time.
  static let rest: Int64 = 3

  private(set) var all: [View] = []
  private(set) var feed = EventFeed()
  /// Views of events.
  private(set) var followerCount = 0
  /// Views of the state.
  var watcherCount: Int { all.count - followerCount }
  /// Whether somebody has not seen everything, and whether it is only waited for readers.
  var isOwed = false
  var waitsForReaders = false
  /// Before this nobody is told anything.
  var due = MonotonicTime(nanoseconds: 0)
  /// Who comes first the next time.
  var first = 0

  private var tail: [UInt8] = []
  private var picture: UInt64 = 0
  /// What was made last, for the next who has seen as much and asked under the same number.
  private var made:
    (place: EventFeed.Place, end: EventFeed.Place, number: UInt32, bytes: [UInt8], next: EventFeed.Place)?

  /// Takes in somebody who has seen everything until now.
  mutating func admit(_ seat: Followers.Seat, isOfEvents: Bool) {
    all.append(View(seat, isOfEvents: isOfEvents, feed.end, picture))
    if isOfEvents { followerCount += 1 }
    seat.session.views += 1
    seat.session.seats += 1
  }

  /// Ends a view.
  mutating func end(_ view: View) {
    guard !view.isEnded else { return }
    view.isEnded = true
    view.seat.session.views -= 1
    view.seat.session.seats -= 1
    if view.isOfEvents { followerCount -= 1 }
    all.removeAll { $0 === view }
    if followerCount == 0 { feed.forgetAll() }
  }

  /// A client has left.
  mutating func forget(_ session: ControlSession) {
    for view in all.filter({ $0.seat.session === session }) { end(view) }
  }

  /// Ends every view of the state; their seats.
  mutating func takeWatchers() -> [Followers.Seat] {
    let watchers = all.filter { !$0.isOfEvents }
    for view in watchers {
      view.isEnded = true
      view.seat.session.views -= 1
      view.seat.session.seats -= 1
    }
    all.removeAll { !$0.isOfEvents }
    return watchers.map(\.seat)
  }

  /// Something has happened, and is on disk as far as it has to be.
  mutating func publish(_ events: [BranchEvent]) {
    guard followerCount > 0, !events.isEmpty else { return }
    for event in events { feed.append(event) }
    (isOwed, waitsForReaders) = (true, false)
  }

  /// The state is this now.
  mutating func show(_ report: StatusReport) {
    guard let tail = try? AnswerTail.bytes(of: .status(report)) else { return }
    self.tail = tail
    picture += 1
    (isOwed, waitsForReaders) = (true, false)
  }

  /// Whether there is something that a view has not seen.
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
    if let made, made.place == view.place, made.end == feed.end, made.number == view.seat.number {
      view.place = made.next
      return made.bytes
    }
    let (bytes, next) = feed.frames(behind: view.place, for: view.seat.number)
    made = (view.place, feed.end, view.seat.number, bytes, next)
    view.place = next
    return bytes
  }

  /// Forgets what everybody has seen.
  mutating func tidy() {
    made = nil
    guard followerCount > 0 else { return feed.forgetAll() }
    var earliest = feed.end
    for view in all where view.isOfEvents && view.place.page < earliest.page { earliest = view.place }
    feed.forget(before: earliest.page)
  }
}
