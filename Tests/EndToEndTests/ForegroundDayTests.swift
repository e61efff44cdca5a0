// One business day in the foreground: `open`, and the menu of the original console app around it.
import Glibc
import Testing

@Suite("A day in the foreground", .serialized)
struct ForegroundDayTests {
  @Test("open prints each start and each completion in the original words, and the closing message last")
  func korean() throws {
    try withScratchBank { branch in
      let outcome = try branch.runSuccessfully(
        "open", "--customers", "10", "--speed", "20", "--seed", "3", language: .ko)
      let lines = outcome.outLines
      #expect(lines.count == 21, outcome.story)
      let started = lines.compactMap { $0.wholeMatch(of: /(\d+)번 고객 (예금|대출)업무 시작/) }
      let completed = lines.compactMap { $0.wholeMatch(of: /(\d+)번 고객 (예금|대출)업무 완료/) }
      #expect(started.compactMap { Int($0.1) }.sorted() == Array(1...10), outcome.story)
      #expect(completed.compactMap { Int($0.1) }.sorted() == Array(1...10), outcome.story)
      for number in 1...10 {
        let first = lines.firstIndex { $0.hasPrefix("\(number)번 ") && $0.hasSuffix("시작") } ?? .max
        let second = lines.firstIndex { $0.hasPrefix("\(number)번 ") && $0.hasSuffix("완료") } ?? -1
        #expect(first < second, outcome.story)
      }
      #expect(
        outcome.lastLine.wholeMatch(of: /업무가 마감되었습니다. 오늘 업무를 처리한 고객은 총 10명이며, 총 업무시간은 \d\.\d\d초입니다./)
          != nil, outcome.story)
      try branch.expectNoProcessesLeft()
      try branch.expectOneReceiptEach(10)
      try branch.expectClean()
    }
  }

  @Test("open works in English, with the requested windows")
  func english() throws {
    try withScratchBank { branch in
      let file = try branch.configuration(deposit: 1, loan: 1)
      let outcome = try branch.runSuccessfully(
        "open", "--customers", "8", "--config", file, "--deposit", "4", "--speed", "20")
      let lines = outcome.outLines
      let started = lines.compactMap { $0.wholeMatch(of: /customer (\d+): (deposit|loan) started/) }
      let completed = lines.compactMap { $0.wholeMatch(of: /customer (\d+): (deposit|loan) completed/) }
      #expect(started.compactMap { Int($0.1) }.sorted() == Array(1...8), outcome.story)
      #expect(completed.compactMap { Int($0.1) }.sorted() == Array(1...8), outcome.story)
      #expect(
        outcome.lastLine.wholeMatch(
          of: /The bank has closed\. Customers served today: 8\. Total business time: \d+\.\d\d seconds\./)
          != nil,
        outcome.story)
      #expect(branch.log("deposit-4").contains("event=ready") && !branch.log("loan-1").isEmpty)
    }
  }

  @Test("open without a number draws 10 to 30 customers, the same ones for the same seed")
  func crowd() throws {
    try withScratchBank { branch in
      var days: [[String]] = []
      for seed in ["5", "5", "6"] {
        let lines = try branch.lines("open", "--speed", "max", "--seed", seed)
        let last = try #require(lines.last)
        #expect(last.differences(from: Samples.stopped) == [])
        let count = try #require(last["served"].integer)
        #expect((10...30).contains(count))
        for event in ["started", "completed"] {
          #expect(
            lines.filter { $0["event"].text == event }.compactMap(\.["ticket"].integer).sorted()
              == Array(1...count))
        }
        days.append(
          lines.filter { $0["event"].text == "started" }.map { "\($0["ticket"]) \($0["service"])" }.sorted())
      }
      #expect(days[0] == days[1])
      #expect(try Set(branch.receipts().compactMap(\.["day"].integer)) == [1, 2, 3])
    }
  }

  @Test("open is refused if the bank is already open, and does not affect it")
  func alreadyOpen() throws {
    try withScratchBank { branch in
      try branch.start("--speed", "max")
      try branch.expectRefusal(5, "already_open", of: "open", "--customers", "1", "--speed", "max")
      try branch.runSuccessfully("enqueue", "1", "--wait")
      try branch.expectOneReceiptEach(1)
    }
  }

  @Test("open shows a customer whose teller was killed a second time, and serves it")
  func killedTeller() throws {
    try withScratchBank { branch in
      let file = try branch.configuration(deposit: 1, loan: 1, depositWork: "2s", loanWork: "2s")
      let day = try branch.launch(["open", "--customers", "4", "--config", file, "--seed", "2"])
      try branch.waitUntil("a customer is served") { !day.lines.isEmpty }
      let busy = try #require(try branch.status().workers.first { $0.ticket != nil }?.name)
      try branch.kill(worker: busy)
      let outcome = try day.finish()
      #expect(outcome.code == 0, outcome.story)
      #expect(outcome.out.contains("interrupted at \(busy), waiting again"), outcome.story)
      #expect(outcome.lastLine.hasPrefix("The bank has closed. Customers served today: 4."), outcome.story)
      try branch.expectOneReceiptEach(4)
    }
  }

  @Test("open reports that its coordinator was killed, leaves no process behind, and loses no customer")
  func killedCoordinator() throws {
    try withScratchBank { branch in
      let day = try branch.launch(["open", "--customers", "12"])
      try branch.waitUntil("a customer is served") { !day.lines.isEmpty }
      try branch.killCoordinator()
      let outcome = try day.finish(within: .seconds(10))
      #expect(outcome.code == 1, outcome.story)
      #expect(outcome.err.contains("No customers are lost"), outcome.story)
      try branch.expectNoProcessesLeft()
      try branch.start("--speed", "max")
      try branch.runSuccessfully("wait")
      try branch.expectOneReceiptEach(12)
    }
  }

  @Test("if the opener in the foreground is killed, the bank ends within a second and loses no customer")
  func killedOpener() throws {
    try withScratchBank { branch in
      let file = try branch.configuration(depositWork: "60s", loanWork: "60s")
      let day = try branch.launch(["open", "--customers", "12", "--config", file])
      try branch.waitUntil("every window is busy") { day.lines.count == 3 }
      let before = try branch.status()
      day.signal(SIGKILL)
      let killed = ContinuousClock.now
      try branch.waitUntil("all processes have exited") {
        ([before.pid] + before.workers.map(\.pid)).allSatisfy { !branch.processes.isAlive($0) }
      }
      let took = ContinuousClock.now - killed
      #expect(took < .seconds(3), "it took \(took); the limit is a second, but the machine may be busy")
      try branch.expectNoProcessesLeft()
      let log = branch.log("coordinator")
      #expect(
        log.contains("event=foreground_client_exited") && log.contains("event=stopped_without_drain")
          && !log.contains("level=error"))
      let words = (try? String(contentsOfFile: branch.home + "/logs/bankd.stderr", encoding: .utf8)) ?? ""
      #expect(words == "", "workers that were killed together are not reported as a database error")
      try branch.expectClean()
      try branch.start("--speed", "max")
      try branch.runSuccessfully("wait")
      try branch.expectOneReceiptEach(12)
      try branch.expectClean()
    }
  }

  @Test("the opener in the foreground is killed at any moment: nothing is left behind")
  func killedOpenerAtAnyMoment() throws {
    var chance = Chance(for: "ForegroundDayTests/killedOpenerAtAnyMoment")
    try withScratchBank { branch in
      for _ in 1...12 {
        let day = try branch.launch(["open", "--customers", "10", "--speed", "20"])
        Polling.pause(milliseconds: Int32.random(in: 0...120, using: &chance))
        day.signal(SIGKILL)
        try branch.waitUntil("no process is left") { !day.isRunning && branch.processes.all().isEmpty }
      }
      try branch.start("--speed", "max")
      try branch.runSuccessfully("wait")
      try branch.expectClean()
    }
  }

  @Test("Ctrl-C closes the day early; remaining customers wait for the next start")
  func interrupted() throws {
    try withScratchBank { branch in
      let file = try branch.configuration(depositWork: "1s", loanWork: "1s")
      let day = try branch.launch(["open", "--customers", "30", "--config", file])
      try branch.waitUntil("a customer is served") { !day.lines.isEmpty }
      day.signal(SIGINT)
      let outcome = try day.finish(within: .seconds(15))
      #expect(outcome.code == 1, outcome.story)
      #expect(outcome.out.contains("Waiting for the next start: "), outcome.story)
      try branch.expectNoProcessesLeft()
      #expect(Status(try branch.start("--speed", "max")).queue("issued") == 30)
      try branch.runSuccessfully("wait")
      try branch.expectOneReceiptEach(30)
    }
  }

  @Test("the menu: wrong input is rejected, 1 opens, opening again works, 2 exits")
  func menu() throws {
    try withScratchBank { branch in
      let input = "9\n\n은행\n1\n 1 \n2\n1\n"
      let outcome = try branch.run("console", "--speed", "max", language: .ko, input: input)
      #expect(outcome.code == 0, outcome.story)
      let menu = "1 : 은행개점\n2 : 종료\n입력 : "
      #expect(
        outcome.out.hasPrefix(menu + "잘못된 입력입니다.\n" + menu + "잘못된 입력입니다.\n" + menu + "잘못된 입력입니다.\n" + menu))
      #expect(outcome.out.hasSuffix(menu), "2 exits at once")
      #expect(
        outcome.out.matches(of: /업무가 마감되었습니다\. 오늘 업무를 처리한 고객은 총 \d+명이며, 총 업무시간은 \d+\.\d\d초입니다\./).count == 2)
      #expect(try Set(branch.receipts().compactMap(\.["day"].integer)) == [1, 2])
      try branch.expectNoProcessesLeft()
    }
  }

  @Test("the menu works in English, and the end of its input ends it as well")
  func englishMenu() throws {
    try withScratchBank { branch in
      let outcome = try branch.run("console", "--speed", "max", input: "x\n1\n")
      #expect(outcome.code == 0, outcome.story)
      #expect(
        outcome.out.hasPrefix("1 : Open the bank\n2 : Exit\nInput : That is not on the menu.\n"),
        outcome.story)
      #expect(outcome.out.contains("The bank has closed. Customers served today: "), outcome.story)
      #expect(try branch.run("console", "--json").code == 2)
    }
  }

  @Test("the menu survives a bank that is already open")
  func menuBesideOpenBank() throws {
    try withScratchBank { branch in
      try branch.start("--speed", "max")
      let outcome = try branch.run("console", input: "1\n2\n")
      #expect(outcome.code == 0, outcome.story)
      #expect(outcome.err.contains("already open"), outcome.story)
    }
  }
}
