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

struct StockVisit {
  let home: BankHome
  /// Name of this home's branch in the database.
  let branch: String
  /// True if the branch is open, so its services can be queried.
  let isOpen: Bool
  let loop: EventLoop

  /// Timeout of a service for an answer, and for counting all its rows.
  private static let patience = TimeSpan.seconds(10)
  private static let longestCount = TimeSpan.minutes(5)
  /// All receipts in one step: no other work waits for this process.
  static let stride: Int64 = 1 << 60

  func audit(_ books: any InspectedBooks, into report: inout AuditReport) throws(StoreError) {
    // A home that has never joined the bank has nothing to compare.
    guard let reading = try books.stockReading(ofBranch: branch) else { return }
    let numbers = try books.look()
    guard isOpen else {
      let services = ServiceInspection(
        home: home, day: numbers.presentDay, books: numbers.name, bank: nil, reading: reading)
      try services.auditStock(into: &report)
      return try services.auditMachine(into: &report)
    }
    let stock = StockClient(socket: home.stockSocket, loop: loop)
    defer { stock.close() }
    var reckoning = StockReckoning(numbers.name, stride: Self.stride)
    while let question = try reckoning.question(from: reading) {
      let result: StockResult
      do throws(StockClientError) {
        result = try stock.call(question, within: question == .audit ? Self.longestCount : Self.patience)
      } catch {
        reckoning.fail(error.remark)
        continue
      }
      try reckoning.hear(result, reading, day: numbers.presentDay)
    }
    reckoning.complete(&report)
    auditMachine(stock, into: &report)
  }

  private func auditMachine(_ stock: StockClient, into report: inout AuditReport) {
    let machine = VendingClient(socket: VendingClient.managersSocket(inHome: home.path), loop: loop)
    defer { machine.close() }
    var reckoning = VendingReckoning()
    while let question = reckoning.question {
      switch question {
      case .machine:
        do throws(VendingClientError) {
          guard case .audit(let found) = try machine.call(.audit, within: Self.longestCount) else {
            reckoning.fail(Remark(.strangeAnswer))
            continue
          }
          reckoning.hear(found)
        } catch { reckoning.fail(error.remark) }
      case .stock(let question):
        do throws(StockClientError) {
          reckoning.hear(try stock.call(question, within: Self.patience))
        } catch { reckoning.fail(error.remark) }
      }
    }
    reckoning.complete(&report)
  }
}
