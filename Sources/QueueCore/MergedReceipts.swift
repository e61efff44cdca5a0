// Order in which a client that follows a shared bank receives the receipts of all branches. Receipts of one branch keep
// its commit order. Receipts of different branches are ordered by day and time, as far as their clocks agree.
// Invariant: no receipt of a branch is skipped. If a branch may have more receipts than were read, the merge stops
// after the last one that was read.
import BankModel

/// A receipt of a shared bank, with its position among the receipts of its branch.
public struct ReceiptWithPosition: Sendable {
  /// The receipt itself.
  public var receipt: Receipt
  /// Position of the receipt. A client that has received the receipt continues after it.
  public var mark: ReceiptPosition

  public init(_ receipt: Receipt, _ mark: ReceiptPosition) { (self.receipt, self.mark) = (receipt, mark) }
}

/// Receipts of several branches, merged by day and end time. The order within each branch stays the same.
public struct MergedReceipts: Sendable {
  /// Receipts that were read of one branch.
  public struct BranchPage: Sendable {
    /// Receipts in the branch's commit order.
    public var receipts: [ReceiptWithPosition]
    /// True if the branch may have more receipts than were read.
    public var isCut: Bool

    public init(_ receipts: [ReceiptWithPosition], isCut: Bool) {
      (self.receipts, self.isCut) = (receipts, isCut)
    }
  }

  /// Receipts in merged order.
  public private(set) var entries: [ReceiptWithPosition] = []
  /// True if the merge contains all receipts that existed when the pages were read.
  public private(set) var isComplete = true

  /// Merges receipts of several branches.
  public init(_ portions: [BranchPage]) {
    var rests = portions.filter { !$0.receipts.isEmpty }.map { (receipts: $0.receipts[...], isCut: $0.isCut) }
    while let next = rests.indices.min(by: { Self.isEarlier(rests[$0].receipts, rests[$1].receipts) }) {
      entries.append(rests[next].receipts.removeFirst())
      guard rests[next].receipts.isEmpty else { continue }
      if rests[next].isCut {
        isComplete = false
        return
      }
      rests.remove(at: next)
    }
  }

  /// True if the first receipt of `one` precedes that of `other`: by day, then end time, then branch number.
  private static func isEarlier(
    _ one: ArraySlice<ReceiptWithPosition>, _ other: ArraySlice<ReceiptWithPosition>
  ) -> Bool {
    guard let one = one.first, let other = other.first else { return false }
    let (first, second) = (one.receipt, other.receipt)
    return (first.day, first.finishedAt.milliseconds, one.mark.branch)
      < (second.day, second.finishedAt.milliseconds, other.mark.branch)
  }
}
