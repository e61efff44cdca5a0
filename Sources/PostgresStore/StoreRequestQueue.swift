// Requests to the shared database other than pages, commits, renewals and polls: tickets, operator commands, and
// periodic tasks.
// Invariant: requests that are ready are sent in order, and no request of a client is answered twice. A request with
// an unknown outcome is repeated, also in a later epoch if it outlives the epoch. The repetition detects whether an
// earlier transmission has taken effect, as far as StoreOperations can determine it.
import BankModel
import Posix
import Postgres
import QueueCore
import Time

final class StoreRequestQueue {
  /// Result of one transmission of a request: its answer, or that the branch was fenced.
  enum AttemptResult {
    case answer(StoreReply)
    case fenced
  }

  /// Builds the transaction for one transmission from the branch, the number of its commit, and the earlier
  /// transmissions.
  typealias RequestBuilder = (PostgresBranch, Int64, EarlierAttempts) -> PostgresRequest<AttemptResult>

  /// Earlier transmissions of a request.
  struct EarlierAttempts {
    /// Epochs and commit numbers of the transmissions with unknown outcomes.
    var unknown: [(epoch: Int64, number: Int64)] = []
    /// True if a transmission with an unknown outcome had this epoch and commit number.
    func contains(epoch: Int64?, number: Int64?) -> Bool {
      unknown.contains { $0.epoch == epoch && $0.number == number }
    }
  }

  /// A request without an answer.
  struct PendingRequest {
    let id: Int64
    /// The caller's request; nil for tasks of the branch itself.
    let request: RequestNumber?
    /// Makes the transaction for the next transmission.
    let buildRequest: RequestBuilder
    /// Customers of a request for tickets. One transaction may contain several of these requests.
    var columns: EnqueueColumns?
    /// Epoch and number under which a request for tickets was first sent; nil before that.
    var name: (epoch: Int64, number: Int64)?
    /// Progress of a request that is too large to be sent as a whole; nil for all others.
    var staging: StagingProgress?
    /// True if the final transaction of the request can be sent.
    var isReady: Bool { commit == nil && (staging.map { $0.isComplete && $0.given == nil } ?? true) }
    /// True if the request must be repeated in a later epoch.
    var repeatsInLaterEpoch = true
    /// True if the request must be sent alone, because a transaction of several requests was refused.
    var mustBeSentAlone = false
    var earlierAttempts = EarlierAttempts()
    /// Commit number of the transmission in flight; nil for none.
    var commit: Int64?
    /// Called instead of sending an answer.
    var finish: ((StoreReply?) -> Void)?

    /// Answer for a client that requested tickets.
    func answer(_ answer: PostgresEnqueue.Answer) -> StoreReply {
      switch answer {
      case .given(let tickets, _): .issued(tickets)
      case .known(let tickets, let request):
        KeyedRequest(tickets: tickets, request: request).isRepeated(by: columns?.digest)
          ? .issued(RequestTickets(known: [tickets])) : .keyConflict(columns?.key ?? "")
      case .conflict(let key): .keyConflict(key)
      case .draining: .draining
      case .unstaged: preconditionFailure("its slices are sent again")
      }
    }
  }

  /// Maximum number of transactions in flight.
  private static let maxInFlight = 8
  /// Maximum number of requests for tickets in one transaction.
  private static let maxBatchCount = 64
  /// Pause before a retry after a temporary refusal.
  static let pause = TimeSpan.milliseconds(5)

  var isEmpty: Bool { tasks.isEmpty }
  /// Time of the next retry; nil while a retry is impossible, because the event that enables it also wakes the loop.
  var nextDeadline: MonotonicTime? { context.branch != nil && link.isOpen && !isAddingLanes ? retryAt : nil }
  /// Time of the next retry after a temporary refusal; nil for none.
  var retryAt: MonotonicTime?
  let context: SharedStoreContext
  let link: ReconnectingConnection
  var tasks: [PendingRequest] = []
  private var lastID: Int64 = 0
  /// Number of transactions in flight.
  private var sent = 0
  /// True while numbers are assigned to lanes; no request is sent in this time.
  private var isAddingLanes = false

