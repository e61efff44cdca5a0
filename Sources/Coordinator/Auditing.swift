// Owns what one audit of an open bank has found so far and what it waits for: the rows, the stock, the machine, or processes
// that nobody knows and that may just be ending. It asks nobody itself.
// Invariant: it waits for one answer at a time, and each answer is taken once.

import BankModel
import QueueCore
import StockClient
import Time
import VendingClient
import Wire

/// An audit that is being made.
final class Auditing {
  /// Who shares its answer.
  var seats: [Followers.Seat]
  /// Processes that nobody knows, when they are looked for again, and how often they were.
  var strangers: Set<HomeAudit.Stranger>
  var nextLook: MonotonicTime?
  var looks = 0
  /// What was found so far; what is kept comes first.
  var report: AuditReport {
    get {
      guard let examined else { preconditionFailure("what is kept is looked at before anybody is asked") }
      return examined
    }
    set { examined = newValue }
  }
  /// Whether it was looked at what is kept.
  var hasBegun: Bool { examined != nil }
  private var examined: AuditReport?
  /// Who reads the rows; nil where nobody does.
  var count: RowCount?
  /// How often somebody was asked to.
  var counts = 0
  /// What was seen besides the rows when that began.
  var besides = AuditReport(StoreAudit())
  private var rows: AuditReport?
  var reckoning: StockReckoning
  var vending = VendingReckoning()
  /// Whether the stock has said everything.
  var isStockDone = false
  /// Whether it waits for an answer.
  private var isWaiting = false
  private var answer: Result<StockResult, StockClientError>?
  private var machineAnswer: Result<VendingResult, VendingClientError>?

  init(
    _ seats: [Followers.Seat], _ strangers: Set<HomeAudit.Stranger>, nextLook: MonotonicTime?,
    books: BooksName
  ) {
    self.seats = seats
    self.strangers = strangers
    self.nextLook = nextLook
    reckoning = StockReckoning(books)
  }

  /// Whether it waits for nothing.
  var canGoOn: Bool { !isWaiting && nextLook == nil }

  /// Nothing is done until there is an answer.
  func wait() { isWaiting = true }

  func hear(_ answer: Result<StockResult, StockClientError>) {
    self.answer = answer
    isWaiting = false
  }

  func hear(_ answer: Result<VendingResult, VendingClientError>) {
    machineAnswer = answer
    isWaiting = false
  }

  /// The rows were read, or there is nobody any more who reads them.
  func hear(_ rows: AuditReport?) {
    count = nil
    self.rows = rows
    isWaiting = false
  }

  /// What the rows have said, if they were read.
  func takeRows() -> AuditReport? {
    defer { rows = nil }
    return rows
  }

  /// The answer of the machine, if it has come.
  ///
  /// - Throws: `.diskFull` where the machine had no room for its look: nothing is said of anything then.
  func takeMachineAnswer() throws(StoreError) -> Result<VendingResult, VendingClientError>? {
    defer { machineAnswer = nil }
    if case .success(.failure(let failure)) = machineAnswer, failure.code == .diskFull {
      throw .diskFull(detail: failure.remark ?? Remark(quoting: failure.detail))
    }
    return machineAnswer
  }

  /// The answer of the stock, as ``takeMachineAnswer()``.
  func takeAnswer() throws(StoreError) -> Result<StockResult, StockClientError>? {
    defer { answer = nil }
    if case .success(.failure(let failure)) = answer, failure.code == .diskFull {
      throw .diskFull(detail: failure.remark ?? Remark(quoting: failure.detail))
    }
    return answer
  }
}
