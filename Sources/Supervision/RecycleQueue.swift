// Replacement of healthy workers, after a number of customers or above a memory limit.
// Invariant: at most one worker is being replaced.

import Time

/// Limits after which a worker is replaced.
public struct RecyclePolicy: Sendable, Equatable {
  /// Reason to replace a worker.
  public enum Reason: String, Sendable {
    /// The worker has served the maximum number of customers.
    case customers
    /// The worker uses more memory than allowed.
    case memory
  }

  /// Customers after which a worker is replaced; 0 for never.
  public var afterCustomers: Int64
  /// Resident memory in bytes above which a worker is replaced; 0 for never.
  public var aboveBytes: Int64

  /// Shortest time between two measurements of one window's workers: a limit below the needs of a new worker must not
  /// cause a replacement after every customer.
  public static let measurePause = TimeSpan.seconds(1)

  /// Limits; by default there are none.
  public init(afterCustomers: Int64 = 0, aboveBytes: Int64 = 0) {
    self.afterCustomers = afterCustomers
    self.aboveBytes = aboveBytes
  }

  /// True if no worker is ever replaced.
  public var isOff: Bool { afterCustomers <= 0 && aboveBytes <= 0 }

  /// Reason to replace a worker; nil if there is none. `residentBytes` is nil if the memory was not measured.
  public func reason(customers: Int64, residentBytes: Int64?) -> Reason? {
    if afterCustomers > 0, customers >= afterCustomers { return .customers }
    if aboveBytes > 0, let residentBytes, residentBytes > aboveBytes { return .memory }
    return nil
  }
}

/// Order of the workers that are due for replacement.
public struct RecycleQueue<Name: Hashable & Sendable>: Sendable {
  /// Worker that is being replaced.
  public private(set) var current: Name?
  private var waiting: [Name] = []

  public init() {}

  /// Registers a worker as due. Returns true if it may be replaced now. If another worker is being replaced, this one
  /// is queued.
  public mutating func requestTurn(of name: Name) -> Bool {
    guard current != name else { return false }
    guard current != nil else {
      waiting.removeAll { $0 == name }
      current = name
      return true
    }
    if !waiting.contains(name) { waiting.append(name) }
    return false
  }

  /// Records that the successor of ``current`` is ready, or will never be ready. Returns the next worker, which becomes
  /// ``current``.
  public mutating func finishCurrent() -> Name? {
    current = waiting.isEmpty ? nil : waiting.removeFirst()
    return current
  }
}
