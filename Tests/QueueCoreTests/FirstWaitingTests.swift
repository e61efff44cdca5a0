// The first waiting customers over all lines, compared with a plain model that sorts all of them. Some
// customers are in memory, others only in the store.

import BankModel
import Testing

@testable import QueueCore

@Suite("The first waiting customers, by number")
struct FirstWaitingTests {
  @Test("the first numbers of many lines are those that sorting would give", arguments: 0..<200)
  func merged(_ number: Int) {
    var chance = SeededGenerator(seed: 0xB0A2D + UInt64(number))
    let lines = (0..<Int(chance.draw(0...40))).map { _ in
      Set((0..<chance.draw(0...30)).map { _ in chance.draw(1...100_000) }).sorted()
    }
    var asked = Array(repeating: 0, count: lines.count)
    let limit = Int(chance.draw(0...250))
    let found = withoutActuallyEscaping({ (line: Int) -> TicketNumber? in
      asked[line] += 1
      return asked[line] <= lines[line].count ? lines[line][asked[line] - 1] : nil
    }) { next in
      firstNumbers(of: lines.indices.map { line in { next(line) } }, limit: limit)
    }
    let model = lines.enumerated().flatMap { line, numbers in numbers.map { ($0, line) } }
    let expected = model.map(\.0).sorted().prefix(limit)
    #expect(found.map(\.ticket) == Array(expected), "seed \(number)")
    #expect(found.allSatisfy { lines[$0.line].contains($0.ticket) }, "seed \(number)")
    for line in lines.indices {
      let taken = found.count { $0.line == line }
      #expect(asked[line] <= taken + 1, "a line is asked for no more than needed: seed \(number)")
    }
  }

  @Test(
    "the first waiting are those of the queue's lines, and a line's cached numbers stay valid",
    arguments: 0..<60)
  func histories(_ number: Int) {
    let world = QueueHarness(seed: 0xF1257 + UInt64(number))
    var remembered: [Int: (beyond: QueueMachine.UnloadedRange, numbers: [TicketNumber])] = [:]
    var (day, crashes): (BusinessDay, Int) = (1, 0)
    var compared = 0
    for step in 0..<400 {
      world.step()
      if world.machine.dayCounters.day != day || world.crashes != crashes { remembered = [:] }
      (day, crashes) = (world.machine.dayCounters.day, world.crashes)
      let servingCustomers = Set(world.machine.servingCustomers.map(\.customer.ticket))
      let issued = world.machine.issuedCount
      let waiting = world.staged.customers.values
        .filter {
          $0.state == .waiting && $0.customer.ticket <= issued
            && !servingCustomers.contains($0.customer.ticket)
        }
        .map(\.customer).sorted { $0.ticket < $1.ticket }
      // Between a full disk and its consequences the model and the queue differ.
      guard Int64(waiting.count) == world.machine.waitingCount else { continue }
      compared += 1
      let limit = Int(world.chance.draw(0...30))
      let page = Int(world.chance.draw(1...4))
      let found = world.machine.firstWaiting(limit: limit) { unloaded, after in
        let all = waiting.filter { $0.line == unloaded.line && $0.ticket > unloaded.after }.map(\.ticket)
        if let known = remembered[unloaded.place] {
          var present = unloaded
          present.count = known.beyond.count
          if present == known.beyond {
            #expect(all.starts(with: known.numbers), "seed \(number), step \(step): \(unloaded)")
          }
        }
        remembered[unloaded.place] = (unloaded, all)
        return Array(all.filter { $0 > after }.prefix(page))
      }
      #expect(found.map(\.ticket) == waiting.prefix(limit).map(\.ticket), "seed \(number), step \(step)")
      #expect(found.map(\.line) == waiting.prefix(limit).map(\.line), "seed \(number), step \(step)")
    }
    #expect(compared > 200, "seed \(number): \(compared)")
  }
}
