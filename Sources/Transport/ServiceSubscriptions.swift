// Subscriptions of a service process on all its sockets, and the position of each subscription. Subscriptions share
// a part of the loop's time, and their number per connection is limited.
// Invariant: a subscription receives the answers after its position in order, once and without gaps. A
// subscription that is too slow receives `tooSlow` as its last answer. Errors: none; a client that was too slow
// may subscribe again.
import Posix
import Time
import Wire

/// What follows for a subscription that starts in the past: the next answer, or the reason why there is none.
public enum CatchUpStep<Result> {
  /// The next answer, and the position after it.
  case next(Result, upTo: Int64)
  /// No answer is missing any more. The subscription continues with the published answers.
  case none
  /// The next answer is not available now, but in a later iteration of the loop.
  case unavailableNow
  /// Too many answers are missing, so the subscription is too slow.
  case tooMany
}

/// Subscriptions of a service process. Not Sendable: everything happens on the loop's thread.
public final class ServiceSubscriptions<
  Request: Codable & Sendable & Equatable, Result: Codable & Sendable & Equatable
> {
  /// The listening socket of the service process, with the sessions of all its clients, subscribed or not.
  public typealias Socket = ServiceSocket<Request, Result>

  /// One subscription.
  public final class Subscription {
    /// Progress of a subscription.
    fileprivate enum State {
      /// ``ServiceSubscriptions/begin(_:after:)`` was not called yet.
      case notStarted
      /// The subscriber receives earlier answers, which ``ServiceSubscriptions/missed`` returns for this position.
      case catchingUp(Int64)
      /// The subscriber receives the published answers after this position.
      case live(ReplayBuffer.Position)
      /// The subscription receives no more answers.
      case ended
    }

    fileprivate let socket: Socket
    fileprivate let session: Socket.Session
    /// Number of the subscriber's request.
    fileprivate let number: UInt32
    /// Index of the topic whose answers the subscription receives.
    fileprivate let topic: Int
    fileprivate var state = State.notStarted

    fileprivate init(_ socket: Socket, _ session: Socket.Session, _ number: UInt32, _ topic: Int) {
      (self.socket, self.session, self.number, self.topic) = (socket, session, number, topic)
    }

    /// True if the subscription receives no more answers.
    public var isEnded: Bool { if case .ended = state { true } else { false } }
  }

  /// Returns the next answer after a position, for a subscription that starts in the past. Nil if all subscriptions
  /// start with the next published answer.
  public var missed: ((Int64) -> CatchUpStep<Result>)?
  /// Called when a subscription was too slow.
  public var onSlow: (() -> Void)?
  /// Published answers that not all subscriptions have received, by topic.
  public private(set) var feeds: [ReplayBuffer]
  /// Last answer to a subscription that was too slow.
  private let tooSlow: Result
  private let scheduler: SubscriberScheduler<Subscription>
  /// Last encoded answer for a subscription that starts in the past, because clients that reconnect together often
  /// need the same answer.
  private var lastCatchUp: (place: Int64, upTo: Int64, tail: [UInt8])?

  /// Creates the subscriptions of a service; there are none at first.
  ///
  /// - Parameters:
  ///   - topics: number of topics, each with its own sequence of answers; a subscription has one topic.
  ///   - tooSlow: last answer to a subscription that was too slow.
  public init(
    topics: Int = 1, frame: Int = FrameLimits.control, tooSlow: Result,
    clock: @escaping () -> MonotonicTime = SystemClock.monotonic
  ) {
    feeds = Array(repeating: ReplayBuffer(frame: frame), count: topics)
    self.tooSlow = tooSlow
    scheduler = SubscriberScheduler(clock: clock)
  }

  // MARK: - Subscribing

  /// Makes a request a subscription to a topic. It receives no answer before ``begin(_:after:)``. Returns nil if the
  /// client has the maximum number of subscriptions, and an ended subscription if the client has disconnected. Ends an
  /// older subscription of the same client with the same request number.
  public func open(_ socket: Socket, _ session: Socket.Session, _ number: UInt32, topic: Int = 0)
    -> Subscription?
  {
    for view in scheduler.all where view.session === session && view.number == number { end(view) }
    guard session.views < socket.subscriptionsPerClient else { return nil }
    let view = Subscription(socket, session, number, topic)
    guard session.channel.isOpen else {
      view.state = .ended
      return view
    }
    session.views += 1
    scheduler.admit(view)
    return view
  }

  /// Starts a subscription with the answers published from now on, or with those after a position in the past,
  /// which ``missed`` returns.
  public func begin(_ view: Subscription, after position: Int64? = nil) {
    guard !view.isEnded else { return }
    view.state = position.map { .catchingUp($0) } ?? .live(feeds[view.topic].end)
    if position != nil { scheduler.markPending() }
  }

  /// Ends a subscription with a last answer, or without one if its client has disconnected or subscribes again.
  public func end(_ view: Subscription, with result: Result? = nil) {
    guard !view.isEnded else { return }
    view.state = .ended
    view.session.views -= 1
    scheduler.remove { $0 === view }
    if let result {
      view.socket.answer(view.session, view.number, result)
    } else {
      view.session.openRequests = max(0, view.session.openRequests - 1)
    }
  }

  /// Ends the subscriptions of a client that has disconnected.
  public func forget(_ session: Socket.Session) {
    for view in scheduler.all where view.session === session { end(view) }
  }

  /// Number of open subscriptions.
  public var count: Int { scheduler.all.count }
  /// True if a topic has a subscription.
  public func hasSubscribers(_ topic: Int = 0) -> Bool { scheduler.all.contains { $0.topic == topic } }

  // MARK: - Publishing

  /// Publishes an answer about changes that are on disk to all subscriptions of a topic.
  public func publish(_ result: Result, topic: Int = 0) {
    guard hasSubscribers(topic) else { return }
    feeds[topic].append { bytes throws(FrameEncodingError) in try AnswerTail.append(result, to: &bytes) }
    scheduler.markPending()
  }

  /// Time of the next useful ``notify(at:)``.
  public var nextDeadline: MonotonicTime? { scheduler.nextDeadline }

  /// Sends pending answers to the subscriptions, within their share of the loop's time. The caller has to
  /// commit and publish staged changes before.
  public func notify(at now: MonotonicTime) {
    if scheduler.notify(at: now, show) { dropDelivered() }
  }

  /// Sends all pending answers, without a limit of time, to clients that read, because the service ends.
  public func flushPending() {
    for view in scheduler.all { while show(view) == .sent {} }
  }

  /// Sends the next piece of output to a subscription, if there is one and the client reads.
  private func show(_ view: Subscription) -> SubscriberScheduler<Subscription>.Step {
    switch view.state {
    case .notStarted, .ended: return .isCurrent
    case .live(let position) where position == feeds[view.topic].end: return .isCurrent
    case .live(let position) where !feeds[view.topic].retains(position): return endSlowSubscription(view)
    case .live(var position):
      guard view.socket.flushesAndHasRoom(for: view.session) else { return .blocked }
      let frames = feeds[view.topic].next(behind: &position, for: view.number)
      view.state = .live(position)
      view.socket.send(frames: frames, to: view.session)
    case .catchingUp(let position):
      guard view.socket.flushesAndHasRoom(for: view.session) else { return .blocked }
      return catchUp(view, from: position)
    }
    return .sent
  }

  private func catchUp(_ view: Subscription, from position: Int64) -> SubscriberScheduler<Subscription>.Step {
    if lastCatchUp?.place != position {
      switch missed?(position) ?? .none {
      case .unavailableNow: return .blocked
      case .tooMany: return endSlowSubscription(view)
      case .none:
        view.state = .live(feeds[view.topic].end)
        return .isCurrent
      case .next(let result, let upTo):
        var tail: [UInt8] = []
        guard (try? AnswerTail.append(result, to: &tail)) != nil else { return endSlowSubscription(view) }
        lastCatchUp = (position, upTo, tail)
      }
    }
    guard let lastCatchUp, view.socket.send(lastCatchUp.tail, to: view.session, view.number) else {
      return endSlowSubscription(view)
    }
    view.state = .catchingUp(lastCatchUp.upTo)
    return .sent
  }

  /// Ends a subscription that is too slow, with its last answer.
  private func endSlowSubscription(_ view: Subscription) -> SubscriberScheduler<Subscription>.Step {
    end(view, with: tooSlow)
    onSlow?()
    return .sent
  }

  /// Drops the pages of answers that all subscriptions have received.
  private func dropDelivered() {
    if !scheduler.hasPending { lastCatchUp = nil }
    for topic in feeds.indices {
      guard hasSubscribers(topic) else {
        feeds[topic].dropAll()
        continue
      }
      var earliest = feeds[topic].end
      for view in scheduler.all where view.topic == topic {
        if case .live(let position) = view.state, position.isOnPage(before: earliest) { earliest = position }
      }
      feeds[topic].forget(before: earliest)
    }
  }
}
