// Services whose workers are programs in any language: those of the documentation, at windows and as outside workers,
// killed in every way; and programs that violate each rule of the protocol.
import Foundation
import Glibc
import Testing

@Suite("Workers in any language", .serialized)
struct WorkersTests {
  private func withWorkers(more: String = "", _ test: (ScratchBank) throws -> Void) throws {
    try withScratchBank { branch in
      let python = try branch.write(try DocumentedWorkers.program("python"), to: "worker.py")
      let perl = try branch.write(try DocumentedWorkers.program("perl"), to: "worker.pl")
      // The mark identifies the processes of the test; a configuration cannot set variables of the bank's own.
      let marked = #""env", "\#(ProcessTable.mark)=\#(branch.path("").dropLast())""#
      let file = try branch.write(
        """
        {"services": {
           "python": {"worker": [\(marked), "python3", "\(python)"], "windows": 2},
           "perl": {"worker": [\(marked), "perl", "\(perl)"], "windows": 1},
           "outside": {"outside": true, "retries": {"max_crashes": 50}}\(more)},
         "lease": "1s", "max_crashes": 50, "windows": {"deposit": 1, "loan": 0, "juice": 0}}
        """, to: "bank.json")
      try branch.start("--config", file, "--speed", "max")
      try test(branch)
      try branch.expectClean()
      try branch.runSuccessfully("stop", "--now", timeout: .seconds(60))
      try branch.expectNoProcessesLeft()
    }
  }

  private func launchOutside(_ branch: ScratchBank, _ language: String = "python") throws -> RunningProgram {
    let (program, file) =
      language == "python" ? ("/usr/bin/python3", "worker.py") : ("/usr/bin/perl", "worker.pl")
    return try branch.launch(
      [branch.path(file), branch.home + "/run/worker.sock", "outside"], program: program)
  }

