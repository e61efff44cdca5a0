// Owns where the output of a command is that another branch of a shared bank has served: it stays in that branch's home.
// Failure: a bank that cannot be asked for its branches has none that could be named.

import Wire

enum OutputElsewhere {
  /// The branch that has served a ticket last; nil if that is this one, or the bank has its books in its home.
  static func branch(of ticket: TicketReport, _ coordinator: CoordinatorClient) -> BranchReport? {
    guard let number = ticket.receipt?.branch ?? ticket.attempts.last?.branch,
      let branches = try? coordinator.answer(to: .branches).branches
    else { return nil }
    return branches.first { $0.number == number && !$0.isThis }
  }
}
