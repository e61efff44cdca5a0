// Ways to take tickets: a number, one kind, from a list, repeatably, and by several clients at once.
import Testing

@Suite("Taking tickets", .serialized)
struct EnqueueTests {
  @Test("service, grade, amount and account are as requested, also in the ledger")
  func asAsked() throws {
    try withScratchBank { branch in
      try branch.start("--speed", "max")
      try branch.runSuccessfully(
        "enqueue", "3", "--service", "loan", "--grade", "vip", "--amount", "250000", "--account", "12",
        "--wait")
      for receipt in try branch.receipts() {
        #expect(receipt["service"].text == "loan" && receipt["grade"].text == "vip")
        #expect(receipt["amount"].integer == 250_000)
        #expect(receipt["debit"].text == "loans" && receipt["credit"].text == "customer-12")
      }
      try branch.runSuccessfully("enqueue", "1", "--service=예금", "--amount=1", "--account=3", "--wait")
      let last = try #require(try branch.receipts().last)
      #expect(
        last["debit"].text == "cash" && last["credit"].text == "customer-3" && last["amount"].integer == 1)
      #expect(try branch.runSuccessfully("enqueue", "2", language: .ko).out == "고객 2명: 5–6번, 영업 1일차\n")
      #expect(try branch.runSuccessfully("enqueue", "2").out == "2 customers: tickets 7–8, day 1\n")
    }
  }

  @Test("the same seed draws the same customers, another seed draws others")
  func seed() throws {
    try withScratchBank { branch in
      try branch.start("--speed", "max")
      func drawn(_ seed: String) throws -> [JSON] {
        let first = try branch.json("enqueue", "40", "--seed", seed, "--wait")["first"].integer ?? 0
        return try branch.receipts().filter { ($0["ticket"].integer ?? 0) >= first }
          .sorted { ($0["ticket"].integer ?? 0) < ($1["ticket"].integer ?? 0) }
          .map { .list([$0["service"], $0["amount"], $0["credit"]]) }
      }
      let once = try drawn("7")
      #expect(once.count == 40)
      #expect(Set(once.compactMap(\.[0].text)) == ["deposit", "loan"], "both services are drawn")
      #expect(try drawn("7") == once)
      #expect(try drawn("8") != once)
    }
  }

  @Test("the same key returns the same tickets and adds no customer, also after a restart and a crash")
  func key() throws {
    try withScratchBank { branch in
      try branch.start("--speed", "max")
      let first = try branch.json("enqueue", "5", "--key", "월요일-1")
      #expect(first["known"].flag == false && first["last"].integer == 5)
      func expectFirst() throws {
        let again = try branch.json("enqueue", "5", "--key", "월요일-1")
        #expect(again["known"].flag == true, "\(again)")
        for name in ["day", "first", "last", "count"] { #expect(again[name] == first[name], "\(again)") }
      }
      try expectFirst()
      #expect(
        try branch.runSuccessfully("enqueue", "5", "--key", "월요일-1").out
          == "5 customers already exist: tickets 1–5, day 1\n")
      #expect(
        try branch.runSuccessfully("enqueue", "5", "--key", "월요일-1", language: .ko).out
          == "고객 5명은 이미 있습니다: 1–5번, 영업 1일차\n")
      try branch.expectRefusal(5, "key_conflict", of: "enqueue", "6", "--key", "월요일-1")
      try branch.expectRefusal(5, "key_conflict", of: "enqueue", "5", "--seed", "1", "--key", "월요일-1")
      try branch.runSuccessfully("enqueue", "1")
      try branch.runSuccessfully("pause")
      try branch.runSuccessfully("enqueue", "1")
      try branch.killCoordinator()
      try branch.start("--speed", "max")
      try expectFirst()
      try branch.runSuccessfully("stop", "--now")
      try branch.start("--speed", "max")
      try expectFirst()
      #expect(try branch.status().queue("issued") == 7)
      try branch.expectClean()
    }
  }

  @Test("--wait returns when the tickets of this command are finished, regardless of other customers")
  func wait() throws {
    try withScratchBank { branch in
      let file = try branch.configuration(depositWork: "100ms", loanWork: "60s")
      try branch.start("--config", file)
      try branch.runSuccessfully("enqueue", "2", "--service", "loan")
      let outcome = try branch.runSuccessfully(
        "enqueue", "4", "--service", "deposit", "--wait", language: .ko)
      #expect(outcome.out == "고객 4명: 3–6번, 영업 1일차\n4명의 처리가 모두 끝났습니다.\n")
      #expect(try branch.status().queue("served") == 4)
      let report = try branch.json("enqueue", "2", "--service", "deposit", "--wait")
      #expect(report.differences(from: Samples.enqueued) == [])
      #expect(try branch.status().queue("served") == 6)
    }
  }

  @Test("customers come from a file and from standard input, and keys make the list repeatable")
  func list() throws {
    try withScratchBank { branch in
      try branch.start("--speed", "max", "--deposit", "1")
      let people = """
        {"service":"deposit","grade":"vip","amount":50000,"account":12,"key":"a"}
        {"service":"loan","amount":70000,"account":13,"key":"b"}
        {"grade":"vvip","key":"c"}
        """
      let file = try branch.write(people + "\n", to: "people.jsonl")
      let issued = try branch.json("enqueue", "--from", file)
      #expect(issued.differences(from: Samples.enqueued) == [])
      #expect(issued["first"].integer == 1 && issued["last"].integer == 3 && issued["count"].integer == 3)
      let again = try branch.json("enqueue", "--from", "-", input: people + "\n{\"service\":\"loan\"}")
      #expect(again["count"].integer == 1 && again["first"].integer == 4, "\(again)")
      #expect(again["known"].flag == false && again["already_issued_count"].integer == 3, "\(again)")
      #expect(again["already_issued"][0]["first"].integer == 1, "\(again)")
      #expect(again["already_issued"][0]["last"].integer == 3, "\(again)")
      try branch.runSuccessfully("wait")
      let receipts = try branch.receipts()
      let first = try #require(receipts.first { $0["ticket"].integer == 1 })
      #expect(first["amount"].integer == 50_000 && first["credit"].text == "customer-12")
      #expect(first["grade"].text == "vip" && first["service"].text == "deposit")
      #expect(receipts.first { $0["ticket"].integer == 3 }?["grade"].text == "vvip")
      try branch.expectOneReceiptEach(4)
    }
  }

  @Test("a list of known customers returns their tickets, and --wait waits for them")
  func knownList() throws {
    try withScratchBank { branch in
      let config = try branch.configuration(deposit: 1, loan: 0, depositWork: "150ms")
      try branch.start("--config", config)
      // Two encodings of one word are two keys, here as in the database.
      let people = ["caf\u{E9}", "cafe\u{301}", "c"].map { "{\"service\":\"deposit\",\"key\":\"\($0)\"}\n" }
        .joined()
      let file = try branch.write(people, to: "people.jsonl")
      #expect(try branch.json("enqueue", "--from", file)["count"].integer == 3)
      let outcome = try branch.runSuccessfully("enqueue", "--from", file, "--wait")
      #expect(
        outcome.out
          == "No customers added: 3 customers already exist: tickets 1–3 (day 1)\n"
          + "All 3 customers are finished.\n")
      #expect(try branch.status().queue("served") == 3, "the command waited for them")
      let again = try branch.json("enqueue", "--from", file, "--wait")
      #expect(again["known"].flag == true && again["already_issued_count"].integer == 3, "\(again)")
      #expect(again["already_issued"][0]["last"].integer == 3 && again["dead"].integer == 0, "\(again)")
      #expect(
        try branch.runSuccessfully("enqueue", "--from", file, language: .ko).out
          == "추가된 고객이 없습니다. 고객 3명은 이미 있습니다: 1–3번 (영업 1일차)\n")
      let other = try branch.write(#"{"service":"deposit","amount":5,"key":"c"}"#, to: "other.jsonl")
      try branch.expectRefusal(5, "key_conflict", of: "enqueue", "--from", other)
      #expect(try branch.status().queue("issued") == 3)
    }
  }

  @Test("cancel and requeue with a past day do not affect customers of the current one")
  func otherDay() throws {
    try withScratchBank { branch in
      try branch.start("--config", try branch.configuration(depositWork: "60s", loanWork: "60s"))
      try branch.runSuccessfully("pause")
      try branch.runSuccessfully("enqueue", "3")
      try branch.runSuccessfully("reset")
      try branch.runSuccessfully("enqueue", "3")
      for command in ["cancel", "requeue"] {
        try branch.expectRefusal(5, "wrong_day", of: command, "2", "--day", "1")
        try branch.expectRefusal(4, "no_such_day", of: command, "2", "--day", "7")
      }
      #expect(try branch.status().queue("waiting") == 3)
      try branch.runSuccessfully("cancel", "2", "--day", "2")
      #expect(try branch.status().queue("waiting") == 2)
      try branch.expectClean()
    }
  }

  @Test(
    "a bad line is named by its number, and no customer is added",
    arguments: [
      #"{"service":"Lone"}"#, #"{"amount":0}"#, #"{"amount":1.5}"#, #"{"grade":"king"}"#, #"{"who":1}"#, "[]",
      "{",
      #"{"account":-1}"#, #"{"priority":-1}"#, #"{"priority":4294967296}"#, #"{"priority":"vip"}"#,
      #"{"grade":"vip","priority":5}"#, #"{"grade":"7"}"#, #"{"amount":99999999999999999999}"#,
      #"{"service":"loan","service":"loan"}"#,
    ])
  func badLine(line: String) throws {
    try withScratchBank { branch in
      try branch.start("--speed", "max", "--deposit", "1", "--loan", "0")
      let people = "{\"service\":\"deposit\"}\n\(line)\n{\"service\":\"deposit\"}\n"
      for outputLanguage in OutputLanguage.allCases {
        let running = try branch.launch(["enqueue", "--from", "-"], language: outputLanguage, input: people)
        let outcome = try running.finish()
        #expect(outcome.code == 2, outcome.story)
        #expect(outcome.err.contains(outputLanguage == .ko ? "2번째 줄" : "ine 2 of "), outcome.story)
      }
      #expect(try branch.status().queue("issued") == 0)
    }
  }

  @Test("eight concurrent clients get consecutive numbers each, and no number twice")
  func concurrent() throws {
    try withScratchBank { branch in
      try branch.start("--speed", "max")
      let clients = try (1...8).map { _ in try branch.launch(["enqueue", "50", "--json"]) }
      let replies = try clients.map { try $0.finish().json() }
      #expect(
        replies.allSatisfy {
          $0["count"].integer == 50 && $0["last"].integer == ($0["first"].integer ?? 0) + 49
        })
      let firsts = replies.compactMap(\.["first"].integer).sorted()
      #expect(firsts == stride(from: 1, to: 400, by: 50).map { $0 })
      try branch.runSuccessfully("wait")
      try branch.expectOneReceiptEach(400)
      try branch.expectClean()
    }
  }

  @Test("a full queue returns exit code 75 and adds no customer")
  func full() throws {
    try withScratchBank { branch in
      let file = try branch.configuration(depositWork: "60s", loanWork: "60s", more: #", "max_waiting": 10"#)
      try branch.start("--config", file)
      try branch.runSuccessfully("pause")
      try branch.runSuccessfully("enqueue", "8")
      try branch.expectRefusal(75, "queue_full", of: "enqueue", "3")
      let list = String(repeating: "{}\n", count: 3)
      #expect(try branch.run("enqueue", "--from", "-", input: list).code == 75)
      #expect(try branch.status().queue("issued") == 8)
      #expect(try branch.json("enqueue", "2")["first"].integer == 9, "a request that fits is accepted")
      try branch.expectClean()
    }
  }

  @Test("invalid arguments are refused with exit code 2 before anything happens")
  func usage() throws {
    try withScratchBank { branch in
      try branch.start("--speed", "max")
      let wrong = [
        ["enqueue"], ["enqueue", "0"], ["enqueue", "x"],
        ["enqueue", "1", "2"],
        ["enqueue", "1", "--grade", "king"], ["enqueue", "1", "--priority", "4294967296"],
        ["enqueue", "1", "--priority", "5", "--grade", "vip"], ["enqueue", "1", "--priority", "vip"],
        ["enqueue", "1", "--amount", "-5"],
        ["enqueue", "3", "--from", "-"],
        ["enqueue", "10000001"], ["enqueue", "1", "--key", ""], ["enqueue", "--from", branch.path("none")],
      ]
      for arguments in wrong {
        let outcome = try branch.launch(arguments).finish()
        #expect(outcome.code == (arguments.last == branch.path("none") ? 1 : 2), outcome.story)
        #expect(outcome.out.isEmpty && outcome.err.hasPrefix("bankctl: "), outcome.story)
      }
      let unknown = try branch.run("enqueue", "1", "--service", "tea", "--lang", "en")
      #expect(unknown.code == 4 && unknown.err.contains("deposit, loan"), unknown.story)
      #expect(try branch.status().queue("issued") == 0)
    }
  }
}
