// Five hundred purchases by eight clients while the machine, the stock and the coordinator are killed fifty times. In
// the end every coin and every drink is accounted for by the replies, by the history and by the audit.
import Glibc
import Testing

@Suite("The vending machine during kills", .serialized)
struct VendingChaosTests {
  private static let clients = 8
  private static let purchases = 500
  private static let kills = 50
  private static let shelves = ["top": 130, "hot6": 150, "monster": 160]
  private static let prices = ["top": 1_700, "hot6": 1_000, "monster": 1_500]

  @Test("500 purchases by 8 clients, 50 kills: no money or drink is lost, and no purchase happens twice")
  func chaos() throws {
    try withScratchBank { branch in
      var chance = Chance(for: "VendingChaosTests")
      try branch.start("--speed", "max")
      for (product, count) in Self.shelves.sorted(by: { $0.key < $1.key }) {
        try branch.runSuccessfully("vending", "admin", "add", product, "\(count)")
      }
      try branch.runSuccessfully("vending", "insert", "1000000")
      let names = Self.shelves.keys.sorted()
      let shoppers = try (0..<Self.clients).map { client in
        let count = Self.purchases / Self.clients + (client < Self.purchases % Self.clients ? 1 : 0)
        let wishes = (0..<count).map { _ in names[Int.random(in: 0..<names.count, using: &chance)] }
        let script =
          "for p in \(wishes.joined(separator: " ")); do "
          + "\(Binaries.bankctl) vending buy $p --json --timeout 3m; done; true"
        return try branch.launch(["-c", script], program: "/bin/bash")
      }
      let kills = try killThroughout(branch, shoppers, &chance)
      let told = try shoppers.flatMap { try JSON.lines($0.finish(within: .seconds(240)).out) }
      #expect(kills == Self.kills && told.count == Self.purchases)
      try check(branch, told)
    }
  }

  /// Kills a process after every few purchases, so that the kills happen while drinks are bought.
  private func killThroughout(
    _ branch: ScratchBank, _ shoppers: [RunningProgram], _ chance: inout Chance
  ) throws -> Int {
    // A zombie that was not reaped yet still has its pid: no process is killed twice.
    var killed: Set<Int> = []
    for kill in 0..<Self.kills {
      let goal = kill * (Self.purchases - 30) / Self.kills
      let draw = Int.random(in: 0..<10, using: &chance)
      let victim = draw < 5 ? "vending" : draw < 9 ? "stock" : "coordinator"
      try branch.waitUntil("\(goal) purchases have ended and \(victim) is killed", within: .seconds(120)) {
        guard shoppers.reduce(0, { $0 + $1.lines.count }) >= goal else { return false }
        // A coordinator that was killed a moment ago does not answer yet.
        guard let status = try branch.statusIfAnswered() else { return false }
        let pid = victim == "coordinator" ? status.pid : status.worker(victim)?.pid ?? 0
        guard pid > 0, !killed.contains(pid) else { return false }
        killed.insert(pid)
        return branch.processes.signal(pid, SIGKILL)
      }
    }
    return Self.kills
  }

  private func check(_ branch: ScratchBank, _ told: [JSON]) throws {
    let bought = told.filter { $0["sequence"].integer != nil }
    let refused = told.filter { $0["sequence"].integer == nil }
    #expect(refused.allSatisfy { $0["error"]["code"].text == "sold_out" }, "\(refused)")
    let history = try branch.lines("vending", "history")
    func key(_ purchase: JSON) -> String {
      "\(purchase["sequence"].integer ?? -1) \(purchase["product"].text ?? "?") \(purchase["price"].integer ?? -1)"
    }
    let (heard, kept) = (bought.map(key), history.map(key))
    #expect(Set(heard).count == heard.count, "a purchase was reported twice")
    #expect(
      Set(kept).count == kept.count && Set(heard) == Set(kept), "the reported purchases are the recorded ones"
    )
    let spent = history.reduce(0) { $0 + ($1["price"].integer ?? 0) }
    let machine = try branch.json("vending")
    #expect(machine["balance"].integer == 1_000_000 - spent)
    for (product, count) in Self.shelves {
      let sold = history.count { $0["product"].text == product }
      let price = Self.prices[product] ?? 0
      #expect(history.allSatisfy { $0["product"].text != product || $0["price"].integer == price })
      #expect(
        machine["products"].item(where: "product", is: product)["stock"].integer == count - sold, "\(product)"
      )
    }
    try branch.expectClean()
    try branch.runSuccessfully("vending", "return")
    #expect(try branch.json("vending", "balance")["balance"].integer == 0)
    try branch.runSuccessfully("stop", timeout: .seconds(60))
  }
}
