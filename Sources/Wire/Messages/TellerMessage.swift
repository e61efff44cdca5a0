// Messages from a teller or another worker to the coordinator. Rule of the conversation: an `assign` or `assignWork`
// is answered by one of `done`, `worked`, `failed`, `outOfStock` and `returned`, and each of these answers requests
// the next customer. `ready` requests the first customer.

import BankModel

/// Messages from a teller.
public enum TellerMessage: Sendable, Equatable {
  /// The first message.
  case hello(Hello)
  /// The teller requests its first customer.
  case ready
  /// The work of this lease is done; requests the next customer.
  case done(Lease)
  /// The work of this lease is done, with this result; requests the next customer.
  case worked(Lease, WorkResult)
  /// The work of this lease could not be done; requests the next customer.
  case failed(Lease, WorkFailure)
  /// The stock was too low for the customer of this lease, and nothing was taken; requests the next customer.
  case outOfStock(Lease, [Shortage])
  /// The customer of this lease is returned after `recall` or `closing`; requests the next customer.
  case returned(Lease)
  /// The work of this lease makes progress, which renews the lease.
  case beat(Lease)
  /// The work of this lease makes progress, of which the worker reports a percentage or a text.
  indirect case progressed(Lease, WorkProgress)

  /// Field number of each kind of message.
  private enum Kind: Int, CodingKey {
    case hello = 1, ready, done, failed, returned, beat, outOfStock, worked, progressed
  }
}

extension TellerMessage: Codable {
  public func encode(to encoder: any Encoder) throws {
    var message = encoder.container(keyedBy: Kind.self)
    switch self {
    case .hello(let hello): try message.encode(hello, forKey: .hello)
    case .ready: try message.encode(EmptyMessage(), forKey: .ready)
    case .done(let lease): try message.encode(lease, forKey: .done)
    case .worked(let lease, let result):
      try message.encode(WorkedLease(lease: lease, result: result), forKey: .worked)
    case .failed(let lease, let failure):
      try message.encode(FailedLease(lease, failure), forKey: .failed)
    case .outOfStock(let lease, let missing):
      try message.encode(LeaseWithShortages(lease: lease, shortages: missing), forKey: .outOfStock)
    case .returned(let lease): try message.encode(lease, forKey: .returned)
    case .beat(let lease): try message.encode(lease, forKey: .beat)
    case .progressed(let lease, let progress):
      try message.encode(LeaseWithProgress(lease: lease, progress: progress), forKey: .progressed)
    }
  }

  public init(from decoder: any Decoder) throws {
    let message = try decoder.container(keyedBy: Kind.self)
    switch try message.singleKind() {
    case .hello: self = .hello(try message.decode(Hello.self, forKey: .hello))
    case .ready: self = try message.emptyMessage(.ready, .ready)
    case .done: self = .done(try message.decode(Lease.self, forKey: .done))
    case .failed:
      let failed = try message.decode(FailedLease.self, forKey: .failed)
      self = .failed(failed.lease, try failed.failure)
    case .worked:
      let worked = try message.decode(WorkedLease.self, forKey: .worked)
      self = .worked(worked.lease, worked.result)
    case .outOfStock:
      let answer = try message.decode(LeaseWithShortages.self, forKey: .outOfStock)
      self = .outOfStock(answer.lease, answer.shortages)
    case .returned: self = .returned(try message.decode(Lease.self, forKey: .returned))
    case .beat: self = .beat(try message.decode(Lease.self, forKey: .beat))
    case .progressed:
      let report = try message.decode(LeaseWithProgress.self, forKey: .progressed)
      self = .progressed(report.lease, report.progress)
    }
  }
}

/// Content of the message `outOfStock`: a lease, and the items that were missing for its customer.
private struct LeaseWithShortages: Codable {
  var lease: Lease, shortages: [Shortage]
  /// Field number of each property of the content of the message `outOfStock`.
  enum CodingKeys: Int, CodingKey { case lease = 1, shortages }
}
