// bankctl at a terminal: Ctrl-C ends a waiting or watching client and never the bank, a closed terminal leaves none of
// its processes, and a reader that closes the pipe is not an error.
import Foundation
import Glibc
import Testing

@Suite("At a terminal", .serialized)
struct TerminalTests {
  @Test("Ctrl-C ends a waiting or watching client by the signal, and the bank continues")
  func interrupt() throws {
    try withScratchBank { branch in
      let file = try branch.configuration(deposit: 1, loan: 1, depositWork: "60s", loanWork: "60s")
      try branch.start("--config", file)
      let commands: [([String], String)] = [
        (["enqueue", "3", "--service", "deposit", "--wait"], "tickets 1"),
        (["status", "--watch"], "deposit-1"),
        (["logs", "-f"], "event=started"), (["receipts", "--follow"], ""), (["wait"], ""),
      ]
      for (arguments, sign) in commands {
        let program = try TerminalProgram(branch, arguments)
        if !sign.isEmpty { try program.waitFor(sign) }
        program.type("\u{3}")
        #expect(try program.finish() == 128 + SIGINT, "\(arguments): \(program.screen)")
      }
      let status = try branch.status()
      #expect(
        status.state == "open" && status.queue("issued") == 3, "the bank continues without its clients")
    }
  }

  @Test("status --watch restores the cursor and the terminal")
  func cursor() throws {
    try withScratchBank { branch in
      try branch.start("--speed", "max")
      let program = try TerminalProgram(branch, ["status", "--watch"])
      try program.waitFor("deposit-1")
      program.type("\u{3}")
      _ = try program.finish()
      let hidden = program.screen.components(separatedBy: "\u{1B}[?25l").count
      let shown = program.screen.components(separatedBy: "\u{1B}[?25h").count
      #expect(hidden == shown, "\(program.screen.debugDescription)")
      #expect(!program.screen.contains("\u{1B}[?1049h") || program.screen.contains("\u{1B}[?1049l"))
    }
  }

  @Test("Ctrl-C in open closes the day early, twice at once; no bank is left either way", arguments: [1, 2])
  func open(times: Int) throws {
    try withScratchBank { branch in
      let program = try TerminalProgram(branch, ["open", "--customers", "40"])
      try program.waitFor("started")
      program.type("\u{3}")
      if times == 2 {
        try program.waitFor("Press again")
        program.type("\u{3}")
      }
      #expect(try program.finish() == 1, "\(program.screen)")
      try branch.expectNoProcessesLeft()
      try branch.expectClean()
      let left = try branch.lines("tickets", "--state", "waiting").count
      let served = try branch.receipts().count
      #expect(left > 0 && left + served == 40)
    }
  }

  @Test(
    "closing the terminal window ends open and start --foreground with all their processes",
    arguments: [["open", "--customers", "40"], ["start", "--foreground"]])
  func hangUp(arguments: [String]) throws {
    try withScratchBank { branch in
      let program = try TerminalProgram(branch, arguments)
      try program.waitFor(arguments[0] == "open" ? "started" : "pid ")
      program.hangUp()
      _ = try program.finish()
      try branch.waitUntil("no process is left", within: .seconds(5)) { branch.processes.all().isEmpty }
      try branch.expectClean()
    }
  }

  @Test("a reader that closes early is not an error, and a full disk at standard output is one")
  func readers() throws {
    try withScratchBank { branch in
      try branch.start("--speed", "max")
      try branch.runSuccessfully("enqueue", "500", "--wait")
      for command in ["receipts --json", "receipts", "logs", "status", "tickets", "--help"] {
        let outcome = try branch.launch(
          ["-c", "\(Binaries.bankctl) \(command) | head -1; exit ${PIPESTATUS[0]}"], program: "/bin/bash"
        ).finish()
        #expect(outcome.code == 0 && outcome.errorsWithoutProgress == "", outcome.story)
        let closed = try branch.launch(["-c", "\(Binaries.bankctl) \(command) >&-"], program: "/bin/bash")
          .finish()
        #expect(closed.code == 0 && closed.errorsWithoutProgress == "", closed.story)
        let full = try branch.launch(
          ["-c", "\(Binaries.bankctl) \(command) >/dev/full"], program: "/bin/bash"
        ).finish()
        let isEmpty = command == "tickets" && full.code == 0
        #expect(full.code == 1 || isEmpty, full.story)
      }
    }
  }

  @Test("a closed standard stream becomes the null device, and no socket gets its number")
  func closedStreams() throws {
    try withScratchBank { branch in
      try branch.start("--speed", "max")
      let watcher = try branch.launch(
        ["-c", "exec \(Binaries.bankctl) status --watch --json <&- >&-"], program: "/bin/bash")
      try branch.waitUntil("the client has opened the closed streams") {
        [0, 1].allSatisfy { stream in
          let link = "/proc/\(watcher.pid)/fd/\(stream)"
          return (try? FileManager.default.destinationOfSymbolicLink(atPath: link)) == "/dev/null"
        }
      }
      watcher.end()
      try branch.expectClean()
    }
  }
}
