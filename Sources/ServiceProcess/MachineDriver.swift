// Driver of a service's state machine and its store. Effects are performed in order. The changes of a loop iteration
// are usually one commit.
// Invariant: an answer that depends on a change is sent after the change was fsynced. If the disk is full, all
// changes since the last commit are rolled back and refused. A change that no client can repeat is written when the
// disk has space again. After any other disk error the process has to end, because the contents of the disk are
// unknown.

import BankModel
import Posix
import QueueCore
import Time

/// Step of the driver for one effect of the machine: stage an entry, answer a request, or pass the next event.
public enum EffectStep<Event, Entry, Answer> {
  /// The next event for the machine, made from a result of the store.
  case event(Event)
  /// An entry for the next commit. The machine gives the answers that depend on it only after that commit.
  case stage(Entry)
  /// An answer to a request.
  case reply(UInt64, Answer)
  /// An effect that the service performs, not the driver.
  case serviceEffect
}

/// Store of a service, as the driver uses it.
public protocol ServicePersistence: AnyObject {
  associatedtype Event: StoreEvents
  associatedtype Effect
  associatedtype Entry
  associatedtype Answer

  /// Store that receives all entries.
  var store: any EntryStore<Entry, StoreError> { get }
  /// Translates an effect of the machine into a step of the driver.
  func step(for effect: Effect) throws(StoreError) -> EffectStep<Event, Entry, Answer>
  /// Receives the entries of a commit that is on disk.
  func committed(_ entries: [Entry])
}

