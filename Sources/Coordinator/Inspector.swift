// Owns the answers about a bank that is not open: the same questions, asked of the database alone, by one client on
// descriptor 3. It holds the lock of the home, so that no coordinator opens the bank meanwhile, and changes nothing.

import BankModel
import Glibc
import Posix
import QueueCore
import Storage
import Time
import Wire

final class Inspector {
  private let home: BankHome
  private let loop: EventLoop
  private let server: ControlServer
  private let store: SQLiteStore
  private let booksName: BooksName
  /// The day that is meant where none is named: the last one on which the bank was open.
  private let presentDay: BusinessDay
  private let issued: TicketNumber
  /// The day that comes next, or has begun.
  private let day: BusinessDay
  /// What was asked and is not answered. It is answered between the turns of the loop: a long answer lets the loop turn
  /// until its reader has room, which no handler may.
  private var asked: [(request: ControlRequest, session: ControlSession)] = []
  private var hasEnded = false

  init(
    home: BankHome, loop: EventLoop, server: ControlServer, store: SQLiteStore, booksName: BooksName,
    now: WallTime
  ) throws(StoreError) {
    self.home = home
    self.loop = loop
    self.server = server
    self.store = store
    self.booksName = booksName
    let books = try store.load(now: now).books
    day = books.day
    let isUnopened = books.issued == 0 && books.day > 1
    presentDay = isUnopened ? books.day - 1 : books.day
    issued = isUnopened ? Limits.ticket : books.issued
  }

  func run() throws(SystemError) {
    server.onCommand = { [unowned self] session, request in
      asked.append((request, session))
      // One at a time: a client that asks for more is heard when it has its answer.
      session.channel.pauseReading()
    }
    server.onEnd = { [unowned self] _ in hasEnded = true }
    while !hasEnded {
      try loop.runOnce(until: server.nextJudgement.map { loop.wake(for: $0) })
      server.keepTime(loop.moment())
      answerAll()
      server.flush()
    }
  }

  private func answerAll() {
    while !asked.isEmpty {
      let (request, session) = asked.removeFirst()
      serve(request.command, Seat(session: session, number: request.number))
      // What was held back is delivered before this returns.
      session.channel.resumeReading()
    }
  }

  private func serve(_ command: ControlCommand, _ seat: Seat) {
    do throws(StoreError) {
      switch command {
      case .receipts(let query): try tellReceipts(query, seat)
      case .tickets(let query): try tellTickets(query, seat)
      case .ticket(let ticket, let day):
        let archive = TicketArchive(
          store: store, booksName: booksName, presentDay: presentDay, issued: issued)
        do throws(Failure) { server.answer(seat, .ticket(try archive.story(of: ticket, day: day))) } catch {
          server.answer(seat, .failure(error))
        }
      case .ledger: server.answer(seat, try store.ledgerAnswer())
      case .account(let number): server.answer(seat, try store.accountAnswer(number))
      case .audit: server.answer(seat, try audit().map { .audit($0) } ?? .failure(Failure(.alreadyOpen)))
      default: server.answer(seat, .failure(Failure(.notOpen)))
      }
    } catch { server.answer(seat, .failure(Failure(store: error))) }
  }

  /// Nobody else is waiting, so a stranger who may just be ending is waited for. One who may just be opening the bank
  /// waits for this process to leave, so it leaves at once: nil.
  private func audit() throws(StoreError) -> AuditReport? {
    let outside = HomeAudit(home: home)
    var strangers = outside.strangers(known: [CurrentProcess.pid])
    if strangers.contains(where: \.mayBeOpening) { return nil }
    var looks = 0
    while !strangers.isEmpty, !HomeAudit.areToStay(strangers, after: looks) {
      _ = poll(nil, 0, CInt(clamping: HomeAudit.nextLook.milliseconds))
      looks += 1
      let present = outside.strangers(known: [CurrentProcess.pid])
      if present.contains(where: \.mayBeOpening) { return nil }
      strangers.formIntersection(present)
    }
    var report = AuditReport(try store.audit())
    report.add(HomeAudit.remarks(on: strangers) + outside.permissions())
    let services = ServiceInspection(home: home, day: day, books: booksName, bank: store)
    try services.auditStock(into: &report)
    try services.auditMachine(into: &report)
    return report
  }

