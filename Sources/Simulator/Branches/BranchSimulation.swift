// One simulated world of several branches: its clock, its branches, each on a machine of its own, their shared
// database, and the network between them. The checker detects broken promises.
// Invariant: the seed alone decides what happens. A broken promise ends the history.

#if HAS_POSTGRES
  import BankModel
  import Glibc
  import Posix
  import Time
  import Wire

  /// A history of several branches of one bank that is decided by a seed.
  public final class BranchSimulation {
    /// Result of one history: its seed, the broken promise if there is one, counts, and a digest of what happened.
    public struct Outcome: Sendable, Equatable {
      /// Seed of the history.
      public var seed: UInt64
      /// The promise that was broken; nil if none was.
      public var violation: Violation?
      /// Counts of what was simulated.
      public var statistics: BranchStatistics
      /// Digest of the history, equal for two runs of one seed.
      public var digest: UInt64
    }

    /// What the simulation has planned for a time.
    enum ScheduledEvent {
      /// The branch of this index starts, or the client of a branch does its next step.
      case start(Int)
      case client(Int, Int)
      /// A request in flight on this connection reaches the database.
      case arrival(DatabaseSession)
      case fault
      /// The faults end.
      case calm
      /// The next step of closing the bank.
      case closing
      /// A client that did not read for a while reads again.
      case descriptorsRestored(Int, pid_t)
      /// A planned fault hits the transaction that was sent on this connection.
      case ambush(DatabaseSession, DatabaseNetwork.PlannedFault)
    }

    /// After the faults have ended, the bank must be drained and closed within this time.
    private static let maxShutdownTime = TimeSpan.seconds(120)
    /// A history with more steps than this ends as a violation, once its faults have ended.
    private static let maxEvents: Int64 = 600_000
    /// Maximum number of times that a bank is reopened after it has closed with customers left.
    private static let maxReopenings = 4

    let seed: UInt64
    let plan: BranchPlan
    let bug: PlantedBranchBug?
    var clock = VirtualClock()
    var eventQueue = EventQueue<ScheduledEvent>()
    var trace: Trace
    var statistics = BranchStatistics()
    var chance: SeededGenerator
    var bugChance: SeededGenerator
    private(set) var nodes: [BranchNode] = []
    private(set) lazy var checker = BranchChecker(self)
    private(set) lazy var network = DatabaseNetwork(seed: seed &* 19 &+ 5, in: self)
    private(set) lazy var server = DatabaseServer(in: self)
    private(set) var violation: Violation?
    /// True after the faults have ended.
    private(set) var isFaultFree = false
    private(set) var faultFreeSince = MonotonicTime(nanoseconds: 0)
    /// True if the history has ended as planned.
    private var isOver = false
    private var stopRequestedAt: MonotonicTime?
    private var reopenings = 0
    private var reopenedAt = MonotonicTime(nanoseconds: 0)
    /// True after the bank was asked to stop: clients may give up refused requests.
    private(set) var mayGiveUp = false
    private var nextRecoveryAt = MonotonicTime(nanoseconds: 0)

    private init(seed: UInt64, bug: PlantedBranchBug?, trace: ((String) -> Void)?) {
      (self.seed, self.bug) = (seed, bug)
      plan = BranchPlan(seed: seed)
      self.trace = Trace(output: trace)
      chance = SeededGenerator(seed: seed &* 5 &+ 2)
      bugChance = SeededGenerator(seed: seed &* 11 &+ 3)
    }

    /// Runs one history to its end.
    ///
    /// - Parameters:
    ///   - seed: decides everything that happens.
    ///   - bug: the planted defect; nil for none.
    ///   - trace: receives a line of text for each event; nil if there is no reader.
    public static func run(
      seed: UInt64, bug: PlantedBranchBug? = nil, trace: ((String) -> Void)? = nil
    ) -> Outcome {
      let world = BranchSimulation(seed: seed, bug: bug, trace: trace)
      world.run()
      return Outcome(
        seed: seed, violation: world.violation, statistics: world.statistics, digest: world.trace.digest)
    }

    /// Runs the history until it has ended or a promise is broken.
    private func run() {
      trace.line(clock.now, "seed \(seed), \(plan.branches) branches, page \(plan.page)")
      server.calendarError = plan.calendars[plan.branches]
      for index in 0..<plan.branches {
        network.conditions.append(.init(base: plan.distance, spread: plan.distance))
        nodes.append(BranchNode(index, seed: seed, in: self))
        eventQueue.add(.start(index), at: clock.now + .milliseconds(chance.draw(0...200)))
        for number in 0..<plan.clients {
          eventQueue.add(.client(index, number), at: clock.now + .milliseconds(chance.draw(1...300)))
        }
      }
      if !plan.isFaultFree { eventQueue.add(.fault, at: clock.now + plan.interval) }
      eventQueue.add(.calm, at: clock.now + plan.duration)
      while !isOver, violation == nil {
        guard processNext() else {
          violate(.notDrained, "there are no more events, but the bank has not ended")
          break
        }
        if isFaultFree,
          clock.now.since(faultFreeSince) > Self.maxShutdownTime || statistics.occurrences > Self.maxEvents
        {
          violate(
            .notDrained,
            "the faults ended long ago, but \(checker.leftovers()); \(openRequests); \(running)")
        }
        trace.flush()
      }
      for node in nodes { node.host.shutDown() }
      if violation == nil { checker.checkEnd() }
      if violation == nil { statistics.histories += 1 }
      trace.flush()
    }

    /// Does the next step of a process or the next scheduled event. Returns false if there is none.
    private func processNext() -> Bool {
      var next = eventQueue.nextMoment
      var whose: BranchNode?
      for node in nodes {
        guard let moment = node.host.nextMoment, next.map({ moment < $0 }) ?? true else { continue }
        (next, whose) = (moment, node)
      }
      guard let moment = next else { return false }
      clock.advance(to: moment)
      for node in nodes { node.host.advance(to: clock.now) }
      statistics.occurrences += 1
      trace.mix(moment.nanoseconds)
      if let whose {
        whose.host.runNext()
      } else if let (_, scheduled) = eventQueue.next() {
        process(scheduled)
      }
      return true
    }

    private func process(_ scheduled: ScheduledEvent) {
      switch scheduled {
      case .start(let index): nodes[index].start()
      case .client(let index, let number): nodes[index].clients[number].act()
      case .arrival(let session): network.arrive(session)
      case .fault: injectFault()
      case .calm: endFaults()
      case .closing: continueClosing()
      case .descriptorsRestored(let index, let pid): nodes[index].host.processes[pid]?.restoreDescriptors()
      case .ambush(let session, let plannedFault): network.triggerFault(plannedFault, on: session)
      }
    }

    // MARK: - The end

    /// Ends the faults except stalls, loses a branch if the plan says so, and starts the closing of the bank.
    private func endFaults() {
      isFaultFree = true
      faultFreeSince = clock.now
      trace.line(clock.now, "the faults end")
      network.endFaults()
      (server.fullUntil, server.conflicts, server.emptyUntil) = (clock.now, 0, clock.now)
      if plan.hasLostBranch { lose(nodes[0]) }
      for node in nodes {
        node.endFaults()
        eventQueue.add(.start(node.index), at: clock.now)
      }
      eventQueue.add(.closing, at: clock.now + .seconds(1))
    }

    /// Removes a branch permanently.
    private func lose(_ node: BranchNode) {
      statistics.note(.branchKilled)
      node.isLost = true
      node.kill()
      for client in node.clients { moveRequests(from: client) }
    }

    var clients: [BranchClient] { nodes.filter { !$0.isLost }.flatMap(\.clients) }
    /// True if no client of a remaining branch waits for an answer or has more to send.
    private var isSatisfied: Bool { clients.allSatisfy(\.isSatisfied) }

    /// For each branch, the process that ran last, to find a process that never stops.
    private var running: String {
      nodes.map { "\($0.index): process \($0.host.lastRun)" }.joined(separator: ", ")
    }

    private var openRequests: String { "\(clients.count { !$0.isSatisfied }) clients still wait" }

    /// Closes the bank as an operator does: resumes services and requeues dead letters, asks a branch to stop the bank,
    /// and opens the bank again if customers are left.
    private func continueClosing() {
      defer { if !isOver { eventQueue.add(.closing, at: clock.now + .milliseconds(200)) } }
      let there = nodes.filter { !$0.isLost }
      if stopRequestedAt != nil, there.allSatisfy(\.isClosed) { return reopenBank(there) }
      let open = there.filter { !$0.isClosed }
      guard isSatisfied || stopRequestedAt != nil, checker.deadCount == 0,
        clock.now.since(faultFreeSince) > .seconds(6),
        checker.isFinished || plan.stopsEarly || stopRequestedAt != nil,
        clock.now.since(reopenedAt) > .seconds(3)
      else { return resumeAndRequeue(open) }
      checkDayEnd(open)
      // A branch that has started after the request, or was stalled, may not have received it. The request is repeated,
      // and sooner while the day is open.
      let isDayOpen = !server.isDraining && !checker.dayHasEnded
      let ready = open.filter { node in
        stopRequestedAt.map {
          max(node.startedAt, node.joinedAt) > $0 || clock.now.since($0) > .seconds(isDayOpen ? 2 : 20)
        }
          ?? true
      }.flatMap(\.clients).filter(\.isReady)
      guard !ready.isEmpty else { return resumeAndRequeue(open) }
      let isFirst = stopRequestedAt == nil
      stopRequestedAt = clock.now
      mayGiveUp = true
      let client = ready[Int(chance.draw(0...Int64(ready.count) - 1))]
      client.ask(
        .init(command: .stop(StopParameters(now: false, timeoutMilliseconds: nil, closesWholeBank: true))))
      guard isFirst else { return }
      // A client of another branch sends `stop --now`.
      if plan.stopsNow, let other = ready.first(where: { $0.node !== client.node }) {
        other.ask(
          .init(command: .stop(StopParameters(now: true, timeoutMilliseconds: nil, closesWholeBank: true))))
      }
      if plan.stopsDuringRequests { for client in clients { client.addCommands(chance.draw(1...4)) } }
    }

    /// Checks that a branch that had joined before the end of the day closes in time, without a request.
    private func checkDayEnd(_ open: [BranchNode]) {
      guard let ended = checker.dayEndedAt, clock.now.since(ended) > .seconds(15) else { return }
      for node in open
      where node.startedAt < node.joinedAt && node.joinedAt < ended
        && node.process.map({ process in
          !process.isStalled(at: clock.now)
            && clock.now.since(max(ended, process.lastStallEnd)) > .seconds(15)
        }) ?? false
      {
        violate(.notDrained, "the day ended long ago, but branch \(node.index) is still open")
      }
    }

    /// Ends the history, or reopens the bank if customers are left, up to `maxReopenings` times.
    private func reopenBank(_ there: [BranchNode]) {
      guard !checker.isFinished, reopenings < Self.maxReopenings else { return isOver = true }
      reopenings += 1
      (stopRequestedAt, reopenedAt) = (nil, clock.now)
      trace.line(clock.now, "the bank is opened again: \(checker.leftovers())")
      for node in there {
        node.isClosed = false
        eventQueue.add(.start(node.index), at: clock.now)
      }
    }

    /// Lets clients of open branches send the `recoveryCommands`, at intervals.
    private func resumeAndRequeue(_ open: [BranchNode]) {
      guard clock.now >= nextRecoveryAt else { return }
      nextRecoveryAt = clock.now + .seconds(1)
      for node in open {
        guard let client = node.clients.first(where: { $0.isReady && $0.hasNothingOpen }) else { continue }
        if stopRequestedAt.map({ clock.now.since($0) > .seconds(3) }) ?? true,
          !checker.isFinished || stopRequestedAt == nil
        {
          for command in recoveryCommands { client.ask(.init(command: command)) }
        }
      }
    }

    /// Requests of an operator that resume services, open windows and requeue dead letters.
    private var recoveryCommands: [ControlCommand] {
      let windows = [ServiceName.deposit, .loan].map { ServiceWindows(service: $0, count: plan.windows) }
      var recoveryCommands: [ControlCommand] = [.resume(nil), .scale(windows)]
      if checker.deadCount > 0 { recoveryCommands.append(.requeueDead) }
      return recoveryCommands
    }

    /// Checks that the database records the closing of a branch whose coordinator has exited normally.
    func closed(_ node: BranchNode, _ process: SimulatedProcess) {
      let lastStallEnd = process.lastStallEnd
      if let number = node.number, isFaultFree,
        clock.now.since(max(faultFreeSince, lastStallEnd)) > .seconds(6),
        server.branches.first(where: { $0.id == number })?.isClosed != true
      {
        violate(.protocolViolation, "branch \(node.index) has closed, but the database does not record it")
      }
      if stopRequestedAt != nil { node.isClosed = true }
    }

    /// True if the branch with this number never returns.
    func isLost(_ number: Int64?) -> Bool {
      number != nil && nodes.contains { $0.isLost && $0.number == number }
    }

    /// Moves a client's requests that are to be repeated to a client of another branch.
    func moveRequests(from client: BranchClient) {
      let others = clients.filter { $0.node !== client.node }
      guard !others.isEmpty else { return }
      let recoveryCommands = client.node.isLost ? client.takeUnanswered() : client.takeAgain()
      others[Int(chance.draw(0...Int64(others.count) - 1))].add(recoveryCommands)
    }

    /// Offset of the calendar of the branch with this name, in milliseconds; 0 if there is none.
    func calendarError(of name: String) -> Int64 { nodes.first { $0.name == name }?.calendarError ?? 0 }

    /// Records a broken promise. Only the first one counts.
    func violate(_ kind: Violation.Kind, _ message: @autoclosure () -> String) {
      guard violation == nil else { return }
      let found = Violation(kind: kind, at: clock.now.nanoseconds, message: message())
      trace.line(clock.now, "VIOLATION \(found)")
      violation = found
    }
  }
#endif
