// Owns the order in which things happen in the simulated world: a binary heap by moment, then by the order of entry.
// It must not know what the entries mean. Invariant: of two entries for one moment the one that was made first comes
// first, so a history is the same every time. There is nothing that can fail.
import BankModel
import Time

enum Occurrence {
  case coordinatorStart
  case keeperActs(Int)
  case visitorActs(Int)
  case clientActs(Int)
  /// A process gets back what it had run out of.
  case relief(pid: Int32)
  case fault
  /// Something goes wrong with the guardian, or the coordinator that it guards.
  case guardFault
  case calm
  /// A client asks for what it was told to ask for.
  case clientMeddles(Int)
  case coordinatorEnds
  /// A worker comes by itself, or something is wrong with one that is there.
  case foreignerComes(Int)
  case foreignFault
  /// Something is wrong with a command, or with whoever runs it.
  case commandFault
  /// The bank has ended, and everybody has heard it.
  case end
}

struct Agenda<Occurrence> {
  private struct Entry {
    var moment: MonotonicTime
    var order: UInt64
    var occurrence: Occurrence
  }

  private var entries: [Entry] = []
  private var order: UInt64 = 0

  mutating func add(_ occurrence: Occurrence, at moment: MonotonicTime) {
    order += 1
    entries.append(Entry(moment: moment, order: order, occurrence: occurrence))
    var child = entries.count - 1
    while child > 0 {
      let parent = (child - 1) / 2
      guard comesBefore(child, parent) else { break }
      entries.swapAt(child, parent)
      child = parent
    }
  }

  var nextMoment: MonotonicTime? { entries.first?.moment }

  mutating func next() -> (moment: MonotonicTime, occurrence: Occurrence)? {
    guard let first = entries.first else { return nil }
    let last = entries.removeLast()
    if !entries.isEmpty {
      entries[0] = last
      sink()
    }
    return (first.moment, first.occurrence)
  }

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

  private func comesBefore(_ left: Int, _ right: Int) -> Bool {
    let (first, second) = (entries[left], entries[right])
    return first.moment == second.moment ? first.order < second.order : first.moment < second.moment
  }
}

/// The time of the simulated world: one clock that only moves forward, and a calendar that may jump. It must
/// not know what happens at any moment. Nothing here reads a clock of the machine, so a history takes as long
/// as it takes to compute. Invariant: the forward clock never goes back. There is nothing that can fail.
struct VirtualClock {
  private(set) var now = MonotonicTime(nanoseconds: 1_000_000_000)
  /// The calendar's reading when the forward clock stood at zero, in milliseconds since 1970.
  private var calendarOrigin: Int64 = 1_700_000_000_000

  var moment: Moment {
    Moment(monotonic: now, wall: WallTime(milliseconds: calendarOrigin + now.nanoseconds / 1_000_000))
  }

  mutating func advance(to moment: MonotonicTime) { now = max(now, moment) }
  /// Somebody sets the calendar: it jumps by so many milliseconds, forward or back.
  mutating func jump(byMilliseconds span: Int64) { calendarOrigin += span }
}
