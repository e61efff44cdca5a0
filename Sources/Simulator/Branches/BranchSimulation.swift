// One simulated world of several branches: its clock, its branches, each on a machine of its own, their shared
// database, and the network between them. The checker detects broken promises.
// Invariant: the seed alone decides what happens. A broken promise ends the history at once and is its outcome.

#if HAS_POSTGRES
  import BankModel
  import Glibc
  import Posix
  import Time
  import Wire

  /// A history of several branches of one bank that is decided by a seed.
  public final class BranchSimulation {
    /// Result of one history.
    public struct Outcome: Sendable, Equatable {
      /// Seed of the history.
      public var seed: UInt64
      /// The promise that was broken; nil if none was.
      public var violation: Violation?
      /// Counts of what was simulated.
      public var statistics: BranchStatistics
      /// Digest of everything that happened: equal for two runs of one seed.
      public var digest: UInt64
    }

    enum Occurrence {
      case start(Int)
      case client(Int, Int)
      case arrival(BooksSession)
      case fault
      case calm
      case closing
      case relief(Int, pid_t)
      case ambush(BooksSession, BooksNetwork.Ambush)
    }

    /// After the faults have ended, the bank must be drained and closed within this time.
    private static let longestEnd = TimeSpan.seconds(120)
    private static let longestHistory: Int64 = 600_000
    /// Maximum number of times that a bank is reopened after it has closed with customers left.
    private static let mostReopenings = 4

    let seed: UInt64
    let plan: BranchPlan
    let bug: PlantedBranchBug?
    var clock = VirtualClock()
    var agenda = Agenda<Occurrence>()
    var trace: Trace
    var statistics = BranchStatistics()
    var chance: SeededGenerator
    var bugChance: SeededGenerator
    private(set) var offices: [BranchOffice] = []
    private(set) lazy var checker = BranchChecker(self)
    private(set) lazy var network = BooksNetwork(seed: seed &* 19 &+ 5, in: self)
    private(set) lazy var books = BooksServer(in: self)
    private(set) var violation: Violation?
    private(set) var isCalm = false
    private(set) var calmSince = MonotonicTime(nanoseconds: 0)
    private var isOver = false
    private var askedToEnd: MonotonicTime?
    private var reopenings = 0
    private var reopenedAt = MonotonicTime(nanoseconds: 0)
    /// True after the bank was asked to stop: clients may give up refused requests.
    private(set) var mayGiveUp = false
    private var helpsAgainAt = MonotonicTime(nanoseconds: 0)

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

    private func run() {
      trace.line(clock.now, "seed \(seed), \(plan.branches) branches, page \(plan.page)")
      books.calendarError = plan.calendars[plan.branches]
      for place in 0..<plan.branches {
        network.weather.append(.init(base: plan.distance, spread: plan.distance))
        offices.append(BranchOffice(place, seed: seed, in: self))
        agenda.add(.start(place), at: clock.now + .milliseconds(chance.draw(0...200)))
        for number in 0..<plan.clients {
          agenda.add(.client(place, number), at: clock.now + .milliseconds(chance.draw(1...300)))
        }
      }
      if !plan.isCalm { agenda.add(.fault, at: clock.now + plan.interval) }
      agenda.add(.calm, at: clock.now + plan.duration)
      while !isOver, violation == nil {
        guard happenNext() else {
          violate(.notDrained, "there are no more events, but the bank has not ended")
          break
        }
        if isCalm,
          clock.now.since(calmSince) > Self.longestEnd || statistics.occurrences > Self.longestHistory
        {
          violate(
            .notDrained,
            "the faults ended long ago, but \(checker.leftovers()); \(openRequests); \(running)")
        }
        trace.flush()
      }
      for office in offices { office.host.shutDown() }
      if violation == nil { checker.checkEnd() }
      if violation == nil { statistics.histories += 1 }
      trace.flush()
    }

    private func happenNext() -> Bool {
      var next = agenda.nextMoment
      var whose: BranchOffice?
      for office in offices {
        guard let moment = office.host.nextMoment, next.map({ moment < $0 }) ?? true else { continue }
        (next, whose) = (moment, office)
      }
      guard let moment = next else { return false }
      clock.advance(to: moment)
      for office in offices { office.host.advance(to: clock.now) }
      statistics.occurrences += 1
      trace.mix(moment.nanoseconds)
      if let whose { whose.host.runNext() } else if let (_, occurrence) = agenda.next() { happen(occurrence) }
      return true
    }

    private func happen(_ occurrence: Occurrence) {
      switch occurrence {
      case .start(let place): offices[place].start()
      case .client(let place, let number): offices[place].clients[number].act()
      case .arrival(let session): network.arrive(session)
      case .fault: goWrong()
      case .calm: calmDown()
      case .closing: goOnClosing()
      case .relief(let place, let pid): offices[place].host.processes[pid]?.relieve()
      case .ambush(let session, let ambush): network.spring(ambush, on: session)
      }
    }

    // MARK: - The end

    private func calmDown() {
      isCalm = true
      calmSince = clock.now
      trace.line(clock.now, "the faults end")
      network.calmDown()
      (books.fullUntil, books.conflicts, books.emptyUntil) = (clock.now, 0, clock.now)
      if plan.hasLostBranch { lose(offices[0]) }
      for office in offices {
        office.calmDown()
        agenda.add(.start(office.place), at: clock.now)
      }
      agenda.add(.closing, at: clock.now + .seconds(1))
    }

    /// Removes a branch permanently.
    private func lose(_ office: BranchOffice) {
      statistics.note(.branchKilled)
      office.isLost = true
      office.kill()
      for client in office.clients { sendElsewhere(from: client) }
    }

    var clients: [BranchClient] { offices.filter { !$0.isLost }.flatMap(\.clients) }
    private var isContent: Bool { clients.allSatisfy(\.isContent) }

    /// For each branch, the process that ran last, to find a process that never stops.
    private var running: String {
      offices.map { "\($0.place): process \($0.host.lastRun)" }.joined(separator: ", ")
    }

    private var openRequests: String { "\(clients.count { !$0.isContent }) clients still wait" }

    /// Closes the bank as an operator does: resumes services and requeues dead letters, asks a branch to stop the bank,
    /// and opens the bank again if customers are left.
    private func goOnClosing() {
      defer { if !isOver { agenda.add(.closing, at: clock.now + .milliseconds(200)) } }
      let there = offices.filter { !$0.isLost }
      if askedToEnd != nil, there.allSatisfy(\.isClosed) { return reopen(there) }
      let open = there.filter { !$0.isClosed }
      guard isContent || askedToEnd != nil, checker.deadCount == 0, clock.now.since(calmSince) > .seconds(6),
        checker.isFinished || plan.endsEarly || askedToEnd != nil, clock.now.since(reopenedAt) > .seconds(3)
      else { return helpOut(open) }
      closeWithTheDay(open)
      // A branch that has started after the request, or was stalled, has not received it. While customers wait for
      // juice that only a lost branch could make, the day continues, so the request is repeated sooner.
      let goesOn = !books.isDraining && !checker.dayHasEnded
      let ready = open.filter { office in
        askedToEnd.map {
          max(office.startedAt, office.joinedAt) > $0 || clock.now.since($0) > .seconds(goesOn ? 2 : 20)
        }
          ?? true
      }.flatMap(\.clients).filter(\.isReady)
      guard !ready.isEmpty else { return helpOut(open) }
      let isFirst = askedToEnd == nil
      askedToEnd = clock.now
      mayGiveUp = true
      let client = ready[Int(chance.draw(0...Int64(ready.count) - 1))]
      client.ask(.init(command: .stop(StopOrder(now: false, timeoutMilliseconds: nil, endsBank: true))))
      guard isFirst else { return }
      // Another client sends `stop --now`, while others still have requests.
      if plan.endsInAHurry, let other = ready.first(where: { $0.office !== client.office }) {
        other.ask(.init(command: .stop(StopOrder(now: true, timeoutMilliseconds: nil, endsBank: true))))
      }
      if plan.endsAmidst { for client in clients { client.wantMore(chance.draw(1...4)) } }
    }

    /// Checks that every branch present at the end of the day closes soon, without a request.
    private func closeWithTheDay(_ open: [BranchOffice]) {
      guard let ended = checker.dayEndedAt, clock.now.since(ended) > .seconds(15) else { return }
      for office in open
      where office.startedAt < office.joinedAt && office.joinedAt < ended
        && office.process.map({ process in
          !process.standsStill(at: clock.now)
            && clock.now.since(max(ended, process.stoodUntil)) > .seconds(15)
        }) ?? false
      {
        violate(.notDrained, "the day ended long ago, but branch \(office.place) is still open")
      }
    }

    /// Ends the history, or reopens the bank if customers are left, because no branch had a window for them or because
    /// all branches were asked to stop at once.
    private func reopen(_ there: [BranchOffice]) {
      guard !checker.isFinished, reopenings < Self.mostReopenings else { return isOver = true }
      reopenings += 1
      (askedToEnd, reopenedAt) = (nil, clock.now)
      trace.line(clock.now, "the bank is opened again: \(checker.leftovers())")
      for office in there {
        office.isClosed = false
        agenda.add(.start(office.place), at: clock.now)
      }
    }

    /// Resumes paused services, opens their windows, and requeues dead letters.
    private func helpOut(_ open: [BranchOffice]) {
      guard clock.now >= helpsAgainAt else { return }
      helpsAgainAt = clock.now + .seconds(1)
      for office in open {
        guard let client = office.clients.first(where: { $0.isReady && $0.hasNothingOpen }) else { continue }
        if askedToEnd.map({ clock.now.since($0) > .seconds(3) }) ?? true,
          !checker.isFinished || askedToEnd == nil
        {
          for command in wishes { client.ask(.init(command: command)) }
        }
      }
    }

    private var wishes: [ControlCommand] {
      let windows = [ServiceName.deposit, .loan].map { ServiceWindows(service: $0, count: plan.windows) }
      var wishes: [ControlCommand] = [.resume(nil), .scale(windows)]
      if checker.deadCount > 0 { wishes.append(.requeueDead) }
      return wishes
    }

    /// A branch has exited normally.
    func closed(_ office: BranchOffice, _ process: SimulatedProcess) {
      let stoodUntil = process.stoodUntil
      if let number = office.number, isCalm, clock.now.since(max(calmSince, stoodUntil)) > .seconds(6),
        books.branches.first(where: { $0.id == number })?.isClosed != true
      {
        violate(.conversation, "branch \(office.place) has closed, but the database does not record it")
      }
      if askedToEnd != nil { office.isClosed = true }
    }

    /// True if the branch with this number never returns.
    func isLost(_ number: Int64?) -> Bool {
      number != nil && offices.contains { $0.isLost && $0.number == number }
    }

    /// Moves a client's requests that are to be repeated to a client of another branch.
    func sendElsewhere(from client: BranchClient) {
      let others = clients.filter { $0.office !== client.office }
      guard !others.isEmpty else { return }
      let wishes = client.office.isLost ? client.takeOver() : client.takeAgain()
      others[Int(chance.draw(0...Int64(others.count) - 1))].add(wishes)
    }

    func calendarError(of name: String) -> Int64 { offices.first { $0.name == name }?.calendarError ?? 0 }

    /// Records a broken promise. Only the first one counts.
    func violate(_ kind: Violation.Kind, _ words: @autoclosure () -> String) {
      guard violation == nil else { return }
      let found = Violation(kind: kind, at: clock.now.nanoseconds, words: words())
      trace.line(clock.now, "VIOLATION \(found)")
      violation = found
    }
  }
#endif
