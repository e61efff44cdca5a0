// Snapshots of the bank for dashboards. Between two snapshots only the rates of arrival and service, and caches, are
// stored.
// Invariant: a snapshot has bounded size. Counts may include changes that are not on disk yet.

import BankModel
import Posix
import QueueCore
import Time
import Wire

final class BoardSnapshots: CoordinatorComponent {
  private let reports: BankReports
  private let waiting: WaitingCustomersReader
  private let dead: DeadLetterCounts
  private var memory = MemorySamples()
  private(set) var throughput: Throughput

  init(_ dependencies: CoordinatorComponent, _ reports: BankReports) {
    self.reports = reports
    waiting = WaitingCustomersReader(dependencies)
    dead = DeadLetterCounts(dependencies)
    throughput = Throughput(
      day: dependencies.queue.machine.dayCounters.day, served: dependencies.queue.machine.dayCounters.served,
      issued: dependencies.queue.machine.dayCounters.issued,
      byService: dependencies.queue.machine.dayCounters.servedByService,
      at: dependencies.context.now.monotonic)
    super.init(dependencies)
    subscriptions.onRareChange = { [dead] change in dead.note(change) }
    subscriptions.events.presentDay = { [unowned queue] in queue.effectsDay }
  }

  /// Samples the counters for the rates, with or without viewers.
  func poll() {
    throughput.note(
      day: queue.machine.dayCounters.day, served: queue.machine.dayCounters.served,
      issued: queue.machine.dayCounters.issued,
      byService: queue.machine.dayCounters.servedByService, at: context.now.monotonic)
  }

  /// Drops all caches.
  func forget() {
    waiting.forget()
    dead.forget()
    memory = MemorySamples()
  }

  func frame() -> BoardFrame {
    poll()
    dead.prepare()
    memory.begin(at: context.now.monotonic)
    let counts = counts()
    var frame = BoardFrame(
      day: queue.machine.dayCounters.day, state: reports.state,
      coordinator: BoardCoordinator(
        pid: CurrentProcess.pid, generation: context.incarnation,
        openedAt: context.openedAt.wall.milliseconds),
      time: context.now.wall.milliseconds,
      businessTime: queue.machine.businessTime(at: context.now.monotonic),
      isBusinessTimeRunning: queue.machine.isTimerRunning, counts: counts, rates: throughput.rates)
    let services = services()
    frame.services = Array(services.prefix(BoardFrame.servicesAtMost))
    let directory = context.services.directory
    frame.waiting = waiting.first(BoardFrame.waitingAtMost).map {
      BoardWaiting(
        ticket: $0.ticket, service: directory[$0.line.service], priority: $0.line.priority)
    }
    frame.serving = serving()
    let windows = windows()
    frame.windows = Array(windows.prefix(BoardFrame.windowsAtMost))
    frame.events = events()
    frame.hidden = BoardOmittedRows(
      services: Int64(services.count - frame.services.count),
      waiting: max(0, counts.waiting - Int64(frame.waiting.count)),
      serving: max(0, counts.serving - Int64(frame.serving.count)),
      windows: Int64(windows.count - frame.windows.count))
    if let shared {
      frame.branches = Array(shared.branchReports.prefix(BoardFrame.branchesAtMost))
      frame.bank = shared.counts(serving: counts.serving)
    }
    return frame
  }

  private func counts() -> BoardCounts {
    BoardCounts(
      issued: queue.machine.issuedCount, waiting: queue.machine.waitingCount,
      delayed: queue.machine.delayedCount, serving: queue.machine.serving,
      served: queue.machine.dayCounters.served, cancelled: queue.machine.dayCounters.cancelled,
      dead: queue.machine.dayCounters.dead)
  }

