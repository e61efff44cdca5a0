// The moments of opening and closing: whoever comes just then, with whatever command, is served by the bank, is told that
// it is not open, or reads the closed books, and never fails.
import Glibc
import Testing

@Suite("At the moment of opening and closing", .serialized)
struct PassageTests {
  /// Commands that read, which always can; and those that need an open bank, which may be told that it is not (3), or
  /// that it closes (75).
  private static let readers = [
    "audit", "receipts --day all", "tickets", "ticket 1 --day 1", "ledger", "account 1",
  ]
  private static let others = [
    "status", "wait", "pause loan", "resume loan", "scale loan=1", "reload", "enqueue 1", "enqueue 1 --key k",
    "cancel 1",
    "requeue --dead", "stock", "juice menu", "vending", "vending insert 1000",
  ]

  @Test("no command fails for having come while the bank opens or closes")
  func passage() throws {
    try withBranch { branch in
      try branch.start("--speed", "max")
      try branch.done("enqueue", "1", "--account", "1", "--wait")
      try branch.done("stop")
      let lookers = try Self.readers.map { try looker(branch, [$0], allowed: "0") }
      // A ticket that is served already is no ticket to be cancelled: exit code 5, and 4 on a new day.
      let callers = try [0, 1].map { part in
        try looker(
          branch, Self.others.enumerated().filter { $0.offset % 2 == part }.map(\.element),
          allowed: "0 3 4 5 75")
      }
      for _ in 1...4 {
        try branch.done("start", "--speed", "max", timeout: .seconds(60))
        try branch.done("stop", timeout: .seconds(60))
      }
      for looker in lookers + callers {
        #expect(looker.lines == [], "commands with exit codes that they should not have")
        looker.end()
      }
    }
  }

  /// Runs commands again and again, and writes down which ended with another code than those allowed.
  private func looker(_ branch: Branch, _ commands: [String], allowed: String) throws -> RunningProgram {
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
