// Operator commands on an open bank: pausing, scaling, resetting, a new configuration.
import Testing

@Suite("Steering", .serialized)
struct SteeringTests {
  @Test("a paused service assigns no customer, the other continues; it is still paused after a restart")
  func pauseOne() throws {
    try withScratchBank { branch in
      try branch.start("--speed", "max")
      #expect(
        try branch.runSuccessfully("pause", "loan", language: .ko).out
          == "대출 업무를 일시 중지했습니다. 'bankctl resume loan'으로 다시 시작합니다.\n")
      try branch.runSuccessfully("enqueue", "3", "--service", "loan")
      try branch.runSuccessfully("enqueue", "3", "--service", "deposit")
      try branch.waitUntil("the deposits are served") { try branch.status().queue("served") == 3 }
      let status = try branch.status()
      #expect(status.state == "open")
      #expect(status.service("loan")["paused"].flag == true)
      #expect(status.service("deposit")["paused"].flag == false)
      #expect(status.service("loan")["waiting"].integer == 3)
      #expect(try branch.json("stop")["waiting"].integer == 3, "a drain does not wait for a paused service")
      let again = Status(try branch.start("--speed", "max"))
      #expect(again.service("loan")["paused"].flag == true)
      #expect(again.queue("waiting") == 3)
      #expect(
        try branch.runSuccessfully("pause", "loan").out
          == "Service loan paused. Resume: 'bankctl resume loan'.\n"
      )
      #expect(try branch.runSuccessfully("resume", "deposit", language: .ko).out == "예금 업무를 다시 시작했습니다.\n")
      #expect(try branch.runSuccessfully("resume", "deposit").out == "Service deposit resumed.\n")
      let resumed = try branch.json("resume", "loan")
      #expect(resumed.differences(from: Samples.status) == [])
      #expect(Status(resumed).service("loan")["paused"].flag == false)
      try branch.runSuccessfully("wait")
      try branch.expectOneReceiptEach(6)
    }
  }

  @Test("all services are paused and resumed; customers at a window are finished")
  func pauseAll() throws {
    try withScratchBank { branch in
      // Long enough for the pause to arrive in time on a busy machine.
      let file = try branch.configuration(deposit: 1, depositWork: "3s")
      try branch.start("--config", file)
      try branch.runSuccessfully("enqueue", "2", "--service", "deposit")
      try branch.waitUntilServed(by: "deposit-1", ticket: 1)
      let paused = Status(try branch.json("pause"))
      #expect(paused.state == "paused")
      #expect(paused.document["services"].items.allSatisfy { $0["paused"].flag == true })
      try branch.waitUntil("the customer at the window is finished") {
        try branch.status().queue("served") == 1
      }
      #expect(try branch.status().queue("waiting") == 1)
      #expect(try branch.run("wait", "--timeout", "150ms").code == 75)
      #expect(try branch.runSuccessfully("status", language: .ko).out.hasPrefix("일시 중지 · 영업 1일차"))
      #expect(try branch.runSuccessfully("status").out.hasPrefix("paused · day 1"))
      #expect(try branch.runSuccessfully("resume", language: .ko).out == "모든 업무를 다시 시작했습니다.\n")
      try branch.runSuccessfully("wait")
      #expect(try branch.status().state == "open")
      try branch.expectRefusal(4, "no_such_service", of: "pause", "tea")
      try branch.expectOneReceiptEach(2)
    }
  }

  @Test("a killed coordinator forgets no pause")
  func pauseOverCrash() throws {
    try withScratchBank { branch in
      try branch.start("--speed", "max")
      try branch.runSuccessfully("pause", "deposit")
      try branch.killCoordinator()
      #expect(Status(try branch.start("--speed", "max")).service("deposit")["paused"].flag == true)
    }
  }

  @Test("reset gives every customer a cancelled receipt, zeroes the timer, and starts the next day at 1")
  func reset() throws {
    try withScratchBank { branch in
      let file = try branch.configuration(depositWork: "60s", loanWork: "60s")
      try branch.start("--config", file)
      try branch.runSuccessfully("enqueue", "8", "--service", "deposit")
      try branch.runSuccessfully("enqueue", "2", "--service", "loan")
      try branch.waitUntil("three customers are being served") { try branch.status().queue("serving") == 3 }
      let pids = try branch.status().workers.map(\.pid)
      try branch.waitUntil("the timer runs") { try branch.status().businessMilliseconds > 0 }
      let after = Status(try branch.json("reset"))
      #expect(after.document.differences(from: Samples.status) == [])
      #expect(after.day == 2 && after.queue("issued") == 0 && after.isBalanced)
      #expect(after.businessMilliseconds == 0)
      let receipts = try branch.receipts()
      #expect(receipts.compactMap(\.["ticket"].integer).sorted() == Array(1...10))
      #expect(receipts.allSatisfy { $0["outcome"].text == "cancelled" && $0["day"].integer == 1 })
      #expect(receipts.flatMap { $0.differences(from: cancelled) } == [])
      let recalled = try branch.json("ticket", "1", "--day", "1")
      #expect(recalled["attempts"][0]["end"].text == "recalled", "\(recalled)")
      try branch.waitUntil("the tellers are idle again") {
        try branch.status().workers.allSatisfy { $0.state == "idle" }
      }
      #expect(try branch.status().workers.map(\.pid) == pids, "recalling a customer restarts no teller")
      #expect(try branch.json("enqueue", "1", "--service", "loan")["first"].integer == 1)
      #expect(
        try branch.runSuccessfully("reset", language: .ko).out
          == "고객 1명을 취소하고 초기화했습니다. 영업 3일차, 번호는 1부터 시작합니다.\n")
      #expect(
        try branch.runSuccessfully("reset").out
          == "The queue is empty; it is day 4, numbering restarts at 1.\n")
      try branch.expectClean()
    }
  }

  /// Receipt of a reset: it may name the window of the customer.
  private var cancelled: JSON {
    Samples.parsed(
      #"{"day":1,"ticket":7,"window":null,"attempts":0,"debit":null,"credit":null,"finished_at":"Z"}"#)
  }

  @Test("scale opens windows at once, and a closing window finishes its customer first")
  func scale() throws {
    try withScratchBank { branch in
      let file = try branch.configuration(deposit: 1, loan: 0, depositWork: "4s")
      try branch.start("--config", file)
      let grown = Status(try branch.json("scale", "deposit=3", "loan=2"))
      #expect(grown.document.differences(from: Samples.status) == [])
      #expect(grown.tellers.map(\.name) == ["deposit-1", "deposit-2", "deposit-3", "loan-1", "loan-2"])
      #expect(grown.workers.allSatisfy { branch.processes.isAlive($0.pid) })
      try branch.runSuccessfully("enqueue", "3", "--service", "deposit")
      try branch.waitUntil("all three windows are busy") { try branch.status().queue("serving") == 3 }
      let closing = try branch.status().tellers.filter { $0.name != "deposit-1" }
      let outcome = try branch.runSuccessfully("scale", "deposit=1", "loan=0", language: .ko)
      #expect(outcome.out == "창구: 예금 1, 대출 0, 쥬스 1\n")
      #expect(try branch.status().tellers.map(\.name) == ["deposit-1"])
      #expect(closing.allSatisfy { !branch.processes.isAlive($0.pid) })
      try branch.runSuccessfully("wait")
      let receipts = try branch.receipts()
      #expect(Set(receipts.compactMap(\.["window"].text)) == ["deposit-1", "deposit-2", "deposit-3"])
      #expect(receipts.allSatisfy { $0["attempts"].integer == 1 && $0["outcome"].text == "served" })
      #expect(try branch.runSuccessfully("scale", "deposit=2").out == "Windows: deposit 2, loan 0, juice 1\n")
      try branch.expectRefusal(4, "no_such_service", of: "scale", "tea=2")
      #expect(try branch.run("scale", "deposit=257").code == 2)
      #expect(try branch.run("scale", "deposit=1", "deposit=2").code == 2)
    }
  }

  @Test("a service without windows keeps its customers waiting until one is opened")
  func noWindow() throws {
    try withScratchBank { branch in
      try branch.start("--loan", "0", "--speed", "max")
      try branch.runSuccessfully("enqueue", "2", "--service", "loan")
      try branch.runSuccessfully("enqueue", "2", "--service", "deposit")
      try branch.waitUntil("the deposits are served") { try branch.status().queue("served") == 2 }
      #expect(try branch.status().service("loan")["waiting"].integer == 2)
      try branch.runSuccessfully("scale", "loan=1")
      try branch.runSuccessfully("wait", "--timeout", "120s")
      try branch.expectOneReceiptEach(4)
    }
  }

  @Test("reload changes windows, durations and speed, and interrupts no customer at a window")
  func reload() throws {
    try withScratchBank { branch in
      let file = try branch.configuration(deposit: 2, loan: 1, depositWork: "3s", loanWork: "60s")
      try branch.start("--config", file)
      try branch.runSuccessfully("enqueue", "2", "--service", "deposit")
      try branch.waitUntil("both customers are served") { try branch.status().queue("serving") == 2 }
      _ = try branch.configuration(deposit: 1, loan: 2, depositWork: "60s", loanWork: "60s", speed: "max")
      let reloaded = Status(try branch.json("reload"))
      #expect(reloaded.document.differences(from: Samples.status) == [])
      #expect(reloaded.tellers.map(\.name) == ["deposit-1", "loan-1", "loan-2"])
      try branch.waitUntil("both have a receipt") { try branch.receipts().count == 2 }
      #expect(try branch.receipts().map { $0["attempts"].integer } == [1, 1])
      try branch.runSuccessfully("enqueue", "20")
      try branch.runSuccessfully("wait", "--timeout", "120s")
      try branch.expectOneReceiptEach(22)
      #expect(
        try branch.runSuccessfully("reload", language: .ko).out == "설정을 다시 읽었습니다.\n창구: 예금 1, 대출 2, 쥬스 1\n")
      #expect(
        try branch.runSuccessfully("reload").out
          == "The configuration was read again.\nWindows: deposit 1, loan 2, juice 1\n")
    }
  }

  @Test("reload refuses a bad configuration with its place, and the running bank is not affected")
  func badReload() throws {
    try withScratchBank { branch in
      let file = try branch.configuration(depositWork: "1ms", loanWork: "1ms")
      try branch.start("--config", file)
      let before = try branch.status()
      for text in ["{", #"{"windows": {"deposit": -1}}"#, #"{"work": {"deposit": "soon"}}"#, #"{"wat": 1}"#] {
        _ = try branch.write(text, to: "bank.json")
        try branch.expectRefusal(2, "bad_configuration", of: "reload")
        #expect(try branch.run("reload").err.contains("bank.json:1: "))
      }
      let after = try branch.status()
      #expect(after.workers.map(\.pid) == before.workers.map(\.pid))
      try branch.runSuccessfully("enqueue", "5", "--wait")
      try branch.expectOneReceiptEach(5)
    }
  }
}
