// Comparison for commands and workers: their own records against the clients' tickets and the receipts.
// Invariant: a deviation in the work for a ticket is reported with the ticket. Reports of the bank about a process
// are not trusted.
import BankModel
import Wire

/// A deviation in the work for one ticket.
enum WorkDeviation: Sendable, Equatable {
  /// Two attempts had different keys.
  case severalKeys
  /// The work had the key of another ticket.
  case keyOfOtherTicket(of: ChaosTicket)
  /// The receipt has a key that differs from that of the attempts.
  case receiptKey
  /// An attempt started while another one was running.
  case overlapped(attempt: Int32)
  /// The ticket was served, but the receipt's attempt has not recorded both its start and its end.
  case notLogged(attempt: Int32)
  /// The work received a payload that differs from that of the request.
  case payload
  /// The result does not match the payload.
  case result
  /// An attempt started so long after the receipt that it cannot have been assigned before.
  case startedAfterReceipt(attempt: Int32)
  /// The ticket was served, although a cancellation was confirmed.
  case notCancelled
  /// No client has requested the ticket.
  case notRequested
  /// A process ran for too long after the receipt.
  case outlived(pid: Int32)
}

extension ChaosCheckResult {
  /// Observations of commands and workers from outside the bank.
  struct Work {
    var lines: [WorkLogEntry] = []
    var unreadable = 0
    var cancelsAsked: Set<ChaosTicket> = []
    var cancelsConfirmed: Set<ChaosTicket> = []
    var leaked: [ChaosLeakDetector.LeakedProcess] = []
    /// Processes that still ran some time after the bank has closed.
    var leftoverProcesses: [KeyedProcess] = []
    /// Maximum number of stored bytes of a result, by service.
    var storedBytes: [ServiceName: Int] = [ChaosServices.command: ChaosServices.commandResult]
  }

  /// Compares the records of commands and workers with the tickets of the clients and with the receipts.
  mutating func compareWork(
    _ work: Work, _ receipts: [ReceiptReport], _ asked: [ChaosTicket: ChaosOrder]
  ) {
    attempts = Int64(work.lines.count { $0.phase == .begin })
    let byTicket = Dictionary(grouping: work.lines, by: \.ticket)
    compareKeys(byTicket)
    for (ticket, lines) in byTicket.sorted(by: { $0.key < $1.key }) {
      for line in lines where line.phase == .overlap {
        reportDeviation(ticket, .overlapped(attempt: line.attempt))
      }
      guard let order = asked[ticket], let payload = order.payloadSent else {
        reportDeviation(ticket, .notRequested)
        continue
      }
      let digest = WorkerBehaviour.digest(payload)
      if lines.contains(where: { $0.digest != digest }) { reportDeviation(ticket, .payload) }
    }
    let tolerance = Self.longestStart(receipts, byTicket)
    for receipt in receipts {
      let ticket = ChaosTicket(day: receipt.day, number: receipt.ticket)
      guard let payload = asked[ticket]?.payloadSent else { continue }
      compare(receipt, ticket, payload, byTicket[ticket] ?? [], work, tolerance)
    }
    for found in work.leaked { reportDeviation(found.ticket, .outlived(pid: found.pid)) }
    violations += work.leftoverProcesses.map { .orphan(pid: $0.pid, name: $0.key) }
    orphans += Int64(work.leftoverProcesses.count)
    if work.unreadable > 0 { violations.append(.unreadableLines(work.unreadable)) }
  }

  /// Checks that all attempts at a ticket have one key, which no other ticket has.
  private mutating func compareKeys(_ byTicket: [ChaosTicket: [WorkLogEntry]]) {
    var owners: [String: ChaosTicket] = [:]
    for (ticket, lines) in byTicket.sorted(by: { $0.key < $1.key }) {
      let keys = Set(lines.map(\.key))
      if keys.count > 1 { reportDeviation(ticket, .severalKeys) }
      for key in keys.sorted() {
        if let owner = owners[key] {
          reportDeviation(ticket, .keyOfOtherTicket(of: owner))
        } else {
          owners[key] = ticket
        }
      }
    }
  }

  /// Time in milliseconds in which an attempt that was assigned before a receipt may still start: twice as long
  /// as the slowest served attempt of this run took from its assignment to its first line, within bounds.
  private static func longestStart(
    _ receipts: [ReceiptReport], _ byTicket: [ChaosTicket: [WorkLogEntry]]
  ) -> Int64 {
    let starts = receipts.compactMap { receipt -> Int64? in
      guard receipt.outcome == .served, let assigned = receipt.startedAt else { return nil }
      let lines = byTicket[ChaosTicket(day: receipt.day, number: receipt.ticket)] ?? []
      return lines.first { $0.phase == .begin && $0.attempt == receipt.attempts }
        .map {
          min(max(0, $0.at.subtractingReportingOverflow(assigned).partialValue), startBounds.upperBound)
        }
    }
    return min(max(startBounds.lowerBound, 2 * (starts.max() ?? 0)), startBounds.upperBound)
  }

  /// Bounds of `longestStart`, in milliseconds.
  private static let startBounds: ClosedRange<Int64> = 1_000...20_000

  /// Compares one receipt with the records of the attempts at its ticket.
  private mutating func compare(
    _ receipt: ReceiptReport, _ ticket: ChaosTicket, _ payload: [UInt8], _ lines: [WorkLogEntry],
    _ work: Work,
    _ tolerance: Int64
  ) {
    let begun = lines.filter { $0.phase == .begin }
    // An attempt in flight to a window when its customer is cancelled still starts, and is then ended.
    if let late = begun.first(where: { $0.at > receipt.finishedAt + tolerance }) {
      reportDeviation(ticket, .startedAfterReceipt(attempt: late.attempt))
    }
    switch receipt.outcome {
    case .cancelled: cancelled += 1
    case .outOfStock: break
    case .served:
      if work.cancelsConfirmed.contains(ticket) { reportDeviation(ticket, .notCancelled) }
      let isWitnessed =
        begun.contains { $0.attempt == receipt.attempts }
        && lines.contains { $0.phase == .end && $0.attempt == receipt.attempts }
      if !isWitnessed { reportDeviation(ticket, .notLogged(attempt: receipt.attempts)) }
      // A receipt without a result has no key.
      if let line = begun.first, let key = receipt.key, key != line.key {
        reportDeviation(ticket, .receiptKey)
      }
      let storedBytes = work.storedBytes[receipt.service] ?? TruncatedOutput.longest
      let isRight = receipt.result.map {
        $0.output.holds(WorkerBehaviour.result(of: payload), keeping: storedBytes)
          && (receipt.service != ChaosServices.command || $0.ending == .code(0))
      }
      if isRight != true { reportDeviation(ticket, .result) }
    }
  }

  private mutating func reportDeviation(_ ticket: ChaosTicket, _ deviation: WorkDeviation) {
    workDeviations += 1
    violations.append(.work(ticket, deviation))
  }
}

extension TruncatedOutput {
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
