// Juice in a bank with several branches, with the built programs, a real server, and a stock at each branch: which
// branch makes which juice, from which stock, during kills, and the juice of a branch that is lost.
import Foundation
import Glibc
import Testing

@Suite("Juice at branches that share a queue", .serialized)
struct SharedJuiceBankTests {
  private static let plenty = 1_000

  private func fill(_ branch: ScratchBank) throws {
    for fruit in Recipes.fresh.keys { try branch.runSuccessfully("stock", "set", fruit, "\(Self.plenty)") }
  }

  /// Amounts that remain after these juices were made.
  private func left(_ juices: [String: Int]) -> [String: Int] {
    var stock = Recipes.fresh.mapValues { _ in Self.plenty }
    for (juice, count) in juices {
      for (fruit, pieces) in Recipes.all[juice] ?? [:] { stock[fruit, default: 0] -= pieces * count }
    }
    return stock
  }

  private func expectClean(_ branches: [ScratchBank]) throws {
    for branch in branches {
      let outcome = try branch.launch(["audit", "--json"]).finish(within: .seconds(60))
      #expect(
        try outcome.code == 0 && outcome.json()["ok"].flag == true, "\(outcome)\n\(branch.diagnostics())")
    }
  }

  @Test("each branch makes its own juices, once, while stations, stocks and coordinators are killed with -9")
  func killed() throws {
    try withSharedBank { bank, branches in
      for branch in branches { try bank.open(branch, speed: "20", "--juice", "2") }
      for branch in branches { try fill(branch) }
      let orders = try [
        branches[0].launch(["juice", "order", "kiwi", "40", "--timeout", "2m", "--json"]),
        branches[1].launch(["juice", "order", "mango", "40", "--timeout", "2m", "--json"]),
      ]
      try branches[0].runSuccessfully("enqueue", "200", "--key", "others")
      var killed: Set<Int> = []
      for (round, name) in ["stock", "juice-1", "", "juice-2", "stock", "", "juice-1", "stock"].enumerated() {
        let branch = branches[round % 2]
        let goal = round * 6
        try branch.waitUntil("\(goal) juices have ended", within: .seconds(60)) {
          guard bank.number("SELECT count(*) FROM bank.receipt WHERE item_name IS NOT NULL") ?? 0 >= goal
          else {
            return false
          }
          guard let status = try branch.statusIfAnswered() else { return false }
          let victim = name.isEmpty ? status.pid : status.worker(name)?.pid ?? 0
          guard victim > 0, !killed.contains(victim) else { return false }
          killed.insert(victim)
          return branch.processes.signal(victim, SIGKILL)
        }
      }
      for order in orders {
        let outcome = try order.finish(within: .seconds(120))
        #expect(outcome.code == 0, outcome.story)
        #expect(try JSON.lines(outcome.out).map { $0["outcome"].text } == Array(repeating: "made", count: 40))
      }
      try bank.expectAllServed(280, by: branches)
      let strangers = """
        SELECT count(*) FROM bank.receipt r JOIN bank.lane l ON l.number = r.lane
        WHERE l.branch > 0
          AND (r.branch <> l.branch OR (r.item_name = 'kiwi') <> (l.branch = \(try bank.id(of: branches[0]))))
        """
      #expect(bank.number(strangers) == 0)
      #expect(try branches[0].stock() == left(["kiwi": 40]))
      #expect(try branches[1].stock() == left(["mango": 40]))
      try expectClean(branches)
    }
  }

  @Test(
    "orders of a lost branch wait there: others name them, can cancel them, and close the day without them"
  )
  func gone() throws {
    try withSharedBank { bank, branches in
      let (a, b) = (branches[0], branches[1])
      // Slow enough that the first juice is still being made when its branch is killed.
      try bank.open(a, speed: "0.02")
      try bank.open(b, speed: "1")
      try fill(a)
      let id = try bank.id(of: a)
      let order = try a.launch(["juice", "order", "kiwi", "3", "--timeout", "2m"])
      func lost() throws -> JSON {
        try b.json("branches")["branches"].items.first { $0["branch"].integer == id } ?? .missing
      }
      let kiwis = Recipes.all["kiwi"]?["kiwi"] ?? 0
      try a.waitUntil("the fruit of the first juice is taken") {
        try a.stock()["kiwi"] == Self.plenty - kiwis
      }
      try a.killCoordinator()
      order.signal(SIGKILL)
      try b.runSuccessfully("enqueue", "2", "--key", "deposits", "--service", "deposit")
      try b.waitUntil("the branch is considered lost") {
        try lost()["state"].text == "expired"
      }
      #expect(try lost()["juices"].integer == 3)
      #expect(
        try b.runSuccessfully("branches", language: .en).out.contains(
          "3 customers wait for juice that only this branch can make"))
      // The customer whose fruit is taken. The stock cannot be asked now.
      try b.runSuccessfully("cancel", "1")
      #expect(bank.number("SELECT count(*) FROM bank.stock_release WHERE branch = \(id)") == 1)
      let stop = try b.launch(["stop", "--bank", "--json"]).finish(within: .seconds(60))
      #expect(stop.code == 0, stop.story)
      let last = try stop.json()
      #expect(last["day_closed"].flag == false && last["waiting"].integer == 2, stop.story)
      #expect(last["branches"].items.map { $0["branch"].integer } == [id], stop.story)
      #expect(bank.number("SELECT count(*) FROM bank.day WHERE draining") == 0, "the day continues")
      try bank.open(b, speed: "100")
      try b.runSuccessfully("enqueue", "5")
      try b.runSuccessfully("wait")
      #expect(bank.number("SELECT count(*) FROM bank.customer") == 2)
      try bank.open(a, speed: "100")
      try a.waitUntil("its juice is made, and the owed fruit is returned") {
        bank.number("SELECT count(*) FROM bank.customer") == 0
          && bank.number("SELECT count(*) FROM bank.stock_release") == 0
      }
      #expect(try a.stock() == left(["kiwi": 2]))
      try expectClean(branches)
      let end = try a.launch(["stop", "--bank", "--json"]).finish(within: .seconds(60))
      #expect(try end.code == 0 && end.json()["day_closed"].flag == true, end.story)
      // No customer was left when the stop came, so the branch left before it could learn that the bank drains.
      #expect(bank.number("SELECT max(day) FROM bank.day") == 2)
      for branch in branches { try branch.expectNoProcessesLeft() }
      try expectClean(branches)
    }
  }
}
