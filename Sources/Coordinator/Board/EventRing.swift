// Owns the last things that happened in the branch, as a board shows them. It knows no client and no disk: it is told what
// happens, and when everything that has happened is on disk.
// Invariants: an event has its number for the life of this process, and they have no gap; nobody is shown one that is not on
// disk; whoever looks for the first time sees the last ones. An event costs a few words of memory that are used again.

import BankModel
import QueueCore
import Wire

final class EventRing {
  /// An event as it is remembered: numbers alone.
  struct Event: Equatable {
    var kind: BoardEvent.Kind
    /// In milliseconds since 1970.
    var time: Int64
    /// 0 for none.
    var ticket: TicketNumber = 0
    var last: TicketNumber = 0
    var service: Service?
    var window: Window?
    /// Of the process at the window; 0 for none.
    var generation: Generation = 0
    var pid: Int32 = 0
    var end: ProcessEnd?
    var attempt: Int32 = 0
    /// The business day on which it happened; 0 if the owner of the ring tells none.
    fileprivate(set) var day: BusinessDay = 0
    /// Its place among all events.
    fileprivate(set) var sequence: Int64 = 0
  }

  /// As many are remembered: those that may not be shown yet are among them.
  private static let size: Int64 = 64

  private var events: [Event]
  private var count: Int64 = 0
  /// Those up to here are on disk.
  private var certain: Int64 = 0
  /// Up to where they are on their way to the disk, by transaction, the oldest first.
  private var sealed: [Int64] = []
  /// The last ones that are on disk, where somebody looks: the ring may be full of others before they are wanted.
  private var shown: [Event] = []
  /// Whether somebody looks.
  var isWatched = false { didSet { if isWatched, !oldValue { keepCertain() } } }

  /// Tells the present business day, which an event keeps.
  var presentDay: () -> BusinessDay = { 0 }

  init() { events = Array(repeating: Event(kind: .reset, time: 0), count: Int(Self.size)) }

  func append(_ event: consuming Event) {
    count += 1
    event.sequence = count
    event.day = presentDay()
    events[Int(count & (Self.size - 1))] = event
  }

  /// A customer is put aside. That the last attempt failed was said just before, and is said with it.
  func append(dead event: Event) {
    let place = Int(count & (Self.size - 1))
    if count > certain, events[place].kind == .failed, events[place].ticket == event.ticket {
      let sequence = events[place].sequence
      events[place] = event
      (events[place].sequence, events[place].day) = (sequence, presentDay())
    } else {
      append(event)
    }
  }

  /// Everything that has happened is on its way to the disk.
  func seal() { sealed.append(count) }
  /// Nothing is on its way any more: it goes there with what happens next.
  func unseal() { sealed.removeAll() }

  /// What is not on disk never will be.
  func forgetUncertain() {
    sealed.removeAll()
    count = certain
  }

  /// What was on its way longest is on disk; everything that has happened where nothing was.
  func confirm() {
    let last = sealed.isEmpty ? count : sealed.removeFirst()
    guard certain != last else { return }
    certain = last
    if isWatched { keepCertain() }
  }

  private func keepCertain() {
    let first = max(0, certain - Int64(BoardFrame.eventsAtMost), count - Self.size) + 1
    guard first <= certain else { return }
    shown = (first...certain).map { events[Int($0 & (Self.size - 1))] }
  }

  /// The last ones that are on disk, the oldest first.
  var latest: [Event] { shown }
}

extension BoardEvent {
  /// An event as clients see it.
  ///
  /// - Parameter pid: the process of a generation at a window, where somebody knows it.
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
