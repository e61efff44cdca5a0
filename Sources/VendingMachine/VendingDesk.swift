// Owns the meeting of the machine's rules with its disk: effects are performed in order, everything of a turn is one
// commit, and what was committed is handed on. It knows no client, and of the stock only that it can be asked.
// Invariant: an answer that rests on a change is given after that change was fsynced. A full disk takes everything of
// the turn back and refuses it; what the stock has said is written when there is room. After any other failure of the
// disk the process has to end, because nobody knows any more what is on it.

import BankModel
import Posix
import QueueCore
import VendingCore
import Wire

/// The machine's money and its store. Not Sendable: everything happens on the loop's thread.
public final class VendingDesk<Machine: VendingDecisions> {
  /// A request by which its answer is known again.
  typealias RequestID = VendingCore.RequestNumber

  /// How long it is waited before what did not fit on the disk is tried again.
  private var retryPause: TimeSpan { .milliseconds(500) }
  /// Purchases that are kept in memory for those who look.
  let remembered = 200

  /// Called with each answer.
  var onReply: ((RequestID, VendingAnswer) -> Void)?
  /// Called when one of a product is to be taken from the stock for a purchase.
  var onTake: ((PurchaseNumber, ItemID) -> Void)?
  /// Called when the stock is to put back whatever a purchase holds.
  var onRelease: ((PurchaseNumber) -> Void)?
  /// Called when the disk turned out to be full, and when it is not any more.
  var onDiskFull: ((StoreError?) -> Void)?
  /// Called when the store begins to live on its reserve, and when there is room again.
  var onRoom: ((_ isShort: Bool) -> Void)?
  /// What the disk has done that cannot be lived with. Nothing is done any more after it.
  public private(set) var failure: StoreError?
  private(set) var machine: Machine
  /// How many of each product were bought, all of it on disk.
  private(set) var sales: [ItemID: Int64] = [:]
  /// The latest purchases that are on disk, oldest first.
  private(set) var recent: [MoneyChange] = []

  private let store: any VendingStore<StoreError>
  private var staged: [MoneyChange] = []
  private var retryAt: MonotonicTime?
  private var isFull = false
  private var room = RoomWatch()
  private var isShort = false
  /// How often a full disk has refused what was staged.
  private var refusals = 0

  /// Brings the rules of a machine and its store together; the rules know what the store has.
  public init(_ store: any VendingStore<StoreError>, _ machine: Machine) throws(StoreError) {
    self.store = store
    self.machine = machine
    for sale in try store.sales() { sales[sale.product] = sale.count }
    recent = try store.latestPurchases(limit: remembered)
  }

  /// Lets something happen, and does what follows from it.
  func happen(_ event: VendingEvent, at now: Moment) {
    guard failure == nil else { return }
    let before = refusals
    var effects: [VendingEffect] = []
    machine.apply(event, at: now.wall, into: &effects)
    for effect in effects {
      guard failure == nil else { return }
      // The machine has taken back everything of this event; the rest of it is not written either.
      if case .stage = effect, refusals != before { continue }
      perform(effect, at: now)
    }
  }

  private func perform(_ effect: VendingEffect, at now: Moment) {
    do throws(StoreError) {
      switch effect {
      case .lookUp(let id): happen(.found(id, try store.request(id)), at: now)
      case .stage(let entry):
        try store.stage(entry)
        if let change = entry.change { staged.append(change) }
      case .reply(let request, let answer): onReply?(request, answer)
      case .take(let purchase, let product): onTake?(purchase, product)
      case .release(let purchase): onRelease?(purchase)
      }
    } catch {
      storeFailed(error, at: now)
    }
  }

  /// When ``commit(at:)`` is to be called; nil while nothing waits for it.
  var commitDue: MonotonicTime? {
    guard failure == nil else { return nil }
    if machine.isUnsettled { return MonotonicTime(nanoseconds: 0) }
    return machine.hasUnwritten ? retryAt : nil
  }

  /// Puts everything that was staged on disk; the answers follow.
  public func commit(at now: Moment) {
    guard failure == nil else { return }
    if machine.hasUnwritten { happen(.retried, at: now) }
    guard failure == nil, machine.isUnsettled else { return }
    do throws(StoreError) { try store.commit() } catch { return storeFailed(error, at: now) }
    for change in staged where change.kind == .bought {
      if let product = change.product { sales[product, default: 0] += 1 }
      recent.append(change)
    }
    recent = recent.suffix(remembered)
    staged.removeAll(keepingCapacity: true)
    retryAt = nil
    if isFull {
      isFull = false
      onDiskFull?(nil)
    }
    happen(.committed, at: now)
    // There is room again: what the stock has said meanwhile is written at once, and not with the next change.
    if machine.hasUnwritten, !Kernel.makes("vendingForgetsToRetry") { retryAt = now.monotonic }
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

  /// Tells the machine what its store has found.
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
    refusals += 1
    staged.removeAll(keepingCapacity: true)
    retryAt = now.monotonic + retryPause
    if !isFull {
      isFull = true
      onDiskFull?(error)
    }
    happen(.commitRefused, at: now)
    noteRoom(at: now)
  }

  /// Purchases that are on disk. Nothing may be staged.
  func purchases(after sequence: Int64, limit: Int) -> [MoneyChange] {
    precondition(!machine.isUnsettled, "what is not on disk is for nobody's eyes")
    guard failure == nil else { return [] }
    do throws(StoreError) { return try store.purchases(after: sequence, limit: limit) } catch {
      failure = error
      return []
    }
  }

  /// Checks everything that can be checked. Nothing may be staged. Nil where the disk has failed.
  ///
  /// A check that sorts what it reads needs room on a disk as well. Where there is none it is refused, and nothing else
  /// is wrong.
  func audit() -> Result<VendingAudit, VendingFailure>? {
    guard failure == nil else { return nil }
    do throws(StoreError) { return .success(try store.audit()) } catch {
      if case .diskFull(let detail) = error { return .failure(VendingFailure(.diskFull, remark: detail)) }
      failure = error
      return nil
    }
  }
}
