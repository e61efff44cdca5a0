// Kinds of broken promises, and the text that reports one.
// Invariant: a history has at most one violation, the first.

/// A broken promise.
public struct Violation: Sendable, Equatable, CustomStringConvertible {
  /// The kinds of promises.
  public enum Kind: String, Sendable, CaseIterable, Codable {
    /// An announced ticket does not exist, or a customer is lost without a receipt.
    case lostTicket
    /// A ticket was issued twice or has two receipts, or an order has too many tickets.
    case duplicate
    /// A receipt differs from the client's request, or the money does not add up.
    case ledger
    /// The counters of a day or a lane disagree with what they count, or a branch uses a wrong database.
    case dayCounters
    /// A customer was assigned before another who was ahead in line.
    case order
    /// A window was assigned a customer of another service.
    case crossedServices
    /// An answer or message reported something that was not on disk.
    case notDurable
    /// A worker holds more customers than it may, or a customer is held by two workers.
    case doubleLease
    /// A message of a dead generation had an effect.
    case staleMessage
    /// A repeated key gave other tickets.
    case repeatedKey
    /// Only a part of a request was stored.
    case partialRequest
    /// The bank was not drained in time after the faults had ended.
    case notDrained
    /// A customer became a dead letter too early, too late or not at all.
    case deadLetter
    /// A customer was started more often than its service allows, or with a wrong number of attempts.
    case tooManyAttempts
    /// A delayed customer was served, or returned to its line, at a wrong time, usually too early.
    case early
    /// A customer was assigned while its service was paused or the bank was finished, or a pause was reported wrongly
    /// or not at all.
    case paused
    /// More customers were admitted than may wait, or customers were admitted while the bank was closing.
    case overLimit
    /// A receipt or the end of an attempt has no cause, or is missing although there is a cause.
    case attempt
    /// A lease was ended too early or not in time, or a branch assigned a customer after the end of its lease.
    case lease
    /// A teller, service or client violated its protocol, or was not sent a message that it must get.
    case protocolViolation
    /// A request was answered twice, never, or wrongly.
    case answer
    /// A refused request had an effect, or was refused for no valid reason.
    case refusal
    /// A customer's payload is wrong, missing, or still stored with the receipt.
    case payload
    /// A part of a request remains after its client was notified of the withdrawal, or a request was reported as
    /// withdrawn that no client had withdrawn.
    case withdrawal
    /// An audit of the open bank reports a problem, or cannot be made while the bank closes.
    case audit
    /// The stock's ledger, amounts and changes disagree, or a subscriber was shown a wrong amount.
    case stock
    /// An order took fruit that its juice does not need, or kept fruit after its cancellation, or was refused without a
    /// valid reason.
    case stockOrder
    /// An order got two different answers.
    case repeatedOrder
    /// A subscriber was sent too few changes, too many, or in the wrong order.
    case news
    /// A snapshot is wrong, lists a customer twice or not at all, or snapshots are too frequent.
    case board
    /// The machine's ledger disagrees with the money that was paid in, spent and returned.
    case money
    /// A purchase was made without a request or without payment, or took a wrong drink, or kept the drink after it was
    /// abandoned.
    case purchase
    /// An expired drink was sold, or one before another that expires earlier; or drinks appeared or
    /// disappeared.
    case drinks
    /// Two coordinators or two guardians ran in one home, or a working one was killed. Or a closed bank was
    /// opened again, or an open one stayed without a coordinator or a guardian.
    case guardianship
    /// A process of a command ran longer than allowed or beside another attempt of its customer, or received
    /// data of another customer.
    case process
    /// A command's reported or stored result is not that of its process.
    case result
    /// An epoch that has ended had an effect, or a branch has finished a customer that it did not hold.
    case fence
    /// A customer was claimed or returned while another branch held it, or could not be claimed.
    case claim
    /// The tickets of a bank of several branches are not one series.
    case series
    /// A transaction was sent to the shared database again after its commit.
    case repeatedTransaction
    /// A store was asked for a change that contradicts its contents, differs from its model, or cannot be read.
    case storeContradiction
  }

  /// The kind of promise.
  public var kind: Kind
  /// Time of the violation, in nanoseconds of the simulated world.
  public var at: Int64
  /// Description of what was observed.
  public var message: String

  /// One sentence with the kind, the time in milliseconds and the description.
  public var description: String {
    let milliseconds = at / 1_000_000
    return "\(kind.rawValue) at \(milliseconds) ms: \(message)"
  }
}
