// Audits of an open bank: the stored rows, the state in memory, the files of the home and their permissions, its
// processes, and its stock and vending machine. An audit changes nothing. A separate process reads the rows of a large
// database, so that the bank keeps serving. An unknown process may be exiting, so the audit checks again later.
// Invariant: one audit runs at a time, because each reads all rows. Clients that ask during an audit share the next
// one, so an answer reflects a state after its request.

import BankModel
import Posix
import QueueCore
import StockClient
import Time
import VendingClient
import Wire

final class Audits: CoordinatorComponent {
  private let durableReads: DurableReads
  private let services: ServiceProcesses
  private let databaseIdentities: DatabaseIdentities
  private let outside: OutsideWorkers
  private(set) var current: AuditRun?
  /// Clients that share the next audit.
  private(set) var requesters: [RequestHandle] = []
  /// Reader processes of audits; some may have been reaped.
  private var readers: [AuditReaderProcess] = []

  init(
    _ dependencies: CoordinatorComponent, _ durableReads: DurableReads, _ services: ServiceProcesses,
    _ databaseIdentities: DatabaseIdentities,
    _ outside: OutsideWorkers
  ) {
    (self.durableReads, self.outside) = (durableReads, outside)
    self.services = services
    self.databaseIdentities = databaseIdentities
    super.init(dependencies)
  }

  /// Adds a client to the next audit, which starts now if none is running.
  func ask(_ requester: RequestHandle) {
    requesters.append(requester)
    begin()
  }

  /// Number of requests of this client that wait for an audit.
  func count(of session: ControlSession) -> Int {
    requesters.count { $0.session === session } + (current?.requesters.count { $0.session === session } ?? 0)
  }

  /// Drops the requests of a client that has disconnected.
  func forget(_ session: ControlSession) {
    requesters.removeAll { $0.session === session }
    current?.requesters.removeAll { $0.session === session }
    if current?.requesters.isEmpty == true { current?.count?.stop() }
  }

  /// Starts an audit for all waiting clients, if none is running.
  private func begin() {
    guard current == nil, !requesters.isEmpty else { return }
    let (unknownProcesses, missing) = (unknownProcesses, missing)
    let isClean = unknownProcesses.isEmpty && missing.isEmpty && !isStarting
    let nextCheck = isClean ? nil : context.now.monotonic + HomeAudit.nextCheck
    current = AuditRun(requesters, unknownProcesses, missing, nextCheck: nextCheck, bankID: context.bankID)
    requesters.removeAll()
  }

  /// Notes about customers that wait for services that are not configured any more.
  private var unconfigured: [MessageDetail] {
    context.services.unconfigured.compactMap { service in
      let waiting = queue.machine.numbers(of: service).waiting
      return waiting == 0
        ? nil : MessageDetail(.serviceRemoved, context.services.directory[service].text, waiting)
    }
  }

  /// Processes of this home that this coordinator does not know.
  private var unknownProcesses: Set<HomeAudit.UnknownProcess> {
    HomeAudit(home: context.home).unknownProcesses(known: knownProcesses)
  }

  private var missing: Set<HomeFile> {
    guard context.bindings.hasHome, !context.isEnding else { return [] }
    var owners: Set<HomeFile.Owner> = [.coordinator]
    if outside.isListening { owners.insert(.workers) }
    if context.bindings.guardianSupervisor?.isGuarded == true { owners.insert(.guardian) }
    for slot in serviceSupervisor.slots where slot.phase == .ready {
      if let owner = HomeFile.Owner(serviceNamed: slot.specification.name) { owners.insert(owner) }
    }
    return HomeAudit(home: context.home).missing(of: owners)
  }

  /// Largest number of checks while a service starts.
  private static let maxStartingChecks = 50

  /// True while the stock or the vending machine starts, so that a missing answer is not a finding yet.
  private var isStarting: Bool {
    guard context.bindings.hasHome, !context.isEnding else { return false }
    return serviceSupervisor.slots.contains { slot in
      [.stock, .vending].contains(slot.specification.workerRole) && slot.isWanted && !slot.isGivenUp
        && slot.phase != .ready
    }
  }

  /// Repeats the check for the unknown processes and missing files that were found earlier.
  func runTimers() {
    guard !queue.engine.isResetting, let audit = current, let due = audit.nextCheck,
      due <= context.now.monotonic
    else { return }
    audit.unknownProcesses.formIntersection(unknownProcesses)
    audit.missing.formIntersection(missing)
    audit.checks += 1
    let isQuiet =
      audit.unknownProcesses.isEmpty && audit.missing.isEmpty
      || HomeAudit.arePersistent(audit.unknownProcesses, after: audit.checks)
    let isDone = isQuiet && (!isStarting || audit.checks >= Self.maxStartingChecks)
    audit.nextCheck = isDone ? nil : context.now.monotonic + HomeAudit.nextCheck
  }

  // MARK: - Rows

