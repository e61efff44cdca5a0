// Audit of the queue's juice tickets against the stock's orders. The caller queries the stock page by page. The audit
// checks that every juice that was made has taken its fruits, that no customer sent away (out of stock) has taken any,
// and that no order holds stock for a cancelled or unknown ticket. A suspicious ticket is checked a second time,
// because queue and stock continue to work meanwhile.
// Invariant: the memory in use depends on the size of a page, not on the size of the bank.

import BankModel
import QueueCore
import Wire

struct StockReckoning {
  private enum Stage: Equatable {
    case greeting, ledger, end
    case receipts(after: Int64)
    case orders(after: OrderID?)
  }

  private struct Suspect {
    var ticket: TicketOfDay
    var order: OrderID
  }

  private let books: BooksName

  init(_ books: BooksName = .none, stride: Int64 = 20_000) {
    self.books = books
    self.stride = stride
  }

  /// Number of receipts of all services that one page covers at most. The stock is queried even if a page has no juice,
  /// so that other work runs in between.
  private let stride: Int64
  /// Largest number of reported problems; further ones are counted.
  private static let told = 100

  private var stage = Stage.greeting
  private var page: [Receipt] = []
  private var pageEnd: Int64 = 0
  /// Suspicious tickets that are checked a second time.
  private var suspects: [Suspect] = []
  /// Number of orders that belong to another bank's tickets.
  private var foreign: Int64 = 0
  private var difference: Int64 = 0
  private var problems: [Remark] = []
  private var untold = 0
  private var isIncomplete = false

  mutating func question(from store: any QueueReading) throws(StoreError) -> StockCommand? {
    if !suspects.isEmpty { return .known(suspects.map(\.order)) }
    switch stage {
    case .greeting: return .look
    case .ledger: return .audit
    case .receipts(let after):
      let limit = Int(StockLimits.ordersPerPage)
      pageEnd = after + stride
      page = try store.receipts(of: .juice, after: after, through: pageEnd, limit: limit)
      if page.mayGoOn(limit: limit), let last = page.last { pageEnd = last.sequence }
      let isLast = try store.receipts(day: nil, after: pageEnd, limit: 1).isEmpty
      if !page.isEmpty || !isLast { return .known(page.map(books.order)) }
      stage = .orders(after: nil)
      return .orders(after: nil, limit: StockLimits.ordersPerPage)
    case .orders(let after): return .orders(after: after, limit: StockLimits.ordersPerPage)
    case .end: return nil
    }
  }

