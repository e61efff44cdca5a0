// Owns the judgement over a vending machine's rows that is the same for every store: whether the ledger is whole, the
// balance its sum, and every purchase booked once for its price. It knows no database.
// Invariant: rows are visited in the order of the ledger and not kept.

import BankModel
import VendingCore

/// An audit of a vending machine while it runs.
struct VendingAuditor {
  var report = VendingAudit()
  var findings = Findings()
  private var madePurchases: Int64 = 0
  private var reserved: Won = 0
  private var lastPurchase: PurchaseNumber = 0

  /// The next row of the ledger, with the purchase of its name.
  mutating func visit(_ change: MoneyChange, _ purchase: StoredPurchase?) {
    report.changes += 1
    if change.sequence != report.changes {
      findings.note("change \(report.changes) of the money is missing before change \(change.sequence)")
      report.changes = change.sequence
    }
    report.account.apply(change)
    if report.account.balance != change.balance {
      findings.note(
        "change \(change.sequence) of the money leaves \(change.balance) won, the ledger \(report.account.balance)"
      )
      report.difference += abs(report.account.balance &- change.balance)
      report.account.balance = change.balance
    }
    if change.balance < 0 || change.balance > VendingLimits.balance {
      findings.note("change \(change.sequence) of the money leaves \(change.balance) won, which cannot be")
    }
    if change.kind == .inserted, !VendingLimits.insertion.contains(change.amount) {
      findings.note("change \(change.sequence) put in \(change.amount) won, which cannot be")
    }
    guard change.kind == .bought else {
      if purchase != nil { findings.note("request \(change.request) is a purchase and something else") }
      return
    }
    report.purchases += 1
    guard let purchase, purchase.state == .bought else {
      return findings.note("change \(change.sequence) books a purchase that was not made")
    }
    if purchase.price != change.amount || purchase.product != change.product {
      findings.note("purchase \(purchase.number) is booked as another one in change \(change.sequence)")
    }
  }

  /// The next purchase.
  mutating func visit(_ purchase: StoredPurchase) {
    if purchase.number != lastPurchase + 1 {
      findings.note("purchase \(lastPurchase + 1) is missing before purchase \(purchase.number)")
    }
    lastPurchase = purchase.number
    switch purchase.state {
    case .bought: madePurchases += 1
    case .open:
      report.unfinished += 1
      reserved &+= purchase.price
    case .releasing: report.unfinished += 1
    case .soldOut, .onlyExpired, .givenUp: break
    }
  }

  /// The audit with everything that is left to say.
  mutating func finished() -> VendingAudit {
    if madePurchases != report.purchases {
      findings.note("\(madePurchases) purchases say that they were made, and \(report.purchases) are booked")
    }
    if reserved > report.account.balance {
      findings.note("purchases under way cost \(reserved) won, and \(report.account.balance) are there")
    }
    report.difference += abs(report.account.difference)
    if report.account.difference != 0 {
      findings.note("\(report.account.difference) won that were put in are nowhere")
    }
    report.problems = findings.sentences
    return report
  }
}
