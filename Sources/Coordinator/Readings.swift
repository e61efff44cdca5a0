// Owns the one way in which clients are told what the store keeps: tickets, receipts, accounts, lists, audits.
// A client may be told only what is on disk. The store's connection also shows what is staged and what is on its way there, so
// a question is answered at once where nothing is, and otherwise right after the commit with which nothing is any more, before
// anything else can be staged.
// Invariant: no answer that quotes the store leaves while something is staged or on its way, but for what the queue says of its
// own requests, each with its own transaction; `ControlServer` traps where one would.
// A question neither commits anything nor hurries a commit, so whoever looks costs those who are served nothing.

import BankModel
import QueueCore
import Wire

final class Readings: BankPart {
  /// A question that waits until nothing is staged.
  private struct Question {
    var seat: Seat
    /// Whether the answer must fit the queue in memory: not while the disk is full and the queue is ahead of it.
    var isInStep: Bool
    var look: (any QueueReading) throws(StoreError) -> Void
  }

  private var waiting: [Question] = []
  var isEmpty: Bool { waiting.isEmpty }

  /// Has a client's question answered as soon as everything that the store shows is on disk.
  /// - Parameter isInStep: Whether the queue in memory must not be ahead of the disk either, as it is while the disk is full.
  /// - Parameter look: Asks the store and answers; what it throws is told to the client, by its name.
  func whenKept(
    _ seat: Seat, isInStep: Bool = false, _ look: @escaping (any QueueReading) throws(StoreError) -> Void
  ) {
    let question = Question(seat: seat, isInStep: isInStep, look: look)
    if canAnswer(question) { return answer(question) }
    waiting.append(question)
    seat.session.openReadings += 1
  }

  func tellKept(_ seat: Seat, _ answer: @escaping (any QueueReading) throws(StoreError) -> ControlAnswer) {
    whenKept(seat) { [server] store throws(StoreError) in server.answer(seat, try answer(store)) }
  }

  /// A mistake that is never made outside of a simulation: what is told may be only staged, and leaves before the commit.
  func tellAtOnce(_ seat: Seat, _ answer: @escaping (any QueueReading) throws(StoreError) -> ControlAnswer) {
    do throws(StoreError) { server.answer(seat, try answer(store)) } catch { failed(error, seat) }
    server.flush()
  }

  /// Answers everything that has waited for the present moment, in which nothing is staged.
  func answerWaiting() {
    guard !waiting.isEmpty else { return }
    let questions = waiting
    waiting.removeAll(keepingCapacity: true)
    for question in questions {
      guard canAnswer(question) else {
        waiting.append(question)
        continue
      }
      question.seat.session.openReadings -= 1
      answer(question)
    }
  }

  func forget(_ session: ControlSession) {
    guard session.openReadings > 0 else { return }
    waiting.removeAll { $0.seat.session === session }
    session.openReadings = 0
  }

  /// What a client asked for cannot be read: it is told so by the error's own name, and so is the log.
  func failed(_ error: StoreError, _ seat: Seat) {
    context.write(event: "not_read", level: .error) { $0.field("msg", error.description) }
    server.answer(seat, .failure(Failure(store: error)))
  }

  private func canAnswer(_ question: Question) -> Bool {
    guard queue.engine.isKept else { return false }
    return !question.isInStep || (queue.engine.isWorking && !queue.machine.isJammed)
  }

  private func answer(_ question: Question) {
    guard question.seat.session.isOpen else { return }
    do throws(StoreError) { try question.look(store) } catch { failed(error, question.seat) }
  }
}

extension ControlAnswer {
  /// Whether it tells something that a client may rely on after a crash, so that it must be on disk before.
  ///
  /// The numbers of a status and of a progress may run ahead of the disk. Events are held back by ``Followers`` until
  /// their own commit, and a refusal quotes nothing that was read, or is asked through ``Readings/whenKept(_:isInStep:_:)``.
  var quotesWhatIsKept: Bool {
    switch self {
    case .enqueued, .tickets, .ticket, .receipts, .ended, .requeued, .stopped, .audit, .ledger, .account,
      .selection:
      true
    case .failure, .status, .event, .progress, .board, .branches, .moved: false
    }
  }
}

/// How the ledger is told to clients, of an open bank and of a closed one. A sum need not fit in 64 bits, and is told as
/// it is.
extension QueueReading {
  func ledgerAnswer() throws(StoreError) -> ControlAnswer {
    .ledger(try trialBalance().rows)
  }

  func accountAnswer(_ number: Int64) throws(StoreError) -> ControlAnswer {
    guard (0...BankModel.Limits.account).contains(number) else {
      return .failure(Failure(.badRequest, remark: Remark(.accountRange, BankModel.Limits.account, number)))
    }
    let statement = try statement(of: number, limit: AccountReport.listed)
    return .account(
      AccountReport(
        row: LedgerRow(account: LedgerAccount.customer(number).description, statement.sums),
        latest: statement.latest.map { ReceiptReport($0, services) }))
  }
}

extension TrialBalance {
  /// As it is told.
  var rows: [LedgerRow] {
    [
      LedgerRow(account: "cash", cash), LedgerRow(account: "loans", loans),
      LedgerRow(account: "customers", customers),
    ]
  }
}

extension LedgerRow {
  fileprivate init(account: String, _ sums: LedgerSums) {
    self.init(account: account, debit: sums.debit, credit: sums.credit, transfers: sums.transfers)
  }
}
