// Snapshots of the bank for dashboards. Its only state is the rates of arrival and service, and cached query results.
// Invariant: a snapshot has bounded size. It names only customers and events that are on disk. Counts may include
// changes that are not on disk yet, as in every report of a running bank.

import BankModel
import Posix
import QueueCore
import Time
import Wire

final class BoardPictures: BankPart {
  private let reports: BankReports
  private let waiting: WaitingReader
  private let dead: DeadTally
  private var memory = MemoryReadings()
  private(set) var throughput: Throughput

  init(_ ground: BankPart, _ reports: BankReports) {
    self.reports = reports
    waiting = WaitingReader(ground)
    dead = DeadTally(ground)
    throughput = Throughput(
      day: ground.queue.machine.books.day, served: ground.queue.machine.books.served,
      issued: ground.queue.machine.books.issued, byService: ground.queue.machine.books.servedByService,
      at: ground.context.now.monotonic)
    super.init(ground)
    followers.onRareChange = { [dead] change in dead.note(change) }
    followers.events.presentDay = { [unowned queue] in queue.effectsDay }
  }

  /// Samples the counters for the rates, with or without viewers.
  func look() {
    throughput.note(
      day: queue.machine.books.day, served: queue.machine.books.served, issued: queue.machine.books.issued,
      byService: queue.machine.books.servedByService, at: context.now.monotonic)
  }

  /// Drops all caches, after the last viewer has left.
  func forget() {
    waiting.forget()
    dead.forget()
    memory = MemoryReadings()
  }

  func frame() -> BoardFrame {
    look()
    dead.prepare()
    memory.begin(at: context.now.monotonic)
    let counts = counts()
    var frame = BoardFrame(
      day: queue.machine.books.day, state: reports.state,
      coordinator: BoardCoordinator(
        pid: CurrentProcess.pid, generation: context.incarnation,
        openedAt: context.openedAt.wall.milliseconds),
      time: context.now.wall.milliseconds,
      businessTime: queue.machine.businessTime(at: context.now.monotonic),
      businessTimeRuns: queue.machine.isTimerRunning, counts: counts, rates: throughput.rates)
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
    frame.hidden = BoardHidden(
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
      served: queue.machine.books.served, cancelled: queue.machine.books.cancelled,
      dead: queue.machine.books.dead)
  }

  private func services() -> [BoardService] {
    let today = queue.machine.books.servedByService
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
    look()
    let parts = throughput.servedByStep(of: queue.machine.books.servedByService)
    let age = context.now.monotonic.since(throughput.longStepBegan)
    return BoardHistory(
      since: context.now.wall.milliseconds - age.milliseconds,
      served: reports.services.prefix(BoardFrame.servicesAtMost).map { service, _, _ in
        service.index < parts.count ? parts[service.index] : []
      })
  }

  /// Returns one entry for each of the first priorities, and one entry for all others together.
  static func grades(_ all: [(priority: Priority, count: Int64)]) -> [BoardGrade] {
    var grades = all.prefix(BoardService.gradesAtMost).map {
      BoardGrade(priority: $0.priority, count: $0.count)
    }
    let others = all.dropFirst(BoardService.gradesAtMost).reduce(0) { $0 + $1.count }
    if others > 0 { grades.append(BoardGrade(priority: nil, count: others)) }
    return grades
  }

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

  private func windows() -> [BoardWindow] {
    reports.windows(memory: { self.memory.bytes(of: $0) }).map { report, places in
      var tickets: [TicketNumber] = []
      var since: Int64?
      for place in places {
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
    if !queue.machine.isUnsettled { followers.events.confirm() }
    let directory = context.services.directory
    return followers.events.latest.map { event in
      BoardEvent(event, directory) { window, generation in
        guard !window.isOutside, let post = self.tellerSupervisor.posts[window], post.pid > 0,
          post.generation == generation
        else { return nil }
        return post.pid
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
  /// True if both snapshots differ only in the time that has passed.
  func showsTheSame(as other: BoardFrame) -> Bool {
    var other = other
    (other.time, other.businessTime) = (time, businessTime)
    return self == other
  }
}
