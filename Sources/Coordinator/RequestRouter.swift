// Router of client commands to the parts of the coordinator, and of the queue's answers back to clients. It also pauses
// clients that have requested too much at once.
// Invariant: a request gets at most one final answer. It can stay without one only if it is a subscription or a
// withdrawal, its client disconnects, or the process is cut off. All parts of a list together are one request.

import BankModel
import Posix
import QueueCore
import Time
import Wire

final class RequestRouter: BankPart {
  private let readings: Readings
  private let reports: BankReports
  private let views: LiveViews
  private let streams: AnswerStreams
  private let intake: Intake
  private let long: LongRequests
  private let windows: WindowPlan
  private let opening: Opening
  private let ending: Ending
  private let audits: Audits
  private let endings: WindowEndings
  private let page: PageServer
  private let selections: Selections
  private let ownWork: OwnWork
  /// Reader of a shared database for clients; nil if the bank has its own.
  let reader: BooksReader?
  /// Waits for tickets of a shared database; nil if the bank has its own.
  let waits: SharedWaits?
  /// Clients that are not read for a while; see ``asksTooMuch(_:)``.
  private var crowded: [ControlSession] = []

  init(
    _ ground: BankPart, _ readings: Readings, _ reports: BankReports, _ views: LiveViews,
    _ streams: AnswerStreams, _ intake: Intake, _ long: LongRequests, _ windows: WindowPlan,
    _ opening: Opening, _ ending: Ending, _ audits: Audits, _ endings: WindowEndings,
    _ selections: Selections, _ page: PageServer, _ ownWork: OwnWork, _ reader: BooksReader?
  ) {
    self.ownWork = ownWork
    self.reader = reader
    waits = ground.shared == nil ? nil : SharedWaits(ground, reader)
    self.selections = selections
    self.endings = endings
    self.readings = readings
    self.reports = reports
    self.views = views
    self.streams = streams
    self.intake = intake
    self.long = long
    self.windows = windows
    self.opening = opening
    self.ending = ending
    self.audits = audits
    self.page = page
    super.init(ground)
  }

  // MARK: - Requests

  /// Handles a request. Between the parts of a list, only further parts and withdrawals are allowed.
  func hear(_ request: ControlRequest, from session: ControlSession) {
    guard isHeard(request, from: session) else { return }
    if session.list != nil {
      if case .withdraw(let given) = request.command { return intake.withdraw(given, of: session) }
      guard case .enqueueList = request.command else {
        return server.refuse(session, .malformed, "another request between the parts of a list")
      }
    }
    serve(request, for: session)
  }

  /// Returns true if the request is to be processed. If not, the request was answered or needs no answer of its own, or
  /// the process is cut off.
  private func isHeard(_ request: ControlRequest, from session: ControlSession) -> Bool {
    // After a cut-off this process sends nothing.
    guard !context.isCutOff, !opening.refuses(request, session) else { return false }
    guard context.exitCode != nil else { return true }
    // The bank has already ended, for example by a request that was read together with this one.
    server.turnAway(request, of: session)
    return false
  }

  private func serve(_ request: ControlRequest, for session: ControlSession) {
    let seat = Seat(session: session, number: request.number)
    guard openAnswers(of: session) < ClientLimits.openAnswers else {
      let remark = Remark(.answersAtMost, ClientLimits.openAnswers)
      return server.answer(seat, .failure(Failure(.badRequest, remark: remark)))
    }
    if long.hold(request, for: session) { return }
    route(request, seat)
    followers.changed = true
    if asksTooMuch(session), !session.channel.isReadingPaused {
      session.channel.pauseReading()
      crowded.append(session)
    }
  }

  private func openAnswers(of session: ControlSession) -> Int {
    session.seats + session.streams.count + ending.count(of: session) + audits.count(of: session)
      + long.count(of: session) + selections.count(of: session) + (reader?.count(of: session) ?? 0)
      + (waits?.count(of: session) ?? 0)
  }

