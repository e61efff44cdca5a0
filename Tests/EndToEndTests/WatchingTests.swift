// Clients that watch: status, wait, receipts and logs, once and live.
import Foundation
import Glibc
import Testing

@Suite("Watching", .serialized)
struct WatchingTests {
  @Test("status is printed in both languages, with the labels of the original")
  func languages() throws {
    try withScratchBank { branch in
      try branch.start("--speed", "max")
      try branch.runSuccessfully("enqueue", "3", "--wait")
      let korean = try branch.runSuccessfully("status", language: .ko).out
      #expect(korean.contains(/^영업 중 · 영업 1일차 · 업무시간 - \d\d:\d\d:\d\d\d/), "\(korean)")
      for word in ["대기중", "업무중", "예금", "대출", "창구"] { #expect(korean.contains(word), "\(korean)") }
      let english = try branch.runSuccessfully("status").out
      #expect(english.contains(/^open · day 1 · Business time - \d\d:\d\d:\d\d\d/), "\(english)")
      #expect(english.contains("issued 3 = waiting 0 + serving 0 + served 3"), "\(english)")
      #expect(try branch.json("status").differences(from: Samples.status) == [])
    }
  }

  @Test("the numbers of status add up at every moment of a busy day, and counters only grow")
  func balance() throws {
    try withScratchBank { branch in
      try branch.start("--speed", "20", "--deposit", "3", "--loan", "2")
      var clients: [RunningProgram] = []
      var served = 0
      var looks = 0
      try branch.waitUntil("all sixty customers are served", within: .seconds(60)) {
        // New customers come after each poll, so that there are several polls on any machine.
        if looks < 6 { clients.append(try branch.launch(["enqueue", "10", "--wait"])) }
        let status = try branch.status()
        #expect(status.isBalanced, "\(status.document)")
        #expect(status.queue("served") >= served)
        let services = status.document["services"].items
        #expect(services.compactMap(\.["served"].integer).reduce(0, +) == status.queue("served"))
        #expect(services.compactMap(\.["serving"].integer).reduce(0, +) == status.queue("serving"))
        #expect(services.compactMap(\.["waiting"].integer).reduce(0, +) == status.queue("waiting"))
        served = status.queue("served")
        looks += 1
        return looks >= 6 && !clients.contains(where: \.isRunning)
      }
      for client in clients { #expect(try client.finish().code == 0) }
      #expect(try branch.status().queue("served") == 60)
    }
  }

  @Test("the timer runs while a customer waits or is served, and stops otherwise")
  func timer() throws {
    try withScratchBank { branch in
      let file = try branch.configuration(deposit: 1, depositWork: "150ms")
      try branch.start("--config", file)
      #expect(try branch.status().businessMilliseconds == 0)
      let begin = ContinuousClock.now
      try branch.runSuccessfully("enqueue", "2", "--service", "deposit", "--wait")
      let took = Int(begin.duration(to: .now) / .milliseconds(1))
      let first = try branch.status().businessMilliseconds
      #expect(first >= 300 && first <= took, "\(first) of \(took) ms")
      #expect(try branch.status().businessMilliseconds == first)
      try branch.runSuccessfully("enqueue", "1", "--service", "deposit", "--wait")
      let second = try branch.status().businessMilliseconds
      #expect(second >= first + 150, "the timer continues: \(first), \(second)")
      #expect(try branch.json("stop")["business_ms"].integer == second)
    }
  }

  @Test("the timer runs visibly while a customer is served without other events, and when the bank closes")
  func runningTimer() throws {
    try withScratchBank { branch in
      let file = try branch.configuration(deposit: 1, loan: 0, depositWork: "60s")
      try branch.start("--config", file)
      let watcher = try branch.launch(["status", "--watch", "--json"])
      try branch.runSuccessfully("enqueue", "1", "--service", "deposit")
      try branch.waitUntil("the customer is served") { try branch.status().queue("serving") == 1 }
      let first = try branch.status().businessMilliseconds
      // The timer must not wait for the progress report of a teller, which comes every few seconds.
      var shown: Set<Int> = []
      try branch.waitUntil("status shows the timer run") {
        let time = try branch.status().businessMilliseconds
        shown.insert(time)
        return time >= first + 3000
      }
      #expect(shown.count >= 5, "the timer jumps: \(shown.sorted())")
      func seen() throws -> [Status] {
        try JSON.lines(watcher.lines.joined(separator: "\n")).map { Status($0) }
      }
      // Once per second, and not only with progress reports, of which there are no three in three seconds. A watcher
      // may be late on a busy machine, but not for ever.
      try branch.waitUntil("the watcher sees the timer run once per second") {
        let told = try Set(seen().map(\.businessMilliseconds).filter { $0 >= first }).sorted()
        return zip(told, told.dropFirst(2)).contains { $1 - $0 <= 3000 }
      }
      let before = try branch.status().businessMilliseconds
      let end = try branch.json("stop", "--timeout", "0ms")["business_ms"].integer ?? 0
      #expect(end >= before)
      try branch.waitUntil("the watcher has exited") { !watcher.isRunning }
      #expect(try seen().last?.businessMilliseconds == end)
    }
  }

  @Test(
    "a watcher with --json gets a document for every change, until it is ended",
    arguments: [SIGINT, SIGTERM, SIGKILL])
  func watch(signal: Int32) throws {
    try withScratchBank { branch in
      try branch.start("--speed", "max")
      let watcher = try branch.launch(["status", "--watch", "--json"])
      try branch.waitUntil("the first document is printed") { !watcher.lines.isEmpty }
      try branch.runSuccessfully("enqueue", "5", "--wait")
      try branch.waitUntil("the watcher has seen all five served") {
        try JSON.lines(watcher.lines.suffix(1).joined()).contains { Status($0).queue("served") == 5 }
      }
      let documents = try JSON.lines(watcher.lines.joined(separator: "\n"))
      #expect(documents.count >= 2)
      #expect(documents.allSatisfy { Status($0).isBalanced && $0.differences(from: Samples.status).isEmpty })
      #expect(watcher.isRunning)
      watcher.signal(signal)
      #expect(try watcher.finish(within: .seconds(5)).code != 1)
    }
  }

  @Test("a watcher in text prints one line per change, in both languages, and exits when the bank closes")
  func watchText() throws {
    try withScratchBank { branch in
      try branch.start("--speed", "max")
      let watchers = try OutputLanguage.allCases.map {
        try branch.launch(["status", "--watch"], language: $0)
      }
      try branch.waitUntil("the first lines are printed") { watchers.allSatisfy { !$0.lines.isEmpty } }
      try branch.runSuccessfully("enqueue", "3", "--wait")
      try branch.runSuccessfully("stop")
      let outcomes = try watchers.map { try $0.finish(within: .seconds(15)) }
      for outcome in outcomes { #expect(outcome.code == 0, outcome.story) }
      #expect(
        outcomes[0].outLines.allSatisfy { $0.contains("영업 1일차") && $0.contains("업무시간 - ") }, outcomes[0].story
      )
      #expect(outcomes[1].outLines.allSatisfy { $0.contains("day 1") }, outcomes[1].story)
      #expect(
        outcomes[0].lastLine.contains("  마감  ") && outcomes[1].lastLine.contains("  closed  "),
        outcomes[1].story)
    }
  }

  @Test("wait returns 0 when no customer is left, and 75 at its timeout, in both languages")
  func wait() throws {
    try withScratchBank { branch in
      let file = try branch.configuration(depositWork: "60s", loanWork: "60s")
      try branch.start("--config", file)
      let idle = try branch.json("wait", "--timeout", "120s")
      #expect(idle.differences(from: Samples.status) == [])
      try branch.runSuccessfully("enqueue", "1")
      try branch.expectRefusal(75, "timed_out", of: "wait", "--timeout", "100ms")
      try branch.expectRefusal(75, "timed_out", of: "wait", "--timeout", "0ms")
      #expect(try branch.run("wait", "--timeout", "soon").code == 2)
    }
  }

  @Test("receipts cover the current day, another, or all days, on an open bank and on a stopped home")
  func days() throws {
    try withScratchBank { branch in
      try branch.start("--speed", "max")
      try branch.runSuccessfully("enqueue", "2", "--service", "loan", "--wait")
      try branch.runSuccessfully("reset")
      try branch.runSuccessfully("enqueue", "3", "--wait")
      for isOpen in [true, false] {
        if !isOpen { try branch.runSuccessfully("stop") }
        #expect(try branch.lines("receipts", "--day", "1").count == 2)
        #expect(try branch.lines("receipts", "--day", "2").count == 3)
        #expect(try branch.receipts().map { $0["day"].integer } == [1, 1, 2, 2, 2])
        let korean = try branch.runSuccessfully("receipts", "--day", "1", language: .ko).outLines
        #expect(
          korean.count == 2 && korean.allSatisfy { $0.contains("대출") && $0.contains("완료") }, "\(korean)")
        let english = try branch.runSuccessfully("receipts", "--day", "1").outLines
        #expect(english.allSatisfy { $0.contains("loan") && $0.contains("served") }, "\(english)")
      }
      #expect(try branch.json("ticket", "1", "--day", "1")["outcome"].text == "served")
    }
  }

