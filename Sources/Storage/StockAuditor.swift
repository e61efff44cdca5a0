// Audit of a stock's rows, shared by all stores. It checks that the ledger is complete, that the shelves are
// its sum, and that the ledger rows of an order match its content.
// Invariant: rows are visited in ledger order, and only those of one order are stored at a time, so memory grows with
// the number of lots and not with the history.

import BankModel
import StockCore

struct StockAuditor {
  var report = StockAudit()
  var findings = Findings()
  /// Number of orders with ledger rows. An order that also has rows of its return counts twice. The store sets
  /// it.
  var ordersWithRows: Int64 = 0

  private struct LotName: Hashable {
    var item: ItemID
    var dates: LotDates?
  }

  private var lots: [LotName: Quantity] = [:]
  private var present: [ItemID: Quantity] = [:]
  private var run: [StockChange] = []
  private var runs: Int64 = 0

  init(items: [ItemID]) { report.items = Int64(items.count) }

  mutating func visit<Failure: Error>(
    _ change: StockChange, order: (OrderID) throws(Failure) -> StoredOrder?
  ) throws(Failure) {
    report.changes += 1
    if change.sequence != report.changes {
      findings.note(Remark(.changeMissing, report.changes, change.sequence))
      report.changes = change.sequence
    }
    let name = LotName(item: change.item, dates: change.dates)
    lots[name, default: 0] &+= change.difference
    present[change.item, default: 0] &+= change.difference
    let (lot, all) = (lots[name] ?? 0, present[change.item] ?? 0)
    if lot != change.lot || all != change.present {
      findings.note(Remark(.changeLeaves, change.sequence, change.lot, change.present, change.item, lot, all))
    }
    if lot < 0 || all > StockLimits.quantity {
      findings.note(Remark(.changeLeavesImpossible, change.sequence, lot, all, change.item))
    }
    if run.last.map({ $0.order != change.order || $0.kind != change.kind }) == true { try endRun(order) }
    run.append(change)
  }

  /// Compares the consecutive ledger rows of one order with the stored order. Call it also after the last row
  /// of the ledger.
  mutating func endRun<Failure: Error>(_ order: (OrderID) throws(Failure) -> StoredOrder?) throws(Failure) {
    defer { run.removeAll(keepingCapacity: true) }
    guard let first = run.first, let id = first.order else { return }
    runs += 1
    guard let stored = try order(id) else {
      findings.note(Remark(.changeOfUnknownOrder, first.sequence, id))
      return
    }
    let told = first.kind == .returned ? stored.returned : stored.changes
    if told != run { findings.note(Remark(.orderUnsaid, id, first.sequence)) }
    guard let amounts = StockAction.amounts(inContent: stored.content) else { return }
    let sign: Quantity = first.kind == .returned ? 1 : -1
    for amount in amounts {
      let moved = run.reduce(0) { $0 + ($1.item == amount.item ? $1.difference : 0) } * sign
      if moved != amount.quantity {
        findings.note(Remark(.orderMovedOther, id, amount.quantity, amount.item, moved))
      }
    }
    if run.contains(where: { row in !amounts.contains { $0.item == row.item } }) {
      findings.note(Remark(.orderMovedUnasked, id))
    }
  }

  mutating func visit(_ shelf: ItemStock) {
    for lot in shelf.lots {
      let told = lots.removeValue(forKey: LotName(item: shelf.item, dates: lot.dates)) ?? 0
      differ(shelf.item, told: told, there: lot.quantity)
    }
  }

  private mutating func differ(_ item: ItemID, told: Quantity, there: Quantity) {
    guard told != there else { return }
    report.difference += abs(told &- there)
    findings.note(Remark(.shelfDiffers, item, told, there))
  }

  mutating func finished() -> StockAudit {
    for (name, told) in lots.sorted(by: { $0.key.item < $1.key.item }) {
      differ(name.item, told: told, there: 0)
    }
    if runs != ordersWithRows { findings.note(Remark(.ordersDiffer, ordersWithRows, runs)) }
    report.remarks = findings.remarks
    return report
  }
}
