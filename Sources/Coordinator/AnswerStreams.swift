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
  /// Receipts; with `follows` it goes on with those still to come.
  case receipts(ReceiptStream)
  /// Customers of several states, one state after the other.
  case tickets(states: [CustomerState], cursor: TicketCursor?)
  /// Customers of several states in the order of their numbers.
  case numbered(NumberedTickets)

  var isFollowing: Bool { if case .receipts(let stream) = self { stream.follows } else { false } }

  /// Entries on one page.
  static let page = 500
}

/// What is left of an answer of receipts.
struct ReceiptStream {
  var day: BusinessDay?
  /// Behind this place in the order of commits.
  var after: Int64
  var follows: Bool
  /// Of one service; nil for all.
  var service: Service?
  /// So many at most; nil for all.
  var left: Int64?
}

/// What is left of an answer of customers by number.
struct NumberedTickets {
  var states: [CustomerState]
  var service: Service?
  var after: TicketNumber
  /// So many at most.
  var left: Int64
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
    do throws(Failure) {
      let left = try Self.bound(query.limit)
      if query.follow, left != nil { throw Failure(.badRequest, detail: "a limit, and no end") }
      let service = try service(query.service)
      if query.follow, !server.mayView(seat) { return }
      // A follower sees the receipts of the day on which it came, and of all days after it.
      begin(
        .receipts(
          ReceiptStream(
            day: day, after: max(0, query.after), follows: query.follow, service: service, left: left)), seat)
    } catch { server.answer(seat, .failure(error)) }
  }

  /// Begins a list of customers, or says why there is none.
  func beginTickets(_ query: TicketQuery, _ seat: Seat) {
    let states = query.state.map { [$0] } ?? Self.listedStates
    guard query.isByNumber else { return begin(.tickets(states: states, cursor: nil), seat) }
    do throws(Failure) {
      let left = try Self.bound(query.limit) ?? .max
      let after = min(max(0, query.after ?? 0), BankModel.Limits.ticket)
      begin(
        .numbered(
          NumberedTickets(states: states, service: try service(query.service), after: after, left: left)),
        seat)
    } catch { server.answer(seat, .failure(error)) }
  }

  /// The states that a list without a choice shows, in this order.
  private static let listedStates: [CustomerState] = [.serving, .waiting, .delayed, .dead]

  private func service(_ name: ServiceName?) throws(Failure) -> Service? {
    guard let name else { return nil }
    return try context.services.known(name)
  }

  /// How many are wanted at most; nil where all are.
  static func bound(_ limit: Int64?) throws(Failure) -> Int64? {
    if let limit, !(1...TicketQuery.limitAtMost).contains(limit) {
      throw Failure(.badRequest, detail: "a limit of 1 to \(TicketQuery.limitAtMost)")
    }
    return limit
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
        case .receipts(let stream): guard try sendReceipts(stream, seat) else { return }
        case .numbered(let stream): try sendNumbered(stream, seat)
        case .tickets(let states, let cursor): try sendTickets(states, cursor, seat)
        }
      } catch {
        session.streams[number] = nil
        readings.failed(error, seat)
      }
    }
  }

  /// One page of receipts; false when there is nothing more for now.
  private func sendReceipts(_ stream: ReceiptStream, _ seat: Seat) throws(StoreError) -> Bool {
    let directory = context.services.directory
    let page = try store.receipts(day: stream.day, after: stream.after, limit: AnswerStream.page)
    let shown = page.first(stream.left, of: stream.service)
    var next = stream
    next.left = stream.left.map { $0 - Int64(shown.count) }
    let isWhole = next.left == 0 || !page.mayGoOn(limit: AnswerStream.page)
    let more = stream.follows || !isWhole
    if !shown.isEmpty || !more {
      let reports = shown.map { ReceiptReport($0, directory, key: context.booksName.key(of: $0)) }
      server.answer(seat, .receipts(reports), more: more)
    }
    if stream.follows, isWhole { next.day = nil }
    next.after = page.last?.sequence ?? stream.after
    seat.session.streams[seat.number] = more ? .receipts(next) : nil
    return !isWhole
  }

  /// One page of customers by number.
  private func sendNumbered(_ stream: NumberedTickets, _ seat: Seat) throws(StoreError) {
    let (day, issued) = (queue.engine.keptBooks.day, queue.engine.keptBooks.issued)
    let directory = context.services.directory
    let limit = Int(min(stream.left, Int64(AnswerStream.page)))
    let atWindows = queue.machine.atWindows
    let serving = Set(atWindows.map(\.customer.ticket))
    let found = try store.customersByNumber(
      in: stream.states, of: stream.service, after: stream.after, limit: limit,
      where: { $0.ticket <= issued && !serving.contains($0.ticket) })
    var reports = try store.listed(found, directory, day: day)
    if stream.states.contains(.serving) {
      for entry in atWindows
      where entry.customer.ticket > stream.after
        && (stream.service == nil || entry.customer.service == stream.service)
      {
        reports.append(TicketReport(at: entry, directory, day: day))
      }
      reports.sort { $0.ticket < $1.ticket }
    }
    let page = Array(reports.prefix(limit))
    var next = stream
    next.left -= Int64(page.count)
    next.after = page.last?.ticket ?? stream.after
    let more = page.count == limit && next.left > 0
    server.answer(seat, .tickets(page), more: more)
    seat.session.streams[seat.number] = more ? .numbered(next) : nil
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
      let reports = queue.machine.atWindows.map { TicketReport(at: $0, directory, day: day) }
      server.answer(seat, .tickets(reports), more: true)
      return seat.session.streams[seat.number] = rest
    }
    let page = try store.customers(in: state, after: cursor, limit: AnswerStream.page)
    let serving = Set(queue.machine.atWindows.map(\.customer.ticket))
    let issued = queue.engine.keptBooks.issued
    let shown = page.filter { $0.customer.ticket <= issued && !serving.contains($0.customer.ticket) }
    if !shown.isEmpty {
      server.answer(seat, .tickets(try store.listed(shown, directory, day: day)), more: true)
    }
    guard page.count == AnswerStream.page, let last = page.last?.customer else {
      return seat.session.streams[seat.number] = rest
    }
    let next = TicketCursor(state: state, line: last.line, after: last.ticket)
    seat.session.streams[seat.number] = .tickets(states: states, cursor: next)
  }
}

extension TicketReport {
  /// Somebody at a window.
  fileprivate init(at entry: QueueMachine.AtWindow, _ directory: ServiceDirectory, day: BusinessDay) {
    self.init(
      StoredCustomer(customer: entry.customer, state: .serving, dueAt: nil), directory, day: day, attempts: []
    )
    window = directory.name(of: entry.window)
    if entry.customer.attempts > 0 { tried = entry.customer.attempts }
  }
}

extension [Receipt] {
  /// Those of a service, or all, and so many at most.
  func first(_ limit: Int64?, of service: Service?) -> [Receipt] {
    let chosen = service == nil ? self : filter { $0.service == service }
    return Array(chosen.prefix(Int(Swift.min(limit ?? .max, Int64(chosen.count)))))
  }
}
