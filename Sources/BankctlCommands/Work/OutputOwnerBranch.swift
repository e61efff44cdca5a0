// The branch of a shared bank that has the output of a command. Output stays in the home of the branch that
// has served the ticket.
// Errors: none; the result is nil if the bank does not return its branches.

import Wire

/// The branch whose home has the output of a ticket's command, because it has served the ticket.
struct OutputOwnerBranch {
  let number: Int64
  /// Name and host of the branch; nil if the branch of this home does not know them.
  let report: BranchReport?

  /// The branch that has served a ticket last; nil if it is unknown or the branch of this home.
  static func branch(of ticket: TicketReport, _ coordinator: CoordinatorClient) -> OutputOwnerBranch? {
    guard let number = ticket.receipt?.branch ?? ticket.attempts.last?.branch,
      let branches = try? coordinator.answer(to: .branches).branches
    else { return nil }
    let report = branches.first { $0.number == number }
    return report?.isThis == true ? nil : OutputOwnerBranch(number: number, report: report)
  }
}
