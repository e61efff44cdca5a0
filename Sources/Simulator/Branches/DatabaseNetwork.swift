// The network between the branches and their shared database: delays, partitions, and the open connections.
// Invariant: all draws come from the network's own generator.

#if HAS_POSTGRES
  import BankModel
  import Postgres
  import Time

  /// The connections of all branches to the simulated database, and the faults of the network.
  final class DatabaseNetwork {
    struct NetworkConditions {
      /// The shortest delay in nanoseconds, and the maximum that is added to it.
      var base: Int64
      var spread: Int64
      var slowUntil = MonotonicTime(nanoseconds: 0)
      var partitionedUntil = MonotonicTime(nanoseconds: 0)
    }

    /// What happens when a branch next sends a transaction with one of the `faultableStatements`, such as a claim or a
    /// commit.
    enum PlannedFault {
      /// The connection breaks, and the server executes the transaction later.
      case late
      /// The connection breaks, and the server executes the transaction, but its answer is lost.
      case unanswered
      /// The branch is killed, and the transaction is delayed until the branch's epoch ends, the faults end, or a time
      /// limit has passed.
      case afterEpochEnd
    }

    unowned let world: BranchSimulation
    private(set) var sessions: [DatabaseSession] = []
    var conditions: [NetworkConditions] = []
    /// Time until which no branch can reach the server.
    var unreachableUntil = MonotonicTime(nanoseconds: 0)
    /// Time until which the former server also accepts connections.
    var formerServerUntil = MonotonicTime(nanoseconds: 0)
    /// Number of notifications still to be lost.
    var notificationsToLose = 0
    private var chance: SeededGenerator
    private var lastBackend: Int32 = 1_000
    /// Planned faults, by the index of the branch.
    private var plannedFaults: [Int: PlannedFault] = [:]

    init(seed: UInt64, in world: BranchSimulation) {
      self.world = world
      chance = SeededGenerator(seed: seed)
    }

    private var now: MonotonicTime { world.clock.now }

    /// Draws the time that one message takes between the branch of this index and the server; longer while a fault
    /// slows it.
    func delay(at index: Int) -> TimeSpan {
      let delayFactor: Int64 = conditions[index].slowUntil > now ? 20 : 1
      return TimeSpan(
        nanoseconds: (conditions[index].base + chance.draw(0...conditions[index].spread)) * delayFactor)
    }

    /// Makes a connection of a branch. It is refused or gets no answer if the database cannot be reached now.
    func connect(_ process: SimulatedProcess, _ index: Int) -> DatabaseSession {
      lastBackend += 1
      let session = DatabaseSession(self, of: process, index, backend: lastBackend)
      let clock = max(process.clock, now)
      sessions.append(session)
      if unreachableUntil > clock {
        session.push(.lost("connection refused"), at: clock + .milliseconds(1))
      } else if conditions[index].partitionedUntil > clock {
        // No answer: the timeout of the branch ends its connection attempt.
      } else {
        session.isAlive = true
        // Only a branch that has seen the new server can recognize the former one, so no other branch is
        // connected to it.
        session.isStale =
          formerServerUntil > clock && world.nodes[index].latestTimeline == world.server.timeline
          && chance.draw(0...1) == 0
        world.statistics.connections += 1
        session.push(.connected(.simulated), at: clock + delay(at: index) + delay(at: index))
      }
      return session
    }

    /// Schedules the arrival of the oldest request of a connection at this time.
    func scheduleArrival(_ session: DatabaseSession, until moment: MonotonicTime) {
      world.eventQueue.add(.arrival(session), at: moment)
    }

    /// Delivers a branch's oldest request to the server and sends the answer, or schedules the arrival again if it is
    /// not due.
    func arrive(_ session: DatabaseSession) {
      guard let due = session.nextArrival, session.isAlive else { return session.dropRequests() }
      let healed = conditions[session.index].partitionedUntil
      if healed > now, !session.isCut {
        session.delayRequests(until: healed)
        return scheduleArrival(session, until: healed)
      }
      guard due <= now else { return scheduleArrival(session, until: due) }
      guard let segment = session.dequeueArrival() else { return }
      if session.isCut || !session.isRead { world.statistics.lateTransactions += 1 }
      let word: SimulatedServerMessage
      do throws(DatabaseServer.SQLError) {
        word = .done(try world.server.execute(segment, from: session))
      } catch {
        word = .refused(state: error.state, message: error.message)
      }
      world.trace.line(now, "database: branch \(session.index) \(segment.map(\.statement.name)) \(word)")
      world.trace.mix(Int64(session.backend))
      world.trace.mix(Int64(segment.count))
      session.push(word, at: now + delay(at: session.index))
      if session.nextArrival == nil, session.isCut { removeClosedSessions() }
    }

    /// Sends a notification to the connections that listen, except for those that a fault loses.
    func notify(_ payload: String) {
      for session in sessions where session.listens && session.isAlive && !session.isCut && !session.isStale {
        if notificationsToLose > 0 {
          notificationsToLose -= 1
          continue
        }
        session.push(.notified(channel: "bank", payload: payload), at: now + delay(at: session.index))
      }
    }

    // MARK: - Faults

    /// Ends the server's process for a connection, so that the connection breaks.
    func end(_ session: DatabaseSession) {
      session.isAlive = false
      session.dropRequests()
      session.cut(keepingRequests: 0, noticedAt: now + delay(at: session.index))
      removeClosedSessions()
    }

    /// Breaks a connection: requests in flight may still be executed, but no answer arrives.
    func cut(_ session: DatabaseSession) {
      let kept = Int(chance.draw(0...Int64(session.toServer.count)))
      session.cut(keepingRequests: kept, noticedAt: now + .milliseconds(chance.draw(0...30)))
      // The remaining requests arrive late.
      session.delayRequests(until: now + .milliseconds(chance.draw(0...400)))
      if kept == 0, chance.draw(0...1) == 0 { session.isAlive = false }
    }

    /// Plans a fault for the next transaction of a branch that contains one of the `faultableStatements`.
    func armFault(at index: Int, _ plannedFault: PlannedFault) { plannedFaults[index] = plannedFault }

    /// Names of some of the statements that claim, commit, or issue tickets.
    private static let faultableStatements: Set = [
      "bank-complete", "bank-complete-results", "bank-begin-commit", "bank-claim-next", "bank-intake",
      "bank-intake-list",
    ]

    /// Schedules the planned fault of a branch, if the transaction that it has sent is suitable.
    func hasSent(_ session: DatabaseSession, _ segment: [PostgresCall]) {
      guard let plannedFault = plannedFaults[session.index],
        segment.contains(where: { Self.faultableStatements.contains($0.statement.name) })
      else { return }
      plannedFaults[session.index] = nil
      world.eventQueue.add(.ambush(session, plannedFault), at: now)
    }

    /// Breaks the connection of a branch, and decides what happens to its requests in flight.
    func triggerFault(_ plannedFault: PlannedFault, on session: DatabaseSession) {
      guard session.isAlive, !session.isCut else { return }
      let all = session.toServer.count
      switch plannedFault {
      case .late:
        session.cut(keepingRequests: all, noticedAt: now + .milliseconds(chance.draw(0...20)))
        session.delayRequests(until: now + .milliseconds(chance.draw(20...400)))
      case .unanswered:
        session.cut(keepingRequests: all, noticedAt: now + .milliseconds(chance.draw(0...60)))
      case .afterEpochEnd:
        let node = world.nodes[session.index]
        session.cut(keepingRequests: all, noticedAt: now)
        session.delayRequests(until: now + .seconds(14))
        session.waitsForEpochEnd = true
        node.notStartedBefore = now + .milliseconds(chance.draw(100...9_000))
        node.kill()
      }
    }

    /// Delivers the requests that a fault holds back until an epoch of the named branch has ended; nil for all
    /// branches.
    func release(_ name: String? = nil) {
      for session in sessions where session.waitsForEpochEnd {
        guard name == nil || world.nodes[session.index].name == name else { continue }
        session.waitsForEpochEnd = false
        session.expedite(to: now)
        scheduleArrival(session, until: now)
      }
    }

    /// The connections that the branch and the server both use.
    var open: [DatabaseSession] { sessions.filter { $0.isAlive && $0.isRead && !$0.isCut } }

    /// Cuts a branch off from the database. Its connections break if that lasts long.
    func partition(_ index: Int, for span: TimeSpan) {
      conditions[index].partitionedUntil = max(conditions[index].partitionedUntil, now + span)
      for session in open where session.index == index {
        if span > .milliseconds(3_400) {
          // Requests in flight are lost. The server keeps its process for the connection.
          session.cut(keepingRequests: 0, noticedAt: now + .milliseconds(chance.draw(3_000...4_000)))
        } else {
          session.delayRequests(until: now + span)
          session.delayReplies(until: now + span)
        }
      }
    }

    /// Kills the server with all its processes. No branch can connect before the time span has passed.
    func crashServer(for span: TimeSpan) {
      unreachableUntil = now + span
      for session in sessions where session.isAlive {
        session.isAlive = false
        session.dropRequests()
        session.cut(keepingRequests: 0, noticedAt: now + .milliseconds(chance.draw(0...5)))
      }
      removeClosedSessions()
    }

    /// Ends the faults of the network, and cancels the planned ones.
    func endFaults() {
      (unreachableUntil, formerServerUntil) = (now, now)
      for session in sessions where session.isStale { session.isAlive = false }
      notificationsToLose = 0
      plannedFaults = [:]
      release()
      for index in conditions.indices {
        (conditions[index].slowUntil, conditions[index].partitionedUntil) = (now, now)
      }
    }

    /// Removes the connections that the branch does not read and that have nothing left to execute.
    private func removeClosedSessions() {
      sessions.removeAll { !$0.isRead && (!$0.isAlive || $0.toServer.isEmpty && $0.isCut) }
    }
  }
#endif
