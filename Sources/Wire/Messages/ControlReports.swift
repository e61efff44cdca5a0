// Contents of the smaller answers on the control socket. A failure is a code with details, which the client
// translates.

import BankModel

/// Reason why a request failed. Nothing was changed, except where a ``Code`` says otherwise.
public struct Failure: Codable, Sendable, Equatable, Error {
  /// Reason of the failure. Scripts can rely on its ``name``.
  public enum Code: String, Sendable, Codable, CaseIterable {
    /// Too many customers, payload bytes or priorities would wait; `subject` is the limit.
    case queueFull = "queue_full"
    /// The bank is closing, and refuses the request.
    case draining
    /// The disk is full.
    case diskFull = "disk_full"
    /// The bank is not open.
    case notOpen = "not_open"
    /// The bank is already open; `subject` is the coordinator's pid, if it is known.
    case alreadyOpen = "already_open"
    /// There is no ticket with this number; `subject` is the number.
    case noSuchTicket = "no_such_ticket"
    /// There is no business day with this number; `subject` is the number.
    case noSuchDay = "no_such_day"
    /// The state of the ticket does not allow the operation; `subject` is `NUMBER STATE`. Or the day of a reset is
    /// not the current day.
    case wrongState = "wrong_state"
    /// The request is invalid, for example because it violates a limit.
    case badRequest = "bad_request"
    /// The configuration cannot be used.
    case badConfiguration = "bad_configuration"
    /// The database is damaged, and was not changed.
    case damaged
    /// A newer program has written the database.
    case newerSchema = "newer_schema"
    /// The home directory cannot be used, for example because of its owner or its permissions.
    case badHome = "bad_home"
    /// A window was given up, because its process did not start; `subject` is its name. Other windows may be open.
    case startFailed = "windows_failed"
    /// A system call failed.
    case system
    /// The key belongs to another request; `subject` is the key.
    case keyConflict = "key_conflict"
    /// The ticket belongs to a business day that has ended; `subject` is that day.
    case wrongDay = "wrong_day"
    /// Another process inspects the closed bank, and has exclusive access until it ends.
    case inspected
    /// A file of the bank was removed or renamed while the bank was open; `subject` is the file. Or the
    /// database is missing although its log exists; `detail` is then the log.
    case removed
    /// The request was withdrawn before its customers were added: by its client or, if `messageDetail` is set, by
    /// a reset. Or the client has withdrawn a `board`.
    case withdrawn
    /// The client reads events more slowly than they occur. It receives no further events.
    case slowConsumer = "too_slow"
    /// The bank offers no service of this name; `subject` is the name.
    case noSuchService = "no_such_service"
    /// There is no window with this name; `subject` is the name. An outside worker has no window.
    case noSuchWindow = "no_such_window"
    /// The window now has another process or none; `subject` is `NAME GENERATION PID`, with pid 0 for none.
    case processChanged = "other_process"
    /// The request needs a shared bank, but this bank has its database in its home; `subject` is the request.
    case requiresSharedStore = "not_shared"
    /// The lease of the branch has run out, so that other branches may have rescued its customers.
    case leaseLost = "lease_lost"
    /// A shared bank does not support the request; `subject` is the request or empty.
    case unsupportedWithSharedStore = "not_in_shared_bank"
    /// The database was not moved, and nothing was changed; `subject` is the destination or empty.
    case notMoved = "not_moved"
    /// The database of the home was moved; `subject` is its location, and `detail` the marker file. If
    /// `messageDetail` is set, it is unknown whether the move was completed.
    case databaseMoved = "books_moved"
    /// The client is part of the work of a customer of this bank, and the request would wait for the end of
    /// that work. `subject` is the request; `detail` is the window and the ticket number of the work.
    case fromOwnWork = "from_own_work"

    /// Name of the code outside of messages, such as in JSON errors. Messages contain the raw value, which must not
    /// change.
    public var name: String {
      switch self {
      case .damaged: "database_damaged"
      case .startFailed: "start_failed"
      case .system: "system_error"
      case .inspected: "home_locked"
      case .removed: "file_removed"
      case .withdrawn: "request_withdrawn"
      case .slowConsumer: "slow_consumer"
      case .processChanged: "process_changed"
      case .requiresSharedStore: "requires_shared_bank"
      case .unsupportedWithSharedStore: "unsupported_in_shared_bank"
      case .notMoved: "move_refused"
      case .databaseMoved: "database_moved"
      case .fromOwnWork: "would_deadlock"
      default: rawValue
      }
    }
  }

