// Final comparison of a chaos run: what the clients received against what the bank has stored.
// Invariant: deviations are named in `violations`, and most are also counted by kind. Order: within a service and
// a priority a customer must not start later than one with a higher ticket. Exceptions: the customer had an
// earlier attempt (`attempts` > 1), the coordinator was killed between the two starts, or the bank has several
// branches. Each such kill explains at most `inFlight` customers per window.
import BankModel
import Wire

/// A promise that the bank has broken, or a sign that it may have.
enum ChaosViolation: Sendable, Equatable {
  /// A ticket has no receipt, or more than one.
  case lost(ChaosTicket)
  case servedAgain(ChaosTicket, receipts: Int64)
  /// A key received different tickets at different times.
  case keyAnsweredDifferently(key: String)
  /// An answer has a ticket of another key, a ticket below 1, or the wrong number of tickets.
  case invalidAnswer(key: String)
  /// A receipt for a ticket that no valid answer contains.
  case notRequested(ChaosTicket)
  /// A customer was started later than one with a higher ticket in its line.
  case overtaken(ChaosTicket, by: ChaosTicket)
  /// More customers were overtaken than the coordinator's kills explain.
  case tooManyOvertaken(ServiceName, count: Int64, explained: Int64)
  /// A receipt differs from the client's order.
  case wrongReceipt(ChaosTicket)
  /// The sum of the amounts of a service is wrong.
  case money(ServiceName, difference: Int64)
  /// A process that runs after its bank or its coordinator has ended.
  case orphan(pid: Int32, name: String)
  /// An order that was never answered.
  case unanswered(key: String)
  /// The bank sent no message, or completed no customer, for too long.
  case notRecovered
  /// Number of times that the page was not right again in time after a kill.
  case page(Int64)
  /// More or fewer pieces are left than the deliveries and juices explain.
  case stock(ItemID, difference: Int64)
  /// A deviation in what a subscriber of the stock received.
  case watch(MessageDetail)
  /// A problem that an audit or a client has found.
  case audit(MessageDetail)
  case work(ChaosTicket, WorkDeviation)
  /// Number of lines of commands and workers that cannot be parsed.
  case unreadableLines(Int)
}

/// Result of the comparison at the end of a chaos run: its counts, and the promises that were broken.
struct ChaosCheckResult: Sendable, Equatable {
  /// A kill of the coordinator, as the range of wall clock time in milliseconds in which it happened.
  typealias KillTime = ClosedRange<Int64>

  /// What the clients and observers of a run have recorded.
  struct Evidence {
    var ledger = ChaosLedger()
    /// All receipts of the run, in the order of their commits.
    var receipts: [ReceiptReport] = []
    var killTimes: [KillTime] = []
    /// Maximum number of open windows of each service.
    var windows: [ServiceName: Int64] = [:]
    /// Maximum number of customers in flight at a teller.
    var inFlight: Int64 = 1
    var orphans: [(pid: Int32, name: String)] = []
    var recovered = true
    /// True if the customers of a line must start in the order of their tickets; false for several branches.
    var isOrdered = true
    /// Number of times that the page did not name the current coordinator, or sent no event, in time after a kill.
    var latePages: Int64 = 0
    var shelves = StockTotals()
    var audit: [MessageDetail] = []
    var work = Work()
  }

  /// Tickets that the clients received, and receipts that the bank has stored.
  private(set) var acknowledged: Int64 = 0
  private(set) var receipts: Int64 = 0
  private(set) var lost: Int64 = 0
  /// Tickets with several receipts, receipts without a request, and wrong or contradictory answers.
  private(set) var duplicated: Int64 = 0
  private(set) var orderViolations: Int64 = 0
  private(set) var moneyDifference: Int64 = 0
  var orphans: Int64 = 0
  /// Overtaken customers for which a kill of the coordinator may be the cause.
  private(set) var overtakenByCrash: Int64 = 0
  /// Receipts after more than one attempt.
  private(set) var reserved: Int64 = 0
  /// Missing and surplus pieces of fruit.
  var stockDifference: Int64 = 0
  /// Juices that were made, and customers who were turned away for lack of fruit.
  var juices: Int64 = 0
  var outOfStockCount: Int64 = 0
  /// Attempts of commands and workers, and customers who were cancelled.
  var attempts: Int64 = 0
  var cancelled: Int64 = 0
  /// Deviations in the work of commands and workers.
  var workDeviations: Int64 = 0
  var violations: [ChaosViolation] = []
  var isClean: Bool { violations.isEmpty }

