// Bank opened by a parent that ignores every possible signal (a container's first process, a daemon of another
// language, nohup): it behaves the same.
import Foundation
import Glibc
import Testing

@Suite("Inherited state", .serialized)
struct InheritanceTests {
  /// Runs bankctl with signals ignored from its first instruction, as its parent leaves them.
  private func launch(
    _ branch: ScratchBank, ignoring signals: [String], _ arguments: [String],
    environment: [String: String] = [:]
  ) throws -> RunningProgram {
    // A shell keeps SIGCHLD for itself. env(1)
    try branch.launch(
      ["--ignore-signal=\(signals.joined(separator: ","))", Binaries.bankctl] + arguments,
      program: "/usr/bin/env",
      environment: environment)
  }

  private static let everything = ["CHLD", "PIPE", "XFSZ", "TERM", "USR1"]

  @Test(
    "a bank opened with SIGCHLD ignored is audited, refuses a second, restarts killed processes, and closes")
  func ignoredChildren() throws {
    try withScratchBank { branch in
      func bankctl(_ arguments: String...) throws -> Outcome {
        try launch(branch, ignoring: Self.everything, arguments).finish()
      }
      let opened = try bankctl("start", "--speed", "max")
      #expect(opened.code == 0, opened.story)
      let second = try bankctl("start")
      #expect(second.code == 5, second.story)
      #expect(try bankctl("enqueue", "5", "--wait").code == 0)
      let before = try branch.status()
      for pid in [before.workers.map(\.pid).first ?? 0, before.pid] { branch.processes.signal(pid, SIGKILL) }
      try branch.waitUntil("another coordinator serves") {
        try branch.statusIfAnswered().map { $0.pid != before.pid } ?? false
      }
      #expect(try bankctl("enqueue", "5", "--wait").code == 0)
      #expect(try bankctl("audit").code == 0)
      #expect(try bankctl("stop").code == 0)
      // A closed bank is read by a coordinator of its own, which is also a child process.
      for command in ["audit", "receipts"] {
        let outcome = try bankctl(command)
        #expect(outcome.code == 0, outcome.story)
      }
      try branch.expectNoProcessesLeft()
    }
  }

  @Test("a foreground bank opened with SIGCHLD and SIGTERM ignored survives a kill, and exits on SIGTERM")
  func ignoredInForeground() throws {
    try withScratchBank { branch in
      let bank = try launch(branch, ignoring: Self.everything, ["start", "--foreground", "--speed", "max"])
      try branch.waitUntil("the bank is open") { !bank.lines.isEmpty }
      let before = try branch.status()
      branch.processes.signal(before.pid, SIGKILL)
      try branch.waitUntil("the bank is back") {
        try branch.statusIfAnswered().map { $0.pid != before.pid } ?? false
      }
      try branch.runSuccessfully("enqueue", "3", "--wait")
      bank.signal(SIGTERM)
      let outcome = try bank.finish(within: .seconds(10))
      #expect(outcome.code == 0, outcome.story)
      try branch.expectNoProcessesLeft()
    }
  }

  @Test("every process ignores only SIGPIPE and SIGXFSZ, dies of SIGABRT, and creates private files")
  func everyProcess() throws {
    try withScratchBank { branch in
      let old = umask(0)
      defer { umask(old) }
      let opened = try launch(
        branch, ignoring: Self.everything + ["HUP", "INT"], ["start", "--juice", "1", "--speed", "max"],
        environment: ["SWIFT_BACKTRACE": "enable=yes"]
      ).finish()
      #expect(opened.code == 0, opened.story)
      let pids = branch.processes.all()
      // The guardian, the coordinator, four tellers, the stock, the vending machine: at least these kinds.
      #expect(pids.count >= 7)
      for pid in pids {
        let status = try String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8)
        func field(_ name: String, _ radix: Int) -> UInt64? {
          status.split(separator: "\n").first { $0.hasPrefix(name + ":") }.flatMap {
            UInt64($0.drop { $0 != "\t" }.dropFirst(), radix: radix)
          }
        }
        let name = branch.processes.name(pid)
        // Signals above the thirty-first are two that the C library reserves, and the realtime signals.
        #expect(
          (field("SigIgn", 16) ?? 0) & 0x7FFF_FFFF == 1 << UInt64(SIGPIPE - 1) | 1 << UInt64(SIGXFSZ - 1),
          "\(name)")
        // A backtracer would outlive a process that is killed a moment later, and keep its inherited descriptors.
        let aborting: UInt64 = 1 << UInt64(SIGABRT - 1) | 1 << UInt64(SIGQUIT - 1)
        #expect((field("SigCgt", 16) ?? 0) & aborting == 0, "\(name)")
        #expect(field("Umask", 8) == 0o077, "\(name)")
      }
      try branch.runSuccessfully("stop")
    }
  }

  @Test("nohup works: a foreground bank started with it ignores hang-ups")
  func nohup() throws {
    try withScratchBank { branch in
      let bank = try launch(branch, ignoring: ["HUP"], ["start", "--foreground", "--speed", "max"])
      try branch.waitUntil("the bank is open") { !bank.lines.isEmpty }
      let before = try branch.status()
      bank.signal(SIGHUP)
      try branch.runSuccessfully("enqueue", "3", "--wait")
      #expect(try branch.status().pid == before.pid)
      #expect(!branch.log("coordinator").contains("reloaded"), "a hang-up had an effect")
      bank.signal(SIGTERM)
      #expect(try bank.finish().code == 0)
    }
  }
}