/// Applies events to a state machine, performs their effects and commits changes to the store.
public final class MachineDriver<Machine: PureStateMachine, Persistence: ServicePersistence>
where Machine.Event == Persistence.Event, Machine.Effect == Persistence.Effect {
  /// Number of entries at which a commit does not wait for the end of the iteration.
  private var longestCommit: Int { 4_096 }
  /// Pause before changes for which the disk had no space are written again.
  private var retryPause: TimeSpan { .milliseconds(500) }

  /// Called with the number of a request and the machine's answer to it.
  public var onReply: ((UInt64, Persistence.Answer) -> Void)?
  /// Called with each effect that the service performs itself.
  public var onEffect: ((Machine.Effect) -> Void)?
  /// Called with the error when the disk is full, and with nil after the next commit that succeeds.
  public var onDiskFull: ((StoreError?) -> Void)?
  /// Called with true when the store starts to use its reserve, and with false when the disk has free space again.
  public var onSpaceChange: ((_ isShort: Bool) -> Void)?
  /// Disk error that ends the service. The driver ignores all events after it.
  public private(set) var failure: StoreError?
  /// The state machine.
  public private(set) var machine: Machine
  /// The store, with the data read from it.
  public let persistence: Persistence

  private let store: any EntryStore<Persistence.Entry, StoreError>
  /// Entries of the open transaction.
  private var staged: [Persistence.Entry] = []
  /// Time at which the first entry of the open transaction was staged.
  private var stagedSince: MonotonicTime?
  private var groupCommit = GroupCommit()
  /// Time at which refused changes that no client can repeat are written again.
  private var retryAt: MonotonicTime?
  private var isFull = false
  /// Number of times that a full disk has refused the staged entries.
  private var refusals = 0
  private var spaceMonitor = DiskSpaceMonitor()
  private var isLowOnSpace = false

  /// Combines a machine and its store. The machine was loaded from the store.
  public init(_ persistence: Persistence, _ machine: Machine) {
    self.persistence = persistence
    self.machine = machine
    store = persistence.store
  }

  // MARK: - Events

  /// Handles an event and performs its effects.
  public func process(_ event: Machine.Event, at now: Moment) {
    guard failure == nil else { return }
    let before = refusals
    var effects: [Machine.Effect] = []
    machine.apply(event, at: now.wall, into: &effects)
    for effect in effects {
      guard failure == nil else { return }
      perform(effect, isRolledBack: refusals != before, at: now)
    }
    if staged.count >= longestCommit { commit(at: now) }
  }

  /// Performs one effect of an event. `isRolledBack` is true if the machine has undone the event.
  private func perform(_ effect: Machine.Effect, isRolledBack: Bool, at now: Moment) {
    do throws(StoreError) {
      switch try persistence.step(for: effect) {
      case .event(let event): process(event, at: now)
      case .stage(let entry):
        // The disk was found to be full during this event, and the machine has undone the event. Its remaining
        // entries are not written either.
        if isRolledBack { return }
        try store.stage(entry)
        staged.append(entry)
        if stagedSince == nil { stagedSince = now.monotonic }
      case .reply(let request, let answer): onReply?(request, answer)
      case .serviceEffect: onEffect?(effect)
      }
    } catch { storeFailed(error, at: now) }
  }

  // MARK: - Commits

  /// Time of the next ``commit(at:)``; nil if none is needed, or after a failure.
  public var commitDue: MonotonicTime? {
    guard failure == nil else { return nil }
    guard machine.hasUncommittedChanges else { return machine.retry == nil ? nil : retryAt }
    return stagedSince.map { groupCommit.due(staged.count, since: $0) } ?? MonotonicTime(nanoseconds: 0)
  }

  /// Commits all staged entries, and sends the answers that depend on them. Refused changes that no client can repeat
  /// are staged first.
  public func commit(at now: Moment) {
    guard failure == nil else { return }
    if let retry = machine.retry { process(retry, at: now) }
    guard failure == nil, machine.hasUncommittedChanges else { return }
    let begin = SystemClock.monotonic()
    do throws(StoreError) { try store.commit() } catch { return storeFailed(error, at: now) }
    groupCommit.committed(staged.count, from: begin, to: SystemClock.monotonic())
    persistence.committed(staged)
    discardStaged()
    retryAt = nil
    if isFull {
      isFull = false
      onDiskFull?(nil)
    }
    process(.committed, at: now)
    // The disk has space again, so the changes that waited for it are written without another delay.
    if machine.retry != nil, !Mutant.vendingDoesNotRetryWrite.isActive { retryAt = now.monotonic }
    noteDiskSpace(at: now)
  }

  /// Forgets the staged entries, which are on disk or were rolled back.
  private func discardStaged() {
    staged.removeAll(keepingCapacity: true)
    stagedSince = nil
  }

  // MARK: - The disk

  /// Time of the next useful ``refreshDiskSpace(at:)``; nil while the disk has space, or after a failure.
  public var spaceCheckDue: MonotonicTime? { failure == nil ? spaceMonitor.dueAt : nil }

  /// Checks for free space, at most once per pause while the store is short of it.
  public func refreshDiskSpace(at now: Moment) {
    guard failure == nil, spaceMonitor.takeDue(at: now.monotonic) else { return }
    store.refreshDiskSpace()
    noteDiskSpace(at: now)
  }

  /// Passes the result of the store's last check for free space to the machine.
  public func noteDiskSpace(at now: Moment) {
    spaceMonitor.note(isLowOnSpace: store.isLowOnSpace, at: now.monotonic)
    guard store.isLowOnSpace != isLowOnSpace else { return }
    isLowOnSpace = store.isLowOnSpace
    onSpaceChange?(isLowOnSpace)
    process(.roomChanged(isLowOnSpace: isLowOnSpace), at: now)
  }

  /// Makes the driver ignore all later events, because the store is damaged or unusable. The first error is kept.
  public func end(because error: StoreError) { if failure == nil { failure = error } }

  /// Rolls back the staged changes after a full disk. After any other error, ends the service.
  private func storeFailed(_ error: StoreError, at now: Moment) {
    switch error {
    case .diskFull: break
    default: return end(because: error)
    }
    store.rollBack()
    refusals += 1
    discardStaged()
    retryAt = now.monotonic + retryPause
    if !isFull {
      isFull = true
      onDiskFull?(error)
    }
    process(.commitRefused, at: now)
    noteDiskSpace(at: now)
  }

  // MARK: - Queries

  /// Reads committed data. Returns nil if the disk has failed; if it is full, the result of `refuse`. Traps if the
  /// machine has changes that are not committed.
  /// - Parameter refuse: makes the result of a query that fails because the disk is full. A query that sorts its rows
  ///   needs disk space, and its failure does not make the store unusable. If `refuse` is nil, a full disk ends the
  ///   service like any other disk error.
  public func read<Found>(
    orRefuse refuse: ((MessageDetail) -> Found)? = nil, _ body: (Persistence) throws(StoreError) -> Found
  ) -> Found? {
    guard failure == nil else { return nil }
    precondition(!machine.hasUncommittedChanges, "only data on disk is shown")
    do throws(StoreError) { return try body(persistence) } catch {
      if case .diskFull(let detail) = error, let refuse { return refuse(detail) }
      end(because: error)
      return nil
    }
  }
}

/// Delay of a commit in order to collect the entries of more requests. A client that was answered by the last commit is
/// likely to send its next request soon, and the first of these requests arrive while the service still writes the
/// remaining answers. A commit for these few requests would make all other clients wait for two commits.
/// Invariant: the delay is at most a quarter of the average duration of a commit. There is no delay if as many entries
/// are staged as the last commit had.
struct GroupCommit {
  /// Longest delay.
  static let longest = TimeSpan.milliseconds(2)

  /// Number of entries of the last commit.
  private var answered = 0
  private var ended = MonotonicTime(nanoseconds: 0)
  /// Average duration of commits.
  private var took = TimeSpan.zero

  /// Records the size and the duration of a commit, from which the next delay is computed.
  mutating func committed(_ requests: Int, from begin: MonotonicTime, to end: MonotonicTime) {
    answered = requests
    ended = end
    // One slow commit does not show the speed of the disk.
    took = TimeSpan(nanoseconds: (3 * took.nanoseconds + end.since(begin).nanoseconds) / 4)
  }

  /// Time of the commit for `requests` staged entries, the first of which was staged at `first`; it may have passed.
  func due(_ requests: Int, since first: MonotonicTime) -> MonotonicTime {
    let pause = min(TimeSpan(nanoseconds: took.nanoseconds / 4), Self.longest)
    let isExpectingMore = requests < answered && first.since(ended) <= took
    return isExpectingMore ? first + pause : first
  }
}
