// Space that the accepted customers need, and refusals when there is not enough. `ReservedSpace` reserves and
// releases the space.
// Invariant: with a reserve, a customer is accepted only if its receipt can be written even if the disk becomes
// full a moment later. While a part of the reserve is released or missing, new customers are refused. If no
// reserve is possible, a full disk is handled when it occurs.

import BankModel
import QueueCore

extension SQLiteStore {
  /// Maximum growth of the database in bytes when one waiting customer is served: the receipt less the deleted
  /// row. Measured with large numbers, and increased because tickets may be longer.
  static let growthPerCustomer: Int64 = 128
  /// Additional growth in bytes per missing fruit, without the bytes of its name: the largest row of a
  /// shortage.
  private static let growthPerShortage: Int64 = 40
  /// Additional growth in bytes for work that may store a result: the row without output bytes, which are not
  /// stored while the store is short.
  private static let growthPerResult: Int64 = 64
  /// Maximum increase of the need, in bytes, by an accepted customer or a key: its row and its receipt. The additions
  /// for a juice and for a result are not included.
  private static let growthPerChange: Int64 = 224
  /// Estimated bytes per customer, in WAL and database, of a transaction that changes many customers, such as a reset.
  private static let moved: Int64 = 256

  /// True if this number of customers can be moved in one transaction. See `QueueStore`.
  public func hasRoom(toMove customers: Int64) -> Bool {
    guard customers > 1_000, let free = reservedSpace.free else { return true }
    let (needed, overflow) = customers.multipliedReportingOverflow(by: Self.moved)
    return !overflow && needed <= free
  }

  /// Sets the space that is reserved for each customer that draws on the stock, by the recipe whose shortages need
  /// most space. See `QueueStore`.
  public func holdBack(forJuicesOf assortment: Assortment) {
    let largest = assortment.juices.map { juice in
      juice.recipe.reduce(0) { $0 + Self.growthPerShortage + Int64($1.item.name.utf8.count) }
    }
    growthPerJuice = largest.max() ?? 0
    guard reservedSpace.isEnabled, let saved else { return }
    acceptedSinceCheck = 0
    if !reservedSpace.holdBack(need(of: saved, unissued.open)) { reservedSpace.reportLowSpace() }
  }

  /// Number of bytes that the receipts of all unfinished customers need at most.
  func need(of dayCounters: DayCounters?, _ arriving: InProgressEnqueue?) -> Int64 {
    /// Product of both numbers, limited so that sums do not overflow.
    func product(_ count: Int64, _ bytes: Int64) -> Int64 {
      let (product, overflow) = count.multipliedReportingOverflow(by: bytes)
      return overflow ? .max / 4 : min(product, .max / 4)
    }
    // Customers of a partly arrived request are not in the day counters, so they are added.
    let leavingResults =
      hasOtherServices ? (dayCounters?.openWithResults ?? 0) + (arriving?.leavingResults ?? 0) : 0
    return product((dayCounters?.kept ?? 0) + (arriving?.count ?? 0), Self.growthPerCustomer)
      + product(leavingResults, Self.growthPerResult)
      + product((dayCounters?.openWithShortages ?? 0) + (arriving?.juices ?? 0), growthPerJuice)
  }

  /// True if the store has a service that may store results.
  private var hasOtherServices: Bool { services.services.last?.mayStoreResult == true }

  /// Before a commit, reserves space for the receipts of the customers that the commit accepts.
  ///
  /// - Throws: `.diskFull` if there is not enough space. Space that was reserved before stays reserved.
  func holdBack(for dayCounters: DayCounters, _ arriving: InProgressEnqueue?) throws(StoreError) {
    guard reservedSpace.isEnabled, stagedAcceptances > 0 else { return }
    guard !isLowOnSpace else { throw .diskFull(detail: MessageDetail(.reserveInUse)) }
    acceptedSinceCheck += stagedAcceptances
    let growth = Self.growthPerChange + growthPerJuice + (hasOtherServices ? Self.growthPerResult : 0)
    guard acceptedSinceCheck * growth > reservedSpace.slack else { return }
    acceptedSinceCheck = 0
    guard reservedSpace.holdBack(need(of: dayCounters, arriving)) else {
      throw .diskFull(detail: MessageDetail(.noSpaceForReceipts))
    }
  }

  /// Releases space that was reserved for customers that have been served meanwhile. See `enableReserve()`.
  func shrinkReserve() {
    guard let saved, !isLowOnSpace else { return }
    let before = reservedBytes
    reservedSpace.shrink(for: need(of: saved, unissued.open))
    if reservedBytes < before { acceptedSinceCheck = 0 }
  }
}

extension StoreChange {
  /// True if the change increases the need for space.
  var increasesNeed: Bool {
    switch self {
    case .insert, .insertDelayed, .remember: true
    default: false
    }
  }
}
