// Owns what of the room that is held back is needed by those whom the queue has accepted, and who is refused when there
// is none. How room is held back and given up stands in `HeldRoom`. It knows no row.
// Invariant: with a reserve, no customer is accepted whose receipt could not be written though the disk got full a
// moment later. As long as a part of the reserve is given up the store is short: nobody new is to come, and those who
// are here are finished. Where no reserve is possible the store is never short, and a full disk is met when it comes.

import BankModel
import QueueCore

extension SQLiteStore {
  /// By how much the database grows at most when one who waits is served: the receipt less the row that leaves. Measured, with
  /// each served alone: 50 bytes with everyday numbers, 112 with the largest ones; a ticket may have nine digits more.
  static let growthPerCustomer: Int64 = 128
  /// By how much more for each fruit that was missing, beside its name: the largest row of a shortage.
  private static let growthPerShortage: Int64 = 40
  /// By how much more for one whose work may leave a result: its row without bytes, which is all that is written of it
  /// while the store is short.
  private static let growthPerResult: Int64 = 64
  /// By how much an accepted customer or a key can let the need grow, less what a juice adds: its row and its receipt.
  private static let growthPerChange: Int64 = 224
  /// What a customer costs in the log and in the database when many are moved in one transaction.
  private static let moved: Int64 = 256

  /// Whether so many customers can be moved in one transaction. See `QueueStore`.
  public func hasRoom(toMove customers: Int64) -> Bool {
    guard customers > 1_000, let free = room.free else { return true }
    let (needed, overflow) = customers.multipliedReportingOverflow(by: Self.moved)
    return !overflow && needed <= free
  }

  /// What is held back for each juice follows the recipe of which the most can be missing. See `QueueStore`.
  public func holdBack(forJuicesOf assortment: Assortment) {
    let largest = assortment.juices.map { juice in
      juice.recipe.reduce(0) { $0 + Self.growthPerShortage + Int64($1.item.name.utf8.count) }
    }
    growthPerJuice = largest.max() ?? 0
    guard room.isKept, let saved else { return }
    acceptedSinceCheck = 0
    if !room.holdBack(need(of: saved, arrivals.open)) { room.becomeShort() }
  }

  func need(of books: Books?, _ arriving: ArrivingRequest?) -> Int64 {
    func product(_ count: Int64, _ bytes: Int64) -> Int64 {
      let (product, overflow) = count.multipliedReportingOverflow(by: bytes)
      return overflow ? .max / 4 : min(product, .max / 4)
    }
    // Whoever is half taken in is not in the books.
    let leavingResults =
      hasOtherServices ? (books?.keptWithResults ?? 0) + (arriving?.leavingResults ?? 0) : 0
    return product((books?.kept ?? 0) + (arriving?.count ?? 0), Self.growthPerCustomer)
      + product(leavingResults, Self.growthPerResult)
      + product((books?.keptForJuice ?? 0) + (arriving?.juices ?? 0), growthPerJuice)
  }

  /// Whether there are services whose customers may leave results.
  private var hasOtherServices: Bool { services.services.last?.leavesResults == true }

  /// Before a commit: room for the receipts of those who are accepted by it.
  ///
  /// - Throws: `.diskFull` where there is none. What was held back before is held back still.
  func holdBack(for books: Books, _ arriving: ArrivingRequest?) throws(StoreError) {
    guard room.isKept, stagedAcceptances > 0 else { return }
    guard !isShort else { throw .diskFull(detail: Remark(.reserveInUse)) }
    acceptedSinceCheck += stagedAcceptances
    let growth = Self.growthPerChange + growthPerJuice + (hasOtherServices ? Self.growthPerResult : 0)
    guard acceptedSinceCheck * growth > room.slack else { return }
    acceptedSinceCheck = 0
    guard room.holdBack(need(of: books, arriving)) else {
      throw .diskFull(detail: Remark(.noRoomForReceipts))
    }
  }

  /// Gives back what is held back for those who have long been served. See `keepReserve()`.
  func easeReserve() {
    guard let saved, !isShort else { return }
    let before = reservedBytes
    room.ease(for: need(of: saved, arrivals.open))
    if reservedBytes < before { acceptedSinceCheck = 0 }
  }
}

extension StoreChange {
  /// Whether it lets the need for room grow.
  var isAcceptance: Bool {
    switch self {
    case .insert, .insertDelayed, .remember: true
    default: false
    }
  }
}
