// `branches`: the branches that share the database of this bank, once or again after changes.
// Invariant: with `--watch`, a table or document is printed only if something besides leases and rates has changed.
// Errors: `CommandError`. A bank with a database in its home has no branches; the command is refused.
import Posix
import Time
import Wire

/// Implementation of `bankctl branches`.
enum BranchesCommand {
  static func run(_ session: Session) throws(CommandError) {
    guard session.invocation.flag("watch") else { return try show(try branches(session), session) }
    var last: [BranchReport]?
    while true {
      let now: [BranchReport]
      do throws(CommandError) { now = try branches(session) } catch {
        // If the bank closes while it is followed, the command ends without an error.
        if last != nil, error.saysClosed { return }
        throw error
      }
      if now.map(\.still) != last {
        if last != nil, !session.asJSON { try session.output.line("") }
        try show(now, session)
        last = now.map(\.still)
      }
      Pause.ofASecond()
    }
  }

  /// Returns the branch with this number, or throws `no_such_branch`.
  static func branch(_ number: Int64, _ session: Session) throws(CommandError) -> BranchReport {
    let branches = try branches(session)
    guard let branch = branches.first(where: { $0.number == number }) else {
      throw .commandFailure(
        .noSuchBranch, session.messages.noSuchBranch(number, among: branches.map(\.number)))
    }
    return branch
  }

  private static func branches(_ session: Session) throws(CommandError) -> [BranchReport] {
    try CoordinatorClient.withOpenBank(session) { coordinator throws(CommandError) in
      try coordinator.answer(to: .branches).branches
    }
  }

  /// Prints a table of branches, or JSON.
  static func show(_ branches: [BranchReport], _ session: Session) throws(CommandError) {
    try session.show(
      .branches(branches),
      or: BranchesRenderer(
        branches: branches, messages: session.messages, palette: session.output.palette,
        columns: session.columns
      ).lines)
  }
}

extension CommandError {
  /// True if the error means that the bank is closed.
  fileprivate var saysClosed: Bool {
    switch self {
    case .failure(let failure): failure.code == .notOpen
    case .control(.notOpen): true
    default: false
    }
  }
}

extension BranchReport {
  /// The report without the remaining lease and the rate, which change continuously.
  var still: BranchReport {
    var still = self
    (still.leaseMilliseconds, still.rate) = (0, nil)
    return still
  }
}

extension ControlAnswer {
  /// The branches in the answer; throws if the answer is of another kind.
  var branches: [BranchReport] {
    get throws(CommandError) { if case .branches(let branches) = self { branches } else { throw unexpected } }
  }
}
