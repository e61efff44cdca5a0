// Audit of the queue's juice tickets against the stock's orders. The caller queries the stock part by part. The audit
// checks that every juice that was made has taken its fruits, that no customer sent away (out of stock) has taken any,
// and that no order holds stock for a cancelled or unknown ticket. A suspicious ticket is checked a second time,
// because queue and stock continue to work meanwhile.
// Invariant: the memory in use depends on the size of a part, not on the size of the bank.

import BankModel
import QueueCore
import Wire

struct StockReconciliation {
  private enum Stage: Equatable {
    case greeting, ledger, end
    case receipts(after: Int64)
    case orders(after: OrderID?)
  }

  /// A suspicious ticket, and the name of its order.
  private struct Mismatch {
    var ticket: TicketOfDay
    var order: OrderID
  }

  private let bankID: BankID

  init(_ bankID: BankID = .none, stride: Int64 = 20_000) {
    self.bankID = bankID
    self.stride = stride
  }

  /// Number of receipts of all services that one query covers at most.
  private let stride: Int64
  /// Largest number of problems that are reported one by one; further ones are only counted.
  private static let told = 100

  private var stage = Stage.greeting
  /// Receipts whose orders are being queried, and the position of the last covered receipt.
  private var page: [Receipt] = []
  private var pageEnd: Int64 = 0
  /// Suspicious tickets that are checked a second time.
  private var possibleMismatches: [Mismatch] = []
  /// Number of orders that belong to another bank's tickets.
  private var foreign: Int64 = 0
  /// Pieces of stock that the problems concern.
  private var difference: Int64 = 0
  private var problems: [MessageDetail] = []
  private var unreported = 0
  private var isIncomplete = false

  /// Next command for the stock; nil at the end of the audit.
  mutating func question(from store: any QueueReader) throws(StoreError) -> StockCommand? {
    if !possibleMismatches.isEmpty { return .known(possibleMismatches.map(\.order)) }
    switch stage {
    case .greeting: return .querySnapshot
    case .ledger: return .audit
    case .receipts(let after):
      let limit = Int(StockLimits.ordersPerPage)
      pageEnd = after + stride
      page = try store.receipts(of: .juice, after: after, through: pageEnd, limit: limit)
      if page.mayHaveMore(limit: limit), let last = page.last { pageEnd = last.sequence }
      let isLast = try store.receipts(day: nil, after: pageEnd, limit: 1).isEmpty
      if !page.isEmpty || !isLast { return .known(page.map(bankID.order)) }
      stage = .orders(after: nil)
      return .orders(after: nil, limit: StockLimits.ordersPerPage)
    case .orders(let after): return .orders(after: after, limit: StockLimits.ordersPerPage)
    case .end: return nil
    }
  }

