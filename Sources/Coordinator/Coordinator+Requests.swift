// Owns what each command of a client leads to. It decides nothing about customers: the queue does.
// Every request is answered exactly once with a last answer, unless it watches or follows, or its client leaves.

import BankModel
import Configuration
import Posix
import QueueCore
import Wire

extension Coordinator {
  /// A client asks for something.
  func serve(_ request: ControlRequest, for session: ControlSession) {
    let number = request.number
    if let openingFailure { return refuseOpening(openingFailure, request, session) }
    // It was read together with the word that has ended the bank.
    guard exitCode == nil else { return server.turnAway(request, of: session) }
    if session.list != nil {
      if case .withdraw(let given) = request.command { return withdraw(given, of: session) }
      guard case .enqueueList = request.command else {
        return server.refuse(session, .malformed, "another request between the parts of a list")
      }
    }
    let seat = Followers.Seat(session: session, number: number)
    let open =
      session.seats + session.streams.count + (ending?.count(of: session) ?? 0)
      + auditSeats.count { $0.session === session }
      + (auditing?.seats.count { $0.session === session } ?? 0)
      + patient.held.count { $0.session === session }
    guard open < ClientLimits.openAnswers else {
      let remark = Remark(.answersAtMost, ClientLimits.openAnswers)
      return server.answer(session, number, .failure(Failure(.badRequest, remark: remark)))
    }
    if hold(request, for: session) { return }
    switch request.command {
    case .status: server.answer(session, number, .status(statusReport()))
    case .watch: beginView(seat, isOfEvents: false)
    case .follow: beginView(seat, isOfEvents: true)
    case .awaitOpen, .scale, .reload: serveWindows(request, seat)
    case .enqueue(let order): take(order, session, number)
    case .enqueueList(let part): take(part, session, number)
    case .tickets(let state):
      begin(.tickets(states: state.map { [$0] } ?? Self.listedStates, cursor: nil), seat)
    case .ticket(let ticket, let day):
      tellKept(seat) { [unowned self] _ in ticketAnswer(ticket, day: day) }
    case .receipts(let query): beginReceipts(query, seat)
    case .awaitIdle: followers.awaitIdle(seat)
    case .awaitTickets(let day, let first, let last): awaitTickets(day, first, last, seat)
    case .pause(let service): happen(.pause(requests.open(session, number, for: .status), service))
    case .resume(let service): happen(.resume(requests.open(session, number, for: .status), service))
    case .cancel(let ticket, let day): change(ticket, of: day, seat) { .cancel($0, ticket) }
    case .requeue(let ticket, let day): change(ticket, of: day, seat) { .requeue($0, ticket) }
    case .requeueDead: requeueDead(seat, tellsProgress: request.tellsProgress == true)
    case .reset(let day): reset(on: day, seat, tellsProgress: request.tellsProgress == true)
    case .withdraw(let given): withdraw(given, of: session)
    case .stop(let order): stop(order, seat)
    case .audit: tellAudit(seat)
    case .ledger: tellKept(seat) { store throws(StoreError) in try store.ledgerAnswer() }
    case .account(let account):
      tellKept(seat) { store throws(StoreError) in try store.accountAnswer(account) }
    }
    followers.changed = true
    if asksTooMuch(session), !session.channel.isReadingPaused {
      session.channel.pauseReading()
      crowded.append(session)
    }
  }

  /// Whether a client is not to be heard for a while: the queue has enough work of it, it does not read its answers,
  /// or the turn has lasted long enough. One read can bring thousands of requests, and the tellers shall not wait for
  /// all of them.
  private func asksTooMuch(_ session: ControlSession) -> Bool {
    session.openRequests >= ClientLimits.openRequests || session.openReadings >= ClientLimits.openReadings
      || session.channel.backlog >= server.share
      || SystemClock.monotonic() >= MonotonicInstant(now.monotonic + ClientLimits.turn)
  }

