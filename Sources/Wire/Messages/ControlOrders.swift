// Owns the contents of the larger requests on the control socket. It knows no socket.
// Nothing here is checked beyond its form: the coordinator checks ranges and limits before it acts.

import BankModel

/// Customers of one kind, with chance where something is left open.
public struct EnqueueOrder: Codable, Sendable, Equatable {
  /// How many, 1 … ``Limits/customersPerCommand``.
  public var count: Int64
  /// What they come for; drawn for each where nil.
  public var service: ServiceName?
  /// Their standing.
  public var priority: Priority
  /// The amount in won, and the account; drawn for each where nil.
  public var amount, account: Int64?
  /// The seed of every draw.
  public var seed: UInt64
  /// Makes the request repeatable: the same key again returns the same tickets and adds nobody. Keys are compared byte by
  /// byte. The same key with another request is refused.
  public var key: String?
  /// The name of what is ordered, such as that of a juice; nil for nothing.
  public var article: String?
  /// Whether somebody has chosen the seed, so that it is a part of the request; nil for no.
  public var isSeedAsked: Bool?
  /// What each of them carries, at most ``Limits/payloadLength`` bytes; nil for nothing.
  public var payload: [UInt8]?
  /// Before this moment, in milliseconds since 1970, they are not served; nil for at once, or for ``delay``.
  public var dueAt: Int64?
  /// The same as so many milliseconds from when the coordinator hears of it, at most ``Limits/delay``.
  public var delay: Int64?
  /// True if the payload is a command line, for a service whose customers bring one; a coordinator refuses it for any
  /// other service. Nil from a build that does not say.
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

/// A part of a list of customers who are all different.
public struct EnqueueList: Codable, Sendable, Equatable {
  /// The customers of this part, at most ``partLimit``.
  public var entries: [EnqueueEntry]
  /// Whether this is the last part, so that the list can be taken in.
  public var isLast: Bool

  /// Customers in one part, at most.
  public static let partLimit = 2_000
  /// Bytes of one part, at most, as ``EnqueueEntry/weight`` counts them; one customer may weigh more. So every part fits
  /// into a frame.
  public static let partWeight = 1 << 20

  /// Whether one more customer goes into a part in which so many are, of this weight.
  public static func hasRoom(
    for entry: EnqueueEntry, beside count: Int, weighing weight: Int, limit: Int = partLimit
  ) -> Bool {
    count == 0 || count < limit && weight + entry.weight <= partWeight
  }

  public init(entries: [EnqueueEntry], isLast: Bool) { (self.entries, self.isLast) = (entries, isLast) }
  enum CodingKeys: Int, CodingKey { case entries = 1, isLast }
}

/// One customer of a list. Chance was already decided by the client.
public struct EnqueueEntry: Codable, Sendable, Equatable {
  /// What the customer comes for.
  public var service: ServiceName
  /// The customer's standing.
  public var priority: Priority
  /// The amount, in won, and the account.
  public var amount, account: Int64
  /// Makes this customer repeatable: a known key adds nobody. The same key with another customer is refused.
  public var key: String?
  /// What of it the client has drawn, so that it is no part of what was asked; nil where the client does not say, and then
  /// a known key is not compared with anything.
  public var drawn: DrawnParts?
  /// What the customer carries, at most ``Limits/payloadLength`` bytes; nil for nothing.
  public var payload: [UInt8]?
  /// Before this moment, in milliseconds since 1970, the customer is not served; nil for at once, or for ``delay``.
  public var dueAt: Int64?
  /// The same as so many milliseconds from when the coordinator has the whole list, at most ``Limits/delay``.
  public var delay: Int64?

  public init(
    service: ServiceName, priority: Priority, amount: Int64, account: Int64, key: String?,
    drawn: DrawnParts? = nil, payload: [UInt8]? = nil, dueAt: Int64? = nil, delay: Int64? = nil
  ) {
    (self.service, self.priority, self.amount, self.account) = (service, priority, amount, account)
    (self.key, self.drawn, self.payload) = (key, drawn, payload)
    (self.dueAt, self.delay) = (dueAt, delay)
  }

