// Owns a long answer that is sent page by page: where it goes on, and whether it ever ends.
// It knows no socket and no store. A slow reader holds nothing up, because the next page is only made when the
// one before has left.

import BankModel
import QueueCore
import Wire

/// A long answer.
enum AnswerStream {
  /// Receipts behind a place in the order of commits; with `follow` it goes on with those still to come.
  case receipts(day: BusinessDay?, after: Int64, follow: Bool)
  /// Customers of several states, one state after the other.
  case tickets(states: [CustomerState], cursor: TicketCursor?)

  /// Whether it goes on with what is still to come.
  var isFollowing: Bool { if case .receipts(_, _, true) = self { true } else { false } }

  /// Entries on one page.
  static let page = 500
}
