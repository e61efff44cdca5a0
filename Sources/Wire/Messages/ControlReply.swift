// Answers of the coordinator on the control socket. An answer contains the number of its request, and a flag
// that is true if another answer to that request follows.

import BankModel

/// Messages from the coordinator to a client.
public enum BankMessage: Sendable, Equatable {
  /// The coordinator accepted the hello.
  case welcome(Welcome)
  /// The coordinator ends the connection for this reason.
  case refused(Refusal)
  /// An answer.
  case reply(ControlReply)

  /// Field number of each kind of message.
  private enum Kind: Int, CodingKey { case welcome = 1, refused, reply }
}

extension BankMessage: Codable {
  public func encode(to encoder: any Encoder) throws {
    var message = encoder.container(keyedBy: Kind.self)
    switch self {
    case .welcome(let welcome): try message.encode(welcome, forKey: .welcome)
    case .refused(let refusal): try message.encode(refusal, forKey: .refused)
    case .reply(let reply): try message.encode(reply, forKey: .reply)
    }
  }

  public init(from decoder: any Decoder) throws {
    let message = try decoder.container(keyedBy: Kind.self)
    switch try message.singleKind() {
    case .welcome: self = .welcome(try message.decode(Welcome.self, forKey: .welcome))
    case .refused: self = .refused(try message.decode(Refusal.self, forKey: .refused))
    case .reply: self = .reply(try message.decode(ControlReply.self, forKey: .reply))
    }
  }
}

/// An answer with the number of its request.
public struct ControlReply: Codable, Sendable, Equatable {
  /// Number of the request.
  public var number: UInt32
  /// Content of the answer.
  public var answer: ControlAnswer
  /// True if another answer to the same request follows.
  public var more: Bool

  public init(number: UInt32, answer: ControlAnswer, more: Bool = false) {
    (self.number, self.answer, self.more) = (number, answer, more)
  }
  /// Field number of each property of a numbered answer, in messages.
  enum CodingKeys: Int, CodingKey { case number = 1, answer, more }
}

/// Answers of the coordinator. Large, rare ones are indirect, because the size of an enumeration is that of its
/// largest case.
public enum ControlAnswer: Sendable, Equatable {
  /// The request failed. With a few exceptions (see ``Failure/Code``), nothing was changed.
  case failure(Failure)
  /// The state of the bank.
  indirect case status(StatusReport)
  /// Tickets were issued and are on disk.
  case enqueued(EnqueuedReport)
  /// A part of a list of customers.
  case tickets([TicketReport])
  /// One ticket with its attempts and its receipt.
  indirect case ticket(TicketReport)
  /// A part of a list of receipts.
  case receipts([ReceiptReport])
  /// The start or end of an attempt.
  case event(AttemptEvent)
  /// No awaited ticket waits, is delayed or is served any more.
  case ended(AwaitedTicketsReport)
  /// Number of dead letters returned to their lines.
  case requeued(Int64)
  /// Progress of a long request.
  case progress(ProgressReport)
  /// The bank has closed.
  indirect case stopped(StoppedReport)
  /// Result of an audit.
  indirect case audit(AuditReport)
  /// The sums of the ledger.
  case ledger([LedgerRow])
  /// One customer's account.
  indirect case account(AccountReport)
  /// Snapshot of the bank for a screen.
  indirect case board(BoardFrame)
  /// Result of a request about several tickets.
  indirect case selection(SelectionReport)
  /// Branches of a shared bank, by number, at most ``BranchReport/inAnswer``.
  case branches([BranchReport])
  /// Result of a move of the database.
  indirect case moved(MoveReport)

  /// Field number of each kind of answer.
  private enum Kind: Int, CodingKey {
    case failure = 1, status, enqueued, tickets, ticket, receipts, event, ended, requeued, progress, stopped,
      audit, ledger, account, board, selection, branches, moved
  }
}

extension ControlAnswer: Codable {
  public func encode(to encoder: any Encoder) throws {
    var answer = encoder.container(keyedBy: Kind.self)
    switch self {
    case .failure(let failure): try answer.encode(failure, forKey: .failure)
    case .status(let report): try answer.encode(report, forKey: .status)
    case .enqueued(let report): try answer.encode(report, forKey: .enqueued)
    case .tickets(let page): try answer.encode(page, forKey: .tickets)
    case .ticket(let report): try answer.encode(report, forKey: .ticket)
    case .receipts(let page): try answer.encode(page, forKey: .receipts)
    case .event(let event): try answer.encode(event, forKey: .event)
    case .ended(let report): try answer.encode(report, forKey: .ended)
    case .requeued(let count): try answer.encode(count, forKey: .requeued)
    case .progress(let report): try answer.encode(report, forKey: .progress)
    case .stopped(let report): try answer.encode(report, forKey: .stopped)
    case .audit(let report): try answer.encode(report, forKey: .audit)
    case .ledger(let rows): try answer.encode(rows, forKey: .ledger)
    case .account(let report): try answer.encode(report, forKey: .account)
    case .board(let frame): try answer.encode(frame, forKey: .board)
    case .selection(let report): try answer.encode(report, forKey: .selection)
    case .branches(let branches): try answer.encode(branches, forKey: .branches)
    case .moved(let report): try answer.encode(report, forKey: .moved)
    }
  }

  public init(from decoder: any Decoder) throws {
    let answer = try decoder.container(keyedBy: Kind.self)
    switch try answer.singleKind() {
    case .failure: self = .failure(try answer.decode(Failure.self, forKey: .failure))
    case .status: self = .status(try answer.decode(StatusReport.self, forKey: .status))
    case .enqueued: self = .enqueued(try answer.decode(EnqueuedReport.self, forKey: .enqueued))
    case .tickets: self = .tickets(try answer.decode([TicketReport].self, forKey: .tickets))
    case .ticket: self = .ticket(try answer.decode(TicketReport.self, forKey: .ticket))
    case .receipts: self = .receipts(try answer.decode([ReceiptReport].self, forKey: .receipts))
    case .event: self = .event(try answer.decode(AttemptEvent.self, forKey: .event))
    case .ended: self = .ended(try answer.decode(AwaitedTicketsReport.self, forKey: .ended))
    case .requeued: self = .requeued(try answer.decode(Int64.self, forKey: .requeued))
    case .progress: self = .progress(try answer.decode(ProgressReport.self, forKey: .progress))
    case .stopped: self = .stopped(try answer.decode(StoppedReport.self, forKey: .stopped))
    case .audit: self = .audit(try answer.decode(AuditReport.self, forKey: .audit))
    case .ledger: self = .ledger(try answer.decode([LedgerRow].self, forKey: .ledger))
    case .account: self = .account(try answer.decode(AccountReport.self, forKey: .account))
    case .board: self = .board(try answer.decode(BoardFrame.self, forKey: .board))
    case .selection: self = .selection(try answer.decode(SelectionReport.self, forKey: .selection))
    case .branches: self = .branches(try answer.decode([BranchReport].self, forKey: .branches))
    case .moved: self = .moved(try answer.decode(MoveReport.self, forKey: .moved))
    }
  }
}
