// Subscribers of a server, and their share of the loop's time. The share is the same for any number of
// subscribers, so that requests do not wait for publications. Each subscriber gets one piece of output in turn.
// Invariant: each period of publishing is followed by a longer rest. If a period ends at its time limit, the
// next one continues with the subscriber after the last one.
import Posix
import Time

/// Time limits of publishing.
public enum ViewingTime {
  /// Time after which a period of publishing ends. It may be exceeded by the output to one subscriber.
  public static let turn = TimeSpan.milliseconds(1)
  /// Length of a rest as a multiple of the period before it: requests have at least seven eighths of the loop's
  /// time with any number of subscribers. A reason for the long rest is that the clients that read the
  /// publications use the same processors.
  public static let rest: Int64 = 7
}

/// The subscribers of a server. Not Sendable: everything happens on the loop's thread.
public final class Audience<Viewer: AnyObject> {
  /// Result of publishing to one subscriber.
  public enum Step: Sendable {
    /// The subscriber has received everything.
    case isCurrent
    /// The client does not read now, or the next piece is not available now; a later iteration tries again.
    case waits
    /// A piece was sent, or the last message to the subscriber.
    case wasTold
  }

  /// All subscribers, in the order in which they subscribed.
  public private(set) var all: [Viewer] = []
  /// False if every subscriber has received everything.
  public private(set) var isOwed = false
  /// True if every subscriber with pending output returned ``Step/waits`` in the last round.
  public private(set) var waitsForReaders = false
  /// Time before which nothing is published.
  public var due = MonotonicTime(nanoseconds: 0)
  private let clock: () -> MonotonicTime
  private var first = 0

  /// No subscribers; `clock` measures the periods.
  public init(clock: @escaping () -> MonotonicTime = SystemClock.monotonic) { self.clock = clock }

  /// Adds a subscriber.
  public func admit(_ viewer: Viewer) { all.append(viewer) }
  /// Removes the matching subscribers.
  public func remove(where isMeant: (Viewer) -> Bool) { all.removeAll(where: isMeant) }
  /// Records that there is new output for the subscribers.
  public func hasNews() { (isOwed, waitsForReaders) = (true, false) }
  /// Time of the next useful ``tell(at:_:)``; nil if there is nothing to publish until an event of the loop.
  public var nextDeadline: MonotonicTime? { isOwed && !waitsForReaders ? due : nil }

  /// Publishes to all subscribers in turn, until the period ends or no further piece can be sent now. Does
  /// nothing during a rest, and without new output.
  ///
  /// - Parameter show: sends a subscriber its next piece. It writes to the socket at once, so that the time of
  ///   writing counts as part of the period. For a subscriber that was removed during the period it returns
  ///   ``Step/isCurrent``.
  /// - Returns: false if it did nothing.
  @discardableResult
  public func tell(at now: MonotonicTime, _ show: (Viewer) -> Step) -> Bool {
    guard isOwed, now >= due else { return false }
    let begin = clock()
    isOwed = goRound(until: begin + ViewingTime.turn, show)
    let end = clock()
    due = end + end.since(begin) * ViewingTime.rest
    return true
  }

  private func goRound(until deadline: MonotonicTime, _ show: (Viewer) -> Step) -> Bool {
    while true {
      let viewers = all
      var (isOwed, wasTold) = (false, false)
      for step in viewers.indices {
        switch show(viewers[(first + step) % viewers.count]) {
        case .isCurrent: continue
        case .waits: isOwed = true
        case .wasTold: (isOwed, wasTold) = (true, true)
        }
        guard clock() < deadline else {
          first = (first + step + 1) % viewers.count
          return true
        }
      }
      guard wasTold else {
        waitsForReaders = isOwed
        return isOwed
      }
    }
  }
}
