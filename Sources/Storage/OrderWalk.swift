// Owns one judgement of the audit: whether the customers of a line were begun in the order of their numbers. It knows no
// database. A customer who was at a window before and came back is explained by the attempts that are recorded; one who
// was at a window when the coordinator was killed has no such record, so only customers who were begun under the same
// coordinator are compared.
// Invariant: memory grows with the starts of the coordinator, never with the queue.
// Where the calendar's clock visibly went back nothing is said of that day: order is judged by its readings.

import BankModel

/// Walks over the customers of all days, by day and number, and finds those who were overtaken in their line.
struct OrderWalk {
  /// The latest beginning so far of a first attempt in one line, under one coordinator.
  private struct Latest {
    var ticket: TicketNumber
    var startedAt: Int64
    var isTold = false
  }

  private struct Place: Hashable {
    var line: Int
    var opening: Int
  }

  /// When the coordinator was opened, in milliseconds since 1970, earliest first.
  private let openings: [Int64]
  /// Moments that may belong to more than one coordinator, because the clock went back between two starts.
  private let doubtful: [Range<Int64>]
  /// Days of which nothing can be said.
  private let disordered: Set<BusinessDay>
  private var day: BusinessDay = 0
  private var latest: [Place: Latest] = [:]

  /// The openings come in the order of the starts.
  init(openings: [Int64], disordered: Set<BusinessDay>) {
    self.openings = openings.sorted()
    var (doubtful, highest, lowest) = ([Range<Int64>](), Int64.min, Int64?.none)
    for opening in openings {
      if opening < highest {
        lowest = min(lowest ?? opening, opening)
      } else {
        if let from = lowest { doubtful.append(from..<opening) }
        (highest, lowest) = (opening, nil)
      }
    }
    if let lowest { doubtful.append(lowest..<Int64.max) }
    self.doubtful = doubtful
    self.disordered = disordered
  }

  /// The next customer who was served.
  mutating func visit(
    _ day: BusinessDay, _ ticket: TicketNumber, _ line: Line, attempts: Int64, startedAt: Int64,
    _ report: inout AuditReport
  ) {
    if day != self.day {
      self.day = day
      latest.removeAll(keepingCapacity: true)
    }
    guard !disordered.contains(day), let opening = opening(of: startedAt) else { return }
    let place = Place(line: line.index, opening: opening)
    if var before = latest[place], before.startedAt > startedAt {
      if !before.isTold {
        report.note(
          "\(line.service.name) \(line.grade.name) of day \(day): ticket \(ticket) was begun before ticket "
            + "\(before.ticket), which stood before it")
        before.isTold = true
        latest[place] = before
      }
    } else if attempts == 1 {
      latest[place] = Latest(ticket: ticket, startedAt: startedAt)
    }
  }

  /// The coordinator under which a customer was begun; nil where that was not written down.
  private func opening(of moment: Int64) -> Int? {
    if doubtful.contains(where: { $0.contains(moment) }) { return nil }
    var (low, high) = (0, openings.count)
    while low < high {
      let middle = (low + high) / 2
      if openings[middle] <= moment { low = middle + 1 } else { high = middle }
    }
    return low > 0 ? low : nil
  }
}

/// Looks whether the calendar's clock went back, as far as the receipts show it in the order of their commits.
struct ClockWitness {
  /// Days on which it did.
  private(set) var disordered: Set<BusinessDay> = []
  private var last: (day: BusinessDay, finishedAt: Int64)?

  /// The next receipt.
  mutating func visit(_ day: BusinessDay, startedAt: Int64?, finishedAt: Int64) {
    if let startedAt, startedAt > finishedAt { disordered.insert(day) }
    if let last, last.finishedAt > finishedAt { disordered.formUnion([last.day, day]) }
    last = (day, finishedAt)
  }
}
