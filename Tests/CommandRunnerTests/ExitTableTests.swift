// The meaning of a command's end. No process is started.
import CommandRunner
import Glibc
import Posix
import Testing
import Time

@Suite struct ExitTableTests {
  private func outcome(
    _ ending: Posix.ExitStatus.Termination, _ interruption: CommandOutcome.Interruption? = nil
  ) -> CommandOutcome {
    CommandOutcome(ending: ending, duration: .seconds(1), interruption: interruption)
  }

  @Test(
    "codes have the meanings of sysexits.h and of shells",
    arguments: [
      0: CommandVerdict.served, 1: .failed, 2: .failed, 64: .dead, 65: .dead, 66: .failed, 75: .later,
      125: .failed,
      126: .pause, 127: .pause, 128: .failed, 255: .failed,
    ] as [Int32: CommandVerdict])
  func codes(code: Int32, verdict: CommandVerdict) {
    #expect(ExitTable.standard.verdict(of: outcome(.code(code))) == verdict)
  }

  @Test("a signal is a crash, and so is an unknown end")
  func signals() {
    #expect(ExitTable.standard.verdict(of: outcome(.signal(SIGSEGV, coreDumped: true))) == .crash)
    #expect(ExitTable.standard.verdict(of: outcome(.unknown)) == .crash)
  }

  @Test("a command that was ended has not succeeded, whatever its exit code")
  func interrupted() {
    for ending in [Posix.ExitStatus.Termination.code(0), .code(126), .signal(SIGTERM, coreDumped: false)] {
      #expect(ExitTable.standard.verdict(of: outcome(ending, .timeout)) == .failed)
      #expect(ExitTable.standard.verdict(of: outcome(ending, .cancel)) == .cancelled)
    }
    #expect(outcome(.code(0), .timeout).isTimedOut)
    #expect(!outcome(.code(0), .cancel).isTimedOut)
  }

  @Test("a service can change all of it, and only for existing codes")
  func changed() {
    var table = ExitTable.standard
    let taken = [table.set(3, to: .later), table.set(0, to: .failed)]
    let refused = [table.set(256, to: .served), table.set(-1, to: .served)]
    #expect(taken == [true, true])
    #expect(refused == [false, false])
    (table.others, table.signals, table.timeouts) = (.dead, .failed, .later)
    #expect([3, 0, 75, 9].map { table[$0] } == [.later, .failed, .later, .dead])
    #expect(table.verdict(of: outcome(.signal(9, coreDumped: false))) == .failed)
    #expect(table.verdict(of: outcome(.code(0), .timeout)) == .later)
    #expect(ExitTable.standard[3] == .failed)
  }

  @Test("a command that cannot start is judged by the same table")
  func refusals() {
    #expect(ExitTable.standard.verdict(of: .programMissing("x", searched: "")) == .pause)
    #expect(ExitTable.standard.verdict(of: .notExecutable("x", reason: "")) == .pause)
    #expect(ExitTable.standard.verdict(of: .directoryUnusable("x", reason: "")) == .pause)
    #expect(ExitTable.standard.verdict(of: .argumentTooLong(bytes: 1)) == .dead)
    #expect(ExitTable.standard.verdict(of: .zeroByteInArgument) == .dead)
  }
}
