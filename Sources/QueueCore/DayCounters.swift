// Counters of the business day.
// Invariant: they are saved in the transaction of the changes that they count, so that after a crash they agree with
// the stored customers.

import BankModel
import Time

/// Counters of the current business day.
///
/// Invariant: `issued = waiting + delayed + dead + served + cancelled`. Customers at a window count as waiting.
public struct DayCounters: Sendable, Equatable {
  /// The current business day, from 1.
  public var day: BusinessDay
  /// Start of the day.
  public var openedAt: WallTime
  /// Number of issued tickets, which is also the highest ticket number. In a branch of a shared bank, the number of
  /// customers that the branch owns or has finished.
  public var issued: Int64
  /// Number of receipts with the outcome served or out of stock.
  public var served: Int64
  /// Number of receipts with the outcome cancelled.
  public var cancelled: Int64
  /// Number of delayed customers, and of dead letters.
  public var delayed, dead: Int64
  /// Time during which any customer waited, was delayed or was served.
  public var businessTime: TimeSpan
  /// Number of customers in line or at a window, by line.
  public var waiting = LineCounts()
  /// ``served`` by the index of the service.
  public var servedByService: [Int64]
  /// Number of delayed customers by the index of the service.
  public var delayedByService: [Int64]
  /// Paused services, by index.
  public var paused: [Bool]
  /// Number of observed backward steps of the wall clock, over all days. Times stored before such a step must not be
  /// compared with times stored after it.
  public var clockSteps: Int64

  /// Creates the counters of a new day.
  public init(day: BusinessDay, openedAt: WallTime, paused: [Bool]? = nil, clockSteps: Int64 = 0) {
    self.day = day
    self.openedAt = openedAt
    self.clockSteps = clockSteps
    (issued, served, cancelled, delayed, dead, businessTime) = (0, 0, 0, 0, 0, .zero)
    self.paused = paused ?? Array(repeating: false, count: ServiceName.branch.count)
    servedByService = Array(repeating: 0, count: self.paused.count)
    delayedByService = servedByService
  }

  /// Extends the arrays to `count` services. New services have no customers and are not paused.
  public mutating func know(services count: Int) {
    while servedByService.count < count { servedByService.append(0) }
    while delayedByService.count < count { delayedByService.append(0) }
    while paused.count < count { paused.append(false) }
  }

  /// Counters of the next day.
  public func next(openedAt: WallTime) -> DayCounters {
    DayCounters(day: day + 1, openedAt: openedAt, paused: paused, clockSteps: clockSteps)
  }

  /// Adds `count` delayed customers to a service.
  public mutating func delay(_ count: Int64 = 1, of service: Service) {
    delayed += count
    delayedByService[service.index] += count
  }

  /// Adds the delayed customers of a tally to their services, or subtracts them if `sign` is -1.
  mutating func delay(_ tally: CountsByService, times sign: Int64 = 1) {
    for (index, count) in tally.counts.enumerated() where count > 0 {
      delay(sign * count, of: Service(index: index))
    }
  }

  /// Number of customers in line or at a window, over all lines.
  public var waitingInAll: Int64 { waiting.total }
  /// True if no customer waits, is served, is delayed or is a dead letter, so that the day can be closed.
  public var isFinished: Bool { waitingInAll == 0 && delayed == 0 && dead == 0 }
}