  private func tellReceipts(_ query: ReceiptQuery, _ seat: Seat) throws(StoreError) {
    var day: BusinessDay?
    switch query.days {
    case .present: day = presentDay
    case .all: day = nil
    case .day(let chosen):
      guard (1...presentDay).contains(chosen) else {
        let failure = Failure(.noSuchDay, subject: String(chosen), remark: Remark(.lastDay, presentDay))
        return server.answer(seat, .failure(failure))
      }
      day = chosen
    }
    var after = max(0, query.after)
    var left: Int64?
    let service: Service?
    do throws(Failure) {
      left = try AnswerStreams.bound(query.limit)
      service = try self.service(query.service)
    } catch { return server.answer(seat, .failure(error)) }
    while isHeard(seat) {
      let page = try store.receipts(day: day, after: after, limit: AnswerStream.page)
      let shown = page.first(left, of: service)
      left = left.map { $0 - Int64(shown.count) }
      let more = left != 0 && page.mayGoOn(limit: AnswerStream.page)
      server.answer(seat, .receipts(shown.map { ReceiptReport($0, store.services) }), more: more)
      guard more, let last = page.last else { return }
      after = last.sequence
      try waitForReader(seat.session)
    }
  }

  /// A service that the books know.
  private func service(_ name: ServiceName?) throws(Failure) -> Service? {
    guard let name else { return nil }
    guard let service = store.services[name] else { throw Failure(.noSuchService, subject: name.text) }
    return service
  }

  /// Customers by number: as many as may be asked for are one answer.
  private func tellNumbered(_ query: TicketQuery, _ states: [CustomerState], _ seat: Seat) throws(StoreError)
  {
    let limit: Int64?
    let service: Service?
    do throws(Failure) {
      limit = try AnswerStreams.bound(query.limit)
      service = try self.service(query.service)
    } catch { return server.answer(seat, .failure(error)) }
    var (after, left) = (max(0, query.after ?? 0), limit ?? .max)
    while isHeard(seat) {
      let page = Int(min(left, Int64(AnswerStream.page)))
      let found = try store.customersByNumber(in: states, of: service, after: after, limit: page)
      left -= Int64(found.count)
      let more = found.count == page && left > 0
      server.answer(seat, .tickets(try store.listed(found, store.services, day: presentDay)), more: more)
      guard more, let last = found.last else { return }
      after = last.customer.ticket
      try waitForReader(seat.session)
    }
  }

  private func tellTickets(_ query: TicketQuery, _ seat: Seat) throws(StoreError) {
    let kept: [CustomerState] = [.waiting, .delayed, .dead]
    let states = (query.state.map { [$0] } ?? kept).filter(kept.contains)
    if query.isByNumber { return try tellNumbered(query, states, seat) }
    for state in states {
      var cursor: TicketCursor?
      while isHeard(seat) {
        let page = try store.customers(in: state, after: cursor, limit: AnswerStream.page)
        let reports = try store.listed(page, store.services, day: presentDay)
        if !reports.isEmpty { server.answer(seat, .tickets(reports), more: true) }
        guard page.count == AnswerStream.page, let last = page.last else { break }
        cursor = TicketCursor(state: state, line: last.customer.line, after: last.customer.ticket)
        try waitForReader(seat.session)
      }
    }
    server.answer(seat, .tickets([]))
  }

  /// Whether the client is still there to read an answer.
  private func isHeard(_ seat: Seat) -> Bool { seat.session.isOpen && !seat.session.channel.isPeerDeaf }

  /// Nobody else is waiting, so a slow reader may be waited for.
  private func waitForReader(_ session: ControlSession) throws(StoreError) {
    server.flush()
    while session.isOpen, session.channel.backlog > server.share {
      do throws(SystemError) { try loop.runOnce(until: nil) } catch {
        throw StoreError.failed(path: "descriptor 3", detail: Remark(quoting: error.description))
      }
    }
  }
}
