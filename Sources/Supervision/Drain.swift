// Decision logic for closing a bank: four named steps in a fixed order. The last one has a time limit even if none was
// requested. The input is the state of the bank with a time, the output is the list of actions.
//
// stop accepting -> serve waiting -> finish serving -> kill -> end
//
// Each of the first three steps ends when its work is done, when its time limit is reached, or when a later step is
// requested. In the last two cases its customers may be unfinished: requests are refused, waiting customers stay for
// the next start, and customers at a window return to the queue. The last step ends when all processes have exited;
// those that are left at its time limit are killed.
// Invariant: a drain that reaches its end has started every step once and in this order.

import BankModel
import Time

/// Action that a drain requires.
public enum DrainAction: Sendable, Equatable {
  /// A step starts: notify subscribers.
  case begin(DrainStep)
  /// Accept no new customers.
  case stopAccepting
  /// Refuse the requests that are partly admitted.
  case turnAway
  /// Assign no more customers: the waiting ones stay for the next start.
  case stopAssigning
  /// Kill the workers that serve a customer: these customers return to the head of the line.
  case returnServing
  /// Ask all workers and services to exit.
  case dismiss
  /// Kill the processes that have not exited within the time limit of the last step.
  case killRemaining
  /// No process is left: end the bank, and close the day if no customer is left.
  case end
}

/// State of the bank, as far as a drain needs it.
public struct DrainInput: Sendable, Equatable {
  /// True if a request for tickets is partly admitted.
  public var isTakingIn: Bool
  /// True if a customer waits who can be served.
  public var hasWaiting: Bool
  /// True if no customer is at a window, and no customer will be assigned to one.
  public var isDrained: Bool
  /// Number of processes that have to exit.
  public var tellers: Int

  public init(isTakingIn: Bool, hasWaiting: Bool, isDrained: Bool, tellers: Int) {
    self.isTakingIn = isTakingIn
    self.hasWaiting = hasWaiting
    self.isDrained = isDrained
    self.tellers = tellers
  }
}

/// Duration of a step.
public struct DrainStepDuration: Sendable, Equatable {
  /// The step, finished or current.
  public var step: DrainStep
  /// Time from the start of the step to its end, or until now.
  public var span: TimeSpan
}

/// State machine of closing a bank.
public struct Drain: Sendable {
  /// The current step.
  public private(set) var step = DrainStep.stopAccepting
  /// The finished steps, in order.
  public private(set) var past: [DrainStepDuration] = []
  /// Time at which the limit of the current step is reached; nil for none.
  public private(set) var nextDeadline: MonotonicTime?

  private var began: MonotonicTime
  /// Requested time limit of each step; nil for none.
  private var bound: TimeSpan?
  /// Latest step that was requested; the drain does not wait in an earlier one.
  private var wanted = DrainStep.stopAccepting
  private var hasBegun = false
  private var hasEnded = false

  /// Range of the time limit of the last step: workers still have to write their logs.
  public static let exitGrace: ClosedRange<TimeSpan> = .milliseconds(100)...TimeSpan.seconds(3)

  /// A drain that starts now.
  public init(at now: MonotonicTime) { began = now }

  /// Requests that the drain cuts short all steps before `step`; nil for none. `bound` limits the duration of each
  /// step; the shortest bound of all requests applies.
  public mutating func ask(for step: DrainStep? = nil, bound: TimeSpan? = nil, at now: MonotonicTime) {
    guard !hasEnded else { return }
    if let step { wanted = max(wanted, step) }
    guard let bound else { return }
    self.bound = min(self.bound ?? bound, bound)
    let due = now + (self.step == .kill ? exitTimeLimit : bound)
    nextDeadline = min(nextDeadline ?? due, due)
  }

  /// Requests the step after the current one.
  public mutating func requestNextStep(at now: MonotonicTime) { ask(for: step.next, at: now) }

  /// Durations of the steps so far, the current one up to now.
  public func spans(at now: MonotonicTime) -> [DrainStepDuration] {
    past + [DrainStepDuration(step: step, span: now.since(began))]
  }

  /// Returns the actions for the current state, in order; empty if the drain only has to wait.
  public mutating func evaluate(at input: DrainInput, now: MonotonicTime) -> [DrainAction] {
    guard !hasEnded else { return [] }
    var actions: [DrainAction] = []
    if !hasBegun {
      hasBegun = true
      actions += [.begin(.stopAccepting), .stopAccepting]
    }
    while let leaving = actionsAtStepEnd(input, now) {
      guard let next = step.next else {
        (hasEnded, nextDeadline) = (true, nil)
        return actions + leaving
      }
      past.append(DrainStepDuration(step: step, span: now.since(began)))
      step = next
      began = now
      nextDeadline = next == .kill ? now + exitTimeLimit : bound.map { now + $0 }
      actions += next == .kill ? [.begin(next)] + leaving + [.dismiss] : leaving + [.begin(next)]
    }
    if step == .kill, let due = nextDeadline, due <= now {
      nextDeadline = nil
      actions.append(.killRemaining)
    }
    return actions
  }

  /// Actions at the end of the current step; nil if it is not finished.
  private func actionsAtStepEnd(_ input: DrainInput, _ now: MonotonicTime) -> [DrainAction]? {
    let isOver = wanted > step || nextDeadline.map { $0 <= now } == true
    switch step {
    case .stopAccepting: return input.isTakingIn ? isOver ? [.turnAway] : nil : []
    // If the step is cut short, this action follows even if no customer waits: a prefetched customer whose work cannot
    // start need not stay at a window.
    case .serveWaiting: return isOver ? [.stopAssigning] : input.hasWaiting ? nil : []
    case .finishServing: return input.isDrained ? [] : isOver ? [.returnServing] : nil
    case .kill: return input.tellers == 0 ? [.end] : nil
    }
  }

  /// Time limit of the last step: the requested limit, within ``exitGrace``.
  private var exitTimeLimit: TimeSpan {
    min(max(bound ?? Self.exitGrace.upperBound, Self.exitGrace.lowerBound), Self.exitGrace.upperBound)
  }
}
