// Owns those who follow a service: what each of them has been told, on any of the service's sockets. What all are told is
// encoded once, they have a share of the loop's time together, and one connection has few of them.
// It knows no answer. Invariant: whoever follows is told everything behind its place, in order and once, or is told that
// it was too slow, and no more; nobody is told with a gap.
// Failure: none; a client that is too slow may follow again.
import Posix
import Wire

/// Where a viewer of a service comes from who was told something before, and is not up to the present yet.
public enum MissedAnswers<Result> {
  /// What comes next, and the place behind it.
  case next(Result, upTo: Int64)
  /// There is nothing more but what is told to everybody.
  case none
  /// It cannot be said now; a later turn of the loop can.
  case notNow
  case tooMany
}

/// Those who follow a service. Not Sendable: everything happens on the loop's thread.
public final class ServiceViews<
  Request: Codable & Sendable & Equatable, Result: Codable & Sendable & Equatable
> {
  /// A socket of the service.
  public typealias Socket = ServiceSocket<Request, Result>

  /// One request that is told of changes until its client leaves.
  public final class View {
    fileprivate enum State {
      /// Its first answer has not been given.
      case begins
      /// It is told what others were told before it came, from a place that the service knows.
      case catchesUp(Int64)
      case follows(AnswerFeed.Place)
      case ended
    }

    fileprivate let socket: Socket
    fileprivate let session: Socket.Session
    fileprivate let number: UInt32
    fileprivate let topic: Int
    fileprivate var state = State.begins

    fileprivate init(_ socket: Socket, _ session: Socket.Session, _ number: UInt32, _ topic: Int) {
      (self.socket, self.session, self.number, self.topic) = (socket, session, number, topic)
    }

    /// Whether nothing more is told to it.
    public var isEnded: Bool { if case .ended = state { true } else { false } }
  }

  /// What somebody has missed behind a place; asked where a view began in the past.
  public var missed: ((Int64) -> MissedAnswers<Result>)?
  /// Called when somebody was too slow.
  public var onSlow: (() -> Void)?
  /// What is told to everybody, by topic.
  public private(set) var feeds: [AnswerFeed]
  private let tooSlow: Result
  private let audience: Audience<View>
  /// What somebody had missed was encoded last: several who come back together have missed the same.
  private var found: (place: Int64, upTo: Int64, tail: [UInt8])?

  /// Nobody yet.
  ///
  /// - Parameters:
  ///   - topics: how many kinds of answers there are; a view is of one.
  ///   - tooSlow: the last answer to whoever was.
  public init(
    topics: Int = 1, frame: Int = FrameLimits.control, tooSlow: Result,
    clock: @escaping () -> MonotonicInstant = SystemClock.monotonic
  ) {
    feeds = Array(repeating: AnswerFeed(frame: frame), count: topics)
    self.tooSlow = tooSlow
    audience = Audience(clock: clock)
  }

  // MARK: - Coming and going

  /// A view for a request, which is told nothing before ``begin(_:after:)``; nil where the client has as many as it may.
  /// One under the same number of the same client ends: this one takes its place.
  public func open(_ socket: Socket, _ session: Socket.Session, _ number: UInt32, topic: Int = 0) -> View? {
    for view in audience.all where view.session === session && view.number == number { end(view) }
    guard session.views < socket.viewsOfOne else { return nil }
    let view = View(socket, session, number, topic)
    guard session.channel.isOpen else {
      view.state = .ended
      return view
    }
    session.views += 1
    audience.admit(view)
    return view
  }

  /// Tells a view of everything from now on, or from a place in the past that the service knows.
  public func begin(_ view: View, after place: Int64? = nil) {
    guard !view.isEnded else { return }
    view.state = place.map { .catchesUp($0) } ?? .follows(feeds[view.topic].end)
    if place != nil { audience.hasNews() }
  }

  /// Ends a view with a last answer, or with none where its client has left or asks for it anew.
  public func end(_ view: View, with result: Result? = nil) {
    guard !view.isEnded else { return }
    view.state = .ended
    view.session.views -= 1
    audience.remove { $0 === view }
    if let result {
      view.socket.answer(view.session, view.number, result)
    } else {
      view.session.openRequests = max(0, view.session.openRequests - 1)
    }
  }

  /// A client has left.
  public func forget(_ session: Socket.Session) {
    for view in audience.all where view.session === session { end(view) }
  }

  /// Views that are open.
  public var count: Int { audience.all.count }
  /// Whether somebody looks at a topic.
  public func isWatched(_ topic: Int = 0) -> Bool { audience.all.contains { $0.topic == topic } }

  // MARK: - Telling

  /// Something has happened, and is on disk.
  public func publish(_ result: Result, topic: Int = 0) {
    guard isWatched(topic) else { return }
    feeds[topic].append { bytes throws(FrameEncodingError) in try AnswerTail.append(result, to: &bytes) }
    audience.hasNews()
  }

  /// When ``tell(at:)`` has something to do by itself.
  public var nextDeadline: MonotonicInstant? { audience.nextDeadline }

  /// Tells those who look on what they have not seen, for as long as they may have. What is staged is published before.
  public func tell(at now: MonotonicInstant) {
    if audience.tell(at: now, show) { tidy() }
  }

  /// The same without regard to the time, as much as there is room for: the service ends.
  public func tellTheRest() {
    for view in audience.all { while show(view) == .wasTold {} }
  }

  private func show(_ view: View) -> Audience<View>.Step {
    switch view.state {
    case .begins, .ended: return .isCurrent
    case .follows(let place) where place == feeds[view.topic].end: return .isCurrent
    case .follows(let place) where !feeds[view.topic].keeps(place): return endSlow(view)
    case .follows(var place):
      guard view.socket.makesRoom(for: view.session) else { return .waits }
      let frames = feeds[view.topic].next(behind: &place, for: view.number)
      view.state = .follows(place)
      view.socket.send(frames: frames, to: view.session)
    case .catchesUp(let place):
      guard view.socket.makesRoom(for: view.session) else { return .waits }
      return catchUp(view, from: place)
    }
    return .wasTold
  }

  private func catchUp(_ view: View, from place: Int64) -> Audience<View>.Step {
    if found?.place != place {
      switch missed?(place) ?? .none {
      case .notNow: return .waits
      case .tooMany: return endSlow(view)
      case .none:
        view.state = .follows(feeds[view.topic].end)
        return .isCurrent
      case .next(let result, let upTo):
        var tail: [UInt8] = []
        guard (try? AnswerTail.append(result, to: &tail)) != nil else { return endSlow(view) }
        found = (place, upTo, tail)
      }
    }
    guard let found, view.socket.send(found.tail, to: view.session, view.number) else { return endSlow(view) }
    view.state = .catchesUp(found.upTo)
    return .wasTold
  }

  private func endSlow(_ view: View) -> Audience<View>.Step {
    end(view, with: tooSlow)
    onSlow?()
    return .wasTold
  }

  /// Forgets what everybody has seen.
  private func tidy() {
    if !audience.isOwed { found = nil }
    for topic in feeds.indices {
      guard isWatched(topic) else {
        feeds[topic].forgetAll()
        continue
      }
      var earliest = feeds[topic].end
      for view in audience.all where view.topic == topic {
        if case .follows(let place) = view.state, place.isOnPage(before: earliest) { earliest = place }
      }
      feeds[topic].forget(before: earliest)
    }
  }
}
