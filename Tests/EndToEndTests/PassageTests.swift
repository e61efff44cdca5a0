// Commands sent while a bank opens or closes: the bank serves them, reports that it is not open, or they read the
// closed database; none fails.
import Glibc
import Testing

@Suite("Opening and closing", .serialized)
struct PassageTests {
  /// Commands that read always succeed; commands that need an open bank may exit with 3 (not open) or 75 (closing).
  private static let readers = [
    "audit", "receipts --day all", "tickets", "ticket 1 --day 1", "ledger", "account 1",
  ]
  private static let others = [
    "status", "wait", "pause loan", "resume loan", "scale loan=1", "reload", "enqueue 1", "enqueue 1 --key k",
    "cancel 1",
    "requeue --dead", "stock", "juice menu", "vending", "vending insert 1000",
  ]

  @Test("no command fails because the bank is opening or closing")
  func passage() throws {
    try withScratchBank { branch in
      try branch.start("--speed", "max")
      try branch.runSuccessfully("enqueue", "1", "--account", "1", "--wait")
      try branch.runSuccessfully("stop")
      let lookers = try Self.readers.map { try looker(branch, [$0], allowed: "0") }
      // A served ticket cannot be cancelled: exit code 5, or 4 on a new day.
      let callers = try [0, 1].map { part in
        try looker(
          branch, Self.others.enumerated().filter { $0.offset % 2 == part }.map(\.element),
          allowed: "0 3 4 5 75")
      }
      for _ in 1...4 {
        try branch.runSuccessfully("start", "--speed", "max", timeout: .seconds(60))
        try branch.runSuccessfully("stop", timeout: .seconds(60))
      }
      for looker in lookers + callers {
        #expect(looker.lines == [], "commands with unexpected exit codes")
        looker.end()
      }
    }
  }

  /// Runs commands repeatedly, and prints those with another exit code than the allowed ones.
  private func looker(_ branch: ScratchBank, _ commands: [String], allowed: String) throws -> RunningProgram {
    let all = commands.map { "try \($0)" }.joined(separator: "; ")
    let script = """
      try() {
        said=$('\(Binaries.bankctl)' "$@" 2>&1 >/dev/null); code=$?
        case " \(allowed) " in *" $code "*) ;; *) echo "$code $*: $said" ;; esac
      }
      while :; do \(all); done
      """
    return try branch.launch(["-c", script], program: "/bin/sh")
  }
}
