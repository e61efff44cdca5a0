// Owns what is said to a worker that need not be of this build, and by it, beyond what tellers say: what it offers, on what
// terms it works, whom it serves, how far it has come. Invariant: everything that it needs to know of a customer stands in
// the order; nothing of the bank's own configuration does.

import BankModel

/// What a worker offers in its hello.
public struct WorkerOffer: Codable, Sendable, Equatable {
  /// The services whose customers it serves; nil at a window, which has its own.
  public var services: [ServiceName]?
  /// Customers that it takes at once, at least 1; nil for as many as the service hands out.
  public var inHand: Int32?

  public init(services: [ServiceName]? = nil, inHand: Int32? = nil) {
    (self.services, self.inHand) = (services, inHand)
  }
  enum CodingKeys: Int, CodingKey { case services = 1, inHand }

  /// Services that one worker may name.
  public static let longest = 1_000
}

/// On what terms a worker serves: the answer to a hello that was accepted.
public struct WorkerTerms: Codable, Sendable, Equatable {
  /// How long it may go without progress with a customer, in milliseconds.
  public var leaseMilliseconds: Int64
  /// How often it is to report progress, in milliseconds, at least.
  public var beatMilliseconds: Int64

  public init(leaseMilliseconds: Int64, beatMilliseconds: Int64) {
    (self.leaseMilliseconds, self.beatMilliseconds) = (leaseMilliseconds, beatMilliseconds)
  }
  enum CodingKeys: Int, CodingKey { case leaseMilliseconds = 1, beatMilliseconds }
}

/// One customer for one worker.
public struct WorkOrder: Codable, Sendable, Equatable {
  /// The business day, and the customer's number.
  public var day, ticket: Int64
  /// Which attempt at this customer this is, from 1, and what tells this holder of the lease from others.
  public var attempt, generation: Int32
  /// What the customer came for.
  public var service: ServiceName
  /// How soon the customer is served, 0 first.
  public var priority: UInt32
  /// What the customer carries; nil for nothing.
  public var payload: [UInt8]?
  /// What is the same in every attempt at this customer, and no other's.
  public var key: String
  /// How long the whole work may take, in milliseconds; nil for as long as there is progress.
  public var deadlineMilliseconds: Int64?

  public init(
    day: BusinessDay, lease: Lease, service: ServiceName, priority: UInt32, payload: [UInt8]? = nil,
    key: String, deadlineMilliseconds: Int64? = nil
  ) {
    (self.day, ticket, attempt, generation) = (day, lease.ticket, lease.attempt, lease.generation)
    (self.service, self.priority, self.payload, self.key) = (service, priority, payload, key)
    self.deadlineMilliseconds = deadlineMilliseconds
  }

  /// The lease under which the customer is served.
  public var lease: Lease { Lease(ticket: ticket, attempt: attempt, generation: generation) }

  enum CodingKeys: Int, CodingKey {
    case day = 1, ticket, attempt, generation, service, priority, payload, key, deadlineMilliseconds
  }
}

/// How far a worker has come with a customer.
public struct WorkProgress: Codable, Sendable, Equatable {
  /// 0 to 100; nil where it does not say.
  public var percent: UInt8?
  /// What it is doing, at most ``longestText`` bytes; empty where it does not say.
  public var text: String

  /// - Parameters:
  ///   - percent: not above 100.
  ///   - text: cut where it is too long.
  public init(percent: UInt8? = nil, text: String = "") {
    self.percent = percent.map { min($0, 100) }
    self.text = text.utf8.count <= Self.longestText ? text : Self.cut(text)
  }

  public init(from decoder: any Decoder) throws {
    let map = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      percent: try map.decodeIfPresent(UInt8.self, forKey: .percent),
      text: try map.decodeIfPresent(String.self, forKey: .text) ?? "")
  }

  enum CodingKeys: Int, CodingKey { case percent = 1, text }

  /// Bytes of a text at most.
  public static let longestText = 200

  private static func cut(_ text: String) -> String {
    var rest = text.unicodeScalars.prefix(longestText)
    while rest.reduce(0, { $0 + UTF8.width($1) }) > longestText - 3 { rest.removeLast() }
    return String(rest) + "…"
  }
}

struct LeaseWithProgress: Codable {
  var lease: Lease, progress: WorkProgress
  enum CodingKeys: Int, CodingKey { case lease = 1, progress }
}
