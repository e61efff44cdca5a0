// Owns the kinds of broken promises, and how one is told. It must not know how one is found.
// Invariant: a history has at most one, the first. There is nothing that can fail.

/// A promise that was not kept.
public struct Violation: Sendable, Equatable, CustomStringConvertible {
  /// Which promise.
  public enum Kind: String, Sendable, CaseIterable, Codable {
    /// A ticket that was spoken stands nowhere.
    case lostTicket
    /// A ticket, or an order, has two receipts or two tickets.
    case duplicate
    /// A receipt is not what the client asked for, or the money does not add up.
    case ledger
    /// The books and what they count do not agree.
    case books
    /// Somebody was handed out before whoever stood in front.
    case order
    /// A window got a customer of another service.
    case crossedServices
    /// Something was said that was not on disk.
    case notDurable
    /// A teller holds two customers, or a customer is held by two tellers.
    case doubleLease
    /// A word of a dead generation changed something.
    case lateWord
    /// A repeated key gave other tickets.
    case repeatedKey
    /// Half of a request was kept.
    case halfRequest
    /// After the faults had ended not everything came to its end.
    case notDrained
    /// A customer was put aside too early, too late or not at all.
    case deadLetter
    /// A customer was begun more often than the service lets anybody begin, or after what is on disk could be.
    case tooManyAttempts
    /// A customer who has ordered for later was called before that.
    case early
    /// A customer was handed out while the service was paused or the bank had finished.
    case paused
    /// More customers were let in than may wait, or some while the bank was closing.
    case overfull
    /// A receipt, or the end of an attempt, for which there was no reason, or a reason without its end.
    case attempt
    /// A lease was ended before its time, or not at its time.
    case lease
    /// A teller was not told what it must be told, or the wrong teller was.
    case conversation
    /// A request was answered twice, never, or wrongly.
    case answer
    /// A refused request changed something.
    case refusal
    /// A customer carries something else than what was given, or carries it no more, or carries it still with a receipt.
    case payload
    /// Something is left of a request whose client was told that it was withdrawn, or nobody had withdrawn it.
    case withdrawal
    /// An audit of the open bank finds what is not so, or cannot be made.
    case audit
    /// The stock's ledger, its shelves and its changes do not agree, or somebody was shown what was not there.
    case stock
    /// An order has taken something else than its juice is made of, or kept it, or none for a reason that was none.
    case taking
    /// The same order got two answers.
    case repeatedOrder
    /// Somebody who looks on was told too little, too much, or out of order.
    case news
    /// A picture of the board shows what is not so, somebody twice or not at all, or pictures come too fast.
    case board
    /// The machine's ledger and what people put in, spent and were given back do not agree.
    case money
    /// A purchase was made of what nobody wanted, paid for nothing, has taken what it must not, or kept it.
    case purchase
    /// A drink was sold that had expired, or before one that expires earlier, or drinks came or went without a reason.
    case drinks
    /// Two coordinators or two guardians were at work in one home, one that worked was ended, a bank that was closed was
    /// opened again, or one that was not stayed without a coordinator or a guardian.
    case guarding
    /// A process of a command lived longer than it may, or beside another of its customer, or was told what is another's.
    case process
    /// What is said of a command, or kept with a receipt, is not what its process has done.
    case result
    /// Something of an epoch that has ended has taken effect, or a branch has finished whom it has not had.
    case fence
    /// A customer was claimed, or given back, whom another branch has, or who was nobody's to claim.
    case claim
    /// The tickets of a bank of several branches are not one series.
    case series
    /// A transaction came to the books a second time.
    case repeatedTurn
    /// The store was asked for what contradicts what it keeps.
    case storeContradiction
  }

  /// Which promise.
  public var kind: Kind
  /// When, in nanoseconds of the simulated world.
  public var at: Int64
  /// What was seen.
  public var words: String

  /// One sentence.
  public var description: String {
    let milliseconds = at / 1_000_000
    return "\(kind.rawValue) at \(milliseconds) ms: \(words)"
  }
}
