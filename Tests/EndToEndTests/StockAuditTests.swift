// Audit of the stock: a consistent shop, a database that contradicts the stock, and a stock that cannot be read. The
// rest of the bank is always audited.
import Foundation
import Glibc
import Testing

@Suite("Audit of the stock", .serialized)
struct StockAuditTests {
  /// Opens a bank with two juices made, one customer out of stock and one cancelled.
  private func shop(_ branch: ScratchBank) throws {
    try branch.start("--speed", "max", "--juice", "2")
    try branch.runSuccessfully("enqueue", "5", "--wait")
    for juice in ["banana", "mango"] { #expect(try branch.order(juice).code == 0) }
    #expect(try branch.order("strawberry").code == 5)
    try branch.runSuccessfully("pause", "juice")
    #expect(try branch.orderWithShortTimeout("kiwi").code == 75)
    try branch.runSuccessfully("resume", "juice")
  }

  private func audit(_ branch: ScratchBank, code: Int32 = 1, at location: SourceLocation = #_sourceLocation)
    throws
    -> JSON
  {
    let outcome = try branch.run("audit", "--json", at: location)
    #expect(outcome.code == code, outcome.story, sourceLocation: location)
    return try outcome.json()
  }

  private func problemTexts(_ report: JSON) -> [String] { report["problems"].items.compactMap(\.text) }

  @Test("an audit waits for a stock or a vending machine that is starting", arguments: ["stock", "vending"])
  func starting(name: String) throws {
    try withScratchBank { branch in
      try shop(branch)
      for _ in 1...3 {
        try branch.kill(worker: name)
        _ = try audit(branch, code: 0)
        // A process that is killed before the coordinator knows that it is ready counts as one that cannot start.
        try branch.waitUntil("the service is ready") { try branch.status().worker(name)?.state == "idle" }
      }
    }
  }

  @Test("a consistent shop has no finding, on an open bank and on a stopped home")
  func clean() throws {
    try withScratchBank { branch in
      try shop(branch)
      for isOpen in [true, false] {
        if !isOpen { try branch.runSuccessfully("stop") }
        let report = try audit(branch, code: 0)
        #expect(report["stock_difference"].integer == 0)
        #expect(report["ok"].flag == true)
        let text = try branch.run("audit", language: .ko)
        #expect(text.code == 0, text.story)
      }
    }
  }

  @Test("juices unknown to the stock are named, on an open bank, too")
  func otherStock() throws {
    try withScratchBank { branch in
      try shop(branch)
      try branch.runSuccessfully("stop")
      for suffix in ["", "-wal", "-shm"] { unlink("\(branch.home)/stock.db\(suffix)") }
      let missing = try audit(branch)
      #expect(problemTexts(missing).count == 1)
      #expect(problemTexts(missing).first?.hasPrefix("the stock could not be audited: there is no ") == true)
      #expect(missing["served"].integer == 8 && missing["lost"].integer == 0)
      // A new stock has taken nothing.
      try branch.start("--speed", "max")
      for isOpen in [true, false] {
        if !isOpen { try branch.runSuccessfully("stop") }
        let report = try audit(branch)
        #expect(report["stock_difference"].integer == 2)
        #expect(
          problemTexts(report) == [
            "ticket 6 of day 1 was served but the stock has no order for it",
            "ticket 7 of day 1 was served but the stock has no order for it",
            "ticket 8 of day 1 was rejected for lack of fruit, and the stock has no order for it",
          ])
      }
    }
  }

  @Test("a new bank beside an old stock takes fruit for every juice, and notes the orders of the other bank")
  func otherBank() throws {
    try withScratchBank { branch in
      try shop(branch)
      try branch.runSuccessfully("stop")
      for suffix in ["", "-wal", "-shm"] { unlink("\(branch.home)/bank.db\(suffix)") }
      let start = try branch.runSuccessfully("start", "--speed", "max").err
      #expect(start.contains("stock.db was last used with another bank.db"), "\(start)")
      let report = try audit(branch, code: 0)["notes"].items.compactMap(\.text)
      #expect(report.contains("vending.db was last used with another bank.db"), "\(report)")
      try branch.runSuccessfully("stop")
      // It is a matter of timing whether the stock has an order of the last customer, which was withdrawn.
      let noted = ["3", "4"].map {
        "\($0) orders in the stock belong to tickets of another database"
      }
      for isOpen in [false, true] {
        if isOpen {
          try branch.start("--speed", "max", "--juice", "2")
          // The same ticket numbers again: the seventh was a mango juice, the eighth was out of stock.
          for _ in 1...5 { try branch.runSuccessfully("enqueue", "1", "--service", "deposit", "--wait") }
          let before = try branch.stock()
          #expect(try branch.order("kiwi").code == 0)
          #expect(try branch.order("kiwi").code == 0)
          #expect(try branch.stock()["kiwi"] == (before["kiwi"] ?? 0) - 6)
        }
        let report = try audit(branch, code: 0)
        #expect(report["stock_difference"].integer == 0)
        #expect(report["notes"].items.compactMap(\.text).allSatisfy(noted.contains), "\(report)")
        #expect(report["notes"].items.count == 1)
      }
    }
  }

  @Test("an older copy of the bank makes no juice without fruit, and the audit names what is missing")
  func olderCopy() throws {
    try withScratchBank { branch in
      try branch.start("--speed", "max")
      #expect(try branch.order("banana").code == 0)
      try branch.runSuccessfully("stop", "--timeout", "5s")
      let paths = ["\(branch.home)/bank.db", branch.path("older")]
      try FileManager.default.copyItem(atPath: paths[0], toPath: paths[1])
      try branch.start("--speed", "max")
      for _ in 1...2 { #expect(try branch.order("mango").code == 0) }
      try branch.runSuccessfully("stop", "--timeout", "5s")
      unlink(paths[0])
      try FileManager.default.moveItem(atPath: paths[1], toPath: paths[0])
      let sentences = ["stock", "vending"].map { "bank.db is older than \($0).db beside it" }
      #expect(try Set(sentences).isSubset(of: problemTexts(audit(branch))))
      try branch.start("--speed", "max")
      #expect(try Set(sentences).isSubset(of: problemTexts(audit(branch))))
      #expect(try branch.stock()["mango"] == 4)
      #expect(try branch.order("mango").code == 0)
      #expect(try branch.stock()["mango"] == 1)
      let report = try audit(branch)
      #expect(
        problemTexts(report).contains { $0.hasPrefix("the stock has an order of ticket ") }, "\(report)")
      #expect(!problemTexts(report).contains { $0.contains("was served but") }, "\(report)")
    }
  }

  @Test(
    "an older copy of the stock is reported at each start, until it is replaced or the operator accepts it")
  func olderStock() throws {
    try withScratchBank { branch in
      let paths = ["\(branch.home)/stock.db", branch.path("older"), branch.path("right")]
      let sentence = "stock.db is older than bank.db beside it"
      try branch.start("--speed", "max")
      try branch.runSuccessfully("stop", "--timeout", "5s")
      try FileManager.default.copyItem(atPath: paths[0], toPath: paths[1])
      try branch.start("--speed", "max")
      #expect(try branch.order("mango").code == 0)
      try branch.runSuccessfully("stop", "--timeout", "5s")
      try FileManager.default.copyItem(atPath: paths[0], toPath: paths[2])
      func put(_ path: String) throws {
        unlink(paths[0])
        try FileManager.default.copyItem(atPath: path, toPath: paths[0])
      }
      try put(paths[1])
      #expect(try problemTexts(audit(branch)).contains(sentence))
      for language in OutputLanguage.allCases {
        let start = try branch.runSuccessfully("start", "--speed", "max", language: language).err
        let status = try branch.runSuccessfully("status", language: language).out
        for word in ["stock.db", "bank.db", "bankctl reload"] {
          #expect(start.contains(word) && status.contains(word), "\(start)\(status)")
        }
        #expect(try problemTexts(audit(branch)).contains(sentence))
        #expect(
          try branch.json("status")["workers"].item(where: "name", is: "stock")["mismatch"].text
            == "older_database")
        try branch.runSuccessfully("stop", "--timeout", "5s")
      }
      // The right one is unchanged.
      try put(paths[2])
      #expect(try !branch.runSuccessfully("start", "--speed", "max").err.contains("stock.db"))
      _ = try audit(branch, code: 0)
      try branch.runSuccessfully("stop", "--timeout", "5s")
      // After a reload the older one is not reported again.
      try put(paths[1])
      #expect(try branch.runSuccessfully("start", "--speed", "max").err.contains("stock.db"))
      // A SIGHUP does not count as an acceptance by the operator.
      branch.processes.signal(try branch.status().pid, SIGHUP)
      try branch.waitUntil("the SIGHUP was handled") { !branch.events("reloaded", in: "coordinator").isEmpty }
      #expect(try branch.runSuccessfully("status").out.contains("bankctl reload"))
      #expect(try problemTexts(audit(branch)).contains(sentence))
      let reload = try branch.runSuccessfully("reload")
      #expect(
        reload.err.contains("stock.db is older") && reload.err.contains("continues"), reload.story)
      for _ in 1...2 {
        try branch.waitUntil("the older copy is not reported any more") {
          try !problemTexts(audit(branch)).contains(sentence)
        }
        try branch.runSuccessfully("stop", "--timeout", "5s")
        #expect(try !branch.runSuccessfully("start", "--speed", "max").err.contains("stock.db"))
      }
    }
  }

  @Test("an accepted older copy of the stock makes no later copy acceptable")
  func acceptedOnce() throws {
    try withScratchBank { branch in
      let (database, older) = ("\(branch.home)/stock.db", branch.path("older"))
      let sentence = "stock.db is older than bank.db beside it"
      func putOlder() throws {
        for suffix in ["", "-wal", "-shm"] { unlink(database + suffix) }
        try FileManager.default.copyItem(atPath: older, toPath: database)
      }
      try branch.start("--speed", "max")
      try branch.runSuccessfully("stop", "--timeout", "5s")
      try FileManager.default.copyItem(atPath: database, toPath: older)
      try branch.start("--speed", "max")
      #expect(try branch.order("mango").code == 0)
      try branch.runSuccessfully("stop", "--timeout", "5s")
      func stock(_ field: String) throws -> String? {
        try branch.json("status")["workers"].item(where: "name", is: "stock")[field].text
      }
      func isReported() throws -> Bool { try stock("mismatch") == "older_database" }
      try putOlder()
      try branch.start("--speed", "max")
      try branch.waitUntil("the copy is reported") { try isReported() }
      try branch.runSuccessfully("reload")
      try branch.waitUntil("the copy is accepted") { try !isReported() }
      try putOlder()
      // The process exits because its database was replaced. The next one opens the second copy.
      try branch.waitUntil("the process has exited") { try stock("state") == "failed" }
      try branch.runSuccessfully("reload")
      try branch.waitUntil("the second copy is reported") { try isReported() }
      #expect(try problemTexts(audit(branch)).contains(sentence))
    }
  }

  @Test(
    "a damaged stock is a separate finding, and the rest is audited",
    arguments: ["flipped", "cut", "emptied"])
  func damaged(fault: String) throws {
    try withScratchBank { branch in
      try shop(branch)
      try branch.runSuccessfully("stop")
      let path = "\(branch.home)/stock.db"
      var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
      switch fault {
      case "flipped": for offset in 0..<16 { bytes[offset] ^= 0xFF }
      case "cut": bytes = bytes.prefix(bytes.count / 2 + 100)
      default: bytes = Data()
      }
      unlink(path + "-wal")
      try bytes.write(to: URL(fileURLWithPath: path))
      for isOpen in [false, true] {
        if isOpen {
          try branch.start("--speed", "max")
          // The rest of the bank continues.
          try branch.runSuccessfully("enqueue", "5", "--wait")
        }
        let report = try audit(branch)
        #expect(problemTexts(report).contains { $0.hasPrefix("the stock") }, "\(problemTexts(report))")
        #expect(report["served"].integer == (isOpen ? 13 : 8))
        #expect(report["lost"].integer == 0 && report["ledger_difference"].integer == 0)
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == bytes, "the damage was overwritten")
      }
    }
  }

  @Test("an audit waits for a stopped stock with a limit, and reports it as a finding")
  func standsStill() throws {
    try withScratchBank { branch in
      try shop(branch)
      let pid = try #require(try branch.status().worker("stock")?.pid)
      #expect(branch.processes.signal(pid, SIGSTOP))
      let report = try audit(branch)
      _ = branch.processes.signal(pid, SIGCONT)
      #expect(
        problemTexts(report).contains { $0.hasPrefix("the stock could not be audited: ") },
        "\(problemTexts(report))")
      #expect(report["served"].integer == 8)
      try branch.waitUntil("the stock is back", within: .seconds(60)) {
        try branch.run("audit").code == 0
      }
    }
  }
}
