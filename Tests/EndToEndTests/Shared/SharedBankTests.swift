// Branches that share one queue, with the built programs and a real server: who serves whom, and what becomes of it when a branch
// or a part of one is killed or closed. What happened is read from the database.
import Foundation
import Glibc
import Testing

@Suite("Branches that share a queue", .serialized)
struct SharedBankTests {
  @Test("two branches serve the customers of one, each once")
  func share() throws {
    try withSharedBank { bank, branches in
      let (a, b) = (branches[0], branches[1])
      for branch in branches { try bank.open(branch) }
      try a.done("enqueue", "800", "--key", "morning")
      // The same key at another branch adds nobody.
      #expect(try b.json("enqueue", "800", "--key", "morning").isKnown)
      try bank.expectAllServed(800, by: branches)
      #expect(bank.number("SELECT count(DISTINCT branch) FROM bank.receipt") == 2, "both have served")
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

  @Test(
    "a branch is killed whole: when its lease has run out another one serves its customers, and it comes back"
  )
  func branchKilled() throws {
    try withSharedBank { bank, branches in
      let (a, b) = (branches[0], branches[1])
      try bank.open(b, speed: "1")
      try b.done("enqueue", "40")
      let id = try bank.id(of: b)
      try a.waitUntil("it has customers in hand") { bank.inHand(of: id) > 10 }
      try bank.open(a)
      let held = bank.inHand(of: id)
      try b.killCoordinator()
      let killed = wallMilliseconds()
      let expires = try #require(
        bank.number(
          "SELECT (extract(epoch FROM expires_at) * 1000)::bigint FROM bank.branch WHERE id = \(id)"))
      #expect(expires - killed <= 4_000, "no lease is longer than four seconds")
      #expect(held > 0)
      try bank.expectAllServed(40, by: [a])
      let first = try #require(
        bank.number(
          """
          SELECT min(started_ms) FROM bank.receipt r JOIN bank.former_claim f ON f.branch = \(id) AND f.lane = r.lane
            AND r.ticket BETWEEN f.first AND f.last WHERE r.branch <> \(id)
          """))
      print(
        "a branch was killed; its customers are served again after \(first - killed) ms, its lease had \(expires - killed)"
      )
      // A branch that looks each second finds out within one; a busy machine is given another three.
      #expect(first - expires < 4_000)
      try bank.open(b)
      #expect(bank.epoch(of: id) == 3, "it was fenced once, and has begun once more")
      try b.done("enqueue", "10")
      try bank.expectAllServed(50, by: [b])
    }
  }

  @Test(
    "a follower at one branch sees every receipt of all branches once, also over a crash and to the end of the day"
  )
  func follow() throws {
    try withSharedBank { bank, branches in
      let (a, b) = (branches[0], branches[1])
      for branch in branches { try bank.open(branch) }
      let follower = try a.launch(["receipts", "--follow", "--json"])
      try a.done("enqueue", "400")
      try a.waitUntil("the follower has begun") { follower.lines.count > 1 }
      try #require(a.processes.signal(try a.status().pid, SIGKILL))
      try b.done("enqueue", "200")
      try bank.expectAllServed(600, by: [b])
      try a.waitUntil("the follower has seen all") { follower.lines.count >= 600 }
      try b.done("enqueue", "100")
      try b.done("stop", "--bank")
      try a.waitUntil("the follower has seen the last ones") { follower.lines.count >= 700 }
      // The branch has closed: behind the last receipt the follower says so, and ends.
      var seen = try JSON.lines(try follower.finish().out)
      #expect(seen.popLast()?["error"]["code"].text == "not_open")
      #expect(seen.map { $0["ticket"].integer ?? 0 }.sorted() == Array(1...700))
      #expect(Set(seen.map { $0["branch"].integer ?? 0 }).count == 2, "both have served")
    }
  }

  @Test("a coordinator is killed: the same branch goes on at once, in another epoch")
  func coordinatorKilled() throws {
    try withSharedBank(branches: 1) { bank, branches in
      let a = branches[0]
      try bank.open(a, speed: "20")
      try a.done("enqueue", "300")
      let id = try bank.id(of: a)
      for round in 1...3 {
        let before = bank.receipts
        try a.waitUntil("it serves") { bank.receipts > before }
        let pid = try a.status().pid
        try #require(a.processes.signal(pid, SIGKILL))
        try a.waitUntil("it is back") { bank.epoch(of: id) == round + 1 }
      }
      try bank.expectAllServed(300, by: branches)
      #expect(bank.number("SELECT count(DISTINCT epoch) FROM bank.receipt") ?? 0 > 1)
    }
  }

