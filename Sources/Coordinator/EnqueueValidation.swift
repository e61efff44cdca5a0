// Checks of requests to enqueue customers that need no state of the queue: limits of a customer and of its service. A
// fault is a `MessageDetail`, which the client shows in its language.

import BankModel
import QueueCore
import Time
import Wire

extension EnqueueParameters {
  /// Reason why the request is invalid; nil if it is valid.
  /// - Parameter now: Wall-clock time.
  func fault(maxPayload: Int64, now: WallTime) -> MessageDetail? {
    if !(1...BankModel.Limits.customersPerCommand).contains(count) {
      return MessageDetail(.customersRange, BankModel.Limits.customersPerCommand, count)
    }
    let length = itemName?.utf8.count ?? 0
    if length > BankModel.Limits.itemNameLength {
      return MessageDetail(.itemNameTooLong, BankModel.Limits.itemNameLength, length)
    }
    if let payload {
      if let service, !service.carriesPayload { return MessageDetail(.payloadNotAllowed, service.text) }
      if payload.count > maxPayload {
        return MessageDetail(.payloadTooLarge, maxPayload, payload.count, BankModel.Limits.payloadLength)
      }
    }
    if let service, service.ordersByName, length == 0 {
      return MessageDetail(.itemNameRequired, service.text)
    }
    let sample = EnqueueEntry(
      service: service?.movesMoney == false ? .deposit : service ?? .deposit, priority: priority,
      amount: amount ?? 1, account: account ?? 0, key: key)
    return dueFault(dueAt, delay, now: now, position: nil)
      ?? sample.fault(maxPayload: maxPayload, now: now, position: 1)
  }
}

extension EnqueueParameters {
  /// Returns the service of the request, or nil if services are drawn at random.
  ///
  /// - Parameter policy: Rules that define which services post amounts.
  /// - Throws: `no_such_service`, or `bad_request` if the amount and account of the customers do not suit the
  ///   service.
  func knownService(among services: OfferedServices, by policy: QueuePolicy) throws(Failure) -> Service? {
    guard let name = self.service else { return nil }
    let service = try services.service(name)
    let rule = policy[service.index].postingRule
    if let fault = moneyFault(name, rule, amount: amount ?? 0, account: account ?? 0, position: nil) {
      throw Failure(.badRequest, messageDetail: fault)
    }
    return service
  }
}

extension EnqueueEntry {
  /// Reason why the entry of a list is invalid; nil if it is valid.
  /// - Parameters:
  ///   - now: Wall-clock time.
  ///   - position: Position in the list, from 1.
  func fault(maxPayload: Int64, now: WallTime, position: Int64) -> MessageDetail? {
    if service == .juice { return MessageDetail(.notInList, service.text) }
    if !((service.movesMoney ? 1 : 0)...BankModel.Limits.amount).contains(amount) {
      return MessageDetail(.moneyRange, BankModel.Limits.amount, amount)
    }
    if !(0...BankModel.Limits.account).contains(account) {
      return MessageDetail(.accountRange, BankModel.Limits.account, account)
    }
    if let payload, payload.count > maxPayload {
      return MessageDetail(
        .payloadOfEntryTooLarge, maxPayload, payload.count, BankModel.Limits.payloadLength, position)
    }
    return dueFault(dueAt, delay, now: now, position: position) ?? key.flatMap(keyFault)
  }
}

/// Reason why an amount or account does not suit a service; nil if it does. Customers carry both if their service posts
/// amounts, and neither if it posts nothing. Missing values of a deposit or loan are drawn at random.
///
/// - Parameters:
///   - rule: Posting rule of the service.
///   - position: Position in a list, from 1; nil for a request without a list.
func moneyFault(
  _ service: ServiceName, _ rule: PostingRule?, amount: Won, account: AccountNumber, position: Int64?
) -> MessageDetail? {
  if service.movesMoney { return nil }
  guard rule != nil else {
    if amount == 0, account == 0 { return nil }
    return position.map { MessageDetail(.moneyOfEntryNotAllowed, service.text, $0) }
      ?? MessageDetail(.moneyNotAllowed, service.text)
  }
  if amount > 0, account > 0 { return nil }
  return position.map { MessageDetail(.moneyOfEntryRequired, service.text, $0) }
    ?? MessageDetail(.moneyRequired, service.text)
}

extension ServiceName {
  /// True if customers of the service order an article by its name. Without a name no station could serve them.
  fileprivate var ordersByName: Bool { self == .juice }
  /// False for an order by name, which needs no payload.
  fileprivate var carriesPayload: Bool { !ordersByName }
}

/// Reason why a due time is invalid; nil if it is valid. A customer with a past time is due at once. A time beyond
/// `Limits.delay` is refused, because it is more likely a mistake.
private func dueFault(_ dueAt: Int64?, _ delay: Int64?, now: WallTime, position: Int64?) -> MessageDetail? {
  if dueAt != nil, delay != nil { return MessageDetail(.dueTwice) }
  let (ahead, overflow) = (dueAt ?? now.milliseconds).subtractingReportingOverflow(now.milliseconds)
  let isRemote = overflow ? dueAt ?? 0 > 0 : ahead > BankModel.Limits.delay
  guard isRemote || delay.map({ !(0...BankModel.Limits.delay).contains($0) }) ?? false else { return nil }
  let days = BankModel.Limits.delay / 86_400_000
  return position.map { MessageDetail(.dueOfEntry, days, $0) } ?? MessageDetail(.dueRange, days)
}

/// Reason why an idempotency key is invalid: it is empty or too long; nil if it is valid.
func keyFault(_ key: String) -> MessageDetail? {
  let isGood = !key.isEmpty && key.utf8.count <= BankModel.Limits.keyLength
  return isGood ? nil : MessageDetail(.keyLength, BankModel.Limits.keyLength, key.utf8.count)
}
