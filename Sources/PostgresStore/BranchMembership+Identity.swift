// Detection, by an open branch, of a replaced database: a different database, an older state of the same one, or a
// copy without the last transactions.
// Invariant: after a report of missing data the branch owns no customers any more. When it joins again, it may report
// more of what is missing.
import BankModel
import Posix
import Postgres
import QueueCore

extension BranchMembership {
  // MARK: - Restored database

  /// Reports that the database was restored to an older state while the branch was open, and ends the epoch. The
  /// arguments are what was found.
  func handleOlderDatabase(day: BusinessDay? = nil, ticket: TicketNumber? = nil, commits: Int64? = nil) {
    guard let known = context.known else { return }
    var found = known
    (found.day, found.ticket) = (day ?? known.day, ticket ?? known.ticket)
    found.commits = commits ?? known.commits
    context.known = found
    context.report(.older(StoreRollback(known: known, found: found)))
    replaced()
  }

  /// Compares the database of a poll with the known one. Returns false if it is a different or an older one, else
  /// updates the known day and ticket.
  func recognize(_ poll: BankPoll) -> Bool {
    guard let known = context.known, !Mutant.usesAnyDatabase.isActive else { return true }
    guard poll.bankID == known.bankID else {
      // The next connection determines which database it is.
      replaced()
      return false
    }
    guard !known.isAhead(day: poll.day, ticket: poll.issued) else {
      handleOlderDatabase(day: poll.day, ticket: poll.issued)
      return false
    }
    guard known.day != poll.day || known.ticket != poll.issued || reportedIdentity != known else {
      return true
    }
    var mark = known
    (mark.day, mark.ticket) = (poll.day, poll.issued)
    (context.known, reportedIdentity) = (mark, mark)
    context.report(.known(mark))
    return true
  }

  // MARK: - Lost transactions

  /// Queries the recent commits of this epoch on a new connection. If the server has lost any, reports them and ends
  /// the epoch.
  func findLostTransactions(_ branch: PostgresBranch) {
    let numbers = context.numbers.recent
    guard !numbers.isEmpty else { return }
    _ = link.send(branch.stored(numbers)) { [weak self] answer in
      guard let self, self.context.branch == branch, case .done(let stored) = answer else { return }
      let gone = self.context.numbers.missing(of: numbers, found: stored)
      guard !gone.isEmpty else { return }
      self.context.numbers.removeLost(gone)
      self.context.report(.transactionsLost(commits: gone))
      self.replaced()
    }
  }
}