  let bounds: EnqueueLimits
  /// Large requests with tickets whose next slices are being moved.
  var movingRequests: Set<LargeRequestID> = []

  init(
    _ context: SharedStoreContext, _ link: ReconnectingConnection, _ bounds: EnqueueLimits = EnqueueLimits()
  ) {
    (self.context, self.link, self.bounds) = (context, link, bounds)
  }

  // MARK: - Adding requests

  /// Adds a request for tickets.
  func enqueueCustomers(_ request: RequestNumber, _ customers: EnqueueRequest) {
    guard !customers.orders.isEmpty else {
      return context.report(.answered(request, .issued(RequestTickets())))
    }
    if let error = context.writeRefusal {
      return context.report(.answered(request, .refused(context.storeError(error))))
    }
    var task = PendingRequest(id: nextID(), request: request) { _, _, _ in
      preconditionFailure("customers have their own statements")
    }
    task.columns = EnqueueColumns(customers)
    task.columns?.report(by: context.clock, at: SystemClock.moment())
    if let size = task.columns?.size, size > bounds.whole { task.staging = StagingProgress() }
    tasks.append(task)
    pump()
  }

  /// Adds a request, and sends it as soon as possible.
  ///
  /// - Parameters:
  ///   - repeatsInLaterEpoch: true if the request must be repeated in a later epoch.
  ///   - finish: called instead of answering `request`; receives nil if the request was dropped.
  func ask(
    _ request: RequestNumber?, repeatsInLaterEpoch: Bool = true, finish: ((StoreReply?) -> Void)? = nil,
    _ buildRequest: @escaping RequestBuilder
  ) {
    var task = PendingRequest(id: nextID(), request: request, buildRequest: buildRequest)
    task.repeatsInLaterEpoch = repeatsInLaterEpoch
    task.finish = finish
    tasks.append(task)
    pump()
  }

  /// A number that identifies a request in this process.
  private func nextID() -> Int64 {
    lastID += 1
    return lastID
  }

  // MARK: - Sending

  /// Sends the requests that are ready, as many as the limits allow.
  func pump() {
    guard let branch = context.branch, link.isOpen, !isAddingLanes else { return }
    if let retryAt {
      guard SystemClock.monotonic() >= retryAt else { return }
      self.retryAt = nil
    }
    for task in tasks where task.staging?.isComplete == false { sendSlices(of: task.id, branch) }
    while sent < Self.maxInFlight, let first = tasks.firstIndex(where: \.isReady) {
      let isSent = tasks[first].columns == nil ? send(first, branch) : sendEnqueues(from: first, branch)
      guard isSent else { return }
    }
  }

  /// Sends the request at this index as its own transaction; false if it cannot be sent now.
  private func send(_ index: Int, _ branch: PostgresBranch) -> Bool {
    let number = context.numbers.next()
    let task = tasks[index]
    let isSent = link.send(task.buildRequest(branch, number, task.earlierAttempts)) { [weak self] answer in
      guard let self, let commit = self.finishAttempt(task.id, branch) else { return }
      switch answer {
      case .done(.answer(let answer)):
        // The outcome is known, so the number need not be queried.
        self.context.numbers.release(commit)
        self.end(task.id, answer)
      case .done(.fenced): if self.context.branch == branch { self.context.fenced() }
      case .refused(let error):
        self.context.numbers.release(commit)
        self.refused(task.id, error)
      case .unknown: self.unknown(task.id, branch, commit)
      }
    }
    guard isSent else {
      context.numbers.release(number)
      return false
    }
    tasks[index].commit = number
    sent += 1
    return true
  }

