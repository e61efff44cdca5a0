// Services whose customers move money: the configuration names both accounts, and every receipt is one transfer.
import Testing

private let services = #"""
  {"services": {
     "fee": {"run": ["cat"], "ledger": {"debit": "customer", "credit": "cash"}},
     "repay": {"work": "0s", "ledger": {"debit": "customer", "credit": "loans"}},
     "post": {"work": "0s"}},
   "windows": {"deposit": 1, "loan": 1, "juice": 0}, "work": {"deposit": "0s", "loan": "0s"}}
  """#

@Suite("Services with a ledger", .serialized)
struct ServiceLedgerTests {
  private func withLedger(_ test: (ScratchBank) throws -> Void) throws {
    try withScratchBank { branch in
      try branch.start("--config", try branch.write(services, to: "bank.json"))
      try test(branch)
      try branch.runSuccessfully("stop")
      try branch.expectNoProcessesLeft()
    }
  }

  @Test("each served customer moves its amount once, and the ledger balances, also after a crash")
  func moved() throws {
    try withLedger { branch in
      func balance() throws -> (debit: Int?, credit: Int?) {
        let account = try branch.json("account", "7")
        return (account["debit"].integer, account["credit"].integer)
      }
      try branch.runSuccessfully(
        "enqueue", "1", "--service", "loan", "--amount", "9000", "--account", "7", "--wait")
      try branch.runSuccessfully(
        "enqueue", "2", "--service", "fee", "--amount", "500", "--account", "7", "--payload", "x", "--wait")
      let list = try branch.write(
        """
        {"service":"repay","amount":3000,"account":7}
        {"service":"fee","amount":1,"account":8}
        {"service":"post"}

        """, to: "list.jsonl")
      try branch.runSuccessfully("enqueue", "--from", list, "--wait")
      #expect(try balance() == (4_000, 9_000))
      try branch.killCoordinator()
      try branch.start("--config", branch.path("bank.json"))
      #expect(try balance() == (4_000, 9_000))
      let receipts = try branch.receipts()
      let fee = try #require(receipts.first { $0["service"].text == "fee" })
      #expect(fee["debit"].text == "customer-7" && fee["credit"].text == "cash", "\(fee)")
      #expect(fee["amount"].integer == 500)
      let post = try #require(receipts.first { $0["service"].text == "post" })
      #expect(post["debit"].text == nil && post["amount"].integer == 0)
      let story = try branch.runSuccessfully("ticket", "2").out
      #expect(story.contains("500") && story.contains("customer-7 → cash"), "\(story)")
      let audit = try branch.json("audit")
      #expect(audit["ok"].flag == true && audit["ledger_difference"].integer == 0)
    }
  }

  @Test("a service with a ledger requires amount and account, and one without refuses both")
  func refused() throws {
    try withLedger { branch in
      try branch.expectRefusal(2, "bad_request", of: "enqueue", "1", "--service", "fee")
      for part in ["--amount", "--account"] {
        try branch.expectRefusal(2, "bad_request", of: "enqueue", "1", "--service", "fee", part, "5")
      }
      try branch.expectRefusal(2, "bad_request", of: "enqueue", "1", "--service", "post", "--amount", "5")
      let english = try branch.run("enqueue", "1", "--service", "post", "--account", "7").err
      #expect(english.contains("service post has no ledger"), "\(english)")
      let korean = try branch.run("enqueue", "1", "--service", "fee", language: .ko).err
      #expect(korean.contains("fee 업무에는 금액과 계좌가 필요합니다"), "\(korean)")
      let list = try branch.write(
        "{\"service\":\"post\"}\n{\"service\":\"fee\",\"amount\":5}\n", to: "list.jsonl")
      let told = try branch.run("enqueue", "--from", list)
      #expect(told.code == 2 && told.err.contains("customer 2 of the list"), "\(told)")
      #expect(try branch.status().queue("waiting") == 0 && branch.receipts().isEmpty, "no customer was added")
    }
  }

  @Test("a changed ledger applies to customers served from then on, and the audit accepts both")
  func changed() throws {
    try withLedger { branch in
      try branch.runSuccessfully(
        "enqueue", "1", "--service", "repay", "--amount", "10", "--account", "7", "--wait")
      try branch.runSuccessfully("pause", "repay")
      try branch.runSuccessfully("enqueue", "1", "--service", "repay", "--amount", "20", "--account", "7")
      _ = try branch.write(
        services.replacing(#""credit": "loans""#, with: #""credit": "cash""#), to: "bank.json")
      try branch.runSuccessfully("reload")
      try branch.runSuccessfully("resume", "repay")
      try branch.runSuccessfully("wait")
      #expect(try branch.receipts().compactMap(\.["credit"].text) == ["loans", "cash"])
      #expect(try branch.json("audit")["ok"].flag == true)
    }
  }
}
