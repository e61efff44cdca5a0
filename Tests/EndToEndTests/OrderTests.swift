// Order of service: by service, by grade, by number. Windows are slow if customers must be blocked.
import Testing

@Suite("Order of service", .serialized)
struct OrderTests {
  @Test("no deposit waits behind a loan while a deposit window is free")
  func loansFirst() throws {
    try withScratchBank { branch in
      let file = try branch.configuration(depositWork: "10ms", loanWork: "60s")
      try branch.start("--config", file)
      try branch.runSuccessfully("enqueue", "20", "--service", "loan")
      try branch.runSuccessfully("enqueue", "6", "--service", "deposit")
      try branch.waitUntil("all deposits are served") {
        try branch.status().service("deposit")["served"].integer == 6
      }
      let status = try branch.status()
      #expect(status.service("loan")["served"].integer == 0)
      #expect(status.service("loan")["waiting"].integer == 19)
      #expect(status.service("loan")["serving"].integer == 1)
      #expect(try branch.receipts().compactMap(\.["ticket"].integer).sorted() == Array(21...26))
    }
  }

  @Test("no loan waits behind a deposit while a loan window is free")
  func depositsFirst() throws {
    try withScratchBank { branch in
      let file = try branch.configuration(depositWork: "60s", loanWork: "10ms")
      try branch.start("--config", file)
      try branch.runSuccessfully("enqueue", "20", "--service", "deposit")
      try branch.runSuccessfully("enqueue", "4", "--service", "loan")
      try branch.waitUntil("all loans are served") {
        try branch.status().service("loan")["served"].integer == 4
      }
      #expect(try branch.status().service("deposit")["served"].integer == 0)
    }
  }

  @Test("a higher grade is served first, and within a grade the earlier number")
  func grades() throws {
    try withScratchBank { branch in
      try branch.start("--deposit", "1", "--loan", "1", "--speed", "max", language: .ko)
      try branch.runSuccessfully("pause")
      for grade in ["regular", "vip", "vvip", "regular", "vip", "vvip"] {
        try branch.runSuccessfully("enqueue", "2", "--service", "deposit", "--grade", grade)
      }
      let waiting = try branch.lines("tickets", "--state", "waiting").compactMap(\.["ticket"].integer)
      let expected = [5, 6, 11, 12, 3, 4, 9, 10, 1, 2, 7, 8]
      #expect(waiting.sorted() == Array(1...12))
      try branch.runSuccessfully("resume")
      try branch.runSuccessfully("wait")
      let started = try branch.events("started", in: "deposit-1", count: 12)
      #expect(started.compactMap { Int($0["ticket"] ?? "") } == expected)
      #expect(try branch.receipts().compactMap(\.["ticket"].integer) == expected)
      #expect(started.first?["msg"] == "5번 VVIP고객 예금업무 시작")
      #expect(started.last?["msg"] == "8번 고객 예금업무 시작")
    }
  }

  @Test("any number is a priority, the lowest is served first, and the grades are numbers among them")
  func priorities() throws {
    try withScratchBank { branch in
      try branch.start("--deposit", "1", "--loan", "0", "--speed", "max")
      try branch.runSuccessfully("pause")
      for priority in ["4294967295", "1024", "0", "1025", "1022"] {
        try branch.runSuccessfully("enqueue", "--service", "deposit", "--priority", priority, "1")
      }
      try branch.runSuccessfully("enqueue", "1", "--service", "deposit", "--grade", "vip")
      let people = "{\"service\":\"deposit\",\"priority\":1}\n{\"service\":\"deposit\",\"grade\":\"vvip\"}\n"
      try branch.runSuccessfully("enqueue", "--from", "-", input: people)
      let waiting = try branch.lines("tickets", "--state", "waiting")
      #expect(waiting.first { $0["ticket"].integer == 5 }?["priority"].integer == 1_022)
      try branch.runSuccessfully("resume")
      try branch.runSuccessfully("wait")
      let receipts = try branch.receipts()
      #expect(receipts.compactMap(\.["ticket"].integer) == [3, 8, 7, 5, 6, 2, 4, 1])
      #expect(
        receipts.compactMap(\.["priority"].integer) == [0, 0, 1, 1_022, 1_023, 1_024, 1_025, 4_294_967_295])
      #expect(receipts.map(\.["grade"].text) == ["vvip", "vvip", nil, nil, "vip", "regular", nil, nil])
      #expect(try branch.runSuccessfully("ticket", "4").out.contains("priority 1025"))
      try branch.expectClean()
    }
  }

  @Test("a thousand customers of one kind are served in the order of their numbers")
  func thousand() throws {
    try withScratchBank { branch in
      try branch.start("--deposit", "1", "--loan", "0", "--speed", "max")
      try branch.runSuccessfully("enqueue", "1000", "--service", "deposit", "--wait")
      #expect(try branch.receipts().compactMap(\.["ticket"].integer) == Array(1...1000))
      try branch.expectClean()
    }
  }

  @Test("a request that exceeds the number of priorities is refused, and adds no customer")
  func tooManyPriorities() throws {
    try withScratchBank { branch in
      try branch.start("--deposit", "1", "--loan", "1")
      let list = try branch.write(
        (0...4_096).map { #"{"priority":\#(2_000 + $0)}"# }.joined(separator: "\n") + "\n", to: "priorities")
      try branch.expectRefusal(75, "queue_full", of: "enqueue", "--from", list)
      let refused = try branch.launch(["enqueue", "--from", list], language: .ko).finish()
      #expect(refused.code == 75 && refused.err.contains("4096개까지"), refused.story)
      #expect(try branch.runSuccessfully("enqueue", "1", "--priority", "2000").out.contains("ticket 1,"))
      try branch.expectClean()
    }
  }

  @Test("the position and expected wait of a waiting customer are shown, in both languages")
  func position() throws {
    try withScratchBank { branch in
      let file = try branch.configuration(deposit: 1, depositWork: "60s")
      try branch.start("--config", file)
      #expect(try branch.runSuccessfully("tickets").outLines == ["Waiting", "  none", "Serving", "  none"])
      try branch.runSuccessfully("enqueue", "3", "--service", "deposit")
      try branch.waitUntilServed(by: "deposit-1", ticket: 1)
      let ticket = try branch.json("ticket", "3")
      #expect(ticket.differences(from: Samples.waitingTicket) == [])
      #expect(ticket["position"].integer == 2)
      #expect(try branch.runSuccessfully("ticket", "3", language: .ko).out.contains("대기중, 2번째"))
      #expect(try branch.runSuccessfully("ticket", "3").out.contains("waiting, number 2 in line"))
      let lists = try branch.runSuccessfully("tickets", language: .ko).outLines
      #expect(lists == ["대기중", "  2 - 예금", "  3 - 예금", "업무중", "  1 - 예금 deposit-1"])
      let english = try branch.runSuccessfully("tickets").outLines
      #expect(english == ["Waiting", "  2 - deposit", "  3 - deposit", "Serving", "  1 - deposit deposit-1"])
      #expect(try branch.lines("tickets", "--state", "serving").map { $0["ticket"].integer } == [1])
      try branch.expectRefusal(4, "no_such_ticket", of: "ticket", "99")
      try branch.expectRefusal(4, "no_such_day", of: "ticket", "1", "--day", "7")
    }
  }
}
