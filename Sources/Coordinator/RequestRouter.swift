// Router of client commands to the parts of the coordinator, and of the queue's answers back to clients. It also pauses
// clients that have requested too much at once.
// Invariant: a request gets at most one final answer. All parts of a list together are one request.

import BankModel
import Posix
import QueueCore
import Time
import Wire

final class RequestRouter: CoordinatorComponent {
  private let durableReads: DurableReads
  private let reports: BankReports
  private let views: SubscriptionSender
  private let streams: ResultStreams
  private let enqueueHandler: EnqueueHandler
  private let incrementalCommands: IncrementalCommands
  private let windows: WindowPlan
  private let opening: StartupController
  private let shutdownController: ShutdownController
  private let audits: Audits
  private let windowKills: WindowKills
  private let webServer: WebServerProcess
  private let selections: Selections
  private let selfWaitGuard: SelfWaitGuard
  /// Reader of a shared database for clients; nil if there is none.
  let reader: SharedStoreReader?
  /// Clients that wait for tickets of a shared database; nil if the database is in the home.
  let waits: SharedTicketWaiters?
  /// Clients that are not read for a while; see ``isOverLimit(_:)``.
  private var throttled: [ControlSession] = []

  init(
    _ dependencies: CoordinatorComponent, _ durableReads: DurableReads, _ reports: BankReports,
    _ views: SubscriptionSender,
    _ streams: ResultStreams, _ enqueueHandler: EnqueueHandler, _ incrementalCommands: IncrementalCommands,
    _ windows: WindowPlan,
    _ opening: StartupController, _ shutdownController: ShutdownController, _ audits: Audits,
    _ windowKills: WindowKills,
    _ selections: Selections, _ webServer: WebServerProcess, _ selfWaitGuard: SelfWaitGuard,
    _ reader: SharedStoreReader?
  ) {
    self.selfWaitGuard = selfWaitGuard
    self.reader = reader
    waits = dependencies.shared == nil ? nil : SharedTicketWaiters(dependencies, reader)
    self.selections = selections
    self.windowKills = windowKills
    self.durableReads = durableReads
    self.reports = reports
    self.views = views
    self.streams = streams
    self.enqueueHandler = enqueueHandler
    self.incrementalCommands = incrementalCommands
    self.windows = windows
    self.opening = opening
    self.shutdownController = shutdownController
    self.audits = audits
    self.webServer = webServer
    super.init(dependencies)
  }

  // MARK: - Requests

  /// Handles a request. Between the parts of a list, only further parts and withdrawals are allowed.
  func handle(_ request: ControlRequest, from session: ControlSession) {
    guard isHeard(request, from: session) else { return }
    if session.list != nil {
      if case .withdraw(let given) = request.command { return enqueueHandler.withdraw(given, of: session) }
      guard case .enqueueList = request.command else {
        return server.refuse(session, .malformed, "another request between the parts of a list")
      }
    }
    serve(request, for: session)
  }

  /// Returns true if the request is to be processed. If not, the request was answered or needs no answer of its own, or
  /// the coordinator is halted.
  private func isHeard(_ request: ControlRequest, from session: ControlSession) -> Bool {
    guard !context.isHalted, !opening.refuses(request, session) else { return false }
    guard context.exitCode != nil else { return true }
    // The bank has already ended, for example by a request that was read together with this one.
    server.refusePending(request, of: session)
    return false
  }

  /// Processes a request, unless the client has too many open answers.
  private func serve(_ request: ControlRequest, for session: ControlSession) {
    let requester = RequestHandle(session: session, number: request.number)
    guard openAnswers(of: session) < ClientLimits.openAnswers else {
      let messageDetail = MessageDetail(.answersAtMost, ClientLimits.openAnswers)
      return server.answer(requester, .failure(Failure(.badRequest, messageDetail: messageDetail)))
    }
    if incrementalCommands.deferUntilReset(request, for: session) { return }
    route(request, requester)
    subscriptions.changed = true
    if isOverLimit(session), !session.channel.isReadingPaused {
      session.channel.pauseReading()
      throttled.append(session)
    }
  }

