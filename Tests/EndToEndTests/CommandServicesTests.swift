// Services whose customers are served by commands, and command lines as customers: output, meaning of exit codes, and
// no process of a command that outlives its attempt, whichever process is killed.
import Foundation
import Glibc
import Testing

private let services = #"""
  {"services": {
     "upper": {"run": ["tr", "a-z", "A-Z"], "windows": 2},
     "words": {"run": ["sh", "-c", "printf '%s|' \"$@\"; printf %s \"$BANK_KEY\" >&2", "sh", "{payload}", "{key}"]},
     "exits": {"run": ["sh", "-c", "read code; echo said $code >&2; exit $code"], "exit": {"7": "served"},
               "retries": {"max_failures": 2, "initial_delay": "10ms", "max_delay": "20ms"}},
     "missing": {"run": ["/no/such/program"]},
     "slow": {"run": ["sh", "-c", "trap '' TERM; sleep 60"], "timeout": "200ms", "grace": "50ms",
              "retries": {"max_failures": 1}},
     "batch": {"run": [], "windows": 1}},
   "lease": "2s", "windows": {"deposit": 1, "loan": 0, "juice": 0}}
  """#

@Suite("Services of commands", .serialized)
struct CommandServicesTests {
  private func withCommands(_ test: (ScratchBank) throws -> Void) throws {
    try withScratchBank { branch in
      let file = try branch.write(services, to: "bank.json")
      try branch.start("--config", file, "--speed", "max")
      try test(branch)
      try branch.runSuccessfully("stop", "--now")
      try branch.expectNoProcessesLeft()
    }
  }

  @Test("a payload is standard input or an argument of the command, and the output is in the receipt")
  func results() throws {
    try withCommands { branch in
      try branch.runSuccessfully("enqueue", "--service", "upper", "--payload", "hello 은행", "--wait")
      let ticket = try branch.json("ticket", "1")
      #expect(ticket["result"].text == "HELLO 은행" && ticket["result_bytes"].integer == 12)
      #expect(ticket["exit_code"].integer == 0 && ticket["duration_ms"].integer != nil)
      #expect(ticket["payload"].text == nil, "the payload is removed with the receipt")
      try branch.runSuccessfully("enqueue", "--service", "words", "--payload", "a b;$(id)", "--wait")
      let words = try branch.json("ticket", "2")
      let key = try #require(words["key"].text)
      #expect(words["result"].text == "a b;$(id)|\(key)|")
      #expect(words["stderr"].text == key, "the command received the same key")
      #expect(try branch.runSuccessfully("output", "2").out == "a b;$(id)|\(key)|")
      #expect(try branch.runSuccessfully("output", "2", "--stderr").out == key)
      let receipts = try branch.receipts()
      #expect(receipts.map(\.["result"].text) == ["HELLO 은행", "a b;$(id)|\(key)|"])
      // Bytes that are not text, and more than is stored.
      let large = branch.path("large")
      _ = FileManager.default.createFile(atPath: large, contents: Data(repeating: 0xff, count: 60_000))
      try branch.runSuccessfully("enqueue", "--service", "upper", "--payload-file", large, "--wait")
      let bytes = try branch.json("ticket", "3")
      #expect(bytes["result"].text == nil && bytes["result_bytes"].integer == 60_000)
      #expect(
        bytes["result_b64"].text.flatMap { Data(base64Encoded: $0) } == Data(repeating: 0xff, count: 60_000))
      #expect(try branch.runSuccessfully("ticket", "2", language: .ko).out.contains("결과"))
      #expect(try branch.json("audit")["ok"].flag == true)
    }
  }

  @Test("a service without command lines refuses one: nothing runs and no money moves")
  func commandLinesElsewhere() throws {
    try withCommands { branch in
      let file = branch.path("touched")
      for service in ["deposit", "loan", "upper", "slow"] {
        let refused = try branch.run("run", "--json", "--wait", "--service", service, "--", "touch", file)
        #expect(refused.code == 2, "\(refused.story)")
        #expect(try refused.json()["error"]["code"].text == "bad_request", "\(refused.story)")
      }
      let told = try branch.run("run", "--wait", "--service", "upper", "--", "touch", file)
      #expect(told.code == 2 && told.err.contains("service upper takes no command lines"), "\(told.story)")
      #expect(try branch.status().queue("issued") == 0 && !FileManager.default.fileExists(atPath: file))
      try branch.runSuccessfully("run", "--wait", "--service", "batch", "--", "touch", file)
      #expect(FileManager.default.fileExists(atPath: file))
    }
  }

  @Test("a client that waits for a cancelled customer gets a message and exit code 1")
  func cancelledWhileWaitedFor() throws {
    try withCommands { branch in
      try branch.runSuccessfully("pause")
      let waits = try branch.launch([
        "enqueue", "2", "--service", "upper", "--payload", "x", "--wait",
      ])
      try branch.waitUntil("both customers are waiting") { try branch.status().queue("waiting") == 2 }
      try branch.runSuccessfully("cancel", "1")
      try branch.runSuccessfully("resume")
      let outcome = try waits.finish()
      #expect(outcome.code == 1 && outcome.err.contains("1 of 2 were cancelled"), "\(outcome.story)")
      #expect(!outcome.out.contains("done"), "\(outcome.story)")
      // `run --wait` reports the same for a waiting command line.
      try branch.runSuccessfully("pause")
      let run = try branch.launch(["run", "--wait", "--", "true"])
      try branch.waitUntil("the customer is waiting") { try branch.status().queue("waiting") == 1 }
      try branch.runSuccessfully("cancel", "3")
      #expect(try run.finish().code == 1)
      try branch.runSuccessfully("resume")
    }
  }

  @Test("an open bank and a closed one report the key of a customer, with the ticket and with the receipt")
  func keyOfClosedBank() throws {
    try withScratchBank { branch in
      try branch.start("--config", try branch.write(services, to: "bank.json"), "--speed", "max")
      try branch.runSuccessfully("enqueue", "--service", "upper", "--payload", "x", "--wait")
      let key = try #require(try branch.json("ticket", "1")["key"].text)
      #expect(try branch.receipts().map { $0["key"].text } == [key])
      try branch.runSuccessfully("stop")
      #expect(try branch.json("ticket", "1")["key"].text == key)
      #expect(try branch.receipts().map { $0["key"].text } == [key])
      try branch.expectNoProcessesLeft()
    }
  }

  @Test("the exit code of a command decides what happens to its customer")
  func exits() throws {
    try withCommands { branch in
      let expected: [(String, String)] = [
        ("0", "done"), ("7", "done"), ("3", "dead"), ("64", "dead"), ("65", "dead"),
      ]
      for (place, (code, state)) in expected.enumerated() {
        let ended = try branch.run("enqueue", "--service", "exits", "--payload", code + "\n", "--wait")
        #expect(ended.code == (state == "done" ? 0 : 1), ended.story)
        let ticket = try branch.json("ticket", "\(place + 1)")
        #expect(ticket["state"].text == state, "\(code): \(ticket)")
        let attempts = ticket["attempts"].items
        #expect(attempts.count == (code == "3" ? 2 : 1), "\(code): \(ticket)")
        guard state == "dead" else {
          #expect(ticket["exit_code"].integer == Int(code))
          continue
        }
        #expect(attempts.last?["code"].integer == Int(code))
        #expect(attempts.last?["reason"].text?.contains("said \(code)") == true, "\(ticket)")
        #expect(try branch.runSuccessfully("ticket", "\(place + 1)").out.contains("said \(code)"))
      }
      // "Later" is not a failure.
      try branch.runSuccessfully("enqueue", "--service", "exits", "--payload", "75\n")
      try branch.waitUntil("the customer has had two attempts") {
        (try branch.json("ticket", "6")["attempts"].items).count >= 2
      }
      #expect((try branch.json("ticket", "6"))["attempts"].items.first?["end"].text == "deferred")
      // A missing program pauses its service and makes no dead letters.
      try branch.runSuccessfully("enqueue", "3", "--service", "missing", "--payload", "x")
      try branch.waitUntil("the service is paused") {
        try branch.status().service("missing")["paused"].flag == true
      }
      #expect(try branch.status().service("missing")["waiting"].integer == 3)
      #expect(branch.log("coordinator").contains("event=service_paused"))
      let because = try branch.status().service("missing")["pause_reason"].text
      #expect(because?.contains("/no/such/program") == true)
      for language in [OutputLanguage.en, .ko] {
        #expect(
          try branch.runSuccessfully("status", language: language).out.contains("bankctl resume missing"))
      }
      // A command that never exits and ignores SIGTERM.
      let slow = try branch.run("enqueue", "--service", "slow", "--payload", "x", "--wait")
      #expect(slow.code == 1, slow.story)
      let dead = try branch.json("ticket", "10")
      #expect(dead["attempts"].items.last?["reason"].text?.contains("longer than 200ms") == true, "\(dead)")
    }
  }

  @Test(
    "a command line runs in its directory and environment; a waiting client prints its output and exit code"
  )
  func commandLines() throws {
    try withCommands { branch in
      let before = try branch.status()
      #expect(before.worker("run-1") == nil, "without command lines there is no window for them")
      let ran = try branch.launch([
        "run", "--wait", "--", "sh", "-c", "pwd; echo \"$0 $1\" >&2; exit 3", "a b", "{key}",
      ])
      .finish()
      #expect(ran.code == 3 && ran.err.contains("a b {key}\n"), ran.story)
      #expect(ran.out == FileManager.default.currentDirectoryPath + "\n", ran.story)
      let served = try branch.launch(["run", "--wait", "--", "printf", "%s", "no end of line"]).finish()
      #expect(served.code == 0 && served.out == "no end of line" && served.err == "", served.story)
      let document = try branch.launch(["run", "--json", "--wait", "--", "echo", "hello"]).finish().json()
      #expect(document["result"].text == "hello\n" && document["state"].text == "done")
      let ticket = try branch.launch(["run", "--json", "--", "sh", "-c", "echo begin; read x; echo end"])
        .finish()
        .json()
      #expect(ticket["ticket"].integer == 4 && ticket["day"].integer == 1)
      try branch.runSuccessfully("wait")
      #expect(try branch.runSuccessfully("output", "4").out == "begin\nend\n")
      let killed = try branch.launch(["run", "--wait", "--", "sh", "-c", "kill -9 $$"]).finish()
      #expect(killed.code == 137, killed.story)
      let absent = try branch.launch(["run", "--wait", "--", "/no/such/program"]).finish()
      #expect(absent.code != 0 && absent.err.contains("/no/such/program"), absent.story)
      #expect(try branch.status().service("run")["paused"].flag == false)
      let batch = try branch.launch(["run", "--json", "--service", "batch", "--wait", "--", "true"]).finish()
        .json()
      #expect(batch["service"].text == "batch")
      #expect(try branch.run("run").code == 2)
      #expect(try branch.run("run", "--service", "unknown", "--", "true").code == 4)
    }
  }

  @Test("the output of a command is shown while it runs, and a cancelled command is ended")
  func followed() throws {
    try withCommands { branch in
      let script = "echo begin; sleep 1000 & echo $! > \(branch.path("child")); wait"
      let waiting = try branch.launch(["run", "--wait", "--", "sh", "-c", script])
      try branch.waitUntil("the first line is printed") { waiting.lines == ["begin"] }
      let follower = try branch.launch(["output", "1", "-f"])
      try branch.waitUntil("the follower has printed it, too") { follower.lines == ["begin"] }
      #expect(try branch.runSuccessfully("output", "1").out == "begin\n")
      let child = try #require(
        Int32(try String(contentsOfFile: branch.path("child"), encoding: .utf8).filter(\.isNumber)))
      let document = try branch.json("cancel", "1")
      #expect(document["outcome"].text == "cancelled")
      try branch.waitUntil("no process of the command is left") { Glibc.kill(child, 0) != 0 }
      #expect(try waiting.finish().code != 0)
      #expect(try follower.finish().out == "begin\n")
      // Ctrl-C ends only the wait, and prints how to end the command.
      let left = try branch.launch(["run", "--wait", "--", "sh", "-c", "echo begin; exec sleep 1000"])
      try branch.waitUntil("the command runs") { left.lines == ["begin"] }
      left.signal(SIGINT)
      let interrupted = try left.finish()
      #expect(interrupted.code != 0 && interrupted.err.contains("bankctl cancel 2"), interrupted.story)
      #expect(try branch.json("ticket", "2")["state"].text == "serving")
      try branch.runSuccessfully("cancel", "2")
      // The window continues.
      #expect(try branch.launch(["run", "--wait", "--", "true"]).finish().code == 0)
    }
  }

  @Test("whichever process is killed, no process of a command survives, and it restarts under the same key")
  func killed() throws {
    try withCommands { branch in
      let note = branch.path("note")
      // Records its key and attempt, and leaves a process that ignores the signals of a terminal.
      let script =
        "export MARK=mark-$$; echo \"$BANK_KEY $BANK_ATTEMPT $$\" >> \(note); "
        + "(trap '' TERM HUP; exec setsid sleep 1000) & [ $(wc -l < \(note)) -ge 3 ] || wait"
      func notes() -> [[String]] {
        ((try? String(contentsOfFile: note, encoding: .utf8)) ?? "").split(separator: "\n").map {
          $0.split(separator: " ").map(String.init)
        }
      }
      /// True if the shell of an attempt and everything that it has started have exited.
      func hasNoProcessesLeft(of attempt: [String]) -> Bool {
        guard let entries = try? FileManager.default.contentsOfDirectory(atPath: "/proc") else {
          return false
        }
        return entries.allSatisfy { name in
          guard Int32(name) != nil,
            let variables = FileManager.default.contents(atPath: "/proc/\(name)/environ")
          else { return true }
          let text = String(decoding: variables, as: UTF8.self)
          return !text.contains("MARK=mark-\(attempt[2])\0")
            && !(name == attempt[2] && text.contains("BANK_KEY=\(attempt[0])\0"))
        }
      }
      try branch.runSuccessfully("run", "--", "sh", "-c", script)
      try branch.waitUntil("the command runs") { notes().count == 1 }
      // The runner alone is killed: the coordinator ends what it leaves.
      let runner = try #require(
        try branch.status().workers.first { $0.role == "runner" && $0.state == "serving" })
      branch.processes.signal(runner.pid, SIGKILL)
      try branch.waitUntil("the second attempt has started") { notes().count == 2 }
      #expect(hasNoProcessesLeft(of: notes()[0]), "the first attempt was ended before the second started")
      // The runner and the coordinator are killed: the next coordinator finds what is left by its key.
      let status = try branch.status()
      let second = try #require(status.workers.first { $0.role == "runner" && $0.state == "serving" })
      branch.processes.signal(status.pid, SIGSTOP)
      branch.processes.signal(second.pid, SIGKILL)
      branch.processes.signal(status.pid, SIGKILL)
      try branch.waitUntil("the third attempt has started") { notes().count == 3 }
      #expect(hasNoProcessesLeft(of: notes()[1]), "the second attempt was ended before the third started")
      try branch.waitUntil("the customer is served") { try branch.statusIfAnswered()?.queue("served") == 1 }
      #expect(Set(notes().map(\.[0])).count == 1, "each customer has one key")
      // The next coordinator records the attempt that was lost with its predecessor.
      #expect(notes().map(\.[1]) == ["1", "2", "3"])
      try branch.waitUntil("no process of the command is left") { hasNoProcessesLeft(of: notes()[2]) }
      #expect(try branch.json("ticket", "1")["key"].text == notes()[0][0])
      #expect(try branch.json("audit")["ok"].flag == true)
    }
  }
}
