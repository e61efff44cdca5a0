// Owns the audit of an open bank: what is kept, what is in memory, who may enter the home, and who works in its name.
// It changes nothing. A process that is not known may just be ending, so it is looked for again a moment later, and the
// client waits that long; everybody else does not.

import BankModel
import Posix
import QueueCore
import StockClient
import VendingClient
import Wire

/// An audit that has seen a stranger and looks again.
struct PendingAudit {
  var seat: Followers.Seat
  var strangers: Set<HomeAudit.Stranger>
  var dueAt: MonotonicTime
  /// How often they were looked for.
  var looks = 0
}

/// An audit that has everything but the stock.
final class StockAuditing {
  let seat: Followers.Seat
  var report: AuditReport
  var reckoning: StockReckoning
  var vending = VendingReckoning()
  /// Whether the stock has said everything.
  var isStockDone = false
  /// Whether it waits for no answer.
  var isReady = true
  private var answer: Result<StockResult, StockClientError>?
  private var machineAnswer: Result<VendingResult, VendingClientError>?

  init(seat: Followers.Seat, report: AuditReport, books: BooksName) {
    self.seat = seat
    reckoning = StockReckoning(books)
    self.report = report
  }

  func hear(_ answer: Result<StockResult, StockClientError>) {
    self.answer = answer
    isReady = true
  }

  func hear(_ answer: Result<VendingResult, VendingClientError>) {
    machineAnswer = answer
    isReady = true
  }

  func takeMachineAnswer() -> Result<VendingResult, VendingClientError>? {
    defer { machineAnswer = nil }
    return machineAnswer
  }

  func takeAnswer() -> Result<StockResult, StockClientError>? {
    defer { answer = nil }
    return answer
  }
}

extension Coordinator {
  func tellAudit(_ seat: Followers.Seat) {
    let strangers = HomeAudit(home: home).strangers(known: knownProcesses)
    guard !strangers.isEmpty else { return answerAudit(seat, strangers) }
    pendingAudits.append(
      PendingAudit(
        seat: seat, strangers: strangers, dueAt: now.monotonic + TimeSpan(HomeAudit.nextLook)))
  }

  /// Looks again for strangers who were seen a moment ago.
  func keepAuditTime() {
    guard !isEmptying else { return }
    while let first = pendingAudits.first, first.dueAt <= now.monotonic {
      pendingAudits.removeFirst()
      let present = first.strangers.intersection(HomeAudit(home: home).strangers(known: knownProcesses))
      var again = first
      again.strangers = present
      again.looks += 1
      guard present.isEmpty || again.looks >= HomeAudit.looks else {
        again.dueAt = now.monotonic + TimeSpan(HomeAudit.nextLook)
        pendingAudits.append(again)
        continue
      }
      answerAudit(first.seat, present)
    }
  }

  private func answerAudit(_ seat: Followers.Seat, _ strangers: Set<HomeAudit.Stranger>) {
    let problems =
      machine.contradictions() + HomeAudit.sentences(strangers) + HomeAudit(home: home).permissions()
    whenKept(seat) { [unowned self] store throws(StoreError) in
      var report = AuditReport(try store.audit())
      report.problems += problems
      addMismatches(to: &report)
      stockAudits.append(StockAuditing(seat: seat, report: report, books: booksName))
    }
  }

  // MARK: - The stock

  /// How long the stock may take to say anything at all, and how long it and the machine may count every row of theirs.
  private static let patience = Duration.seconds(10)
  private static let longestCount = Duration.seconds(300)

  /// Goes on with the audits that wait for nothing, page by page.
  func advanceStockAudits() {
    // Where the house has gone home nothing can be asked any more, and that is no finding: the bank closes in a moment,
    // and whoever wants to know looks into the closed one.
    guard isKept, ending?.isDismissing != true else { return }
    for audit in stockAudits where audit.isReady {
      do throws(StoreError) {
        try advance(audit)
      } catch {
        readingFailed(error, audit.seat)
        stockAudits.removeAll { $0 === audit }
      }
    }
  }

  private func advance(_ audit: StockAuditing) throws(StoreError) {
    if audit.isStockDone { return advanceMachine(audit) }
    if let trouble = trouble(of: .stock) { audit.reckoning.fail(trouble) }
    if let answer = audit.takeAnswer() {
      switch answer {
      case .success(let result): try audit.reckoning.hear(result, store, day: keptBooks.day)
      case .failure(let error): audit.reckoning.fail("\(error.description)")
      }
    }
    guard let question = try audit.reckoning.question(from: store) else {
      audit.reckoning.complete(&audit.report)
      audit.report.problems += releases.problems()
      audit.isStockDone = true
      return advanceMachine(audit)
    }
    audit.isReady = false
    let patience = question == .audit ? Self.longestCount : Self.patience
    stock.ask(question, until: SystemClock.monotonic() + patience) { [weak audit] in audit?.hear($0) }
    stock.endTurn()
  }

  /// The vending machine comes after the stock, because it is compared with it.
  private func advanceMachine(_ audit: StockAuditing) {
    if let trouble = trouble(of: .vending) ?? trouble(of: .stock) { audit.vending.fail(trouble) }
    switch audit.takeMachineAnswer() {
    case .success(.audit(let report)): audit.vending.hear(report)
    case .success: audit.vending.fail("it gave an answer that does not belong here")
    case .failure(let error): audit.vending.fail(error.description)
    case nil: break
    }
    switch audit.takeAnswer() {
    case .success(let result): audit.vending.hear(result)
    case .failure(let error): audit.vending.fail(error.description)
    case nil: break
    }
    switch audit.vending.question {
    case .machine:
      audit.isReady = false
      vending.ask(.audit, until: SystemClock.monotonic() + Self.longestCount) {
        [weak audit] (answer: Result<VendingResult, VendingClientError>) in
        audit?.hear(answer)
      }
      vending.endTurn()
    case .stock(let question):
      audit.isReady = false
      stock.ask(question, until: SystemClock.monotonic() + Self.patience) {
        [weak audit] (answer: Result<StockResult, StockClientError>) in
        audit?.hear(answer)
      }
      stock.endTurn()
    case nil:
      audit.vending.complete(&audit.report)
      server.answer(audit.seat.session, audit.seat.number, .audit(audit.report))
      stockAudits.removeAll { $0 === audit }
      // Nothing else is asked of the machine; its connection goes with the last audit.
      if stockAudits.isEmpty { vending.close() }
    }
  }

  /// Why there is no use in asking one of the house now; nil where there is.
  private func trouble(of role: WorkerRole) -> String? {
    guard let post = house.posts.first(where: { $0.trade.workerRole == role }), post.phase != .ready,
      post.isGivenUp || post.history.deathsInARow > 0
    else { return nil }
    return "its process cannot begin: \(post.lastEnd ?? "it ended at once")"
  }

  /// Everybody whom this coordinator knows: itself, its guardian, its tellers.
  private var knownProcesses: Set<Int32> {
    Set(
      [CurrentProcess.pid, guardianship?.pid ?? 0] + staff.posts.values.compactMap { $0.child?.pid }
        + house.posts.compactMap { $0.child?.pid })
  }
}
