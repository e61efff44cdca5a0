// Receipts of several branches in one order. Read in portions of any size, each is shown once, and those of
// one branch in the order of its commits. A failure prints its seed.

import BankModel
import QueueCore
import Testing
import Time

@Suite("Receipts of several branches in one order")
struct MergedReceiptsTests {
  private static func entry(_ branch: Int64, _ commit: Int64, day: BusinessDay = 1, at moment: Int64)
    -> ReceiptWithPosition
  {
    let receipt = Receipt(
      sequence: 1, day: day, ticket: commit, service: .deposit, priority: .regular, outcome: .served,
      window: nil, generation: 1, pid: 1, attempts: 1, amount: 1, account: 1,
      issuedAt: WallTime(milliseconds: 0), startedAt: nil, finishedAt: WallTime(milliseconds: moment))
    return ReceiptWithPosition(
      receipt, ReceiptPosition(branch: branch, epoch: 1, commit: commit, ticket: commit))
  }

  private static func shown(_ merged: MergedReceipts) -> [[Int64]] {
    merged.entries.map { [$0.mark.branch, $0.mark.commit] }
  }

  @Test("the earlier receipt comes first, the day counts before the time, a branch keeps its commit order")
  func order() {
    let merged = MergedReceipts([
      .init(
        [Self.entry(1, 1, at: 10), Self.entry(1, 2, at: 5), Self.entry(1, 3, day: 2, at: 1)], isCut: false),
      .init(
        [Self.entry(2, 1, at: 7), Self.entry(2, 2, at: 12), Self.entry(2, 3, day: 2, at: 0)], isCut: false),
      .init([], isCut: false),
    ])
    #expect(
      merged.isComplete && Self.shown(merged) == [[2, 1], [1, 1], [1, 2], [2, 2], [2, 3], [1, 3]])
    #expect(MergedReceipts([]).isComplete && MergedReceipts([]).entries.isEmpty)
  }

  @Test("nothing is shown after the last receipt read of a branch that has more of them")
  func cut() {
    let merged = MergedReceipts([
      .init([Self.entry(1, 1, at: 1), Self.entry(1, 2, at: 2)], isCut: true),
      .init([Self.entry(2, 1, at: 1), Self.entry(2, 2, at: 3)], isCut: false),
    ])
    #expect(!merged.isComplete && Self.shown(merged) == [[1, 1], [2, 1], [1, 2]])
  }

  @Test(
    "read in portions of any size, each receipt comes once, and in one order",
    arguments: 1...40 as ClosedRange<UInt64>)
  func portions(seed: UInt64) {
    var chance = SeededGenerator(seed: seed)
    var branches: [[ReceiptWithPosition]] = []
    for branch in 1...chance.draw(1...5) {
      var moment: Int64 = 0
      branches.append(
        (0..<chance.draw(0...60)).map { commit in
          moment += chance.draw(0...9)
          return Self.entry(branch, commit + 1, at: moment)
        })
    }
    let whole = Self.shown(MergedReceipts(branches.map { .init($0, isCut: false) }))
    var read = Array(repeating: 0, count: branches.count)
    var told: [[Int64]] = []
    while true {
      let portion = Int(chance.draw(1...8))
      let page = MergedReceipts(
        zip(branches, read).map { branch, from in
          let rest = branch[from...]
          return .init(Array(rest.prefix(portion)), isCut: rest.count >= portion)
        })
      for entry in page.entries { read[Int(entry.mark.branch) - 1] += 1 }
      told += Self.shown(page)
      if page.isComplete { break }
    }
    #expect(told == whole, "seed \(seed)")
  }
}
