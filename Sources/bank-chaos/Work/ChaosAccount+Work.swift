// Owns the part of a chaos run's account that is about commands and workers: what they wrote down themselves against what the
// customers were promised and the receipts say. Invariant: whatever deviates is named once for each ticket; what the bank says
// of a process is believed of nobody.
import BankModel
import Wire

/// What is wrong with the work at one ticket.
enum WorkDeviation: Sendable, Equatable {
  /// Two attempts had different keys.
  case severalKeys
  /// Its key was another ticket's, too.
  case foreignKey(of: ChaosTicket)
  /// The receipt names another key than the attempts had.
  case receiptKey
  /// An attempt began while another one still lived.
  case overlapped(attempt: Int32)
  /// It has a receipt, and the attempt that the receipt names did not write down its beginning and its end.
  case unwitnessed(attempt: Int32)
  /// It came with another payload than it was given.
  case payload
  /// The result is not what comes of the payload.
  case result
  /// An attempt began more than a second after the receipt.
  case begunAfterReceipt(attempt: Int32)
  /// It was answered that the customer is taken out.
  case notCancelled
  /// Nobody has asked for the ticket.
  case uninvited
  /// A process lived a second after the receipt.
  case outlived(pid: Int32)
}

extension ChaosAccount {
  /// What was seen of commands and workers from outside of the bank.
  struct Work {
    var lines: [WorkLine] = []
    var unreadable = 0
    var cancelsAsked: Set<ChaosTicket> = []
    var cancelsConfirmed: Set<ChaosTicket> = []
    var outliving: [ChaosLookout.Outliving] = []
    /// Processes that were there a second after the end of the bank.
    var left: [KeyedProcess] = []
    /// Bytes of a result that are kept, by service.
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
    // What was on its way to a window when somebody took the customer out begins yet, and is ended.
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
      // A list of receipts tells no keys; some were asked for one by one.
      if let line = begun.first, let key = receipt.key, key != line.key { deviates(ticket, .receiptKey) }
      let kept = work.kept[receipt.service] ?? Excerpt.longest
      let isRight = receipt.result.map {
        $0.output.holds(WorkConduct.result(of: payload), keeping: kept)
          && (receipt.service != ChaosServices.command || $0.ending == .code(0))
      }
      if isRight != true { deviates(ticket, .result) }
    }
  }

  /// In milliseconds.
  private static let lateBeginning: Int64 = 1_000

  private mutating func deviates(_ ticket: ChaosTicket, _ deviation: WorkDeviation) {
    workDeviations += 1
    violations.append(.work(ticket, deviation))
  }
}

extension Excerpt {
  /// Whether it is what is kept of a stream of which so many bytes are kept.
  func holds(_ whole: [UInt8], keeping limit: Int) -> Bool {
    length == Int64(whole.count) && first.count + last.count == min(limit, whole.count)
      && whole.starts(with: first) && whole.suffix(last.count).elementsEqual(last)
  }
}

extension ReceiptReport {
  /// Whether it says what somebody must be told whom a command or a worker has served, or who was taken out on request.
  func fulfils(work order: ChaosOrder, isCancelAsked: Bool) -> Bool {
    let isMoved = outcome == .served && order.amount > 0
    return service == order.service && priority == order.priority && amount == order.amount
      && debit == (isMoved ? "customer-\(order.account)" : nil) && credit == (isMoved ? "cash" : nil)
      && (outcome == .served && attempts >= 1 || outcome == .cancelled && isCancelAsked)
  }
}
