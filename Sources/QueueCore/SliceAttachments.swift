// Keys and payloads of new customers.
// The queue stages them with the customers of the slice.

import BankModel

/// Idempotency key of a new customer, with the digest and the ticket of that customer.
public struct SliceKey: Sendable, Equatable {
  /// The key, not empty.
  public var key: String
  /// Digest of the customer's request; nil if the client sent none.
  public var digest: Int64?
  /// Ticket of the customer.
  public var ticket: TicketNumber

  /// A key of the customer with this ticket.
  public init(key: String, digest: Int64?, ticket: TicketNumber) {
    (self.key, self.digest, self.ticket) = (key, digest, ticket)
  }
}

/// One payload, and the customers of a slice that carry it.
public struct SlicePayload: Sendable, Equatable {
  /// The bytes.
  public var payload: [UInt8]
  /// Tickets of the customers, all of this slice.
  public var tickets: ClosedRange<TicketNumber>

  /// A payload of the customers with these tickets.
  public init(payload: [UInt8], tickets: ClosedRange<TicketNumber>) {
    (self.payload, self.tickets) = (payload, tickets)
  }
}

/// Keys and payloads of the customers of one slice.
public struct SliceAttachments: Sendable, Equatable {
  /// Keys of single customers.
  public var keys: [SliceKey] = []
  /// Payloads.
  public var payloads: [SlicePayload] = []
  /// Key of the whole request, stored for all of its tickets with the last slice; nil if it has none.
  public var requestKey: String?
  /// Digest of the request for ``requestKey``; nil if the client sent none.
  public var requestDigest: Int64?

  /// No keys and no payloads.
  public init() {}

  /// True if nothing is attached.
  var isEmpty: Bool { keys.isEmpty && payloads.isEmpty && requestKey == nil }
  /// Payload bytes staged with the slice.
  public var bytes: Int { payloads.reduce(0) { $0 + $1.payload.count * $1.tickets.count } }
}
