// Owns where the customers of a line stand in memory, and how many lines there may be.
// Invariant: a line has its place for as long as anybody waits in it, or is about to: the place of another may then be its
// own. So a queue in which every customer has a priority of its own takes no more memory than one of `maxLines`.

import BankModel

extension QueueMachine {
  /// The place of a line, which has one from here on.
  mutating func index(of line: Line) -> Int {
    if let known = books.waiting.known(line) { return known }
    let place: Int
    if !line.priority.isGrade, givenLines >= policy.maxLines, let vacant = vacantPlaces.first {
      books.waiting.give(vacant, to: line)
      place = vacant
    } else {
      place = books.waiting.place(of: line)
    }
    let version = place < lines.count ? lines[place].version &+ 1 : 0
    let empty = WaitingLine(stored: 0, capacity: policy.capacity(ofLineAt: place), version: version)
    if place < lines.count { lines[place] = empty } else { lines.append(empty) }
    return place
  }

  /// Why these customers, who come next, cannot be taken in: they would stand in more lines than there may be.
  public func refusal(ofLinesOf orders: [CustomerOrder]) -> QueueRefusal? {
    var new: Set<Line> = []
    for order in orders where !order.priority.isGrade {
      let line = Line(service: order.service, priority: order.priority)
      if books.waiting.known(line) == nil { new.insert(line) }
    }
    guard !new.isEmpty else { return nil }
    // What has come of a large request has no place yet.
    for line in arriving?.byLine.lines ?? [] where !line.priority.isGrade && books.waiting.known(line) == nil
    {
      new.insert(line)
    }
    let room = policy.maxLines - givenLines
    guard new.count > room, new.count > room + vacantPlaces.count else { return nil }
    return .tooManyLines(limit: policy.maxLines)
  }

  /// Lines that are not those of the grades.
  private var givenLines: Int { books.waiting.lines.count - books.waiting.gradedCount }

  /// Places of lines in which nobody is, and of which no page is on its way.
  private var vacantPlaces: [Int] {
    lines.indices.filter {
      !books.waiting.lines[$0].priority.isGrade && books.waiting[$0] == 0 && lines[$0].isVacant
    }
  }
}
