// Owns the contents of the smaller answers on the control socket. It knows no socket and no person's language:
// a failure is a code and its particulars, and the client finds the words.

import BankModel

/// Why something was not done. Nothing was changed.
public struct Failure: Codable, Sendable, Equatable, Error {
  /// A reason that a script can rely on. The raw value is the `code` of the JSON error.
  public enum Code: String, Sendable, Codable, CaseIterable {
    /// As many customers wait as may wait.
    case queueFull = "queue_full"
    /// The bank takes no new customers because it is closing.
    case draining
    /// The disk is full.
    case diskFull = "disk_full"
    /// The bank is not open.
    case notOpen = "not_open"
    /// The bank is already open; `subject` is the coordinator's pid.
    case alreadyOpen = "already_open"
    /// There is no ticket with this number; `subject` is the number.
    case noSuchTicket = "no_such_ticket"
    /// There was no such day; `subject` is the day.
    case noSuchDay = "no_such_day"
    /// The ticket is in a state in which this cannot be done; `subject` is `number state`.
    case wrongState = "wrong_state"
    /// The request contradicts itself or a limit.
    case badRequest = "bad_request"
    /// The configuration cannot be used.
    case badConfiguration = "bad_configuration"
    /// The database is damaged. Nothing was overwritten.
    case damaged
    /// The database is of a newer program.
    case newerSchema = "newer_schema"
    /// The home cannot be used: permissions, owner, disk.
    case badHome = "bad_home"
    /// The windows did not become ready; `subject` names them.
    case windowsFailed = "windows_failed"
    /// The system refused.
    case system
    /// The key stands for another request; `subject` is the key.
    case keyConflict = "key_conflict"
    /// The ticket is one of a day that is over; `subject` is that day.
    case wrongDay = "wrong_day"
    /// Somebody looks into the bank, which is not open, and has it to himself meanwhile.
    case inspected
    /// A file of the bank was removed or renamed while it was open; `subject` is the file. Where the database is missing
    /// when the bank is opened, and its log is there, `detail` is the log.
    case removed
    /// The request was withdrawn before it was taken in: by its client, or, where there is a remark, by a reset.
    case withdrawn
    /// The client reads what happens more slowly than it happens, and is told no more of it.
    case tooSlow = "too_slow"
    /// The bank offers no service of this name; `subject` is the name, and the particulars are those that it offers.
    case noSuchService = "no_such_service"
    /// There is no window, and no worker that has come by itself, of this name; `subject` is the name.
    case noSuchWindow = "no_such_window"
    /// Another process is at the window by now, or none; `subject` is `name generation pid` of that one, with pid 0 for none.
    case otherProcess = "other_process"
    /// The bank keeps its books in its own home, and has no other branches; `subject` is what was asked of them.
    case notShared = "not_shared"
    /// The branch was not heard of for so long that the others have taken its customers over. It serves nobody until it has
    /// joined the bank again.
    case leaseLost = "lease_lost"
    /// What a bank with several branches does not offer; `subject` is that.
    case notInSharedBank = "not_in_shared_bank"
    /// The books were not moved, and nothing was changed; `subject` is where they were to be.
    case notMoved = "not_moved"
    /// The books of the home were moved; `subject` is where they are, and `detail` the file that says so. Where a remark says
    /// more, it is not known whether the move has come to its end.
    case booksMoved = "books_moved"
    /// The client runs inside of the bank's own work, for whose end it would wait; `subject` is what it asked for, and `detail` the
    /// window and the number of who is served there.
    case fromOwnWork = "from_own_work"
  }

  /// The reason.
  public var code: Code
  /// What it is about, and the particulars in English.
  public var subject, detail: String
  /// The same as a kind and its values, so that the client can say it in another language; nil where nobody knows more
  /// than the words.
  public var remark: Remark?

  public init(_ code: Code, subject: String = "", detail: String = "") {
    (self.code, self.subject, self.detail) = (code, subject, detail)
  }

  /// The same with particulars that can be said in any language.
  public init(_ code: Code, subject: String = "", remark: Remark) {
    self.init(code, subject: subject, detail: remark.description)
    self.remark = remark.kind == .quoted && remark.source == nil ? nil : remark
  }

  enum CodingKeys: Int, CodingKey { case code = 1, subject, detail, remark }
}

/// The tickets of one request.
public struct EnqueuedReport: Codable, Sendable, Equatable {
  /// Their business day.
  public var day: Int64
  /// The first and the last number; 0 where nobody was added.
  public var first, last: Int64
  /// Tickets that were issued, now or, for a repeated key, then.
  public var count: Int64
  /// Customers who were not added again, because their keys were known: of a list those who are not among `count`; of a
  /// request with a key all of them, or nobody.
  public var known: Int64
  /// The tickets of those of a list who were known, in the order of days and numbers, at most ``TicketSpan/limit``
  /// spans; nil where nobody was.
  public var knownTickets: [TicketSpan]?

