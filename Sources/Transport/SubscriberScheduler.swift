// Subscribers of a server, and their share of the loop's time. The share is the same for any number of
// subscribers, so that requests do not wait for publications. Each subscriber gets one piece of output in turn.
// Invariant: a period of publishing is followed by a longer rest. If a period ends at its time limit, the next one
// continues with the subscriber after the last one.
import Posix
import Time

/// Time limits of publishing.
public enum PublishingPeriods {
  /// Time after which a period of publishing ends. It may be exceeded by the output to one subscriber.
  public static let turn = TimeSpan.milliseconds(1)
  /// Length of a rest as a multiple of the period before it. The rest is long, because the clients that read the
  /// publications use the same processors.
  public static let rest: Int64 = 7
}

/// Sends output to the subscribers of a server in turn, within a share of the loop's time. Not Sendable: everything
/// happens on the loop's thread.
public final class SubscriberScheduler<Subscriber: AnyObject> {
  /// Result of publishing to one subscriber.
  public enum Step: Sendable {
    /// The subscriber has received everything.
    case isCurrent
    /// The client does not read now, or the next piece is not available now; a later iteration tries again.
    case blocked
    /// A piece was sent, or the last message to the subscriber.
    case sent
  }

  /// All subscribers, in the order in which they subscribed.
  public private(set) var all: [Subscriber] = []
  /// False if every subscriber has received everything.
  public private(set) var hasPending = false
  /// True if every subscriber with pending output returned ``Step/blocked`` in the last round.
  public private(set) var allBlocked = false
  /// Time before which nothing is published.
  public var due = MonotonicTime(nanoseconds: 0)
  private let clock: () -> MonotonicTime
  /// Index of the subscriber with which the next period starts.
  private var first = 0

  /// No subscribers; `clock` measures the periods.
  public init(clock: @escaping () -> MonotonicTime = SystemClock.monotonic) { self.clock = clock }

  /// Adds a subscriber.
  public func admit(_ subscriber: Subscriber) { all.append(subscriber) }
  /// Removes the matching subscribers.
  public func remove(where isMeant: (Subscriber) -> Bool) { all.removeAll(where: isMeant) }
  /// Records that there is new output for the subscribers.
  public func markPending() { (hasPending, allBlocked) = (true, false) }
  /// Time of the next useful ``notify(at:_:)``; nil if there is nothing to publish until an event of the loop.
  public var nextDeadline: MonotonicTime? { hasPending && !allBlocked ? due : nil }

  /// Publishes to all subscribers in turn, until the period ends or no further piece can be sent now. Does nothing,
  /// and returns false, during a rest and without new output.
  ///
  /// - Parameter show: sends a subscriber its next piece. It has to write to the socket, so that the time of writing
  ///   counts as part of the period. For a subscriber that was removed during the period it has to return
  ///   ``Step/isCurrent``.
  @discardableResult
  public func notify(at now: MonotonicTime, _ show: (Subscriber) -> Step) -> Bool {
    guard hasPending, now >= due else { return false }
    let begin = clock()
    hasPending = visitSubscribers(until: begin + PublishingPeriods.turn, show)
    let end = clock()
    due = end + end.since(begin) * PublishingPeriods.rest
    return true
  }

  /// Sends pieces in turn until the deadline. Returns true if a subscriber may have pending output.
  private func visitSubscribers(until deadline: MonotonicTime, _ show: (Subscriber) -> Step) -> Bool {
    while true {
      let subscribers = all
      var (hasPending, wasSent) = (false, false)
      for step in subscribers.indices {
        switch show(subscribers[(first + step) % subscribers.count]) {
        case .isCurrent: continue
        case .blocked: hasPending = true
        case .sent: (hasPending, wasSent) = (true, true)
        }
        guard clock() < deadline else {
          first = (first + step + 1) % subscribers.count
          return true
        }
      }
      guard wasSent else {
        allBlocked = hasPending
        return hasPending
      }
    }
  }
}
