// Contents of the larger requests on the control socket. Decoding checks only the form: the coordinator
// checks ranges and limits before it acts.

import BankModel

/// Customers with the same properties; nil ones are drawn at random.
public struct EnqueueOrder: Codable, Sendable, Equatable {
  /// Number of customers, 1 … ``Limits/customersPerCommand``.
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
  public var article: String?
  /// True if the user has chosen the seed, so that it is part of the request; nil for false.
  public var isSeedAsked: Bool?
  /// Payload of each customer, at most ``Limits/payloadLength`` bytes; nil for none.
  public var payload: [UInt8]?
  /// Earliest time of service, in milliseconds since 1970; nil for at once, or for ``delay``.
  public var dueAt: Int64?
  /// Delay until the earliest time of service, in milliseconds after the coordinator receives the request,
  /// at most ``Limits/delay``; nil for at once, or for ``dueAt``.
  public var delay: Int64?
  /// True if the payload is a command line, for a service whose customers bring one; a coordinator refuses it
  /// for any other service. Nil from an older build.
  public var isCommandLine: Bool?

  public init(
    count: Int64, service: ServiceName?, priority: Priority, amount: Int64?, account: Int64?, seed: UInt64,
    key: String?, article: String? = nil, isSeedAsked: Bool? = nil, payload: [UInt8]? = nil,
    dueAt: Int64? = nil, delay: Int64? = nil, isCommandLine: Bool? = nil
  ) {
    (self.count, self.service, self.priority, self.amount) = (count, service, priority, amount)
    (self.account, self.seed, self.key) = (account, seed, key)
    (self.article, self.isSeedAsked, self.payload) = (article, isSeedAsked, payload)
    (self.dueAt, self.delay, self.isCommandLine) = (dueAt, delay, isCommandLine)
  }

  enum CodingKeys: Int, CodingKey {
    case count = 1, service, priority, amount, account, seed, key, article, isSeedAsked, payload, dueAt, delay
    case isCommandLine
  }
}

/// A part of a list of customers with individual properties.
public struct EnqueueList: Codable, Sendable, Equatable {
  /// Customers of this part, at most ``partLimit``.
  public var entries: [EnqueueEntry]
  /// True for the last part, after which the list is added.
  public var isLast: Bool

  /// Maximum number of customers in one part.
  public static let partLimit = 2_000
  /// Maximum size of one part in bytes, measured by ``EnqueueEntry/weight``, so that every part fits into a
  /// frame. A single customer may exceed it.
  public static let partWeight = 1 << 20

  /// True if another customer fits into a part with `count` customers of this total weight.
  public static func hasRoom(
    for entry: EnqueueEntry, beside count: Int, weighing weight: Int, limit: Int = partLimit
  ) -> Bool {
    count == 0 || count < limit && weight + entry.weight <= partWeight
  }

  public init(entries: [EnqueueEntry], isLast: Bool) { (self.entries, self.isLast) = (entries, isLast) }
  enum CodingKeys: Int, CodingKey { case entries = 1, isLast }
}

/// One customer of a list. The client has made all random draws already.
public struct EnqueueEntry: Codable, Sendable, Equatable {
  /// Requested service.
  public var service: ServiceName
  /// Priority in the queue.
  public var priority: Priority
  /// Amount in won, and account.
  public var amount, account: Int64
  /// Idempotency key: a known key adds no customer. The same key with another customer is refused.
  public var key: String?
  /// Properties that the client has drawn, so that they are not part of the request; nil if unknown, and then
  /// the request of a known key is not compared.
  public var drawn: DrawnParts?
  /// Payload, at most ``Limits/payloadLength`` bytes; nil for none.
  public var payload: [UInt8]?
  /// Earliest time of service, in milliseconds since 1970; nil for at once, or for ``delay``.
  public var dueAt: Int64?
  /// Delay until the earliest time of service, in milliseconds after the coordinator has received the
  /// whole list, at most ``Limits/delay``; nil for at once, or for ``dueAt``.
  public var delay: Int64?

  public init(
    service: ServiceName, priority: Priority, amount: Int64, account: Int64, key: String?,
    drawn: DrawnParts? = nil, payload: [UInt8]? = nil, dueAt: Int64? = nil, delay: Int64? = nil
  ) {
    (self.service, self.priority, self.amount, self.account) = (service, priority, amount, account)
    (self.key, self.drawn, self.payload) = (key, drawn, payload)
    (self.dueAt, self.delay) = (dueAt, delay)
  }

