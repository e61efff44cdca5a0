// Space that one database reserves for a full disk. The reserve is a base, the need that the store computes, and
// the growth of the database file when the WAL is checkpointed.
// Invariant: needed space stays reserved until the disk is full; only space beyond the need is released earlier.
// While a part is released or missing, the database is short of space. If no reserve is possible, the database is
// never short, and a full disk is handled when it occurs.

import CSQLite
import Glibc
import QueueCore

final class ReservedSpace {
  /// Size of a frame of the WAL: a page with its header.
  static let frame: Int64 = 4_096 + 24

  /// Amount of space reserved in addition to the need.
  struct ReservePlan {
    /// Maximum base reserve in bytes: the WAL of a few transactions, and their data.
    var limit: Int64
    /// The base reserve is at most the disk's capacity divided by this number.
    var share: Int64
    /// Bytes reserved in addition when the reserve grows, so that not every commit allocates.
    var headroom: Int64 = 0
  }

  /// True if a part of the reserve is released, or could not be reserved.
  private(set) var isLowOnSpace = false
  /// Base reserve in bytes.
  private(set) var base: Int64 = 0
  /// Bytes by which the reserve exceeded the need at the last check.
  private(set) var slack: Int64 = 0

  /// True if the last ``makeSpace()`` freed space, so that a retry is useful.
  private(set) var hasMadeSpace = false

  private let database: Database
  private let plan: ReservePlan
  /// The reserve file; nil if nothing is reserved.
  private var reserve: (any SpaceReserve)?
  /// Number of consecutive transactions that failed because the disk was full.
  private var fullCommits = 0

  /// Makes an object that reserves nothing before ``enable(for:)`` is called.
  init(_ database: Database, _ plan: ReservePlan) {
    self.database = database
    self.plan = plan
  }

  /// Starts to reserve space: a base for a few transactions, and the need of the store, in bytes.
  func enable(for need: Int64 = 0) {
    let reserve = database.volume.reserve(at: database.path + "-reserve")
    guard reserve.isPossible, let capacity = reserve.room?.capacity else { return }
    self.reserve = reserve
    base = min(plan.limit, capacity / plan.share)
    if !holdBack(need) { reportLowSpace() }
  }

  var isEnabled: Bool { reserve != nil }
  var bytes: Int64 { reserve?.size ?? 0 }
  /// Free bytes of the disk; nil without a reserve, or if the file system does not report them.
  var free: Int64? { reserve?.room?.free }

  /// Reserves space for a need. Returns false if there is not enough.
  func holdBack(_ need: Int64) -> Bool {
    guard let reserve else { return true }
    let needed = whole(need)
    let isHeld =
      reserve.size >= needed || reserve.grow(to: needed + plan.headroom) || reserve.grow(to: needed)
    slack = max(0, reserve.size - needed)
    guard reserve.isPossible else {
      self.reserve = nil
      isLowOnSpace = false
      return true
    }
    return isHeld
  }

  /// Checks again whether enough space is free. The base must be free in addition to the missing part of the
  /// reserve. If only the missing part were free, the next transaction would find the disk full again.
  func look(for need: Int64 = 0) {
    guard isLowOnSpace, let reserve, let free = reserve.room?.free else { return }
    guard free >= whole(need) - reserve.size + base else { return }
    isLowOnSpace = !holdBack(need)
  }

  /// Releases reserved space if much more than the need is reserved.
  func shrink(for need: Int64 = 0) {
    guard let reserve, !isLowOnSpace else { return }
    let needed = whole(need)
    guard reserve.size > 2 * needed + plan.headroom else { return }
    reserve.cut(to: needed + plan.headroom)
    slack = reserve.size - needed
  }

  func reportLowSpace() {
    if !isLowOnSpace { database.growInSteps(of: step) }
    isLowOnSpace = true
  }

  /// Sum in bytes of the base for a few transactions, the need, and the growth of the file at the next checkpoint.
  private func whole(_ need: Int64) -> Int64 { base + need + databaseGrowth }

  /// Size of the database in bytes, including the pages that are only in the WAL.
  private var databaseLength: Int64 {
    let size = try? database.number("PRAGMA page_size", while: "reading the size")
    return ((try? database.pageCount()) ?? 0) * (size ?? 0)
  }

  /// Bytes by which the next checkpoint makes the file grow.
  private var databaseGrowth: Int64 { max(0, databaseLength - database.length(of: database.path)) }
  /// Step in bytes by which the database grows while the reserve is in use.
  private var step: Int64 { max(16 << 10, base / 16) }

  /// Releases this many bytes of the reserve, or all that remain. Returns false if the reserve is empty.
  ///
  /// The caller requests no more than it uses immediately, because other writers would use the rest.
  private func release(_ bytes: Int64) -> Bool {
    guard let reserve, reserve.size > 0 else { return false }
    reportLowSpace()
    reserve.cut(to: max(0, reserve.size - bytes))
    hasMadeSpace = true
    return true
  }

  func committed() { fullCommits = 0 }

  /// Checkpoints the WAL, with space from the reserve if needed. Afterwards SQLite overwrites the WAL from its
  /// start, so it needs no new space.
  ///
  /// - Throws: errors other than a full disk; `.diskFull` if the reserve is empty.
  func copyLog(_ mode: Int32) throws(StoreError) {
    while true {
      do throws(StoreError) { return try database.checkpoint(mode) } catch {
        let length = (databaseLength / step + 1) * step
        let missing = length - database.length(of: database.path)
        guard case .diskFull = error, release(max(missing, step)) else { throw error }
        database.grow(to: length)
      }
    }
  }

  /// True if the WAL has used three quarters of its file, so that it should be checkpointed.
  var isLogNearlyFull: Bool {
    Int64(database.logFrames) * Self.frame > database.length(of: database.path + "-wal") / 4 * 3
  }

  /// Frees space after a full disk, so that the accepted customers can be finished. It checkpoints the WAL, whose
  /// space SQLite then uses again, and extends the WAL file. Returns an error other than a full disk; nil for none.
  func makeSpace() -> StoreError? {
    fullCommits += 1
    hasMadeSpace = false
    do throws(StoreError) {
      if database.logFrames > 0 {
        try copyLog(SQLITE_CHECKPOINT_PASSIVE)
        hasMadeSpace = true
      }
    } catch {
      if case .diskFull = error { return nil }
      return error
    }
    let log = database.path + "-wal"
    // Each further failed transaction doubles the length to which the WAL is extended, up to a limit.
    let missing = (base / 4) << Int64(min(fullCommits - 1, 8)) - database.length(of: log)
    if missing > 0, release(missing) { database.volume.extend(log, by: missing) }
    return nil
  }
}
