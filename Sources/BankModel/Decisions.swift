// Owns what the machines of all services have in common, and their stores: an event and a moment go in, effects come out, and
// what was decided counts when it is on disk. It knows no machine and no store.
// Invariant: a machine hears of every commit of what it has staged, and of every one that was refused.

import Time

/// What a machine hears of its store.
public protocol StoreEvents {
  /// Everything that was staged is on disk.
  static var committed: Self { get }
  /// The disk is full: everything that was staged since the last commit is gone.
  static var commitRefused: Self { get }
  /// The store begins to live on what was held back, or has room again.
  static func roomChanged(isShort: Bool) -> Self
}

/// The rules of a service, as the process around them sees them.
public protocol Decisions<Event, Effect> {
  /// What can happen.
  associatedtype Event: StoreEvents
  /// What follows from it.
  associatedtype Effect

  /// Lets one event happen at a moment. Effects are appended and are to be performed in order.
  mutating func apply(_ event: Event, at now: WallTime, into effects: inout [Effect])

  /// The number by which what is kept tells itself from everything else of its kind.
  var identity: Int64 { get }
  /// Whether something was decided that is not on disk.
  var isUnsettled: Bool { get }
  /// The last change that is on disk.
  var settledSequence: Int64 { get }
  /// What is to happen so that everything is staged again that a full disk has kept from being written; nil while there is
  /// nothing of that kind.
  var retry: Event? { get }
}

extension Decisions {
  /// Whatever a full disk has refused is asked for again by those who were refused.
  public var retry: Event? { nil }
}

/// Keeps what a machine has decided. One user at a time; every call is synchronous.
/// Invariant of every store: after an error nothing that was staged since the last commit is kept.
public protocol EntryStore<Entry, Failure>: AnyObject {
  /// What is written for one decision.
  associatedtype Entry
  /// How this store fails.
  associatedtype Failure: Error

  /// Adds to the open transaction. What is staged is visible to every question after it.
  func stage(_ entry: Entry) throws(Failure)

  /// Whether anything was staged since the last commit.
  var hasStagedChanges: Bool { get }

  /// Returns when everything that was staged is on disk.
  func commit() throws(Failure)
  /// Forgets everything that was staged since the last commit.
  func rollBack()

  /// Whether there is so little room that only what was begun is to be finished.
  var isShort: Bool { get }

  /// Looks whether there is room again; ``isShort`` says what was found.
  func lookForRoom()
}

extension EntryStore {
  /// A store that holds no room back is never short of it.
  public var isShort: Bool { false }
  /// There is nothing to look for.
  public func lookForRoom() {}
}
