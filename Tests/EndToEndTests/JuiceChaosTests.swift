// Two hundred concurrent orders while the stock and the stations are killed fifty times. In the end every piece of
// fruit is accounted for by the receipts, by the replies to the customers, and by a watcher.
import Glibc
import Testing

@Suite("Juice during kills", .serialized)
struct JuiceChaosTests {
  private static let orders = 200
  private static let kills = 50

  @Test(
    "200 concurrent orders, 50 kills: no fruit is lost, each order has one outcome, a watcher sees it all"
  )
  func chaos() throws {
    try withScratchBank { branch in
      var chance = Chance(for: "JuiceChaosTests")
      let file = try branch.configuration(
        speed: "20", more: #", "max_crashes": 1000, "max_failures": 1000, "retry_initial_delay": "10ms""#)
      try branch.start("--config", file, "--juice", "3")
      // Enough fruit for some orders and not for all, so that customers compete for the last pieces.
      var before: [String: Int] = [:]
      for fruit in Recipes.fresh.keys.sorted() {
        let amount = Int.random(in: 40...160, using: &chance)
        before[fruit] = amount
        try branch.runSuccessfully("stock", "set", fruit, "\(amount)")
      }
      let watcher = try branch.launch(["stock", "watch", "--json"])
      try branch.waitUntil("the watcher sees the stock") { watcher.lines.count == 1 }
      let juices = Recipes.all.keys.sorted()
      let customers = try (0..<Self.orders).map { _ in
        let juice = juices[Int.random(in: 0..<juices.count, using: &chance)]
        return try branch.launch(["juice", "order", juice, "--timeout", "2m", "--json"])
      }
      try killThroughout(branch, &chance)
      let told = try customers.map { try $0.finish(within: .seconds(120)) }
      try branch.waitUntil("each killed process was restarted") {
        let restarts = try branch.status().workers.compactMap { $0.document["restarts"].integer }
        return restarts.reduce(0, +) == Self.kills
      }
      try check(branch, told, before, watcher)
      try branch.expectClean()
    }
  }

  /// Kills a process after every few receipts, so that the kills happen while orders are made.
  private func killThroughout(_ branch: ScratchBank, _ chance: inout Chance) throws {
    // A zombie that was not reaped yet still has its pid: no process is killed twice.
    var killed: Set<Int> = []
    for kill in 0..<Self.kills {
      let goal = kill * (Self.orders - 20) / Self.kills
      try branch.waitUntil("\(goal) orders have ended", within: .seconds(60)) {
        let status = try branch.status()
        guard status.queue("served") >= goal else { return false }
        let names = ["stock", "juice-1", "juice-2", "juice-3"]
        let isStock = Bool.random(using: &chance)
        let name = isStock ? "stock" : names.dropFirst().randomElement(using: &chance) ?? ""
        guard let victim = status.worker(name)?.pid, victim > 0, !killed.contains(victim) else {
          return false
        }
        killed.insert(victim)
        return branch.processes.signal(victim, SIGKILL)
      }
    }
  }

  private func check(
    _ branch: ScratchBank, _ told: [Outcome], _ before: [String: Int], _ watcher: RunningProgram
  ) throws {
    var answers: [String: JSON] = [:]
    var left = before
    for outcome in told {
      let answer = try outcome.json()
      let name = try #require(answer["order"].text, outcome.story)
      #expect(answers.updateValue(answer, forKey: name) == nil, "the order \(name) has two replies")
      #expect(outcome.code == (answer["outcome"].text == "made" ? 0 : 5), outcome.story)
      if answer["outcome"].text == "made" {
        left.merge(Recipes.all[answer["juice"].text ?? ""] ?? [:]) { $0 - $1 }
      }
    }
    #expect(answers.count == Self.orders)
    try branch.expectOneReceiptEach(Self.orders)
    for receipt in try branch.receipts() {
      let answer = answers["1-\(receipt["ticket"].integer ?? 0)"]
      #expect(receipt["payload"].text == answer?["juice"].text)
      #expect((receipt["outcome"].text == "served") == (answer?["outcome"].text == "made"), "\(receipt)")
    }
    #expect(try branch.stock() == left, "the fruit of the juices made is gone")
    #expect(left.values.allSatisfy { $0 >= 0 })
    try checkSight(branch, watcher, before, left, made: answers.filter { $0.value["outcome"].text == "made" })
  }

  /// Checks that the watcher has seen every change in order: the changes lead from the first amounts to the current
  /// ones, and name every order that was made, and no other.
  private func checkSight(
    _ branch: ScratchBank, _ watcher: RunningProgram, _ before: [String: Int], _ left: [String: Int],
    made: [String: JSON]
  ) throws {
    let parts = made.values.reduce(0) { $0 + (Recipes.all[$1["juice"].text ?? ""]?.count ?? 0) }
    try branch.waitUntil("the watcher has seen \(parts) changes") { watcher.lines.count >= parts + 1 }
    let seen = try watcher.lines.map { try JSON(parsing: $0) }
    #expect(seen[0]["event"].text == "snapshot")
    var shelves = before
    var sequence = try #require(seen[0]["sequence"].integer)
    var taken: [String: [String: Int]] = [:]
    for change in seen.dropFirst() {
      sequence += 1
      #expect(change["sequence"].integer == sequence && change["kind"].text == "taken", "\(change)")
      let (item, difference) = (change["item"].text ?? "", change["difference"].integer ?? 0)
      shelves[item, default: 0] += difference
      #expect(shelves[item] == change["quantity"].integer, "\(change)")
      // The id of a stock order consists of the database, the day, the ticket and the time of issue.
      let name = (change["order"].text ?? "").split(separator: "-")
      try #require(name.count == 4, "\(change)")
      taken["\(name[1])-\(name[2])", default: [:]][item, default: 0] -= difference
    }
    #expect(shelves == left)
    #expect(taken == made.mapValues { Recipes.all[$0["juice"].text ?? ""] ?? [:] })
  }
}
