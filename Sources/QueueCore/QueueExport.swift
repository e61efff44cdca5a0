// Owns what a store can tell of everything it keeps, one after the other, for whoever carries it all to another place. What
// the other questions tell as well is asked by those: receipts, customers, payloads and sums.
// Invariant: an order of its own each, so that whoever reads it keeps no more than one row; nothing is told of a request that
// is half taken in.

import BankModel
import Time

/// A business day as it stands in the books.
public struct ExportedDay: Sendable, Equatable {
  /// From 1.
  public var day: BusinessDay
  /// When it began.
  public var openedAt: WallTime
  /// When it ended; nil for the present one.
  public var closedAt: WallTime?
  /// The last ticket that was issued on it.
  public var issued: TicketNumber
  public init(day: BusinessDay, openedAt: WallTime, closedAt: WallTime?, issued: TicketNumber) {
    (self.day, self.openedAt, self.closedAt, self.issued) = (day, openedAt, closedAt, issued)
  }
}

/// An idempotency key with what it stands for.
public struct ExportedKey: Sendable, Equatable {
  /// The client's.
  public var key: String
  /// The tickets, and what was asked for.
  public var request: KeyedRequest
  public init(key: String, request: KeyedRequest) { (self.key, self.request) = (key, request) }
}

/// How many rows there are of what is carried over.
public struct ExportedRows: Sendable, Equatable {
  /// What there is a number of.
  public enum Kind: String, Sendable, CaseIterable {
    case days, tickets, receipts, results, shortages, attempts, keys, waiting, delayed, dead, payloads
  }
  private var counts: [Kind: Int64] = [:]
  public init() {}
  /// How many; 0 where nobody has said it.
  public subscript(kind: Kind) -> Int64 {
    get { counts[kind] ?? 0 }
    set { counts[kind] = newValue }
  }
  /// The first of which there are not as many in another place.
  public func difference(from other: ExportedRows) -> Kind? {
    Kind.allCases.first { self[$0] != other[$0] }
  }
}

/// A store that can tell everything it keeps. Every call is synchronous.
public protocol QueueExport: QueueReading {
  /// All business days in order.
  func eachDay(_ body: (ExportedDay) throws(StoreError) -> Void) throws(StoreError)
  /// All idempotency keys in the order of days and tickets.
  func eachKey(_ body: (ExportedKey) throws(StoreError) -> Void) throws(StoreError)
  /// All attempts in the order of days, tickets and their own numbers.
  func eachAttempt(_ body: (Attempt) throws(StoreError) -> Void) throws(StoreError)
  /// How many there are of everything.
  func countRows() throws(StoreError) -> ExportedRows
}
