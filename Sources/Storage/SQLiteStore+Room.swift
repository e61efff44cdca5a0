// Owns the room that the store keeps for finishing what it has accepted: how much must be held back, when some of it is
// given up, and when it is held back again. It knows no row.
// Invariant: with a reserve, no customer is accepted whose receipt could not be written though the disk got full a
// moment later. As long as a part of the reserve is given up the store is short: nobody new is to come, and those who
// are here are finished. Where no reserve is possible the store is never short, and a full disk is met when it comes.

import CSQLite
import Glibc
import QueueCore

extension SQLiteStore {
  /// What is held back for nobody in particular, at most: the log of a few transactions, attempts, pauses.
  private static let baseLimit: Int64 = 4 << 20
  /// The same as a part of the whole disk, at most.
  private static let baseShare: Int64 = 8
  /// By how much the database grows when one who waits is served: the receipt less the row that leaves. Measured:
  /// 36 bytes with everyday numbers.
  private static let growthPerCustomer: Int64 = 64
  /// By how much more when one who wants a juice is sent away: what was missing, for a recipe of two fruits.
  private static let growthPerJuice: Int64 = 96
  /// By how much less than this an accepted customer or a key can let the need grow: its row and its receipt.
  private static let growthPerChange: Int64 = 256
  /// What a customer costs in the log and in the database when many are moved in one transaction.
  private static let moved: Int64 = 256
  /// A page in the log, with its header.
  private static let frame: Int64 = 4_096 + 24
  /// Held back at once, so that this is not asked for at every commit.
  private static let headroom: Int64 = 1 << 20

  /// Begins to hold room back. Without this call nothing is held back.
  public func keepReserve() {
    precondition(saved != nil, "The reserve depends on what was loaded.")
    let reserve = DiskReserve(path: database.path + "-reserve")
    guard reserve.isPossible, let capacity = reserve.room?.capacity else { return }
    self.reserve = reserve
    reserveBase = min(Self.baseLimit, capacity / Self.baseShare)
    if !holdBack(whatIsNeeded(by: saved)) { becomeShort() }
    if !reserve.isPossible { dropReserve() }
  }

  /// Bytes that are held back.
  public var reservedBytes: Int64 { reserve?.size ?? 0 }

  /// Looks whether there is room again. See `QueueStore`.
  ///
  /// More must be free than is needed, or the next customer would find the disk full again.
  public func lookForRoom() {
    guard isShort, let reserve, let saved, let free = reserve.room?.free else { return }
    let needed = whatIsNeeded(by: saved)
    guard free >= needed - reserve.size + reserveBase else { return }
    isShort = !holdBack(needed)
  }

  /// Whether so many customers can be moved in one transaction. See `QueueStore`.
  public func hasRoom(toMove customers: Int64) -> Bool {
    guard customers > 1_000, let free = reserve?.room?.free else { return true }
    let (needed, overflow) = customers.multipliedReportingOverflow(by: Self.moved)
    return !overflow && needed <= free
  }

  // MARK: Holding back

  private func whatIsNeeded(by books: Books?) -> Int64 {
    reserveBase + Self.growthPerCustomer * (books?.kept ?? 0) + Self.growthPerJuice
      * (books?.keptForJuice ?? 0)
      + databaseGrowth
  }

  /// How long the file is when the log was copied.
  private var databaseLength: Int64 {
    let pages = try? database.number("PRAGMA page_count", while: "reading the size")
    let size = try? database.number("PRAGMA page_size", while: "reading the size")
    return (pages ?? 0) * (size ?? 0)
  }

  /// By how much the file grows when the log is copied.
  private var databaseGrowth: Int64 { max(0, databaseLength - Database.length(of: database.path)) }

  /// By how much the database grows at once while the reserve is in use.
  private var step: Int64 { max(16 << 10, reserveBase / 16) }

