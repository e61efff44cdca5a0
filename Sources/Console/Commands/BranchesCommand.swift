// Owns `branches`: who works beside this branch in a bank whose books several coordinators share, once or as it changes.
// Invariant: away from a terminal, where it is followed, a table or a document is printed only when something has changed beside
// the leases, which run out and are renewed all the time.
// Failure: CommandError; a bank that has its books in its home has no branches, which is refused.
import Posix
import Time
import Wire

enum BranchesCommand {
  static func run(_ session: Session) throws(CommandError) {
    guard session.invocation.flag("watch") else { return try show(try branches(session), session) }
    var last: [BranchReport]?
    while true {
      let now: [BranchReport]
      do throws(CommandError) { now = try branches(session) } catch {
        // Whoever has looked on sees the bank close without an error.
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

  /// One branch of the bank, for those who ask for it by its number.
  static func branch(_ number: Int64, _ session: Session) throws(CommandError) -> BranchReport {
    let branches = try branches(session)
    guard let branch = branches.first(where: { $0.number == number }) else {
      throw .complaint(
        .noSuchBranch, session.words.noSuchBranch(number, among: branches.map(\.number)))
    }
    return branch
  }

  private static func branches(_ session: Session) throws(CommandError) -> [BranchReport] {
    try CoordinatorClient.converse(session) { coordinator throws(CommandError) in
      try coordinator.answer(to: .branches).branches
    }
  }

  static func show(_ branches: [BranchReport], _ session: Session) throws(CommandError) {
    try session.show(
      .branches(branches),
      or: BranchesPicture(
        branches: branches, words: session.words, palette: session.output.palette, columns: session.columns
      ).lines)
  }
}

extension CommandError {
  /// Whether there is no bank to talk to any more.
  fileprivate var saysClosed: Bool {
    switch self {
    case .failure(let failure): failure.code == .notOpen
    case .control(.notOpen): true
    default: false
    }
  }
}

extension BranchReport {
  /// What is the same until something happens.
  var still: BranchReport {
    var still = self
    (still.leaseMilliseconds, still.rate) = (0, nil)
    return still
  }
}

extension ControlAnswer {
  var branches: [BranchReport] {
    get throws(CommandError) { if case .branches(let branches) = self { branches } else { throw unexpected } }
  }
}