  /// Hears those again who had asked for too much at once.
  private func hearCrowded() {
    guard !crowded.isEmpty else { return }
    let share = server.share
    let ready = crowded.filter { $0.canBeHeard(within: share) }
    crowded.removeAll { $0.canBeHeard(within: share) }
    for session in ready { session.channel.resumeReading() }
  }

  /// The states that a list without a choice shows, in this order.
  private static let listedStates: [CustomerState] = [.serving, .waiting, .delayed, .dead]

  /// A client has left: nobody is told any more, and what it asked for is done all the same.
  func forget(_ session: ControlSession) {
    requests.forget(session)
    forgetReadings(of: session)
    crowded.removeAll { $0 === session }
    followers.forget(session)
    ending?.seats.removeAll { $0.session === session }
    auditSeats.removeAll { $0.session === session }
    auditing?.seats.removeAll { $0.session === session }
    // Nobody waits for the rows any more.
    if auditing?.seats.isEmpty == true { auditing?.count?.stop() }
    server.someoneLeft()
  }

  /// The queue has answered a request.
  func finish(_ request: RequestNumber, with answer: QueueAnswer) {
    let cancelled = machine.takeCancelled(by: request)
    patient.told[request] = nil
    guard let entry = requests.close(request) else { return }
    let seat = Followers.Seat(session: entry.session, number: entry.number)
    if case .ticket(let ticket, let day) = entry.purpose, answer != .refused(.diskFull) {
      // What is said of a ticket, a refusal too, may rest on something that is only staged.
      return whenKept(seat, isInStep: true) { [unowned self] store throws(StoreError) in
        let answer = try ticketAnswer(to: answer, ticket, of: day, store)
        server.answer(seat.session, seat.number, answer)
      }
    }
    server.answer(seat.session, seat.number, controlAnswer(to: entry, answer, cancelled))
  }

  /// A request has failed before it reached the queue.
  func failRequest(_ request: RequestNumber, _ failure: Failure) {
    guard let entry = requests.close(request) else { return }
    server.answer(entry.session, entry.number, .failure(failure))
  }

  private func controlAnswer(
    to entry: RequestTable.Entry, _ answer: QueueAnswer, _ cancelled: Int64?
  ) -> ControlAnswer {
    switch (answer, entry.purpose) {
    case (.refused(let refusal), _): return .failure(Failure(refusal: refusal))
    case (.enqueued(let tickets), .enqueue(let known, let knownTickets)):
      let count = tickets.last - tickets.first + 1
      return .enqueued(
        EnqueuedReport(
          day: tickets.day, first: count > 0 ? tickets.first : 0, last: count > 0 ? tickets.last : 0,
          count: count,
          known: known, knownTickets: knownTickets.report))
    case (.requeued(let count), .requeueDead): return .requeued(count)
    case (_, .reset):
      var report = statusReport()
      report.cancelledByReset = cancelled
      return .status(report)
    case (_, _): return .status(statusReport())
    }
  }

  /// A client wants something done with one ticket. Numbers begin anew every day, so one of another day is not looked for:
  /// by now the number is somebody else's.
  private func change(
    _ ticket: TicketNumber, of day: BusinessDay?, _ seat: Followers.Seat,
    _ event: (RequestNumber) -> QueueEvent
  ) {
    let present = machine.books.day
    guard let day, day != present else {
      return happen(event(requests.open(seat.session, seat.number, for: .ticket(ticket, present))))
    }
    // That day may have ended a moment ago, and its end may not be on disk.
    whenKept(seat, isInStep: true) { [unowned self] _ in
      let isPast = (1..<keptBooks.day).contains(day)
      server.answer(
        seat.session, seat.number,
        .failure(
          Failure(
            isPast ? .wrongDay : .noSuchDay, subject: String(day),
            remark: Remark(.presentDay, keptBooks.day))))
    }
  }

