// Audit of the stock and the vending machine of a closed bank. No service is running, so the audit reads their
// databases under the locks of the services.
// Invariant: a database of a service that cannot be read is a finding with its reason, and the rest of the audit is
// still reported.
// Errors: StoreError, for example if the disk has no space for sorting.

import BankModel
import Glibc
import Posix
import QueueCore
import Storage
import Time
import Transport
import VendingCore
import Wire

struct ClosedServiceAudit {
  let home: BankHome
  /// Business day in the database of the bank. After the end of a day this is the next day, which has not
  /// started.
  let day: BusinessDay
  /// Identity of the bank in the orders of its tickets.
  let bankID: BankID
  /// The bank's own database, which records the identities of the services' databases; nil in a shared bank.
  let bank: SQLiteStore?
  let reading: any QueueReader

  /// Number of receipts of the bank that one step covers.
  private var stride: Int64 { bank == nil ? StockAuditTask.stride : 20_000 }

  /// Time for which an exiting service may keep its lock.
  private static let patience = TimeSpan.seconds(3)

  private var stockHome: ServiceHome { ServiceHome(path: home.path, name: "stock") }
  private var vendingHome: ServiceHome { ServiceHome(path: home.path, name: "vending") }

  /// Audits the stock, and compares its orders with the juice customers of the bank.
  func auditStock(into report: inout AuditReport) throws(StoreError) {
    var reconciliation = StockReconciliation(bankID, stride: stride)
    if isThere(stockHome) {
      do throws(StoreError) {
        let file = try database(of: stockHome)
        let lock = try acquireForInspection(stockHome)
        let stock = try SQLiteStockStore(inspecting: file)
        try compare(stock, named: "stock", identity: try stock.load(newLedger: 1).ledger, into: &report)
        while let question = try reconciliation.question(from: reading) {
          try reconciliation.handle(try answer(question, stock), reading, day: day)
        }
        withExtendedLifetime(lock) {}
      } catch { reconciliation.fail(try reason(of: error)) }
    } else {
      guard try !reading.receipts(of: .juice, after: 0, through: .max, limit: 1).isEmpty else { return }
      reconciliation.fail(MessageDetail(.databaseMissing, stockHome.database))
    }
    reconciliation.complete(&report)
  }

  /// Audits the vending machine, and compares its purchases with the orders of the stock.
  func auditVending(into report: inout AuditReport) throws(StoreError) {
    guard isThere(vendingHome) else { return }
    var reconciliation = VendingReconciliation(checks: 1)
    do throws(StoreError) {
      let file = try database(of: vendingHome)
      let lock = try acquireForInspection(vendingHome)
      let stockLock = try acquireForInspection(stockHome)
      let store = try SQLiteVendingStore(inspecting: file)
      let name = try store.load(newMachine: 1).machine
      try compare(store, named: "vending", identity: name, into: &report)
      // The audit does not create the database of the stock.
      let stock = isThere(stockHome) ? try SQLiteStockStore(inspecting: try database(of: stockHome)) : nil
      _ = try stock?.load(newLedger: 1)
      while let question = reconciliation.question {
        switch question {
        case .machine: reconciliation.handle(VendingAuditReport(try store.audit(), machine: name))
        case .stock(.orders(let after, let limit)):
          reconciliation.handle(.orders(try stock?.orders(after: after, limit: Int(limit)) ?? []))
        case .stock: reconciliation.fail(MessageDetail(.unexpectedReply))
        }
      }
      withExtendedLifetime(stockLock) {}
      withExtendedLifetime(lock) {}
    } catch { reconciliation.fail(try reason(of: error)) }
    reconciliation.complete(&report)
  }

  private func isThere(_ service: ServiceHome) -> Bool {
    (try? FileMetadata.inspect(service.database)) != nil
  }

  /// Path of a service's database. An empty file is an error.
  private func database(of service: ServiceHome) throws(StoreError) -> String {
    guard (try? FileMetadata.inspect(service.database))?.size == 0 else { return service.database }
    throw .damaged(path: service.database, detail: MessageDetail(.fileEmpty))
  }

  /// Compares the identity of a service's database with the bank's record, and adds a mismatch.
  private func compare(
    _ store: DatabaseStore, named name: String, identity: Int64, into report: inout AuditReport
  ) throws(StoreError) {
    guard let bank else { return }
    let mark = DatabaseIdentity(identity: identity, bank: try store.lastBank())
    report.add(try DatabaseMismatch.find(mark, of: name, bankID: bankID, bank), of: name)
  }

  /// Reason why a service could not be audited. Throws if the disk has no space for sorting.
  private func reason(of error: StoreError) throws(StoreError) -> MessageDetail {
    if case .diskFull = error { throw error }
    return MessageDetail(quoting: error.description)
  }

  /// Takes the lock of a service, so that the service cannot start. The lock is released when the value is
  /// destroyed.
  private func acquireForInspection(_ service: ServiceHome) throws(StoreError) -> LockFile {
    let until = SystemClock.monotonic() + Self.patience
    do throws(SystemError) {
      while true {
        if case .acquired(let lock) = try LockFile.acquireForInspection(path: service.lock) { return lock }
        if SystemClock.monotonic() >= until { break }
        _ = poll(nil, 0, 20)
      }
    } catch { throw .failed(path: service.lock, detail: MessageDetail(quoting: error.description)) }
    throw .inUse(path: service.database)
  }

  /// Answers a query of the audit from the stock's database.
  private func answer(_ question: StockCommand, _ stock: SQLiteStockStore) throws(StoreError) -> StockResult {
    switch question {
    case .audit:
      let found = try stock.audit()
      return .audit(
        StockAuditReport(
          items: found.items, orders: found.orders, changes: found.changes, difference: found.difference,
          messageDetails: found.messageDetails))
    case .known(let names):
      var known: [OrderRecord] = []
      for name in names { if let order = try stock.order(name) { known.append(order.kept(as: name)) } }
      return .orders(known)
    case .orders(let after, let limit): return .orders(try stock.orders(after: after, limit: Int(limit)))
    default: return .snapshot(StockSnapshot(ledger: 1, sequence: 0, items: []))
    }
  }
}

extension VendingAuditReport {
  init(_ found: VendingAudit, machine: Int64) {
    self.init(
      changes: found.changes, account: found.account, purchases: found.purchases,
      unfinished: found.unfinished, difference: found.difference, messageDetails: found.messageDetails,
      machine: machine)
  }
}
