// Owns one judgement of the audit: whether the customers of a line were begun in the order of their numbers. Who was
// ordered for later is overtaken by everybody until then, and nothing is said of that. It knows no
// database. A customer who was at a window before and came back is explained by the attempts that are recorded; one who
// was at a window when the coordinator was killed has no such record, so only customers who were begun under the same
// coordinator are compared. Nobody outlives his coordinator, so that is the one whose receipts the customer's is among.
// Invariant: memory grows with the starts of the coordinator, never with the queue.
// Where the calendar's clock went back nothing is said of that day: order is judged by its readings. The queue sees every
// one of them and counts the steps in the books.

import BankModel

/// Walks over the customers of all days, by day and number, and finds those who were overtaken in their line.
package struct OrderWalk {
  /// The latest beginning so far of a first attempt in one line, under one coordinator.
  private struct Latest {
    var ticket: TicketNumber
    var startedAt: Int64
    var isTold = false
  }

  private struct Place: Hashable {
    var line: Line
    var start: Int
  }

  /// How many receipts there were at each start of the coordinator, fewest first.
  private let starts: [Int64]
  /// Days of which nothing can be said.
  private let disordered: Set<BusinessDay>
  private var day: BusinessDay = 0
  private var latest: [Place: Latest] = [:]

  package init(starts: [Int64], disordered: Set<BusinessDay>) {
    self.starts = starts.sorted()
    self.disordered = disordered
  }

  mutating func visit(
    _ day: BusinessDay, _ ticket: TicketNumber, _ line: Line, receipt: Int64, attempts: Int64,
    startedAt: Int64, isLater: Bool = false, _ report: inout AuditRecord
  ) {
    guard let start = start(of: receipt) else { return }
    visit(
      day, ticket, line, under: start, attempts: attempts, startedAt: startedAt, isLater: isLater, &report)
  }

  /// The same where it is known with whom somebody is compared: with those who have the same number in `start`.
  package mutating func visit(
    _ day: BusinessDay, _ ticket: TicketNumber, _ line: Line, under start: Int, attempts: Int64,
    startedAt: Int64, isLater: Bool = false, _ report: inout AuditRecord
  ) {
    if day != self.day {
      self.day = day
      latest.removeAll(keepingCapacity: true)
    }
    guard !disordered.contains(day) else { return }
    let place = Place(line: line, start: start)
    if var before = latest[place], before.startedAt > startedAt {
      if !before.isTold {
        let name = report.services[line.service].text
        report.note(Remark(.servedOutOfTurn, name, line.priority.name, day, ticket, before.ticket))
        before.isTold = true
        latest[place] = before
      }
    } else if attempts == 1, !isLater {
      latest[place] = Latest(ticket: ticket, startedAt: startedAt)
    }
  }

  /// Nobody of this line comes any more who is compared under this number.
  package mutating func forget(_ line: Line, under start: Int) {
    latest[Place(line: line, start: start)] = nil
  }

  /// The start of the coordinator under which a receipt was written; nil where no start was noted before it.
  private func start(of receipt: Int64) -> Int? {
    var (low, high) = (0, starts.count)
    while low < high {
      let middle = (low + high) / 2
      if starts[middle] < receipt { low = middle + 1 } else { high = middle }
    }
    return low > 0 ? low : nil
  }
}

/// The days of which the audit cannot say who was begun first.
enum DisorderedDays {
  /// Those on which the calendar's clock went back.
  ///
  /// - Parameter days: Every day, the first one first, with the number of steps that the clock had made until its end.
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