  init(_ evidence: Evidence) {
    acknowledged = evidence.ledger.acknowledged
    receipts = Int64(evidence.receipts.count)
    reserved = Int64(evidence.receipts.count { $0.attempts > 1 })
    let asked = compareAcknowledgements(evidence.ledger)
    compareReceipts(evidence, asked)
    if evidence.isOrdered { compareOrder(evidence) }
    compareStock(evidence.shelves, evidence.receipts)
    for orphan in evidence.orphans { violations.append(.orphan(pid: orphan.pid, name: orphan.name)) }
    orphans = Int64(evidence.orphans.count)
    compareWork(evidence.work, evidence.receipts, asked)
    if !evidence.recovered { violations.append(.notRecovered) }
    if evidence.latePages > 0 { violations.append(.page(evidence.latePages)) }
    violations += evidence.audit.map { .audit($0) }
  }

  /// Checks the answers to all orders. Returns the order of each ticket.
  private mutating func compareAcknowledgements(_ ledger: ChaosLedger) -> [ChaosTicket: ChaosOrder] {
    var asked: [ChaosTicket: ChaosOrder] = [:]
    for order in ledger.orders {
      guard let promise = ledger.acknowledgements[order.key] else {
        violations.append(.unanswered(key: order.key))
        continue
      }
      var isGood = promise.count == order.count && promise.first >= 1
      for number in isGood ? Array(promise.first...promise.last) : [] {
        let other = asked.updateValue(order, forKey: ChaosTicket(day: promise.day, number: number))
        if other != nil { isGood = false }
      }
      guard !isGood else { continue }
      duplicated += 1
      violations.append(.invalidAnswer(key: order.key))
    }
    for contradiction in ledger.contradictions {
      duplicated += 1
      violations.append(.keyAnsweredDifferently(key: contradiction.key))
    }
    return asked
  }

  /// Checks that each ticket has one receipt, which matches its order in `asked`, and compares the sums of the amounts.
  private mutating func compareReceipts(_ evidence: Evidence, _ asked: [ChaosTicket: ChaosOrder]) {
    var counts: [ChaosTicket: Int64] = [:]
    var sums: [ServiceName: Int64] = [:]
    for receipt in evidence.receipts {
      counts[receipt.name, default: 0] += 1
      if receipt.outcome == .served { sums[receipt.service, default: 0] += receipt.amount }
      guard let order = asked[receipt.name] else {
        duplicated += 1
        violations.append(.notRequested(receipt.name))
        continue
      }
      if !isRight(receipt, order, evidence) { violations.append(.wrongReceipt(receipt.name)) }
    }
    for ticket in asked.keys.sorted() {
      let count = counts[ticket, default: 0]
      if count == 0 {
        lost += 1
        violations.append(.lost(ticket))
      } else if count > 1 {
        duplicated += 1
        violations.append(.servedAgain(ticket, receipts: count))
      }
    }
    for service in ServiceName.branch {
      let wanted = asked.values.reduce(0) { $1.service == service ? $0 + $1.amount : $0 }
      let difference = sums[service, default: 0] - wanted
      guard difference != 0 else { continue }
      moneyDifference += Int64(clamping: difference.magnitude)
      violations.append(.money(service, difference: difference))
    }
  }

  /// True if the receipt matches the order, by the rules of its service.
  private func isRight(_ receipt: ReceiptReport, _ order: ChaosOrder, _ evidence: Evidence) -> Bool {
    if let juice = order.juice {
      return receipt.fulfils(order, juice: juice, recipe: evidence.shelves.recipes[juice] ?? [])
    }
    guard order.payloadSent != nil else { return receipt.fulfils(order) }
    return receipt.fulfils(
      work: order, isCancelAsked: evidence.work.cancelsAsked.contains(receipt.name))
  }

  /// A line of one day.
  private struct Place: Hashable {
    var day: BusinessDay
    var service: ServiceName
    var priority: Priority
  }

