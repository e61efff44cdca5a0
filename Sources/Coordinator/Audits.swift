// Owns the audits of an open bank: what is kept, what is in memory, who may enter the home, and who works in its name.
// They change nothing. The rows of a large database are read by another process, from the file as it was when the audit
// began, so that the bank goes on meanwhile. A process that is not known may just be ending, so it is looked for again a
// moment later, and the clients wait that long; everybody else does not.
// Invariant: one audit at a time, because each reads every row. Who asks while one is made shares the next, and so every
// answer rests on what was there after it was asked for.

import BankModel
import Posix
import QueueCore
import StockClient
import Time
import VendingClient
import Wire

final class Audits: BankPart {
  private let readings: Readings
  private let services: BranchServices
  private let marks: DatabaseMarks
  private let outside: OutsideWorkers
  private(set) var current: Auditing?
  /// Those who share the next one.
  private(set) var seats: [Seat] = []
  /// Who reads rows for one, or ends after it.
  private var readers: [RowCount] = []

  init(
    _ ground: BankPart, _ readings: Readings, _ services: BranchServices, _ marks: DatabaseMarks,
    _ outside: OutsideWorkers
  ) {
    (self.readings, self.outside) = (readings, outside)
    self.services = services
    self.marks = marks
    super.init(ground)
  }

  func ask(_ seat: Seat) {
    seats.append(seat)
    begin()
  }

  func count(of session: ControlSession) -> Int {
    seats.count { $0.session === session } + (current?.seats.count { $0.session === session } ?? 0)
  }

  func forget(_ session: ControlSession) {
    seats.removeAll { $0.session === session }
    current?.seats.removeAll { $0.session === session }
    // Nobody waits for the rows any more.
    if current?.seats.isEmpty == true { current?.count?.stop() }
  }

  /// Begins an audit for everybody who has asked for one, where none is being made.
  private func begin() {
    guard current == nil, !seats.isEmpty else { return }
    let (strangers, missing) = (strangers, missing)
    let isClean = strangers.isEmpty && missing.isEmpty && !isStarting
    let nextLook = isClean ? nil : context.now.monotonic + HomeAudit.nextLook
    current = Auditing(seats, strangers, missing, nextLook: nextLook, books: context.booksName)
    seats.removeAll()
  }

  /// Those who wait for services that the configuration does not name any more: nobody serves them.
  private var takenOut: [Remark] {
    context.services.takenOut.compactMap { service in
      let waiting = queue.machine.numbers(of: service).waiting
      return waiting == 0
        ? nil : Remark(.serviceTakenOut, context.services.directory[service].text, waiting)
    }
  }

  private var strangers: Set<HomeAudit.Stranger> {
    HomeAudit(home: context.home).strangers(known: knownProcesses)
  }

  /// Names of the home that are lost. They are repaired in a moment, and then they are no finding.
  private var missing: Set<HomeEntry> {
    guard context.bindings.hasHome, !context.isEnding else { return [] }
    var owners: Set<HomeEntry.Owner> = [.coordinator]
    if outside.isListening { owners.insert(.workers) }
    if context.bindings.guardianship?.isGuarded == true { owners.insert(.guardian) }
    for post in serviceSupervisor.posts where post.phase == .ready {
      if let owner = HomeEntry.Owner(serviceNamed: post.specification.name) { owners.insert(owner) }
    }
    return HomeAudit(home: context.home).missing(of: owners)
  }

  /// How often it is looked at most for a service that is starting: ten seconds.
  private static let startingLooks = 50

  /// True while the stock or the vending machine is starting, or its process has just ended and another one is to start: it answers
  /// in a moment, and then its books are no finding.
  private var isStarting: Bool {
    guard context.bindings.hasHome, !context.isEnding else { return false }
    return serviceSupervisor.posts.contains { post in
      [.stock, .vending].contains(post.specification.workerRole) && post.isWanted && !post.isGivenUp
        && post.phase != .ready
    }
  }

