// First customers of several lines, by number: a merge of the heads of the lines, without sorting.
// Invariant: at most one number more is read from a line than is returned of this line.

import BankModel

/// Iterator over the ticket numbers of a line. It returns nil at the end of the line.
typealias TicketIterator = () -> TicketNumber?

/// Merges the ticket numbers of several lines.
///
/// - Parameter lines: iterators, each in ascending order.
/// - Parameter limit: maximum number of results, at least 0.
/// - Returns: the numbers in ascending order, each with the index of its line in `lines`.
func firstNumbers(of lines: [TicketIterator], limit: Int) -> [(ticket: TicketNumber, line: Int)] {
  guard limit > 0 else { return [] }
  var heads = LineHeadHeap()
  for place in lines.indices {
    if let ticket = lines[place]() { heads.push(LineHeadHeap.LineHead(ticket: ticket, line: place)) }
  }
  var first: [(ticket: TicketNumber, line: Int)] = []
  while first.count < limit, let head = heads.first {
    first.append((head.ticket, head.line))
    guard first.count < limit else { break }
    if let next = lines[head.line]() {
      heads.replaceFirst(with: LineHeadHeap.LineHead(ticket: next, line: head.line))
    } else {
      heads.removeFirst()
    }
  }
  return first
}

private struct LineHeadHeap {
  /// The smallest ticket number of a line that was not returned yet.
  struct LineHead {
    var ticket: TicketNumber
    var line: Int
  }

  private var heads: [LineHead] = []
  /// The smallest head; nil if the heap is empty.
  var first: LineHead? { heads.first }

  mutating func push(_ head: LineHead) {
    heads.append(head)
    var place = heads.count - 1
    while place > 0, heads[place].ticket < heads[(place - 1) / 2].ticket {
      heads.swapAt(place, (place - 1) / 2)
      place = (place - 1) / 2
    }
  }

  mutating func replaceFirst(with head: LineHead) {
    heads[0] = head
    sink()
  }

  mutating func removeFirst() {
    let last = heads.removeLast()
    if !heads.isEmpty { replaceFirst(with: last) }
  }

  /// Restores the heap order after the root was replaced.
  private mutating func sink() {
    var place = 0
    while true {
      var least = place
      for child in [2 * place + 1, 2 * place + 2] where child < heads.count {
        if heads[child].ticket < heads[least].ticket { least = child }
      }
      guard least != place else { return }
      heads.swapAt(place, least)
      place = least
    }
  }
}
