// Owns the end of a bank as a decision: four steps with names, each with a bound, in one order. It knows no queue, no
// process and no clock: what can be seen of the bank goes in with a moment, and what is to be done comes out.
//
// close door -> serve waiting -> finish serving -> kill -> end
//
// A step ends when there is nothing left to do in it, when its time is up, or when somebody asks for a later step. Only
// in the first case has everyone it was for been dealt with; in the others what it leaves behind is dealt with in a
// harder way: requests are turned away, those who wait are left for the next start, those at a window are taken back.
// Invariant: every step begins exactly once and in this order, however fast the bank is gone through them, and nothing
// that is looked at can make a drain go back.

import BankModel
import Time

/// What a drain wants done.
public enum DrainAction: Sendable, Equatable {
  /// A step begins: tell everybody who wants to know.
  case begin(DrainStep)
  case closeDoor
  /// Refuse the requests for tickets that are half taken in: nobody was told of these tickets.
  case turnAway
  /// Hand out nobody any more: those who wait go on waiting for the next start.
  case leaveWaiting
  /// Kill the tellers that serve somebody: their customers wait again, at the head of the line.
  case takeBack
  case dismiss
  case killRest
  /// Nobody is left: close the day.
  case end
}

/// What a drain has to see of the bank.
public struct DrainSight: Sendable, Equatable {
  /// Whether a request for tickets is half taken in.
  public var isTakingIn: Bool
  /// Whether somebody waits who can be served.
  public var hasWaiting: Bool
  /// Whether nobody is at a window, and nobody will be.
  public var isDrained: Bool
  /// Processes of tellers.
  public var tellers: Int

  public init(isTakingIn: Bool, hasWaiting: Bool, isDrained: Bool, tellers: Int) {
    self.isTakingIn = isTakingIn
    self.hasWaiting = hasWaiting
    self.isDrained = isDrained
    self.tellers = tellers
  }
}

/// How long a step has taken.
public struct DrainSpan: Sendable, Equatable {
  /// The step that is over, or the present one.
  public var step: DrainStep
  /// From its beginning to its end, or until now.
  public var span: TimeSpan
}

/// The end of a bank, step by step.
public struct Drain: Sendable {
  /// The present step.
  public private(set) var step = DrainStep.closeDoor
  /// The steps that are over, in order.
  public private(set) var past: [DrainSpan] = []
  /// When the present step is cut short; nil where it has no bound.
  public private(set) var nextDeadline: MonotonicTime?

  private var began: MonotonicTime
  private var bound: TimeSpan?
  private var wanted = DrainStep.closeDoor
  private var hasBegun = false
  private var hasEnded = false

  /// How long tellers with free hands may take to go, at most and at least: they have a log to finish.
  public static let leaveGrace: ClosedRange<TimeSpan> = .milliseconds(100)...TimeSpan.seconds(3)

  /// A drain that begins now.
  public init(at now: MonotonicTime) { began = now }

  /// Somebody asks for the end: to go on to a step at once, which is no change where it has begun already; nil lets everyone
  /// be served. Each step may take as long as the shortest bound says that anybody has asked for.
  public mutating func ask(for step: DrainStep? = nil, bound: TimeSpan? = nil, at now: MonotonicTime) {
    guard !hasEnded else { return }
    if let step { wanted = max(wanted, step) }
    guard let bound else { return }
    self.bound = min(self.bound ?? bound, bound)
    let due = now + (self.step == .kill ? leaveBound : bound)
    nextDeadline = min(nextDeadline ?? due, due)
  }

  /// Somebody asks for the step after the present one.
  public mutating func askFurther(at now: MonotonicTime) { ask(for: step.next, at: now) }

  /// The spans of all steps, the present one up to now.
  public func spans(at now: MonotonicTime) -> [DrainSpan] {
    past + [DrainSpan(step: step, span: now.since(began))]
  }

  /// Looks at the bank and says what is to be done, in order; nothing where there is only to wait.
  public mutating func look(at sight: DrainSight, now: MonotonicTime) -> [DrainAction] {
    guard !hasEnded else { return [] }
    var actions: [DrainAction] = []
    if !hasBegun {
      hasBegun = true
      actions += [.begin(.closeDoor), .closeDoor]
    }
    while let leaving = farewell(sight, now) {
      guard let next = step.next else {
        (hasEnded, nextDeadline) = (true, nil)
        return actions + leaving
      }
      past.append(DrainSpan(step: step, span: now.since(began)))
      step = next
      began = now
      nextDeadline = next == .kill ? now + leaveBound : bound.map { now + $0 }
      actions += next == .kill ? [.begin(next)] + leaving + [.dismiss] : leaving + [.begin(next)]
    }
    if step == .kill, let due = nextDeadline, due <= now {
      nextDeadline = nil
      actions.append(.killRest)
    }
    return actions
  }

  /// What is to be done at the end of the present step; nil where it is not over.
  private func farewell(_ sight: DrainSight, _ now: MonotonicTime) -> [DrainAction]? {
    let isOver = wanted > step || nextDeadline.map { $0 <= now } == true
    switch step {
    case .closeDoor: return sight.isTakingIn ? isOver ? [.turnAway] : nil : []
    // Also where nobody waits any more: who is at a window and cannot be begun need not stay there either.
    case .serveWaiting: return isOver ? [.leaveWaiting] : sight.hasWaiting ? nil : []
    case .finishServing: return sight.isDrained ? [] : isOver ? [.takeBack] : nil
    case .kill: return sight.tellers == 0 ? [.end] : nil
    }
  }

  private var leaveBound: TimeSpan {
    min(max(bound ?? Self.leaveGrace.upperBound, Self.leaveGrace.lowerBound), Self.leaveGrace.upperBound)
  }
}