  @Test(
    "documented workers serve at windows and outside; receipts, logs and status show it in both languages"
  )
  func documented() throws {
    try withWorkers { branch in
      for (place, service) in ["python", "perl"].enumerated() {
        try branch.runSuccessfully("enqueue", "3", "--service", service, "--payload", "hello 은행", "--wait")
        let ticket = try branch.json("ticket", "\(place * 3 + 1)")
        #expect(ticket["result"].text == "HELLO 은행" && ticket["result_bytes"].integer == 12, "\(ticket)")
        #expect(ticket["key"].text != nil && ticket["duration_ms"].integer != nil)
      }
      try branch.runSuccessfully("enqueue", "4", "--service", "outside", "--payload", "x")
      let outsiders = [try launchOutside(branch), try launchOutside(branch, "perl")]
      try branch.runSuccessfully("wait", "--timeout", "60s", timeout: .seconds(70))
      try branch.expectOneReceiptEach(10)
      #expect(
        try branch.receipts().suffix(4).allSatisfy {
          $0["window"].text?.hasPrefix("outside-outside-") == true
        })
      // One of them may have served all four customers before the other one had connected.
      try branch.waitUntil("both outside workers have connected") {
        let roles = try branch.json("status")["workers"].items.map { $0["role"].text ?? "" }
        #expect(roles.filter { $0 == "worker" }.count == 3, "\(roles)")
        return roles.filter { $0 == "outside" }.count == 2
      }
      for outputLanguage in OutputLanguage.allCases {
        #expect(
          try branch.runSuccessfully("status", language: outputLanguage).out.contains("outside-outside-1"))
      }
      _ = try branch.events("completed", in: "perl-1", count: 3)
      #expect(try branch.runSuccessfully("logs", "perl-1").out.contains("perl completed"))
      try branch.runSuccessfully("stop", timeout: .seconds(60))
      for program in outsiders {
        #expect(try program.finish().code == 0, "the worker was notified that the bank closes")
      }
      try branch.start("--config", branch.path("bank.json"))
    }
  }

  @Test("killed, stopped and disconnected workers, and a killed coordinator, cost no customer")
  func chaos() throws {
    var chance = Chance(for: "WorkersTests/chaos")
    try withWorkers { branch in
      let outsiders = [try launchOutside(branch), try launchOutside(branch, "perl")]
      var known: Set<Int> = []
      for round in 1...6 {
        for service in ["python", "perl", "outside"] {
          try branch.runSuccessfully("enqueue", "100", "--service", service, "--payload", "round \(round)")
        }
        let workers = try branch.status().workers.filter { $0.role == "worker" && $0.pid > 0 }
        if let victim = workers.randomElement(using: &chance) {
          branch.processes.signal(victim.pid, [SIGKILL, SIGSTOP].randomElement(using: &chance)!)
        }
        if round == 2 { outsiders[0].signal(SIGKILL) }
        if round == 3 {
          try branch.kill(worker: "deposit-1")
          let status = try branch.status()
          known.insert(status.pid)
          branch.processes.signal(status.pid, SIGKILL)
          try branch.waitUntil("another coordinator answers") {
            try branch.statusIfAnswered().map { !known.contains($0.pid) } == true
          }
          _ = try launchOutside(branch)
        }
      }
      try branch.runSuccessfully("wait", "--timeout", "120s", timeout: .seconds(130))
      try branch.expectOneReceiptEach(1_800)
      #expect(try branch.receipts().allSatisfy { $0["result"].text?.hasPrefix("ROUND ") == true })
    }
  }

  @Test("a worker that violates a rule is disconnected with the reason, and others serve its customers")
  func rogues() throws {
    try withWorkers { branch in
      let refused: [(hello: String, reason: String, text: String)] = [
        (#"{"hello":{"version":2,"role":"worker","services":["outside"]}}"#, "version", "version 2"),
        (#"{"hello":{"version":1,"role":"worker","services":["deposit"]}}"#, "service", "deposit"),
        (#"{"hello":{"version":1,"role":"worker","services":["nothing"]}}"#, "service", "nothing"),
        (#"{"hello":{"version":1,"role":"worker"}}"#, "hello", "services"),
        (#"{"hello":{"version":1,"role":"teller"}}"#, "malformed", "role"),
        (#"{"hello":[]}"#, "malformed", "byte"), (#"{"greetings":{}}"#, "malformed", "greetings"),
        ("{}", "malformed", "exactly one"), ("[1]", "malformed", "first byte"),
      ]
      for (hello, reason, text) in refused {
        let answer = try LineWorker(branch, hello: hello).refusal()
        #expect(answer?.reason == reason && answer?.text.contains(text) == true, "\(hello): \(answer as Any)")
      }
      try branch.runSuccessfully("enqueue", "20", "--service", "outside", "--payload", "x")
      let breaches: [(LineWorker, (lease: String, ticket: Int, order: JSON)) throws -> Void] = [
        { worker, customer in
          worker.say(#"{"done":{\#(customer.lease)}}"#)
          worker.say(#"{"done":{\#(customer.lease)}}"#)
        },
        { worker, _ in worker.say(#"{"done":{"ticket":19,"attempt":1,"generation":1}}"#) },
        { worker, _ in worker.say(#"{"ready":{}}"#) },
        { worker, customer in worker.say(#"{"done":{\#(customer.lease),"result_b64":"a b"}}"#) },
        { worker, _ in worker.send([UInt8](#"{"done":{"ticket":"#.utf8) + [0xff, 0xfe, 10]) },
        { worker, _ in
          worker.send([UInt8](#"{"failed":{"reason":""#.utf8) + [UInt8](repeating: 0x78, count: 9 << 20))
        },
      ]
      for (place, breach) in breaches.enumerated() {
        let worker = try LineWorker(branch, service: "outside")
        try breach(worker, try worker.customer())
        #expect(try worker.refusal()?.reason == "malformed", "violation \(place)")
      }
      // Half a line, and an end.
      let half = try LineWorker(branch, service: "outside", inFlight: 4)
      let customer = try half.customer()
      half.send([UInt8](#"{"done":{\#(customer.lease)"#.utf8))
      half.hangUp()
      try branch.waitUntil("the worker is disconnected") { try branch.status().queue("serving") == 0 }
      // A line of 1 MiB is valid; a result that is too long is truncated, and its length is recorded.
      let large = try LineWorker(branch, service: "outside")
      let last = try large.customer()
      large.say(#"{"done":{\#(last.lease),"result":"\#(String(repeating: "y", count: 1 << 20))"}}"#)
      try branch.waitUntil("the customer is done") {
        try branch.json("ticket", "\(last.ticket)")["state"].text == "done"
      }
      let receipt = try branch.json("ticket", "\(last.ticket)")
      #expect(
        receipt["result_bytes"].integer == 1 << 20 && (receipt["result"].text?.utf8.count ?? 0) <= 65_536)
      large.hangUp()
      _ = try launchOutside(branch)
      try branch.runSuccessfully("wait", "--timeout", "60s", timeout: .seconds(70))
      try branch.expectOneReceiptEach(20)
      #expect(branch.log("coordinator").contains("event=protocol_violation"))
      let coordinator = "\(try branch.status().pid)"
      let connected = branch.events("worker_connected", in: "coordinator")
      #expect(
        connected.allSatisfy { $0["pid"] == coordinator && $0["peer_pid"] != nil }, "\(connected)")
    }
  }

  @Test(
    "an expired lease moves its customer and keeps the worker; progress is shown; a cancelled one is recalled"
  )
  func leases() throws {
    try withWorkers { branch in
      try branch.runSuccessfully("enqueue", "2", "--service", "outside", "--payload", "x")
      let worker = try LineWorker(branch, service: "outside", inFlight: 2)
      let (first, second) = (try worker.customer(), try worker.customer())
      #expect(first.order["service"].text == "outside" && first.order["payload"].text == "x")
      #expect(first.order["priority"].integer == 1_024 && first.order["key"].text?.isEmpty == false)
      // The second customer makes progress, the first does not.
      try branch.waitUntil("the first customer has lost its lease") {
        worker.say(#"{"beat":{\#(second.lease),"percent":40,"text":"줄이는 중"}}"#)
        return try branch.json("ticket", "1")["attempts"][0]["end"].text == "lease_expired"
      }
      let story = try branch.json("ticket", "2")
      #expect(
        story["progress"]["percent"].integer == 40 && story["progress"]["text"].text == "줄이는 중", "\(story)")
      #expect(try branch.runSuccessfully("ticket", "2", language: .ko).out.contains("40%, 줄이는 중"))
      let seen = try branch.json("status")["workers"].items.first { $0["role"].text == "outside" }
      #expect(seen?["progress"]["percent"].integer == 40, "\(seen as Any)")
      #expect(try worker.receive()["recall"]["ticket"].integer == 1)
      worker.say(#"{"done":{\#(first.lease)}}"#)
      try branch.runSuccessfully("cancel", "2")
      #expect(try worker.receive()["recall"]["ticket"].integer == 2)
      worker.say(#"{"returned":{\#(second.lease)}}"#)
      let again = try worker.customer()
      #expect(again.ticket == 1 && again.order["attempt"].integer == 2, "a late answer has changed nothing")
      #expect(again.order["key"].text == first.order["key"].text)
      worker.say(#"{"failed":{\#(again.lease),"reason":"no paper","after_ms":1}}"#)
      let third = try worker.customer()
      worker.say(#"{"failed":{\#(third.lease),"reason":"no use","retry":false}}"#)
      try branch.waitUntil("the customer is a dead letter") {
        try branch.json("ticket", "1")["state"].text == "dead"
      }
      #expect(try branch.json("ticket", "1")["attempts"].items.last?["reason"].text == "no use")
      try branch.runSuccessfully("cancel", "1")
      let close = try branch.launch(["stop"])
      #expect("\(try worker.receive())".contains("close"))
      #expect(try close.finish().code == 0)
      try branch.start("--config", branch.path("bank.json"))
    }
  }

  @Test(
    "children of a worker never outlive it, and a worker that survives the bank is ended at the next start"
  )
  func leftovers() throws {
    let script = """
      import os, signal, subprocess, sys
      subprocess.Popen(["setsid", "sleep", "1000"])
      sys.argv = [sys.argv[0]]
      exec(open(os.environ["WORKER"]).read())
      while True: signal.pause()
      """
    try withScratchBank { branch in
      let worker = try branch.write(try DocumentedWorkers.program("python"), to: "worker.py")
      let program = try branch.write(script, to: "stays.py")
      let file = try branch.write(
        """
        {"services": {"stays": {"windows": 1, "environment": {"WORKER": "\(worker)"},
           "worker": ["env", "\(ProcessTable.mark)=\(branch.path("").dropLast())", "python3", "\(program)"]}},
         "windows": {"deposit": 0, "loan": 0, "juice": 0}}
        """, to: "bank.json")
      try branch.start("--config", file)
      func sleepers() -> Int {
        ((try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []).count { name in
          guard Int32(name) != nil, let words = FileManager.default.contents(atPath: "/proc/\(name)/cmdline"),
            String(decoding: words, as: UTF8.self) == "sleep\u{0}1000\u{0}",
            let variables = FileManager.default.contents(atPath: "/proc/\(name)/environ")
          else { return false }
          return String(decoding: variables, as: UTF8.self).contains(
            "\(ProcessTable.mark)=\(branch.path("").dropLast())")
        }
      }
      try branch.runSuccessfully("enqueue", "--service", "stays", "--payload", "x", "--wait")
      try branch.waitUntil("the worker has started a child") { sleepers() == 1 }
      try branch.kill(worker: "stays-1")
      try branch.waitUntil("its successor is ready") {
        try branch.status().worker("stays-1")?.state == "idle"
      }
      try branch.waitUntil("the first child has exited, and the second one runs") { sleepers() == 1 }
      try branch.killCoordinator()
      try branch.start("--config", file)
      try branch.waitUntil("there is one worker again") { sleepers() == 1 }
      try branch.expectClean()
      try branch.runSuccessfully("stop", timeout: .seconds(60))
      try branch.waitUntil("no process is left") { sleepers() == 0 }
      try branch.expectNoProcessesLeft()
    }
  }

  @Test(
    "a worker that cannot start gives the reason in the message of start and in its log, in both languages")
  func saysWhyItCannotBegin() throws {
    try withScratchBank { branch in
      let file = try branch.write(
        #"""
        {"services": {"n": {"worker": ["python3", "-c", "import nosuchmodule"], "windows": 1}},
         "restart_initial_delay": "1ms", "restart_max_delay": "2ms", "windows": {"deposit": 0, "loan": 0, "juice": 0}}
        """#, to: "bank.json")
      let english = try branch.run("start", "--config", file)
      #expect(english.code == 1 && english.err.contains("No module named 'nosuchmodule'"), "\(english.story)")
      let korean = try branch.launch(["start", "--config", file], language: .ko).finish()
      #expect(korean.err.contains("마지막 출력: ") && korean.err.contains("nosuchmodule"), "\(korean.story)")
      let log = try branch.runSuccessfully("logs", "n-1").out
      #expect(log.contains("ModuleNotFoundError: No module named 'nosuchmodule'"), "\(log)")
      #expect(!FileManager.default.fileExists(atPath: branch.home + "/logs/n-1.stderr"))
      try branch.expectNoProcessesLeft()
    }
  }

  @Test("output of a worker outside its channel is a log like the others: bounded, rotated and kept")
  func writesWithoutEnd() throws {
    let noise = """
      for i in range(40): print("x" * 999_999, flush=True)
      for i in range(4000): print("line", i, flush=True)
      sys.stdout.buffer.write(b"caf\\xe9\\n"); sys.stdout.flush()
      """
    try withScratchBank { branch in
      let worker = try branch.write(try DocumentedWorkers.program("python"), to: "worker.py")
      let program = try branch.write(
        "import os, sys\n\(noise)\nos.execvp(\"python3\", [\"python3\", \"\(worker)\"])\n", to: "noisy.py")
      let file = try branch.write(
        """
        {"services": {"n": {"windows": 1,
           "worker": ["env", "\(ProcessTable.mark)=\(branch.path("").dropLast())", "python3", "\(program)"]}},
         "log": {"rotate_bytes": 65536, "keep_files": 2}, "windows": {"deposit": 0, "loan": 0, "juice": 0}}
        """, to: "bank.json")
      try branch.start("--config", file, "--speed", "max")
      try branch.runSuccessfully("enqueue", "2", "--service", "n", "--payload", "x", "--wait")
      try branch.kill(worker: "n-1")
      try branch.waitUntil("the last line is logged") {
        try branch.runSuccessfully("logs", "n-1").out.contains("caf\\xe9")
      }
      let logs = try FileManager.default.contentsOfDirectory(atPath: branch.home + "/logs")
      // The successor writes, too: during a rotation the next file has a name of its own.
      let sizes = logs.filter { $0.hasPrefix("n-1.") && !$0.hasSuffix(".new") }.map { name in
        ((try? FileManager.default.attributesOfItem(atPath: branch.home + "/logs/" + name))?[.size] as? Int)
          ?? 0
      }
      #expect(sizes.count <= 3 && sizes.allSatisfy { $0 <= 65_536 + 8_192 }, "\(logs): \(sizes)")
      #expect(try branch.lines("logs", "n-1").contains { $0["event"].text == "output_dropped" })
      try branch.runSuccessfully("stop", "--now", timeout: .seconds(60))
      try branch.expectNoProcessesLeft()
    }
  }
}
