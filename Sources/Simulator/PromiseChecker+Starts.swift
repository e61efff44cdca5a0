// Owns what must be true of services that count the attempts at a customer (`max_attempts`): by the core's words, that nobody
// begins before it is on disk, and by what the workers have seen, that nobody begins more often than may be.
// Invariant: the second count knows nothing of the first, and outlives every coordinator.
import BankModel
import QueueCore
import Time

extension PromiseChecker {
  func countsAttempts(of service: Service) -> Bool { policy[service.index].maxAttempts != nil }

  /// Whether no attempt is left.
  func hasNoAttemptLeft(_ customer: Customer) -> Bool {
    policy[customer.service.index].maxAttempts.map { customer.begun >= $0 } ?? false
  }

  /// Follows a change by which somebody leaves the line to begin, or comes back who has not begun; false for any other.
  func followStart(_ customer: Customer) -> Bool {
    let ticket = customer.ticket
    if customer.isBegun {
      guard var known = view.customers[ticket], view.states[ticket] == .waiting,
        !view.newcomers.contains(ticket)
      else {
        violate(.attempt, "ticket \(ticket) is to begin, and does not wait")
        return true
      }
      (known.begun, known.isBegun) = (known.begun + 1, true)
      if known != customer || hasNoAttemptLeft(view.customers[ticket] ?? known) {
        violate(.tooManyAttempts, "ticket \(ticket) is to begin as \(customer), and is \(known)")
      }
      let first = view.first(of: customer.service)
      if first != ticket {
        violate(.order, "ticket \(ticket) is to begin, and ticket \(first ?? 0) stands first")
      }
      _ = view.leaveLine(customer)
      (view.customers[ticket], view.states[ticket]) = (customer, .serving)
      starting[ticket] = customer
      return true
    }
    guard let marked = starting.removeValue(forKey: ticket) else { return false }
    for place in seals.indices { seals[place].starting.remove(ticket) }
    takeBack(marked)
    if view.customers[ticket] != customer {
      violate(.attempt, "ticket \(ticket) has not begun, and comes back with other counts: \(customer)")
    }
    return true
  }

  private func takeBack(_ marked: Customer) {
    var customer = marked
    (customer.begun, customer.isBegun) = (customer.begun - 1, false)
    (view.customers[customer.ticket], view.states[customer.ticket]) = (customer, .waiting)
    view.stand(customer)
  }

  /// The disk is full: nobody begins.
  func takeBackStarts() {
    for customer in starting.values { takeBack(customer) }
    starting.removeAll()
  }

  /// An attempt is recorded that a coordinator of before had begun.
  func recordLost(_ attempt: Attempt) {
    let fall = falls.takeUnrecorded(TicketName(day: view.day, ticket: attempt.ticket))
    guard var customer = view.customers[attempt.ticket], customer.isBegun || fall != nil,
      view.states[attempt.ticket] == .waiting, attempt.number == customer.attempts + 1,
      view.leaveLine(customer)
    else { return violate(.attempt, "ticket \(attempt.ticket): an attempt is lost that was not made") }
    customer.attempts += 1
    customer.isBegun = false
    view.customers[customer.ticket] = customer
    step.afloat.append(customer.ticket)
    step.verdict.isDead[customer.ticket] = hasNoAttemptLeft(customer)
    if let fall { step.fallen[customer.ticket] = fall }
  }

  /// An operator lets somebody begin anew.
  func broughtBack(_ customer: Customer) {
    world.foreign.begun.bringBack(TicketName(day: view.day, ticket: customer.ticket))
    if customer.begun != 0 || customer.isBegun {
      violate(.deadLetter, "ticket \(customer.ticket) is brought back with its old attempts")
    }
  }
}

/// How often work was begun, as those know who begin it: over all coordinators.
struct BegunAttempts {
  private struct Count {
    var begun = 0
    var isFreshAgain = 0
    var givenBack = 0
  }
  private var counts: [TicketName: Count] = [:]

  /// How many more than may be have begun, after one more has; 0 or less where all is well.
  mutating func begin(_ name: TicketName, most: Int) -> Int {
    counts[name, default: Count()].begun += 1
    let count = counts[name, default: Count()]
    return count.begun - count.givenBack - most * (1 + count.isFreshAgain)
  }

  /// Whoever gives somebody back has begun nothing.
  mutating func giveBack(_ name: TicketName) { counts[name, default: Count()].givenBack += 1 }
  mutating func bringBack(_ name: TicketName) { counts[name, default: Count()].isFreshAgain += 1 }
}

extension Simulation {
  /// A worker was given a customer, and may begin.
  func noteBegun(_ name: TicketName) {
    guard let most = plan.foreign.maxAttempts else { return }
    let excess = foreign.begun.begin(name, most: Int(most))
    if excess > 0 {
      violate(.tooManyAttempts, "ticket \(name.ticket) begins once more, and may begin \(most) times")
    }
  }
}
