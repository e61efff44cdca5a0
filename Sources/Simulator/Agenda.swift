// Owns the order in which things happen in the simulated world: a binary heap by moment, then by the order of entry.
// It must not know what the entries mean. Invariant: of two entries for one moment the one that was made first comes
// first, so a history is the same every time. There is nothing that can fail.

import Time

/// Something that will happen in the simulated world.
enum Occurrence {
  /// A coordinator is started.
  case coordinatorStart
  /// Somebody who keeps the stock does the next thing.
  case keeperActs(Int)
  /// Somebody at the vending machine does the next thing.
  case visitorActs(Int)
  /// A client does the next thing on its mind.
  case clientActs(Int)
  /// A process gets back what it had run out of.
  case relief(pid: Int32)
  /// Something goes wrong.
  case fault
  /// Something goes wrong with the guardian, or the coordinator that it guards.
  case guardFault
  /// Nothing goes wrong from now on.
  case calm
  /// A client asks for what it was told to ask for.
  case clientMeddles(Int)
  /// The coordinator is killed.
  case coordinatorEnds
  /// The bank has ended, and everybody has heard it.
  case end
}

/// What is going to happen, the earliest first.
struct Agenda<Occurrence> {
  private struct Entry {
    var moment: MonotonicTime
    var order: UInt64
    var occurrence: Occurrence
  }

  private var entries: [Entry] = []
  private var order: UInt64 = 0

  /// Enters something for a moment.
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

  /// When the first entry is due; nil when there is none.
  var nextMoment: MonotonicTime? { entries.first?.moment }

  /// Takes the first entry out; nil when there is none.
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
      for child in [2 * parent + 1, 2 * parent + 2]
      where child < entries.count && comesBefore(child, least) {
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
