// Answers that quote the store: tickets, receipts, accounts, lists, audits. A client may receive only facts that are on
// disk, but the store's connection also returns staged changes and transactions in flight. So a query waits until there
// are no such changes.
// Invariant: no answer that quotes the store is sent while changes are staged or in flight. Exceptions are answers from
// a reader process, and the reply of the queue to a request: their facts are on disk even if other changes are not.

import BankModel
import QueueCore
import Wire

final class DurableReads: CoordinatorComponent {
  /// Query that waits until the store contains only what is on disk.
  private struct PendingRead {
    var requester: RequestHandle
    /// True if the answer must match the queue in memory, which is ahead of the disk while the disk is full.
    var mustMatchMemory: Bool
    var read: (any QueueReader) throws(StoreError) -> Void
  }

  private var waiting: [PendingRead] = []
  var isEmpty: Bool { waiting.isEmpty }

  /// Runs `read`, which answers a client's query, as soon as the store contains only what is on disk.
  /// - Parameter mustMatchMemory: True to wait also while the disk is full, when the queue in memory is ahead of the
  ///   disk.
  /// - Parameter read: Queries the store and answers. Its error is sent to the client.
  func whenDurable(
    _ requester: RequestHandle, mustMatchMemory: Bool = false,
    _ read: @escaping (any QueueReader) throws(StoreError) -> Void
  ) {
    let question = PendingRead(requester: requester, mustMatchMemory: mustMatchMemory, read: read)
    if canAnswer(question) { return answer(question) }
    waiting.append(question)
    requester.session.openReads += 1
  }

  /// Sends a client the answer that the closure returns, once the store contains only what is on disk.
  func answerWhenDurable(
    _ requester: RequestHandle, _ answer: @escaping (any QueueReader) throws(StoreError) -> ControlAnswer
  ) {
    whenDurable(requester) { [server] store throws(StoreError) in
      server.answer(requester, try answer(store), from: .read)
    }
  }

  /// Fault injection: the answer may contain staged changes and is sent before the commit.
  func answerImmediately(
    _ requester: RequestHandle, _ answer: @escaping (any QueueReader) throws(StoreError) -> ControlAnswer
  ) {
    do throws(StoreError) { server.answer(requester, try answer(store), from: .read) } catch {
      failed(error, requester)
    }
    server.flush()
  }

  /// Answers the waiting queries, if the store contains only what is on disk. While the disk is full, queries that
  /// must match the queue in memory stay.
  func answerWaiting() {
    guard !waiting.isEmpty else { return }
    let questions = waiting
    waiting.removeAll(keepingCapacity: true)
    for question in questions {
      guard canAnswer(question) else {
        waiting.append(question)
        continue
      }
      question.requester.session.openReads -= 1
      answer(question)
    }
  }

  /// Drops the waiting queries of a client that has disconnected.
  func forget(_ session: ControlSession) {
    guard session.openReads > 0 else { return }
    waiting.removeAll { $0.requester.session === session }
    session.openReads = 0
  }

  /// Answers a query that the store could not execute with the store's error, and logs it.
  func failed(_ error: StoreError, _ requester: RequestHandle) {
    context.write(event: "query_failed", level: .error) { $0.field("msg", error.description) }
    server.answer(requester, .failure(Failure(store: error)))
  }

  /// True if the query need not wait any longer.
  private func canAnswer(_ question: PendingRead) -> Bool {
    guard queue.engine.isDurable else { return false }
    return !question.mustMatchMemory || (queue.engine.isWorking && !queue.machine.isDiskFull)
  }

  /// Runs a query, unless its client has disconnected.
  private func answer(_ question: PendingRead) {
    guard question.requester.session.isOpen else { return }
    do throws(StoreError) { try question.read(store) } catch { failed(error, question.requester) }
  }
}

/// Ledger reports to clients. Sums may exceed 64 bits and are reported exactly.
extension QueueReader {
  /// Answer with the sums of the ledger.
  func ledgerAnswer() throws(StoreError) -> ControlAnswer {
    .ledger(try trialBalance().rows)
  }

  /// Answer with the sums and the latest receipts of one account.
  func accountAnswer(_ number: Int64) throws(StoreError) -> ControlAnswer {
    guard (0...BankModel.Limits.account).contains(number) else {
      return .failure(
        Failure(.badRequest, messageDetail: MessageDetail(.accountRange, BankModel.Limits.account, number)))
    }
    let statement = try statement(of: number, limit: AccountReport.latestAtMost)
    return .account(
      AccountReport(
        row: LedgerRow(account: LedgerAccount.customer(number).description, statement.sums),
        latest: statement.latest.map { ReceiptReport($0, services) }))
  }
}

extension TrialBalance {
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
