// Common protocols of the state machines of the service processes and of their stores. A machine receives an event
// and a time, and returns effects. A decision is final when it is on disk.

import Time

/// Events about its store that a machine receives.
public protocol StoreEvents {
  /// All staged changes are on disk.
  static var committed: Self { get }
  /// The disk is full: the store has dropped all changes staged since the last commit.
  static var commitRefused: Self { get }
  /// Event: the store starts to use its reserve of disk space (true), or has free space again (false).
  static func roomChanged(isLowOnSpace: Bool) -> Self
}

/// State machine of a service process: decides requests, without clock, disk and socket.
public protocol PureStateMachine<Event, Effect> {
  /// Input of the machine, such as a request or the end of a commit.
  associatedtype Event: StoreEvents
  /// Order of the machine to its caller, such as to store an entry or to send an answer.
  associatedtype Effect

  /// Handles one event at a point in time. Appends effects, which the caller performs in order.
  mutating func apply(_ event: Event, at now: WallTime, into effects: inout [Effect])

  /// Number that identifies the stored data.
  var identity: Int64 { get }
  /// True if a decision is not on disk yet.
  var hasUncommittedChanges: Bool { get }
  /// Sequence number of the last change that is on disk.
  var durableSequence: Int64 { get }
  /// Event that stages changes again after a full disk has refused them; nil if there is nothing to stage.
  var retry: Event? { get }
}

extension PureStateMachine {
  /// Nil: nothing is staged again.
  public var retry: Event? { nil }
}

/// Store of a machine's decisions, for one caller at a time. Calls are synchronous.
/// Invariant: after an error, no change staged since the last commit is kept.
public protocol EntryStore<Entry, Failure>: AnyObject {
  /// Record of one decision.
  associatedtype Entry
  /// Error of the store.
  associatedtype Failure: Error

  /// Adds an entry to the open transaction. Later queries see it.
  func stage(_ entry: Entry) throws(Failure)

  /// True if entries were staged since the last commit.
  var hasStagedChanges: Bool { get }

  /// Commits the staged entries, and returns when they are on disk.
  func commit() throws(Failure)
  /// Discards all entries staged since the last commit.
  func rollBack()

  /// True if disk space is so short that only work in progress may be finished.
  var isLowOnSpace: Bool { get }

  /// Checks for free disk space and updates ``isLowOnSpace``.
  func refreshDiskSpace()
}

extension EntryStore {
  /// False, for a store without a reserve.
  public var isLowOnSpace: Bool { false }
  /// Does nothing, for a store without a reserve.
  public func refreshDiskSpace() {}
}