  /// Number of open answers of a client: lists, subscriptions and waits.
  private func openAnswers(of session: ControlSession) -> Int {
    session.requesters + session.streams.count + shutdownController.count(of: session)
      + audits.count(of: session)
      + incrementalCommands.count(of: session) + selections.count(of: session)
      + (reader?.count(of: session) ?? 0)
      + (waits?.count(of: session) ?? 0)
  }

  private func route(_ request: ControlRequest, _ requester: RequestHandle) {
    if let refusal = selfWaitGuard.refusal(of: request.command, from: requester.session) {
      return server.answer(requester, .failure(refusal))
    }
    if shared != nil, isAnsweredByReader(request.command, requester) { return }
    switch request.command {
    case .status: server.answer(requester, .status(reports.status()))
    case .watch: views.begin(requester, .state)
    case .follow: views.begin(requester, .events)
    case .board: views.begin(requester, .board)
    case .awaitOpen: windows.awaitOpen(requester)
    case .scale(let wanted): windows.scale(wanted, requester, isAskedFromWithin: selfWaitGuard.isFromOwnWork)
    case .reload: windows.reload(requester, isAskedFromWithin: selfWaitGuard.isFromOwnWork)
    case .enqueue(let order): enqueueHandler.receive(order, requester)
    case .enqueueList(let part): enqueueHandler.receive(part, requester)
    case .tickets(let query): streams.beginTickets(query, requester)
    case .ticket(let ticket, let day):
      durableReads.answerWhenDurable(requester) { [reports] _ in reports.ticket(ticket, day: day) }
    case .receipts(let query): streams.beginReceipts(query, requester)
    case .awaitIdle:
      subscriptions.awaitIdle(
        requester, since: context.now.monotonic, leavesDelayed: request.leavesDelayed == true)
    case .awaitTickets(let day, let first, let last): awaitTickets(day, first, last, requester)
    case .pause(let name): pauseOrResume(name, requester) { .pause($0, $1) }
    case .resume(let name): pauseOrResume(name, requester) { .resume($0, $1) }
    case .cancel(let ticket, let day):
      change(ticket, of: day, requester, cancels: true) { .cancel($0, ticket) }
    case .requeue(let ticket, let day): change(ticket, of: day, requester) { .requeue($0, ticket) }
    case .requeueDead:
      incrementalCommands.requeueDead(requester, reportsProgress: request.reportsProgress == true)
    case .reset(let day):
      incrementalCommands.reset(on: day, requester, reportsProgress: request.reportsProgress == true)
    case .withdraw(let given):
      if !views.withdraw(given, of: requester.session) {
        enqueueHandler.withdraw(given, of: requester.session)
      }
    case .stop(let order) where order.closesWholeBank == true && shared == nil:
      refuse("stop --bank", requester)
    case .stop(let order): shutdownController.stop(order, requester) { reports.status() }
    case .branches:
      if let shared {
        server.answer(requester, .branches(shared.branchReports))
      } else {
        refuse("branches", requester)
      }
    // The database of an open bank cannot be moved.
    case .move:
      server.answer(
        requester,
        .failure(Failure(.alreadyOpen, subject: "\(CurrentProcess.pid)", detail: context.home.path)))
    case .audit: audits.ask(requester)
    case .web(let order): web(order, requester)
    case .ledger:
      durableReads.answerWhenDurable(requester) { store throws(StoreError) in try store.ledgerAnswer() }
    case .account(let account):
      durableReads.answerWhenDurable(requester) { store throws(StoreError) in try store.accountAnswer(account)
      }
    case .killWorker(let name, let generation, let pid): windowKills.end(name, generation, pid, requester)
    case .cancelAll(let selection):
      requirePresentDay(selection.day, requester) { [selections] in
        selections.begin(selection, .cancel, requester, on: $0)
      }
    case .requeueAll(let selection):
      requirePresentDay(selection.day, requester) { [selections] in
        selections.begin(selection, .requeue, requester, on: $0)
      }
    }
  }

  /// Refuses a request about other branches: this bank has its database in its home.
  private func refuse(_ asked: String, _ requester: RequestHandle) {
    server.answer(requester, .failure(Failure(.requiresSharedStore, subject: asked)))
  }

  /// Starts or stops the web server, and answers with the status.
  private func web(_ order: WebServerSettings?, _ requester: RequestHandle) {
    do throws(Failure) {
      try webServer.receive(order, requester)
      server.answer(requester, .status(reports.status()))
    } catch { server.answer(requester, .failure(error)) }
  }