  /// Looks again for strangers and missing names that were seen a moment ago.
  func keepTime() {
    guard !queue.engine.isEmptying, let audit = current, let due = audit.nextLook,
      due <= context.now.monotonic
    else { return }
    audit.strangers.formIntersection(strangers)
    audit.missing.formIntersection(missing)
    audit.looks += 1
    let isQuiet =
      audit.strangers.isEmpty && audit.missing.isEmpty
      || HomeAudit.areToStay(audit.strangers, after: audit.looks)
    let isDone = isQuiet && (!isStarting || audit.looks >= Self.startingLooks)
    audit.nextLook = isDone ? nil : context.now.monotonic + HomeAudit.nextLook
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
      audit.besides = besides(audit.strangers, audit.missing)
      if try beginCount(audit) { return false }
      report = AuditReport(try store.audit())
    }
    report.add(everythingOf: audit.besides)
    audit.report = report
    return true
  }

  /// What there is to say at this moment besides the rows.
  private func besides(
    _ strangers: Set<HomeAudit.Stranger>, _ missing: Set<HomeEntry>
  ) -> AuditReport {
    var report = AuditReport(StoreAudit())
    report.add(queue.machine.contradictions(context.services.directory) + HomeAudit.remarks(on: strangers))
    report.add(HomeAudit.remarks(on: missing) + HomeAudit(home: context.home).permissions())
    marks.addMismatches(to: &report)
    for remark in takenOut { report.note(remark) }
    return report
  }

  /// Has the rows of a large database read by another process, from what is committed now; false where this one is to do
  /// it: there are few, or the disk has no room for the log that grows meanwhile.
  private func beginCount(_ audit: Auditing) throws(StoreError) -> Bool {
    guard let memory = context.bindings.memory, audit.counts < Self.counts, try memory.isLong() else {
      return false
    }
    guard try memory.freeze(onThaw: { [weak audit] in audit?.count?.stop() }) else { return false }
    audit.counts += 1
    audit.wait()
    do throws(SystemError) {
      let count = try RowCount(
        home: context.home, program: tellerSupervisor.programs.coordinator,
        environment: serviceSupervisor.environment, loop: context.loop
      ) { [weak audit, unowned memory] rows in
        audit?.hear(rows)
        memory.thaw()
      }
      audit.count = count
      know(count)
      return true
    } catch {
      context.write(event: "spawn_failed", level: .error) {
        $0.field("worker_name", "audit")
        $0.field("msg", error.description)
      }
      audit.hear(nil as AuditReport?)
      memory.thaw()
      return false
    }
  }

  /// Somebody reads rows in the name of this bank, and belongs to it until it is collected.
  func know(_ reader: RowCount) {
    readers.removeAll { $0.pid == nil }
    readers.append(reader)
  }

  // MARK: - The stock

  /// How long the stock may take to say anything at all, and how long it and the machine may count every row of theirs.
  private static let patience = TimeSpan.seconds(10)
  private static let longestCount = TimeSpan.minutes(5)

  /// Whether there is somebody to be asked. Where the services were told to go nothing can be asked any more, and that is no
  /// finding: the bank closes in a moment, and whoever wants to know looks into the closed one.
  private var canAskStock: Bool { !services.isDismissed || Kernel.makes("auditsTheDismissed") }
  var canGoOn: Bool { canAskStock && current?.canGoOn == true }
  var nextDeadline: MonotonicTime? { current?.nextLook }

  func advance() {
    guard queue.engine.isKept, canGoOn, let audit = current else { return }
    do throws(StoreError) {
      // Nobody waits for it any more.
      if audit.seats.isEmpty { return end() }
      try advance(audit)
    } catch {
      for seat in audit.seats { readings.failed(error, seat) }
      end()
    }
  }

  private func end() {
    current?.count?.stop()
    current = nil
    begin()
    // Nothing else is asked of the machine; its connection goes with the last audit.
    if current == nil { services.vending.close() }
  }

  private func advance(_ audit: Auditing) throws(StoreError) {
    if audit.isStockDone { return try advanceMachine(audit) }
    if !audit.hasBegun { guard try examine(audit) else { return } }
    if let trouble = services.trouble(of: .stock) { audit.reckoning.fail(trouble) }
    // With `canAskStock` a mistake that is never made outside of a simulation.
    if services.isDismissed { audit.reckoning.fail(Remark(.noAnswer)) }
    switch try audit.takeAnswer() {
    case .stock(let result): try audit.reckoning.hear(result, store, day: queue.engine.keptBooks.day)
    case .silent(let reason): audit.reckoning.fail(reason)
    case .machine, .diskFull, nil: break
    }
    guard let question = try audit.reckoning.question(from: store) else {
      audit.reckoning.complete(&audit.report)
      audit.report.add(releases.problems())
      audit.isStockDone = true
      return try advanceMachine(audit)
    }
    ask(question, for: audit)
  }

  private func ask(_ question: StockCommand, for audit: Auditing) {
    audit.wait()
    let patience = question == .audit ? Self.longestCount : Self.patience
    services.stock.ask(question, until: SystemClock.monotonic() + patience) { [weak audit] answer in
      audit?.hear(Auditing.Answer(answer))
    }
    services.stock.endTurn()
  }

  /// The vending machine comes after the stock, because it is compared with it.
  private func advanceMachine(_ audit: Auditing) throws(StoreError) {
    if let trouble = services.trouble(of: .vending) ?? services.trouble(of: .stock) {
      audit.vending.fail(trouble)
    }
    switch try audit.takeAnswer() {
    case .machine(.audit(let report)): audit.vending.hear(report)
    case .machine: audit.vending.fail(Remark(.strangeAnswer))
    case .stock(let result): audit.vending.hear(result)
    case .silent(let reason): audit.vending.fail(reason)
    case .diskFull, nil: break
    }
    switch audit.vending.question {
    case .machine:
      audit.wait()
      services.vending.ask(.audit, until: SystemClock.monotonic() + Self.longestCount) {
        [weak audit] answer in audit?.hear(Auditing.Answer(answer))
      }
      services.vending.endTurn()
    case .stock(let question): ask(question, for: audit)
    case nil:
      audit.vending.complete(&audit.report)
      for seat in audit.seats { server.answer(seat, .audit(audit.report)) }
      end()
    }
  }

  /// Everybody whom this coordinator knows: itself, its guardian, its tellers and services, and whoever reads for an audit.
  var knownProcesses: Set<Int32> {
    Set(
      [CurrentProcess.pid, context.bindings.guardianship?.pid ?? 0]
        + tellerSupervisor.posts.values.compactMap { $0.child?.pid }
        + serviceSupervisor.posts.compactMap { $0.child?.pid } + readers.compactMap(\.pid))
  }
}