  /// Largest number of reader processes for one audit. After that the coordinator reads the rows itself.
  private static let counts = 3

  /// Examines rows, memory, home and processes. Returns false if the rows are still being read.
  private func examine(_ audit: AuditRun) throws(StoreError) -> Bool {
    var report: AuditReport
    if let rows = audit.takeRows() {
      report = rows
    } else {
      audit.otherFindings = otherFindings(audit.unknownProcesses, audit.missing)
      if try startAuditReader(audit) { return false }
      report = AuditReport(try store.audit())
    }
    report.add(contentsOf: audit.otherFindings)
    audit.report = report
    return true
  }

  /// Returns the findings about the state in memory, the processes and the home.
  private func otherFindings(
    _ unknownProcesses: Set<HomeAudit.UnknownProcess>, _ missing: Set<HomeFile>
  ) -> AuditReport {
    var report = AuditReport(StoreAudit())
    report.add(
      queue.machine.inconsistencies(context.services.directory)
        + HomeAudit.messageDetails(on: unknownProcesses))
    report.add(HomeAudit.messageDetails(on: missing) + HomeAudit(home: context.home).permissions())
    databaseIdentities.addMismatches(to: &report)
    for messageDetail in unconfigured { report.note(messageDetail) }
    return report
  }

  /// Starts a process that reads the rows of a large database. Returns false if the coordinator has to read them.
  private func startAuditReader(_ audit: AuditRun) throws(StoreError) -> Bool {
    guard let memory = context.bindings.databaseRecords, audit.counts < Self.counts, try memory.isLong()
    else {
      return false
    }
    guard try memory.freeze(onThaw: { [weak audit] in audit?.count?.stop() }) else { return false }
    audit.counts += 1
    audit.wait()
    do throws(SystemError) {
      let count = try AuditReaderProcess(
        home: context.home, program: tellerSupervisor.programs.coordinator,
        environment: serviceSupervisor.environment, loop: context.loop
      ) { [weak audit, unowned memory] rows in
        audit?.handle(rows)
        memory.thaw()
      }
      audit.count = count
      register(count)
      return true
    } catch {
      context.write(event: "spawn_failed", level: .error) {
        $0.field("worker_name", "audit")
        $0.field("msg", error.description)
      }
      audit.handle(nil as AuditReport?)
      memory.thaw()
      return false
    }
  }

  /// Registers a reader process as one of this bank's processes until it is reaped.
  func register(_ reader: AuditReaderProcess) {
    readers.removeAll { $0.pid == nil }
    readers.append(reader)
  }

  // MARK: - Stock

  /// Timeout for an answer of the stock other than that to an audit.
  private static let patience = TimeSpan.seconds(10)
  /// Timeout for the stock or the vending machine to audit all its rows.
  private static let longestCount = TimeSpan.minutes(5)

  /// True if the stock can be queried. A stock that was dismissed is not a finding, because the bank is closing.
  private var canQueryStock: Bool { !services.isDismissed || Mutant.auditsStoppedServices.isActive }
  var canContinue: Bool { canQueryStock && current?.canContinue == true }
  var nextDeadline: MonotonicTime? { current?.nextCheck }

  /// Continues the current audit, if the store contains only what is on disk and no answer is pending.
  func advance() {
    guard queue.engine.isDurable, canContinue, let audit = current else { return }
    do throws(StoreError) {
      // All clients of this audit have disconnected.
      if audit.requesters.isEmpty { return end() }
      try advance(audit)
    } catch {
      for requester in audit.requesters { durableReads.failed(error, requester) }
      end()
    }
  }

  /// Ends the current audit, and starts the next one if clients wait for it.
  private func end() {
    current?.count?.stop()
    current = nil
    begin()
    // The connection is not needed until the next audit.
    if current == nil { services.vending.close() }
  }

  /// Performs the next step of an audit: the rows, then the stock, then the vending machine.
  private func advance(_ audit: AuditRun) throws(StoreError) {
    if audit.hasFinishedStock { return try advanceVending(audit) }
    if !audit.hasBegun { guard try examine(audit) else { return } }
    if let trouble = services.trouble(of: .stock) { audit.reconciliation.fail(trouble) }
    // Reached only with the fault injection in `canQueryStock`.
    if services.isDismissed { audit.reconciliation.fail(MessageDetail(.noAnswer)) }
    switch try audit.takeAnswer() {
    case .stock(let result):
      try audit.reconciliation.handle(result, store, day: queue.engine.durableCounters.day)
    case .silent(let reason): audit.reconciliation.fail(reason)
    case .machine, .diskFull, nil: break
    }
    guard let question = try audit.reconciliation.question(from: store) else {
      audit.reconciliation.complete(&audit.report)
      audit.report.add(releases.problems())
      audit.hasFinishedStock = true
      return try advanceVending(audit)
    }
    ask(question, for: audit)
  }

