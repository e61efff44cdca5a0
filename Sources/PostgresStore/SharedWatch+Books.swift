// Detection, by an open branch, of a replaced database: a different database, an older state of the same one, or a
// copy without the last transactions.
// Invariant: missing data is reported once. After the report the branch owns no customers any more.
import BankModel
import Posix
import Postgres
import QueueCore

extension SharedWatch {
  // MARK: - Restored database

  /// Handles a database that was restored to an older state while the branch was open.
  func wentBack(day: BusinessDay? = nil, ticket: TicketNumber? = nil, commits: Int64? = nil) {
    guard let known = context.known else { return }
    var found = known
    (found.day, found.ticket) = (day ?? known.day, ticket ?? known.ticket)
    found.commits = commits ?? known.commits
    context.known = found
    context.tell(.older(OlderBooks(known: known, found: found)))
    replaced()
  }

  /// - Returns: false if this is not the database that the branch knows, or an older state of it.
  func recognize(_ look: SharedLook) -> Bool {
    guard let known = context.known, !Kernel.makes("usesAnyBooks") else { return true }
    guard look.books == known.books else {
      // The next connection determines which database it is.
      replaced()
      return false
    }
    guard !known.isAhead(day: look.day, ticket: look.issued) else {
      wentBack(day: look.day, ticket: look.issued)
      return false
    }
    guard known.day != look.day || known.ticket != look.issued || toldMark != known else { return true }
    var mark = known
    (mark.day, mark.ticket) = (look.day, look.issued)
    (context.known, toldMark) = (mark, mark)
    context.tell(.known(mark))
    return true
  }

  // MARK: - Lost transactions

  func findForgotten(_ branch: PostgresBranch) {
    let numbers = context.numbers.recent
    guard !numbers.isEmpty else { return }
    _ = link.send(branch.kept(numbers)) { [weak self] answer in
      guard let self, self.context.branch == branch, case .done(let kept) = answer else { return }
      let gone = self.context.numbers.missing(of: numbers, found: kept)
      guard !gone.isEmpty else { return }
      self.context.numbers.forget(gone)
      self.context.tell(.forgotten(commits: gone))
      self.replaced()
    }
  }
}
