// Schedule of dashboard snapshots. A new viewer receives a snapshot at once. Further snapshots are made after changes,
// and when time alone has changed a displayed rate. A snapshot that differs from the previous one only in its times is
// not sent.

import BankModel
import Posix
import Time
import Wire

final class BoardFeed: CoordinatorComponent {
  /// Shortest pause between two snapshots.
  static let pause = TimeSpan.milliseconds(50)
  /// Pause if at least `fullSpeed` customers were served since the last snapshot. Each snapshot costs time that serving
  /// needs.
  static let (pauseAtFullSpeed, fullSpeed) = (TimeSpan.milliseconds(100), Int64(100))
  /// Time for which a snapshot waits for the next commit, to include its changes. Without this wait the changes
  /// would be shown up to a whole pause later.
  private static let patience = TimeSpan.milliseconds(5)

  private let boardSnapshots: BoardSnapshots
  /// Latest snapshot; nil without viewers.
  private var shown: BoardFrame?
  /// Time of the latest snapshot.
  private var shownAt = MonotonicTime(nanoseconds: .min)
  /// Pause before the next snapshot.
  private(set) var pause = BoardFeed.pause
  /// Time at which a rate has to be shown again although nothing has changed; nil if all rates were shown as zero.
  private var rateDue: MonotonicTime?
  /// Time since which a snapshot waits for a commit; nil if none waits.
  private var waitsSince: MonotonicTime?

  init(_ dependencies: CoordinatorComponent, _ boardSnapshots: BoardSnapshots) {
    self.boardSnapshots = boardSnapshots
    super.init(dependencies)
  }

  /// Starts the snapshots if this viewer is the first one, and returns the newest snapshot for it.
  func begin() -> BoardFrame {
    subscriptions.events.isWatched = true
    // A further viewer gets the current snapshot, so frequent requests do not cause more snapshots.
    if subscriptions.views.count(of: .board) > 0 { show() }
    var frame = shown ?? make()
    frame.time = context.now.wall.milliseconds
    frame.businessTime = queue.machine.businessTime(at: context.now.monotonic)
    frame.history = boardSnapshots.history()
    return frame
  }

  /// Makes a snapshot if one is due, and publishes it if it differs from the previous one.
  func show() {
    guard subscriptions.events.isWatched else { return }
    guard subscriptions.views.count(of: .board) > 0 else { return end() }
    guard isDue, subscriptions.hasChangedForBoards || rateDue.map({ $0 <= context.now.monotonic }) == true
    else {
      return
    }
    guard !waitsForCommit() else { return }
    let before = shown
    let frame = make()
    if before.map({ frame.showsSameState(as: $0) }) != true { subscriptions.views.show(frame) }
  }

  /// True while a due snapshot waits for a commit, so that it includes the uncommitted changes.
  private func waitsForCommit() -> Bool {
    guard queue.machine.hasUncommittedChanges else { return false }
    let since = waitsSince ?? context.now.monotonic
    waitsSince = since
    return context.now.monotonic < since + Self.patience
  }

  private var isDue: Bool {
    context.now.monotonic >= shownAt + pause || Mutant.sendsSnapshotsUnthrottled.isActive
  }

  private func make() -> BoardFrame {
    let frame = boardSnapshots.frame()
    let before = shown.map { $0.day == frame.day ? $0.counts.served : 0 } ?? frame.counts.served
    pause = frame.counts.served - before >= Self.fullSpeed ? Self.pauseAtFullSpeed : Self.pause
    (shown, shownAt) = (frame, context.now.monotonic)
    rateDue = boardSnapshots.throughput.nextUpdate(after: shownAt)
    waitsSince = nil
    // Customers and events that are not on disk yet are not in this snapshot, and their commit does not set this
    // flag.
    subscriptions.hasChangedForBoards = queue.machine.hasUncommittedChanges
    return frame
  }

  /// Stops making snapshots.
  private func end() {
    guard shown != nil else { return }
    subscriptions.events.isWatched = false
    (shown, rateDue, waitsSince) = (nil, nil, nil)
    boardSnapshots.forget()
  }

  /// Final snapshot of a closing bank.
  func last() -> BoardFrame {
    var frame = boardSnapshots.frame()
    frame.state = .closed
    for place in frame.windows.indices where frame.windows[place].state == .backoff {
      frame.windows[place].state = .stopped
    }
    return frame
  }

  /// Time at which a snapshot is due; nil without viewers, and if there is neither a change nor a rate to show.
  var nextDeadline: MonotonicTime? {
    guard subscriptions.events.isWatched, subscriptions.views.count(of: .board) > 0 else { return nil }
    if let waitsSince { return waitsSince + Self.patience }
    // No snapshot is made during the pause, so a rate that is due earlier would wake the loop repeatedly
    // without effect.
    let next = shownAt + pause
    return subscriptions.hasChangedForBoards ? next : rateDue.map { max($0, next) }
  }
}