  @Test("a follower sees every receipt once, also after a crash, a restart and a new day")
  func follow() throws {
    try withScratchBank { branch in
      try branch.start("--speed", "20")
      try branch.runSuccessfully("enqueue", "10")
      let follower = try branch.launch(["receipts", "--follow", "--json"])
      try branch.waitUntil("the follower has started") { follower.lines.count > 1 }
      try branch.killCoordinator()
      try branch.start("--speed", "20")
      try branch.runSuccessfully("enqueue", "10")
      try branch.runSuccessfully("wait")
      try branch.waitUntil("the follower has seen twenty receipts") { follower.lines.count >= 20 }
      try branch.runSuccessfully("stop")
      try branch.start("--speed", "20")
      try branch.runSuccessfully("enqueue", "5", "--wait")
      try branch.waitUntil("the follower has seen the next day") { follower.lines.count >= 25 }
      let seen = try JSON.lines(follower.lines.joined(separator: "\n"))
      #expect(seen == (try branch.receipts()), "receipts come in the order of commits")
      #expect(follower.isRunning)
    }
  }

  @Test("a reader that closes its pipe ends a follower without a message")
  func brokenPipe() throws {
    try withScratchBank { branch in
      try branch.start("--speed", "max")
      try branch.runSuccessfully("enqueue", "50", "--wait")
      for arguments in [
        "receipts", "logs", "receipts --follow", "logs -f -n 50", "status --watch", "tickets",
      ] {
        let shell = try branch.launch(
          ["-c", "\(Binaries.bankctl) \(arguments) | head -n 1"], program: "/bin/sh")
        // A follower notices it with its next output.
        try branch.waitUntil("`\(arguments)` has exited") {
          try branch.runSuccessfully("enqueue", "1", "--wait")
          return !shell.isRunning
        }
        let outcome = try shell.finish(within: .seconds(10))
        #expect(outcome.errorsWithoutProgress == "" && outcome.outLines.count == 1, outcome.story)
      }
    }
  }