  /// Reason of the failure.
  public var code: Code
  /// Subject of the failure, and details in English.
  public var subject, detail: String
  /// Details as a kind and its values, for translation; nil if there is only text.
  public var messageDetail: MessageDetail?

  public init(_ code: Code, subject: String = "", detail: String = "") {
    (self.code, self.subject, self.detail) = (code, subject, detail)
  }

  /// A failure with details that can be translated; ``detail`` is their English text.
  public init(_ code: Code, subject: String = "", messageDetail: MessageDetail) {
    self.init(code, subject: subject, detail: messageDetail.description)
    self.messageDetail = messageDetail.kind == .literal && messageDetail.source == nil ? nil : messageDetail
  }

  /// Field number of each property of a failure, in messages.
  enum CodingKeys: Int, CodingKey { case code = 1, subject, detail, messageDetail }
}

/// Answer to a request that adds customers: the tickets that it has issued.
public struct EnqueuedReport: Codable, Sendable, Equatable {
  /// Business day of the tickets.
  public var day: Int64
  /// The first and the last number of the issued tickets or, for a repeated key, of those that the first request
  /// issued; 0 if a list has added no customer.
  public var first, last: Int64
  /// Number of issued tickets. For a repeated key, the number of tickets that the first request issued.
  public var count: Int64
  /// Customers that were not added because their keys were known. For a list, `count` does not include them.
  /// For a single request with a key, all of its customers or none.
  public var known: Int64
  /// Tickets of the known customers of a list, ordered by day and number, at most ``TicketSpan/limit`` spans; nil
  /// for none, and for a request that is not a list.
  public var alreadyIssuedTickets: [TicketSpan]?

  public init(
    day: Int64, first: Int64, last: Int64, count: Int64, known: Int64 = 0,
    alreadyIssuedTickets: [TicketSpan]? = nil
  ) {
    (self.day, self.first, self.last, self.count) = (day, first, last, count)
    (self.known, self.alreadyIssuedTickets) = (known, alreadyIssuedTickets)
  }
  /// Field number of each property of the answer with a request's tickets, in messages.
  enum CodingKeys: Int, CodingKey { case day = 1, first, last, count, known, alreadyIssuedTickets }
}

/// Consecutive tickets of one day.
public struct TicketSpan: Codable, Sendable, Equatable {
  /// Maximum number of spans in one answer. If there are too many days, the earliest are left out.
  public static let limit = 4_096
  /// Number of spans from which on the last span of a day is extended to the next known ticket, and then includes other
  /// tickets, too. An answer with fewer spans names exactly the known tickets.
  public static let exactLimit = limit / 2

  /// Business day, first number and last number.
  public var day, first, last: Int64

  public init(day: Int64, first: Int64, last: Int64) {
    (self.day, self.first, self.last) = (day, first, last)
  }
  /// Field number of each property of a span of consecutive tickets, in messages.
  enum CodingKeys: Int, CodingKey { case day = 1, first, last }
}

/// Result of waiting for the end of tickets: how many became dead letters, and how many were cancelled.
public struct AwaitedTicketsReport: Codable, Sendable, Equatable {
  /// Number of dead letters.
  public var dead: Int64
  /// Number of cancelled tickets; nil for none, and from an older build.
  public var cancelled: Int64?
  public init(dead: Int64, cancelled: Int64? = nil) { (self.dead, self.cancelled) = (dead, cancelled) }
  /// Field number of each property of the result of waiting for tickets, in messages.
  enum CodingKeys: Int, CodingKey { case dead = 1, cancelled }
}

