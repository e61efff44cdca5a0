// Row-by-row export of a store.
// A partly arrived request is not exported.

import BankModel
import Time

/// One business day of an export.
public struct ExportedDay: Sendable, Equatable {
  /// Number of the day, from 1.
  public var day: BusinessDay
  /// Start of the day.
  public var openedAt: WallTime
  /// End of the day; nil for the current day.
  public var closedAt: WallTime?
  /// Highest ticket that was issued on the day.
  public var issued: TicketNumber
  public init(day: BusinessDay, openedAt: WallTime, closedAt: WallTime?, issued: TicketNumber) {
    (self.day, self.openedAt, self.closedAt, self.issued) = (day, openedAt, closedAt, issued)
  }
}

/// An idempotency key and its first request.
public struct ExportedKey: Sendable, Equatable {
  /// The client's key.
  public var key: String
  /// Tickets and digest of the request.
  public var request: KeyedRequest
  public init(key: String, request: KeyedRequest) { (self.key, self.request) = (key, request) }
}

/// Number of exported rows of each kind.
public struct ExportedRows: Sendable, Equatable {
  /// Kind of row that is counted.
  public enum Kind: String, Sendable, CaseIterable {
    case days, tickets, receipts, results, shortages, attempts, keys, waiting, delayed, dead, payloads
  }
  private var counts: [Kind: Int64] = [:]
  public init() {}
  /// Number of rows of a kind; 0 if it was not set.
  public subscript(kind: Kind) -> Int64 {
    get { counts[kind] ?? 0 }
    set { counts[kind] = newValue }
  }
  /// The first kind with a different number in `other`; nil if all agree.
  public func difference(from other: ExportedRows) -> Kind? {
    Kind.allCases.first { self[$0] != other[$0] }
  }
}

/// A store that can export its data. Calls are synchronous.
public protocol QueueExport: QueueReader {
  /// Calls `body` with each business day, in order.
  func eachDay(_ body: (ExportedDay) throws(StoreError) -> Void) throws(StoreError)
  /// Calls `body` with each idempotency key, by day and ticket.
  func eachKey(_ body: (ExportedKey) throws(StoreError) -> Void) throws(StoreError)
  /// Calls `body` with each attempt, by day, ticket and number of the attempt.
  func eachAttempt(_ body: (Attempt) throws(StoreError) -> Void) throws(StoreError)
  /// Counts the rows of every kind.
  func countRows() throws(StoreError) -> ExportedRows
}
