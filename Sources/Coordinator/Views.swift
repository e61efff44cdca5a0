// Owns those who look on without end: who follows the events, who watches the state or the board, and what each has seen of
// it. Invariant: what all are shown is encoded once; a view of events loses none of them, or is ended; a view of pictures may
// miss some, and never the latest.

import Transport
import Wire

struct Views {
  /// What is looked at.
  enum Topic {
    /// Who began and ended, one after the other.
    case events
    /// Pictures of the bank, as a status has it, or as a screen does.
    case state, board
  }

  /// One request that is told of changes until its client leaves.
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

  /// Everybody, and their share of the time.
  let audience = Audience<View>()
  private(set) var feed = AnswerFeed(frame: ClientLimits.frame)
  private(set) var followerCount = 0
  private var boardCount = 0

  /// How many look at something.
  func count(of topic: Topic) -> Int {
    switch topic {
    case .events: followerCount
    case .state: audience.all.count - followerCount - boardCount
    case .board: boardCount
    }
  }

  /// The last picture, and how many there were.
  private struct Picture {
    var tail: [UInt8] = []
    var number: UInt64 = 0
  }
  private var state = Picture()
  private var board = Picture()

  /// Takes in somebody who has seen everything until now.
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

  /// Ends every view of a topic; their seats.
  mutating func takeAll(of topic: Topic) -> [Seat] {
    let views = audience.all.filter { $0.topic == topic }
    for view in views { end(view) }
    return views.map(\.seat)
  }

  /// The view of a request; nil where it is none that looks on.
  func view(_ number: UInt32, of session: ControlSession) -> View? {
    audience.all.first { $0.seat.session === session && $0.seat.number == number }
  }

  /// Something has happened, and is on disk as far as it has to be.
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

  /// Whether a view has lost events because it was too slow.
  func isLost(_ view: View) -> Bool { view.isOfEvents && !feed.keeps(view.place) }

  /// The frames with what comes next for a view, which has seen it from now on.
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