  private func holdBack(_ needed: Int64) -> Bool {
    guard let reserve else { return true }
    acceptedSinceCheck = 0
    let isHeld =
      reserve.size >= needed || reserve.grow(to: needed + Self.headroom) || reserve.grow(to: needed)
    slack = max(0, reserve.size - needed)
    return isHeld || !reserve.isPossible
  }

  /// Before a commit: room for the receipts of those who are accepted by it.
  ///
  /// - Throws: `.diskFull` where there is none. What was held back before is held back still.
  func holdBack(for books: Books) throws(StoreError) {
    guard reserve != nil, stagedAcceptances > 0 else { return }
    guard !isShort else { throw .diskFull(detail: "the reserve is in use") }
    acceptedSinceCheck += stagedAcceptances
    guard acceptedSinceCheck * Self.growthPerChange > slack else { return }
    guard holdBack(whatIsNeeded(by: books)) else {
      throw .diskFull(detail: "there is no room for the receipts of those who would come")
    }
    if reserve?.isPossible == false { dropReserve() }
  }

  /// Gives back what is held back for those who have long been served. See `keepReserve()`.
  func easeReserve() {
    guard let reserve, let saved, !isShort else { return }
    let needed = whatIsNeeded(by: saved)
    guard reserve.size > 2 * needed + Self.headroom else { return }
    reserve.cut(to: needed + Self.headroom)
    slack = reserve.size - needed
    acceptedSinceCheck = 0
  }

  /// Gives so much of the reserve up, or what is left of it; false when there is nothing.
  ///
  /// No more than is taken in the same breath: whoever has filled the disk would fill this as well, and the logs of
  /// the tellers would.
  private func giveUpRoom(_ bytes: Int64) -> Bool {
    guard let reserve, reserve.size > 0 else { return false }
    becomeShort()
    reserve.cut(to: max(0, reserve.size - bytes))
    return true
  }

  private func becomeShort() {
    if !isShort { database.growInSteps(of: step) }
    isShort = true
  }

  private func dropReserve() {
    reserve = nil
    isShort = false
  }

  // MARK: A full disk

  /// Copies the log into the database, with room from the reserve where there is no other. Then the log begins anew in
  /// the space that it has.
  ///
  /// - Throws: what no room can cure; `.diskFull` when there is nothing left to give up.
  func copyLog(_ mode: Int32) throws(StoreError) {
    while true {
      do throws(StoreError) { return try database.checkpoint(mode) } catch {
        let length = (databaseLength / step + 1) * step
        let missing = length - Database.length(of: database.path)
        guard case .diskFull = error, giveUpRoom(max(missing, step)) else { throw error }
        database.grow(to: length)
      }
    }
  }

  /// Whether the log has used most of the place that it has: it is copied before the next transaction finds it full.
  var isLogNearlyFull: Bool {
    Int64(database.logFrames) * Self.frame > Database.length(of: database.path + "-wal") / 4 * 3
  }

  /// After a full disk: makes the room there is for those who are to be finished. The log is copied and begins anew in
  /// the space that it has, which is made enough for a few transactions.
  ///
  /// - Returns: what went wrong meanwhile and is worse than a full disk.
  func makeRoom() -> StoreError? {
    fullCommits += 1
    do throws(StoreError) {
      if database.logFrames > 0 { try copyLog(SQLITE_CHECKPOINT_PASSIVE) }
    } catch {
      if case .diskFull = error { return nil }
      return error
    }
    let log = database.path + "-wal"
    // A transaction that did not find room enough finds twice as much.
    let missing = (reserveBase / 4) << Int64(min(fullCommits - 1, 8)) - Database.length(of: log)
    if missing > 0, giveUpRoom(missing) { DiskReserve.extend(log, by: missing) }
    return nil
  }
}

extension StoreChange {
  /// Whether it lets the need for room grow.
  var isAcceptance: Bool {
    switch self {
    case .insert, .remember: true
    default: false
    }
  }
}
