// Owns a ticket's story and a receipt as clients see them. It knows no socket and no database.
// Times are milliseconds since 1970; what does not apply is left out.

import BankModel

/// One ticket: where it stands and what has happened to it.
public struct TicketReport: Codable, Sendable, Equatable {
  /// The business day, and the number.
  public var day, ticket: Int64
  /// What the customer came for.
  public var service: ServiceName
  /// The customer's standing.
  public var priority: Priority
  /// The amount, in won, and the account.
  public var amount, account: Int64
  /// When the ticket was issued, in milliseconds since 1970.
  public var issuedAt: Int64
  /// Where the customer stands.
  public var state: CustomerState
  /// The place in the line, from 1, while waiting; nil where it would take long to count.
  public var position: Int64?
  /// The expected time until service begins, in milliseconds, while waiting.
  public var etaMilliseconds: Int64?
  /// Until when, in milliseconds since 1970, while delayed.
  public var dueAt: Int64?
  /// At which window, while being served.
  public var window: String?
  /// Every attempt, in order. Lists of tickets leave it empty, but for a dead letter, whose last attempt stands there.
  public var attempts: [AttemptReport]
  /// The receipt, when done.
  public var receipt: ReceiptReport?
  /// The name of what was ordered; nil for nothing.
  public var article: String?
  /// How many customers of the service have been attended to on the present day: whoever waits sees whether the line moves.
  /// Nil in lists, and from a coordinator that does not tell it.
  public var servedOfService: Int64?
  /// What the customer carries; nil for nothing, in lists, and when the ticket has its receipt.
  public var payload: [UInt8]?
  /// How far the work has come, as its worker said last; nil where it says nothing, and in lists.
  public var progress: WorkProgress?
  /// Attempts that count against the `max_attempts` of the service; nil where none does, and for a ticket with its receipt.
  public var counted: Int32?
  /// Attempts that have ended, in lists, which do not tell each; nil where none has.
  public var tried: Int32?

  public init(
    day: Int64, ticket: Int64, service: ServiceName, priority: Priority, amount: Int64, account: Int64,
    issuedAt: Int64,
    state: CustomerState, position: Int64? = nil, etaMilliseconds: Int64? = nil, dueAt: Int64? = nil,
    window: String? = nil, attempts: [AttemptReport] = [], receipt: ReceiptReport? = nil,
    article: String? = nil
  ) {
    (self.day, self.ticket, self.service, self.priority) = (day, ticket, service, priority)
    (self.amount, self.account, self.issuedAt, self.state) = (amount, account, issuedAt, state)
    (self.position, self.etaMilliseconds, self.dueAt) = (position, etaMilliseconds, dueAt)
    (self.window, self.attempts, self.receipt, self.article) = (window, attempts, receipt, article)
  }

  enum CodingKeys: Int, CodingKey {
    case day = 1, ticket, service, priority, amount, account, issuedAt, state, position, etaMilliseconds,
      dueAt,
      window, attempts, receipt, article, servedOfService, payload, progress,
      counted, tried
  }
}

/// One attempt at serving a customer.
public struct AttemptReport: Codable, Sendable, Equatable {
  /// Where; empty where nobody knows it any more, as then nobody knows by which teller.
  public var window: String
  /// By which teller there, and in which process.
  public var generation, pid: Int32
  /// When it began, in milliseconds since 1970.
  public var startedAt: Int64
  /// When it ended; nil while it lasts.
  public var endedAt: Int64?
  /// How it ended; nil while it lasts.
  public var end: AttemptEnd?
  /// The signal that ended the process, or the code with which it ended.
  public var signal, code: Int32?
  /// Whether the customer was put aside as a dead letter after it; nil where it was not, or where nobody noted it.
  public var isFatal: Bool?
  /// What the worker said of it, or the last lines of a command; nil for nothing.
  public var words: String?
  /// In which branch of a shared bank; nil where the bank has its books in its home.
  public var branch: Int64?

