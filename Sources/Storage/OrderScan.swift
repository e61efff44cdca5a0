// Audit check that the customers of a line were started in the order of their tickets.
// Some customers may start after higher tickets: those ordered for later, those that returned from a window, and
// those that were at a window when the coordinator was killed. Because of the last, only customers that were
// started under the same coordinator process are compared. The sequence number of the receipt determines the
// process.
//
// Days with a backward step of the wall clock are skipped, because the order is determined by readings of that
// clock.
//
// Invariant: memory grows with the lines and the starts of the coordinator, not with the number of customers.

import BankModel

/// Check of the customers of all days, by day and ticket. It reports customers that were started before a
/// customer with a lower ticket.
package struct OrderScan {
  /// Latest start of a first attempt in one line, under one start of the coordinator.
  private struct Latest {
    var ticket: TicketNumber
    var startedAt: Int64
    var isReported = false
  }

  /// A line, and the start of the coordinator under which its customers were served.
  private struct LineUnderStart: Hashable {
    var line: Line
    var start: Int
  }

  /// Number of receipts at each start of the coordinator, in ascending order.
  private let starts: [Int64]
  /// Days that the check skips.
  private let disordered: Set<BusinessDay>
  private var day: BusinessDay = 0
  /// Latest start of a first attempt for each line and start of the coordinator, on the day that is visited.
  private var latest: [LineUnderStart: Latest] = [:]

  package init(starts: [Int64], disordered: Set<BusinessDay>) {
    self.starts = starts.sorted()
    self.disordered = disordered
  }

  /// Checks a served customer. The receipt determines the start of the coordinator. A customer that was ordered for
  /// later, with `isLater`, may start after higher tickets.
  mutating func visit(
    _ day: BusinessDay, _ ticket: TicketNumber, _ line: Line, receipt: Int64, attempts: Int64,
    startedAt: Int64, isLater: Bool = false, _ report: inout AuditRecord
  ) {
    guard let start = start(of: receipt) else { return }
    visit(
      day, ticket, line, under: start, attempts: attempts, startedAt: startedAt, isLater: isLater, &report)
  }

  /// Checks a customer against those of the same line and the same `start` of the coordinator. A customer that was
  /// ordered for later, with `isLater`, may start after higher tickets.
  package mutating func visit(
    _ day: BusinessDay, _ ticket: TicketNumber, _ line: Line, under start: Int, attempts: Int64,
    startedAt: Int64, isLater: Bool = false, _ report: inout AuditRecord
  ) {
    if day != self.day {
      self.day = day
      latest.removeAll(keepingCapacity: true)
    }
    guard !disordered.contains(day) else { return }
    let place = LineUnderStart(line: line, start: start)
    if var before = latest[place], before.startedAt > startedAt {
      if !before.isReported {
        let name = report.services[line.service].text
        report.note(MessageDetail(.servedOutOfOrder, name, line.priority.name, day, ticket, before.ticket))
        before.isReported = true
        latest[place] = before
      }
    } else if attempts == 1, !isLater {
      latest[place] = Latest(ticket: ticket, startedAt: startedAt)
    }
  }

  /// Drops the state of a line under a start, for which no more customers follow.
  package mutating func forget(_ line: Line, under start: Int) {
    latest[LineUnderStart(line: line, start: start)] = nil
  }

  /// Number of the start of the coordinator under which a receipt was written; nil if no start is recorded
  /// before it.
  private func start(of receipt: Int64) -> Int? {
    var (low, high) = (0, starts.count)
    while low < high {
      let middle = (low + high) / 2
      if starts[middle] < receipt { low = middle + 1 } else { high = middle }
    }
    return low > 0 ? low : nil
  }
}

/// Days whose order of starts the audit cannot check.
enum DisorderedDays {
  /// The days on which the wall clock stepped back.
  ///
  /// - Parameter days: all days in order, each with the number of clock steps up to its end.
  static func among(_ days: [(day: BusinessDay, steps: Int64)]) -> Set<BusinessDay> {
    var disordered: Set<BusinessDay> = []
    var before: Int64 = 0
    for (day, steps) in days {
      if steps != before { disordered.insert(day) }
      before = steps
    }
    return disordered
  }
}
