// Part of a shared bank's audit that concerns this home. It compares the juice tickets of the branch with the orders
// at its stock, and checks the purchases at its vending machine. The process queries the services of an open branch,
// and reads the databases of a closed one. The audit changes nothing.
// Invariant: a service that does not answer in time is a finding, and the rest of the audit is still reported.

import BankModel
import Posix
import QueueCore
import StockClient
import Time
import VendingClient
import Wire

struct StockAuditTask {
  let home: BankHome
  /// Name of this home's branch in the database.
  let branch: String
  /// True if the branch is open, so its services can be queried.
  let isOpen: Bool
  let loop: EventLoop

  /// Timeout of a service for an answer, and for counting all its rows.
  private static let patience = TimeSpan.seconds(10)
  private static let longestCount = TimeSpan.minutes(5)
  /// Number of receipts per step: all of them, because no other work waits for this process.
  static let stride: Int64 = 1 << 60

  /// Adds the findings about this home's stock and vending machine to a report.
  func audit(_ inspectedStore: any InspectedStore, into report: inout AuditReport) throws(StoreError) {
    // A home that has never joined the bank has nothing to compare.
    guard let reading = try inspectedStore.stockReading(ofBranch: branch) else { return }
    let numbers = try inspectedStore.refresh()
    guard isOpen else {
      let services = ClosedServiceAudit(
        home: home, day: numbers.presentDay, bankID: numbers.name, bank: nil, reading: reading)
      try services.auditStock(into: &report)
      return try services.auditVending(into: &report)
    }
    let stock = StockClient(socket: home.stockSocket, loop: loop)
    defer { stock.close() }
    var reconciliation = StockReconciliation(numbers.name, stride: Self.stride)
    while let question = try reconciliation.question(from: reading) {
      let result: StockResult
      do throws(StockClientError) {
        result = try stock.call(question, within: question == .audit ? Self.longestCount : Self.patience)
      } catch {
        reconciliation.fail(error.messageDetail)
        continue
      }
      try reconciliation.handle(result, reading, day: numbers.presentDay)
    }
    reconciliation.complete(&report)
    auditVending(stock, into: &report)
  }

  /// Audits the vending machine of an open branch.
  private func auditVending(_ stock: StockClient, into report: inout AuditReport) {
    let machine = VendingClient(socket: VendingClient.managersSocket(inHome: home.path), loop: loop)
    defer { machine.close() }
    var reconciliation = VendingReconciliation()
    while let question = reconciliation.question {
      switch question {
      case .machine:
        do throws(VendingClientError) {
          guard case .audit(let found) = try machine.call(.audit, within: Self.longestCount) else {
            reconciliation.fail(MessageDetail(.unexpectedReply))
            continue
          }
          reconciliation.handle(found)
        } catch { reconciliation.fail(error.messageDetail) }
      case .stock(let question):
        do throws(StockClientError) {
          reconciliation.handle(try stock.call(question, within: Self.patience))
        } catch { reconciliation.fail(error.messageDetail) }
      }
    }
    reconciliation.complete(&report)
  }
}
