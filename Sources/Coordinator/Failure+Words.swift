// Conversion of the queue's refusals and the store's errors to failures for clients: a code for scripts, and
// details. The client composes the text, except that of an invalid file.

import BankModel
import Configuration
import QueueCore
import Time
import Wire

extension Failure {
  /// - Parameter services: Names of the services.
  init(refusal: QueueRefusal, _ services: ServiceDirectory) {
    switch refusal {
    case .queueFull(let waiting, let limit):
      self.init(.queueFull, subject: String(limit), remark: Remark(.waitAtMost, waiting, limit))
    case .serviceFull(let service, let waiting, let limit):
      let remark = Remark(.waitForAtMost, waiting, services[service].text, limit)
      self.init(.queueFull, subject: String(limit), remark: remark)
    case .tooManyLines(let limit):
      self.init(.queueFull, subject: String(limit), remark: Remark(.prioritiesAtMost, Int64(limit)))
    case .draining: self.init(.draining)
    case .diskFull: self.init(.diskFull)
    case .leaseLost: self.init(.leaseLost)
    case .sharedBooks: self.init(.notInSharedBank)
    case .noSuchTicket(let ticket): self.init(.noSuchTicket, subject: String(ticket))
    case .wrongState(let ticket, let state): self.init(.wrongState, subject: "\(ticket) \(state.name)")
    }
  }

  /// Failure for an invalid file, in this language.
  init(_ error: ConfigurationError, in language: Language) {
    self.init(.badConfiguration, subject: error.path, detail: error.message(in: language))
  }

  init(store error: StoreError) {
    switch error {
    case .diskFull(let detail): self.init(.diskFull, remark: detail)
    case .inUse(let path): self.init(.alreadyOpen, remark: Remark(.inUse, path))
    case .newerSchema(let path, let found, let known):
      self.init(.newerSchema, subject: path, remark: Remark(.schemaFound, found, known))
    case .damaged(let path, let detail): self.init(.damaged, subject: path, remark: detail)
    case .failed(let path, let detail): self.init(.system, subject: path, remark: detail)
    }
  }
}

/// Checks of an enqueue request that need no other state: every limit of a customer. The result is a remark, so that it
/// can be reported in any language.
extension EnqueueOrder {
  /// - Parameter now: Wall-clock time.
  func fault(maxPayload: Int64, now: WallTime) -> Remark? {
    if !(1...BankModel.Limits.customersPerCommand).contains(count) {
      return Remark(.customersRange, BankModel.Limits.customersPerCommand, count)
    }
    let length = article?.utf8.count ?? 0
    if length > BankModel.Limits.articleLength {
      return Remark(.articleAtMost, BankModel.Limits.articleLength, length)
    }
    if let payload {
      if let service, !service.carriesPayload { return Remark(.payloadUnwanted, service.text) }
      if payload.count > maxPayload {
        return Remark(.payloadAtMost, maxPayload, payload.count, BankModel.Limits.payloadLength)
      }
    }
    if let service, service.ordersByName, length == 0 { return Remark(.articleWanted, service.text) }
    let sample = EnqueueEntry(
      service: service?.movesMoney == false ? .deposit : service ?? .deposit, priority: priority,
      amount: amount ?? 1, account: account ?? 0, key: key)
    return dueFault(dueAt, delay, now: now, place: nil)
      ?? sample.fault(maxPayload: maxPayload, now: now, place: 1)
  }
}

extension EnqueueOrder {
  /// Returns the service of the request, or nil if services are drawn at random.
  ///
  /// - Parameter policy: Rules that define which services post amounts.
  /// - Throws: `no_such_service`, or `bad_request` if the amount and account of the customers do not suit the
  ///   service.
  func knownService(among services: OfferedServices, by policy: QueuePolicy) throws(Failure) -> Service? {
    guard let name = self.service else { return nil }
    let service = try services.service(name)
    let rule = policy[service.index].postingRule
    if let fault = moneyFault(name, rule, amount: amount ?? 0, account: account ?? 0, place: nil) {
      throw Failure(.badRequest, remark: fault)
    }
    return service
  }
}

extension EnqueueEntry {
  /// - Parameters:
  ///   - now: Wall-clock time.
  ///   - place: Position in the list, from 1.
  func fault(maxPayload: Int64, now: WallTime, place: Int64) -> Remark? {
    if service == .juice { return Remark(.notInList, service.text) }
    if !((service.movesMoney ? 1 : 0)...BankModel.Limits.amount).contains(amount) {
      return Remark(.moneyRange, BankModel.Limits.amount, amount)
    }
    if !(0...BankModel.Limits.account).contains(account) {
      return Remark(.accountRange, BankModel.Limits.account, account)
    }
    if let payload, payload.count > maxPayload {
      return Remark(.payloadOfEntry, maxPayload, payload.count, BankModel.Limits.payloadLength, place)
    }
    return dueFault(dueAt, delay, now: now, place: place) ?? key.flatMap(keyFault)
  }
}

/// Checks that customers carry the amount and account that their service posts, or neither if the service posts
/// nothing. Missing values of a deposit or loan are drawn at random.
///
/// - Parameters:
///   - rule: Posting rule of the service.
///   - place: Position in a list, from 1; nil for equal customers.
func moneyFault(
  _ service: ServiceName, _ rule: PostingRule?, amount: Won, account: AccountNumber, place: Int64?
) -> Remark? {
  if service.movesMoney { return nil }
  guard rule != nil else {
    if amount == 0, account == 0 { return nil }
    return place.map { Remark(.moneyUnwantedOfEntry, service.text, $0) }
      ?? Remark(.moneyUnwanted, service.text)
  }
  if amount > 0, account > 0 { return nil }
  return place.map { Remark(.moneyWantedOfEntry, service.text, $0) } ?? Remark(.moneyWanted, service.text)
}

extension ServiceName {
  /// True if customers of the service order an article by its name. Without a name no station could serve them.
  fileprivate var ordersByName: Bool { self == .juice }
  /// True if its customers may carry a payload. An order by name needs none.
  fileprivate var carriesPayload: Bool { !ordersByName }
}

/// Checks a due time. A customer with a past time is due at once. A time more than ten years ahead is refused, because
/// it is more likely a mistake.
private func dueFault(_ dueAt: Int64?, _ delay: Int64?, now: WallTime, place: Int64?) -> Remark? {
  if dueAt != nil, delay != nil { return Remark(.dueTwice) }
  let (ahead, overflow) = (dueAt ?? now.milliseconds).subtractingReportingOverflow(now.milliseconds)
  let isFar = overflow ? dueAt ?? 0 > 0 : ahead > BankModel.Limits.delay
  guard isFar || delay.map({ !(0...BankModel.Limits.delay).contains($0) }) ?? false else { return nil }
  let days = BankModel.Limits.delay / 86_400_000
  return place.map { Remark(.dueOfEntry, days, $0) } ?? Remark(.dueRange, days)
}

func keyFault(_ key: String) -> Remark? {
  let isGood = !key.isEmpty && key.utf8.count <= BankModel.Limits.keyLength
  return isGood ? nil : Remark(.keyLength, BankModel.Limits.keyLength, key.utf8.count)
}
