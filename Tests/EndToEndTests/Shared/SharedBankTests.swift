// Branches that share one queue, with the built programs and a real server: distribution of customers, and kills and
// stops of a branch or a part of one. Results are read from the database.
import Foundation
import Glibc
import Testing

@Suite("Branches that share a queue", .serialized)
struct SharedBankTests {
  @Test("two branches serve the customers of one, each customer once")
  func share() throws {
    try withSharedBank { bank, branches in
      let (a, b) = (branches[0], branches[1])
      for branch in branches { try bank.open(branch) }
      try a.runSuccessfully("enqueue", "800", "--key", "morning")
      // The same key at another branch adds no customer.
      #expect(try b.json("enqueue", "800", "--key", "morning").wasAlreadyIssued)
      try bank.expectAllServed(800, by: branches)
      #expect(
        bank.number("SELECT count(DISTINCT branch) FROM bank.receipt") == 2, "both branches have served")
      #expect(bank.number("SELECT count(*) FROM bank.receipt WHERE attempts <> 1") == 0)
      let seen = try b.json("branches")["branches"].items
      #expect(seen.count == 2 && seen.allSatisfy { $0["state"].text == "open" && $0["epoch"].integer == 1 })
      #expect(try b.lines("receipts").count == 800)
    }
  }

  @Test("a list with more keys than one transaction may hold is refused by its size, and adds no customer")
  func keys() throws {
    try withSharedBank { bank, branches in
      let branch = branches[0]
      try bank.open(branch, speed: "1")
      let lines = (1...100_001).map { #"{"service":"loan","key":"k\#($0)"}"# }
      let file = try branch.write(lines.joined(separator: "\n") + "\n", to: "list.jsonl")
      let refused = try branch.launch(["enqueue", "--from", file]).finish(within: .seconds(120))
      #expect(refused.code == 2 && refused.err.contains("1 to 100000 customers"), refused.story)
      #expect(bank.number("SELECT count(*) FROM bank.customer") == 0)
    }
  }

  @Test("after a kill of a whole branch and its lease another one serves its customers, and it comes back")
  func branchKilled() throws {
    try withSharedBank { bank, branches in
      let (a, b) = (branches[0], branches[1])
      try bank.open(b, speed: "1")
      try b.runSuccessfully("enqueue", "40")
      let id = try bank.id(of: b)
      try a.waitUntil("the branch has claimed customers") { bank.inHand(of: id) > 10 }
      try bank.open(a)
      let held = bank.inHand(of: id)
      try b.killCoordinator()
      let killed = wallMilliseconds()
      let expires = try #require(
        bank.number(
          "SELECT (extract(epoch FROM lease_expires_at) * 1000)::bigint FROM bank.branch WHERE id = \(id)"))
      #expect(expires - killed <= 4_000, "no lease is longer than four seconds")
      #expect(held > 0)
      try bank.expectAllServed(40, by: [a])
      let first = try #require(
        bank.number(
          """
          SELECT min(started_ms) FROM bank.receipt r JOIN bank.released_claim f ON f.branch = \(id) AND f.lane = r.lane
            AND r.ticket BETWEEN f.first AND f.last WHERE r.branch <> \(id)
          """))
      print(
        "a branch was killed; its customers are served again after \(first - killed) ms, its lease had \(expires - killed)"
      )
      // A branch that polls each second notices within one; a busy machine gets another three.
      #expect(first - expires < 4_000)
      try bank.open(b)
      #expect(bank.epoch(of: id) == 3, "the branch was fenced once, and has joined again")
      try b.runSuccessfully("enqueue", "10")
      try bank.expectAllServed(50, by: [b])
    }
  }

  @Test(
    "a follower at one branch sees all branches' receipts once, also over a crash and to the end of the day"
  )
  func follow() throws {
    try withSharedBank { bank, branches in
      let (a, b) = (branches[0], branches[1])
      for branch in branches { try bank.open(branch) }
      let follower = try a.launch(["receipts", "--follow", "--json"])
      try a.runSuccessfully("enqueue", "400")
      try a.waitUntil("the follower has started") { follower.lines.count > 1 }
      try #require(a.processes.signal(try a.status().pid, SIGKILL))
      try b.runSuccessfully("enqueue", "200")
      try bank.expectAllServed(600, by: [b])
      try a.waitUntil("the follower has seen all receipts") { follower.lines.count >= 600 }
      try b.runSuccessfully("enqueue", "100")
      try b.runSuccessfully("stop", "--bank")
      try a.waitUntil("the follower has seen the last receipts") { follower.lines.count >= 700 }
      // The branch has closed: after the last receipt the follower reports that, and exits.
      var seen = try JSON.lines(try follower.finish().out)
      #expect(seen.popLast()?["error"]["code"].text == "not_open")
      #expect(seen.map { $0["ticket"].integer ?? 0 }.sorted() == Array(1...700))
      #expect(Set(seen.map { $0["branch"].integer ?? 0 }).count == 2, "both branches have served")
    }
  }

  @Test("after a kill of its coordinator the same branch continues at once, in another epoch")
  func coordinatorKilled() throws {
    try withSharedBank(branches: 1) { bank, branches in
      let a = branches[0]
      try bank.open(a, speed: "20")
      try a.runSuccessfully("enqueue", "300")
      let id = try bank.id(of: a)
      for round in 1...3 {
        let before = bank.receipts
        // On a busy machine all of them may have been served.
        try a.waitUntil("the branch serves") {
          let served = bank.receipts
          return served > before || served == 300
        }
        let pid = try a.status().pid
        try #require(a.processes.signal(pid, SIGKILL))
        try a.waitUntil("the coordinator is back") { bank.epoch(of: id) == round + 1 }
      }
      try bank.expectAllServed(300, by: branches)
      #expect(bank.number("SELECT count(DISTINCT epoch) FROM bank.receipt") ?? 0 > 1)
    }
  }

  @Test("sessions are repeatedly ended at the server: no lease is lost, and no customer is served twice")
  func sessionsEnded() throws {
    try withSharedBank { bank, branches in
      for branch in branches { try bank.open(branch, speed: "50") }
      let enqueue = try branches[1].launch(["enqueue", "900", "--key", "many"])
      for round in 1...20 {
        try branches[0].waitUntil("more customers are served") { bank.receipts >= round * 20 }
        bank.endSessions()
      }
      #expect(try enqueue.finish().code == 0)
      try bank.expectAllServed(900, by: branches)
      #expect(bank.number("SELECT count(*) FROM bank.branch WHERE epoch <> 1") == 0)
      #expect(bank.number("SELECT count(*) FROM bank.receipt WHERE attempts <> 1") == 0)
      for branch in branches { #expect(branch.events("lease_lost", in: "coordinator").isEmpty) }
    }
  }

  @Test("a wait at one branch returns when another branch has served all customers")
  func wait() throws {
    try withSharedBank { bank, branches in
      let (a, b) = (branches[0], branches[1])
      try bank.open(a, "--deposit", "0", "--loan", "0")
      let waiting = try a.launch(["enqueue", "30", "--wait", "--json"])
      try a.waitUntil("the customers have come") {
        bank.number("SELECT max(last) FROM bank.ticket_batch") == 30
      }
      let waitingForAll = try a.launch(["wait"])
      #expect(waiting.isRunning && waitingForAll.isRunning && bank.receipts == 0, "no customer is served")
      try a.runSuccessfully("cancel", "7")
      try bank.open(b)
      let (theirs, all) = (try waiting.finish(), try waitingForAll.finish())
      #expect(theirs.code == 1, "one of them was cancelled: \(theirs.story)")
      #expect(try theirs.json()["cancelled"].integer == 1, theirs.story)
      #expect(all.code == 0, all.story)
      #expect(bank.receipts == 30)
      #expect(bank.number("SELECT count(*) FROM bank.receipt WHERE outcome <> 1") == 1)
      try a.runSuccessfully("enqueue", "5", "--wait")
      #expect(bank.receipts == 35)
    }
  }

  @Test("a stopped branch returns its claimed customers at once, and the others serve them")
  func stopOne() throws {
    try withSharedBank { bank, branches in
      let (a, b) = (branches[0], branches[1])
      try bank.open(b, speed: "1")
      try b.runSuccessfully("enqueue", "60")
      let id = try bank.id(of: b)
      try a.waitUntil("the branch has claimed customers") { bank.inHand(of: id) > 10 }
      let stop = try b.launch(["stop", "--json"]).finish(within: .seconds(60))
      #expect(stop.code == 0, stop.story)
      #expect(bank.inHand(of: id) == 0)
      #expect(bank.number("SELECT count(*) FROM bank.branch WHERE closed AND id = \(id)") == 1)
      #expect(
        bank.number("SELECT count(*) FROM bank.customer") ?? 0 > 0,
        "the branch has not waited for all of them")
      try bank.open(a)
      try bank.expectAllServed(60, by: [a])
      try b.expectNoProcessesLeft()
    }
  }

  @Test(
    "one branch stops the whole bank: all customers are served, all branches close, the next day starts at 1"
  )
  func stopBank() throws {
    try withSharedBank { bank, branches in
      let (a, b) = (branches[0], branches[1])
      for branch in branches { try bank.open(branch, speed: "30") }
      try a.runSuccessfully("enqueue", "200")
      let stop = try b.launch(["stop", "--bank", "--json"]).finish(within: .seconds(60))
      #expect(stop.code == 0, stop.story)
      let report = try stop.json()
      #expect(report["day_closed"].flag == true && report["served"].integer == 200, "all branches' customers")
      for branch in branches { try branch.expectNoProcessesLeft() }
      #expect(bank.receipts == 200)
      #expect(bank.number("SELECT max(day) FROM bank.day") == 2)
      #expect(try a.launch(["audit", "--json"]).finish().json()["ok"].flag == true)
      try bank.open(b)
      let next = try b.json("enqueue", "5")
      try b.runSuccessfully("wait")
      #expect(next["day"].integer == 2 && next["first"].integer == 1, "\(next)")
      #expect(try b.status().day == 2)
      #expect(try b.launch(["audit", "--json"]).finish().json()["ok"].flag == true)
    }
  }
}
