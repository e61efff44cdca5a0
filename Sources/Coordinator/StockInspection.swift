// Owns the look into the stock of a closed bank: its database, opened under its own lock, because no service is there to
// be asked. It judges nothing and changes nothing. Invariant: a stock that cannot be looked at is a finding with its
// reason, and the rest of the audit is told all the same.

import BankModel
import Glibc
import Posix
import QueueCore
import StockCore
import Storage
import Time
import Wire

/// Audits the stock of a home in which nobody works.
struct StockInspection {
  let home: BankHome
  /// The business day that comes next, or has begun.
  let day: BusinessDay
  /// What the orders of the bank's tickets are called by.
  let books: BooksName
  /// The same database, for what it remembers of the stock's.
  let memory: SQLiteStore

  /// How long a stock service that is just ending may keep its lock.
  private static let patience = TimeSpan.seconds(3)

  /// Adds what is found to a report.
  func audit(_ store: any QueueReading, into report: inout AuditReport) throws(StoreError) {
    var reckoning = StockReckoning(books)
    guard let facts = try? FileFacts.inspect(home.stockDatabase) else {
      guard try !store.receipts(of: .juice, after: 0, through: .max, limit: 1).isEmpty else { return }
      reckoning.fail(Remark(.databaseMissing, home.stockDatabase))
      return reckoning.complete(&report)
    }
    do throws(StoreError) {
      if facts.size == 0 {
        throw .damaged(path: home.stockDatabase, detail: Remark(.fileEmpty))
      }
      let lock = try visit()
      let stock = try SQLiteStockStore(inspecting: home.stockDatabase)
      let mark = DatabaseMark(identity: try stock.load(newLedger: 1).ledger, bank: try stock.lastBank())
      report.add(try DatabaseMismatch.find(mark, of: "stock", books: books, memory), of: "stock")
      while let question = try reckoning.question(from: store) {
        try reckoning.hear(try answer(question, stock), store, day: day)
      }
      withExtendedLifetime(lock) {}
    } catch {
      // A look that sorts what it reads needs room as well: without it nothing is said of the stock, be it good or bad.
      if case .diskFull = error { throw error }
      reckoning.fail(Remark(quoting: error.description))
    }
    reckoning.complete(&report)
  }

  /// Keeps stock services off meanwhile. The lock ends with the value.
  private func visit() throws(StoreError) -> LockFile {
    let until = SystemClock.monotonic() + Self.patience
    do throws(SystemError) {
      while true {
        switch try LockFile.visit(path: home.stockLock) {
        case .acquired(let lock): return lock
        case .heldBy: break
        case .visited: break
        }
        if SystemClock.monotonic() >= until { break }
        _ = poll(nil, 0, 20)
      }
    } catch {
      throw .failed(path: home.stockLock, detail: Remark(quoting: error.description))
    }
    throw .inUse(path: home.stockDatabase)
  }

  private func answer(_ question: StockCommand, _ stock: SQLiteStockStore) throws(StoreError) -> StockResult {
    switch question {
    case .audit:
      let found = try stock.audit()
      return .audit(
        StockAuditReport(
          items: found.items, orders: found.orders, changes: found.changes, difference: found.difference,
          remarks: found.remarks))
    case .known(let names):
      var known: [KeptOrder] = []
      for name in names {
        if let order = try stock.order(name) { known.append(order.kept(as: name)) }
      }
      return .orders(known)
    case .orders(let after, let limit): return .orders(try stock.orders(after: after, limit: Int(limit)))
    default: return .picture(StockPicture(ledger: 1, sequence: 0, items: []))
    }
  }
}
