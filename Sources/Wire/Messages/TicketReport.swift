// A ticket with its attempts, and a receipt, in answers to clients. Times are milliseconds since 1970. Properties that
// do not apply are nil.

import BankModel

/// One ticket: its state, its attempts and its receipt.
public struct TicketReport: Codable, Sendable, Equatable {
  /// Business day, and ticket number.
  public var day, ticket: Int64
  /// Requested service.
  public var service: ServiceName
  /// Priority in the queue.
  public var priority: Priority
  /// Amount in won, and account.
  public var amount, account: Int64
  /// Time of issue, in milliseconds since 1970.
  public var issuedAt: Int64
  /// State of the customer.
  public var state: CustomerState
  /// Position among the waiting customers of the service, from 1; nil if it was not determined, as in lists.
  public var position: Int64?
  /// Estimated time until the work is done, in milliseconds, while waiting. Nil if it was not estimated, as in lists,
  /// without windows, and while the service is paused.
  public var etaMilliseconds: Int64?
  /// Due time in milliseconds since 1970, while delayed.
  public var dueAt: Int64?
  /// Name of the window, while the customer is served.
  public var window: String?
  /// The attempts, in order. Lists omit most of them.
  public var attempts: [AttemptReport]
  /// The receipt of a finished ticket.
  public var receipt: ReceiptReport?
  /// Name of the ordered article; nil for none.
  public var itemName: String?
  /// Number of customers of the service finished on the current day, without cancelled ones. Nil in lists, if
  /// unknown, and from an older coordinator.
  public var servedOfService: Int64?
  /// Payload; nil if there is none, in lists, and once there is a receipt.
  public var payload: [UInt8]?
  /// Progress last reported by the worker; nil if the worker has reported none, and in lists.
  public var progress: WorkProgress?
  /// Attempts that count towards the service's `max_attempts`; nil for none, and for a finished ticket.
  public var counted: Int32?
  /// Number of ended attempts, in lists; nil for none.
  public var tried: Int32?

  public init(
    day: Int64, ticket: Int64, service: ServiceName, priority: Priority, amount: Int64, account: Int64,
    issuedAt: Int64,
    state: CustomerState, position: Int64? = nil, etaMilliseconds: Int64? = nil, dueAt: Int64? = nil,
    window: String? = nil, attempts: [AttemptReport] = [], receipt: ReceiptReport? = nil,
    itemName: String? = nil
  ) {
    (self.day, self.ticket, self.service, self.priority) = (day, ticket, service, priority)
    (self.amount, self.account, self.issuedAt, self.state) = (amount, account, issuedAt, state)
    (self.position, self.etaMilliseconds, self.dueAt) = (position, etaMilliseconds, dueAt)
    (self.window, self.attempts, self.receipt, self.itemName) = (window, attempts, receipt, itemName)
  }

  /// Field number of each property of a report about one ticket, in messages.
  enum CodingKeys: Int, CodingKey {
    case day = 1, ticket, service, priority, amount, account, issuedAt, state, position, etaMilliseconds,
      dueAt,
      window, attempts, receipt, itemName, servedOfService, payload, progress,
      counted, tried
  }
}

/// One attempt at a customer.
public struct AttemptReport: Codable, Sendable, Equatable {
  /// Name of the window; empty if unknown.
  public var window: String
  /// Generation of the process at the window, and its process id.
  public var generation, pid: Int32
  /// Start in milliseconds since 1970.
  public var startedAt: Int64
  /// Time of the end, in milliseconds since 1970; nil while in progress.
  public var endedAt: Int64?
  /// Kind of end; nil while in progress.
  public var end: AttemptEnd?
  /// Signal or code with which the process or the command exited; nil if unknown.
  public var signal, code: Int32?
  /// True if the customer became a dead letter after this attempt; nil if not, or if it was not recorded.
  public var isFatal: Bool?
  /// Text of the worker, or the last lines of a command; nil for none.
  public var words: String?
  /// Branch of a shared bank; nil for a bank with a database in its home.
  public var branch: Int64?

