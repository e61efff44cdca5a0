// Audits of an open bank: the stored rows, the state in memory, the files of the home and their permissions, its
// processes, and its stock and vending machine. An audit changes nothing. For a large database a separate process
// reads the rows, from the file as of the last commit before the process starts, so the bank keeps serving. An
// unknown process may be exiting, so the audit checks again a moment later; only its clients wait for this.
// Invariant: one audit runs at a time, because each reads all rows. Clients that ask during an audit share the next
// one, so every answer reflects a state after its request.

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
  /// Clients that share the next audit.
  private(set) var seats: [Seat] = []
  /// Reader processes of audits, until they are reaped.
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
    // No client waits for the audit any more.
    if current?.seats.isEmpty == true { current?.count?.stop() }
  }

  /// Starts an audit for all waiting clients, if none is running.
  private func begin() {
    guard current == nil, !seats.isEmpty else { return }
    let (strangers, missing) = (strangers, missing)
    let isClean = strangers.isEmpty && missing.isEmpty && !isStarting
    let nextLook = isClean ? nil : context.now.monotonic + HomeAudit.nextLook
    current = Auditing(seats, strangers, missing, nextLook: nextLook, books: context.booksName)
    seats.removeAll()
  }

  /// Notes about customers that wait for services that are not configured any more: no window serves them.
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

  /// Missing files of the home. An audit reports only those that are missing at each of its checks.
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

  /// Largest number of checks while a service starts; together they take ten seconds.
  private static let startingLooks = 50

  /// True while the stock or the vending machine starts or restarts. A start takes only moments, so a missing answer
  /// is not a finding yet.
  private var isStarting: Bool {
    guard context.bindings.hasHome, !context.isEnding else { return false }
    return serviceSupervisor.posts.contains { post in
      [.stock, .vending].contains(post.specification.workerRole) && post.isWanted && !post.isGivenUp
        && post.phase != .ready
    }
  }

  /// Repeats the check for the unknown processes and missing files that were found earlier.
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

  // MARK: - Rows

  /// Largest number of reader processes for one audit. After that the coordinator reads the rows itself.
  private static let counts = 3

  /// Examines rows, memory and home. Returns false if the rows are still being read.
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

  /// Returns the findings that do not come from the rows.
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

  /// Starts a process that reads the rows of a large database as of the last commit. Returns false if the
  /// coordinator has to read them, for example because they are few or no process could be started.
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

  /// Registers a reader process as one of this bank's processes until it is reaped.
  func know(_ reader: RowCount) {
    readers.removeAll { $0.pid == nil }
    readers.append(reader)
  }

  // MARK: - Stock

  /// Timeout for an answer of the stock, and for the stock or the vending machine to count all rows.
  private static let patience = TimeSpan.seconds(10)
  private static let longestCount = TimeSpan.minutes(5)

  /// True if the stock can be queried. After the services were dismissed it cannot be queried. This is not a
  /// finding: the bank is closing, and a client can audit the closed bank.
  private var canAskStock: Bool { !services.isDismissed || Kernel.makes("auditsTheDismissed") }
  var canGoOn: Bool { canAskStock && current?.canGoOn == true }
  var nextDeadline: MonotonicTime? { current?.nextLook }

  func advance() {
    guard queue.engine.isKept, canGoOn, let audit = current else { return }
    do throws(StoreError) {
      // All clients of this audit have disconnected.
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
    // Only audits query the vending machine, so its connection closes after the last audit.
    if current == nil { services.vending.close() }
  }

  private func advance(_ audit: Auditing) throws(StoreError) {
    if audit.isStockDone { return try advanceMachine(audit) }
    if !audit.hasBegun { guard try examine(audit) else { return } }
    if let trouble = services.trouble(of: .stock) { audit.reckoning.fail(trouble) }
    // Reached only with the fault injection in `canAskStock`.
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

  /// Queries the vending machine after the stock, because the audit compares the two.
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

  /// Processes known to this coordinator: itself, its guardian, the processes at its windows, its services, and
  /// readers of audits.
  var knownProcesses: Set<Int32> {
    Set(
      [CurrentProcess.pid, context.bindings.guardianship?.pid ?? 0]
        + tellerSupervisor.posts.values.compactMap { $0.child?.pid }
        + serviceSupervisor.posts.compactMap { $0.child?.pid } + readers.compactMap(\.pid))
  }
}

/// State of one audit: its findings and the pending answer, from the reader of the rows, the stock, the vending
/// machine, or the check for unknown processes.
/// Invariant: the audit waits for one answer at a time, and takes each answer once.
final class Auditing {
  enum Answer {
    case stock(StockResult)
    case machine(VendingResult)
    /// No answer arrived, for this reason.
    case silent(Remark)
    /// The service had no disk space for the query: the audit fails without findings.
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
  /// Unknown processes that every check so far has found. `nextLook` is the time of the next check.
  var strangers: Set<HomeAudit.Stranger>
  /// Files of the home that were missing at every check so far.
  var missing: Set<HomeEntry>
  var nextLook: MonotonicTime?
  var looks = 0
  /// Findings so far; set after the rows were examined.
  var report: AuditReport {
    get {
      guard let examined else {
        preconditionFailure("the database is examined before the services are asked")
      }
      return examined
    }
    set { examined = newValue }
  }
  var hasBegun: Bool { examined != nil }
  private var examined: AuditReport?
  var count: RowCount?
  /// Number of starts of a reader process, including failed ones.
  var counts = 0
  /// Findings that do not come from the rows, as of the moment at which reading the rows began.
  var besides = AuditReport(StoreAudit())
  private var rows: AuditReport?
  var reckoning: StockReckoning
  var vending = VendingReckoning()
  /// True after all answers of the stock were handled.
  var isStockDone = false
  /// True while an answer is pending.
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

  /// Stores the result of the reader process; nil if the process failed.
  func hear(_ rows: AuditReport?) {
    count = nil
    self.rows = rows
    isWaiting = false
  }

  func takeRows() -> AuditReport? {
    defer { rows = nil }
    return rows
  }

  /// Returns the answer once, or nil if none has arrived. Throws `diskFull` if the service had no disk space.
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
  /// Owner of the files of the service with this name; nil if the name is unknown.
  fileprivate init?(serviceNamed name: String) {
    switch name {
    case "stock": self = .stock
    case "vending": self = .vending
    case "web": self = .page
    default: return nil
    }
  }
}
