// Owns a machine of a service with its store, and the one way by which events reach it: effects are performed in order,
// everything of a turn is one commit, and what was committed is handed on. It knows no client and no service.
// Invariant: an answer that rests on a change is given after that change was fsynced. A full disk takes everything of the
// turn back and refuses it; what cannot be asked for again is written when there is room. After any other failure of the
// disk the process has to end, because nobody knows any more what is on it.

import BankModel
import Posix
import QueueCore
import Time

/// What an effect asks of whoever drives the machine.
public enum EffectStep<Event, Entry, Answer> {
  /// Something is to happen, as a question to the store was answered.
  case follow(Event)
  /// Something is to be on disk before anything else is said.
  case stage(Entry)
  /// Somebody is to be answered.
  case reply(UInt64, Answer)
  /// The service itself is to do something.
  case own
}

/// The store of a service, as its machine is driven over it.
public protocol ServicePersistence: AnyObject {
  /// What the machine hears.
  associatedtype Event: StoreEvents
  /// What follows from it.
  associatedtype Effect
  /// What is written.
  associatedtype Entry
  /// What those hear who have asked for something.
  associatedtype Answer

  /// What everything is staged in.
  var store: any EntryStore<Entry, StoreError> { get }
  /// What an effect asks for.
  func step(for effect: Effect) throws(StoreError) -> EffectStep<Event, Entry, Answer>
  /// All of this is on disk.
  func committed(_ entries: [Entry])
}

