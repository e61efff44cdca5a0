// Owns the order in which whoever follows a shared bank sees the receipts of all branches: each branch's by its commits, and of
// those of different branches the earlier one first, as far as their clocks say so.
// Invariant: of a branch nothing is left out. Where there is more of a branch than was read, nothing is shown behind the last of
// it that was: what follows is merged when it is read.
import BankModel

/// A receipt of a shared bank, and where it stands among those of its branch.
public struct MarkedReceipt: Sendable {
  /// What is told of it.
  public var receipt: Receipt
  /// Behind what goes on who has seen it.
  public var mark: ReceiptMark

  public init(_ receipt: Receipt, _ mark: ReceiptMark) { (self.receipt, self.mark) = (receipt, mark) }
}

/// Receipts of several branches in one order.
public struct MergedReceipts: Sendable {
  /// What was read of one branch.
  public struct Portion: Sendable {
    /// In the order of its commits.
    public var receipts: [MarkedReceipt]
    /// Whether there may be more of it.
    public var isCut: Bool

    public init(_ receipts: [MarkedReceipt], isCut: Bool) { (self.receipts, self.isCut) = (receipts, isCut) }
  }

  /// In the order in which they are shown.
  public private(set) var entries: [MarkedReceipt] = []
  /// Whether there was nothing behind them when they were read.
  public private(set) var isWhole = true

  /// Merges what was read of each branch.
  public init(_ portions: [Portion]) {
    var rests = portions.filter { !$0.receipts.isEmpty }.map { (receipts: $0.receipts[...], isCut: $0.isCut) }
    while let next = rests.indices.min(by: { Self.isEarlier(rests[$0].receipts, rests[$1].receipts) }) {
      entries.append(rests[next].receipts.removeFirst())
      guard rests[next].receipts.isEmpty else { continue }
      if rests[next].isCut {
        isWhole = false
        return
      }
      rests.remove(at: next)
    }
  }

  private static func isEarlier(_ one: ArraySlice<MarkedReceipt>, _ other: ArraySlice<MarkedReceipt>) -> Bool
  {
    guard let one = one.first, let other = other.first else { return false }
    let (first, second) = (one.receipt, other.receipt)
    return (first.day, first.finishedAt.milliseconds, one.mark.branch)
      < (second.day, second.finishedAt.milliseconds, other.mark.branch)
  }
}
