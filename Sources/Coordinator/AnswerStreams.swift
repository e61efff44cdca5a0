// Owns the long answers: lists of tickets and of receipts, page by page, as fast as the client reads them; and what of the
// coordinator's time they get. It changes nothing. Invariant: a page is made only while nothing is staged, so nothing is
// shown that is not on disk, and nobody who has left the queue; and every client gets its turn, in the order of their ids.

import BankModel
import Posix
import QueueCore
import Time
import Transport
import Wire

/// A long answer. A slow reader holds nothing up, because the next page is only made when the one before has left.
enum AnswerStream {
  /// Receipts behind a place in the order of commits; with `follow` it goes on with those still to come.
  case receipts(day: BusinessDay?, after: Int64, follow: Bool)
  /// Customers of several states, one state after the other.
  case tickets(states: [CustomerState], cursor: TicketCursor?)

  var isFollowing: Bool { if case .receipts(_, _, true) = self { true } else { false } }

  /// Entries on one page.
  static let page = 500
}

final class AnswerStreams: BankPart {
  private let readings: Readings
  /// Clients whose long answers can go on.
  private var ready: Set<UInt64> = []
  /// Before this the next pages are not made.
  private var due = MonotonicTime(nanoseconds: 0)
  /// Whose pages come first then.
  private var next: UInt64 = 0
  /// A commit has come, so there may be new receipts.
  private var hasNews = false

  init(_ ground: BankPart, _ readings: Readings) {
    self.readings = readings
    super.init(ground)
    server.onDrained = { [unowned self] session in
      if !session.streams.isEmpty { ready.insert(session.id) }
    }
  }

  /// Whether a page is to be made now, where nothing is staged.
  var isDue: Bool { !ready.isEmpty && due <= context.now.monotonic }
  /// When the next page is to be made; nil where nobody waits for one.
  var nextDeadline: MonotonicTime? { !ready.isEmpty && queue.engine.isKept ? due : nil }
  func noteCommit() { hasNews = true }

  func begin(_ stream: AnswerStream, _ seat: Seat) {
    seat.session.streams[seat.number] = stream
    ready.insert(seat.session.id)
  }

  /// Begins an answer of receipts, or says why there is none.
  func beginReceipts(_ query: ReceiptQuery, _ seat: Seat) {
    let presentDay = queue.engine.keptBooks.day
    let day: BusinessDay?
    switch query.days {
    case .present: day = presentDay
    case .all: day = nil
    case .day(let number):
      guard (1...presentDay).contains(number) else {
        let failure = Failure(.noSuchDay, subject: String(number), remark: Remark(.presentDay, presentDay))
        return server.answer(seat, .failure(failure))
      }
      day = number
    }
    if query.follow, !server.mayView(seat) { return }
    // A follower sees the receipts of the day on which it came, and of all days after it.
    begin(.receipts(day: day, after: max(0, query.after), follow: query.follow), seat)
  }

  func pump() {
    if hasNews {
      hasNews = false
      for session in server.sessions.values where !session.streams.isEmpty { ready.insert(session.id) }
    }
    guard isDue, queue.engine.isKept else { return }
    let begin = SystemClock.monotonic()
    defer {
      let end = SystemClock.monotonic()
      // While customers are served the pages have an eighth of the time, however many are wanted.
      let rest = queue.machine.serving > 0 ? end.since(begin) * ViewingTime.rest : .zero
      due = end + max(Coordinator.roundPause, rest)
    }
    let until = begin + ClientLimits.turn
    let clients = ready.sorted()
    ready.removeAll()
    // Whoever was next when the time was up comes first now.
    let place = clients.firstIndex { $0 >= next } ?? 0
    var isInTime = true
    for id in clients[place...] + clients[..<place] {
      guard SystemClock.monotonic() < until else {
        if isInTime { next = id }
        isInTime = false
        ready.insert(id)
        continue
      }
      guard let session = server.sessions[id] else { continue }
      // Nothing would ever be too much for a client that has gone and is still being read.
      if session.channel.isPeerDeaf { session.streams.removeAll() }
      for number in session.streams.keys.sorted() {
        pump(Seat(session: session, number: number), until: until)
        // One that does not read is not asked again for every one of its lists.
        if !session.isOpen || session.channel.backlog >= server.share { break }
      }
    }
  }

