// Effect of coordinator crashes on the customers that were assigned at the time. The next coordinator records the lost
// attempt when the customer is next in line. Crashes after the first `tolerated` ones also count as crashes of the
// customer.
//
// The customer may be innocent: an operator may have killed the coordinator, or the work of another customer may have
// crashed it. So the first crashes count for no customer. After them the customer is a suspect: it is delayed, it is
// served alone at its worker, and no other suspect is assigned at the same time. Another crash then points to this
// customer.
//
// Invariants: a lost attempt is recorded before its customer is assigned again. A customer that crashes the coordinator
// each time is assigned at most `tolerated + maxCrashes` times, if the caller reports each of these crashes.

import BankModel
import Time

/// Number of coordinator crashes while one customer was assigned.
public struct CoordinatorCrashes: Sendable, Equatable {
  /// Number of crashes, at least 1.
  public var count: Int
  /// True if the attempt of the last crash is not recorded yet.
  public var isUnrecorded: Bool

  public init(count: Int, isUnrecorded: Bool) { (self.count, self.isUnrecorded) = (count, isUnrecorded) }

  /// Number of coordinator crashes that count for no customer.
  public static let tolerated = 2
  /// True if one more crash would count for the customer, so that it must be served alone.
  var isSuspect: Bool { count >= Self.tolerated }
}

extension QueueMachine {
  /// Returns a customer that was taken out of its line if it may be assigned. Returns nil if it became a dead letter or
  /// was delayed as a suspect of crashes. Records a lost attempt.
  mutating func checkBeforeAssignment(_ customer: Customer, into effects: inout [QueueEffect]) -> Customer? {
    var customer = customer
    let fall = coordinatorCrashes[customer.ticket]
    let isLost = customer.isAttemptRunning || fall?.isUnrecorded == true
    let rules = policy[customer.service.index]
    let unknown = Window.unknown(customer.service)
    var isCondemned = false
    if isLost {
      customer.attempts += 1
      customer.endAttempt()
      coordinatorCrashes[customer.ticket]?.isUnrecorded = false
      if let fall, fall.isUnrecorded, fall.count > CoordinatorCrashes.tolerated {
        customer.crashes = max(
          customer.crashes + 1, Int32(clamping: fall.count - CoordinatorCrashes.tolerated))
        isCondemned = customer.crashes >= rules.maxCrashes
      }
      stage(
        .record(
          Attempt(
            day: dayCounters.day, ticket: customer.ticket, number: customer.attempts, window: unknown,
            generation: 0,
            pid: 0, startedAt: lastMoment.wall, endedAt: lastMoment.wall, end: .lost, processEnd: nil)),
        into: &effects)
    }
    if isCondemned || customer.hasExhaustedAttempts(rules) {
      deadLetter(customer, unknown, .lost, nil, into: &effects)
      return nil
    }
    if let fall, fall.isSuspect, isLost || isServingSuspect {
      let pause = rules.pause(
        afterFailures: Int32(clamping: fall.count - CoordinatorCrashes.tolerated + 1), of: customer.ticket,
        on: dayCounters.day, attempt: customer.attempts)
      postpone(customer, for: pause, at: lastMoment, into: &effects)
      return nil
    }
    if isLost { stage(.update(customer), into: &effects) }
    return customer
  }

  /// True if a crash counts for the customer, or if the coordinator has crashed at least
  /// ``CoordinatorCrashes/tolerated`` times while the customer was assigned.
  func isSuspect(_ customer: Customer) -> Bool {
    customer.isSuspect
      || !coordinatorCrashes.isEmpty && coordinatorCrashes[customer.ticket]?.isSuspect == true
  }

  /// True if the worker at the window gets no further customer, because its current one is a suspect.
  func servesAlone(_ windowState: WindowState) -> Bool {
    windowState.servesSuspect
      || !coordinatorCrashes.isEmpty && windowState.isServing
        && windowState.customer.map { coordinatorCrashes[$0.ticket]?.isSuspect == true } == true
  }

  /// True if a window holds a customer that is a suspect because of coordinator crashes.
  private var isServingSuspect: Bool {
    windows.contains {
      $0.contains { windowState in
        coordinatorCrashes.contains { $0.value.isSuspect && windowState.holds($0.key) }
      }
    }
  }

  /// Discards the coordinator crashes of a customer that leaves the queue or becomes a dead letter, and those of all
  /// customers at a reset.
  mutating func discardCrashes(with change: StoreChange) {
    switch change {
    case .finish(let customer, _, _), .bury(let customer): coordinatorCrashes[customer.ticket] = nil
    case .cancelAllCustomers: coordinatorCrashes.removeAll()
    default: break
    }
  }
}
