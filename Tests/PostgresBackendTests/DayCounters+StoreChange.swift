// The effect of a change on the counts of a day in a bank's own database, as the queue counts it. A database
// that several branches share counts by itself.

import BankModel
import QueueCore

extension DayCounters {
  mutating func count(_ change: StoreChange) {
    switch change {
    case .insert(let customer):
      issued += 1
      waiting[customer.line] += 1
    case .insertDelayed(let customer, _):
      issued += 1
      delay(of: customer.service)
    case .finish(let customer, let state, let receipt):
      leave(state, customer)
      if receipt.outcome.isFinishedByWorker {
        served += 1
        servedByService[customer.service.index] += 1
      } else {
        cancelled += 1
      }
    case .postpone(let customer, _):
      leave(.waiting, customer)
      delay(of: customer.service)
    case .bury(let customer):
      leave(.waiting, customer)
      dead += 1
    case .revive(let customer, let state):
      leave(state, customer)
      waiting[customer.line] += 1
    default: break
    }
  }

  private mutating func leave(_ state: CustomerState, _ customer: Customer) {
    switch state {
    case .delayed: delay(-1, of: customer.service)
    case .dead: dead -= 1
    default: waiting[customer.line] -= 1
    }
  }
}