  /// The bank ends: the last receipts are sent while there is a store to read them from, and nothing goes on after them.
  func endAll() {
    hasNews = true
    due = context.now.monotonic
    pump()
    for session in server.sessions.values { session.streams.removeAll() }
  }

  private func pump(_ seat: Seat, until: MonotonicTime) {
    let (session, number) = (seat.session, seat.number)
    while session.isOpen, let stream = session.streams[number] {
      guard SystemClock.monotonic() < until else {
        // The windows come first; the rest is made in the next turn.
        ready.insert(session.id)
        return
      }
      guard session.channel.backlog < server.share else {
        // The rest is made when this has left; if the kernel takes it at once nobody says so.
        session.channel.flush()
        if session.isOpen, session.channel.backlog < server.share { ready.insert(session.id) }
        return
      }
      do throws(StoreError) {
        switch stream {
        case .receipts(let day, let after, let follow):
          guard try sendReceipts(day, after, follow, seat) else { return }
        case .tickets(let states, let cursor): try sendTickets(states, cursor, seat)
        }
      } catch {
        session.streams[number] = nil
        readings.failed(error, seat)
      }
    }
  }

  /// One page of receipts; false when there is nothing more for now.
  private func sendReceipts(
    _ day: BusinessDay?, _ after: Int64, _ follow: Bool, _ seat: Seat
  ) throws(StoreError) -> Bool {
    let directory = context.services.directory
    let page = try store.receipts(day: day, after: after, limit: AnswerStream.page)
    let isWhole = !page.mayGoOn(limit: AnswerStream.page)
    let more = follow || !isWhole
    if !page.isEmpty || !more {
      server.answer(seat, .receipts(page.map { ReceiptReport($0, directory) }), more: more)
    }
    let next = AnswerStream.receipts(
      day: follow && isWhole ? nil : day, after: page.last?.sequence ?? after, follow: follow)
    seat.session.streams[seat.number] = more ? next : nil
    return !isWhole
  }

  private func sendTickets(
    _ states: [CustomerState], _ cursor: TicketCursor?, _ seat: Seat
  ) throws(StoreError) {
    guard let state = states.first else {
      seat.session.streams[seat.number] = nil
      return server.answer(seat, .tickets([]))
    }
    let day = queue.engine.keptBooks.day
    let directory = context.services.directory
    let rest = AnswerStream.tickets(states: Array(states.dropFirst()), cursor: nil)
    guard state != .serving else {
      let reports = queue.machine.atWindows.map { entry in
        var report = TicketReport(
          StoredCustomer(customer: entry.customer, state: .serving, dueAt: nil), directory, day: day,
          attempts: [])
        report.window = directory.name(of: entry.window)
        return report
      }
      server.answer(seat, .tickets(reports), more: true)
      return seat.session.streams[seat.number] = rest
    }
    let page = try store.customers(in: state, after: cursor, limit: AnswerStream.page)
    let serving = Set(queue.machine.atWindows.map(\.customer.ticket))
    let issued = queue.engine.keptBooks.issued
    let shown = page.filter { $0.customer.ticket <= issued && !serving.contains($0.customer.ticket) }
    if !shown.isEmpty {
      server.answer(
        seat, .tickets(shown.map { TicketReport($0, directory, day: day, attempts: []) }), more: true)
    }
    guard page.count == AnswerStream.page, let last = page.last?.customer else {
      return seat.session.streams[seat.number] = rest
    }
    let next = TicketCursor(state: state, line: last.line, after: last.ticket)
    seat.session.streams[seat.number] = .tickets(states: states, cursor: next)
  }
}
