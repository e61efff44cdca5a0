// The database of a shared bank as a simulated PostgreSQL: its tables, and the effect of each of the branches'
// statements, by the name of the statement. A segment executes atomically, so concurrent transactions are not
// simulated.
// Invariant: a transaction that is refused for lack of space or as a deadlock changes no table.

#if HAS_POSTGRES
  import BankModel
  import Postgres
  import PostgresStore
  import Time

  /// A branch in one of its epochs, as the checker identifies it.
  struct BranchOwner: Hashable, CustomStringConvertible {
    var branch: Int64
    var epoch: Int64
    var description: String { "branch \(branch) in epoch \(epoch)" }
  }

  /// A PostgreSQL server with the tables of a shared bank, simulated in memory.
  final class DatabaseServer {
    /// A row of the table of branches. `proof` identifies the home that holds the name.
    struct Branch {
      var id: Int64
      var name: String
      var epoch: Int64 = 0
      var expires: MonotonicTime
      /// End of the lease by the server's calendar, in microseconds since 1970.
      var expiresByCalendar: Int64 = 0
      var host = ""
      var isClosed = false
      var windows: Int64 = 0
      var commits: Int64 = 0
      var paused: [Int64] = []
      var proof = ""
    }

    /// A customer as a row of its table, also kept with its receipt. The state is 1 waiting, 2 delayed, or 3 dead.
    struct Row {
      var ticket, lane, amount, account, issued: Int64
      var state: Int64
      var attempts: Int64 = 0, crashes: Int64 = 0, failures: Int64 = 0, startedAttempts: Int64 = 0
      var isAttemptRunning = false
      var due: Int64?
      var itemName: String?
      var payload: [UInt8]?
      var position: Int64 { PostgresPosition.of(state: state, lane: lane, ticket: ticket) }
    }

    /// A range of a lane that a branch has claimed, with the number that the branch gave this claim.
    struct Claim {
      var lane, first, last: Int64
      var owner: BranchOwner
      var number: Int64
    }

    /// A range of a lane that was claimed and then returned, and that any branch may claim again.
    struct ReturnedRange {
      var lane, first, last: Int64
    }

    /// The receipt of a customer: outcome 1 served, 2 cancelled, 3 out of stock.
    struct StoredReceipt {
      var owner: BranchOwner
      var commit: Int64
      var outcome: Int64
      var row: Row
    }

    /// Tickets of a request, or one ticket of a list. `request` is a digest that tells requests under one key apart.
    struct IssuedRange {
      var first, last: Int64
      var branch: Int64
      var key: String?
      var request: Int64?
      var epoch, number: Int64
      var day: Int64
    }

    /// The commit, day and lane to which counts belong.
    struct LaneCountsKey: Hashable {
      var owner: BranchOwner
      var commit, day, lane: Int64
    }

    /// Counts of a lane's customers, or a change of these counts.
    struct LaneCounts: Equatable {
      var issued: Int64 = 0, waiting: Int64 = 0, delayed: Int64 = 0, dead: Int64 = 0
      var served: Int64 = 0, short: Int64 = 0, cancelled: Int64 = 0

      static func += (sum: inout LaneCounts, change: LaneCounts) {
        sum.issued += change.issued
        sum.waiting += change.waiting
        sum.delayed += change.delayed
        sum.dead += change.dead
        sum.served += change.served
        sum.short += change.short
        sum.cancelled += change.cancelled
      }
    }

    /// A transaction of a branch, numbered within its epoch.
    struct Commit: Hashable {
      var owner: BranchOwner
      var number: Int64
    }

    /// An error of a statement, with the five-character code of PostgreSQL.
    struct SQLError: Error {
      var state: String
      var message: String
    }

    /// What later statements of a transaction need to know of earlier ones: the fenced branch, and the ended day.
    struct TransactionState {
      /// The branch whose epoch this transaction has ended.
      var fencing: Int64?
      var hasEndedDay = false
      var session: DatabaseSession
    }

    unowned let world: BranchSimulation
    var branches: [Branch] = []
    var lanes: [(number: Int64, service: Int64, priority: Int64, branch: Int64)] = []
    /// Cancelled tickets for which the stock of a branch may have a reservation: number of the branch, and time of
    /// issue in milliseconds.
    var releases: [Int64: (branch: Int64, issued: Int64)] = [:]
    var customers: [Int64: Row] = [:]
    var claims: [Claim] = []
    var returned: [ReturnedRange] = []
    var receipts: [Int64: StoredReceipt] = [:]
    /// All tickets that were issued, by request.
    var intake: [IssuedRange] = []
    /// `arriving` contains the slices of requests that have no tickets yet or are being unpacked. `batches` contains
    /// the requests that have tickets and are being unpacked.
    var arriving: [RequestID: [Int64: RequestSlice]] = [:]
    var batches: [Batch] = []
    var laneCounts: [LaneCountsKey: LaneCounts] = [:]
    var commits: Set<Commit> = []
    var attempts: Set<[Int64]> = []
    var day: Int64 = 1
    var isDraining = false
    /// Offset of the server's calendar from the world's, in milliseconds; positive if it is ahead.
    var calendarError: Int64 = 0
    /// Time until which writing transactions are refused for lack of space.
    var fullUntil = MonotonicTime(nanoseconds: 0)
    /// Number of writing transactions still to be refused as deadlocks.
    var conflicts = 0
    private var lastBranch: Int64 = 0
    /// The server's timeline: incremented by each promotion.
    var timeline: Int64 = 1
    /// Time until which the address leads to an empty database.
    var emptyUntil = MonotonicTime(nanoseconds: 0)

    init(in world: BranchSimulation) { self.world = world }

    var checker: BranchChecker { world.checker }
    var now: MonotonicTime { world.clock.now }
    var nowMilliseconds: Int64 { world.clock.moment.wall.milliseconds + calendarError }
    /// True if this history has the bug, which then takes effect each time.
    func hasPlantedBug(_ bug: PlantedBranchBug) -> Bool { world.bug == bug }
    /// True if an occasional bug takes effect this time.
    func bugOccurs(_ bug: PlantedBranchBug) -> Bool { world.bug == bug && world.bugChance.draw(0...2) == 0 }

    /// True if this is the present epoch of the branch.
    func isPresent(_ owner: BranchOwner) -> Bool {
      branches.contains { $0.id == owner.branch && $0.epoch == owner.epoch }
    }

    /// Returns service and priority of a lane; nil if there is no such lane.
    func lane(_ number: Int64) -> Line? {
      guard let lane = lanes.first(where: { $0.number == number }),
        let priority = Priority(code: lane.priority),
        let service = UInt16(exactly: lane.service)
      else { return nil }
      return Line(service: Service(number: service), priority: priority)
    }

    func newBranch() -> Int64 {
      lastBranch += 1
      return lastBranch
    }

    // MARK: - A transaction

    /// Executes a segment as one transaction. Returns the rows of each of its statements.
    func execute(_ segment: [PostgresCall], from session: DatabaseSession) throws(SQLError) -> [PostgresRows]
    {
      guard !session.isStale, emptyUntil <= now else {
        return try executeOnOtherServer(segment, from: session)
      }
      recordTimeline(of: session, segment)
      try throwPlannedError(segment)
      var transaction = TransactionState(session: session)
      var results: [PostgresRows] = []
      for call in segment { results.append(PostgresRows(try execute(call, &transaction))) }
      return results
    }

    /// Names of the statements that may be refused for lack of space or as deadlocks.
    private static let writing: Set = [
      "bank-complete", "bank-complete-results", "bank-begin-commit", "bank-intake", "bank-intake-list",
      "bank-arrive", "bank-issue", "bank-issue-list", "bank-unpack",
      "bank-cancel",
      "bank-claim-next", "bank-return-due", "bank-return-dead", "bank-return-dead-ticket",
      "bank-return-unserved",
    ]

    /// Throws the error of a full disk or a deadlock, if such a fault is active and the segment writes.
    private func throwPlannedError(_ segment: [PostgresCall]) throws(SQLError) {
      guard segment.contains(where: { Self.writing.contains($0.statement.name) }) else { return }
      if fullUntil > now {
        world.statistics.noteRefusal()
        throw SQLError(state: "53100", message: "could not extend file: No space left on device")
      }
      guard conflicts > 0 else { return }
      conflicts -= 1
      throw SQLError(state: "40P01", message: "deadlock detected")
    }

    /// Executes one statement, by its name.
    private func execute(_ call: PostgresCall, _ transaction: inout TransactionState) throws(SQLError)
      -> [[PostgresValue]]
    {
      switch call.statement.name {
      case "": return once(call, transaction)
      case "bank-begin": return [begin(transaction.session, timeline, hasBankSchema: true)]
      case "bank-sight": return [[.integer(Self.number)]]
      case "bank-former": return former(call)
      case "bank-note-clock": return []
      case "bank-end-former": return terminateFormer(call, transaction)
      case "bank-join": return join(call, &transaction)
      case "bank-namesake": return nameHolder(call)
      case "bank-renew": return renew(call)
      case "bank-expired": return expired()
      case "bank-fence": return fenceExpired(call, &transaction)
      case "bank-leave": return leave(call, &transaction)
      case "bank-give-back": return giveBack(transaction)
      case "bank-tell-returned": return notifyReturned()
      case "bank-add-services": return []
      case "bank-paused": return paused(call)
      case "bank-keep-paused": return savePaused(call)
      case "bank-services": return ServiceName.branch.map { [.text("\($0)")] }
      case "bank-lanes":
        return lanes.map {
          [.integer($0.number), .integer($0.service), .integer($0.priority), .integer($0.branch)]
        }
      case "bank-add-lanes": return addLanes(call)
      case "bank-identity": return [[.integer(Self.number), .integer(1), .integer(1)]]
      case "bank-claim-returned": return claimReturned(call)
      case "bank-claim-next": return claimNext(call)
      case "bank-claimed": return claimed(call)
      case "bank-has-claimed": return hasClaimed(call)
      case "bank-complete", "bank-complete-results": return try complete(call)
      case "bank-begin-commit": return try beginCommit(call)
      case "bank-change": return change(call)
      case "bank-record": return record(call)
      case "bank-mark-fatal": return []
      case "bank-commits-kept": return commitsKept(call)
      case "bank-receipts-of-commits": return receiptsOfCommits(call)
      case "bank-owe": return recordRelease(call)
      case "bank-released": return released(call)
      case "bank-look-releases": return lookAtReleases(call)
      case "bank-end-drain": return endDrain(call, transaction)
      case "bank-fold": return [[.integer(0)]]
      case "bank-intake": return enqueueCustomers(call)
      case "bank-intake-list": return takeInList(call)
      case "bank-arrive": return arrive(call)
      case "bank-issue": return issue(call)
      case "bank-issue-list": return issueList(call)
      case "bank-unpack": return unpack(call)
      case "bank-look-batches": return lookAtBatches(call)
      case "bank-forget-arriving": return deleteSlices(call)
      case "bank-forget-ended": return deleteSlicesOfEndedEpoch(transaction)
      case "bank-cancel": return cancel(call)
      case "bank-taken-out": return cancelledElsewhere(call)
      case "bank-whereabouts": return ticketState(call)
      case "bank-return-due", "bank-return-dead", "bank-return-dead-ticket", "bank-return-unserved":
        return returnToQueue(call)
      case "bank-go-on": return continueDay(call)
      case "bank-drain": return drain(call)
      case "bank-end-day": return endDay(call, &transaction)
      case "bank-forget-claim": return forget(transaction) { claims.removeAll() }
      case "bank-forget-returned_range": return forget(transaction) { returned.removeAll() }
      case "bank-look-day": return lookAtDay(call)
      case "bank-look-lanes": return lookAtLanes()
      case "bank-look-lane": return [[.boolean(hasUnclaimed(call.integer(0)))]]
      case "bank-look-numbers": return lookAtNumbers()
      case "bank-look-ended": return lookAtEnded()
      case "bank-look-branches": return lookAtBranches()
      case "bank-forget-released_claim", "bank-hold-branches": return []
      case "bank-lock-intake", "bank-lock-all-lanes", "bank-lock-numbers", "bank-lock-lane", "bank-lock-due",
        "bank-lock-dead", "bank-lock-batch", "bank-arrive-unawaited",
        "bank-lock-dead-ticket":
        return [[.integer(0)]]
      default:
        world.violate(.storeContradiction, "the simulated server does not know \(call.statement.name)")
        return []
      }
    }

    /// Executes a statement without a name, by its text.
    private func once(_ call: PostgresCall, _ transaction: TransactionState) -> [[PostgresValue]] {
      let text = call.statement.text
      if text.hasPrefix("LISTEN") {
        transaction.session.listens = true
        return []
      }
      if text.hasPrefix("SELECT to_regnamespace") { return [[.boolean(true), .boolean(true)]] }
      if text.hasPrefix("SELECT number FROM bank.version") {
        return [[.integer(SchemaMigration.knownVersion)]]
      }
      return []
    }

    /// Ends the server processes of earlier connections, and returns how many of them existed.
    private func terminateFormer(_ call: PostgresCall, _ transaction: TransactionState) -> [[PostgresValue]] {
      let former = call.integers(0)
      let left = world.network.sessions.filter { $0.isAlive && former.contains(Int64($0.backend)) }
      for session in left { world.network.end(session) }
      return [[.integer(Int64(left.count))]]
    }

    /// Adds the lanes that do not exist yet.
    private func addLanes(_ call: PostgresCall) -> [[PostgresValue]] {
      let owners = call.integers(2)
      for (index, (service, priority)) in zip(call.integers(0), call.integers(1)).enumerated()
      where !lanes.contains(where: {
        $0.service == service && $0.priority == priority && $0.branch == owners[index]
      }) {
        lanes.append((Int64(lanes.count) + 1, service, priority, owners[index]))
      }
      return []
    }
  }

  // MARK: - Parameters of a call

  extension PostgresCall {
    /// Returns an integer parameter; 0 if it is null.
    func integer(_ index: Int) -> Int64 {
      if case .integer(let number) = values[index] { number } else { 0 }
    }

    /// Returns an integer parameter; nil if it is null.
    func optional(_ index: Int) -> Int64? {
      if case .integer(let number) = values[index] { number } else { nil }
    }

    /// Returns an array of integers; empty if the parameter is null.
    func integers(_ index: Int) -> [Int64] {
      if case .integers(let numbers) = values[index] { numbers } else { [] }
    }

    /// Returns a text parameter; nil if it is null.
    func text(_ index: Int) -> String? {
      if case .text(let text) = values[index] { text } else { nil }
    }

    /// Returns an array of texts; empty if the parameter is null.
    func texts(_ index: Int) -> [String?] {
      if case .texts(let texts) = values[index] { texts } else { [] }
    }

    /// Returns an array of byte strings; empty if the parameter is null.
    func manyBytes(_ index: Int) -> [[UInt8]?] {
      if case .manyBytes(let contents) = values[index] { contents } else { [] }
    }

    /// The first two parameters of most statements: the number and the epoch of the branch.
    var owner: BranchOwner { BranchOwner(branch: integer(0), epoch: integer(1)) }
  }

  extension DatabaseServer.LaneCounts {
    /// Change of the counts when a customer leaves a state: waiting (1), delayed (2) or dead (3).
    init(leaving state: Int64) {
      self.init()
      switch state {
      case 1: waiting = -1
      case 2: delayed = -1
      default: dead = -1
      }
    }

    /// Change of the counts for a receipt: served (1), cancelled (2), or out of stock (3).
    init(outcome: Int64) {
      self.init()
      switch outcome {
      case 1: served = 1
      case 3: short = 1
      default: cancelled = 1
      }
    }
  }
#endif