  /// So many bytes this customer takes in a message, at most.
  public var weight: Int {
    64 + service.text.utf8.count + (key?.utf8.count ?? 0) + (payload?.count ?? 0) + (dueAt == nil ? 0 : 10)
      + (delay == nil ? 0 : 10)
  }

  /// The customer that is asked for; for when is another matter.
  ///
  /// - Parameter service: the number of the service.
  public func order(for service: Service) -> CustomerOrder {
    CustomerOrder(service: service, priority: priority, amount: amount, account: account)
  }

  enum CodingKeys: Int, CodingKey {
    case service = 1, priority, amount, account, key, drawn, payload, dueAt, delay
  }
}

/// What of a customer was left to chance.
public struct DrawnParts: OptionSet, Codable, Sendable, Equatable {
  /// The parts as bits.
  public let rawValue: UInt8

  /// Any parts; bits that mean nothing are kept.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// The service.
  public static let service = DrawnParts(rawValue: 1)
  /// The amount.
  public static let amount = DrawnParts(rawValue: 2)
  /// The account.
  public static let account = DrawnParts(rawValue: 4)
}

/// Which receipts, and whether those that come later too.
public struct ReceiptQuery: Codable, Sendable, Equatable {
  /// Whose receipts.
  public enum Days: Codable, Sendable, Equatable {
    /// Those of the present day.
    case present
    /// Those of one day.
    case day(Int64)
    /// All.
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

  /// Of which days.
  public var days: Days
  /// Whether to go on with the receipts that are still to come.
  public var follow: Bool
  /// Only receipts behind this place in the order of commits; 0 for all. A follower that lost its connection goes
  /// on from the last one it saw.
  public var after: Int64
  /// Of which service; nil for all.
  public var service: ServiceName?
  /// So many at most, 1 … ``TicketQuery/limitAtMost``; nil for all. With `follow` none may be named.
  public var limit: Int64?
  /// With `follow` in a shared bank, in the place of `after`: of each branch the last receipts that were seen, of
  /// customers who were attended to and of cancelled ones, 0 … ``marksAtMost``; nil for none.
  public var behind: [ReceiptMark]?

  /// So many marks at most.
  public static let marksAtMost = 10_000

  public init(
    days: Days, follow: Bool, after: Int64 = 0, service: ServiceName? = nil, limit: Int64? = nil
  ) {
    (self.days, self.follow, self.after) = (days, follow, after)
    (self.service, self.limit) = (service, limit)
  }

  /// A receipt was seen: whoever asks again is told of those behind it.
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
    // Of a branch that was not seen yet nothing earlier than this day is wanted.
    if days == .present { days = .day(receipt.day) }
  }

  enum CodingKeys: Int, CodingKey { case days = 1, follow, after, service, limit, behind }
}

/// How many windows a service shall have.
public struct ServiceWindows: Codable, Sendable, Equatable {
  /// The service.
  public var service: ServiceName
  /// Windows, 0 … ``Limits/windowsPerService``.
  public var count: Int64
  public init(service: ServiceName, count: Int64) { (self.service, self.count) = (service, count) }
  enum CodingKeys: Int, CodingKey { case service = 1, count }
}

/// How the bank ends.
public struct StopOrder: Codable, Sendable, Equatable {
  /// Finish only those being served.
  public var now: Bool
  /// How long each step of the drain may take, in milliseconds: after the first those left go on waiting for the next
  /// start, after the second those at a window are taken back; nil for no bound.
  public var timeoutMilliseconds: Int64?
  /// Go on to this step of the drain at once; nil for no hurry. It is named, and not "the next one", so that who asks
  /// in the moment in which a step ends by itself does not skip another.
  public var step: DrainStep?
  /// Whether all branches of a shared bank are to be served empty, and its day ends; nil, as from a build that does not know
  /// of it, for this branch alone. A bank with its books in its home refuses it (`not_shared`).
  public var endsBank: Bool?
  /// True if delayed customers stay for the next start and the others are served; nil from a build that does not say.
  public var leavesDelayed: Bool?
  /// Whether the answer is the state of the bank that has begun to close; nil for the last word of one that has closed.
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
