// The network between the branches and their shared database: delays, partitions, and the open connections.
// Invariant: all draws come from the network's own generator.

#if HAS_POSTGRES
  import BankModel
  import Postgres
  import Time

  final class BooksNetwork {
    /// Network conditions between one branch and the database.
    struct Weather {
      /// The shortest delay in nanoseconds, and the maximum that is added to it.
      var base: Int64
      var spread: Int64
      var isSlowUntil = MonotonicTime(nanoseconds: 0)
      var isPartitionedUntil = MonotonicTime(nanoseconds: 0)
    }

    /// A fault that hits the next transaction of a branch that contains one of the `ambushed` statements.
    enum Ambush {
      /// The connection breaks, and the server executes the transaction later.
      case late
      /// The connection breaks, and the server executes the transaction, but its answer is lost.
      case unanswered
      /// The branch is killed, and the server executes the transaction right after the end of the branch's epoch, after
      /// 14 s or when the faults end, whichever is first.
      case untilTheEpochEnds
    }

    unowned let world: BranchSimulation
    private(set) var sessions: [BooksSession] = []
    var weather: [Weather] = []
    /// Time until which no branch can reach the server.
    var isAwayUntil = MonotonicTime(nanoseconds: 0)
    /// Time until which the former server also accepts connections.
    var isFormerThereUntil = MonotonicTime(nanoseconds: 0)
    /// Number of notifications still to be lost.
    var deafness = 0
    private var chance: SeededGenerator
    private var lastBackend: Int32 = 1_000
    /// Planned faults, by the index of the branch.
    private var ambushes: [Int: Ambush] = [:]

    init(seed: UInt64, in world: BranchSimulation) {
      self.world = world
      chance = SeededGenerator(seed: seed)
    }

    private var now: MonotonicTime { world.clock.now }

    /// Delay from a branch to the server, or back.
    func delay(at place: Int) -> TimeSpan {
      let slowness: Int64 = weather[place].isSlowUntil > now ? 20 : 1
      return TimeSpan(nanoseconds: (weather[place].base + chance.draw(0...weather[place].spread)) * slowness)
    }

    func connect(_ process: SimulatedProcess, _ place: Int) -> BooksSession {
      lastBackend += 1
      let session = BooksSession(self, of: process, place, backend: lastBackend)
      let clock = max(process.clock, now)
      sessions.append(session)
      if isAwayUntil > clock {
        session.push(.lost("connection refused"), at: clock + .milliseconds(1))
      } else if weather[place].isPartitionedUntil > clock {
        // No answer: the timeout of the branch ends its connection attempt.
      } else {
        session.isAlive = true
        // Only a branch that has seen the new server can recognize the former one, so no other branch is
        // connected to it.
        session.isStale =
          isFormerThereUntil > clock && world.offices[place].knownTimeline == world.books.timeline
          && chance.draw(0...1) == 0
        world.statistics.connections += 1
        session.push(.connected(.played), at: clock + delay(at: place) + delay(at: place))
      }
      return session
    }

    func isOnItsWay(_ session: BooksSession, until moment: MonotonicTime) {
      world.agenda.add(.arrival(session), at: moment)
    }

    /// Delivers a branch's request to the server if it is due.
    func arrive(_ session: BooksSession) {
      guard let due = session.nextArrival, session.isAlive else { return session.dropRequests() }
      let healed = weather[session.place].isPartitionedUntil
      if healed > now, !session.isCut {
        session.holdUp(until: healed)
        return isOnItsWay(session, until: healed)
      }
      guard due <= now else { return isOnItsWay(session, until: due) }
      guard let segment = session.takeArrival() else { return }
      if session.isCut || !session.isHeard { world.statistics.lateTurns += 1 }
      let word: PostgresWord
      do throws(BooksServer.Refusal) {
        word = .done(try world.books.execute(segment, from: session))
      } catch {
        word = .refused(state: error.state, message: error.words)
      }
      world.trace.line(now, "database: branch \(session.place) \(segment.map(\.statement.name)) \(word)")
      world.trace.mix(Int64(session.backend))
      world.trace.mix(Int64(segment.count))
      session.push(word, at: now + delay(at: session.place))
      if session.nextArrival == nil, session.isCut { tidy() }
    }

    func notify(_ payload: String) {
      for session in sessions where session.listens && session.isAlive && !session.isCut && !session.isStale {
        if deafness > 0 {
          deafness -= 1
          continue
        }
        session.push(.notified(channel: "bank", payload: payload), at: now + delay(at: session.place))
      }
    }

    // MARK: - Faults

    /// The server ends its process for a connection.
    func end(_ session: BooksSession) {
      session.isAlive = false
      session.dropRequests()
      session.cut(keepingRequests: 0, noticedAt: now + delay(at: session.place))
      tidy()
    }

    /// Breaks a connection: requests in flight may still be executed, but no answer arrives.
    func cut(_ session: BooksSession) {
      let kept = Int(chance.draw(0...Int64(session.toServer.count)))
      session.cut(keepingRequests: kept, noticedAt: now + .milliseconds(chance.draw(0...30)))
      // The remaining requests arrive late.
      session.holdUp(until: now + .milliseconds(chance.draw(0...400)))
      if kept == 0, chance.draw(0...1) == 0 { session.isAlive = false }
    }

    func lieInWait(at place: Int, _ ambush: Ambush) { ambushes[place] = ambush }

    private static let ambushed: Set = [
      "bank-complete", "bank-complete-results", "bank-begin-commit", "bank-claim-next", "bank-intake",
      "bank-intake-list",
    ]

    /// Arms a planned fault if a branch has sent a matching transaction.
    func hasSent(_ session: BooksSession, _ segment: [PostgresCall]) {
      guard let ambush = ambushes[session.place],
        segment.contains(where: { Self.ambushed.contains($0.statement.name) })
      else { return }
      ambushes[session.place] = nil
      world.agenda.add(.ambush(session, ambush), at: now)
    }

    func spring(_ ambush: Ambush, on session: BooksSession) {
      guard session.isAlive, !session.isCut else { return }
      let all = session.toServer.count
      switch ambush {
      case .late:
        session.cut(keepingRequests: all, noticedAt: now + .milliseconds(chance.draw(0...20)))
        session.holdUp(until: now + .milliseconds(chance.draw(20...400)))
      case .unanswered:
        session.cut(keepingRequests: all, noticedAt: now + .milliseconds(chance.draw(0...60)))
      case .untilTheEpochEnds:
        let office = world.offices[session.place]
        session.cut(keepingRequests: all, noticedAt: now)
        session.holdUp(until: now + .seconds(14))
        session.waitsForTheEnd = true
        office.isDeadUntil = now + .milliseconds(chance.draw(100...9_000))
        office.kill()
      }
    }

    /// Delivers the requests that have waited for the end of an epoch of the named branch, or of all branches.
    func release(_ name: String? = nil) {
      for session in sessions where session.waitsForTheEnd {
        guard name == nil || world.offices[session.place].name == name else { continue }
        session.waitsForTheEnd = false
        session.hurry(to: now)
        isOnItsWay(session, until: now)
      }
    }

    var open: [BooksSession] { sessions.filter { $0.isAlive && $0.isHeard && !$0.isCut } }

    /// Cuts a branch off from the database. Connections that receive nothing for too long break.
    func partition(_ place: Int, for span: TimeSpan) {
      weather[place].isPartitionedUntil = max(weather[place].isPartitionedUntil, now + span)
      for session in open where session.place == place {
        if span > .milliseconds(3_400) {
          // Requests in flight are lost, and the server's process hangs for a while.
          session.cut(keepingRequests: 0, noticedAt: now + .milliseconds(chance.draw(3_000...4_000)))
        } else {
          session.holdUp(until: now + span)
          session.holdBack(until: now + span)
        }
      }
    }

    /// The server and all its processes are killed.
    func loseServer(for span: TimeSpan) {
      isAwayUntil = now + span
      for session in sessions where session.isAlive {
        session.isAlive = false
        session.dropRequests()
        session.cut(keepingRequests: 0, noticedAt: now + .milliseconds(chance.draw(0...5)))
      }
      tidy()
    }

    func calmDown() {
      (isAwayUntil, isFormerThereUntil) = (now, now)
      for session in sessions where session.isStale { session.isAlive = false }
      deafness = 0
      ambushes = [:]
      release()
      for place in weather.indices {
        (weather[place].isSlowUntil, weather[place].isPartitionedUntil) = (now, now)
      }
    }

    private func tidy() {
      sessions.removeAll { !$0.isHeard && (!$0.isAlive || $0.toServer.isEmpty && $0.isCut) }
    }
  }
#endif