  /// What a client is told who has changed one ticket, or could not.
  private func ticketAnswer(
    to answer: QueueAnswer, _ ticket: TicketNumber, of day: BusinessDay, _ store: any QueueStore
  ) throws(StoreError) -> ControlAnswer {
    guard case .refused(let refusal) = answer else { return ticketAnswer(ticket, day: day) }
    if case .noSuchTicket = refusal, try store.receipt(day: day, ticket: ticket) != nil {
      return .failure(Failure(.wrongState, subject: "\(ticket) \(CustomerState.done.name)"))
    }
    return .failure(Failure(refusal: refusal))
  }

  private func awaitTickets(_ day: Int64, _ first: Int64, _ last: Int64, _ seat: Followers.Seat) {
    guard first >= 1, first <= last else {
      let failure = Failure(.badRequest, remark: Remark(.noRange, first, last))
      return server.answer(seat.session, seat.number, .failure(failure))
    }
    // From here on they are counted by what is staged, so the count must begin where nothing is.
    whenKept(seat, isInStep: true) { [unowned self] store throws(StoreError) in
      guard day == keptBooks.day else {
        return server.answer(seat.session, seat.number, .ended(EndedReport(dead: 0)))
      }
      let remaining = try store.countUnfinished(first...last)
      followers.tickets.add(
        TicketWatches.Watch(
          seat: seat, tickets: first...last, remaining: remaining, dead: try store.countDead(first...last)))
    }
  }

  // MARK: - Windows

  private func serveWindows(_ request: ControlRequest, _ seat: Followers.Seat) {
    if ending != nil {
      return server.answer(seat.session, seat.number, .failure(Failure(.draining)))
    }
    switch request.command {
    case .scale(let wanted):
      guard wanted.count <= Service.allCases.count else {
        let failure = Failure(.badRequest, remark: Remark(.serviceTwice))
        return server.answer(seat.session, seat.number, .failure(failure))
      }
      for entry in wanted where !(0...BankModel.Limits.windowsPerService).contains(entry.count) {
        let remark = Remark(
          .windowsRange, entry.service.name, BankModel.Limits.windowsPerService, entry.count)
        return server.answer(seat.session, seat.number, .failure(Failure(.badRequest, remark: remark)))
      }
      for entry in wanted {
        log.write(event: "scale", at: now) {
          $0.field("service", entry.service.name)
          $0.field("windows", entry.count)
        }
        happen(.scale(entry.service, windows: Int32(entry.count)))
      }
      keepWindows()
      staff.retryGivenUp(at: now)
      house.retryFailing(at: now)
    case .reload:
      // Before the others are tried again: what they find then nobody has read yet.
      let known = house.posts.filter { $0.mismatch?.isProblem == true }
      if let failure = reload() { return server.answer(seat.session, seat.number, .failure(failure)) }
      acceptDatabases(of: known)
    default: break
    }
    followers.awaitWindows(seat)
    followers.changed = true
  }

  /// Opens the windows of the configuration, or those that the start asked for.
  func openWindows() {
    for service in Service.allCases {
      let count = configuration.windows[service]
      machine.apply(.scale(service, windows: Int32(count)), at: now, into: &effects)
    }
    keepWindows()
  }

  /// Keeps the notes for the next coordinator again, which somebody has removed.
  func keepNotes() {
    keepWindows()
    RecoveryNote.keepConfiguration(of: options, home)
  }

  /// Writes down how many windows are wanted, for the next coordinator if this one is killed.
  private func keepWindows() {
    guard guardianship?.isGuarded == true else { return }
    var windows: [Service: Int32] = [:]
    for service in Service.allCases {
      windows[service] = Int32(clamping: machine.numbers(of: service).windows)
    }
    WindowsRecord.keep(windows, at: home.windows)
  }

