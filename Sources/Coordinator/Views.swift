// Subscriptions of clients to events, to the state or to the dashboard, with the position of each.
// Invariant: data that all subscribers receive is encoded once. A subscription to events loses no event, or is ended. A
// subscription to snapshots may skip some, but never the latest.

import Transport
import Wire

struct Views {
  enum Topic {
    /// Starts and ends of attempts, one after the other.
    case events
    /// Snapshots of the bank: status reports or dashboard snapshots.
    case state, board
  }

  /// One request that receives changes until it is ended or its client disconnects.
  final class View {
    let seat: Seat
    let topic: Topic
    var isOfEvents: Bool { topic == .events }
    fileprivate(set) var place: AnswerFeed.Place
    fileprivate(set) var picture: UInt64
    fileprivate(set) var isEnded = false

    fileprivate init(_ seat: Seat, _ topic: Topic, _ place: AnswerFeed.Place, _ picture: UInt64) {
      self.seat = seat
      self.topic = topic
      self.place = place
      self.picture = picture
    }
  }

  /// All subscriptions, and their share of the coordinator's time.
  let audience = Audience<View>()
  private(set) var feed = AnswerFeed(frame: ClientLimits.frame)
  private(set) var followerCount = 0
  private var boardCount = 0

  /// Number of subscriptions to a topic.
  func count(of topic: Topic) -> Int {
    switch topic {
    case .events: followerCount
    case .state: audience.all.count - followerCount - boardCount
    case .board: boardCount
    }
  }

  /// Latest encoded snapshot, and the number of snapshots so far.
  private struct Picture {
    var tail: [UInt8] = []
    var number: UInt64 = 0
  }
  private var state = Picture()
  private var board = Picture()

  /// Adds a subscription, which receives only later events and snapshots.
  mutating func admit(_ seat: Seat, to topic: Topic) {
    audience.admit(View(seat, topic, feed.end, picture(of: topic).number))
    change(topic, by: 1)
    seat.session.views += 1
    seat.session.seats += 1
  }

  mutating func end(_ view: View) {
    guard !view.isEnded else { return }
    view.isEnded = true
    view.seat.session.views -= 1
    view.seat.session.seats -= 1
    change(view.topic, by: -1)
    audience.remove { $0 === view }
    if followerCount == 0 { feed.forgetAll() }
  }

  mutating func forget(_ session: ControlSession) {
    for view in audience.all where view.seat.session === session { end(view) }
  }

  private mutating func change(_ topic: Topic, by count: Int) {
    switch topic {
    case .events: followerCount += count
    case .board: boardCount += count
    case .state: break
    }
  }

  private func picture(of topic: Topic) -> Picture { topic == .board ? board : state }

  /// Ends all subscriptions to a topic and returns their seats.
  mutating func takeAll(of topic: Topic) -> [Seat] {
    let views = audience.all.filter { $0.topic == topic }
    for view in views { end(view) }
    return views.map(\.seat)
  }

  /// Subscription with this request number; nil if there is none.
  func view(_ number: UInt32, of session: ControlSession) -> View? {
    audience.all.first { $0.seat.session === session && $0.seat.number == number }
  }

  /// Adds events. The caller has held them back until their commit.
  mutating func publish(_ events: [BranchEvent]) {
    guard followerCount > 0, !events.isEmpty else { return }
    for event in events { feed.append { AnswerTail.append(event, to: &$0) } }
    audience.hasNews()
  }

  mutating func show(_ report: StatusReport) {
    guard let tail = try? AnswerTail.bytes(of: .status(report)) else { return }
    state = Picture(tail: tail, number: state.number + 1)
    audience.hasNews()
  }

  mutating func show(_ frame: BoardFrame) {
    guard let tail = try? AnswerTail.bytes(of: .board(frame)) else { return }
    board = Picture(tail: tail, number: board.number + 1)
    audience.hasNews()
  }

  func isBehind(_ view: View) -> Bool {
    guard !view.isEnded else { return false }
    return view.isOfEvents ? view.place != feed.end : view.picture != picture(of: view.topic).number
  }

  /// True if a subscription was too slow and has lost events.
  func isLost(_ view: View) -> Bool { view.isOfEvents && !feed.keeps(view.place) }

  /// Next frames for a subscription, which count as received from now on.
  mutating func next(for view: View) -> [UInt8] {
    guard view.isOfEvents else {
      let picture = picture(of: view.topic)
      view.picture = picture.number
      var bytes: [UInt8] = []
      try? AnswerTail.appendFrame(
        to: view.seat.number, picture.tail[...], to: &bytes, limit: ClientLimits.frame)
      return bytes
    }
    return feed.next(behind: &view.place, for: view.seat.number)
  }

  /// Discards events that all subscribers have received.
  mutating func tidy() {
    guard followerCount > 0 else { return feed.forgetAll() }
    var earliest = feed.end
    for view in audience.all where view.isOfEvents && view.place.isOnPage(before: earliest) {
      earliest = view.place
    }
    feed.forget(before: earliest)
  }
}
