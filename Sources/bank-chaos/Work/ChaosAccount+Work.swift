// Comparison for commands and workers: their own records against the clients' tickets and the receipts.
// Invariant: every deviation in the work for a ticket is reported with the ticket. Reports of the bank about a process
// are not trusted.
import BankModel
import Wire

/// A deviation in the work for one ticket.
enum WorkDeviation: Sendable, Equatable {
  /// Two attempts had different keys.
  case severalKeys
  /// The work had the key of another ticket.
  case foreignKey(of: ChaosTicket)
  /// The receipt has a key that differs from that of the attempts.
  case receiptKey
  /// An attempt started while another one was running.
  case overlapped(attempt: Int32)
  /// The ticket was served, but the receipt's attempt has not recorded both its start and its end.
  case unwitnessed(attempt: Int32)
  /// The work received a payload that differs from that of the request.
  case payload
  /// The result does not match the payload.
  case result
  /// An attempt started more than a second after the receipt.
  case begunAfterReceipt(attempt: Int32)
  /// The ticket was served, although a cancellation was confirmed.
  case notCancelled
  /// No client has requested the ticket.
  case uninvited
  /// A process ran for more than a second after the receipt.
  case outlived(pid: Int32)
}

extension ChaosAccount {
  /// Observations of commands and workers from outside the bank.
  struct Work {
    var lines: [WorkLine] = []
    var unreadable = 0
    var cancelsAsked: Set<ChaosTicket> = []
    var cancelsConfirmed: Set<ChaosTicket> = []
    var outliving: [ChaosLookout.Outliving] = []
    /// Processes that still ran a second after the bank has closed.
    var left: [KeyedProcess] = []
    /// Stored bytes of a result, by service.
    var kept: [ServiceName: Int] = [ChaosServices.command: ChaosServices.commandResult]
  }

  mutating func compareWork(
    _ work: Work, _ receipts: [ReceiptReport], _ asked: [ChaosTicket: ChaosOrder]
  ) {
    attempts = Int64(work.lines.count { $0.phase == .begin })
    let byTicket = Dictionary(grouping: work.lines, by: \.ticket)
    compareKeys(byTicket)
    for (ticket, lines) in byTicket.sorted(by: { $0.key < $1.key }) {
      for line in lines where line.phase == .overlap { deviates(ticket, .overlapped(attempt: line.attempt)) }
      guard let order = asked[ticket], let payload = order.carried else {
        deviates(ticket, .uninvited)
        continue
      }
      let digest = WorkConduct.digest(payload)
      if lines.contains(where: { $0.digest != digest }) { deviates(ticket, .payload) }
    }
    for receipt in receipts {
      let ticket = ChaosTicket(day: receipt.day, number: receipt.ticket)
      guard let payload = asked[ticket]?.carried else { continue }
      compare(receipt, ticket, payload, byTicket[ticket] ?? [], work)
    }
    for found in work.outliving { deviates(found.ticket, .outlived(pid: found.pid)) }
    violations += work.left.map { .orphan(pid: $0.pid, name: $0.key) }
    orphans += Int64(work.left.count)
    if work.unreadable > 0 { violations.append(.unreadableLines(work.unreadable)) }
  }

  private mutating func compareKeys(_ byTicket: [ChaosTicket: [WorkLine]]) {
    var owners: [String: ChaosTicket] = [:]
    for (ticket, lines) in byTicket.sorted(by: { $0.key < $1.key }) {
      let keys = Set(lines.map(\.key))
      if keys.count > 1 { deviates(ticket, .severalKeys) }
      for key in keys.sorted() {
        if let owner = owners[key] { deviates(ticket, .foreignKey(of: owner)) } else { owners[key] = ticket }
      }
    }
  }

  private mutating func compare(
    _ receipt: ReceiptReport, _ ticket: ChaosTicket, _ payload: [UInt8], _ lines: [WorkLine], _ work: Work
  ) {
    let begun = lines.filter { $0.phase == .begin }
    // An attempt in flight to a window when its customer is cancelled still starts, and is then ended.
    if let late = begun.first(where: { $0.at > receipt.finishedAt + Self.lateBeginning }) {
      deviates(ticket, .begunAfterReceipt(attempt: late.attempt))
    }
    switch receipt.outcome {
    case .cancelled: cancelled += 1
    case .outOfStock: break
    case .served:
      if work.cancelsConfirmed.contains(ticket) { deviates(ticket, .notCancelled) }
      let isWitnessed =
        begun.contains { $0.attempt == receipt.attempts }
        && lines.contains { $0.phase == .end && $0.attempt == receipt.attempts }
      if !isWitnessed { deviates(ticket, .unwitnessed(attempt: receipt.attempts)) }
      // A list of receipts has no keys; some were queried one by one.
      if let line = begun.first, let key = receipt.key, key != line.key { deviates(ticket, .receiptKey) }
      let kept = work.kept[receipt.service] ?? Excerpt.longest
      let isRight = receipt.result.map {
        $0.output.holds(WorkConduct.result(of: payload), keeping: kept)
          && (receipt.service != ChaosServices.command || $0.ending == .code(0))
      }
      if isRight != true { deviates(ticket, .result) }
    }
  }

  /// Longest time from a receipt to the start of an attempt, in milliseconds.
  private static let lateBeginning: Int64 = 1_000

  private mutating func deviates(_ ticket: ChaosTicket, _ deviation: WorkDeviation) {
    workDeviations += 1
    violations.append(.work(ticket, deviation))
  }
}

extension Excerpt {
  /// True if the excerpt is the stored part of a stream, with at most `limit` bytes.
  func holds(_ whole: [UInt8], keeping limit: Int) -> Bool {
    length == Int64(whole.count) && first.count + last.count == min(limit, whole.count)
      && whole.starts(with: first) && whole.suffix(last.count).elementsEqual(last)
  }
}

extension ReceiptReport {
  /// True if the receipt of a customer of a command or a worker is valid: served, or cancelled on request.
  func fulfils(work order: ChaosOrder, isCancelAsked: Bool) -> Bool {
    let isMoved = outcome == .served && order.amount > 0
    return service == order.service && priority == order.priority && amount == order.amount
      && debit == (isMoved ? "customer-\(order.account)" : nil) && credit == (isMoved ? "cash" : nil)
      && (outcome == .served && attempts >= 1 || outcome == .cancelled && isCancelAsked)
  }
}