  /// One row for each service in a status report.
  private func services() -> [BoardService] {
    let today = queue.machine.dayCounters.servedByService
    let served = throughput.servedTenMinutes(of: today)
    return reports.services.map { service, name, numbers in
      let index = service.index
      return BoardService(
        service: name, paused: numbers.isPaused, pauseReason: reports.pauseReason(of: service, numbers),
        windows: Int(numbers.windows), waiting: Self.grades(queue.machine.waitingByPriority(of: service)),
        waitingTotal: numbers.waiting, delayed: queue.machine.delayedCount(of: service),
        serving: numbers.serving, dead: max(0, dead[service]),
        servedTenMinutes: index < served.count ? served[index] : 0,
        served: index < today.count ? today[index] : 0)
    }
  }

  /// Returns the numbers of customers served before the viewer connected, for the services in the snapshots.
  func history() -> BoardHistory {
    poll()
    let parts = throughput.servedByStep(of: queue.machine.dayCounters.servedByService)
    let age = context.now.monotonic.since(throughput.longStepBegan)
    return BoardHistory(
      since: context.now.wall.milliseconds - age.milliseconds,
      served: reports.services.prefix(BoardFrame.servicesAtMost).map { service, _, _ in
        service.index < parts.count ? parts[service.index] : []
      })
  }

  /// Waiting customers of a service as rows: one for each of the first priorities, and one for all others together.
  static func grades(_ all: [(priority: Priority, count: Int64)]) -> [BoardGrade] {
    var grades = all.prefix(BoardService.gradesAtMost).map {
      BoardGrade(priority: $0.priority, count: $0.count)
    }
    let others = all.dropFirst(BoardService.gradesAtMost).reduce(0) { $0 + $1.count }
    if others > 0 { grades.append(BoardGrade(priority: nil, count: others)) }
    return grades
  }

  /// The first customers at windows.
  private func serving() -> [BoardServing] {
    let directory = context.services.directory
    return queue.machine.atWindows(limit: BoardFrame.servingAtMost).map {
      window, _, _, customer, since in
      BoardServing(
        ticket: customer.ticket, service: directory[customer.service], priority: customer.priority,
        window: directory.name(of: window), since: since.milliseconds, attempt: Int(customer.attempts) + 1,
        progress: queue.progress[customer.ticket])
    }
  }

  /// One row for each window and each outside worker.
  private func windows() -> [BoardWindow] {
    reports.windows(memory: { self.memory.bytes(of: $0) }).map { report, servedWindows in
      var tickets: [TicketNumber] = []
      var since: Int64?
      for place in servedWindows {
        let left = BoardWindow.ticketsAtMost - tickets.count
        guard let hand = queue.machine.hand(at: place, limit: left) else { continue }
        tickets += hand.tickets
        since = min(since ?? hand.since.milliseconds, hand.since.milliseconds)
      }
      return BoardWindow(
        report, service: report.service ?? .deposit, tickets: tickets, since: since)
    }
  }

  private func events() -> [BoardEvent] {
    if !queue.machine.hasUncommittedChanges { subscriptions.events.confirm() }
    let directory = context.services.directory
    return subscriptions.events.latest.map { event in
      BoardEvent(event, directory) { window, generation in
        guard !window.isOutside, let slot = self.tellerSupervisor.slots[window], slot.pid > 0,
          slot.generation == generation
        else { return nil }
        return slot.pid
      }
    }
  }
}

extension BoardWindow {
  /// Window entry from a status report, with its customers in flight.
  fileprivate init(_ report: WorkerReport, service: ServiceName, tickets: [Int64], since: Int64?) {
    self.init(
      window: report.name, service: service, pid: report.pid > 0 ? report.pid : nil,
      generation: Int64(report.generation), state: report.state, tickets: tickets, since: since,
      served: report.served, restarts: report.restarts,
      memoryBytes: report.residentKilobytes > 0 ? report.residentKilobytes * 1_024 : nil,
      isFailed: report.isFailed, lastExit: report.lastExit)
  }
}

extension BoardFrame {
  /// True if both snapshots differ in nothing but their times.
  func showsSameState(as other: BoardFrame) -> Bool {
    var other = other
    (other.time, other.businessTime) = (time, businessTime)
    return self == other
  }
}
