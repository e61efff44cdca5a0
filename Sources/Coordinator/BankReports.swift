// Reports of the bank to clients:
// the status, and the report of a ticket with its attempts.

import BankModel
import Posix
import QueueCore
import Time
import Wire

final class BankReports: CoordinatorComponent {
  private let outside: OutsideWorkers

  init(_ dependencies: CoordinatorComponent, _ outside: OutsideWorkers) {
    self.outside = outside
    super.init(dependencies)
  }

  /// The status report: counters, services, windows and processes of services.
  func status() -> StatusReport {
    let dayCounters = queue.machine.dayCounters
    let issued = queue.machine.issuedCount
    let waiting = queue.machine.waitingCount
    // The last query of the shared database also covers customers that this branch has not claimed.
    let waitingSince = [oldestWaiting(), shared?.numbers.oldest].compactMap { $0 }.min()
    let oldest = waitingSince.map { max(0, context.now.wall.milliseconds - $0.milliseconds) } ?? 0
    let customers = QueueReport(
      issued: issued, waiting: waiting, delayed: queue.machine.delayedCount, serving: queue.machine.serving,
      served: dayCounters.served, dead: dayCounters.dead, cancelled: dayCounters.cancelled,
      oldestWaitMilliseconds: oldest,
      delayedUntil: queue.machine.delayedUntil?.milliseconds)
    let services = services.map { service, name, numbers in
      ServiceReport(
        service: name, windows: numbers.windows, waiting: numbers.waiting, serving: numbers.serving,
        served: numbers.served, paused: numbers.isPaused, pauseReason: pauseReason(of: service, numbers))
    }
    var status = StatusReport(
      state: state, day: dayCounters.day,
      pid: CurrentProcess.pid, generation: context.incarnation, since: context.openedAt.wall.milliseconds,
      businessMilliseconds: queue.machine.businessTime(at: context.now.monotonic).milliseconds,
      queue: customers, services: services,
      workers: windows(memory: ProcessMemory.residentBytes).map(\.report)
        + serviceSupervisor.slots.filter {
          $0.isWanted || $0.child != nil || $0.specification.workerRole != .web
        }
        .map { report(on: $0) },
      guardianPid: context.bindings.guardianSupervisor?.pid)
    if let shared {
      status.bank = shared.report(context.services.directory, own: status)
      status.branch = shared.ownReport
    }
    return status
  }

  /// State of the bank: open, paused or draining.
  var state: BankState { context.isEnding ? .draining : queue.machine.isPaused ? .paused : .open }

  /// Services in a status report, with their numbers.
  var services: [(service: Service, name: ServiceName, numbers: QueueMachine.ServiceCounters)] {
    (context.services.names.compactMap { context.services[$0] } + context.services.unconfigured).compactMap {
      service in
      let numbers = queue.machine.numbers(of: service)
      let name = context.services.directory[service]
      // The service `run`, and services that are not configured any more, are omitted if their numbers are empty.
      if context.services[name] == nil || name == .run, numbers.isEmpty { return nil }
      return (service, name, numbers)
    }
  }

  /// Reason why the queue has paused a service; nil if it is not paused, or there is no recorded reason.
  func pauseReason(of service: Service, _ numbers: QueueMachine.ServiceCounters) -> String? {
    numbers.isPaused ? queue.pauseReasons[service] : nil
  }

  /// One report for each window and each outside worker; `places` are the windows that it serves.
  ///
  /// - Parameter memory: Resident bytes of a process; nil if unknown.
  func windows(memory: (Int32) -> Int64?) -> [(report: WorkerReport, places: [Window])] {
    tellerSupervisor.slots.values.map { (report(on: $0, memory), [$0.window]) }
      + outside.present.map { (report(on: $0, memory), $0.servedWindows) }
  }

  /// Earliest issue time of the waiting customers; nil if no customer waits. If the store cannot be read, only the
  /// customers in memory are considered.
  private func oldestWaiting() -> WallTime? {
    var oldest = queue.machine.oldestWaiting
    // While the disk is full the store has discarded staged changes and could return customers who have left
    // the queue.
    guard queue.engine.isWorking else { return oldest }
    for (line, cursor) in queue.machine.unloadedLines {
      do throws(StoreError) {
        guard let first = try store.page(of: line, after: cursor, limit: 1).first else { continue }
        oldest = min(oldest ?? first.issuedAt, first.issuedAt)
      } catch {
        queue.fail(error)
        break
      }
    }
    return oldest
  }

  private func report(on slot: SupervisedTeller, _ memory: (Int32) -> Int64?) -> WorkerReport {
    let numbers = queue.machine.numbers(of: slot.window)
    let lease = numbers?.generation == slot.generation ? numbers?.lease : nil
    var report = report(
      on: slot, context.name(of: slot.window),
      tellerSupervisor.kinds[slot.window.service].workerRole(of: slot.window.service),
      atWork: lease != nil ? .serving : .idle, memory)
    (report.service, report.window) = (context.services.directory[slot.window.service], slot.window.place)
    (report.ticket, report.served) = (lease?.ticket, numbers?.served ?? 0)
    report.progress = lease.flatMap { queue.progress[$0.ticket] }
    report.lastExit = lastExit(at: slot)
    if let holdUp = slot.holdUp {
      (report.state, report.trouble, report.troubleDetail) = (.backoff, holdUp.description, holdUp)
    }
    return report
  }

