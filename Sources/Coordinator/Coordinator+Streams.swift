// Owns the long answers: lists of tickets and of receipts, page by page, as fast as the client reads them.
// It changes nothing. A page is made only while nothing is staged, so nothing is shown that is not on disk, and nobody
// who has left the queue.

import BankModel
import Posix
import QueueCore
import Transport
import Wire

extension Coordinator {
  /// Begins a long answer.
  func begin(_ stream: AnswerStream, _ seat: Followers.Seat) {
    seat.session.streams[seat.number] = stream
    streaming.insert(seat.session.id)
    seat.session.channel.onDrained = { [unowned self, weak session = seat.session] in
      guard let session else { return }
      streaming.insert(session.id)
    }
  }

  func beginReceipts(_ query: ReceiptQuery, _ seat: Followers.Seat) {
    let day: BusinessDay?
    switch query.days {
    case .present: day = keptBooks.day
    case .all: day = nil
    case .day(let number):
      guard (1...keptBooks.day).contains(number) else {
        let failure = Failure(
          .noSuchDay, subject: String(number), remark: Remark(.presentDay, keptBooks.day))
        return server.answer(seat.session, seat.number, .failure(failure))
      }
      day = number
    }
    if query.follow, !mayView(seat) { return }
    // A follower sees the receipts of the day on which it came, and of all days after it.
    begin(.receipts(day: day, after: max(0, query.after), follow: query.follow), seat)
  }

  /// Sends the next pages to everyone who has room for them.
  func pumpStreams() {
    if followers.committed {
      followers.committed = false
      for session in server.sessions.values where !session.streams.isEmpty { streaming.insert(session.id) }
    }
    guard !streaming.isEmpty, isKept, now.monotonic >= pumpDue else { return }
    let begin = SystemClock.moment().monotonic
    defer {
      let end = SystemClock.moment().monotonic
      // While customers are served the pages have an eighth of the time, however many are wanted.
      let rest = machine.serving > 0 ? end.since(begin).nanoseconds * Int64(ViewingTime.rest) : 0
      pumpDue = end + max(Self.roundPause, TimeSpan(nanoseconds: rest))
    }
    let until = MonotonicInstant(begin + ClientLimits.turn)
    let ready = streaming.sorted()
    streaming.removeAll()
    // Whoever was next when the time was up comes first now.
    let place = ready.firstIndex { $0 >= nextStream } ?? 0
    var isInTime = true
    for id in ready[place...] + ready[..<place] {
      guard SystemClock.monotonic() < until else {
        if isInTime { nextStream = id }
        isInTime = false
        streaming.insert(id)
        continue
      }
      guard let session = server.sessions[id] else { continue }
      // Nothing would ever be too much for a client that has gone and is still being read.
      if session.channel.isPeerDeaf { session.streams.removeAll() }
      for number in session.streams.keys.sorted() {
        pump(session, number, until: until)
        // One that does not read is not asked again for every one of its lists.
        if !session.isOpen || session.channel.backlog >= server.share { break }
      }
    }
  }

  private func pump(_ session: ControlSession, _ number: UInt32, until: MonotonicInstant) {
    while session.isOpen, let stream = session.streams[number] {
      guard SystemClock.monotonic() < until else {
        // The windows come first; the rest is made in the next turn.
        streaming.insert(session.id)
        return
      }
      guard session.channel.backlog < server.share else {
        // The rest is made when this has left; if the kernel takes it at once nobody says so.
        session.channel.flush()
        if session.isOpen, session.channel.backlog < server.share { streaming.insert(session.id) }
        return
      }
      do throws(StoreError) {
        switch stream {
        case .receipts(let day, let after, let follow):
          guard try sendReceipts(day, after, follow, session, number) else { return }
        case .tickets(let states, let cursor):
          try sendTickets(states, cursor, session, number)
        }
      } catch {
        session.streams[number] = nil
        readingFailed(error, Followers.Seat(session: session, number: number))
      }
    }
  }

  /// One page of receipts; false when there is nothing more for now.
  private func sendReceipts(
    _ day: BusinessDay?, _ after: Int64, _ follow: Bool, _ session: ControlSession, _ number: UInt32
  ) throws(StoreError) -> Bool {
    let page = try store.receipts(day: day, after: after, limit: AnswerStream.page)
    let isWhole = page.count < AnswerStream.page
    let more = follow || !isWhole
    if !page.isEmpty || !more {
      server.answer(session, number, .receipts(page.map { ReceiptReport($0) }), more: more)
    }
    session.streams[number] =
      more
      ? .receipts(day: follow && isWhole ? nil : day, after: page.last?.sequence ?? after, follow: follow)
      : nil
    return !isWhole
  }

  /// One page of customers.
  private func sendTickets(
    _ states: [CustomerState], _ cursor: TicketCursor?, _ session: ControlSession, _ number: UInt32
  ) throws(StoreError) {
    guard let state = states.first else {
      session.streams[number] = nil
      return server.answer(session, number, .tickets([]))
    }
    let day = keptBooks.day
    guard state != .serving else {
      let reports = machine.atWindows.map { entry in
        var report = TicketReport(
          StoredCustomer(customer: entry.customer, state: .serving, dueAt: nil), day: day, attempts: [])
        report.window = entry.window.description
        return report
      }
      server.answer(session, number, .tickets(reports), more: true)
      session.streams[number] = .tickets(states: Array(states.dropFirst()), cursor: nil)
      return
    }
    let page = try store.customers(in: state, after: cursor, limit: AnswerStream.page)
    let serving = Set(machine.atWindows.map(\.customer.ticket))
    let issued = keptBooks.issued
    let shown = page.filter { $0.customer.ticket <= issued && !serving.contains($0.customer.ticket) }
    if !shown.isEmpty {
      let reports = shown.map { TicketReport($0, day: day, attempts: []) }
      server.answer(session, number, .tickets(reports), more: true)
    }
    if page.count < AnswerStream.page {
      session.streams[number] = .tickets(states: Array(states.dropFirst()), cursor: nil)
    } else if let last = page.last {
      let next = TicketCursor(state: state, line: last.customer.line, after: last.customer.ticket)
      session.streams[number] = .tickets(states: states, cursor: next)
    }
  }
}
