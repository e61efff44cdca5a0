// Owns the room that one database holds back for bad days: how it is kept, when some of it is given up, and when it is
// held back again. It knows no row: how much is needed beyond a base is told by its store.
// Invariant: what was held back before is held back still, until a full disk needs it. As long as a part is given up the
// database is short: nobody new is to come, and those who are here are finished. Where no reserve is possible it is
// never short, and a full disk is met when it comes.

import CSQLite
import Glibc
import QueueCore

final class HeldRoom {
  /// A page in the log, with its header.
  static let frame: Int64 = 4_096 + 24

  /// How much is held back beside what is needed.
  struct Plan {
    /// For nobody in particular, at most, in bytes: the log of a few transactions, and what they write.
    var limit: Int64
    /// The same as a part of the whole disk, at most.
    var share: Int64
    /// Held back at once where the need grows, so that room is not asked for at every commit.
    var headroom: Int64 = 0
  }

  /// Whether a part of the reserve is given up.
  private(set) var isShort = false
  /// What of it is held back for nobody in particular, in bytes.
  private(set) var base: Int64 = 0
  /// What the reserve had beyond the need when this was last looked at, in bytes.
  private(set) var slack: Int64 = 0

  /// Whether the last ``make()`` has gained anything, so that it is worth while to try again.
  private(set) var hasMadeRoom = false

  private let database: Database
  private let plan: Plan
  private var reserve: (any Reserve)?
  /// Transactions in a row that found the disk full.
  private var fullCommits = 0

  /// Nothing is held back before ``keep(for:)``.
  init(_ database: Database, _ plan: Plan) {
    self.database = database
    self.plan = plan
  }

  /// Begins to hold room back: the base, and what the store needs beyond it.
  func keep(for need: Int64 = 0) {
    let reserve = database.volume.reserve(at: database.path + "-reserve")
    guard reserve.isPossible, let capacity = reserve.room?.capacity else { return }
    self.reserve = reserve
    base = min(plan.limit, capacity / plan.share)
    if !holdBack(need) { becomeShort() }
  }

  var isKept: Bool { reserve != nil }
  var bytes: Int64 { reserve?.size ?? 0 }
  /// Bytes of the disk that nobody has; nil where nothing is held back, or the file system does not say.
  var free: Int64? { reserve?.room?.free }

  /// Holds back what is needed; false where there is not so much room.
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

  /// Looks whether there is room again. More must be free than is needed, or the next one would find the disk full
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
  /// By how much the database grows at once while the reserve is in use.
  private var step: Int64 { max(16 << 10, base / 16) }

  /// Gives so much of the reserve up, or what is left of it; false when there is nothing.
  ///
  /// No more than is taken in the same breath: whoever has filled the disk would fill this as well, and the logs of
  /// the tellers would.
  private func giveUp(_ bytes: Int64) -> Bool {
    guard let reserve, reserve.size > 0 else { return false }
    becomeShort()
    reserve.cut(to: max(0, reserve.size - bytes))
    hasMadeRoom = true
    return true
  }

  func committed() { fullCommits = 0 }

  /// Copies the log into the database, with room from the reserve where there is no other. Then the log begins anew in
  /// the space that it has.
  ///
  /// - Throws: what no room can cure; `.diskFull` when there is nothing left to give up.
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

  /// Whether the log has used most of the place that it has: it is copied before the next transaction finds it full.
  var isLogNearlyFull: Bool {
    Int64(database.logFrames) * Self.frame > database.length(of: database.path + "-wal") / 4 * 3
  }

  /// After a full disk: makes the room there is for those who are to be finished. The log is copied and begins anew in
  /// the space that it has, which is made enough for a few transactions.
  ///
  /// - Returns: what went wrong meanwhile and is worse than a full disk.
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
    // A transaction that did not find room enough finds twice as much.
    let missing = (base / 4) << Int64(min(fullCommits - 1, 8)) - database.length(of: log)
    if missing > 0, giveUp(missing) { database.volume.extend(log, by: missing) }
    return nil
  }
}
