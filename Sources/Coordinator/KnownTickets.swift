// Owns the tickets of those customers of a list whose keys were known: so many of them that memory is bounded, as
// spans of consecutive numbers. It knows no store. Invariant: every ticket that was added is in a span; there are at most
// `TicketSpan.limit` spans, and beyond it the last one also holds tickets that were not added.

import QueueCore
import Wire

/// Tickets that were there already.
struct KnownTickets {
  private var spans: [TicketSpan] = []

  /// Adds the tickets of one key.
  mutating func add(_ tickets: IssuedTickets) {
    let new = TicketSpan(day: tickets.day, first: tickets.first, last: tickets.last)
    // Mostly a list is repeated in its order, and the next customer has the next number.
    if let last = spans.last, let joined = last.joined(with: new) { return spans[spans.count - 1] = joined }
    spans.append(new)
    if spans.count > TicketSpan.limit { pack() }
  }

  /// The spans in the order of days and numbers; nil where there is none.
  var report: [TicketSpan]? {
    guard !spans.isEmpty else { return nil }
    var packed = self
    packed.pack()
    return packed.spans
  }

  /// Sorts the spans and joins what belongs together; too many that do not are joined all the same, day by day.
  private mutating func pack() {
    spans.sort { ($0.day, $0.first) < ($1.day, $1.first) }
    var packed: [TicketSpan] = []
    for span in spans {
      guard let last = packed.last else {
        packed.append(span)
        continue
      }
      if let joined = last.joined(with: span) {
        packed[packed.count - 1] = joined
      } else if packed.count < TicketSpan.limit / 2 || last.day != span.day {
        packed.append(span)
      } else {
        packed[packed.count - 1].last = max(last.last, span.last)
      }
    }
    // Of so many days the latest count: everybody of a day that is over has a receipt.
    spans = packed.suffix(TicketSpan.limit)
  }
}

extension TicketSpan {
  /// Both spans as one where no number lies between them; nil otherwise.
  fileprivate func joined(with other: TicketSpan) -> TicketSpan? {
    guard day == other.day, other.first <= last + 1, first <= other.last + 1 else { return nil }
    return TicketSpan(day: day, first: min(first, other.first), last: max(last, other.last))
  }
}
