// Subscriptions of a service on all its sockets, and the position of each subscription. An answer for all of
// them is encoded once. Subscriptions share a part of the loop's time, and their number per connection is
// limited.
// Invariant: a subscription receives every answer after its position, in order, once and without gaps. A
// subscription that is too slow receives `tooSlow` as its last answer. Errors: none; a client that was too slow
// may subscribe again.
import Posix
import Time
import Wire

/// Next piece for a subscription that starts in the past.
public enum MissedAnswers<Result> {
  /// The next answer, and the position after it.
  case next(Result, upTo: Int64)
  /// No answer is missing any more. The subscription continues with the published answers.
  case none
  /// The next answer is not available now, but in a later iteration of the loop.
  case notNow
  case tooMany
}

/// Subscriptions of a service. Not Sendable: everything happens on the loop's thread.
public final class ServiceViews<
  Request: Codable & Sendable & Equatable, Result: Codable & Sendable & Equatable
> {
  /// Socket type of the service.
  public typealias Socket = ServiceSocket<Request, Result>

  /// One subscription, which lasts until its client disconnects, is too slow or subscribes again, or until the
  /// service ends it.
  public final class View {
    fileprivate enum State {
      /// ``ServiceViews/begin(_:after:)`` was not called yet.
      case begins
      /// The subscriber receives earlier answers, which ``ServiceViews/missed`` returns for this position.
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

    /// True if the subscription receives no more answers.
    public var isEnded: Bool { if case .ended = state { true } else { false } }
  }

  /// Returns the next answer after a position, for a subscription that starts in the past. Nil if no
  /// subscription does.
  public var missed: ((Int64) -> MissedAnswers<Result>)?
  /// Called when a subscription was too slow.
  public var onSlow: (() -> Void)?
  /// Published answers that not all subscriptions have received, by topic.
  public private(set) var feeds: [AnswerFeed]
  private let tooSlow: Result
  private let audience: Audience<View>
  /// Last encoded answer for a subscription that starts in the past, because several clients that reconnect
  /// together need the same answer.
  private var found: (place: Int64, upTo: Int64, tail: [UInt8])?

  /// Creates the state of a service without subscriptions.
  ///
  /// - Parameters:
  ///   - topics: number of topics, each with its own sequence of answers; a subscription has one topic.
  ///   - tooSlow: last answer to a subscription that was too slow.
  public init(
    topics: Int = 1, frame: Int = FrameLimits.control, tooSlow: Result,
    clock: @escaping () -> MonotonicTime = SystemClock.monotonic
  ) {
    feeds = Array(repeating: AnswerFeed(frame: frame), count: topics)
    self.tooSlow = tooSlow
    audience = Audience(clock: clock)
  }

  // MARK: - Subscribing

  /// Makes a request a subscription, which receives no answer before ``begin(_:after:)``. Returns nil if the
  /// client has the maximum number of subscriptions, and an ended subscription if the client has disconnected.
  /// Ends an older subscription of the same client with the same request number.
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

  /// Starts a subscription with the answers published from now on, or with those after a position in the past,
  /// which ``missed`` returns.
  public func begin(_ view: View, after place: Int64? = nil) {
    guard !view.isEnded else { return }
    view.state = place.map { .catchesUp($0) } ?? .follows(feeds[view.topic].end)
    if place != nil { audience.hasNews() }
  }

  /// Ends a subscription with a last answer, or without one if its client has disconnected or subscribes again.
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

  /// Ends the subscriptions of a client that has disconnected.
  public func forget(_ session: Socket.Session) {
    for view in audience.all where view.session === session { end(view) }
  }

  /// Number of open subscriptions.
  public var count: Int { audience.all.count }
  /// True if a topic has a subscription.
  public func isWatched(_ topic: Int = 0) -> Bool { audience.all.contains { $0.topic == topic } }

  // MARK: - Publishing

  /// Publishes an answer about changes that are on disk.
  public func publish(_ result: Result, topic: Int = 0) {
    guard isWatched(topic) else { return }
    feeds[topic].append { bytes throws(FrameEncodingError) in try AnswerTail.append(result, to: &bytes) }
    audience.hasNews()
  }

  /// Time of the next useful ``tell(at:)``.
  public var nextDeadline: MonotonicTime? { audience.nextDeadline }

  /// Sends pending answers to the subscriptions, within their share of the loop's time. The caller has to
  /// commit and publish staged changes before.
  public func tell(at now: MonotonicTime) {
    if audience.tell(at: now, show) { tidy() }
  }

  /// Sends all pending answers, without a limit of time, to clients that read, because the service ends.
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

  /// Drops the pages of answers that all subscriptions have received.
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
