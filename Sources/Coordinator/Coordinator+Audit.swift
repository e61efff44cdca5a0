// Owns the audit of an open bank: what is kept, what is in memory, who may enter the home, and who works in its name.
// It changes nothing. The rows of a large database are read by another process, from the file as it was when the audit
// began, so that the bank goes on meanwhile. A process that is not known may just be ending, so it is looked for again a
// moment later, and the clients wait that long; everybody else does not.
// Invariant: one audit at a time, because each reads every row. Who asks while one is made shares the next, and so every
// answer rests on what was there after it was asked for.

import BankModel
import Posix
import QueueCore
import StockClient
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

extension Coordinator {
  func tellAudit(_ seat: Followers.Seat) {
    auditSeats.append(seat)
    beginAudit()
  }

  /// Begins an audit for everybody who has asked for one, where none is being made.
  private func beginAudit() {
    guard auditing == nil, !auditSeats.isEmpty else { return }
    let strangers = HomeAudit(home: home).strangers(known: knownProcesses)
    let nextLook = strangers.isEmpty ? nil : now.monotonic + TimeSpan(HomeAudit.nextLook)
    auditing = Auditing(auditSeats, strangers, nextLook: nextLook, books: booksName)
    auditSeats.removeAll()
  }

  /// Looks again for strangers who were seen a moment ago.
  func keepAuditTime() {
    guard !isEmptying, let audit = auditing, let due = audit.nextLook, due <= now.monotonic else { return }
    audit.strangers.formIntersection(HomeAudit(home: home).strangers(known: knownProcesses))
    audit.looks += 1
    let isDone = audit.strangers.isEmpty || audit.looks >= HomeAudit.looks
    audit.nextLook = isDone ? nil : now.monotonic + TimeSpan(HomeAudit.nextLook)
  }

  // MARK: - The rows

  /// How often the rows are given to another process before this one reads them.
  private static let counts = 3

  /// What is kept and in memory, and what is seen from outside; false where that is still to come.
  private func examine(_ audit: Auditing) throws(StoreError) -> Bool {
    var report: AuditReport
    if let rows = audit.takeRows() {
      report = rows
    } else {
      audit.besides = besides(audit.strangers)
      if try beginCount(audit) { return false }
      report = AuditReport(try store.audit())
    }
    report.add(everythingOf: audit.besides)
    audit.report = report
    return true
  }

  /// What there is to say at this moment besides the rows.
  private func besides(_ strangers: Set<HomeAudit.Stranger>) -> AuditReport {
    var report = AuditReport(StoreAudit())
    let remarks =
      machine.contradictions() + HomeAudit.remarks(on: strangers) + HomeAudit(home: home).permissions()
    for remark in remarks { report.add(remark) }
    addMismatches(to: &report)
    return report
  }

  /// Has the rows of a large database read by another process, from what is committed now; false where this one is to do
  /// it: there are few, or the disk has no room for the log that grows meanwhile.
  private func beginCount(_ audit: Auditing) throws(StoreError) -> Bool {
    guard let memory, audit.counts < Self.counts, try memory.isLong() else { return false }
    guard try memory.freeze(onThaw: { [weak audit] in audit?.count?.stop() }) else { return false }
    audit.counts += 1
    audit.wait()
    readers.removeAll { $0.pid == nil }
    do throws(SystemError) {
      let count = try RowCount(
        home: home, program: staff.programs.coordinator, environment: house.environment, loop: loop
      ) { [weak audit, unowned memory] rows in
        audit?.hear(rows)
        memory.thaw()
      }
      audit.count = count
      readers.append(count)
      return true
    } catch {
      log.write(event: "spawn_failed", level: .error, at: now) {
        $0.field("worker_name", "audit")
        $0.field("msg", error.description)
      }
      audit.hear(nil as AuditReport?)
      memory.thaw()
      return false
    }
  }

  // MARK: - The stock

  /// How long the stock may take to say anything at all, and how long it and the machine may count every row of theirs.
  private static let patience = Duration.seconds(10)
  private static let longestCount = Duration.seconds(300)

  /// Whether there is somebody to be asked. Where the house has gone home nothing can be asked any more, and that is no
  /// finding: the bank closes in a moment, and whoever wants to know looks into the closed one.
  private var canAskStock: Bool { ending?.isDismissing != true }

  /// Whether there is an audit that waits for nothing.
  var canAuditGoOn: Bool { canAskStock && auditing?.canGoOn == true }

