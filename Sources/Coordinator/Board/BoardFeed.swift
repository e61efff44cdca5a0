// Owns when a frame of the board is made: at once for whoever begins to look, and then where something has changed, at most
// twenty times a second, or ten where more happens than anybody sees; and once more when a rate has run out. It knows no
// connection: `LiveViews` gives every viewer the newest frame, which is encoded once.
// Invariants: a bank at which nobody looks makes no frame and wakes for none; one in which nothing happens makes none either,
// once all rates have been shown as zero; and no frame follows one that shows the same.

import BankModel
import Posix
import Time
import Wire

final class BoardFeed: BankPart {
  /// Between two frames.
  static let pause = TimeSpan.milliseconds(50)
  /// Between two frames of a bank that has served so many since the last one: a frame is made of the time in which others
  /// would be served, and shows lists in which everybody is another one.
  static let (pauseAtFullSpeed, fullSpeed) = (TimeSpan.milliseconds(100), Int64(100))
  /// So long a frame waits for the commit that is about to come, so that it shows what has happened; the next one would be a
  /// whole pause later.
  private static let patience = TimeSpan.milliseconds(5)

  private let pictures: BoardPictures
  private var shown: BoardFrame?
  private var shownAt = MonotonicTime(nanoseconds: .min)
  /// Until the next frame.
  private(set) var pause = BoardFeed.pause
  /// When a rate is to be shown anew.
  private var rateDue: MonotonicTime?
  /// Since when a frame waits for a commit.
  private var waitsSince: MonotonicTime?

  init(_ ground: BankPart, _ pictures: BoardPictures) {
    self.pictures = pictures
    super.init(ground)
  }

  /// The newest frame for somebody who begins to look.
  func begin() -> BoardFrame {
    followers.events.isWatched = true
    // Whoever comes beside others sees what they see: nobody makes frames faster by coming often.
    if followers.views.count(of: .board) > 0 { show() }
    var frame = shown ?? make()
    frame.time = context.now.wall.milliseconds
    frame.businessTime = queue.machine.businessTime(at: context.now.monotonic)
    frame.history = pictures.history()
    return frame
  }

  /// Makes a frame where one is due, and shows it to everybody who looks.
  func show() {
    guard followers.events.isWatched else { return }
    guard followers.views.count(of: .board) > 0 else { return end() }
    guard isDue, followers.hasChangedForBoards || rateDue.map({ $0 <= context.now.monotonic }) == true else {
      return
    }
    guard !waitsForCommit() else { return }
    let before = shown
    let frame = make()
    if before.map({ frame.showsTheSame(as: $0) }) != true { followers.views.show(frame) }
  }

  private func waitsForCommit() -> Bool {
    guard queue.machine.isUnsettled else { return false }
    let since = waitsSince ?? context.now.monotonic
    waitsSince = since
    return context.now.monotonic < since + Self.patience
  }

  private var isDue: Bool {
    context.now.monotonic >= shownAt + pause || Kernel.makes("paintsWithoutAPause")
  }

  private func make() -> BoardFrame {
    let frame = pictures.frame()
    let before = shown.map { $0.day == frame.day ? $0.counts.served : 0 } ?? frame.counts.served
    pause = frame.counts.served - before >= Self.fullSpeed ? Self.pauseAtFullSpeed : Self.pause
    (shown, shownAt) = (frame, context.now.monotonic)
    rateDue = pictures.throughput.nextShow(after: shownAt)
    waitsSince = nil
    // What is not on disk yet is not shown, and the commit makes no other noise.
    followers.hasChangedForBoards = queue.machine.isUnsettled
    return frame
  }

  private func end() {
    guard shown != nil else { return }
    followers.events.isWatched = false
    (shown, rateDue, waitsSince) = (nil, nil, nil)
    pictures.forget()
  }

  /// The last frame there is.
  func last() -> BoardFrame {
    var frame = pictures.frame()
    frame.state = .closed
    for place in frame.windows.indices where frame.windows[place].state == .backoff {
      frame.windows[place].state = .stopped
    }
    return frame
  }

  /// When a frame is due; nil where nobody looks, or nothing is to be shown.
  var nextDeadline: MonotonicTime? {
    guard followers.events.isWatched, followers.views.count(of: .board) > 0 else { return nil }
    if let waitsSince { return waitsSince + Self.patience }
    // Nothing is shown within the pause: a rate that runs out in it would wake the loop again and again for nothing.
    let next = shownAt + pause
    return followers.hasChangedForBoards ? next : rateDue.map { max($0, next) }
  }
}