/// Result of an audit.
public struct AuditReport: Codable, Sendable, Equatable {
  /// Issued tickets of all days.
  public var issued: Int64
  /// Receipts of customers whose work was done or that were turned away because of a shortage (`served` and
  /// `out_of_stock`), and receipts with the outcome `cancelled`.
  public var served, cancelled: Int64
  /// Customers in line or at a window; delayed ones; dead letters.
  public var waiting, delayed, dead: Int64
  /// Tickets that have no state, and tickets that have more than one.
  public var lost, duplicated: Int64
  /// Difference between debits and credits, in won.
  public var ledgerDifference: Int64
  /// Violations of the invariants, one sentence each.
  public var problems: [String]
  /// Difference between the stock and its ledger, in pieces; nil if there is no stock.
  public var stockDifference: Int64?
  /// Difference between the vending machine's money and its ledger, in won; nil if there is no machine.
  public var moneyDifference: Int64?
  /// Observations that violate no invariant, one English sentence each; nil for none.
  public var notes: [String]?
  /// The problems as kinds and their values, in the same order, for translation; nil for none, and from an
  /// older coordinator.
  public var messageDetails: [MessageDetail]?
  /// The notes as kinds and their values, in the same order, for translation; nil for none, and from an older
  /// coordinator.
  public var noteDetails: [MessageDetail]?

  public init(
    issued: Int64, served: Int64, cancelled: Int64, waiting: Int64, delayed: Int64, dead: Int64, lost: Int64,
    duplicated: Int64, ledgerDifference: Int64, problems: [String], stockDifference: Int64? = nil,
    moneyDifference: Int64? = nil
  ) {
    (self.stockDifference, self.moneyDifference) = (stockDifference, moneyDifference)
    (self.issued, self.served, self.cancelled, self.waiting) = (issued, served, cancelled, waiting)
    (self.delayed, self.dead, self.lost, self.duplicated) = (delayed, dead, lost, duplicated)
    (self.ledgerDifference, self.problems) = (ledgerDifference, problems)
  }

  /// Field number of each property of the result of an audit, in messages.
  enum CodingKeys: Int, CodingKey {
    case issued = 1, served, cancelled, waiting, delayed, dead, lost, duplicated, ledgerDifference, problems,
      stockDifference, moneyDifference, notes, messageDetails, noteDetails
  }
}

extension AuditReport {
  /// The problems in translatable form. Those from an older program are quoted sentences.
  public var findings: [MessageDetail] { messageDetails ?? problems.map { MessageDetail(quoting: $0) } }

  /// Adds a violation.
  public mutating func add(_ problem: MessageDetail) {
    var all = findings
    all.append(problem)
    messageDetails = all
    problems.append(problem.description)
  }

  /// Adds an observation that violates no invariant.
  public mutating func note(_ messageDetail: MessageDetail) {
    noteDetails = (noteDetails ?? []) + [messageDetail]
    notes = (notes ?? []) + [messageDetail.description]
  }

  /// Adds the problems and the notes of another report.
  public mutating func add(contentsOf other: AuditReport) {
    for problem in other.findings { add(problem) }
    for messageDetail in other.noteDetails ?? (other.notes ?? []).map({ MessageDetail(quoting: $0) }) {
      note(messageDetail)
    }
  }
}

/// Start or end of an attempt at a window.
public struct AttemptEvent: Codable, Sendable, Equatable {
  /// Kind of the event: the attempt started, ended with a receipt, or ended without one.
  public enum CustomerEvent: UInt8, Sendable, Codable {
    /// The attempt has started.
    case started = 1
    /// The attempt ended with a receipt, of any outcome but `cancelled`.
    case completed = 2
    /// The attempt ended without a receipt: the customer waits again, is delayed, or became a dead letter.
    case interrupted = 3
  }

  /// Kind of the event.
  public var phase: CustomerEvent
  /// Time in milliseconds since 1970.
  public var at: Int64
  /// Business day of the ticket.
  public var day: Int64
  /// Ticket number.
  public var ticket: Int64
  /// Requested service.
  public var service: ServiceName
  /// Priority in the queue.
  public var priority: Priority
  /// Name of the window.
  public var window: String
  /// Number of the attempt, from 1.
  public var attempt: Int32

  public init(
    phase: CustomerEvent, at: Int64, day: Int64, ticket: Int64, service: ServiceName, priority: Priority,
    window: String, attempt: Int32
  ) {
    (self.phase, self.at, self.day, self.ticket) = (phase, at, day, ticket)
    (self.service, self.priority, self.window, self.attempt) = (service, priority, window, attempt)
  }
  /// Field number of each property of the start or end of an attempt, in messages.
  enum CodingKeys: Int, CodingKey { case phase = 1, at, day, ticket, service, priority, window, attempt }
}