/// A machine and its store. Not Sendable: everything happens on the loop's thread.
public final class MachineDriver<Machine: Decisions, Persistence: ServicePersistence>
where Machine.Event == Persistence.Event, Machine.Effect == Persistence.Effect {
  /// Entries that one commit holds at most; the commit does not wait for the end of the turn then.
  private var longestCommit: Int { 4_096 }
  /// How long it is waited before what did not fit on the disk is tried again.
  private var retryPause: TimeSpan { .milliseconds(500) }

  /// Called with each answer.
  public var onReply: ((UInt64, Persistence.Answer) -> Void)?
  /// Called with each effect that is the service's own.
  public var onEffect: ((Machine.Effect) -> Void)?
  /// Called when the disk turned out to be full, and when it is not any more.
  public var onDiskFull: ((StoreError?) -> Void)?
  /// Called when the store begins to live on its reserve, and when there is room again.
  public var onRoom: ((_ isShort: Bool) -> Void)?
  /// What the disk has done that cannot be lived with. Nothing is done any more after it.
  public private(set) var failure: StoreError?
  /// The rules.
  public private(set) var machine: Machine
  /// What is on disk, beside the rules.
  public let persistence: Persistence

  private let store: any EntryStore<Persistence.Entry, StoreError>
  private var staged: [Persistence.Entry] = []
  private var stagedSince: MonotonicTime?
  private var gathering = CommitGathering()
  private var retryAt: MonotonicTime?
  private var isFull = false
  /// How often a full disk has refused what was staged.
  private var refusals = 0
  private var room = RoomWatch()
  private var isShort = false

  /// Brings rules and their store together; the rules know what the store has.
  public init(_ persistence: Persistence, _ machine: Machine) {
    self.persistence = persistence
    self.machine = machine
    store = persistence.store
  }

  // MARK: - Events

  /// Lets something happen, and does what follows from it.
  public func happen(_ event: Machine.Event, at now: Moment) {
    guard failure == nil else { return }
    let before = refusals
    var effects: [Machine.Effect] = []
    machine.apply(event, at: now.wall, into: &effects)
    for effect in effects {
      guard failure == nil else { return }
      perform(effect, isTakenBack: refusals != before, at: now)
    }
    if staged.count >= longestCommit { commit(at: now) }
  }

  private func perform(_ effect: Machine.Effect, isTakenBack: Bool, at now: Moment) {
    do throws(StoreError) {
      switch try persistence.step(for: effect) {
      case .follow(let event): happen(event, at: now)
      case .stage(let entry):
        // The machine has taken back everything of this event; the rest of it is not written either.
        if isTakenBack { return }
        try store.stage(entry)
        staged.append(entry)
        if stagedSince == nil { stagedSince = now.monotonic }
      case .reply(let request, let answer): onReply?(request, answer)
      case .own: onEffect?(effect)
      }
    } catch { storeFailed(error, at: now) }
  }

  // MARK: - Commits

  /// When ``commit(at:)`` is to be called; nil while nothing waits for it.
  public var commitDue: MonotonicTime? {
    guard failure == nil else { return nil }
    guard machine.isUnsettled else { return machine.retry == nil ? nil : retryAt }
    return stagedSince.map { gathering.due(staged.count, since: $0) } ?? MonotonicTime(nanoseconds: 0)
  }

  /// Puts everything that was staged on disk; the answers follow.
  public func commit(at now: Moment) {
    guard failure == nil else { return }
    if let retry = machine.retry { happen(retry, at: now) }
    guard failure == nil, machine.isUnsettled else { return }
    let begin = SystemClock.monotonic()
    do throws(StoreError) { try store.commit() } catch { return storeFailed(error, at: now) }
    gathering.committed(staged.count, from: begin, to: SystemClock.monotonic())
    persistence.committed(staged)
    forgetStaged()
    retryAt = nil
    if isFull {
      isFull = false
      onDiskFull?(nil)
    }
    happen(.committed, at: now)
    // There is room again: what waited for it is written at once, and not with the next change.
    if machine.retry != nil, !Kernel.makes("vendingForgetsToRetry") { retryAt = now.monotonic }
    noteRoom(at: now)
  }

  private func forgetStaged() {
    staged.removeAll(keepingCapacity: true)
    stagedSince = nil
  }

  // MARK: - The disk

  /// When ``lookForRoom(at:)`` has something to do; nil while there is room.
  public var roomDue: MonotonicTime? { failure == nil ? room.dueAt : nil }

  /// Looks whether there is room again, where a store that is short has been left alone long enough.
  public func lookForRoom(at now: Moment) {
    guard failure == nil, room.takeDue(at: now.monotonic) else { return }
    store.lookForRoom()
    noteRoom(at: now)
  }

  /// Tells the machine what its store has found of room.
  public func noteRoom(at now: Moment) {
    room.note(isShort: store.isShort, at: now.monotonic)
    guard store.isShort != isShort else { return }
    isShort = store.isShort
    onRoom?(isShort)
    happen(.roomChanged(isShort: isShort), at: now)
  }

  /// Nothing is done any more: the store is not what it was, or of no use.
  public func end(because error: StoreError) { if failure == nil { failure = error } }

  private func storeFailed(_ error: StoreError, at now: Moment) {
    switch error {
    case .diskFull: break
    case _ where Kernel.makes("callsEveryErrorAFullDisk"): break
    default: return end(because: error)
    }
    store.rollBack()
    refusals += 1
    forgetStaged()
    retryAt = now.monotonic + retryPause
    if !isFull {
      isFull = true
      onDiskFull?(error)
    }
    happen(.commitRefused, at: now)
    noteRoom(at: now)
  }

  // MARK: - Questions

  /// Reads what is on disk. Nothing may be staged. Nil where the disk has failed.
  /// - Parameter refuse: What is found where the disk has no room for the question: one that sorts what it reads needs room as
  ///   well, and nothing else is wrong then. Without it a full disk is a failure as any other.
  public func read<Found>(
    orRefuse refuse: ((Remark) -> Found)? = nil, _ body: (Persistence) throws(StoreError) -> Found
  ) -> Found? {
    guard failure == nil else { return nil }
    precondition(!machine.isUnsettled, "what is not on disk is for nobody's eyes")
    do throws(StoreError) { return try body(persistence) } catch {
      if case .diskFull(let detail) = error, let refuse { return refuse(detail) }
      end(because: error)
      return nil
    }
  }
}

/// How long a commit waits for more to put into it. Whoever was answered by the last commit is likely to ask again at
/// once, and while the answers are still being written the first of them do. To commit for these few alone would keep
/// all the others waiting for two commits.
/// Invariant: a client that asks one thing after the other never waits; nobody waits longer than a quarter of a commit.
struct CommitGathering {
  /// The longest that a commit is waited with, whatever the disk takes.
  static let longest = TimeSpan.milliseconds(2)

  private var answered = 0
  private var ended = MonotonicTime(nanoseconds: 0)
  private var took = TimeSpan.zero

  /// A commit has answered so many requests.
  mutating func committed(_ requests: Int, from begin: MonotonicTime, to end: MonotonicTime) {
    answered = requests
    ended = end
    // One commit that was slow is not the disk's pace.
    took = TimeSpan(nanoseconds: (3 * took.nanoseconds + end.since(begin).nanoseconds) / 4)
  }

  /// The moment for a transaction of so many requests of which the first came at a moment; the past for at once.
  func due(_ requests: Int, since first: MonotonicTime) -> MonotonicTime {
    let pause = min(TimeSpan(nanoseconds: took.nanoseconds / 4), Self.longest)
    let isExpectingMore = requests < answered && first.since(ended) <= took
    return isExpectingMore ? first + pause : first
  }
}
