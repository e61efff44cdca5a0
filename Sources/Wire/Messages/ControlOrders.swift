// Contents of the larger requests on the control socket. Decoding checks the form.
// The coordinator checks ranges and limits before it acts.

import BankModel

/// Request to add customers with the same properties.
public struct EnqueueParameters: Codable, Sendable, Equatable {
  /// Number of customers, 1 … `Limits.customersPerCommand`.
  public var count: Int64
  /// Requested service; nil draws one for each customer.
  public var service: ServiceName?
  /// Priority in the queue.
  public var priority: Priority
  /// Amount in won, and account; nil draws one for each customer.
  public var amount, account: Int64?
  /// Seed of all random draws.
  public var seed: UInt64
  /// Idempotency key, compared byte by byte: a repeated request with the same key returns the same tickets
  /// and adds no customers. The same key with another request is refused.
  public var key: String?
  /// Name of the ordered article, such as a juice; nil for none.
  public var itemName: String?
  /// True if the user has chosen the seed. The seed is then part of the digest that is stored with the key. Nil
  /// for false.
  public var hasExplicitSeed: Bool?
  /// Payload of each customer, at most `Limits.payloadLength` bytes; nil for none.
  public var payload: [UInt8]?
  /// Due time, in milliseconds since 1970; nil if the customer waits at once, or if ``delay`` is set.
  public var dueAt: Int64?
  /// Delay until the due time, in milliseconds after the coordinator has received the request, at most
  /// `Limits.delay`; nil if the customer waits at once, or if ``dueAt`` is set.
  public var delay: Int64?
  /// True if the payload is a command line: the coordinator refuses the request unless the payloads of the service are
  /// command lines. False if it is none: the coordinator refuses the request if they are. Nil if any payload is meant.
  public var isCommandLine: Bool?

  public init(
    count: Int64, service: ServiceName?, priority: Priority, amount: Int64?, account: Int64?, seed: UInt64,
    key: String?, itemName: String? = nil, hasExplicitSeed: Bool? = nil, payload: [UInt8]? = nil,
    dueAt: Int64? = nil, delay: Int64? = nil, isCommandLine: Bool? = nil
  ) {
    (self.count, self.service, self.priority, self.amount) = (count, service, priority, amount)
    (self.account, self.seed, self.key) = (account, seed, key)
    (self.itemName, self.hasExplicitSeed, self.payload) = (itemName, hasExplicitSeed, payload)
    (self.dueAt, self.delay, self.isCommandLine) = (dueAt, delay, isCommandLine)
  }

  /// Field number of each property of a request to add customers, in messages.
  enum CodingKeys: Int, CodingKey {
    case count = 1, service, priority, amount, account, seed, key, itemName, hasExplicitSeed, payload, dueAt,
      delay
    case isCommandLine
  }
}

/// A part of a list of customers with individual properties.
public struct EnqueueList: Codable, Sendable, Equatable {
  /// Customers of this part, at most ``partLimit``.
  public var entries: [EnqueueEntry]
  /// True for the last part. The coordinator then adds all customers of the list.
  public var isLast: Bool

  /// Maximum number of customers in one part.
  public static let partLimit = 2_000
  /// Maximum size of one part in bytes, measured by ``EnqueueEntry/weight``, so that it fits into a frame. A part
  /// with a single customer may be larger.
  public static let partWeight = 1 << 20

  /// True if this customer fits into a part of a list that has `count` customers with a total size of `weight` bytes.
  public static func hasRoom(
    for entry: EnqueueEntry, beside count: Int, weighing weight: Int, limit: Int = partLimit
  ) -> Bool {
    count == 0 || count < limit && weight + entry.weight <= partWeight
  }

  public init(entries: [EnqueueEntry], isLast: Bool) { (self.entries, self.isLast) = (entries, isLast) }
  /// Field number of each property of one part of a list of customers, in messages.
  enum CodingKeys: Int, CodingKey { case entries = 1, isLast }
}

/// One customer of a list. The client has made the random draws.
public struct EnqueueEntry: Codable, Sendable, Equatable {
  /// Requested service.
  public var service: ServiceName
  /// Priority in the queue.
  public var priority: Priority
  /// Amount in won, and account.
  public var amount, account: Int64
  /// Idempotency key: a known key adds no customer. The list is refused if the customer of a known key has other
  /// properties.
  public var key: String?
  /// Properties that the client has drawn at random; they are not compared when a key is repeated. Nil if
  /// unknown; a repeated key is then accepted without a comparison.
  public var drawn: RandomFields?
  /// Payload, at most `Limits.payloadLength` bytes; nil for none.
  public var payload: [UInt8]?
  /// Due time, in milliseconds since 1970; nil if the customer waits at once, or if ``delay`` is set.
  public var dueAt: Int64?
  /// Delay until the due time, in milliseconds after the coordinator has received the whole list, at most
  /// `Limits.delay`; nil if the customer waits at once, or if ``dueAt`` is set.
  public var delay: Int64?

  public init(
    service: ServiceName, priority: Priority, amount: Int64, account: Int64, key: String?,
    drawn: RandomFields? = nil, payload: [UInt8]? = nil, dueAt: Int64? = nil, delay: Int64? = nil
  ) {
    (self.service, self.priority, self.amount, self.account) = (service, priority, amount, account)
    (self.key, self.drawn, self.payload) = (key, drawn, payload)
    (self.dueAt, self.delay) = (dueAt, delay)
  }

  /// Upper bound of the bytes that this customer takes in a message.
  public var weight: Int {
    64 + service.text.utf8.count + (key?.utf8.count ?? 0) + (payload?.count ?? 0) + (dueAt == nil ? 0 : 10)
      + (delay == nil ? 0 : 10)
  }

