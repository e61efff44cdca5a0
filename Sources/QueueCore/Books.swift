// Owns what the queue must know again after a crash, beside the customers themselves: the day's numbers.
// They are saved in the same transaction as the changes that they count, so both always agree on disk.

import BankModel
import Time

/// The numbers of the present business day.
///
/// Invariant on disk: `issued = waiting + delayed + dead + served + cancelled`. Customers at a window count as
/// waiting here, because an assignment is not durable.
public struct Books: Sendable, Equatable {
  /// The present business day, from 1.
  public var day: BusinessDay
  /// When the day began.
  public var openedAt: WallTime
  /// Tickets issued; also the highest number.
  public var issued: Int64
  /// Receipts of customers whom a worker attended to: served, or sent away because too little was in stock.
  public var served: Int64
  /// Receipts with the outcome cancelled.
  public var cancelled: Int64
  /// Customers who are delayed, and dead letters.
  public var delayed, dead: Int64
  /// How long somebody waited or was served, all in all.
  public var businessTime: TimeSpan
  /// Customers in line or at a window.
  public var waiting = LineCounts()
  /// The same by the index of the service.
  public var servedByService: [Int64]
  /// Customers who are delayed, by the index of the service.
  public var delayedByService: [Int64]
  /// Services that an operator has paused, by index.
  public var paused: [Bool]
  /// How often the calendar's clock was seen to go back, over all days: what was written down before such a step is
  /// not to be compared with what was written down after it.
  public var clockSteps: Int64

  /// The numbers of a day that has just begun. Pauses and the count of the clock's steps outlive a day.
  public init(day: BusinessDay, openedAt: WallTime, paused: [Bool]? = nil, clockSteps: Int64 = 0) {
    self.day = day
    self.openedAt = openedAt
    self.clockSteps = clockSteps
    (issued, served, cancelled, delayed, dead, businessTime) = (0, 0, 0, 0, 0, .zero)
    self.paused = paused ?? Array(repeating: false, count: ServiceName.branch.count)
    servedByService = Array(repeating: 0, count: self.paused.count)
    delayedByService = servedByService
  }

  /// There are so many services now: of those that are new nobody was served, and none is paused.
  public mutating func know(services count: Int) {
    while servedByService.count < count { servedByService.append(0) }
    while delayedByService.count < count { delayedByService.append(0) }
    while paused.count < count { paused.append(false) }
  }

  /// The numbers of the day after this one.
  public func next(openedAt: WallTime) -> Books {
    Books(day: day + 1, openedAt: openedAt, paused: paused, clockSteps: clockSteps)
  }

  /// So many more customers of a service are delayed.
  public mutating func delay(_ count: Int64 = 1, of service: Service) {
    delayed += count
    delayedByService[service.index] += count
  }

  mutating func delay(_ tally: ServiceTally, times sign: Int64 = 1) {
    for (index, count) in tally.counts.enumerated() where count > 0 {
      delay(sign * count, of: Service(index: index))
    }
  }

  /// Customers in line or at a window, over all lines.
  public var waitingInAll: Int64 { waiting.total }
  /// Whether every ticket of the day has its receipt, so that the day can be closed.
  public var isFinished: Bool { waitingInAll == 0 && delayed == 0 && dead == 0 }
}