/// What one audit of an open bank has found so far and what it waits for: the rows, the stock, the machine, or processes
/// that nobody knows and that may just be ending.
/// Invariant: it waits for one answer at a time, and each answer is taken once.
final class Auditing {
  /// What somebody has answered.
  enum Answer {
    case stock(StockResult)
    case machine(VendingResult)
    /// Nobody has, for this reason.
    case silent(Remark)
    /// There was no room for the look: nothing is said of anything then.
    case diskFull(Remark)

    init(_ answer: Result<StockResult, StockClientError>) {
      switch answer {
      case .success(.failure(let failure)) where failure.code == .diskFull:
        self = .diskFull(failure.remark ?? Remark(quoting: failure.detail))
      case .success(let result): self = .stock(result)
      case .failure(let error): self = .silent(error.remark)
      }
    }

    init(_ answer: Result<VendingResult, VendingClientError>) {
      switch answer {
      case .success(.failure(let failure)) where failure.code == .diskFull:
        self = .diskFull(failure.remark ?? Remark(quoting: failure.detail))
      case .success(let result): self = .machine(result)
      case .failure(let error): self = .silent(error.remark)
      }
    }
  }

  var seats: [Seat]
  /// Processes that nobody knows, when they are looked for again, and how often they were.
  var strangers: Set<HomeAudit.Stranger>
  /// Names of the home that are lost.
  var missing: Set<HomeEntry>
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
  var hasBegun: Bool { examined != nil }
  private var examined: AuditReport?
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
  private var answer: Answer?

  init(
    _ seats: [Seat], _ strangers: Set<HomeAudit.Stranger>, _ missing: Set<HomeEntry>,
    nextLook: MonotonicTime?,
    books: BooksName
  ) {
    self.seats = seats
    (self.strangers, self.missing) = (strangers, missing)
    self.nextLook = nextLook
    reckoning = StockReckoning(books)
  }

  var canGoOn: Bool { !isWaiting && nextLook == nil }
  func wait() { isWaiting = true }
  func hear(_ answer: Answer) {
    self.answer = answer
    isWaiting = false
  }

  /// The rows were read, or there is nobody any more who reads them.
  func hear(_ rows: AuditReport?) {
    count = nil
    self.rows = rows
    isWaiting = false
  }

  func takeRows() -> AuditReport? {
    defer { rows = nil }
    return rows
  }

  /// The answer, if it has come.
  func takeAnswer() throws(StoreError) -> Answer? {
    defer { answer = nil }
    if case .diskFull(let detail) = answer { throw .diskFull(detail: detail) }
    return answer
  }
}

extension AuditReport {
  mutating func add(_ problems: [Remark]) { for problem in problems { add(problem) } }
}

extension HomeEntry.Owner {
  /// The owner that a service of this name is; nil for any other service.
  fileprivate init?(serviceNamed name: String) {
    switch name {
    case "stock": self = .stock
    case "vending": self = .vending
    case "web": self = .page
    default: return nil
    }
  }
}
