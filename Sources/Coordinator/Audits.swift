// Owns the audits of an open bank: what is kept, what is in memory, who may enter the home, and who works in its name.
// They change nothing. The rows of a large database are read by another process, from the file as it was when the audit
// began, so that the bank goes on meanwhile. A process that is not known may just be ending, so it is looked for again a
// moment later, and the clients wait that long; everybody else does not.
// Invariant: one audit at a time, because each reads every row. Who asks while one is made shares the next, and so every
// answer rests on what was there after it was asked for.

import BankModel
import Logbook
import Posix
import QueueCore
import StockClient
import Storage
import Time
import VendingClient
import Wire

/// The audits that clients ask for.
final class Audits {
  private let context: BankContext
  private let queue: QueueDriver
  private let store: any QueueReading
  private let readings: Readings
  private let tellerSupervisor: TellerSupervisor
  private let serviceSupervisor: ServiceSupervisor
  private let services: BranchServices
  private let releases: ReleaseQueue
  private let marks: DatabaseMarks
  private let server: ControlServer
  /// The audit that is being made.
  private(set) var current: Auditing?
  /// Those who share the next one.
  private(set) var seats: [Followers.Seat] = []
  /// Who reads rows for one, or ends after it.
  private var readers: [RowCount] = []

  init(
    _ context: BankContext, _ queue: QueueDriver, _ store: any QueueReading, _ readings: Readings,
    _ tellerSupervisor: TellerSupervisor, _ serviceSupervisor: ServiceSupervisor, _ services: BranchServices,
    _ releases: ReleaseQueue,
    _ marks: DatabaseMarks, _ server: ControlServer
  ) {
    self.context = context
    self.queue = queue
    self.store = store
    self.readings = readings
    self.tellerSupervisor = tellerSupervisor
    self.serviceSupervisor = serviceSupervisor
    self.services = services
    self.releases = releases
    self.marks = marks
    self.server = server
  }

  /// A client asks for an audit.
  func ask(_ seat: Followers.Seat) {
    seats.append(seat)
    begin()
  }

  /// Answers that a client is waiting for here.
  func count(of session: ControlSession) -> Int {
    seats.count { $0.session === session } + (current?.seats.count { $0.session === session } ?? 0)
  }

  /// A client has left.
  func forget(_ session: ControlSession) {
    seats.removeAll { $0.session === session }
    current?.seats.removeAll { $0.session === session }
    // Nobody waits for the rows any more.
    if current?.seats.isEmpty == true { current?.count?.stop() }
  }

  /// Begins an audit for everybody who has asked for one, where none is being made.
  private func begin() {
    guard current == nil, !seats.isEmpty else { return }
    let strangers = HomeAudit(home: context.home).strangers(known: knownProcesses)
    let nextLook = strangers.isEmpty ? nil : context.now.monotonic + HomeAudit.nextLook
    current = Auditing(seats, strangers, nextLook: nextLook, books: context.booksName)
    seats.removeAll()
  }

  /// Looks again for strangers who were seen a moment ago.
  func keepTime() {
    guard !queue.engine.isEmptying, let audit = current, let due = audit.nextLook,
      due <= context.now.monotonic
    else { return }
    audit.strangers.formIntersection(HomeAudit(home: context.home).strangers(known: knownProcesses))
    audit.looks += 1
    let isDone = audit.strangers.isEmpty || HomeAudit.areToStay(audit.strangers, after: audit.looks)
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
      queue.machine.contradictions() + HomeAudit.remarks(on: strangers)
      + HomeAudit(home: context.home).permissions()
    for remark in remarks { report.add(remark) }
    marks.addMismatches(to: &report)
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
        environment: serviceSupervisor.environment,
        loop: context.loop
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

  /// Whether there is an audit that waits for nothing.
  var canGoOn: Bool { canAskStock && current?.canGoOn == true }

  /// When something has to be done by itself next.
  var nextDeadline: MonotonicTime? { current?.nextLook }

  /// Goes on with the audit if it waits for nothing, page by page.
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
    if let answer = try audit.takeAnswer() {
      switch answer {
      case .success(let result): try audit.reckoning.hear(result, store, day: queue.engine.keptBooks.day)
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
    services.stock.ask(question, until: SystemClock.monotonic() + patience) { [weak audit] in audit?.hear($0)
    }
    services.stock.endTurn()
  }

  /// The vending machine comes after the stock, because it is compared with it.
  private func advanceMachine(_ audit: Auditing) throws(StoreError) {
    if let trouble = services.trouble(of: .vending) ?? services.trouble(of: .stock) {
      audit.vending.fail(trouble)
    }
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
      services.vending.ask(.audit, until: SystemClock.monotonic() + Self.longestCount) {
        [weak audit] (answer: Result<VendingResult, VendingClientError>) in
        audit?.hear(answer)
      }
      services.vending.endTurn()
    case .stock(let question):
      audit.wait()
      services.stock.ask(question, until: SystemClock.monotonic() + Self.patience) {
        [weak audit] (answer: Result<StockResult, StockClientError>) in
        audit?.hear(answer)
      }
      services.stock.endTurn()
    case nil:
      audit.vending.complete(&audit.report)
      for seat in audit.seats { server.answer(seat.session, seat.number, .audit(audit.report)) }
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
