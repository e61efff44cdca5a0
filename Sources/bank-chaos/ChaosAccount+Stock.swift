// Owns the part of a chaos run's account that is about fruit: what was there, what was brought, what the
// juices took that were made, and what is left. Invariant: every piece that is missing or too many is
// counted, by its fruit.
import BankModel
import Wire

extension ChaosAccount {
  /// What is known of the stock from outside.
  struct Shelves {
    /// What each juice is made of.
    var recipes: [String: [ItemAmount]] = [:]
    var before: [ItemID: Quantity] = [:]
    /// What was brought, less what was taken away by hand.
    var brought: [ItemID: Quantity] = [:]
    /// What is left; nil where nobody could say.
    var after: [ItemID: Quantity]?
    /// What somebody who looked on was told wrongly.
    var gaps: [Remark] = []
  }

  mutating func compareStock(_ shelves: Shelves, _ receipts: [ReceiptReport]) {
    violations += shelves.gaps.map { .watch($0) }
    guard let after = shelves.after else { return }
    var wanted = shelves.before.merging(shelves.brought, uniquingKeysWith: +)
    for receipt in receipts where receipt.service == .juice {
      if receipt.outcome == .outOfStock { sentAway += 1 }
      guard receipt.outcome == .served else { continue }
      juices += 1
      for part in shelves.recipes[receipt.payload ?? ""] ?? [] {
        wanted[part.item, default: 0] -= part.quantity
      }
    }
    for item in Set(wanted.keys).union(after.keys).sorted() {
      let difference = after[item, default: 0] - wanted[item, default: 0]
      guard difference != 0 else { continue }
      stockDifference += Int64(clamping: difference.magnitude)
      violations.append(.stock(item, difference: difference))
    }
  }
}

extension ReceiptReport {
  /// Whether it says what somebody who ordered a juice must be told: that it was made, or what was missing for it.
  func fulfils(_ order: ChaosOrder, juice: String, recipe: [ItemAmount]) -> Bool {
    guard service == .juice, grade == order.grade, amount == 0, debit == nil, credit == nil, payload == juice,
      attempts >= 1
    else { return false }
    let missing = shortages ?? []
    switch outcome {
    case .served: return missing.isEmpty
    case .outOfStock:
      return !missing.isEmpty && missing.allSatisfy { shortage in
          shortage.available < shortage.needed && recipe.contains(ItemAmount(shortage.item, shortage.needed))
        }
    case .cancelled: return false
    }
  }
}