  /// The customer's order, without its due time.
  ///
  /// - Parameter service: the number of the service.
  public func order(for service: Service) -> CustomerOrder {
    CustomerOrder(service: service, priority: priority, amount: amount, account: account)
  }

  /// Field number of each property of one customer of a list, in messages.
  enum CodingKeys: Int, CodingKey {
    case service = 1, priority, amount, account, key, drawn, payload, dueAt, delay
  }
}

/// Properties of a customer that were drawn at random.
public struct RandomFields: OptionSet, Codable, Sendable, Equatable {
  /// The properties as bits.
  public let rawValue: UInt8

  /// Properties from bits; unknown bits are kept.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// The service was drawn.
  public static let service = RandomFields(rawValue: 1)
  /// The amount was drawn.
  public static let amount = RandomFields(rawValue: 2)
  /// The account was drawn.
  public static let account = RandomFields(rawValue: 4)
}

/// Selection of receipts. With ``follow``, later receipts are included as they are written.
public struct ReceiptQuery: Codable, Sendable, Equatable {
  /// Business days whose receipts are selected: the current one, a given one, or all.
  public enum Days: Codable, Sendable, Equatable {
    /// The current day.
    case present
    /// One day.
    case day(Int64)
    /// All days.
    case all

    public init(from decoder: any Decoder) throws {
      let number = try decoder.singleValueContainer().decode(Int64.self)
      self =
        switch number {
        case 0: .present
        case 1...: .day(number)
        default: .all
        }
    }

    public func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      switch self {
      case .present: try container.encode(Int64(0))
      case .day(let number): try container.encode(number)
      case .all: try container.encode(Int64(-1))
      }
    }
  }

  /// Days of the receipts.
  public var days: Days
  /// True to continue with later receipts.
  public var follow: Bool
  /// Only receipts after this position in the commit order; 0 for all. After a lost connection, a client
  /// continues with the position of the last receipt that it has received.
  public var after: Int64
  /// Requested service; nil for all.
  public var service: ServiceName?
  /// Maximum number of receipts, 1 … ``TicketQuery/limitAtMost``; nil for all. Must be nil with `follow`.
  public var limit: Int64?
  /// With `follow` in a shared bank, replaces `after`: positions of the last receipts received from each branch,
  /// one for customers finished by workers and one for cancelled customers. At most ``positionsAtMost``; nil for
  /// none.
  public var positions: [ReceiptPosition]?

  /// Maximum number of positions in ``positions``.
  public static let positionsAtMost = 10_000

  public init(
    days: Days, follow: Bool, after: Int64 = 0, service: ServiceName? = nil, limit: Int64? = nil
  ) {
    (self.days, self.follow, self.after) = (days, follow, after)
    (self.service, self.limit) = (service, limit)
  }

  /// Records a received receipt, so that the next query continues after that receipt.
  public mutating func advance(past receipt: ReceiptReport) {
    guard let mark = receipt.mark else {
      after = receipt.sequence
      return
    }
    var marks = positions ?? []
    if let place = marks.firstIndex(where: { $0.isSameSequence(as: mark) }) {
      marks[place] = mark
    } else {
      marks.append(mark)
    }
    positions = marks
    // From branches that have sent no receipt yet, the client does not request receipts before this day.
    if days == .present { days = .day(receipt.day) }
  }

  /// Field number of each property of a selection of receipts, in messages.
  enum CodingKeys: Int, CodingKey { case days = 1, follow, after, service, limit, positions }
}

/// Requested number of windows of a service.
public struct ServiceWindows: Codable, Sendable, Equatable {
  /// Name of the service.
  public var service: ServiceName
  /// Number of windows, 0 … `Limits.windowsPerService`.
  public var count: Int64
  public init(service: ServiceName, count: Int64) { (self.service, self.count) = (service, count) }
  /// Field number of each property of a request for a number of windows, in messages.
  enum CodingKeys: Int, CodingKey { case service = 1, count }
}

/// Request to stop the bank.
public struct StopParameters: Codable, Sendable, Equatable {
  /// True to finish only the customers being served, and to leave the waiting ones for the next start.
  public var now: Bool
  /// Time limit of each step of the drain, in milliseconds; nil for none. After `serve_waiting` the remaining
  /// customers wait for the next start; after `finish_serving` those at a window return to the line.
  public var timeoutMilliseconds: Int64?
  /// Step of the drain to which the coordinator proceeds at once; nil for none. The request names the step,
  /// because "the next step" would skip one too many if the current step ended just before the request.
  public var step: DrainStep?
  /// True to serve the customers of all branches of a shared bank and end its day; nil, as from an older build,
  /// for this branch alone. A bank with a database in its home refuses the request (`not_shared`).
  public var closesWholeBank: Bool?
  /// True to leave delayed customers for the next start and serve the others; nil from an older build.
  public var leavesDelayed: Bool?
  /// True to answer at once, with the state of the closing bank; nil to answer when the bank has closed.
  public var noWait: Bool?

  public init(
    now: Bool, timeoutMilliseconds: Int64?, step: DrainStep? = nil, closesWholeBank: Bool? = nil,
    leavesDelayed: Bool? = nil, noWait: Bool? = nil
  ) {
    (self.now, self.timeoutMilliseconds, self.step) = (now, timeoutMilliseconds, step)
    (self.closesWholeBank, self.leavesDelayed, self.noWait) = (closesWholeBank, leavesDelayed, noWait)
  }
  /// Field number of each property of a request to stop the bank, in messages.
  enum CodingKeys: Int, CodingKey {
    case now = 1, timeoutMilliseconds, step, closesWholeBank, leavesDelayed, noWait
  }
}
