// Crashes of the coordinator, which count for the customers who were in hand: an attempt that was lost with a coordinator is
// recorded by the next one, when its customer's turn comes. From the third such death on each counts as a crash of the attempt.
//
// A customer can be innocent: an operator has killed the coordinator, or another customer's work has. So the first two deaths
// are held against no customer. From the second on the customer comes after a pause, is alone in its worker's hands, and is the only
// one of its kind in any hands: the next death shows which of them is to blame. A death with no customer in hand is no
// customer's fault, and then the shell forgets those before it.
//
// Invariants: a lost attempt is recorded once, before its customer is handed out again. A customer whose coordinator dies each time
// is handed out at most `2 + maxCrashes` times.

import BankModel
import Time

/// How often a coordinator has died with a customer in hand.
public struct CoordinatorFall: Sendable, Equatable {
  /// Deaths, at least 1.
  public var count: Int
  /// Whether the attempt of the last one is not recorded yet.
  public var isUnrecorded: Bool

  public init(count: Int, isUnrecorded: Bool) { (self.count, self.isUnrecorded) = (count, isUnrecorded) }

  /// Deaths of the coordinator that are held against no customer.
  public static let spared = 2
  /// Whether another death would count as a crash, so that the customer is served apart from others.
  var isSuspect: Bool { count >= Self.spared }
}

extension QueueMachine {
  /// A customer has left the line who was counted, or was in hand when a coordinator died. A lost attempt is recorded. A customer
  /// without an attempt left is put aside, and a suspect may be put off.
  ///
  /// - Returns: the customer, who may be handed out; nil for one who was put aside or off.
  mutating func reconsider(_ customer: Customer, into effects: inout [QueueEffect]) -> Customer? {
    var customer = customer
    let fall = falls[customer.ticket]
    let isLost = customer.isBegun || fall?.isUnrecorded == true
    let rules = policy[customer.service.index]
    let unknown = Window.unknown(customer.service)
    var isCondemned = false
    if isLost {
      customer.attempts += 1
      customer.endAttempt()
      falls[customer.ticket]?.isUnrecorded = false
      if let fall, fall.isUnrecorded, fall.count > CoordinatorFall.spared {
        customer.crashes = max(customer.crashes + 1, Int32(clamping: fall.count - CoordinatorFall.spared))
        isCondemned = customer.crashes >= rules.maxCrashes
      }
      stage(
        .record(
          Attempt(
            day: books.day, ticket: customer.ticket, number: customer.attempts, window: unknown,
            generation: 0,
            pid: 0, startedAt: lastMoment.wall, endedAt: lastMoment.wall, end: .lost, processEnd: nil)),
        into: &effects)
    }
    if isCondemned || customer.hasSpent(rules) {
      bury(customer, unknown, .lost, nil, into: &effects)
      return nil
    }
    if let fall, fall.isSuspect, isLost || hasSuspectInHand {
      let pause = rules.pause(
        afterFailures: Int32(clamping: fall.count - CoordinatorFall.spared + 1), of: customer.ticket,
        on: books.day, attempt: customer.attempts)
      putOff(customer, for: pause, at: lastMoment, into: &effects)
      return nil
    }
    if isLost { stage(.update(customer), into: &effects) }
    return customer
  }

  /// Whether a customer is to be alone in the hands of a worker: the worker or the coordinator has died with it before.
  func isSuspect(_ customer: Customer) -> Bool {
    customer.isSuspect || !falls.isEmpty && falls[customer.ticket]?.isSuspect == true
  }

  /// Whether a window has a customer in hand who is to be alone there.
  func servesAlone(_ windowState: WindowState) -> Bool {
    windowState.servesASuspect
      || !falls.isEmpty && windowState.isServing
        && windowState.customer.map { falls[$0.ticket]?.isSuspect == true } == true
  }

  /// Whether any window has a customer in hand with whom the coordinator has died too often.
  private var hasSuspectInHand: Bool {
    windows.contains {
      $0.contains { windowState in falls.contains { $0.value.isSuspect && windowState.holds($0.key) } }
    }
  }

  /// A customer who leaves the queue, or is put aside, takes its falls along.
  mutating func forgetFalls(with change: StoreChange) {
    switch change {
    case .finish(let customer, _, _), .bury(let customer): falls[customer.ticket] = nil
    case .cancelEveryone: falls.removeAll()
    default: break
    }
  }
}
