// Answers to one client on descriptor 3 about a database: to queries that an open bank answers too, and to a request to
// move a database.
// The process inspects a closed bank, or reads a shared database for the coordinator's clients. It may block,
// because it serves no customers. It does not change the database; a move copies the data to a shared one.

import BankModel
import Posix
import QueueCore
import Time
import Wire

final class Inspector {
  private let loop: EventLoop
  private let server: ControlServer
  private let inspectedStore: any InspectedStore
  /// Moves the database of the home to another store, or refuses the move.
  private let executeMove: HomeMove.Handler
  /// Audits the services in the home of a branch; nil for a database in a home, and without a home.
  private let stock: StockAuditTask?
  /// Unanswered requests. They are answered outside of event handlers: a long answer runs the loop until its
  /// reader has room, which a handler must not do.
  private var pendingRequests: [(request: ControlRequest, session: ControlSession)] = []
  private var hasEnded = false

  init(
    _ inspectedStore: any InspectedStore, loop: EventLoop, server: ControlServer,
    stock: StockAuditTask? = nil,
    move: @escaping HomeMove.Handler
  ) {
    self.inspectedStore = inspectedStore
    (executeMove, self.stock) = (move, stock)
    self.loop = loop
    self.server = server
  }

  private var store: any QueueReader { inspectedStore.reading }

  /// Serves the client until it has disconnected.
  func run() throws(SystemError) {
    server.onCommand = { [unowned self] session, request in
      pendingRequests.append((request, session))
      // One request at a time: the client is read again after its answer.
      session.channel.pauseReading()
    }
    server.onEnd = { [unowned self] _ in hasEnded = true }
    while !hasEnded {
      try loop.runOnce(until: server.nextJudgement.map { loop.wakeTime(for: $0) })
      server.runTimers(loop.moment())
      answerAll()
      server.flush()
    }
  }

  /// Answers the received requests, in order of arrival.
  private func answerAll() {
    while !pendingRequests.isEmpty {
      let (request, session) = pendingRequests.removeFirst()
      serve(request, RequestHandle(session: session, number: request.number))
      // This call delivers the messages that were held back, before it returns.
      session.channel.resumeReading()
    }
  }

  /// Answers one request, with a failure if the store cannot be read.
  private func serve(_ request: ControlRequest, _ requester: RequestHandle) {
    do throws(StoreError) {
      switch request.command {
      case .receipts(let query):
        try sendReceipts(query, try inspectedStore.refresh(), requester, onePart: request.onePart == true)
      case .tickets(let query): try sendTickets(query, try inspectedStore.refresh(), requester)
      case .ticket(let ticket, let day):
        let numbers = try inspectedStore.refresh()
        let archive = TicketHistoryReader(
          store: store, bankID: numbers.name, presentDay: numbers.presentDay, issued: numbers.issued)
        do throws(Failure) {
          server.answer(requester, .ticket(try archive.history(of: ticket, day: day)), from: .read)
        } catch {
          server.answer(requester, .failure(error))
        }
      case .ledger: server.answer(requester, try store.ledgerAnswer(), from: .read)
      case .account(let number):
        _ = try inspectedStore.refresh()
        server.answer(requester, try store.accountAnswer(number), from: .read)
      case .awaitTickets(let day, let first, let last):
        server.answer(
          requester, try left(of: first...max(first, last), on: day, try inspectedStore.refresh()),
          from: .read)
      case .audit:
        guard var report = try inspectedStore.audit() else {
          return server.answer(requester, .failure(Failure(.alreadyOpen)))
        }
        try stock?.audit(inspectedStore, into: &report)
        server.answer(requester, .audit(report), from: .read)
      case .move(let order): move(order, requester)
      default: server.answer(requester, .failure(Failure(.notOpen)))
      }
    } catch { server.answer(requester, .failure(Failure(store: error))) }
  }

  /// Returns `progress` if some of the tickets are unfinished, and `ended` if none is. On a day other than the
  /// present one all tickets count as finished.
  private func left(
    of tickets: ClosedRange<TicketNumber>, on day: BusinessDay, _ numbers: InspectedState
  ) throws(StoreError) -> ControlAnswer {
    let left = day == numbers.presentDay ? try store.countUnfinished(tickets) : 0
    guard left > 0 else {
      let dead = day == numbers.presentDay ? try store.countDead(tickets) : 0
      return .ended(AwaitedTicketsReport(dead: dead, counting: try store.countCancelled(tickets, on: day)))
    }
    let total = tickets.upperBound - tickets.lowerBound + 1
    return .progress(ProgressReport(phase: .serving, done: max(0, total - left), total: total))
  }

  /// Moves the database and sends progress reports. The move is cancelled if the client disconnects or closes its
  /// reading side.
  private func move(_ order: MoveParameters, _ requester: RequestHandle) {
    do {
      let report = try executeMove(order) { [unowned self] progress in
        server.answer(requester, .progress(progress), more: true)
        server.flush()
        return isHeard(requester)
      }
      server.answer(requester, .moved(report))
    } catch {
      let failure = (error as? StoreError).map { Failure(store: $0) } ?? Failure(.system, detail: "\(error)")
      server.answer(requester, .failure(error as? Failure ?? failure))
    }
  }

