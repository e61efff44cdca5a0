// Contents of messages to and from a worker, which may be of any build:
// offer, timeouts, assignment, progress.

import BankModel

/// Offer of a worker in its hello: the services that it serves, and the maximum number of customers held at once.
public struct WorkerOffer: Codable, Sendable, Equatable {
  /// Services whose customers the worker serves; nil at a window, which determines the service.
  public var services: [ServiceName]?
  /// Maximum number of customers that the worker holds at once, at least 1; nil for the service's default.
  public var inFlight: Int32?

  public init(services: [ServiceName]? = nil, inFlight: Int32? = nil) {
    (self.services, self.inFlight) = (services, inFlight)
  }
  /// Field number of each property of a worker's offer, in messages.
  enum CodingKeys: Int, CodingKey { case services = 1, inFlight }

  /// Maximum number of services of one worker.
  public static let longest = 1_000
}

/// Timeouts that apply to a worker: the answer to an accepted hello.
public struct WorkerTimeouts: Codable, Sendable, Equatable {
  /// Maximum time without progress with a customer, in milliseconds.
  public var leaseMilliseconds: Int64
  /// Maximum interval between reports of progress, in milliseconds.
  public var beatMilliseconds: Int64

  public init(leaseMilliseconds: Int64, beatMilliseconds: Int64) {
    (self.leaseMilliseconds, self.beatMilliseconds) = (leaseMilliseconds, beatMilliseconds)
  }
  /// Field number of each property of a worker's timeouts, in messages.
  enum CodingKeys: Int, CodingKey { case leaseMilliseconds = 1, beatMilliseconds }
}

/// Assignment of one customer to a worker: ticket, payload, key, deadline.
public struct WorkItem: Codable, Sendable, Equatable {
  /// Business day, and ticket number.
  public var day, ticket: Int64
  /// Number of the attempt, from 1, and the generation, which identifies the worker that holds the lease.
  public var attempt, generation: Int32
  /// Requested service.
  public var service: ServiceName
  /// Priority; 0 is served first.
  public var priority: UInt32
  /// Payload; nil for none.
  public var payload: [UInt8]?
  /// Unique key of the customer, the same in every attempt.
  public var key: String
  /// Time limit of the whole work, in milliseconds; nil for no limit as long as the worker reports progress.
  public var deadlineMilliseconds: Int64?

  public init(
    day: BusinessDay, lease: Lease, service: ServiceName, priority: UInt32, payload: [UInt8]? = nil,
    key: String, deadlineMilliseconds: Int64? = nil
  ) {
    (self.day, ticket, attempt, generation) = (day, lease.ticket, lease.attempt, lease.generation)
    (self.service, self.priority, self.payload, self.key) = (service, priority, payload, key)
    self.deadlineMilliseconds = deadlineMilliseconds
  }

  /// Lease of this assignment.
  public var lease: Lease { Lease(ticket: ticket, attempt: attempt, generation: generation) }

  /// Field number of each property of an assignment to a worker, in messages.
  enum CodingKeys: Int, CodingKey {
    case day = 1, ticket, attempt, generation, service, priority, payload, key, deadlineMilliseconds
  }
}

/// Progress that a worker reports with its customer: percentage done, and current activity.
public struct WorkProgress: Codable, Sendable, Equatable {
  /// Percentage of the work done, 0 to 100; nil if not reported.
  public var percent: UInt8?
  /// Current activity, at most ``longestText`` bytes; empty if not reported.
  public var text: String

  /// - Parameters:
  ///   - percent: values above 100 become 100.
  ///   - text: truncated if too long.
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

  /// Field number of each property of a progress report of a worker, in messages.
  enum CodingKeys: Int, CodingKey { case percent = 1, text }

  /// Maximum length of ``text`` in bytes.
  public static let longestText = 200

  /// Start of a text that is too long, with an ellipsis.
  private static func cut(_ text: String) -> String {
    var rest = text.unicodeScalars.prefix(longestText)
    while rest.reduce(0, { $0 + UTF8.width($1) }) > longestText - 3 { rest.removeLast() }
    return String(rest) + "…"
  }
}

/// Content of the message `progressed`: a lease, and the reported progress with its customer.
struct LeaseWithProgress: Codable {
  var lease: Lease, progress: WorkProgress
  /// Field number of each property of the content of the message `progressed`.
  enum CodingKeys: Int, CodingKey { case lease = 1, progress }
}
