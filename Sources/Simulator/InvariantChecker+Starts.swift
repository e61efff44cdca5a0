// Checks of services that count attempts (`max_attempts`). The core's effects must not start an attempt before it is on
// disk. The workers' own counts must not show more starts of a customer than allowed.
import BankModel
import QueueCore
import Time

extension InvariantChecker {
  /// True if the service limits the started attempts of a customer (`max_attempts`).
  func countsAttempts(of service: Service) -> Bool { policy[service.index].maxAttempts != nil }

  func hasNoAttemptLeft(_ customer: Customer) -> Bool {
    policy[customer.service.index].maxAttempts.map { customer.startedAttempts >= $0 } ?? false
  }

  /// Applies a change by which a customer leaves its line to start, or returns without a start. Returns false for any
  /// other change.
  func trackStart(_ customer: Customer) -> Bool {
    let ticket = customer.ticket
    if customer.isAttemptRunning {
      guard var known = view.customers[ticket], view.states[ticket] == .waiting,
        !view.newcomers.contains(ticket)
      else {
        violate(.attempt, "ticket \(ticket) is to start but is not waiting")
        return true
      }
      (known.startedAttempts, known.isAttemptRunning) = (known.startedAttempts + 1, true)
      if known != customer || hasNoAttemptLeft(view.customers[ticket] ?? known) {
        violate(.tooManyAttempts, "ticket \(ticket) is to start as \(customer), but is \(known)")
      }
      let first = view.first(of: customer.service)
      if first != ticket {
        violate(.order, "ticket \(ticket) is to start, but ticket \(first ?? 0) is first")
      }
      _ = view.leaveLine(customer)
      (view.customers[ticket], view.states[ticket]) = (customer, .serving)
      starting[ticket] = customer
      return true
    }
    guard let marked = starting.removeValue(forKey: ticket) else { return false }
    for place in sealedTransactions.indices { sealedTransactions[place].starting.remove(ticket) }
    takeBack(marked)
    if view.customers[ticket] != customer {
      violate(.attempt, "ticket \(ticket) has not started, but returns with other counts: \(customer)")
    }
    return true
  }

  /// Puts a customer that was about to start back into its line, with its former counts.
  private func takeBack(_ marked: Customer) {
    var customer = marked
    (customer.startedAttempts, customer.isAttemptRunning) = (customer.startedAttempts - 1, false)
    (view.customers[customer.ticket], view.states[customer.ticket]) = (customer, .waiting)
    view.addToLine(customer)
  }

  /// Puts all customers that are about to start back into their lines, because the disk is full.
  func revertStarts() {
    for customer in starting.values { takeBack(customer) }
    starting.removeAll()
  }

  /// Checks that an attempt which an earlier coordinator started may be recorded as lost.
  func recordLost(_ attempt: Attempt) {
    let fall = coordinatorCrashes.removeUnrecorded(TicketID(day: view.day, ticket: attempt.ticket))
    guard var customer = view.customers[attempt.ticket], customer.isAttemptRunning || fall != nil,
      view.states[attempt.ticket] == .waiting, attempt.number == customer.attempts + 1,
      view.leaveLine(customer)
    else { return violate(.attempt, "ticket \(attempt.ticket): a lost attempt did not take place") }
    customer.attempts += 1
    customer.isAttemptRunning = false
    view.customers[customer.ticket] = customer
    step.unplaced.append(customer.ticket)
    step.verdict.isDead[customer.ticket] = hasNoAttemptLeft(customer)
    if let fall { step.lossCounts[customer.ticket] = fall }
  }

  /// Checks that a requeued dead letter counts no started attempts, and allows it `max_attempts` starts again.
  func attemptsReset(_ customer: Customer) {
    world.externalWorkers.startedAttempts.allowRestart(TicketID(day: view.day, ticket: customer.ticket))
    if customer.startedAttempts != 0 || customer.isAttemptRunning {
      violate(.deadLetter, "ticket \(customer.ticket) is requeued with its old attempts")
    }
  }
}

/// Number of starts of each customer, counted by the workers over all coordinators.
struct StartCounts {
  /// Starts of one customer, requeues that allow as many starts again, and returns without a start.
  private struct Count {
    var startedAttempts = 0
    var allowedByRestart = 0
    var returnedUnstarted = 0
  }
  private var counts: [TicketID: Count] = [:]

  /// Counts one more start. Returns the number of starts above the limit `most`; 0 or less is valid.
  mutating func begin(_ name: TicketID, most: Int) -> Int {
    counts[name, default: Count()].startedAttempts += 1
    let count = counts[name, default: Count()]
    return count.startedAttempts - count.returnedUnstarted - most * (1 + count.allowedByRestart)
  }

  /// Subtracts a start, because the worker has returned the customer without starting its work.
  mutating func returnUnstarted(_ name: TicketID) { counts[name, default: Count()].returnedUnstarted += 1 }
  /// Allows a customer as many starts again, after it was requeued.
  mutating func allowRestart(_ name: TicketID) { counts[name, default: Count()].allowedByRestart += 1 }
}

extension Simulation {
  /// Counts that a worker has received a customer, whose work may start now.
  func recordStart(_ name: TicketID) {
    guard let most = plan.externalWorkers.maxAttempts else { return }
    let excess = externalWorkers.startedAttempts.begin(name, most: Int(most))
    if excess > 0 {
      violate(.tooManyAttempts, "ticket \(name.ticket) starts again, but may start \(most) times")
    }
  }
}