  public init(
    window: String, generation: Int32, pid: Int32, startedAt: Int64, endedAt: Int64?, end: AttemptEnd?,
    signal: Int32?, code: Int32?
  ) {
    (self.window, self.generation, self.pid, self.startedAt) = (window, generation, pid, startedAt)
    (self.endedAt, self.end, self.signal, self.code) = (endedAt, end, signal, code)
  }

  /// What a list tells of ``words`` at most, in characters.
  public static let longestInList = 240

  /// The words without a first line that says what the exit code says; nil for nothing.
  public var remark: String? {
    guard let words, let code else { return words }
    let first = "exit code \(code)"
    guard words.hasPrefix(first) else { return words }
    let rest = words.dropFirst(first.count).drop { $0.isNewline }
    return rest.isEmpty ? nil : String(rest)
  }

  enum CodingKeys: Int, CodingKey {
    case window = 1, generation, pid, startedAt, endedAt, end, signal, code, isFatal, words,
      branch
  }
}

/// The end of one ticket.
public struct ReceiptReport: Codable, Sendable, Equatable {
  /// The place in the order of commits, from 1.
  public var sequence: Int64
  /// The business day, and the number.
  public var day, ticket: Int64
  /// What the customer came for.
  public var service: ServiceName
  /// The customer's standing.
  public var priority: Priority
  /// How it ended.
  public var outcome: Outcome
  /// Where; nil where no window had the customer.
  public var window: String?
  /// Attempts in all.
  public var attempts: Int32
  /// The amount, in won.
  public var amount: Int64
  /// The accounts that were debited and credited; nil where nothing was done.
  public var debit, credit: String?
  /// When the ticket was issued, in milliseconds since 1970.
  public var issuedAt: Int64
  /// When the last attempt began; nil where there was none.
  public var startedAt: Int64?
  /// When the ticket ended.
  public var finishedAt: Int64
  /// What the worker needed to know beyond the service; nil for nothing.
  public var article: String?
  /// What was missing, where the outcome is out of stock; nil for nothing.
  public var shortages: [Shortage]?
  /// What the work left behind; nil for nothing.
  public var result: WorkResult?
  /// What was the same in every attempt at this customer: a command was told it as `BANK_KEY`. Nil where none was.
  public var key: String?
  /// The branch of a shared bank that has written it; nil where the bank has its books in its home.
  public var branch: Int64?
  /// The branch's epoch and commit, which are told to whoever follows the receipts of all branches; otherwise nil.
  public var epoch, commit: Int64?

  /// Behind what a follower of a shared bank goes on that has seen this one.
  public var mark: ReceiptMark? {
    guard let branch, let epoch, let commit else { return nil }
    return ReceiptMark(
      branch: branch, epoch: epoch, commit: commit, ticket: ticket, isCancelled: outcome == .cancelled)
  }

  /// What is told of a receipt.
  ///
  /// - Parameters:
  ///   - services: what the services are called.
  ///   - mark: where it stands among those of its branch, for a follower.
  public init(
    _ receipt: Receipt, _ services: ServiceDirectory, key: String? = nil, mark: ReceiptMark? = nil
  ) {
    result = receipt.result
    branch = mark?.branch ?? receipt.branch
    (epoch, commit) = (mark?.epoch, mark?.commit)
    self.key = key
    sequence = receipt.sequence
    day = receipt.day
    ticket = receipt.ticket
    service = services[receipt.service]
    priority = receipt.priority
    outcome = receipt.outcome
    window = receipt.window.map(services.name)
    attempts = receipt.attempts
    amount = receipt.amount
    debit = receipt.transfer?.debit.description
    credit = receipt.transfer?.credit.description
    issuedAt = receipt.issuedAt.milliseconds
    startedAt = receipt.startedAt?.milliseconds
    finishedAt = receipt.finishedAt.milliseconds
    article = receipt.article.isEmpty ? nil : receipt.article
    shortages = receipt.shortages.isEmpty ? nil : receipt.shortages
  }

  enum CodingKeys: Int, CodingKey {
    case sequence = 1, day, ticket, service, priority, outcome, window, attempts, amount, debit, credit,
      issuedAt, startedAt, finishedAt, article, shortages, result, key, branch, epoch, commit
  }
}
