// Schedule of the simulated world: a binary heap by time, then by the order of insertion.
// Invariant: entries for the same time are returned in the order of insertion, so that a seed repeats its history.
import BankModel
import Time

/// An event that the simulated world has scheduled for a time.
enum ScheduledEvent {
  /// The next coordinator starts.
  case coordinatorStart
  /// A client of the stock, of the vending machine or of the coordinator chooses its next action.
  case stockOperatorActs(Int)
  case vendingUserActs(Int)
  case clientActs(Int)
  /// A process gets free descriptors again, or continues after it was stopped.
  case descriptorsRestored(pid: Int32)
  /// A fault of a kind that the plan draws.
  case fault
  /// A fault of the guardian, or of the coordinator that it guards.
  case guardFault
  /// The faults end.
  case calm
  /// A client sends the requests that a fault has scheduled.
  case clientSendsFaultRequests(Int)
  /// The coordinator is killed when the stock has answered that fruit was returned.
  case coordinatorKillDue
  /// An outside worker starts, or a fault hits an external worker.
  case externalWorkerConnects(Int)
  case externalWorkerFault
  /// A fault hits a command or its runner.
  case commandFault
  /// The history ends.
  case end
}

/// Priority queue of scheduled events.
struct EventQueue<ScheduledEvent> {
  private struct Entry {
    var moment: MonotonicTime
    var order: UInt64
    var scheduled: ScheduledEvent
  }

  private var entries: [Entry] = []
  private var order: UInt64 = 0

  mutating func add(_ scheduled: ScheduledEvent, at moment: MonotonicTime) {
    order += 1
    entries.append(Entry(moment: moment, order: order, scheduled: scheduled))
    var child = entries.count - 1
    while child > 0 {
      let parent = (child - 1) / 2
      guard comesBefore(child, parent) else { break }
      entries.swapAt(child, parent)
      child = parent
    }
  }

  /// Time of the earliest entry; nil if there is none.
  var nextMoment: MonotonicTime? { entries.first?.moment }

  /// Removes and returns the earliest entry; nil if there is none.
  mutating func next() -> (moment: MonotonicTime, occurrence: ScheduledEvent)? {
    guard let first = entries.first else { return nil }
    let last = entries.removeLast()
    if !entries.isEmpty {
      entries[0] = last
      sink()
    }
    return (first.moment, first.scheduled)
  }

  /// Moves the entry at the root of the heap down to its place.
  private mutating func sink() {
    var parent = 0
    while true {
      var least = parent
      for child in [2 * parent + 1, 2 * parent + 2] where child < entries.count && comesBefore(child, least) {
        least = child
      }
      guard least != parent else { return }
      entries.swapAt(parent, least)
      parent = least
    }
  }

  /// True if the entry at the first index is due before the one at the second index.
  private func comesBefore(_ left: Int, _ right: Int) -> Bool {
    let (first, second) = (entries[left], entries[right])
    return first.moment == second.moment ? first.order < second.order : first.moment < second.moment
  }
}

/// Time in the simulated world: one monotonic clock, and a calendar that may jump.
/// Invariant: the monotonic clock never goes back.
struct VirtualClock {
  private(set) var now = MonotonicTime(nanoseconds: 1_000_000_000)
  /// The calendar's time when the monotonic clock was zero, in milliseconds since 1970.
  private var calendarOrigin: Int64 = 1_700_000_000_000

  var moment: Moment {
    Moment(monotonic: now, wall: WallTime(milliseconds: calendarOrigin + now.nanoseconds / 1_000_000))
  }

  /// Moves the monotonic clock forward; does nothing if the time has passed.
  mutating func advance(to moment: MonotonicTime) { now = max(now, moment) }
  /// Sets the calendar forward or back by a number of milliseconds.
  mutating func jump(byMilliseconds span: Int64) { calendarOrigin += span }
}
