// Services of the configuration: windows, customers, lists, logs and refusals by name, and the customers of a service
// that is removed.
import Testing

private let services = #"""
  {"services": {"thumbs": {"work": "5ms", "windows": 2}, "mail.v2-a": {"work": "0s"}},
   "windows": {"deposit": 1}, "work": {"deposit": "5ms", "loan": "5ms"}}
  """#

@Suite("Services of the configuration", .serialized)
struct ServicesTests {
  @Test("configured services have customers and windows, and all output names them")
  func named() throws {
    try withScratchBank { branch in
      let file = try branch.write(services, to: "bank.json")
      let opened = Status(try branch.start("--config", file, "--windows", "mail.v2-a=3"))
      #expect(opened.service("thumbs")["windows"].integer == 2)
      #expect(opened.service("mail.v2-a")["windows"].integer == 3)
      #expect(opened.worker("mail.v2-a-3")?.role == "teller" && opened.worker("thumbs-2") != nil)
      try branch.runSuccessfully("enqueue", "4", "--service", "thumbs", "--wait")
      let list = try branch.write(
        """
        {"service":"mail.v2-a","grade":"vip","key":"a"}
        {"service":"deposit","amount":5000,"account":3}
        {"service":"thumbs","priority":7}

        """, to: "list.jsonl")
      #expect(try branch.json("enqueue", "--from", list)["count"].integer == 3)
      try branch.runSuccessfully("wait")
      let again = try branch.json("enqueue", "1", "--service", "mail.v2-a", "--grade", "vip", "--key", "a")
      #expect(again["known"].flag == true)
      try branch.expectRefusal(
        5, "key_conflict", of: "enqueue", "1", "--service", "thumbs", "--grade", "vip", "--key", "a")
      let receipts = try branch.receipts()
      #expect(receipts.count == 7)
      #expect(receipts.compactMap(\.["service"].text).filter { $0 == "thumbs" }.count == 5)
      let mail = try #require(receipts.first { $0["service"].text == "mail.v2-a" })
      #expect(mail["window"].text?.hasPrefix("mail.v2-a-") == true && mail["amount"].integer == 0)
      #expect(mail["debit"].text == nil && mail["credit"].text == nil)
      #expect(
        branch.log("thumbs-1").contains("service=thumbs")
          && branch.log("thumbs-1").contains("event=completed"))
      #expect(try branch.json("ticket", "1")["service"].text == "thumbs")
      #expect(try branch.runSuccessfully("status", language: .ko).out.contains("mail.v2-a"))
      let scaled = Status(try branch.json("scale", "thumbs=1", "mail.v2-a=0"))
      #expect(scaled.service("thumbs")["windows"].integer == 1 && scaled.worker("mail.v2-a-1") == nil)
      #expect(Status(try branch.json("pause", "thumbs")).service("thumbs")["paused"].flag == true)
      #expect(Status(try branch.json("resume", "thumbs")).service("thumbs")["paused"].flag == false)
      #expect(try branch.json("audit")["ok"].flag == true)
      try branch.runSuccessfully("stop")
    }
  }

  @Test(
    "a service's waiting limit holds for one request and for slices; a refusal names it and adds no customer")
  func full() throws {
    try withScratchBank { branch in
      let file = try branch.write(
        #"""
        {"services": {"few": {"work": "0s", "windows": 0, "max_waiting": 3}, "far": {"outside": true},
           "many": {"work": "0s", "windows": 0, "max_waiting": 5000}}}
        """#,
        to: "bank.json")
      try branch.start("--config", file, "--speed", "max")
      try branch.runSuccessfully("enqueue", "2", "--service", "few", "--in", "1h")
      try branch.expectRefusal(75, "queue_full", of: "enqueue", "2", "--service", "few")
      for language in [OutputLanguage.en, .ko] {
        let refused = try branch.run("enqueue", "2", "--service", "few", language: language)
        #expect(refused.code == 75 && refused.err.contains("few") && refused.err.contains("3"), refused.story)
      }
      try branch.runSuccessfully("enqueue", "1", "--service", "few")
      // More than a slice: the second or third slice exceeds the limit, and the earlier ones are withdrawn.
      try branch.expectRefusal(75, "queue_full", of: "enqueue", "9000", "--service", "many")
      try branch.waitUntil("no customer of the request is left") {
        try branch.status().service("many")["waiting"].integer == 0
      }
      try branch.runSuccessfully("enqueue", "5000", "--service", "many")
      try branch.expectRefusal(75, "queue_full", of: "enqueue", "1", "--service", "many")
      try branch.runSuccessfully("enqueue", "10", "--service", "deposit", "--wait")
      try branch.expectRefusal(2, "bad_request", of: "scale", "far=1")
      try branch.runSuccessfully("scale", "far=0")
      #expect(try branch.json("audit")["ok"].flag == true)
      try branch.runSuccessfully("stop", "--now")
      let refused = try branch.run("start", "--config", file, "--windows", "far=2")
      #expect(refused.code == 2 && refused.err.contains("far"), refused.story)
    }
  }

  @Test("an unknown name is refused with the list of known ones, and no customer is added")
  func unknown() throws {
    try withScratchBank { branch in
      let file = try branch.write(services, to: "bank.json")
      try branch.start("--config", file, "--speed", "max")
      for arguments in [
        ["enqueue", "1", "--service", "thubms"], ["pause", "thubms"], ["scale", "thubms=2"],
      ] {
        let outcome = try branch.launch(arguments).finish()
        #expect(outcome.code == 4 && outcome.err.contains("thumbs"), outcome.story)
        #expect(try branch.launch(arguments, language: .ko).finish().err.contains("thumbs"))
      }
      let far = try branch.run("enqueue", "1", "--service", "zzzzzzz")
      #expect(far.code == 4 && far.err.contains("deposit, loan, juice, thumbs, mail.v2-a"), far.story)
      let list = try branch.write(
        "{\"service\":\"thumbs\"}\n\n{\"service\":\"fax\"}\n", to: "list.jsonl")
      let refused = try branch.run("enqueue", "--from", list)
      #expect(
        refused.code == 4 && refused.err.contains("ine 3") && refused.err.contains("fax"), refused.story)
      #expect(try branch.run("enqueue", "--from", list, language: .ko).err.contains("3번째 줄"))
      let money = try branch.run("enqueue", "1", "--service", "thumbs", "--amount", "5")
      #expect(money.code == 2 && money.err.contains("has no ledger"), money.story)
      #expect(try branch.run("enqueue", "1", "--service", "juice").code == 2)
      #expect(try branch.status().queue("issued") == 0)
      try branch.runSuccessfully("stop")
      let start = try branch.run("start", "--config", file, "--windows", "thubms=2")
      #expect(start.code == 4 && start.err.contains("thumbs"), start.story)
      let twice = try branch.run("start", "--config", file, "--windows", "thumbs=2", "--windows", "thumbs=1")
      #expect(twice.code == 2, twice.story)
      #expect(try branch.run("config", "show", "--config", file, "--windows", "thubms=2").code == 4)
      let shown = try branch.runSuccessfully("config", "show", "--config", file, "--windows", "thumbs=9").out
      #expect(shown.contains("services.thumbs.windows") && shown.contains("--windows"))
      try branch.expectNoProcessesLeft()
    }
  }

  @Test("removing a service with waiting customers loses none, and it gets its number back when it returns")
  func takenOut() throws {
    try withScratchBank { branch in
      let file = try branch.write(services, to: "bank.json")
      try branch.start("--config", file)
      try branch.runSuccessfully("pause", "thumbs")
      try branch.runSuccessfully("enqueue", "3", "--service", "thumbs")
      let rest =
        #"{"services": {"fax": {"work": "0s"}, "mail.v2-a": {"work": "0s"}}, "work": {"deposit": "5ms"}}"#
      _ = try branch.write(rest, to: "bank.json")
      let reloaded = Status(try branch.json("reload"))
      #expect(
        reloaded.service("thumbs")["windows"].integer == 0
          && reloaded.service("thumbs")["waiting"].integer == 3)
      #expect(reloaded.service("fax")["windows"].integer == 1 && reloaded.worker("thumbs-1") == nil)
      for language in OutputLanguage.allCases {
        let audit = try branch.runSuccessfully("audit", language: language)
        #expect(audit.out.contains("thumbs") || audit.err.contains("thumbs"), audit.story)
      }
      try branch.expectRefusal(4, "no_such_service", of: "enqueue", "1", "--service", "thumbs")
      try branch.expectRefusal(4, "no_such_service", of: "scale", "thumbs=1")
      try branch.runSuccessfully("resume", "thumbs")
      try branch.runSuccessfully("enqueue", "2", "--service", "fax", "--wait")
      #expect(try branch.json("stop")["waiting"].integer == 3)
      let again = Status(try branch.start("--config", file))
      #expect(
        again.service("thumbs")["waiting"].integer == 3 && again.service("thumbs")["windows"].integer == 0)
      #expect(try branch.json("ticket", "2")["service"].text == "thumbs")
      _ = try branch.write(services, to: "bank.json")
      #expect(Status(try branch.json("reload")).service("thumbs")["windows"].integer == 2)
      try branch.runSuccessfully("wait")
      try branch.expectOneReceiptEach(5)
      #expect(try branch.receipts().filter { $0["service"].text == "thumbs" }.count == 3)
      #expect(try branch.json("audit")["ok"].flag == true)
    }
  }

  @Test("a service has the same number of windows after a kill of the coordinator")
  func recovered() throws {
    try withScratchBank { branch in
      let file = try branch.write(services, to: "bank.json")
      let opened = Status(try branch.start("--config", file))
      try branch.runSuccessfully("scale", "thumbs=4")
      try branch.runSuccessfully("enqueue", "20", "--service", "thumbs")
      branch.processes.signal(opened.pid, 9)
      try branch.waitUntil("the bank is open again") {
        try branch.statusIfAnswered().map {
          $0.pid != opened.pid && $0.service("thumbs")["windows"].integer == 4
        } ?? false
      }
      try branch.runSuccessfully("wait")
      try branch.expectOneReceiptEach(20)
    }
  }
}