  /// Report of an outside worker. If the worker holds several customers, the report names one of them.
  private func report(on session: WorkerSession, _ memory: (Int32) -> Int64?) -> WorkerReport {
    let servedWindows = session.servedWindows
    let numbers = servedWindows.compactMap { queue.machine.numbers(of: $0) }
    let ticket = numbers.lazy.compactMap(\.lease?.ticket).first
    var report = WorkerReport(
      name: context.name(of: servedWindows[0]), role: .outside,
      service: context.services.directory[session.services[0]],
      window: nil, pid: session.pid, generation: session.generation, state: ticket == nil ? .idle : .serving,
      ticket: ticket, restarts: 0, served: numbers.reduce(0) { $0 + $1.served },
      residentKilobytes: (memory(session.pid) ?? 0) / 1_024)
    report.progress = ticket.flatMap { queue.progress[$0] }
    return report
  }

  /// Report with the data that windows and services have in common.
  private func report<Incoming, Outgoing>(
    on slot: SupervisedProcess<Incoming, Outgoing>, _ name: String, _ role: WorkerRole, atWork: WorkerState,
    _ memory: (Int32) -> Int64?
  ) -> WorkerReport {
    let state: WorkerState =
      switch slot.phase {
      case .empty: slot.isGivenUp ? .stopped : .backoff
      case .starting, .welcomed: .starting
      case .ready, .leaving: atWork
      }
    let resident = slot.pid > 0 ? memory(slot.pid) ?? 0 : 0
    return WorkerReport(
      name: name, role: role, service: nil, window: nil, pid: slot.pid, generation: slot.generation,
      state: state, ticket: nil, restarts: slot.restarts, served: 0, residentKilobytes: resident / 1024,
      isFailed: slot.isGivenUp ? true : nil)
  }

  /// Exit of the previous process at a window; nil if there was none.
  private func lastExit(at slot: SupervisedTeller) -> ExitReport? {
    switch slot.lastExit {
    case .code(let code): ExitReport(code: code, signal: nil)
    case .signal(let signal): ExitReport(code: nil, signal: signal)
    case nil: slot.lastExitReason.map { ExitReport(code: nil, signal: nil, trouble: $0.description) }
    }
  }

  private func report(on slot: SupervisedService) -> WorkerReport {
    var report = report(
      on: slot, slot.specification.name, slot.specification.workerRole, atWork: .idle,
      ProcessMemory.residentBytes)
    report.trouble = slot.lastExitReason?.description
    report.troubleDetail = slot.lastExitReason.flatMap { $0.kind == .literal ? nil : $0 }
    (report.failure, report.mismatch) = (slot.failure, slot.mismatch)
    return report
  }

  /// Returns the report of a ticket of the given business day, or of the present day if `day` is nil. Call only
  /// while the store contains only what is on disk.
  func ticket(_ ticket: Int64, day: Int64?) -> ControlAnswer {
    let durableCounters = queue.engine.durableCounters
    var archive = TicketHistoryReader(
      store: store, bankID: context.bankID, presentDay: durableCounters.day, issued: durableCounters.issued)
    let directory = context.services.directory
    archive.currentAttempt = { [queue] number in
      guard queue.machine.dayCounters.day == durableCounters.day else { return nil }
      return queue.machine.servingCustomers.first { $0.customer.ticket == number }.map {
        AttemptReport(
          window: directory.name(of: $0.window), generation: $0.generation, pid: $0.pid,
          startedAt: $0.since.milliseconds, endedAt: nil, end: nil, signal: nil, code: nil)
      }
    }
    do throws(Failure) {
      var report = try archive.history(of: ticket, day: day)
      if report.state == .waiting { try addQueuePosition(to: &report) }
      if report.state == .serving, day ?? durableCounters.day == durableCounters.day {
        report.progress = queue.progress[ticket]
      }
      report.servedOfService = directory[report.service].map { queue.machine.numbers(of: $0).served }
      return .ticket(report)
    } catch { return .failure(error) }
  }

  /// Adds the position of a waiting customer. Also adds the expected time until its work is done, if the service has
  /// windows and is not paused.
  private func addQueuePosition(to report: inout TicketReport) throws(Failure) {
    guard let service = context.services.directory[report.service] else { return }
    let customer = Customer(
      ticket: report.ticket, service: service, priority: report.priority, amount: report.amount,
      account: report.account, issuedAt: WallTime(milliseconds: report.issuedAt))
    let position: Int64
    switch queue.machine.place(of: customer) {
    case .exactly(let place): position = place
    case .beyondMemory(let before, let cursor):
      do throws(StoreError) {
        position =
          try before + 1 + store.countWaiting(in: customer.line, after: cursor, below: customer.ticket)
      } catch { throw Failure(store: error) }
    }
    report.position = position
    let numbers = queue.machine.numbers(of: service)
    guard numbers.windows > 0, !numbers.isPaused else { return }
    let work = context.configuration.scaledWork(report.service).milliseconds
    let (rounds, overflow) = ((position + numbers.windows - 1) / numbers.windows).multipliedReportingOverflow(
      by: work)
    if !overflow { report.etaMilliseconds = rounds }
  }
}

extension AuditReport {
  package init(_ audit: StoreAudit) {
    self.init(
      issued: audit.issued, served: audit.served, cancelled: audit.cancelled, waiting: audit.waiting,
      delayed: audit.delayed, dead: audit.dead, lost: audit.lost, duplicated: audit.duplicated,
      ledgerDifference: audit.ledgerDifference, problems: audit.problems)
    messageDetails = audit.messageDetails.isEmpty ? nil : audit.messageDetails
  }
}
