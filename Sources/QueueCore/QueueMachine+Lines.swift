// Indices of the lines in memory, and the limit on their number.
// Invariant: a line keeps its index while it has customers or newcomers. After that, the index may be given to another
// line, so that a queue with very many priorities needs little more memory than one with `maxLines` lines.

import BankModel

extension QueueMachine {
  /// Returns the index of a line. A line without an index gets one.
  mutating func index(of line: Line) -> Int {
    if let known = dayCounters.waiting.known(line) { return known }
    let place: Int
    if !line.priority.isGrade, givenLines >= policy.maxLines, let vacant = vacantPlaces.first {
      dayCounters.waiting.give(vacant, to: line)
      place = vacant
    } else {
      place = dayCounters.waiting.place(of: line)
    }
    let version = place < lines.count ? lines[place].version &+ 1 : 0
    let empty = WaitingLine(stored: 0, capacity: policy.capacity(ofLineAt: place), version: version)
    if place < lines.count { lines[place] = empty } else { lines.append(empty) }
    return place
  }

  /// Returns the refusal of new customers that would need more lines than `maxLines`, or nil if they fit.
  public func refusal(ofLinesOf orders: [CustomerOrder]) -> QueueRefusal? {
    var new: Set<Line> = []
    for order in orders where !order.priority.isGrade {
      let line = Line(service: order.service, priority: order.priority)
      if dayCounters.waiting.known(line) == nil { new.insert(line) }
    }
    guard !new.isEmpty else { return nil }
    // The new lines of a request in progress get their indices only with its last slice.
    for line in arriving?.byLine.lines ?? []
    where !line.priority.isGrade && dayCounters.waiting.known(line) == nil {
      new.insert(line)
    }
    let room = policy.maxLines - givenLines
    guard new.count > room, new.count > room + vacantPlaces.count else { return nil }
    return .tooManyLines(limit: policy.maxLines)
  }

  /// Number of lines whose priority is not a grade.
  private var givenLines: Int { dayCounters.waiting.lines.count - dayCounters.waiting.gradedCount }

  /// Indices of lines without a grade that have no customers and no page being loaded.
  private var vacantPlaces: [Int] {
    lines.indices.filter {
      !dayCounters.waiting.lines[$0].priority.isGrade && dayCounters.waiting[$0] == 0 && lines[$0].isVacant
    }
  }
}