  /// Reads the configuration again and makes the windows follow it; what is wrong with it otherwise.
  private func reload() -> Failure? {
    let fresh: BankConfiguration
    let (assortment, products): (Assortment, ProductTable)
    do throws(Failure) {
      fresh = try options.configuration()
      (assortment, products) = (try readAssortment(), try readProducts())
    } catch {
      log.write(event: "reload_refused", level: .error, at: now) { $0.field("msg", error.detail) }
      return error
    }
    let changesOrders = fresh.tellerOrdersDiffer(from: configuration)
    configuration = fresh
    listenByLease()
    house.standstill = fresh.standstill
    guardianship?.adopt(fresh.standstill)
    machine.adopt(fresh.policy)
    staff.policy = fresh.restarts
    log.write(event: "reloaded", at: now)
    RecoveryNote.keepConfiguration(of: options, home)
    openWindows()
    perform()
    if changesOrders {
      for window in staff.posts.keys.sorted() {
        staff.posts[window]?.isOutdated = true
        happen(.replace(window))
      }
    }
    staff.retryGivenUp(at: now)
    renewHouse(assortment, products)
    house.retryFailing(at: now)
    return nil
  }

  /// SIGHUP asks for the same as the command, but for one thing: a signal comes from log rotations and service managers as
  /// well, and none of them has read what is wrong with a database.
  func reloadBySignal() {
    guard exitCode == nil else { return }
    takeTime()
    if reload() == nil { insistOnMismatches() }
  }

  /// Whoever waits until the windows are as they shall be is told when they are. This is looked at when the turn ends
  /// and not when a teller is heard: a window that was closed is gone only after its teller's end has been dealt with.
  private func tellWindowWaiters() {
    guard openingFailure == nil, !isOpen || !followers.windowWaiters.isEmpty, staff.isSettled,
      house.isSettled
    else { return }
    if !isOpen, ending == nil {
      isOpen = true
      staff.hasOpened = true
      log.write(event: "opened", at: now) { $0.field("day", machine.books.day) }
      guardianship?.opened(windows: staff.posts.count, day: machine.books.day)
    }
    let seats = followers.takeWindowWaiters()
    guard !seats.isEmpty else { return }
    let report = statusReport()
    for seat in seats { server.answer(seat.session, seat.number, .status(report)) }
  }

  /// A window was given up. A bank that has never opened ends; an open one goes on with the others.
  func windowGivenUp(_ window: Window, lastEnd: Remark) {
    let failure = Failure(.windowsFailed, subject: window.description, remark: lastEnd)
    let seats = followers.takeWindowWaiters()
    for seat in seats { server.answer(seat.session, seat.number, .failure(failure)) }
    guard !isOpen, openingFailure == nil else { return }
    openingFailure = failure
    staff.closeAll()
    staff.killAll()
    // Whoever started this process may not have asked yet: it is told when it does, if it does soon.
    if !seats.isEmpty || server.sessions.isEmpty {
      exitCode = 1
    } else {
      tellFailureUntil = now.monotonic + Self.failurePatience
    }
  }

  /// Answers whoever asks a bank that could not be opened, which was all that it was still there for. Who begins by
  /// following asks for something next.
  private func refuseOpening(_ failure: Failure, _ request: ControlRequest, _ session: ControlSession) {
    if case .follow = request.command { return }
    server.answer(session, request.number, .failure(failure))
    exitCode = 1
  }

  // MARK: - The end of a turn

  /// Tells everyone who waits or watches what has happened in this turn.
  func reportProgress() {
    tellWindowWaiters()
    tellViews()
    // Whoever begins to wait for tickets that have ended already is answered with those who have waited.
    answerReadings()
    followers.tickets.count(at: now.monotonic)
    if followers.tickets.owesAnEnd, !machine.isUnsettled, isKept { answerTicketWatches() }
    if !followers.idleWaiters.isEmpty, machine.isIdle, !machine.isUnsettled, intake.isEmpty {
      let report = statusReport()
      for seat in followers.takeIdleWaiters() { server.answer(seat.session, seat.number, .status(report)) }
    }
    pumpStreams()
    advanceEnding()
    tellEnding()
    hearCrowded()
  }

  private func answerTicketWatches() {
    for watch in followers.tickets.takeEnded() {
      server.answer(watch.seat.session, watch.seat.number, .ended(EndedReport(dead: max(0, watch.dead))))
    }
  }
}