  @Test("logs merges all workers in time order; names, -n, --since and --json select")
  func logs() throws {
    try withScratchBank { branch in
      try branch.start("--speed", "max")
      try branch.runSuccessfully("enqueue", "6", "--wait")
      var all: [String] = []
      try branch.waitUntil("all six customers are in the log") {
        all = try branch.runSuccessfully("logs").outLines
        return all.count { $0.contains("event=completed") } == 6
      }
      let times = all.map { ScratchBank.fields(of: Substring($0))["ts"] ?? "" }
      #expect(times == times.sorted())
      let workers = Set(all.compactMap { ScratchBank.fields(of: Substring($0))["worker"] })
      #expect(
        workers == [
          "coordinator", "deposit-1", "deposit-2", "guardian", "juice-1", "loan-1", "stock", "vending",
        ])
      let some = try branch.runSuccessfully("logs", "loan-1", "coordinator").outLines
      #expect(
        Set(some.compactMap { ScratchBank.fields(of: Substring($0))["worker"] }) == ["coordinator", "loan-1"])
      #expect(try branch.runSuccessfully("logs", "-n", "4").outLines == Array(all.suffix(4)))
      #expect(try branch.runSuccessfully("logs", "--since", "1h").outLines == all)
      #expect(try branch.runSuccessfully("logs", "--since", "0ms").outLines.isEmpty)
      let documents = try branch.lines("logs")
      #expect(documents.map { $0["ts"].text } == times)
      #expect(documents.contains { $0["event"].text == "completed" && $0["ticket"].integer == 6 })
      let unknown = try branch.run("logs", "loan-9")
      #expect(unknown.code == 4, unknown.story)
      try branch.runSuccessfully("stop")
      #expect(
        try branch.runSuccessfully("logs").outLines.count > all.count,
        "the logs of a stopped home can be read")
    }
  }

  @Test("logs --json prints every whole number as a number, whatever has happened")
  func numbersOfLogs() throws {
    try withScratchBank { branch in
      try branch.start("--speed", "max")
      try branch.runSuccessfully("enqueue", "6", "--wait")
      try branch.kill(worker: "deposit-1")
      try branch.waitUntil("the teller is replaced") {
        try branch.status().worker("deposit-1")?.generation == 2
      }
      try branch.runSuccessfully("stop")
      let documents = try branch.lines("logs")
      #expect(documents.contains { $0["event"].text == "completed" && $0["took_ms"].integer != nil })
      #expect(documents.contains { $0["event"].text == "exit" && $0["signal"].integer == Int(SIGKILL) })
      for case .object(let members) in documents {
        // A build identity may consist of digits.
        for (name, value) in members where name != "build" {
          #expect(value.text.flatMap { Int($0) } == nil, "\(name) is \(value)")
        }
      }
    }
  }

  @Test("logs -f includes a window that is opened later, and continues over a restart")
  func followLogs() throws {
    try withScratchBank { branch in
      try branch.start("--speed", "20")
      let follower = try branch.launch(["logs", "-f", "-n", "0"])
      try branch.waitUntil("the follower has started to read") {
        try branch.runSuccessfully("enqueue", "1", "--service", "deposit", "--wait")
        return follower.lines.contains { $0.contains("event=completed") }
      }
      try branch.runSuccessfully("scale", "loan=2")
      try branch.waitUntil("the new window is printed") {
        follower.lines.contains { $0.contains("worker=loan-2") && $0.contains("event=ready") }
      }
      try branch.runSuccessfully("stop")
      try branch.start("--speed", "20")
      try branch.runSuccessfully("enqueue", "4", "--service", "loan", "--wait")
      try branch.waitUntil("the second day is printed") {
        follower.lines.count { $0.contains("event=completed day=2") } == 4
      }
      let ready = follower.lines.count { $0.contains("worker=loan-1") && $0.contains("event=ready") }
      #expect(ready == 1, "no line is printed twice")
      follower.signal(SIGINT)
      _ = try follower.finish(within: .seconds(5))
    }
  }

  @Test("the log of a worker can be read with tail -f while it grows")
  func tail() throws {
    try withScratchBank { branch in
      try branch.start("--deposit", "1", "--speed", "20", language: .ko)
      let tail = try branch.launch(
        ["-n", "+1", "-f", "\(branch.home)/logs/deposit-1.log"], program: "/usr/bin/tail")
      try branch.runSuccessfully("enqueue", "3", "--service", "deposit")
      try branch.waitUntil("three starts and completions are printed") {
        tail.lines.count { $0.contains("event=started") } == 3
          && tail.lines.count { $0.contains("event=completed") } == 3
      }
      #expect(tail.lines.first?.contains("event=ready") == true)
      #expect(tail.lines.contains { $0.contains(#"msg="3번 고객 예금업무 완료""#) })
    }
  }
}
