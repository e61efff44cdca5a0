// Position of a receipt among the receipts of one branch of a shared bank. The receipts of a branch are of two kinds:
// those of customers that a worker finished, and those of cancelled customers. A client that follows the receipts of
// all branches stores the last position of each branch and kind, and continues after these positions.
// Invariant: after a position has become visible, the branch writes no receipt of this kind with a lower position.
// A branch finishes customers over one connection and cancels customers over another. So receipts of different kinds
// may become visible in another order than that of their positions.

/// Position of a receipt among those of one branch. There is no position over all branches, because branches commit
/// concurrently: a receipt could become visible before a receipt with a lower sequence number of the database. A
/// client that continued after the higher number would miss the other receipt.
public struct ReceiptPosition: Hashable, Sendable, Codable {
  /// Number of the branch.
  public var branch: Int64
  /// Epoch of the branch, and number of the commit in this epoch. For a receipt that `bankctl move` copied from
  /// another bank, `commit` is the position in the commit order of that bank.
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

  /// True if the two positions are of the same branch and kind, so that they are comparable.
  public func isSameSequence(as other: ReceiptPosition) -> Bool {
    branch == other.branch && isCancelled == other.isCancelled
  }

  /// Field numbers in messages.
  enum CodingKeys: Int, CodingKey {
    case branch = 1
    case epoch, commit, ticket, isCancelled
  }
}