  /// Sends a query to the stock. The audit continues with its answer.
  private func ask(_ question: StockCommand, for audit: AuditRun) {
    audit.wait()
    let patience = question == .audit ? Self.longestCount : Self.patience
    services.stock.ask(question, until: SystemClock.monotonic() + patience) { [weak audit] answer in
      audit?.handle(AuditRun.Answer(answer))
    }
    services.stock.finishIteration()
  }

  /// Queries the vending machine after the stock, because the audit compares the two.
  private func advanceVending(_ audit: AuditRun) throws(StoreError) {
    if let trouble = services.trouble(of: .vending) ?? services.trouble(of: .stock) {
      audit.vending.fail(trouble)
    }
    switch try audit.takeAnswer() {
    case .machine(.audit(let report)): audit.vending.handle(report)
    case .machine: audit.vending.fail(MessageDetail(.unexpectedReply))
    case .stock(let result): audit.vending.handle(result)
    case .silent(let reason): audit.vending.fail(reason)
    case .diskFull, nil: break
    }
    switch audit.vending.question {
    case .machine:
      audit.wait()
      services.vending.ask(.audit, until: SystemClock.monotonic() + Self.longestCount) {
        [weak audit] answer in audit?.handle(AuditRun.Answer(answer))
      }
      services.vending.finishIteration()
    case .stock(let question): ask(question, for: audit)
    case nil:
      audit.vending.complete(&audit.report)
      for requester in audit.requesters { server.answer(requester, .audit(audit.report), from: .read) }
      end()
    }
  }

  /// Processes that an audit does not report as unknown.
  var knownProcesses: Set<Int32> {
    Set(
      [CurrentProcess.pid, context.bindings.guardianSupervisor?.pid ?? 0]
        + tellerSupervisor.slots.values.compactMap { $0.child?.pid }
        + serviceSupervisor.slots.compactMap { $0.child?.pid } + readers.compactMap(\.pid))
  }
}

/// State of one audit: its findings, and the pending answer of the reader process, the stock or the vending machine.
/// Invariant: the audit waits for one answer at a time, and takes each answer once.
final class AuditRun {
  /// Answer of a service to the audit, or the reason why there is none.
  enum Answer {
    case stock(StockResult)
    case machine(VendingResult)
    /// No answer arrived, for this reason.
    case silent(MessageDetail)
    /// The service had no disk space for the query: the audit fails without findings.
    case diskFull(MessageDetail)

    init(_ answer: Result<StockResult, StockClientError>) {
      switch answer {
      case .success(.failure(let failure)) where failure.code == .diskFull:
        self = .diskFull(failure.messageDetail ?? MessageDetail(quoting: failure.detail))
      case .success(let result): self = .stock(result)
      case .failure(let error): self = .silent(error.messageDetail)
      }
    }

    init(_ answer: Result<VendingResult, VendingClientError>) {
      switch answer {
      case .success(.failure(let failure)) where failure.code == .diskFull:
        self = .diskFull(failure.messageDetail ?? MessageDetail(quoting: failure.detail))
      case .success(let result): self = .machine(result)
      case .failure(let error): self = .silent(error.messageDetail)
      }
    }
  }

  var requesters: [RequestHandle]
  /// Unknown processes that every check so far has found.
  var unknownProcesses: Set<HomeAudit.UnknownProcess>
  /// Files of the home that were missing at every check so far.
  var missing: Set<HomeFile>
  /// Time of the next check; nil after the last one.
  var nextCheck: MonotonicTime?
  var checks = 0
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
  /// Process that reads the rows; nil while there is none.
  var count: AuditReaderProcess?
  /// Number of starts of a reader process, including failed ones.
  var counts = 0
  /// Findings about memory, processes and home, as of the moment at which reading the rows began.
  var otherFindings = AuditReport(StoreAudit())
  private var rows: AuditReport?
  var reconciliation: StockReconciliation
  var vending = VendingReconciliation()
  var hasFinishedStock = false
  private var isWaiting = false
  private var answer: Answer?

  init(
    _ requesters: [RequestHandle], _ unknownProcesses: Set<HomeAudit.UnknownProcess>,
    _ missing: Set<HomeFile>,
    nextCheck: MonotonicTime?,
    bankID: BankID
  ) {
    self.requesters = requesters
    (self.unknownProcesses, self.missing) = (unknownProcesses, missing)
    self.nextCheck = nextCheck
    reconciliation = StockReconciliation(bankID)
  }

  var canContinue: Bool { !isWaiting && nextCheck == nil }
  func wait() { isWaiting = true }
  /// Stores the pending answer, which has arrived.
  func handle(_ answer: Answer) {
    self.answer = answer
    isWaiting = false
  }

  /// Stores the result of the reader process; nil if the process failed.
  func handle(_ rows: AuditReport?) {
    count = nil
    self.rows = rows
    isWaiting = false
  }

  /// Returns the result of the reader process once, or nil if there is none.
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