  /// Goes on with the audit if it waits for nothing, page by page.
  func advanceAudit() {
    guard isKept, canAuditGoOn, let audit = auditing else { return }
    do throws(StoreError) {
      // Nobody waits for it any more.
      if audit.seats.isEmpty { return endAudit() }
      try advance(audit)
    } catch {
      for seat in audit.seats { readingFailed(error, seat) }
      endAudit()
    }
  }

  private func endAudit() {
    auditing?.count?.stop()
    auditing = nil
    beginAudit()
    // Nothing else is asked of the machine; its connection goes with the last audit.
    if auditing == nil { vending.close() }
  }

  private func advance(_ audit: Auditing) throws(StoreError) {
    if audit.isStockDone { return try advanceMachine(audit) }
    if !audit.hasBegun { guard try examine(audit) else { return } }
    if let trouble = trouble(of: .stock) { audit.reckoning.fail(trouble) }
    if let answer = try audit.takeAnswer() {
      switch answer {
      case .success(let result): try audit.reckoning.hear(result, store, day: keptBooks.day)
      case .failure(let error): audit.reckoning.fail(error.remark)
      }
    }
    guard let question = try audit.reckoning.question(from: store) else {
      audit.reckoning.complete(&audit.report)
      for problem in releases.problems() { audit.report.add(problem) }
      audit.isStockDone = true
      return try advanceMachine(audit)
    }
    audit.wait()
    let patience = question == .audit ? Self.longestCount : Self.patience
    stock.ask(question, until: SystemClock.monotonic() + patience) { [weak audit] in audit?.hear($0) }
    stock.endTurn()
  }

  /// The vending machine comes after the stock, because it is compared with it.
  private func advanceMachine(_ audit: Auditing) throws(StoreError) {
    if let trouble = trouble(of: .vending) ?? trouble(of: .stock) { audit.vending.fail(trouble) }
    switch try audit.takeMachineAnswer() {
    case .success(.audit(let report)): audit.vending.hear(report)
    case .success: audit.vending.fail(Remark(.strangeAnswer))
    case .failure(let error): audit.vending.fail(error.remark)
    case nil: break
    }
    switch try audit.takeAnswer() {
    case .success(let result): audit.vending.hear(result)
    case .failure(let error): audit.vending.fail(error.remark)
    case nil: break
    }
    switch audit.vending.question {
    case .machine:
      audit.wait()
      vending.ask(.audit, until: SystemClock.monotonic() + Self.longestCount) {
        [weak audit] (answer: Result<VendingResult, VendingClientError>) in
        audit?.hear(answer)
      }
      vending.endTurn()
    case .stock(let question):
      audit.wait()
      stock.ask(question, until: SystemClock.monotonic() + Self.patience) {
        [weak audit] (answer: Result<StockResult, StockClientError>) in
        audit?.hear(answer)
      }
      stock.endTurn()
    case nil:
      audit.vending.complete(&audit.report)
      for seat in audit.seats { server.answer(seat.session, seat.number, .audit(audit.report)) }
      endAudit()
    }
  }

  /// Why there is no use in asking one of the house now; nil where there is.
  private func trouble(of role: WorkerRole) -> Remark? {
    guard let post = house.posts.first(where: { $0.trade.workerRole == role }), post.phase != .ready,
      post.isGivenUp || post.history.deathsInARow > 0
    else { return nil }
    return post.lastEnd.map { Remark(cannotBegin: $0) } ?? Remark(.endedAtOnce)
  }

  /// Everybody whom this coordinator knows: itself, its guardian, its tellers and services, and whoever reads for an audit.
  var knownProcesses: Set<Int32> {
    Set(
      [CurrentProcess.pid, guardianship?.pid ?? 0] + staff.posts.values.compactMap { $0.child?.pid }
        + house.posts.compactMap { $0.child?.pid } + readers.compactMap(\.pid))
  }
}

extension Remark {
  /// Why a process that ends so again and again has nothing to say.
  fileprivate init(cannotBegin lastEnd: Remark) {
    switch lastEnd.kind {
    case .processCode: self.init(.cannotBeginCode, lastEnd.values.first ?? "")
    case .processSignal: self.init(.cannotBeginSignal, lastEnd.values.first ?? "")
    case .quoted, .processUnseen, nil: self.init(.cannotBegin, lastEnd)
    // It has said itself why.
    default: self = lastEnd
    }
  }
}
