// State of a guarded bank in the simulated world: whether this history has one, the last observation of coordinator and
// guardian, and how long one of them was missing.
// Invariant: this part draws from a generator of its own, so that histories without a guardian do not change.

import BankModel
import Time

/// State of the guarded bank in a simulated world.
struct GuardState {
  /// Limit on the time that a condition may last while the process that has to end it is working.
  struct TimeLimit {
    let bound: TimeSpan
    /// True if the time until the next call counts.
    private var counts = false
    private var time = TimeSpan.zero

    init(_ bound: TimeSpan) { self.bound = bound }

    /// Adds the time since the last call if that time counts, and stores whether the condition holds now.
    ///
    /// - Parameter isAble: true if the time until the next call counts, because the process that has to end the
    ///   condition is working.
    /// - Returns: false if the condition has lasted too long.
    mutating func update(_ isSo: Bool, _ isAble: Bool = true, after passed: TimeSpan) -> Bool {
      if counts { time += passed }
      if !isSo { time = .zero }
      counts = isSo && isAble
      return time <= bound
    }
  }

  let isEnabled: Bool
  var chance: SeededGenerator
  /// True after the bank was closed, until it is opened again.
  var isClosed = false
  /// Time at which the coordinator's exit is visible to other processes. The clock of a process that waits for its disk
  /// is ahead of the other clocks.
  var closedAt = MonotonicTime(nanoseconds: 0)
  /// True if the guardian may have received the report that the bank is closed, from a coordinator that was killed
  /// before its exit.
  var mayBeClosed = false
  /// True if the bank has been open since the operator's last start.
  var hasOpened = false
  /// True at the end of the history: the bank is not opened again.
  var isOver = false
  var checkedAt = MonotonicTime(nanoseconds: 0)

  /// Limit while a coordinator works and no guardian exists.
  var missing = TimeLimit(.milliseconds(1_500))
  /// Limit while a coordinator works without a working guardian. The coordinator first waits for a silent guardian.
  var withoutGuardian = TimeLimit(.seconds(30))
  /// Limit while a guardian works without a coordinator. The pauses grow between starts that cannot open the store.
  var withoutCoordinator = TimeLimit(.seconds(45))
  /// Limit while a guardian works although its bank is closed.
  var guardianAfterClose = TimeLimit(.seconds(2))

  init(seed: UInt64) {
    chance = SeededGenerator(seed: seed &* 41 &+ 0x6A2D)
    isEnabled = chance.draw(0...3) == 0
  }
}
