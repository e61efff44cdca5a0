// Last events of the bank for dashboards, in a ring buffer.
// Invariants: a shown event keeps its sequence number for the life of this process, and the numbers have no gap. An
// event is shown only after it is on disk.

import BankModel
import QueueCore
import Wire

final class EventRing {
  /// One event for dashboards, such as an issued ticket or the end of an attempt, with numbers instead of names.
  struct Event: Equatable {
    var kind: BoardEvent.Kind
    /// In milliseconds since 1970.
    var time: Int64
    /// 0 for none.
    var ticket: TicketNumber = 0
    /// Last of several ticket numbers; 0 for none.
    var last: TicketNumber = 0
    var service: Service?
    var window: Window?
    /// Process at the window; 0 for none.
    var generation: Generation = 0
    var pid: Int32 = 0
    var end: ProcessEnd?
    var attempt: Int32 = 0
    /// Business day of the event; 0 if the owner of the ring provides none.
    fileprivate(set) var day: BusinessDay = 0
    /// Sequence number among all events.
    fileprivate(set) var sequence: Int64 = 0
  }

  /// Number of stored events, including those not on disk yet.
  private static let size: Int64 = 64

  private var events: [Event]
  /// Sequence number of the last event.
  private var count: Int64 = 0
  /// The highest sequence number that was given, also to a discarded event: that event has overwritten an older one.
  private var highest: Int64 = 0
  /// Sequence number of the last event on disk.
  private var durableSequence: Int64 = 0
  /// Sequence number of the last event of each transaction in flight, oldest first.
  private var sealed: [Int64] = []
  /// Last events on disk while there are viewers; later events may have overwritten them in the ring.
  private var shown: [Event] = []
  /// True while there are viewers.
  var isWatched = false { didSet { if isWatched, !oldValue { copyDurableEvents() } } }

  /// Returns the present business day, which is stored with each event.
  var presentDay: () -> BusinessDay = { 0 }

  init() { events = Array(repeating: Event(kind: .reset, time: 0), count: Int(Self.size)) }

  /// Adds an event, which overwrites the oldest one.
  func append(_ event: consuming Event) {
    count += 1
    highest = max(highest, count)
    event.sequence = count
    event.day = presentDay()
    events[Int(count & (Self.size - 1))] = event
  }

  /// Records a dead letter. Replaces the event of its last failed attempt, if that was the previous event and
  /// is not on disk yet.
  func append(dead event: Event) {
    let index = Int(count & (Self.size - 1))
    if count > durableSequence, events[index].kind == .failed, events[index].ticket == event.ticket {
      let sequence = events[index].sequence
      events[index] = event
      (events[index].sequence, events[index].day) = (sequence, presentDay())
    } else {
      append(event)
    }
  }

  /// After the start of a commit: assigns the events since the previous commit to this transaction.
  func seal() { sealed.append(count) }
  /// After a rollback: events that are not on disk belong to no transaction any more; the next commit confirms them.
  func unseal() { sealed.removeAll() }

  /// Discards events that are not on disk, because their changes were discarded.
  func discardUncommitted() {
    sealed.removeAll()
    count = durableSequence
  }

  /// After a commit: the events of the oldest transaction in flight, or all events if none is in flight, are on disk
  /// and may be shown.
  func confirm() {
    let last = sealed.isEmpty ? count : sealed.removeFirst()
    guard durableSequence != last else { return }
    durableSequence = last
    if isWatched { copyDurableEvents() }
  }

  /// Copies the last events on disk for the viewers, before later events overwrite them.
  private func copyDurableEvents() {
    let first = max(0, durableSequence - Int64(BoardFrame.eventsAtMost), highest - Self.size) + 1
    guard first <= durableSequence else { return }
    shown = (first...durableSequence).map { events[Int($0 & (Self.size - 1))] }
  }

  /// Last events on disk, oldest first.
  var latest: [Event] { shown }
}

extension BoardEvent {
  /// Event for clients.
  ///
  /// - Parameter pid: Process of a generation at a window, if known.
  init(_ event: EventRing.Event, _ directory: ServiceDirectory, pid: (Window, Generation) -> Int32?) {
    self.init(
      sequence: event.sequence, time: event.time, kind: event.kind,
      ticket: event.ticket > 0 ? event.ticket : nil, last: event.last > event.ticket ? event.last : nil,
      service: event.service.map { directory[$0] },
      window: event.window.flatMap { $0.isUnknown ? nil : directory.name(of: $0) },
      pid: event.pid > 0 ? event.pid : event.window.flatMap { pid($0, event.generation) },
      signal: event.end?.exitSignal, code: event.end?.exitCode,
      attempt: event.attempt > 0 ? Int(event.attempt) : nil, day: event.day > 0 ? event.day : nil)
  }
}