  /// Pauses or resumes a service or all of them, including services that are not configured any more.
  private func pauseOrResume(
    _ name: ServiceName?, _ requester: RequestHandle, _ event: (RequestNumber, Service?) -> QueueEvent
  ) {
    do throws(Failure) {
      var service: Service?
      if let name { service = try context.services.known(name) }
      let request = requests.open(requester, for: .status)
      guard let shared else { return queue.process(event(request, service)) }
      // Request number 0: the queue's answer is dropped, and the client is answered when the database has
      // stored the change.
      queue.process(event(0, service))
      shared.store.savePaused(queue.machine.pausedServices, for: request)
    } catch { server.answer(requester, .failure(error)) }
  }

  /// True if the client is not to be read for a while: it has too many open requests, queries or payload bytes, it does
  /// not read its answers, or this iteration has lasted long enough. One read can contain many requests, and tellers
  /// must not wait for all of them.
  private func isOverLimit(_ session: ControlSession) -> Bool {
    session.openRequests >= ClientLimits.openRequests || session.openReads >= ClientLimits.openReads
      || session.payloadBytes >= PayloadMemoryLimiter.ofClient || session.channel.backlog >= server.share
      || SystemClock.monotonic() >= context.now.monotonic + ClientLimits.timeLimit
  }

  /// Resumes reading the clients that are below their limits again.
  func readThrottled() {
    guard !throttled.isEmpty else { return }
    let share = server.share
    let ready = throttled.filter { $0.canBeRead(within: share) }
    throttled.removeAll { $0.canBeRead(within: share) }
    for session in ready { session.channel.resumeReading() }
  }

  /// True if a client that is not read is below its limits again.
  var canReadThrottled: Bool { throttled.contains { $0.canBeRead(within: server.share) } }

  /// Continues long requests for a while, and serves the requests that were waiting for them.
  func advanceLongRequests() {
    // The bank or the connection may have ended meanwhile.
    for (request, session) in incrementalCommands.advance()
    where session.isOpen && isHeard(request, from: session) {
      serve(request, for: session)
    }
  }

  /// Forgets a client that has disconnected. Its requests that have reached the queue are executed, but not answered.
  func forget(_ session: ControlSession) {
    requests.forget(session)
    durableReads.forget(session)
    throttled.removeAll { $0 === session }
    subscriptions.forget(session)
    shutdownController.forget(session)
    selfWaitGuard.forget(session)
    audits.forget(session)
    reader?.forget(session)
    waits?.forget(session)
  }

  // MARK: - Answers

  /// Answers the client of a request with the answer of the queue.
  func finish(_ request: RequestNumber, with answer: QueueAnswer) {
    guard request > 0 else { return }
    let cancelled = queue.takeCancelledCount(by: request)
    incrementalCommands.forget(request)
    if case .enqueued(let tickets) = answer { subscriptions.noteIssued(tickets, at: context.now.wall) }
    guard let entry = requests.close(request) else { return }
    let requester = entry.requester
    if case .drain = entry.purpose { return shared?.recordStoredDrain(at: context.now.monotonic) ?? () }
    if case .selected(let ticket, let work) = entry.purpose {
      return selections.note(answer, ticket, of: work)
    }
    if case .ticket(let ticket, let day, let cancels) = entry.purpose, answer != .refused(.diskFull) {
      // If the day has ended since, do not announce the cancellation: the number may now belong to another
      // customer.
      if cancels, answer == .done, day == queue.machine.dayCounters.day {
        subscriptions.noteCancelled(ticket, at: context.now.wall)
      }
      if shared != nil {
        guard case .refused(let refusal) = answer else {
          return read(.ticket(number: ticket, day: day), requester)
        }
        return server.answer(requester, .failure(Failure(refusal: refusal, context.services.directory)))
      }
      // An answer about a ticket, even a refusal, may depend on staged changes.
      return durableReads.whenDurable(requester, mustMatchMemory: true) {
        [unowned self] store throws(StoreError) in
        server.answer(requester, try ticketAnswer(to: answer, ticket, of: day, store), from: .read)
      }
    }
    server.answer(requester, controlAnswer(to: entry, answer, cancelled), from: .commit)
  }