  private func route(_ request: ControlRequest, _ seat: Seat) {
    if let refusal = ownWork.refusal(of: request.command, from: seat.session) {
      return server.answer(seat, .failure(refusal))
    }
    if shared != nil, isAnsweredElsewhere(request.command, seat) { return }
    switch request.command {
    case .status: server.answer(seat, .status(reports.status()))
    case .watch: views.begin(seat, .state)
    case .follow: views.begin(seat, .events)
    case .board: views.begin(seat, .board)
    case .awaitOpen: windows.awaitOpen(seat)
    case .scale(let wanted): windows.scale(wanted, seat, isAskedFromWithin: ownWork.isAskedFromWithin)
    case .reload: windows.reload(seat, isAskedFromWithin: ownWork.isAskedFromWithin)
    case .enqueue(let order): intake.take(order, seat)
    case .enqueueList(let part): intake.take(part, seat)
    case .tickets(let query): streams.beginTickets(query, seat)
    case .ticket(let ticket, let day):
      readings.tellKept(seat) { [reports] _ in reports.ticket(ticket, day: day) }
    case .receipts(let query): streams.beginReceipts(query, seat)
    case .awaitIdle:
      followers.awaitIdle(
        seat, since: context.now.monotonic, leavesDelayed: request.leavesDelayed == true)
    case .awaitTickets(let day, let first, let last): awaitTickets(day, first, last, seat)
    case .pause(let name): steer(name, seat) { .pause($0, $1) }
    case .resume(let name): steer(name, seat) { .resume($0, $1) }
    case .cancel(let ticket, let day): change(ticket, of: day, seat, cancels: true) { .cancel($0, ticket) }
    case .requeue(let ticket, let day): change(ticket, of: day, seat) { .requeue($0, ticket) }
    case .requeueDead: long.requeueDead(seat, tellsProgress: request.tellsProgress == true)
    case .reset(let day): long.reset(on: day, seat, tellsProgress: request.tellsProgress == true)
    case .withdraw(let given):
      if !views.withdraw(given, of: seat.session) { intake.withdraw(given, of: seat.session) }
    case .stop(let order) where order.endsBank == true && shared == nil: refuse("stop --bank", seat)
    case .stop(let order): ending.stop(order, seat) { reports.status() }
    case .branches:
      if let shared { server.answer(seat, .branches(shared.branchReports)) } else { refuse("branches", seat) }
    // The database of an open bank cannot be moved.
    case .move:
      server.answer(
        seat, .failure(Failure(.alreadyOpen, subject: "\(CurrentProcess.pid)", detail: context.home.path)))
    case .audit: audits.ask(seat)
    case .web(let order): web(order, seat)
    case .ledger: readings.tellKept(seat) { store throws(StoreError) in try store.ledgerAnswer() }
    case .account(let account):
      readings.tellKept(seat) { store throws(StoreError) in try store.accountAnswer(account) }
    case .endTeller(let name, let generation, let pid): endings.end(name, generation, pid, seat)
    case .cancelAll(let selection):
      onDay(selection.day, seat) { [selections] in selections.begin(selection, .cancel, seat, on: $0) }
    case .requeueAll(let selection):
      onDay(selection.day, seat) { [selections] in selections.begin(selection, .requeue, seat, on: $0) }
    }
  }

  /// Refuses a request about other branches: this bank has its database in its home.
  private func refuse(_ asked: String, _ seat: Seat) {
    server.answer(seat, .failure(Failure(.notShared, subject: asked)))
  }

  private func web(_ order: WebOrder?, _ seat: Seat) {
    do throws(Failure) {
      try page.take(order, seat)
      server.answer(seat, .status(reports.status()))
    } catch { server.answer(seat, .failure(error)) }
  }

  /// Pauses or resumes a service or all of them, including services that are not configured any more.
  private func steer(_ name: ServiceName?, _ seat: Seat, _ event: (RequestNumber, Service?) -> QueueEvent) {
    do throws(Failure) {
      var service: Service?
      if let name { service = try context.services.known(name) }
      let request = requests.open(seat, for: .status)
      guard let shared else { return queue.happen(event(request, service)) }
      // Request number 0: the queue's answer is dropped, and the client is answered when the database has
      // stored the change.
      queue.happen(event(0, service))
      shared.books.keepPaused(queue.machine.pausedServices, for: request)
    } catch { server.answer(seat, .failure(error)) }
  }

  /// True if the client is not to be read for a while: it has too many open requests, queries or payload bytes, it does
  /// not read its answers, or this iteration has lasted long enough. One read can contain thousands of requests, and
  /// tellers must not wait for all of them.
  private func asksTooMuch(_ session: ControlSession) -> Bool {
    session.openRequests >= ClientLimits.openRequests || session.openReadings >= ClientLimits.openReadings
      || session.payloadBytes >= PayloadRoom.ofClient || session.channel.backlog >= server.share
      || SystemClock.monotonic() >= context.now.monotonic + ClientLimits.turn
  }

  func hearCrowded() {
    guard !crowded.isEmpty else { return }
    let share = server.share
    let ready = crowded.filter { $0.canBeHeard(within: share) }
    crowded.removeAll { $0.canBeHeard(within: share) }
    for session in ready { session.channel.resumeReading() }
  }

  var canHearCrowded: Bool { crowded.contains { $0.canBeHeard(within: server.share) } }

  /// Continues long requests for a while, and serves the requests that were waiting for them.
  func advanceLongRequests() {
    // A later request may have ended the bank or the connection meanwhile.
    for (request, session) in long.advance() where session.isOpen && isHeard(request, from: session) {
      serve(request, for: session)
    }
  }

  /// Forgets a client that has disconnected. Its requests that have reached the queue are executed, but not answered.
  func forget(_ session: ControlSession) {
    requests.forget(session)
    readings.forget(session)
    crowded.removeAll { $0 === session }
    followers.forget(session)
    ending.forget(session)
    ownWork.forget(session)
    audits.forget(session)
    reader?.forget(session)
    waits?.forget(session)
  }

  // MARK: - Answers

