// Owns when a worker that is well is replaced all the same: after so many customers, or when it has grown too large.
// It knows no process and no clock. Invariant: of all workers one at most is being replaced, and the next one's turn
// comes only when the successor of the one before is at work, or will never be.

import Time

/// When a worker has worked long enough.
public struct RecyclePolicy: Sendable, Equatable {
  /// Why a worker is replaced.
  public enum Reason: String, Sendable {
    /// It has had so many customers.
    case customers
    /// It has grown too large.
    case memory
  }

  /// Customers after which a worker is replaced; 0 for never.
  public var afterCustomers: Int64
  /// Memory in RAM, in bytes, above which a worker is replaced; 0 for never.
  public var aboveBytes: Int64

  /// How often the memory of one window's workers is looked at, at most: it costs a look into /proc, and a bound that
  /// is below what a new worker needs shall not replace one after every customer.
  public static let measurePause = TimeSpan.seconds(1)

  /// Never, unless it is said.
  public init(afterCustomers: Int64 = 0, aboveBytes: Int64 = 0) {
    self.afterCustomers = afterCustomers
    self.aboveBytes = aboveBytes
  }

  /// Whether no worker is ever replaced.
  public var isOff: Bool { afterCustomers <= 0 && aboveBytes <= 0 }

  /// Why a worker is to be replaced; nil where it is not. `residentBytes` is nil where its memory was not looked at.
  public func reason(customers: Int64, residentBytes: Int64?) -> Reason? {
    if afterCustomers > 0, customers >= afterCustomers { return .customers }
    if aboveBytes > 0, let residentBytes, residentBytes > aboveBytes { return .memory }
    return nil
  }
}

/// Whose turn it is to be replaced.
public struct Recycling<Name: Hashable & Sendable>: Sendable {
  /// Who is being replaced.
  public private(set) var current: Name?
  private var waiting: [Name] = []

  /// Nobody is due.
  public init() {}

  /// A worker is due: whether it is its turn now. Otherwise it comes later, once however often this is said.
  public mutating func isTurn(of name: Name) -> Bool {
    guard current != name else { return false }
    guard current != nil else {
      waiting.removeAll { $0 == name }
      current = name
      return true
    }
    if !waiting.contains(name) { waiting.append(name) }
    return false
  }

  /// The successor of the present one is at work, or will never be; who is next, and is the present one from now on.
  public mutating func settled() -> Name? {
    current = waiting.isEmpty ? nil : waiting.removeFirst()
    return current
  }
}
