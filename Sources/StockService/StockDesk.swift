// Owns the meeting of the stock's rules with its disk: effects are performed in order, everything of a turn is one
// commit, and what was committed is handed on. It knows no client.
// Invariant: an answer that rests on a change is given after that change was fsynced. A full disk takes everything of
// the turn back and refuses it; after any other failure of the disk the process has to end, because nobody knows any
// more what is on it.

import BankModel
import Logbook
import Posix
import QueueCore
import ServiceProcess
import StockCore
import Wire

/// The stock and its store. Not Sendable: everything happens on the loop's thread.
public final class StockDesk<Machine: StockDecisions>: ServiceDesk {
  /// Entries that one commit holds at most; the commit does not wait for the end of the turn then.
  private var longestCommit: Int { 4_096 }

  /// Called with each answer.
  var onReply: ((RequestID, StockAnswer) -> Void)?
  /// Called when the disk turned out to be full, and when it is not any more.
  var onDiskFull: ((StoreError?) -> Void)?
  /// Called when the store begins to live on its reserve, and when there is room again.
  var onRoom: ((_ isShort: Bool) -> Void)?
  /// What the disk has done that cannot be lived with. Nothing is done any more after it.
  public private(set) var failure: StoreError?
  private(set) var machine: Machine
  /// The number by which the stock's ledger tells itself from all others.
  public var identity: Int64 { machine.ledger }

  /// A request by which its answer is known again.
  typealias RequestID = StockCore.RequestNumber

  private let store: any StockStore<StoreError>
  private var staged: [StockChange] = []
  private var entries = 0
  private var stagedSince: MonotonicTime?
  private var gathering = CommitGathering()
  private var committed: [StockChange] = []
  private var isFull = false
  private var room = RoomWatch()
  private var isShort = false

  /// Brings the rules of a stock and its store together; the rules know what the store has.
  public init(_ store: any StockStore<StoreError>, _ machine: Machine) {
    self.store = store
    self.machine = machine
  }

  /// Brings in the items that are not known yet. A stock without its shelves has nothing to say to anybody: where there
  /// is no room for them the process has to end and to be started again.
  func furnish(_ amounts: [ItemAmount], at now: Moment) {
    happen(.furnish(amounts), at: now)
    commit(at: now)
    _ = takeCommitted()
    let known = Set(machine.picture.items.map(\.item))
    guard failure == nil, !amounts.allSatisfy({ known.contains($0.item) }) else { return }
    failure = .diskFull(detail: Remark(.noRoomForShelves))
  }

  /// Lets something happen, and does what follows from it.
  func happen(_ event: StockEvent, at now: Moment) {
    guard failure == nil else { return }
    var effects: [StockEffect] = []
    machine.apply(event, at: now.wall, into: &effects)
    for effect in effects {
      guard failure == nil else { return }
      perform(effect, at: now)
    }
    if entries >= longestCommit { commit(at: now) }
  }

  private func perform(_ effect: StockEffect, at now: Moment) {
    do throws(StoreError) {
      switch effect {
      case .lookUp(let id): happen(.found(id, try store.order(id)), at: now)
      case .stage(let entry):
        try store.stage(entry)
        if Kernel.makes("showsTooEarly") { committed += entry.changes } else { staged += entry.changes }
        entries += 1
        if stagedSince == nil { stagedSince = now.monotonic }
      case .reply(let request, let answer): onReply?(request, answer)
      }
    } catch {
      storeFailed(error, at: now)
    }
  }

  /// When ``commit(at:)`` is to be called; nil while nothing waits for it.
  var commitDue: MonotonicTime? {
    guard failure == nil, machine.isUnsettled else { return nil }
    return stagedSince.map { gathering.due(entries, since: $0) } ?? MonotonicTime(nanoseconds: 0)
  }

  /// Puts everything that was staged on disk; the answers follow.
  public func commit(at now: Moment) {
    guard failure == nil, machine.isUnsettled else { return }
    let begin = SystemClock.moment().monotonic
    do throws(StoreError) { try store.commit() } catch { return storeFailed(error, at: now) }
    gathering.committed(entries, from: begin, to: SystemClock.moment().monotonic)
    committed += staged
    forgetStaged()
    if isFull {
      isFull = false
      onDiskFull?(nil)
    }
    happen(.committed, at: now)
    noteRoom(at: now)
  }

  /// When ``lookForRoom(at:)`` has something to do; nil while there is room.
  var roomDue: MonotonicTime? { failure == nil ? room.dueAt : nil }

  /// Looks whether there is room again, where a store that is short has been left alone long enough.
  func lookForRoom(at now: Moment) {
    guard failure == nil, room.takeDue(at: now.monotonic) else { return }
    store.lookForRoom()
    noteRoom(at: now)
  }

  /// Tells the stock what its store has found.
  public func noteRoom(at now: Moment) {
    room.note(isShort: store.isShort, at: now.monotonic)
    guard store.isShort != isShort else { return }
    isShort = store.isShort
    onRoom?(isShort)
    happen(.roomChanged(isShort: isShort), at: now)
  }

  /// The files of the store are not what they were: nothing is done any more.
  public func end(because error: StoreError) { if failure == nil { failure = error } }

  private func storeFailed(_ error: StoreError, at now: Moment) {
    switch error {
    case .diskFull: break
    case _ where Kernel.makes("callsEveryErrorAFullDisk"): break
    default: return failure = error
    }
    store.rollBack()
    forgetStaged()
    if !isFull {
      isFull = true
      onDiskFull?(error)
    }
    happen(.commitRefused, at: now)
    noteRoom(at: now)
  }

  private func forgetStaged() {
    staged.removeAll(keepingCapacity: true)
    entries = 0
    stagedSince = nil
  }

  /// The changes that were committed since the last time this was asked.
  func takeCommitted() -> [StockChange] {
    guard !committed.isEmpty else { return [] }
    defer { committed = [] }
    return committed
  }

  /// Rows of the ledger that are on disk. Nothing may be staged.
  func changes(after sequence: Int64, limit: Int) -> [StockChange] {
    precondition(!machine.isUnsettled, "what is not on disk is for nobody's eyes")
    do throws(StoreError) { return try store.changes(after: sequence, limit: limit) } catch {
      failure = error
      return []
    }
  }

  /// What a question about the disk comes to. Nothing may be staged. Nil where the disk has failed.
  ///
  /// A question that sorts what it reads needs room on a disk as well. Where there is none it is refused, and nothing
  /// else is wrong.
  func answer(_ question: StockCommand) -> StockResult? {
    guard failure == nil else { return nil }
    precondition(!machine.isUnsettled, "what is not on disk is for nobody's eyes")
    do throws(StoreError) { return try look(question) } catch {
      if case .diskFull(let detail) = error { return .failure(StockFailure(.diskFull, remark: detail)) }
      failure = error
      return nil
    }
  }

  private func look(_ question: StockCommand) throws(StoreError) -> StockResult {
    switch question {
    case .orders(let after, let limit):
      return .orders(
        try store.orders(after: after, limit: Int(min(max(1, limit), StockLimits.ordersPerPage))))
    case .known(let names):
      var known: [KeptOrder] = []
      for id in names.prefix(Int(StockLimits.ordersPerPage)) {
        if let order = try store.order(id) { known.append(order.kept(as: id)) }
      }
      return .orders(known)
    default:
      let found = try store.audit()
      return .audit(
        StockAuditReport(
          items: found.items, orders: found.orders, changes: found.changes, difference: found.difference,
          remarks: found.remarks))
    }
  }
}
