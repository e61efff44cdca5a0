// Owns the part of an audit of shared books that is about what lies in this home: whether the juices of its branch and the orders
// at its stock tell the same story, and the purchases at its machine. Of an open branch the services are asked, by the process
// that reads the books; of a closed one their databases are looked into. It judges nothing and changes nothing.
// Invariant: who does not answer in time is a finding, and the rest of the audit is told all the same.

import BankModel
import Posix
import QueueCore
import StockClient
import Time
import VendingClient
import Wire

struct StockVisit {
  let home: BankHome
  /// What the branch of this home is called in the books.
  let branch: String
  /// Whether somebody has it open, and its services can be asked.
  let isOpen: Bool
  let loop: EventLoop

  /// How long a service may take to say anything at all, and to count every row of its own.
  private static let patience = TimeSpan.seconds(10)
  private static let longestCount = TimeSpan.minutes(5)
  /// All receipts are looked through at once: nobody else waits for this process.
  static let stride: Int64 = 1 << 60

  func audit(_ books: any InspectedBooks, into report: inout AuditReport) throws(StoreError) {
    // Whoever has never joined the bank has nothing in common with it.
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
