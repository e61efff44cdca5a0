// Rows of the customers' payloads. They are not in the rows of the customers, because only some customers have
// payloads, and pages and lists of customers need not read them.
// Invariant: a row is written and deleted in the same transaction as the row of its customer. The exception is the
// removal of an incomplete request, which deletes the payloads before the customers. A ticket outside the known
// range of tickets with payloads is not looked up.

import BankModel
import CSQLite
import QueueCore

extension SQLiteStore {
  /// Payload of a customer; nil if the customer has none. See `QueueStore`.
  public func payload(of ticket: TicketNumber) throws(StoreError) -> [UInt8]? {
    try settle()
    guard payloads.mayHave(ticket), ticket < unissued.bound else { return nil }
    statements.payload.bind(1, ticket)
    return try statements.payload.first { $0.bytes(0) }
  }

  /// Adds a row with this payload for each of the tickets.
  func attach(_ payload: [UInt8], to tickets: ClosedRange<TicketNumber>) throws(StoreError) {
    payloads.add(tickets)
    let statement = statements.insertPayload
    var failure: StoreError?
    payload.withUnsafeBytes { bytes in
      do throws(StoreError) {
        try statement.bind(2, uncopied: bytes)
        for ticket in tickets {
          statement.bind(1, ticket)
          try statement.run(violation: MessageDetail(.payloadTwice, ticket, presentDay))
        }
      } catch { failure = error }
      // The pointer is invalid after this closure.
      statement.bind(2, optional: nil)
    }
    if let failure { throw failure }
  }

  /// Deletes the payload of a customer that leaves the queue.
  @inline(__always) func dropPayload(of ticket: TicketNumber) throws(StoreError) {
    guard payloads.mayHave(ticket) else { return }
    statements.deletePayload.bind(1, ticket)
    try statements.deletePayload.run()
  }

  /// Deletes the payloads of all customers with these tickets.
  func dropPayloads(of tickets: ClosedRange<TicketNumber>) throws(StoreError) {
    guard payloads.mayHaveAny(in: tickets) else { return }
    statements.deletePayloads.bindAll(tickets.lowerBound, tickets.upperBound)
    try statements.deletePayloads.run()
  }

  /// Last ticket of a piece that is deleted quickly: at most ``payloadPiece`` bytes of payloads, or one customer with
  /// more.
  func endOfDeletionPiece(of tickets: ClosedRange<TicketNumber>) throws(StoreError) -> TicketNumber {
    guard payloads.mayHaveAny(in: tickets) else { return tickets.upperBound }
    statements.payloadLengths.bindAll(tickets.lowerBound, tickets.upperBound)
    defer { statements.payloadLengths.reset() }
    var bytes: Int64 = 0
    var end: TicketNumber?
    while try statements.payloadLengths.step() {
      let ticket = statements.payloadLengths.integer(0)
      bytes += statements.payloadLengths.integer(1)
      if bytes > Self.payloadPiece, let end { return end }
      end = ticket
    }
    return tickets.upperBound
  }

  /// Maximum number of payload bytes in a piece.
  private static let payloadPiece: Int64 = 8 << 20

  static func readPayloads(_ database: Database) throws(StoreError) -> RowBounds {
    let purpose: StaticString = "looking for payloads"
    return RowBounds(
      try database.number("SELECT min(ticket) FROM payload", while: purpose),
      try database.number("SELECT max(ticket) FROM payload", while: purpose))
  }

  /// Adds a finding for each payload without a customer.
  func auditPayloads(_ report: inout AuditRecord) throws(StoreError) {
    // The payloads of an incomplete request are deleted before its customers.
    let arriving = try readFirstUnissued() ?? .max
    try database.withStatement(
      """
      SELECT ticket FROM payload WHERE ticket < \(arriving) AND ticket NOT IN (SELECT ticket FROM customer)
      ORDER BY ticket
      """, while: "reading all payloads"
    ) { row throws(StoreError) in
      while try row.step() { report.note(MessageDetail(.payloadWithoutCustomer, row.integer(0))) }
    }
  }
}