  /// Answer for the client, made from the answer of the queue and the purpose of the request.
  private func controlAnswer(
    to entry: RequestTable.Entry, _ answer: QueueAnswer, _ cancelled: Int64?
  ) -> ControlAnswer {
    switch (answer, entry.purpose) {
    case (.refused(let refusal), _): return .failure(Failure(refusal: refusal, context.services.directory))
    case (.enqueued(let tickets), .enqueue(let known, let alreadyIssuedTickets)):
      let count = tickets.last - tickets.first + 1
      return .enqueued(
        EnqueuedReport(
          day: tickets.day, first: count > 0 ? tickets.first : 0, last: count > 0 ? tickets.last : 0,
          count: count, known: known, alreadyIssuedTickets: alreadyIssuedTickets.report))
    case (.requeued(let count), .requeueDead): return .requeued(count)
    case (_, .reset):
      var report = reports.status()
      report.cancelledByReset = cancelled
      return .status(report)
    default: return .status(reports.status())
    }
  }

  /// Requests from the queue a change of one ticket of the present day.
  private func change(
    _ ticket: TicketNumber, of day: BusinessDay?, _ requester: RequestHandle, cancels: Bool = false,
    _ event: (RequestNumber) -> QueueEvent
  ) {
    requirePresentDay(day, requester) {
      queue.process(event(requests.open(requester, for: .ticket(ticket, $0, cancels: cancels))))
    }
  }

  /// Acts on tickets of the present day. Numbers start again every day, so tickets of another day are refused: their
  /// numbers may now belong to other customers.
  private func requirePresentDay(
    _ day: BusinessDay?, _ requester: RequestHandle, _ act: (BusinessDay) -> Void
  ) {
    let present = queue.machine.dayCounters.day
    guard let day, day != present, !Mutant.ignoresDayOfTicket.isActive else { return act(present) }
    // The requested day may have just ended, and its end may not be on disk.
    durableReads.whenDurable(requester, mustMatchMemory: true) { [queue, server] _ in
      let durableDay = queue.engine.durableCounters.day
      let code: Failure.Code = (1..<durableDay).contains(day) ? .wrongDay : .noSuchDay
      server.answer(
        requester,
        .failure(Failure(code, subject: String(day), messageDetail: MessageDetail(.presentDay, durableDay))))
    }
  }

  /// Answer to a request to change one ticket, made from the answer of the queue.
  private func ticketAnswer(
    to answer: QueueAnswer, _ ticket: TicketNumber, of day: BusinessDay, _ store: any QueueReader
  ) throws(StoreError) -> ControlAnswer {
    guard case .refused(let refusal) = answer else { return reports.ticket(ticket, day: day) }
    if case .noSuchTicket = refusal, try store.receipt(day: day, ticket: ticket) != nil {
      return .failure(Failure(.wrongState, subject: "\(ticket) \(CustomerState.done.name)"))
    }
    return .failure(Failure(refusal: refusal, context.services.directory))
  }

  /// Answers when no ticket of a range waits, is delayed or is served any more.
  private func awaitTickets(_ day: Int64, _ first: Int64, _ last: Int64, _ requester: RequestHandle) {
    guard first >= 1, first <= last else {
      return server.answer(
        requester,
        .failure(Failure(.badRequest, messageDetail: MessageDetail(.ticketRangeInvalid, first, last))))
    }
    // From now on `TicketWaiters` counts staged changes, so the count must start when nothing is staged.
    durableReads.whenDurable(requester, mustMatchMemory: true) {
      [queue, server, subscriptions] store throws(StoreError) in
      guard day == queue.engine.durableCounters.day else {
        let cancelled = try store.countCancelled(first...last, on: day)
        return server.answer(
          requester, .ended(AwaitedTicketsReport(dead: 0, counting: cancelled)), from: .read)
      }
      let (remaining, dead) = (try store.countUnfinished(first...last), try store.countDead(first...last))
      // This query may read many receipts, so it runs only if the day has a cancelled customer.
      let cancelled =
        queue.engine.durableCounters.cancelled > 0 ? try store.countCancelled(first...last, on: day) : 0
      subscriptions.tickets.add(
        TicketWaiters.TicketWaiter(
          requester: requester, tickets: first...last, remaining: remaining, dead: dead, cancelled: cancelled)
      )
    }
  }
}
