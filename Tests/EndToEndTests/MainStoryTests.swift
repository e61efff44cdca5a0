// Basic course of a day: a bank opens, customers come, are served, and it closes.
import Foundation
import Testing

@Suite("Main story", .serialized)
struct MainStoryTests {
  @Test(
    "a bank opens, prints its windows with their pids, and these processes run",
    arguments: OutputLanguage.allCases)
  func opening(outputLanguage: OutputLanguage) throws {
    try withScratchBank { branch in
      let opened = try branch.runSuccessfully("start", "--speed", "20", language: outputLanguage)
      let status = try branch.status()
      #expect(
        status.workers.map(\.name) == ["deposit-1", "deposit-2", "loan-1", "juice-1", "stock", "vending"])
      for worker in status.workers {
        #expect(
          opened.outLines.contains { $0.contains(worker.name) && $0.contains("pid \(worker.pid)") },
          opened.story)
        #expect(branch.processes.isAlive(worker.pid))
      }
      #expect(
        opened.out.contains(outputLanguage == .ko ? "은행이 열렸습니다. 영업 1일차" : "The bank is open: day 1"),
        opened.story)
      #expect(opened.errorsWithoutProgress == "", opened.story)
    }
  }

  @Test("ten customers start, finish, and get one receipt each; the next start is day 2")
  func tenCustomers() throws {
    try withScratchBank { branch in
      try branch.start("--speed", "20", language: .ko)
      let issued = try branch.json("enqueue", "10")
      #expect(issued.differences(from: Samples.enqueued) == [])
      #expect(issued == Samples.enqueued)
      let idle = try branch.json("wait", "--timeout", "120s")
      #expect(idle.differences(from: Samples.status) == [])
      #expect(Status(idle).queue("served") == 10)
      #expect(Status(idle).isBalanced)
      for event in ["started", "completed"] {
        var told: [Int] = []
        try branch.waitUntil("ten lines `\(event)` are in the logs") {
          told = ["deposit-1", "deposit-2", "loan-1"].flatMap { name in
            branch.events(event, in: name).compactMap { Int($0["ticket"] ?? "") }
          }
          return told.count >= 10
        }
        #expect(told.sorted() == Array(1...10), "each customer has exactly one line `\(event)`")
      }
      try branch.expectOneReceiptEach(10)
      for receipt in try branch.lines("receipts") {
        #expect(receipt.differences(from: Samples.receipt) == [])
        let isDeposit = receipt["service"].text == "deposit"
        #expect(receipt["debit"].text == (isDeposit ? "cash" : "loans"))
        #expect(receipt["credit"].text?.hasPrefix("customer-") == true)
        #expect(receipt["attempts"].integer == 1)
        #expect(receipt["outcome"].text == "served")
        #expect(receipt["window"].text?.hasPrefix(isDeposit ? "deposit-" : "loan-") == true)
      }
      let closing = try branch.runSuccessfully("stop", language: .ko)
      #expect(
        closing.out.wholeMatch(of: /업무가 마감되었습니다. 오늘 업무를 처리한 고객은 총 10명이며, 총 업무시간은 \d+\.\d\d초입니다.\n/) != nil,
        closing.story)
      try branch.expectNoProcessesLeft()
      #expect(Status(try branch.start("--speed", "20")).day == 2)
      #expect(try branch.json("enqueue", "1")["first"].integer == 1)
      let next = try branch.runSuccessfully("stop")
      #expect(
        next.out.wholeMatch(
          of: /The bank has closed\. Customers served today: 1\. Total business time: \d+\.\d\d seconds\.\n/
        ) != nil,
        next.story)
    }
  }

  @Test("the log of a teller reports the start and end of a customer in the original words")
  func koreanLines() throws {
    try withScratchBank { branch in
      try branch.start("--speed", "max", "--deposit", "1", language: .ko)
      try branch.runSuccessfully("enqueue", "1", "--service", "loan", "--wait")
      try branch.runSuccessfully("enqueue", "1", "--service", "deposit", "--grade", "vip", "--wait")
      #expect(try branch.events("started", in: "loan-1", count: 1).map { $0["msg"] } == ["1번 고객 대출업무 시작"])
      #expect(try branch.events("completed", in: "loan-1", count: 1).map { $0["msg"] } == ["1번 고객 대출업무 완료"])
      #expect(
        try branch.events("started", in: "deposit-1", count: 1).map { $0["msg"] } == ["2번 VIP고객 예금업무 시작"])
      let line = branch.log("deposit-1").split(separator: "\n").first { $0.contains("event=started") } ?? ""
      let pid = try #require(try branch.status().worker("deposit-1")?.pid)
      #expect(line.hasPrefix("ts="))
      for part in [
        "level=info", "worker=deposit-1", "pid=\(pid)", "gen=1", "event=started", "day=1", "ticket=2",
        "service=deposit", "attempt=1",
      ] {
        #expect(line.contains(" \(part) "), "\(line)")
      }
      #expect(branch.events("ready", in: "deposit-1").count == 1)
    }
  }

  @Test("windows and speed come from flags, then from the configuration, then from the defaults")
  func order() throws {
    try withScratchBank { branch in
      let file = try branch.configuration(deposit: 3, loan: 2, depositWork: "50ms")
      let opened = Status(try branch.start("--config", file, "--loan", "1"))
      #expect(opened.document.differences(from: Samples.status) == [])
      #expect(opened.service("deposit")["windows"].integer == 3)
      #expect(opened.service("loan")["windows"].integer == 1)
      #expect(opened.workers.allSatisfy { $0.state == "idle" && $0.generation == 1 })
      try branch.expectRefusal(5, "already_open", of: "start")
      #expect(try branch.status().pid == opened.pid, "the open bank is not affected")
      try branch.runSuccessfully("stop")
      let plain = Status(try branch.start())
      #expect(
        plain.workers.map(\.name) == ["deposit-1", "deposit-2", "loan-1", "juice-1", "stock", "vending"])
    }
  }

  @Test("an unusable configuration is refused before anything is opened")
  func badConfiguration() throws {
    try withScratchBank { branch in
      let file = try branch.write(#"{"windows": {"deposit": "many"}}"#, to: "bad.json")
      try branch.expectRefusal(2, "bad_configuration", of: "start", "--config", file)
      try branch.expectRefusal(2, "bad_configuration", of: "start", "--config", branch.path("none.json"))
      try branch.expectNoProcessesLeft()
    }
  }

  @Test("every command that needs an open bank reports that there is none, with exit code 3")
  func notOpen() throws {
    try withScratchBank { branch in
      let commands = [
        ["status"], ["status", "--watch"], ["enqueue", "1"], ["wait"], ["pause"], ["resume"],
        ["scale", "loan=2"],
        ["cancel", "1"], ["requeue", "1"], ["requeue", "--dead"], ["reset"], ["reload"], ["stop"],
      ]
      for arguments in commands {
        let outcome = try branch.launch(arguments + ["--json"]).finish()
        #expect(outcome.code == 3, outcome.story)
        #expect(try outcome.json()["error"]["code"].text == "not_open", outcome.story)
      }
      try branch.expectRefusal(3, "not_open", of: "status")
    }
  }

  @Test("a pipe after start ends with it: the bank inherits no descriptor of the caller")
  func pipe() throws {
    try withScratchBank { branch in
      let shell = try branch.launch(
        ["-c", "\(Binaries.bankctl) start --speed 20 | cat; echo over"], program: "/bin/sh")
      #expect(try shell.finish(within: .seconds(15)).lastLine == "over")
      #expect(try branch.status().state == "open")
    }
  }

  @Test("two homes are two banks; the flag precedes the environment")
  func twoHomes() throws {
    try withScratchBank { branch in
      try branch.start("--speed", "max")
      let other = branch.path("other")
      try branch.runSuccessfully("start", "--home", other, "--loan", "3")
      try branch.runSuccessfully("enqueue", "4", "--wait")
      #expect(try Status(branch.json("status", "--home=\(other)")).queue("issued") == 0)
      #expect(try branch.status().queue("issued") == 4)
      try branch.runSuccessfully("--home", other, "stop")
      #expect(try branch.status().state == "open")
    }
  }

  @Test(
    "in the foreground the bank runs until SIGTERM, then serves all customers and prints its summary",
    arguments: OutputLanguage.allCases)
  func foreground(outputLanguage: OutputLanguage) throws {
    try withScratchBank { branch in
      let bank = try branch.launch(["start", "--foreground", "--speed", "20"], language: outputLanguage)
      try branch.waitUntil("the bank is open") { !bank.lines.isEmpty }
      try branch.runSuccessfully("enqueue", "6")
      #expect(bank.isRunning)
      bank.signal(SIGTERM)
      let outcome = try bank.finish()
      #expect(outcome.code == 0, outcome.story)
      #expect(
        outcome.lastLine.hasPrefix(
          outputLanguage == .ko
            ? "업무가 마감되었습니다. 오늘 업무를 처리한 고객은 총 6명이며," : "The bank has closed. Customers served today: 6."),
        outcome.story)
      try branch.expectNoProcessesLeft()
      try branch.expectOneReceiptEach(6)
    }
  }

  @Test("only the owner can read a home and its files")
  func permissions() throws {
    try withScratchBank { branch in
      try branch.start("--speed", "max")
      let files = try FileManager.default.subpathsOfDirectory(atPath: branch.home)
      #expect(files.contains("run/bank.sock"))
      for file in [""] + files {
        let facts = try FileManager.default.attributesOfItem(atPath: "\(branch.home)/\(file)")
        let mode = (facts[.posixPermissions] as? NSNumber)?.intValue ?? -1
        #expect(mode & 0o077 == 0, "\(file) has the mode \(String(mode, radix: 8))")
      }
    }
  }
}
