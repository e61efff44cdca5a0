// `kill` of a process without a window: what is refused, and that exactly the reported process is killed.

import BankModel
import Glibc
import Posix
import Synchronization
import Testing
import Wire

@testable import BankctlCommands

@Suite("Killing a process by its name")
struct KillCommandTests {
  /// A bank whose stock has these process ids, one for each status and the last one for all further ones.
  private static func bank(stock pids: [Int32]) throws -> FakeBranch {
    let asked = Counter()
    return try FakeBranch { command, _ in
      switch command {
      case .board: return [.more(.board(TopFixture.frame()))]
      case .status:
        var report = picture()
        report.guardianPid = 4_300
        report.workers.append(
          WorkerReport(
            name: "stock", role: .stock, service: nil, window: nil,
            pid: pids[min(asked.next(), pids.count - 1)],
            generation: 3, state: .idle, ticket: nil, restarts: 2, served: 0, residentKilobytes: 0))
        return [.answer(.status(report))]
      default: return []
      }
    }
  }

  /// Runs a sleeping child with this process name.
  private func withChild(named name: String, _ body: (ChildProcess) throws -> Void) throws {
    let directory = "/tmp/bank-kill-\(CurrentProcess.pid)-\(RandomSeed.fromSystem())"
    try Directory.create(path: directory)
    defer { Directory.removeTree(directory) }
    let program = Paths.join(directory, name)
    #expect(symlink("/bin/sleep", program) == 0)
    let child = try ChildProcess.spawn(
      executable: program, arguments: ["60"], environment: Environment.all(), standardOutput: .null)
    defer { child.end() }
    try body(child)
  }

  @Test("an unknown name is refused with the nearest name and the list, in both languages")
  func unknown() throws {
    let bank = try Self.bank(stock: [4_301])
    defer { bank.end() }
    let ran = try run(["kill", "stok", "--yes", "--json"], home: bank.home)
    #expect(ran.exit == .notFound && ran.output.contains("no_such_window"), "\(ran)")
    for part in ["Did you mean 'stock'?", "deposit-1", "coordinator, guardian, stock."] {
      #expect(ran.output.contains(part), "\(ran)")
    }
    let korean = try run(["kill", "deposit-9", "--yes", "--json"], home: bank.home, language: .korean)
    #expect(korean.exit == .notFound && korean.output.contains("프로세스가 없습니다"), "\(korean)")
  }

  @Test("the process of the name is killed, and its successor is reported")
  func killed() throws {
    try withChild(named: "bank-probe") { child in
      let bank = try Self.bank(stock: [child.pid, child.pid, 4_302])
      defer { bank.end() }
      let ran = try run(["kill", "stock", "--yes", "--json"], home: bank.home)
      #expect(child.wait().ending == .signal(SIGKILL, coreDumped: false))
      #expect(ran.exit == .done, "\(ran)")
      for part in [#""process":"stock""#, #""pid":\#(child.pid)"#, #""successor_pid":4302"#] {
        #expect(ran.output.contains(part), "\(ran)")
      }
    }
  }

  @Test("nothing is killed if the name has no process, or another one by now")
  func replaced() throws {
    try withChild(named: "bank-probe") { child in
      for pids in [[0], [child.pid, 4_302]] as [[Int32]] {
        let bank = try Self.bank(stock: pids)
        defer { bank.end() }
        let ran = try run(["kill", "stock", "--yes", "--json"], home: bank.home)
        #expect(ran.exit == .refused && ran.output.contains("nothing was killed"), "\(ran)")
      }
      #expect(child.reap() == nil, "it still runs")
    }
  }

  @Test("a process of another program is not killed, as in another process namespace")
  func stranger() throws {
    try withChild(named: "other") { child in
      let bank = try Self.bank(stock: [child.pid])
      defer { bank.end() }
      #expect(try run(["kill", "stock", "--yes", "--json"], home: bank.home).exit == .refused)
      #expect(child.reap() == nil, "it still runs")
    }
  }

  @Test("logs and kill complete the same names")
  func names() throws {
    let offers = try ["logs", "kill"].map { name in
      let operand = try #require(BankctlTable.table.command(named: name)?.operands.first)
      #expect(operand.name == "PROCESS")
      return operand.offers
    }
    #expect(offers[0] == offers[1] && offers[0].contains("coordinator"))
  }
}

private final class Counter: Sendable {
  private let count = Mutex(0)

  /// 0 at first, then 1, and so on.
  func next() -> Int {
    count.withLock {
      $0 += 1
      return $0 - 1
    }
  }
}