  @Test("sessions are ended at the server again and again: no lease is lost, and nobody is served twice")
  func sessionsEnded() throws {
    try withSharedBank { bank, branches in
      for branch in branches { try bank.open(branch, speed: "50") }
      let enqueue = try branches[1].launch(["enqueue", "900", "--key", "many"])
      for round in 1...20 {
        try branches[0].waitUntil("more are served") { bank.receipts >= round * 20 }
        bank.endSessions()
      }
      #expect(try enqueue.finish().code == 0)
      try bank.expectAllServed(900, by: branches)
      #expect(bank.number("SELECT count(*) FROM bank.branch WHERE epoch <> 1") == 0)
      #expect(bank.number("SELECT count(*) FROM bank.receipt WHERE attempts <> 1") == 0)
      for branch in branches { #expect(branch.events("lease_lost", in: "coordinator").isEmpty) }
    }
  }

  @Test("whoever waits at one branch is told when another has served everybody")
  func wait() throws {
    try withSharedBank { bank, branches in
      let (a, b) = (branches[0], branches[1])
      try bank.open(a, "--deposit", "0", "--loan", "0")
      let waiting = try a.launch(["enqueue", "30", "--wait", "--json"])
      try a.waitUntil("they have come") { bank.number("SELECT max(last) FROM bank.intake") == 30 }
      let everybody = try a.launch(["wait"])
      #expect(waiting.isRunning && everybody.isRunning && bank.receipts == 0, "nobody serves them")
      try a.done("cancel", "7")
      try bank.open(b)
      let (theirs, all) = (try waiting.finish(), try everybody.finish())
      #expect(theirs.code == 1, "one of them was cancelled: \(theirs.story)")
      #expect(try theirs.json()["cancelled"].integer == 1, theirs.story)
      #expect(all.code == 0, all.story)
      #expect(bank.receipts == 30)
      #expect(bank.number("SELECT count(*) FROM bank.receipt WHERE outcome <> 1") == 1)
      try a.done("enqueue", "5", "--wait")
      #expect(bank.receipts == 35)
    }
  }

  @Test("a branch that is stopped gives back whom it has in hand at once, and the others serve them")
  func stopOne() throws {
    try withSharedBank { bank, branches in
      let (a, b) = (branches[0], branches[1])
      try bank.open(b, speed: "1")
      try b.done("enqueue", "60")
      let id = try bank.id(of: b)
      try a.waitUntil("it has customers in hand") { bank.inHand(of: id) > 10 }
      let stop = try b.launch(["stop", "--json"]).finish(within: .seconds(60))
      #expect(stop.code == 0, stop.story)
      #expect(bank.inHand(of: id) == 0)
      #expect(bank.number("SELECT count(*) FROM bank.branch WHERE closed AND id = \(id)") == 1)
      #expect(bank.number("SELECT count(*) FROM bank.customer") ?? 0 > 0, "it has not waited for all of them")
      try bank.open(a)
      try bank.expectAllServed(60, by: [a])
      try b.expectNobodyLeft()
    }
  }

  @Test(
    "the whole bank is stopped from one branch: everybody is served, all branches close, and the next day begins at 1"
  )
  func stopBank() throws {
    try withSharedBank { bank, branches in
      let (a, b) = (branches[0], branches[1])
      for branch in branches { try bank.open(branch, speed: "30") }
      try a.done("enqueue", "200")
      let stop = try b.launch(["stop", "--bank", "--json"]).finish(within: .seconds(60))
      #expect(stop.code == 0, stop.story)
      for branch in branches { try branch.expectNobodyLeft() }
      #expect(bank.receipts == 200)
      #expect(bank.number("SELECT max(day) FROM bank.day") == 2)
      #expect(try a.launch(["audit", "--json"]).finish().json()["ok"].flag == true)
      try bank.open(b)
      let next = try b.json("enqueue", "5")
      try b.done("wait")
      #expect(next["day"].integer == 2 && next["first"].integer == 1, "\(next)")
      #expect(try b.status().day == 2)
      #expect(try b.launch(["audit", "--json"]).finish().json()["ok"].flag == true)
    }
  }
}
