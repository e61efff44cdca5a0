// Owns those who look on without end, and how much of a loop's time they get: a share of it, however many they are, so
// that whoever is served does not wait for them. Everybody gets a piece in turn.
// It must not know what anybody is shown. Invariant: after a turn of theirs there is a rest that is longer than the turn,
// and whoever came last before the rest is followed by the next one after it.
import Posix
import Time

/// The time of those who look on.
public enum ViewingTime {
  /// The longest in one go.
  public static let turn = TimeSpan.milliseconds(1)
  /// After so much time on them the loop does something else for so many times as long: with any number of them the others
  /// have seven eighths of its time. To read what they are told takes time of the same processors, too.
  public static let rest: Int64 = 7
}

/// Those who look on. Not Sendable: everything happens on the loop's thread.
public final class Audience<Viewer: AnyObject> {
  /// What showing something to a viewer has come to.
  public enum Step: Sendable {
    /// There is nothing that it has not seen.
    case isCurrent
    /// It does not read for now, or what it is to see is not there for now; a later turn of the loop finds out.
    case waits
    /// It was given a piece, or told that there will be no more.
    case wasTold
  }

  /// Everybody, in the order in which they came.
  public private(set) var all: [Viewer] = []
  /// Whether somebody may not have seen everything.
  public private(set) var isOwed = false
  /// Whether all that is owed waits for readers.
  public private(set) var waitsForReaders = false
  /// Before this nobody is told anything.
  public var due = MonotonicTime(nanoseconds: 0)
  private let clock: () -> MonotonicTime
  private var first = 0

  /// Nobody yet.
  public init(clock: @escaping () -> MonotonicTime = SystemClock.monotonic) { self.clock = clock }

  /// Takes somebody in.
  public func admit(_ viewer: Viewer) { all.append(viewer) }
  /// Takes those out who are meant.
  public func remove(where isMeant: (Viewer) -> Bool) { all.removeAll(where: isMeant) }
  /// There is something that nobody has seen yet.
  public func hasNews() { (isOwed, waitsForReaders) = (true, false) }
  /// When ``tell(at:_:)`` has something to do by itself; nil where that is found out by the loop.
  public var nextDeadline: MonotonicTime? { isOwed && !waitsForReaders ? due : nil }

  /// Shows everybody what comes next until the time is up or nobody reads any more; not before the rest is over.
  ///
  /// - Parameter show: Gives a viewer its next piece, and writes it at once, so that the time which that takes is part of
  ///   their share. Asked about a viewer that was taken out meanwhile it says ``Step/isCurrent``.
  /// - Returns: whether it was their turn.
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