  /// Sends consecutive requests for tickets as one transaction; false if none can be sent now.
  private func sendEnqueues(from first: Int, _ branch: PostgresBranch) -> Bool {
    var batch: [PostgresEnqueue] = []
    var ids: [Int64] = []
    var size = 0
    for index in first..<tasks.count {
      guard tasks[index].isReady, let customers = tasks[index].columns else { break }
      let isStaged = tasks[index].staging != nil
      let more = isStaged ? 0 : customers.size
      guard
        batch.isEmpty
          || batch.count < Self.maxBatchCount && size + more <= bounds.whole
            && !tasks[index].mustBeSentAlone && !tasks[first].mustBeSentAlone
      else { break }
      guard customers.lines.allSatisfy({ context.lanes[$0] != nil }) else {
        if batch.isEmpty { return addLanes(customers.lines, for: branch.id) }
        break
      }
      let number = context.numbers.next()
      let name = tasks[index].name ?? (branch.epoch, number)
      tasks[index].name = name
      tasks[index].commit = number
      batch.append(
        PostgresEnqueue(
          customers: customers, lanes: context.lanes, commit: number, name: name, isStaged: isStaged))
      ids.append(tasks[index].id)
      size += more
    }
    guard !batch.isEmpty else { return false }
    let isSent = link.send(branch.issueTickets(batch)) { [weak self] answer in
      self?.handle(answer, ids, branch)
    }
    guard isSent else {
      for index in first..<first + ids.count {
        if let number = tasks[index].commit { context.numbers.release(number) }
        tasks[index].commit = nil
      }
      return false
    }
    sent += 1
    return true
  }

  /// Handles the result of a transaction with several requests for tickets.
  private func handle(
    _ answer: PostgresAnswer<[PostgresEnqueue.Answer?]>, _ ids: [Int64], _ branch: PostgresBranch
  ) {
    for (place, id) in ids.enumerated() {
      guard let commit = finishAttempt(id, branch, last: place == ids.count - 1) else { continue }
      if case .refused = answer { context.numbers.release(commit) }
      switch answer {
      case .done(let answers):
        guard let answer = answers[place] else { continue }
        if case .given(_, isNow: true) = answer {
          context.numbers.commit(commit)
        } else {
          context.numbers.release(commit)
        }
        handleTicketResult(id, answer)
      case .refused(let error) where ids.count > 1 && !error.isTransient:
        if let index = tasks.firstIndex(where: { $0.id == id }) { tasks[index].mustBeSentAlone = true }
      case .refused(let error): refused(id, error)
      case .unknown: unknown(id, branch, commit)
      }
    }
    if case .done(let answers) = answer, answers.contains(where: { $0 == nil }), context.branch == branch {
      context.fenced()
    }
    pump()
  }

  /// Handles the result of a request for tickets. If slices are missing, they are sent again. If the request was sent
  /// in slices, its customers are moved before the client gets its answer.
  func handleTicketResult(_ id: Int64, _ answer: PostgresEnqueue.Answer) {
    guard let index = tasks.firstIndex(where: { $0.id == id }) else { return }
    switch answer {
    case .unstaged: tasks[index].staging = StagingProgress()
    case .given where tasks[index].staging != nil && tasks[index].columns?.hasOwnKeys == false:
      guard let name = tasks[index].name, let branch = context.branch else { return }
      let given = tasks[index].answer(answer)
      tasks[index].staging?.given = given
      moveSlices(LargeRequestID(branch: branch.id, epoch: name.epoch, number: name.number))
    default: end(id, tasks[index].answer(answer))
    }
  }