  mutating func hear(_ result: StockResult, _ store: any QueueReading, day: BusinessDay) throws(StoreError) {
    let presentDay = day
    switch (stage, result) {
    case (_, .orders(let known)) where !suspects.isEmpty: try lookAgain(known, store, day)
    case (.greeting, .picture): stage = .ledger
    case (.ledger, .audit(let report)):
      difference &+= report.difference
      for problem in report.told { note(problem.of(.stock)) }
      stage = .receipts(after: 0)
    case (.receipts, .orders(let known)):
      let orders = Dictionary(known.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
      for receipt in page {
        try suspect(
          TicketOfDay(day: receipt.day, ticket: receipt.ticket), books.order(of: receipt), orders, store, day)
      }
      stage = .receipts(after: pageEnd)
    case (.orders, .orders(let known)):
      for order in known {
        switch books.origin(of: order.id) {
        case .none: break
        case .others: foreign += 1
        case .own(let day, let number):
          let ticket = TicketOfDay(day: day, ticket: number)
          // A ticket with a receipt was checked with that receipt.
          if try receipt(of: ticket, order.id, store) != nil { continue }
          try suspect(ticket, order.id, [order.id: order], store, presentDay)
        }
      }
      stage = known.last.map { .orders(after: $0.id) } ?? .end
    case (_, .failure(let failure)): fail(Remark(.refuses, "\(failure.code.name) \(failure.detail)"))
    default: fail(Remark(.strangeAnswer))
    }
  }

  /// Checks a ticket and, if it is suspicious, adds it to the second check.
  private mutating func suspect(
    _ ticket: TicketOfDay, _ order: OrderID, _ known: [OrderID: KeptOrder], _ store: any QueueReading,
    _ day: BusinessDay
  ) throws(StoreError) {
    if try verdict(ticket, order, known[order], store, day) != nil {
      suspects.append(Suspect(ticket: ticket, order: order))
    }
  }

  mutating func fail(_ reason: Remark) {
    guard stage != .end else { return }
    note(reason.of(.unauditedStock))
    isIncomplete = true
    suspects = []
    stage = .end
  }

  func complete(_ report: inout AuditReport) {
    report.stockDifference = isIncomplete ? nil : difference
    report.add(problems)
    if foreign > 0 { report.note(Remark(.foreignOrders, foreign)) }
    if untold > 0 { report.add(Remark(.moreOfStock, untold)) }
  }

  private mutating func lookAgain(
    _ known: [KeptOrder], _ store: any QueueReading, _ day: BusinessDay
  ) throws(StoreError) {
    let orders = Dictionary(known.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
    for suspect in suspects {
      if let found = try verdict(suspect.ticket, suspect.order, orders[suspect.order], store, day) {
        difference &+= found.pieces
        note(found.remark)
      }
    }
    suspects = []
  }

  /// Problem of a ticket and its order, with the number of pieces of stock concerned; nil if there is no
  /// problem.
  private func verdict(
    _ ticket: TicketOfDay, _ name: OrderID, _ order: KeptOrder?, _ store: any QueueReading, _ day: BusinessDay
  ) throws(StoreError) -> (remark: Remark, pieces: Int64)? {
    let receipt = try receipt(of: ticket, name, store)
    func about(_ kind: Remark.Kind) -> Remark { Remark(kind, ticket.ticket, ticket.day) }
    switch (receipt?.outcome, order?.state) {
    case (.served?, .done?), (.outOfStock?, .short?): return nil
    case (.served?, let state):
      let kind: Remark.Kind =
        state == nil ? .servedWithoutOrder : state == .short ? .servedByShortOrder : .servedByReturnedOrder
      return (about(kind), 1)
    case (.outOfStock?, .done?), (.cancelled?, .done?):
      if receipt?.outcome == .cancelled, try store.isUnreleased(ticket) { return nil }
      return (Remark(.endedHolding, ticket.ticket, ticket.day, order?.held ?? ""), order?.pieces ?? 0)
    case (.outOfStock?, let state):
      return (about(state == nil ? .sentAwayWithoutOrder : .sentAwayByReturnedOrder), 0)
    case (.cancelled?, _), (nil, nil): return nil
    case (nil, _?):
      if ticket.day == day, try isKept(ticket, name, store) { return nil }
      return (about(.orderOfNobody), order?.state == .done ? order?.pieces ?? 0 : 0)
    }
  }

  /// Receipt of the ticket for which this order was made. A receipt with the same number from another copy of
  /// the database does not count.
  private func receipt(
    of ticket: TicketOfDay, _ name: OrderID, _ store: any QueueReading
  ) throws(StoreError) -> Receipt? {
    let receipt = try store.receipt(day: ticket.day, ticket: ticket.ticket)
    return receipt.map(books.order) == name ? receipt : nil
  }

  /// True if a customer of the present day without a receipt has this order.
  private func isKept(
    _ ticket: TicketOfDay, _ name: OrderID, _ store: any QueueReading
  ) throws(StoreError) -> Bool {
    guard let customer = try store.find(ticket.ticket)?.customer else { return false }
    return books.order(day: ticket.day, ticket: ticket.ticket, issuedAt: customer.issuedAt) == name
  }

  private mutating func note(_ problem: Remark) {
    if problems.count < Self.told { problems.append(problem) } else { untold += 1 }
  }
}

extension KeptOrder {
  fileprivate var amounts: [ItemAmount] { StockAction.amounts(inContent: content) ?? [] }
  fileprivate var pieces: Int64 { amounts.reduce(0) { $0 &+ $1.quantity } }
  fileprivate var held: String { amounts.map { "\($0.quantity) \($0.item)" }.joined(separator: " and ") }
}
