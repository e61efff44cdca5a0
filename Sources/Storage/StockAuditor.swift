// Audit of a stock's rows. It checks that the ledger is complete, that the shelves are its sum, and that the
// ledger rows of an order match its content.
// Invariant: rows are visited in ledger order, and only those of one order are stored at a time, so memory grows with
// the number of lots and not with the number of rows.

import BankModel
import StockCore

/// Audit of a stock that is in progress: it checks one row after the other and collects the findings.
struct StockAuditor {
  var report = StockAudit()
  var findings = Findings()
  /// Number of orders with ledger rows. An order that also has rows of its return counts twice. The store sets
  /// it.
  var ordersWithRows: Int64 = 0

  /// Item and dates, which identify a lot.
  private struct LotKey: Hashable {
    var item: ItemID
    var dates: LotDates?
  }

  /// Sum of the ledger rows of each lot.
  private var lots: [LotKey: Quantity] = [:]
  /// Sum of the ledger rows of each item.
  private var present: [ItemID: Quantity] = [:]
  /// Consecutive ledger rows of one order that were not compared yet.
  private var run: [StockChange] = []
  /// Number of runs of rows with an order.
  private var runs: Int64 = 0

  init(items: [ItemID]) { report.items = Int64(items.count) }

  /// Checks the next row of the ledger. `order` returns the stored order with an id.
  mutating func visit<Failure: Error>(
    _ change: StockChange, order: (OrderID) throws(Failure) -> StoredOrder?
  ) throws(Failure) {
    report.changes += 1
    if change.sequence != report.changes {
      findings.note(MessageDetail(.changeMissing, report.changes, change.sequence))
      report.changes = change.sequence
    }
    let name = LotKey(item: change.item, dates: change.dates)
    lots[name, default: 0] &+= change.difference
    present[change.item, default: 0] &+= change.difference
    let (lot, all) = (lots[name] ?? 0, present[change.item] ?? 0)
    if lot != change.lot || all != change.present {
      findings.note(
        MessageDetail(
          .changeBalanceDiffers, change.sequence, change.lot, change.present, change.item, lot, all))
    }
    if lot < 0 || all > StockLimits.quantity {
      findings.note(MessageDetail(.changeBalanceInvalid, change.sequence, lot, all, change.item))
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
      findings.note(MessageDetail(.changeOfUnknownOrder, first.sequence, id))
      return
    }
    let expected = first.kind == .returned ? stored.returned : stored.changes
    if expected != run { findings.note(MessageDetail(.orderEffectMissing, id, first.sequence)) }
    guard let amounts = StockAction.amounts(inContent: stored.content) else { return }
    let sign: Quantity = first.kind == .returned ? 1 : -1
    for amount in amounts {
      let moved = run.reduce(0) { $0 + ($1.item == amount.item ? $1.difference : 0) } * sign
      if moved != amount.quantity {
        findings.note(MessageDetail(.orderMovedOtherAmount, id, amount.quantity, amount.item, moved))
      }
    }
    if run.contains(where: { row in !amounts.contains { $0.item == row.item } }) {
      findings.note(MessageDetail(.orderMovedOtherItem, id))
    }
  }

  /// Compares the lots of an item with the sums of their ledger rows.
  mutating func visit(_ shelf: ItemStock) {
    for lot in shelf.lots {
      let expected = lots.removeValue(forKey: LotKey(item: shelf.item, dates: lot.dates)) ?? 0
      differ(shelf.item, expected: expected, actual: lot.quantity)
    }
  }

  /// Adds a finding if the quantity of a lot differs from the sum of its ledger rows.
  private mutating func differ(_ item: ItemID, expected: Quantity, actual: Quantity) {
    guard expected != actual else { return }
    report.difference += abs(expected &- actual)
    findings.note(MessageDetail(.itemQuantityDiffers, item, expected, actual))
  }

  /// Checks what is left after all rows, and returns the result.
  mutating func finished() -> StockAudit {
    for (name, expected) in lots.sorted(by: { $0.key.item < $1.key.item }) {
      differ(name.item, expected: expected, actual: 0)
    }
    if runs != ordersWithRows { findings.note(MessageDetail(.ordersDiffer, ordersWithRows, runs)) }
    report.messageDetails = findings.messageDetails
    return report
  }
}
