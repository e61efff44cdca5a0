// Audit of a vending machine's rows. It checks that the ledger is complete, that the balance is its sum, and that
// it contains every completed purchase once, with its price.
// Invariant: the rows of the ledger are visited in order, then those of the purchases. None of them is stored.

import BankModel
import VendingCore

/// Audit of a vending machine that is in progress: it checks one row after the other and collects the findings.
struct VendingAuditor {
  var report = VendingAudit()
  var findings = Findings()
  /// Number of purchases in the state bought.
  private var madePurchases: Int64 = 0
  /// Sum of the prices of open purchases.
  private var reserved: Won = 0
  /// Number of the last purchase that was visited.
  private var lastPurchase: PurchaseNumber = 0

  /// Checks the next row of the ledger, with the purchase of the same request.
  mutating func visit(_ change: MoneyChange, _ purchase: StoredPurchase?) {
    report.changes += 1
    if change.sequence != report.changes {
      findings.note(MessageDetail(.moneyChangeMissing, report.changes, change.sequence))
      report.changes = change.sequence
    }
    report.account.apply(change)
    if report.account.balance != change.balance {
      findings.note(
        MessageDetail(.moneyBalanceDiffers, change.sequence, change.balance, report.account.balance))
      report.difference += abs(report.account.balance &- change.balance)
      report.account.balance = change.balance
    }
    if change.balance < 0 || change.balance > VendingLimits.balance {
      findings.note(MessageDetail(.moneyBalanceInvalid, change.sequence, change.balance))
    }
    if change.kind == .inserted, !VendingLimits.insertion.contains(change.amount) {
      findings.note(MessageDetail(.moneyChangeInvalid, change.sequence, change.amount))
    }
    guard change.kind == .bought else {
      if purchase != nil { findings.note(MessageDetail(.requestAmbiguous, change.request)) }
      return
    }
    report.purchases += 1
    guard let purchase, purchase.state == .bought else {
      return findings.note(MessageDetail(.purchaseNotMade, change.sequence))
    }
    if purchase.price != change.amount || purchase.product != change.product {
      findings.note(MessageDetail(.purchaseDiffers, purchase.number, change.sequence))
    }
  }

  mutating func visit(_ purchase: StoredPurchase) {
    if purchase.number != lastPurchase + 1 {
      findings.note(MessageDetail(.purchaseMissing, lastPurchase + 1, purchase.number))
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

  /// Compares the sums after all rows, and returns the result.
  mutating func finished() -> VendingAudit {
    if madePurchases != report.purchases {
      findings.note(MessageDetail(.purchasesDiffer, madePurchases, report.purchases))
    }
    if reserved > report.account.balance {
      findings.note(MessageDetail(.openPurchasesExceedBalance, reserved, report.account.balance))
    }
    report.difference += abs(report.account.difference)
    if report.account.difference != 0 {
      findings.note(MessageDetail(.moneyUnaccounted, report.account.difference))
    }
    report.messageDetails = findings.messageDetails
    return report
  }
}