  public init(
    day: Int64, first: Int64, last: Int64, count: Int64, known: Int64 = 0, knownTickets: [TicketSpan]? = nil
  ) {
    (self.day, self.first, self.last, self.count) = (day, first, last, count)
    (self.known, self.knownTickets) = (known, knownTickets)
  }
  enum CodingKeys: Int, CodingKey { case day = 1, first, last, count, known, knownTickets }
}

/// Consecutive tickets of one day.
public struct TicketSpan: Codable, Sendable, Equatable {
  /// Spans in one answer. Beyond them the last one of a day goes on to the next known ticket, and holds strangers, too.
  public static let limit = 4_096

  /// The business day, the first number and the last.
  public var day, first, last: Int64

  public init(day: Int64, first: Int64, last: Int64) {
    (self.day, self.first, self.last) = (day, first, last)
  }
  enum CodingKeys: Int, CodingKey { case day = 1, first, last }
}

/// How tickets that were waited for have ended.
public struct EndedReport: Codable, Sendable, Equatable {
  /// Those that stand among the dead letters.
  public var dead: Int64
  /// Those that were cancelled; nil for none, and from a build that does not count them.
  public var cancelled: Int64?
  public init(dead: Int64, cancelled: Int64? = nil) { (self.dead, self.cancelled) = (dead, cancelled) }
  enum CodingKeys: Int, CodingKey { case dead = 1, cancelled }
}

/// What an audit found.
public struct AuditReport: Codable, Sendable, Equatable {
  /// Tickets issued over all days.
  public var issued: Int64
  /// Receipts with this outcome.
  public var served, cancelled: Int64
  /// Customers who wait, in line or at a window; those who wait for a next attempt; dead letters.
  public var waiting, delayed, dead: Int64
  /// Tickets that stand nowhere, and those that stand in more than one place.
  public var lost, duplicated: Int64
  /// Won by which debits and credits differ.
  public var ledgerDifference: Int64
  /// Everything that is not as promised, a sentence each.
  public var problems: [String]
  /// Pieces by which the stock and what was done with it differ; nil where there is no stock.
  public var stockDifference: Int64?
  /// Won by which a machine's money and what was done with it differ; nil where there is no machine.
  public var moneyDifference: Int64?
  /// What is worth knowing and breaks no promise, a sentence each, in English; nil for nothing.
  public var notes: [String]?
  /// The problems as kinds and their values, in the same order, so that the client can say them in another language; nil
  /// for none, and from an older coordinator.
  public var remarks: [Remark]?
  /// The notes in the same way.
  public var noteRemarks: [Remark]?

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

  enum CodingKeys: Int, CodingKey {
    case issued = 1, served, cancelled, waiting, delayed, dead, lost, duplicated, ledgerDifference, problems,
      stockDifference, moneyDifference, notes, remarks, noteRemarks
  }
}

extension AuditReport {
  /// The problems as they can be said in any language; sentences alone, of an older service, are as they came.
  public var findings: [Remark] { remarks ?? problems.map { Remark(quoting: $0) } }

  /// Adds a problem.
  public mutating func add(_ problem: Remark) {
    var all = findings
    all.append(problem)
    remarks = all
    problems.append(problem.description)
  }

  /// Adds what is worth knowing and breaks no promise.
  public mutating func note(_ remark: Remark) {
    noteRemarks = (noteRemarks ?? []) + [remark]
    notes = (notes ?? []) + [remark.description]
  }

  /// Adds the problems and the notes of another report.
  public mutating func add(everythingOf other: AuditReport) {
    for problem in other.findings { add(problem) }
    for remark in other.noteRemarks ?? (other.notes ?? []).map({ Remark(quoting: $0) }) { note(remark) }
  }
}

/// Somebody at a window began or ended.
public struct BranchEvent: Codable, Sendable, Equatable {
  /// What happened.
  public enum Happening: UInt8, Sendable, Codable {
    /// A customer was handed to a teller.
    case started = 1
    /// A teller reported a customer as done.
    case completed = 2
    /// A teller was lost, or failed, and its customer goes back.
    case interrupted = 3
  }

  /// What happened.
  public var happening: Happening
  /// When, in milliseconds since 1970.
  public var at: Int64
  /// The business day.
  public var day: Int64
  /// Whose.
  public var ticket: Int64
  /// For what.
  public var service: ServiceName
  /// With which standing.
  public var priority: Priority
  /// At which window.
  public var window: String
  /// The attempt, from 1.
  public var attempt: Int32

  public init(
    happening: Happening, at: Int64, day: Int64, ticket: Int64, service: ServiceName, priority: Priority,
    window: String, attempt: Int32
  ) {
    (self.happening, self.at, self.day, self.ticket) = (happening, at, day, ticket)
    (self.service, self.priority, self.window, self.attempt) = (service, priority, window, attempt)
  }
  enum CodingKeys: Int, CodingKey { case happening = 1, at, day, ticket, service, priority, window, attempt }
}
