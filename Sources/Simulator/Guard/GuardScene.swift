// Owns what the simulated world knows of a guarded bank: whether this history has one, how its coordinator and its guardian
// were seen last, and for how long something was missing. It must not know how anybody is guarded.
// Invariant: chance comes from a generator of its own, so that histories without a guardian go as they went before.

import BankModel
import Time

/// The guarded bank of a simulated world.
struct GuardScene {
  /// How long something may be so, while whoever has to mend it works.
  struct Patience {
    let bound: TimeSpan
    private var counts = false
    private var time = TimeSpan.zero

    init(_ bound: TimeSpan) { self.bound = bound }

    /// So much time has passed, and now it is so, or is not.
    ///
    /// - Parameter isAble: whether the time that comes now counts: whoever has to mend it works.
    /// - Returns: false where it has been so for too long.
    mutating func look(_ isSo: Bool, _ isAble: Bool = true, after passed: TimeSpan) -> Bool {
      if counts { time += passed }
      if !isSo { time = .zero }
      counts = isSo && isAble
      return time <= bound
    }
  }

  /// Whether this history has a guardian.
  let isThere: Bool
  var chance: SeededGenerator
  /// The bank has closed, and nobody has opened it since.
  var isClosed = false
  /// When that can be seen: a process that waits for its disk ends ahead of the others.
  var closedAt = MonotonicTime(nanoseconds: 0)
  /// It may have been told to be closed, by a coordinator that died before it has ended.
  var mayBeClosed = false
  /// The bank was open since an operator has opened it.
  var hasOpened = false
  /// The history ends; nobody opens the bank again.
  var isOver = false
  /// When everybody was looked at last.
  var checkedAt = MonotonicTime(nanoseconds: 0)

  /// A coordinator works, and there is no guardian at all: it starts one at least once a second.
  var missing = Patience(.milliseconds(1_500))
  /// A coordinator works without a guardian that does: it waits for one that is silent first.
  var unguarded = Patience(.seconds(30))
  /// A guardian works without a coordinator: the pauses between two that cannot open their store grow.
  var leaderless = Patience(.seconds(45))
  /// A guardian works, and its bank is closed.
  var leftOver = Patience(.seconds(2))

  init(seed: UInt64) {
    chance = SeededGenerator(seed: seed &* 41 &+ 0x6A2D)
    isThere = chance.draw(0...3) == 0
  }
}