  func finish(_ request: RequestNumber, with answer: QueueAnswer) {
    guard request > 0 else { return }
    let cancelled = queue.takeCancelled(by: request)
    long.forget(request)
    if case .enqueued(let tickets) = answer { followers.noteIssued(tickets, at: context.now.wall) }
    guard let entry = requests.close(request) else { return }
    let seat = entry.seat
    if case .drain = entry.purpose { return shared?.drainIsKnown(at: context.now.monotonic) ?? () }
    if case .selected(let ticket, let work) = entry.purpose {
      return selections.note(answer, ticket, of: work)
    }
    if case .ticket(let ticket, let day, let cancels) = entry.purpose, answer != .refused(.diskFull) {
      // If the day has ended since, do not announce the cancellation: the number now belongs to another
      // customer.
      if cancels, answer == .done, day == queue.machine.books.day {
        followers.noteCancelled(ticket, at: context.now.wall)
      }
      if shared != nil {
        guard case .refused(let refusal) = answer else {
          return read(.ticket(number: ticket, day: day), seat)
        }
        return server.answer(seat, .failure(Failure(refusal: refusal, context.services.directory)))
      }
      // An answer about a ticket, even a refusal, may depend on staged changes.
      return readings.whenKept(seat, isInStep: true) { [unowned self] store throws(StoreError) in
        server.answer(seat, try ticketAnswer(to: answer, ticket, of: day, store))
      }
    }
    server.answer(seat, controlAnswer(to: entry, answer, cancelled))
  }

  private func controlAnswer(
    to entry: RequestTable.Entry, _ answer: QueueAnswer, _ cancelled: Int64?
  ) -> ControlAnswer {
    switch (answer, entry.purpose) {
    case (.refused(let refusal), _): return .failure(Failure(refusal: refusal, context.services.directory))
    case (.enqueued(let tickets), .enqueue(let known, let knownTickets)):
      let count = tickets.last - tickets.first + 1
      return .enqueued(
        EnqueuedReport(
          day: tickets.day, first: count > 0 ? tickets.first : 0, last: count > 0 ? tickets.last : 0,
          count: count, known: known, knownTickets: knownTickets.report))
    case (.requeued(let count), .requeueDead): return .requeued(count)
    case (_, .reset):
      var report = reports.status()
      report.cancelledByReset = cancelled
      return .status(report)
    default: return .status(reports.status())
    }
  }

  private func change(
    _ ticket: TicketNumber, of day: BusinessDay?, _ seat: Seat, cancels: Bool = false,
    _ event: (RequestNumber) -> QueueEvent
  ) {
    onDay(day, seat) { queue.happen(event(requests.open(seat, for: .ticket(ticket, $0, cancels: cancels)))) }
  }

  /// Acts on tickets of the present day. Numbers start again every day, so tickets of another day are refused: their
  /// numbers may now belong to other customers.
  private func onDay(_ day: BusinessDay?, _ seat: Seat, _ act: (BusinessDay) -> Void) {
    let present = queue.machine.books.day
    guard let day, day != present, !Kernel.makes("takesEveryDayForToday") else { return act(present) }
    // The requested day may have just ended, and its end may not be on disk.
    readings.whenKept(seat, isInStep: true) { [queue, server] _ in
      let keptDay = queue.engine.keptBooks.day
      let code: Failure.Code = (1..<keptDay).contains(day) ? .wrongDay : .noSuchDay
      server.answer(seat, .failure(Failure(code, subject: String(day), remark: Remark(.presentDay, keptDay))))
    }
  }

  /// Answer to a request to change one ticket, made from the answer of the queue.
  private func ticketAnswer(
    to answer: QueueAnswer, _ ticket: TicketNumber, of day: BusinessDay, _ store: any QueueReading
  ) throws(StoreError) -> ControlAnswer {
    guard case .refused(let refusal) = answer else { return reports.ticket(ticket, day: day) }
    if case .noSuchTicket = refusal, try store.receipt(day: day, ticket: ticket) != nil {
      return .failure(Failure(.wrongState, subject: "\(ticket) \(CustomerState.done.name)"))
    }
    return .failure(Failure(refusal: refusal, context.services.directory))
  }

  private func awaitTickets(_ day: Int64, _ first: Int64, _ last: Int64, _ seat: Seat) {
    guard first >= 1, first <= last else {
      return server.answer(seat, .failure(Failure(.badRequest, remark: Remark(.noRange, first, last))))
    }
    // From now on the watch counts staged changes, so the count must start when nothing is staged.
    readings.whenKept(seat, isInStep: true) { [queue, server, followers] store throws(StoreError) in
      guard day == queue.engine.keptBooks.day else {
        let cancelled = try store.countCancelled(first...last, on: day)
        return server.answer(seat, .ended(EndedReport(dead: 0, counting: cancelled)))
      }
      let (remaining, dead) = (try store.countUnfinished(first...last), try store.countDead(first...last))
      // This query reads all receipts of the day, so it runs only if the day has a cancelled customer.
      let cancelled =
        queue.engine.keptBooks.cancelled > 0 ? try store.countCancelled(first...last, on: day) : 0
      followers.tickets.add(
        TicketWatches.Watch(
          seat: seat, tickets: first...last, remaining: remaining, dead: dead, cancelled: cancelled))
    }
  }
}
