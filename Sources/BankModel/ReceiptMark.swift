// Position of a receipt among the receipts of one branch of a shared bank. A client that follows the receipts
// of all branches keeps one for each of them, in order to continue after it.
// Invariant: of two receipts of one branch, both of attended or both of cancelled customers, the later one
// has the higher mark. After a mark was visible, no receipt with a lower one of the same kind is written.
// Branches finish customers over one connection and cancel over another, so between the two kinds the order
// of the marks is not the order of visibility.

/// Position of a receipt among those of one branch. There is no position over all branches, because they
/// commit concurrently. A sequence number of the database can become visible before a lower one, and a client
/// that continued after it would miss the lower one.
public struct ReceiptMark: Hashable, Sendable, Codable {
  /// Number of the branch.
  public var branch: Int64
  /// Epoch of the branch, and the number of the commit in it. For receipts moved here from another bank, the
  /// position in that bank's commit order.
  public var epoch, commit: Int64
  /// Ticket number: it orders the receipts of one commit.
  public var ticket: TicketNumber
  /// True for the receipt of a cancelled customer.
  public var isCancelled: Bool

  public init(
    branch: Int64, epoch: Int64, commit: Int64, ticket: TicketNumber, isCancelled: Bool = false
  ) {
    (self.branch, self.epoch, self.commit, self.ticket) = (branch, epoch, commit, ticket)
    self.isCancelled = isCancelled
  }

  /// True if the two marks are comparable: of the same branch and the same kind.
  public func isOfSameOrder(as other: ReceiptMark) -> Bool {
    branch == other.branch && isCancelled == other.isCancelled
  }

  enum CodingKeys: Int, CodingKey {
    case branch = 1
    case epoch, commit, ticket, isCancelled
  }
}