  public init(
    window: String, generation: Int32, pid: Int32, startedAt: Int64, endedAt: Int64?, end: AttemptEnd?,
    signal: Int32?, code: Int32?
  ) {
    (self.window, self.generation, self.pid, self.startedAt) = (window, generation, pid, startedAt)
    (self.endedAt, self.end, self.signal, self.code) = (endedAt, end, signal, code)
  }

  /// Maximum length of ``words`` in a list, in characters, without a leading ellipsis.
  public static let longestInList = 240

  /// ``words`` without a first line that only repeats the exit code; nil for none.
  public var messageDetail: String? {
    guard let words, let code else { return words }
    let first = "exit code \(code)"
    guard words.hasPrefix(first) else { return words }
    let rest = words.dropFirst(first.count).drop { $0.isNewline }
    return rest.isEmpty ? nil : String(rest)
  }

  /// Field number of each property of a report about one attempt, in messages.
  enum CodingKeys: Int, CodingKey {
    case window = 1, generation, pid, startedAt, endedAt, end, signal, code, isFatal, words,
      branch
  }
}

/// Receipt of one ticket.
public struct ReceiptReport: Codable, Sendable, Equatable {
  /// Position in the commit order, from 1.
  public var sequence: Int64
  /// Business day, and ticket number.
  public var day, ticket: Int64
  /// Requested service.
  public var service: ServiceName
  /// Priority in the queue.
  public var priority: Priority
  /// Way in which the ticket ended.
  public var outcome: Outcome
  /// Name of the window at which the customer was when the ticket ended; nil if the customer was at none.
  public var window: String?
  /// Number of all attempts.
  public var attempts: Int32
  /// Amount in won.
  public var amount: Int64
  /// Debited and credited accounts; nil if no money was transferred.
  public var debit, credit: String?
  /// Time of issue, in milliseconds since 1970.
  public var issuedAt: Int64
  /// Start of the attempt during which the ticket ended, in milliseconds since 1970; nil if the customer was at no
  /// window.
  public var startedAt: Int64?
  /// Time of the receipt, in milliseconds since 1970.
  public var finishedAt: Int64
  /// Name of the ordered article; nil for none.
  public var itemName: String?
  /// Missing items, if the outcome is `out_of_stock`; nil for none.
  public var shortages: [Shortage]?
  /// Result of the work; nil for none.
  public var result: WorkResult?
  /// Key of the customer, the same in every attempt; a command received it as `BANK_KEY`. Nil if it is not reported.
  public var key: String?
  /// Branch of a shared bank that wrote the receipt; nil for a bank with a database in its home.
  public var branch: Int64?
  /// Epoch and commit of the branch, only for a client that follows the receipts of all branches; otherwise
  /// nil.
  public var epoch, commit: Int64?

  /// Position after which a client that follows a shared bank continues; nil for other clients.
  public var mark: ReceiptPosition? {
    guard let branch, let epoch, let commit else { return nil }
    return ReceiptPosition(
      branch: branch, epoch: epoch, commit: commit, ticket: ticket, isCancelled: outcome == .cancelled)
  }

  /// Report of a receipt.
  ///
  /// - Parameters:
  ///   - services: names of the services.
  ///   - mark: position among the receipts of its branch, for a client that follows a shared bank; otherwise
  ///     nil.
  public init(
    _ receipt: Receipt, _ services: ServiceDirectory, key: String? = nil, mark: ReceiptPosition? = nil
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
    itemName = receipt.itemName.isEmpty ? nil : receipt.itemName
    shortages = receipt.shortages.isEmpty ? nil : receipt.shortages
  }

  /// Field number of each property of a receipt, in messages.
  enum CodingKeys: Int, CodingKey {
    case sequence = 1, day, ticket, service, priority, outcome, window, attempts, amount, debit, credit,
      issuedAt, startedAt, finishedAt, itemName, shortages, result, key, branch, epoch, commit
  }
}
