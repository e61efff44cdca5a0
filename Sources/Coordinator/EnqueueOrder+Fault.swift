// Owns what can be wrong with a request for tickets by itself, before anybody knows of it: every limit that a customer keeps.
// What is found is a remark, so that it can be said in any language.

import BankModel
import Wire

extension EnqueueOrder {
  /// What is wrong with this order; nil for nothing.
  var fault: Remark? {
    if !(1...BankModel.Limits.customersPerCommand).contains(count) {
      return Remark(.customersRange, BankModel.Limits.customersPerCommand, count)
    }
    let length = payload?.utf8.count ?? 0
    if length > BankModel.Limits.payloadLength {
      return Remark(.payloadAtMost, BankModel.Limits.payloadLength, length)
    }
    let sample = EnqueueEntry(
      service: .deposit, grade: grade, amount: amount ?? 1, account: account ?? 0, key: key)
    return sample.fault
  }
}

extension EnqueueEntry {
  /// What is wrong with this entry; nil for nothing.
  var fault: Remark? {
    if !service.movesMoney { return Remark(.notInList, service.name) }
    if !(1...BankModel.Limits.amount).contains(amount) {
      return Remark(.moneyRange, BankModel.Limits.amount, amount)
    }
    if !(0...BankModel.Limits.account).contains(account) {
      return Remark(.accountRange, BankModel.Limits.account, account)
    }
    return key.flatMap(keyFault)
  }
}

/// What is wrong with an idempotency key; nil for nothing.
func keyFault(_ key: String) -> Remark? {
  if key.isEmpty || key.utf8.count > BankModel.Limits.keyLength {
    return Remark(.keyLength, BankModel.Limits.keyLength, key.utf8.count)
  }
  return nil
}