  /// Checks the answer of the stock to the last command.
  mutating func handle(_ result: StockResult, _ store: any QueueReader, day: BusinessDay) throws(StoreError) {
    let presentDay = day
    switch (stage, result) {
    case (_, .orders(let known)) where !possibleMismatches.isEmpty: try recheck(known, store, day)
    case (.greeting, .snapshot): stage = .ledger
    case (.ledger, .audit(let report)):
      difference &+= report.difference
      for problem in report.findings { note(problem.of(.stock)) }
      stage = .receipts(after: 0)
    case (.receipts, .orders(let known)):
      let orders = Dictionary(known.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
      for receipt in page {
        try addMismatch(
          TicketOfDay(day: receipt.day, ticket: receipt.ticket), bankID.order(of: receipt), orders, store, day
        )
      }
      stage = .receipts(after: pageEnd)
    case (.orders, .orders(let known)):
      for order in known {
        switch bankID.origin(of: order.id) {
        case .none: break
        case .others: foreign += 1
        case .own(let day, let number):
          let ticket = TicketOfDay(day: day, ticket: number)
          // A ticket with a receipt was checked with that receipt.
          if try receipt(of: ticket, order.id, store) != nil { continue }
          try addMismatch(ticket, order.id, [order.id: order], store, presentDay)
        }
      }
      stage = known.last.map { .orders(after: $0.id) } ?? .end
    case (_, .failure(let failure)):
      fail(MessageDetail(.requestRefused, "\(failure.code.name) \(failure.detail)"))
    default: fail(MessageDetail(.unexpectedReply))
    }
  }

  /// Checks a ticket and, if it is suspicious, adds it to the second check.
  private mutating func addMismatch(
    _ ticket: TicketOfDay, _ order: OrderID, _ known: [OrderID: OrderRecord], _ store: any QueueReader,
    _ day: BusinessDay
  ) throws(StoreError) {
    if try verdict(ticket, order, known[order], store, day) != nil {
      possibleMismatches.append(Mismatch(ticket: ticket, order: order))
    }
  }

  /// Ends the audit with a finding, because the stock could not be queried.
  mutating func fail(_ reason: MessageDetail) {
    guard stage != .end else { return }
    note(reason.of(.unauditedStock))
    isIncomplete = true
    possibleMismatches = []
    stage = .end
  }

  /// Adds the findings to a report.
  func complete(_ report: inout AuditReport) {
    report.stockDifference = isIncomplete ? nil : difference
    report.add(problems)
    if foreign > 0 { report.note(MessageDetail(.ordersOfOtherBank, foreign)) }
    if unreported > 0 { report.add(MessageDetail(.andMoreOfStock, unreported)) }
  }

  /// Checks the suspicious tickets a second time, and records those that are still suspicious.
  private mutating func recheck(
    _ known: [OrderRecord], _ store: any QueueReader, _ day: BusinessDay
  ) throws(StoreError) {
    let orders = Dictionary(known.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
    for suspect in possibleMismatches {
      if let found = try verdict(suspect.ticket, suspect.order, orders[suspect.order], store, day) {
        difference &+= found.pieces
        note(found.remark)
      }
    }
    possibleMismatches = []
  }

  /// Problem of a ticket and its order, with the number of pieces of stock concerned; nil if there is no
  /// problem.
  private func verdict(
    _ ticket: TicketOfDay, _ name: OrderID, _ order: OrderRecord?, _ store: any QueueReader,
    _ day: BusinessDay
  ) throws(StoreError) -> (remark: MessageDetail, pieces: Int64)? {
    let receipt = try receipt(of: ticket, name, store)
    func about(_ kind: MessageDetail.Kind) -> MessageDetail { MessageDetail(kind, ticket.ticket, ticket.day) }
    switch (receipt?.outcome, order?.state) {
    case (.served?, .done?), (.outOfStock?, .short?): return nil
    case (.served?, let state):
      let kind: MessageDetail.Kind =
        state == nil ? .servedWithoutOrder : state == .short ? .servedByShortOrder : .servedByReturnedOrder
      return (about(kind), 1)
    case (.outOfStock?, .done?), (.cancelled?, .done?):
      if receipt?.outcome == .cancelled, try store.isUnreleased(ticket) { return nil }
      return (
        MessageDetail(.endedWithReservation, ticket.ticket, ticket.day, order?.held ?? ""), order?.pieces ?? 0
      )
    case (.outOfStock?, let state):
      return (about(state == nil ? .outOfStockWithoutOrder : .outOfStockByReturnedOrder), 0)
    case (.cancelled?, _), (nil, nil): return nil
    case (nil, _?):
      if ticket.day == day, try isStillReserved(ticket, name, store) { return nil }
      return (about(.orderWithoutTicket), order?.state == .done ? order?.pieces ?? 0 : 0)
    }
  }

  /// Receipt of the ticket for which this order was made. A receipt with the same number from another copy of
  /// the database does not count.
  private func receipt(
    of ticket: TicketOfDay, _ name: OrderID, _ store: any QueueReader
  ) throws(StoreError) -> Receipt? {
    let receipt = try store.receipt(day: ticket.day, ticket: ticket.ticket)
    return receipt.map(bankID.order) == name ? receipt : nil
  }

  /// True if a customer of the present day without a receipt has this order.
  private func isStillReserved(
    _ ticket: TicketOfDay, _ name: OrderID, _ store: any QueueReader
  ) throws(StoreError) -> Bool {
    guard let customer = try store.find(ticket.ticket)?.customer else { return false }
    return bankID.order(day: ticket.day, ticket: ticket.ticket, issuedAt: customer.issuedAt) == name
  }

  /// Records a problem, or counts it if there are too many.
  private mutating func note(_ problem: MessageDetail) {
    if problems.count < Self.told { problems.append(problem) } else { unreported += 1 }
  }
}

extension OrderRecord {
  fileprivate var amounts: [ItemAmount] { StockAction.amounts(inContent: content) ?? [] }
  /// Number of pieces that the order has taken.
  fileprivate var pieces: Int64 { amounts.reduce(0) { $0 &+ $1.quantity } }
  /// Items that the order has taken, as text for a message.
  fileprivate var held: String { amounts.map { "\($0.quantity) \($0.item)" }.joined(separator: " and ") }
}