  /// Sends the receipts that match a query, in parts, or one part of them.
  private func sendReceipts(
    _ query: ReceiptQuery, _ numbers: InspectedState, _ requester: RequestHandle, onePart: Bool
  ) throws(StoreError) {
    let presentDay = numbers.presentDay
    var day: BusinessDay?
    switch query.days {
    case .present: day = presentDay
    case .all: day = nil
    case .day(let chosen):
      guard (1...presentDay).contains(chosen) else {
        let failure = Failure(
          .noSuchDay, subject: String(chosen), messageDetail: MessageDetail(.lastDay, presentDay))
        return server.answer(requester, .failure(failure))
      }
      day = chosen
    }
    var after = max(0, query.after)
    var left: Int64?
    let service: Service?
    do throws(Failure) {
      left = try ResultStreams.bound(query.limit)
      service = try self.service(query.service)
      if query.follow, left != nil { throw Failure(.badRequest, detail: "a limit conflicts with follow") }
      if (query.positions?.count ?? 0) > ReceiptQuery.positionsAtMost {
        throw Failure(.badRequest, detail: "marks")
      }
    } catch { return server.answer(requester, .failure(error)) }
    if query.follow,
      try sendToFollower(query, numbers, from: day ?? 1, of: service, requester, onePart: onePart)
    {
      return
    }
    while isHeard(requester) {
      let page = try store.receipts(day: day, after: after, limit: ResultStream.page)
      let shown = page.first(left, of: service)
      left = left.map { $0 - Int64(shown.count) }
      let more = left != 0 && page.mayHaveMore(limit: ResultStream.page)
      // For a single part the client continues after the last receipt that it received, so an empty part is
      // skipped.
      if onePart, more, shown.isEmpty, let last = page.last {
        after = last.sequence
        continue
      }
      let reports = shown.map { ReceiptReport($0, store.services, key: numbers.name.key(of: $0)) }
      server.answer(requester, .receipts(reports), from: .read, more: more)
      guard more, !onePart, let last = page.last else { return }
      after = last.sequence
      try waitForReader(requester.session)
    }
  }

  /// Sends the receipts of all branches up to now, or one part of them. Returns false if the database has no
  /// branches.
  private func sendToFollower(
    _ query: ReceiptQuery, _ numbers: InspectedState, from day: BusinessDay, of service: Service?,
    _ requester: RequestHandle, onePart: Bool
  ) throws(StoreError) -> Bool {
    var query = query
    while isHeard(requester) {
      guard
        let page = try inspectedStore.receipts(
          from: day, behind: query.positions ?? [], of: service, limit: ResultStream.page)
      else { return false }
      let reports = page.entries.map {
        ReceiptReport($0.receipt, store.services, key: numbers.name.key(of: $0.receipt), mark: $0.mark)
      }
      server.answer(requester, .receipts(reports), from: .read, more: !page.isComplete)
      guard !page.isComplete, !onePart else { break }
      for report in reports { query.advance(past: report) }
      try waitForReader(requester.session)
    }
    return true
  }

  /// Service with this name; nil for nil. Throws `noSuchService` if the database has no such service.
  private func service(_ name: ServiceName?) throws(Failure) -> Service? {
    guard let name else { return nil }
    guard let service = store.services[name] else { throw Failure(.noSuchService, subject: name.text) }
    return service
  }

  /// Sends customers by number, up to the limit of the query.
  private func sendNumbered(
    _ query: TicketQuery, _ states: [CustomerState], day: BusinessDay, _ requester: RequestHandle
  ) throws(StoreError) {
    let limit: Int64?
    let service: Service?
    do throws(Failure) {
      limit = try ResultStreams.bound(query.limit)
      service = try self.service(query.service)
    } catch { return server.answer(requester, .failure(error)) }
    var (after, left) = (max(0, query.after ?? 0), limit ?? .max)
    while isHeard(requester) {
      let page = Int(min(left, Int64(ResultStream.page)))
      let found = try store.customersByNumber(in: states, of: service, after: after, limit: page)
      left -= Int64(found.count)
      let more = found.count == page && left > 0
      server.answer(
        requester, .tickets(try store.listed(found, store.services, day: day)), from: .read, more: more)
      guard more, let last = found.last else { return }
      after = last.customer.ticket
      try waitForReader(requester.session)
    }
  }

  /// Sends the unfinished customers that match a query, in parts.
  private func sendTickets(
    _ query: TicketQuery, _ numbers: InspectedState, _ requester: RequestHandle
  ) throws(StoreError) {
    let kept: [CustomerState] = [.waiting, .delayed, .dead]
    let states = (query.state.map { [$0] } ?? kept).filter(kept.contains)
    if query.isByNumber { return try sendNumbered(query, states, day: numbers.presentDay, requester) }
    for state in states {
      var cursor: TicketCursor?
      while isHeard(requester) {
        let page = try store.customers(in: state, after: cursor, limit: ResultStream.page)
        let reports = try store.listed(page, store.services, day: numbers.presentDay)
        if !reports.isEmpty { server.answer(requester, .tickets(reports), from: .read, more: true) }
        guard page.count == ResultStream.page, let last = page.last else { break }
        cursor = TicketCursor(state: state, line: last.customer.line, after: last.customer.ticket)
        try waitForReader(requester.session)
      }
    }
    server.answer(requester, .tickets([]), from: .read)
  }

  /// True if the client can still receive answers.
  private func isHeard(_ requester: RequestHandle) -> Bool {
    requester.session.isOpen && !requester.session.channel.isPeerReadClosed
  }

  /// Waits until the client has read enough.
  private func waitForReader(_ session: ControlSession) throws(StoreError) {
    server.flush()
    while session.isOpen, session.channel.backlog > server.share {
      do throws(SystemError) { try loop.runOnce(until: nil) } catch {
        throw StoreError.failed(path: "descriptor 3", detail: MessageDetail(quoting: error.description))
      }
    }
  }
}