  /// Assigns numbers to new lanes, and then continues sending. Returns false: nothing was sent yet.
  func addLanes(_ lines: [Line], for own: Int64) -> Bool {
    let segment = [
      PostgresStatements.lockNumbers(),
      PostgresStatements.addLanes(
        .integers(lines.map { Int64($0.service.number) }), .integers(lines.map(\.priority.code)),
        .integers(lines.map { SharedStoreContext.owner(of: $0, own) })),
      PostgresStatements.lanes(),
    ]
    isAddingLanes = link.send(PostgresRequest(segment: segment) { $0.last }) { [weak self] answer in
      guard let self else { return }
      self.isAddingLanes = false
      switch answer {
      case .done(let rows): self.context.adopt(lanes: rows, for: own)
      case .refused(let error) where !error.isTransient:
        // Requests with these lines are refused.
        let stuck = self.tasks.filter { $0.commit == nil && $0.columns?.lines == lines }
        for task in stuck { self.end(task.id, .refused(self.context.storeError(error))) }
      case .refused, .unknown: self.retryAt = SystemClock.monotonic() + Self.pause
      }
      self.pump()
    }
    return false
  }

  // MARK: - Results

  /// Ends a transmission, because its outcome has arrived. Returns the number of its commit, or nil if its epoch or its
  /// request has ended.
  private func finishAttempt(_ id: Int64, _ branch: PostgresBranch, last: Bool = true) -> Int64? {
    guard context.branch == branch, let index = tasks.firstIndex(where: { $0.id == id }) else { return nil }
    if last { sent -= 1 }
    let commit = tasks[index].commit
    tasks[index].commit = nil
    return commit
  }

  /// Removes a request, and reports its answer.
  func end(_ id: Int64, _ answer: StoreReply?) {
    guard let index = tasks.firstIndex(where: { $0.id == id }) else { return }
    let task = tasks.remove(at: index)
    // Unknown outcomes of this request are not queried any more.
    for (epoch, number) in task.earlierAttempts.unknown where epoch == context.branch?.epoch {
      context.numbers.release(number)
    }
    if let finish = task.finish {
      finish(answer)
    } else if let request = task.request, let answer {
      context.report(.answered(request, answer))
    }
    if task.columns?.hasDelayed == true { context.lookSoon() }
    if task.staging != nil { deleteOrphanedSlices() }
    pump()
  }

  /// Handles a refusal: retries after a pause if it is temporary, else ends the request.
  func refused(_ id: Int64, _ error: PostgresError) {
    context.refusesWrites(error)
    if error.isTransient {
      retryAt = SystemClock.monotonic() + Self.pause
    } else {
      end(id, .refused(context.storeError(error)))
    }
  }

  /// Refuses the requests of clients that certainly had no effect, because the database accepts no writes. All other
  /// requests wait.
  func refuseNewRequests(_ error: PostgresError) {
    let waiting = tasks.filter { task in
      task.request != nil && task.commit == nil && task.earlierAttempts.unknown.isEmpty
        && task.staging?.given == nil
    }
    for task in waiting { end(task.id, .refused(context.storeError(error))) }
  }

  /// Records a transmission with an unknown outcome, so that the request is repeated.
  private func unknown(_ id: Int64, _ branch: PostgresBranch, _ commit: Int64) {
    guard let index = tasks.firstIndex(where: { $0.id == id }) else { return }
    tasks[index].earlierAttempts.unknown.append((branch.epoch, commit))
  }

  /// Handles the loss of the epoch: the outcomes of requests in flight become unknown, and requests that do not outlive
  /// the epoch are dropped.
  func handleLoss() {
    guard let branch = context.lastBranch else { return }
    for index in tasks.indices {
      if tasks[index].staging?.given == nil { tasks[index].staging?.restart() }
      guard let commit = tasks[index].commit else { continue }
      tasks[index].earlierAttempts.unknown.append((branch.epoch, commit))
      tasks[index].commit = nil
    }
    (sent, isAddingLanes, retryAt) = (0, false, nil)
    let isForgetful = Mutant.dropsRequestsAfterLeaseLoss.isActive
    for task in tasks where !task.repeatsInLaterEpoch || isForgetful { end(task.id, nil) }
  }
}