  /// Maximum number of bytes that this customer takes in a message.
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

  enum CodingKeys: Int, CodingKey {
    case service = 1, priority, amount, account, key, drawn, payload, dueAt, delay
  }
}

/// Properties of a customer that were drawn at random.
public struct DrawnParts: OptionSet, Codable, Sendable, Equatable {
  /// The properties as bits.
  public let rawValue: UInt8

  /// Any properties; unknown bits are kept.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// The service was drawn.
  public static let service = DrawnParts(rawValue: 1)
  /// The amount was drawn.
  public static let amount = DrawnParts(rawValue: 2)
  /// The account was drawn.
  public static let account = DrawnParts(rawValue: 4)
}

/// Selection of receipts, optionally with later ones.
public struct ReceiptQuery: Codable, Sendable, Equatable {
  /// Days of the receipts.
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
  /// continues after the last one it has received.
  public var after: Int64
  /// Requested service; nil for all.
  public var service: ServiceName?
  /// Maximum number, 1 … ``TicketQuery/limitAtMost``; nil for all. Not allowed with `follow`.
  public var limit: Int64?
  /// With `follow` in a shared bank, in place of `after`: the last receipts received from each branch, of
  /// attended and of cancelled customers, 0 … ``marksAtMost``; nil for none.
  public var behind: [ReceiptMark]?

  /// Maximum number of marks.
  public static let marksAtMost = 10_000

  public init(
    days: Days, follow: Bool, after: Int64 = 0, service: ServiceName? = nil, limit: Int64? = nil
  ) {
    (self.days, self.follow, self.after) = (days, follow, after)
    (self.service, self.limit) = (service, limit)
  }

  /// Records a received receipt: the next query continues after it.
  public mutating func goOn(behind receipt: ReceiptReport) {
    guard let mark = receipt.mark else {
      after = receipt.sequence
      return
    }
    var marks = behind ?? []
    if let place = marks.firstIndex(where: { $0.isOfSameOrder(as: mark) }) {
      marks[place] = mark
    } else {
      marks.append(mark)
    }
    behind = marks
    // For branches not received from yet, no receipts before this day are wanted.
    if days == .present { days = .day(receipt.day) }
  }

  enum CodingKeys: Int, CodingKey { case days = 1, follow, after, service, limit, behind }
}

/// Requested number of windows of a service.
public struct ServiceWindows: Codable, Sendable, Equatable {
  /// Name of the service.
  public var service: ServiceName
  /// Number of windows, 0 … ``Limits/windowsPerService``.
  public var count: Int64
  public init(service: ServiceName, count: Int64) { (self.service, self.count) = (service, count) }
  enum CodingKeys: Int, CodingKey { case service = 1, count }
}

/// Request to stop the bank.
public struct StopOrder: Codable, Sendable, Equatable {
  /// True to finish only the customers being served.
  public var now: Bool
  /// Time limit of each step of the drain, in milliseconds; nil for none. After `serve_waiting` the remaining
  /// customers wait for the next start; after `finish_serving` those at a window return to the line.
  public var timeoutMilliseconds: Int64?
  /// Step of the drain to proceed to at once; nil for none. It is named, and not "the next one", so that a
  /// request at the moment of a step's end does not skip another step.
  public var step: DrainStep?
  /// True to serve the customers of all branches of a shared bank and end its day; nil, as from an older
  /// build, for this branch alone. A bank with a database in its home refuses it (`not_shared`).
  public var endsBank: Bool?
  /// True to leave delayed customers for the next start and serve the others; nil from an older build.
  public var leavesDelayed: Bool?
  /// True if the answer is the state of the closing bank; nil if it is the last message of the closed one.
  public var noWait: Bool?

  public init(
    now: Bool, timeoutMilliseconds: Int64?, step: DrainStep? = nil, endsBank: Bool? = nil,
    leavesDelayed: Bool? = nil, noWait: Bool? = nil
  ) {
    (self.now, self.timeoutMilliseconds, self.step) = (now, timeoutMilliseconds, step)
    (self.endsBank, self.leavesDelayed, self.noWait) = (endsBank, leavesDelayed, noWait)
  }
  enum CodingKeys: Int, CodingKey {
    case now = 1, timeoutMilliseconds, step, endsBank, leavesDelayed, noWait
  }
}
