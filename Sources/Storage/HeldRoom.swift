// Space that one database reserves for a full disk: when it is reserved, when some of it is released, and when it is
// reserved again. The need beyond a base comes from the store.
// Invariant: reserved space stays reserved until a full disk needs it. While a part is released the database is short:
// new customers are refused, and the present ones are finished. Without a possible reserve it is never short, and a
// full disk is handled when it occurs.

import CSQLite
import Glibc
import QueueCore

final class HeldRoom {
  /// Size of a page in the log, with its header.
  static let frame: Int64 = 4_096 + 24

  /// Amount of space reserved beyond the need.
  struct Plan {
    /// Maximum base reserve in bytes: the log of a few transactions, and their data.
    var limit: Int64
    /// Divisor of the disk's capacity, which also limits the base reserve.
    var share: Int64
    /// Bytes reserved in addition when the need grows, so that not every commit allocates.
    var headroom: Int64 = 0
  }

  /// True if a part of the reserve is released.
  private(set) var isShort = false
  /// Base reserve in bytes.
  private(set) var base: Int64 = 0
  /// Surplus of the reserve over the need at the last check, in bytes.
  private(set) var slack: Int64 = 0

  /// True if the last ``make()`` gained space, so that a retry is useful.
  private(set) var hasMadeRoom = false

  private let database: Database
  private let plan: Plan
  private var reserve: (any Reserve)?
  /// Consecutive transactions that found the disk full.
  private var fullCommits = 0

  /// Creates an object without a reserve, until ``keep(for:)`` is called.
  init(_ database: Database, _ plan: Plan) {
    self.database = database
    self.plan = plan
  }

  /// Starts the reserve: the base, and the need of the store.
  func keep(for need: Int64 = 0) {
    let reserve = database.volume.reserve(at: database.path + "-reserve")
    guard reserve.isPossible, let capacity = reserve.room?.capacity else { return }
    self.reserve = reserve
    base = min(plan.limit, capacity / plan.share)
    if !holdBack(need) { becomeShort() }
  }

  var isKept: Bool { reserve != nil }
  var bytes: Int64 { reserve?.size ?? 0 }
  /// Free bytes of the disk; nil without a reserve, or if the file system does not report them.
  var free: Int64? { reserve?.room?.free }

  /// Reserves space for a need; false if there is not enough.
  func holdBack(_ need: Int64) -> Bool {
    guard let reserve else { return true }
    let needed = whole(need)
    let isHeld =
      reserve.size >= needed || reserve.grow(to: needed + plan.headroom) || reserve.grow(to: needed)
    slack = max(0, reserve.size - needed)
    guard reserve.isPossible else {
      self.reserve = nil
      isShort = false
      return true
    }
    return isHeld
  }

  /// Checks again for free space. More must be free than is needed, or the next transaction would find the disk full
  /// again.
  func look(for need: Int64 = 0) {
    guard isShort, let reserve, let free = reserve.room?.free else { return }
    guard free >= whole(need) - reserve.size + base else { return }
    isShort = !holdBack(need)
  }

  func ease(for need: Int64 = 0) {
    guard let reserve, !isShort else { return }
    let needed = whole(need)
    guard reserve.size > 2 * needed + plan.headroom else { return }
    reserve.cut(to: needed + plan.headroom)
    slack = reserve.size - needed
  }

  func becomeShort() {
    if !isShort { database.growInSteps(of: step) }
    isShort = true
  }

  private func whole(_ need: Int64) -> Int64 { base + need + databaseGrowth }

  private var databaseLength: Int64 {
    let size = try? database.number("PRAGMA page_size", while: "reading the size")
    return ((try? database.pageCount()) ?? 0) * (size ?? 0)
  }

  private var databaseGrowth: Int64 { max(0, databaseLength - database.length(of: database.path)) }
  /// Step by which the database grows while the reserve is in use.
  private var step: Int64 { max(16 << 10, base / 16) }

  /// Releases this many bytes of the reserve, or the rest of it; false if it is empty.
  ///
  /// Releases no more than is used immediately, because other writers, such as the tellers' logs, would take the rest.
  private func giveUp(_ bytes: Int64) -> Bool {
    guard let reserve, reserve.size > 0 else { return false }
    becomeShort()
    reserve.cut(to: max(0, reserve.size - bytes))
    hasMadeRoom = true
    return true
  }

  func committed() { fullCommits = 0 }

  /// Copies the log into the database, with space from the reserve if needed. The log then restarts in its existing
  /// space.
  ///
  /// - Throws: errors that space cannot cure; `.diskFull` if the reserve is empty.
  func copyLog(_ mode: Int32) throws(StoreError) {
    while true {
      do throws(StoreError) { return try database.checkpoint(mode) } catch {
        let length = (databaseLength / step + 1) * step
        let missing = length - database.length(of: database.path)
        guard case .diskFull = error, giveUp(max(missing, step)) else { throw error }
        database.grow(to: length)
      }
    }
  }

  /// True if the log has used three quarters of its file. It is copied before the next transaction finds it full.
  var isLogNearlyFull: Bool {
    Int64(database.logFrames) * Self.frame > database.length(of: database.path + "-wal") / 4 * 3
  }

  /// Makes space after a full disk, so that the present customers can be finished. Copies the log, which restarts in
  /// its existing space, and extends the log file for a few transactions.
  ///
  /// - Returns: an error that is worse than a full disk; nil for none.
  func make() -> StoreError? {
    fullCommits += 1
    hasMadeRoom = false
    do throws(StoreError) {
      if database.logFrames > 0 {
        try copyLog(SQLITE_CHECKPOINT_PASSIVE)
        hasMadeRoom = true
      }
    } catch {
      if case .diskFull = error { return nil }
      return error
    }
    let log = database.path + "-wal"
    // Each further failed transaction doubles the size.
    let missing = (base / 4) << Int64(min(fullCommits - 1, 8)) - database.length(of: log)
    if missing > 0, giveUp(missing) { database.volume.extend(log, by: missing) }
    return nil
  }
}