  /// Compares the starts within each line of a day, from the last ticket to the first. A customer with a single attempt
  /// was overtaken if a later ticket started earlier. A kill of the coordinator between the two starts explains the
  /// order, up to the limit stated in this file's head.
  private mutating func compareOrder(_ evidence: Evidence) {
    var explained: [ServiceName: Int64] = [:]
    let lines = Dictionary(grouping: evidence.receipts) {
      Place(day: $0.day, service: $0.service, priority: $0.priority)
    }
    for (place, receipts) in lines {
      let inOrder = receipts.sorted { $0.ticket < $1.ticket }
      var earliestBehind = Int64.max
      for index in inOrder.indices.reversed() {
        guard let start = inOrder[index].startedAt else { continue }
        if inOrder[index].attempts == 1, earliestBehind < start {
          let overtakers = inOrder[(index + 1)...].filter { ($0.startedAt ?? .max) < start }
          let culprit = overtakers.first {
            !Self.isExplainedByKill($0.startedAt ?? 0, start, evidence.killTimes)
          }
          if let culprit {
            orderViolations += 1
            violations.append(.overtaken(inOrder[index].name, by: culprit.name))
          } else {
            explained[place.service, default: 0] += 1
          }
        }
        earliestBehind = min(earliestBehind, start)
      }
    }
    for service in explained.keys.sorted() {
      let count = explained[service, default: 0]
      let most = Int64(evidence.killTimes.count) * evidence.windows[service, default: 0] * evidence.inFlight
      overtakenByCrash += count
      guard count > most else { continue }
      orderViolations += count - most
      violations.append(.tooManyOvertaken(service, count: count, explained: most))
    }
  }

  /// True if the coordinator may have been killed between the two times.
  private static func isExplainedByKill(_ earlier: Int64, _ later: Int64, _ killTimes: [KillTime]) -> Bool {
    killTimes.contains { earlier <= $0.upperBound && $0.lowerBound <= later }
  }
}

extension ReceiptReport {
  fileprivate var name: ChaosTicket { ChaosTicket(day: day, number: ticket) }

  /// True if the receipt matches the order, including the accounts.
  fileprivate func fulfils(_ order: ChaosOrder) -> Bool {
    outcome == .served && service == order.service && priority == order.priority && amount == order.amount
      && debit == (service == .deposit ? "cash" : "loans") && credit == "customer-\(order.account)"
      && attempts >= 1
  }
}

/// The fruit in a chaos run: initial amounts, deliveries, use by the juices, and what is left.
extension ChaosCheckResult {
  /// Amounts of fruit that a run has recorded, and the deviations that its subscriber has found.
  struct StockTotals {
    var recipes: [String: [ItemAmount]] = [:]
    var before: [ItemID: Quantity] = [:]
    var delivered: [ItemID: Quantity] = [:]
    /// Amounts at the end; nil if the stock did not report them.
    var after: [ItemID: Quantity]?
    var gaps: [MessageDetail] = []
  }

  /// Compares the fruit at the end with the deliveries and with the juices that have a receipt.
  mutating func compareStock(_ shelves: StockTotals, _ receipts: [ReceiptReport]) {
    violations += shelves.gaps.map { .watch($0) }
    guard let after = shelves.after else { return }
    var wanted = shelves.before.merging(shelves.delivered, uniquingKeysWith: +)
    for receipt in receipts where receipt.service == .juice {
      if receipt.outcome == .outOfStock { outOfStockCount += 1 }
      guard receipt.outcome == .served else { continue }
      juices += 1
      for part in shelves.recipes[receipt.itemName ?? ""] ?? [] {
        wanted[part.item, default: 0] -= part.quantity
      }
    }
    for item in Set(wanted.keys).union(after.keys).sorted() {
      let difference = after[item, default: 0] - wanted[item, default: 0]
      guard difference != 0 else { continue }
      stockDifference += Int64(clamping: difference.magnitude)
      violations.append(.stock(item, difference: difference))
    }
  }
}

extension ReceiptReport {
  /// True if the receipt of a juice order is valid: the juice was made, or the receipt lists what was missing.
  func fulfils(_ order: ChaosOrder, juice: String, recipe: [ItemAmount]) -> Bool {
    guard service == .juice, priority == order.priority, amount == 0, debit == nil, credit == nil,
      itemName == juice,
      attempts >= 1
    else { return false }
    let missing = shortages ?? []
    switch outcome {
    case .served: return missing.isEmpty
    case .outOfStock:
      return !missing.isEmpty
        && missing.allSatisfy { shortage in
          shortage.available < shortage.needed && recipe.contains(ItemAmount(shortage.item, shortage.needed))
        }
    case .cancelled: return false
    }
  }
}
