// Subscriptions of clients to events, to the state or to the dashboard, with the position of each.
// Invariant: a subscription to events loses no event, or is ended. A subscription to snapshots may skip some, but not
// the latest.

import Transport
import Wire

struct SubscriptionTable {
  /// What a subscription receives.
  enum Topic {
    /// Starts and ends of attempts, one after the other.
    case events
    /// Snapshots of the bank: status reports or dashboard snapshots.
    case state, board
  }

  /// One request that receives changes until it is ended or its client disconnects.
  final class Subscription {
    let requester: RequestHandle
    let topic: Topic
    var isForEvents: Bool { topic == .events }
    /// Position in the feed after the last event that was sent.
    fileprivate(set) var place: ReplayBuffer.Position
    /// Number of the last snapshot that was sent.
    fileprivate(set) var snapshot: UInt64
    fileprivate(set) var isEnded = false

    fileprivate init(
      _ requester: RequestHandle, _ topic: Topic, _ place: ReplayBuffer.Position, _ snapshot: UInt64
    ) {
      self.requester = requester
      self.topic = topic
      self.place = place
      self.snapshot = snapshot
    }
  }

  /// All subscriptions, in turn and within a limited part of the coordinator's time.
  let scheduler = SubscriberScheduler<Subscription>()
  /// Events that some subscription has not received yet.
  private(set) var feed = ReplayBuffer(frame: ClientLimits.frame)
  private(set) var followerCount = 0
  private var boardCount = 0

  func count(of topic: Topic) -> Int {
    switch topic {
    case .events: followerCount
    case .state: scheduler.all.count - followerCount - boardCount
    case .board: boardCount
    }
  }

  /// Latest encoded snapshot, and the number of snapshots so far.
  private struct EncodedSnapshot {
    var tail: [UInt8] = []
    var number: UInt64 = 0
  }
  private var state = EncodedSnapshot()
  private var board = EncodedSnapshot()

  /// Adds a subscription, which receives only later events and snapshots.
  mutating func admit(_ requester: RequestHandle, to topic: Topic) {
    scheduler.admit(Subscription(requester, topic, feed.end, snapshot(of: topic).number))
    change(topic, by: 1)
    requester.session.views += 1
    requester.session.requesters += 1
  }

  /// Removes a subscription. Its client is not answered.
  mutating func end(_ view: Subscription) {
    guard !view.isEnded else { return }
    view.isEnded = true
    view.requester.session.views -= 1
    view.requester.session.requesters -= 1
    change(view.topic, by: -1)
    scheduler.remove { $0 === view }
    if followerCount == 0 { feed.dropAll() }
  }

  /// Removes the subscriptions of a client that has disconnected.
  mutating func forget(_ session: ControlSession) {
    for view in scheduler.all where view.requester.session === session { end(view) }
  }

  private mutating func change(_ topic: Topic, by count: Int) {
    switch topic {
    case .events: followerCount += count
    case .board: boardCount += count
    case .state: break
    }
  }

  private func snapshot(of topic: Topic) -> EncodedSnapshot { topic == .board ? board : state }

  /// Ends all subscriptions to a topic and returns their requests.
  mutating func takeAll(of topic: Topic) -> [RequestHandle] {
    let views = scheduler.all.filter { $0.topic == topic }
    for view in views { end(view) }
    return views.map(\.requester)
  }

  /// Subscription with this request number; nil if there is none.
  func view(_ number: UInt32, of session: ControlSession) -> Subscription? {
    scheduler.all.first { $0.requester.session === session && $0.requester.number == number }
  }

  /// Adds events. The caller has held them back until their commit.
  mutating func publish(_ events: [AttemptEvent]) {
    guard followerCount > 0, !events.isEmpty else { return }
    for event in events { feed.append { AnswerTail.append(event, to: &$0) } }
    scheduler.markPending()
  }

  /// Publishes a status to the subscribers to the state.
  mutating func show(_ report: StatusReport) {
    guard let tail = try? AnswerTail.bytes(of: .status(report)) else { return }
    state = EncodedSnapshot(tail: tail, number: state.number + 1)
    scheduler.markPending()
  }

  /// Publishes a snapshot to the dashboards.
  mutating func show(_ frame: BoardFrame) {
    guard let tail = try? AnswerTail.bytes(of: .board(frame)) else { return }
    board = EncodedSnapshot(tail: tail, number: board.number + 1)
    scheduler.markPending()
  }

  /// True if a subscription has not received the latest event or snapshot.
  func isBehind(_ view: Subscription) -> Bool {
    guard !view.isEnded else { return false }
    return view.isForEvents ? view.place != feed.end : view.snapshot != snapshot(of: view.topic).number
  }

  /// True if a subscription was too slow and has lost events.
  func isLost(_ view: Subscription) -> Bool { view.isForEvents && !feed.retains(view.place) }

  /// Next frames for a subscription, which count as received from now on.
  mutating func next(for view: Subscription) -> [UInt8] {
    guard view.isForEvents else {
      let snapshot = snapshot(of: view.topic)
      view.snapshot = snapshot.number
      var bytes: [UInt8] = []
      try? AnswerTail.appendFrame(
        to: view.requester.number, snapshot.tail[...], to: &bytes, limit: ClientLimits.frame)
      return bytes
    }
    return feed.next(behind: &view.place, for: view.requester.number)
  }

  /// Discards events that all subscribers have received.
  mutating func tidy() {
    guard followerCount > 0 else { return feed.dropAll() }
    var earliest = feed.end
    for view in scheduler.all where view.isForEvents && view.place.isOnPage(before: earliest) {
      earliest = view.place
    }
    feed.forget(before: earliest)
  }
}
