// Owns the look into the vending machine of a closed bank: its database and the stock's, opened under their own locks,
// because nobody is there to be asked. It judges nothing and changes nothing. Invariant: a machine that cannot be looked
// at is a finding with its reason, and the rest of the audit is told all the same.

import BankModel
import Glibc
import Posix
import QueueCore
import StockCore
import Storage
import Time
import Transport
import VendingCore
import Wire

/// Audits the vending machine of a home in which nobody works.
struct VendingInspection {
  let home: BankHome
  /// What the bank's books are called.
  let books: BooksName
  /// Their database, for what it remembers of the machine's.
  let memory: SQLiteStore

  /// How long a process that is just ending may keep its lock.
  private static let patience = TimeSpan.seconds(3)

  /// Adds what is found to a report.
  func audit(into report: inout AuditReport) throws(StoreError) {
    let machine = ServiceHome(path: home.path, name: "vending")
    guard let facts = try? FileFacts.inspect(machine.database) else { return }
    var reckoning = VendingReckoning()
    do throws(StoreError) {
      if facts.size == 0 { throw .damaged(path: machine.database, detail: Remark(.fileEmpty)) }
      let stockHome = ServiceHome(path: home.path, name: "stock")
      let locks = try Locks(machine: visit(machine), stock: visit(stockHome))
      let store = try SQLiteVendingStore(inspecting: machine.database)
      let name = try store.load(newMachine: 1).machine
      let mark = DatabaseMark(identity: name, bank: try store.lastBank())
      report.add(try DatabaseMismatch.find(mark, of: "vending", books: books, memory), of: "vending")
      let stock = try open(stockHome)
      while let question = reckoning.question {
        switch question {
        case .machine: reckoning.hear(VendingAuditReport(try store.audit(), machine: name))
        case .stock(.orders(let after, let limit)):
          reckoning.hear(.orders(try stock?.orders(after: after, limit: Int(limit)) ?? []))
        case .stock: reckoning.fail(Remark(.strangeAnswer))
        }
      }
      withExtendedLifetime(locks) {}
    } catch {
      if case .diskFull = error { throw error }
      reckoning.fail(Remark(quoting: error.description))
    }
    reckoning.complete(&report)
  }

  /// The stock; nil where there is none, which then has given out nothing. It is not made here.
  private func open(_ home: ServiceHome) throws(StoreError) -> SQLiteStockStore? {
    guard let facts = try? FileFacts.inspect(home.database) else { return nil }
    if facts.size == 0 { throw .damaged(path: home.database, detail: Remark(.fileEmpty)) }
    let stock = try SQLiteStockStore(inspecting: home.database)
    _ = try stock.load(newLedger: 1)
    return stock
  }

  /// Two locks that end with the value.
  private struct Locks: ~Copyable {
    let machine: LockFile
    let stock: LockFile
  }

  private func visit(_ service: ServiceHome) throws(StoreError) -> LockFile {
    let until = SystemClock.monotonic() + Self.patience
    do throws(SystemError) {
      while true {
        if case .acquired(let lock) = try LockFile.visit(path: service.lock) { return lock }
        if SystemClock.monotonic() >= until { break }
        _ = poll(nil, 0, 20)
      }
    } catch {
      throw .failed(path: service.lock, detail: Remark(quoting: error.description))
    }
    throw .inUse(path: service.database)
  }
}

extension VendingAuditReport {
  /// What an audit of the rows found, as it is told.
  init(_ found: VendingAudit, machine: Int64) {
    self.init(
      changes: found.changes, account: found.account, purchases: found.purchases,
      unfinished: found.unfinished, difference: found.difference, remarks: found.remarks, machine: machine)
  }
}
