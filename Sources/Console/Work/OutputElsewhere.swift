// Owns where the output of a command is that another branch of a shared bank has served: it stays in that branch's home.
// Failure: a bank that cannot be asked for its branches has none that could be named.

import Wire

/// Another branch, which has served a ticket.
struct OutputElsewhere {
  let number: Int64
  /// Its name and its machine; nil if it has joined so recently that this branch has not seen it yet.
  let report: BranchReport?

  /// The branch that has served a ticket last; nil if that is this one, or the bank has its books in its home.
  static func branch(of ticket: TicketReport, _ coordinator: CoordinatorClient) -> OutputElsewhere? {
    guard let number = ticket.receipt?.branch ?? ticket.attempts.last?.branch,
      let branches = try? coordinator.answer(to: .branches).branches
    else { return nil }
    let report = branches.first { $0.number == number }
    return report?.isThis == true ? nil : OutputElsewhere(number: number, report: report)
  }
}
