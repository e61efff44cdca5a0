// Owns where a receipt of a shared bank stands among those of its branch: what whoever follows the receipts of all branches keeps
// of each of them, to go on behind it.
// Invariant: of two receipts of a branch, both of customers who were attended to or both of cancelled ones, the later one has the
// higher mark, and one with a lower mark than another that was seen is never written any more. Branches finish customers over one
// connection and cancel over another, so of one of each kind the one with the higher number may be there first.

/// The place of a receipt among those of one branch. Branches commit side by side, so there is no such place over all of them: a
/// number that the database gives in turn can be seen before a lower one, and whoever went on behind it would never see that.
public struct ReceiptMark: Hashable, Sendable, Codable {
  /// The branch.
  public var branch: Int64
  /// Its epoch, and the number of the commit in it. Of what was moved there with a bank it is the place in the order of that
  /// bank's commits.
  public var epoch, commit: Int64
  /// The ticket: of one commit the receipts go by their numbers.
  public var ticket: TicketNumber
  /// Whether it is among those of cancelled customers.
  public var isCancelled: Bool

  public init(
    branch: Int64, epoch: Int64, commit: Int64, ticket: TicketNumber, isCancelled: Bool = false
  ) {
    (self.branch, self.epoch, self.commit, self.ticket) = (branch, epoch, commit, ticket)
    self.isCancelled = isCancelled
  }

  /// Whether one of two comes behind the other.
  public func isOfSameOrder(as other: ReceiptMark) -> Bool {
    branch == other.branch && isCancelled == other.isCancelled
  }

  enum CodingKeys: Int, CodingKey {
    case branch = 1
    case epoch, commit, ticket, isCancelled
  }
}
