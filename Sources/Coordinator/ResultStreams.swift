// Long answers: lists of tickets and receipts, sent part by part as fast as the client reads, in a limited fraction of
// the coordinator's time.
// Invariant: a part is made only while nothing is staged or in flight, so it contains only what is on disk, and no
// customer that has left the queue.

import BankModel
import Posix
import QueueCore
import Time
import Transport
import Wire

/// Long answer. A client that reads slowly delays no other work: a part is made only while fewer than
/// `ClientServer.share` bytes of the client's output are unsent.
enum ResultStream {
  /// Receipts, including future receipts if `follows` is true.
  case receipts(ReceiptStream)
  /// Customers of several states, one state after the other.
  case tickets(states: [CustomerState], cursor: TicketCursor?)
  /// Customers of several states by ticket number.
  case numbered(NumberedTickets)

  /// True if the answer has no end, because it includes future receipts.
  var isFollowing: Bool { if case .receipts(let stream) = self { stream.follows } else { false } }

  /// Entries per part.
  static let page = 500
}

/// Remaining part of an answer with receipts.
struct ReceiptStream {
  var day: BusinessDay?
  /// The remaining receipts start after this position in the order of commits.
  var after: Int64
  var follows: Bool
  /// Service filter; nil for all.
  var service: Service?
  /// Largest number of further entries; nil for all.
  var left: Int64?
}

/// Remaining part of an answer with customers by number.
struct NumberedTickets {
  /// States of the customers in the list.
  var states: [CustomerState]
  var service: Service?
  /// The remaining customers have higher numbers than this one.
  var after: TicketNumber
  var left: Int64
}

final class ResultStreams: CoordinatorComponent {
  private let durableReads: DurableReads
  /// Clients whose long answers can continue.
  private var ready: Set<UInt64> = []
  /// Time before which no more parts are made.
  private var due = MonotonicTime(nanoseconds: 0)
  /// The next call of `pump()` starts with the client that has this id, or with the first one after it.
  private var next: UInt64 = 0
  /// True after a commit, because there may be new receipts.
  private var hasNewReceipts = false

  init(_ dependencies: CoordinatorComponent, _ durableReads: DurableReads) {
    self.durableReads = durableReads
    super.init(dependencies)
    server.onDrained = { [unowned self] session in
      if !session.streams.isEmpty { ready.insert(session.id) }
    }
  }

  /// True if a part is to be made now, provided that nothing is staged or in flight.
  var isDue: Bool { !ready.isEmpty && due <= context.now.monotonic }
  /// Time of the next part; nil if no client waits for one, or while changes are staged or in flight.
  var nextDeadline: MonotonicTime? { !ready.isEmpty && queue.engine.isDurable ? due : nil }
  /// Records that a commit may have added receipts.
  func noteCommit() { hasNewReceipts = true }

  func begin(_ stream: ResultStream, _ requester: RequestHandle) {
    requester.session.streams[requester.number] = stream
    ready.insert(requester.session.id)
  }

  /// Starts an answer with receipts, or refuses it.
  func beginReceipts(_ query: ReceiptQuery, _ requester: RequestHandle) {
    let presentDay = queue.engine.durableCounters.day
    let day: BusinessDay?
    switch query.days {
    case .present: day = presentDay
    case .all: day = nil
    case .day(let number):
      guard (1...presentDay).contains(number) else {
        let failure = Failure(
          .noSuchDay, subject: String(number), messageDetail: MessageDetail(.presentDay, presentDay))
        return server.answer(requester, .failure(failure))
      }
      day = number
    }
    do throws(Failure) {
      let left = try Self.bound(query.limit)
      if query.follow, left != nil { throw Failure(.badRequest, detail: "a limit conflicts with follow") }
      let service = try service(query.service)
      if query.follow, !server.maySubscribe(requester) { return }
      // A follower receives the receipts of the requested days, and then all later ones.
      begin(
        .receipts(
          ReceiptStream(
            day: day, after: max(0, query.after), follows: query.follow, service: service, left: left)),
        requester)
    } catch { server.answer(requester, .failure(error)) }
  }

  /// Starts a list of customers, or refuses it.
  func beginTickets(_ query: TicketQuery, _ requester: RequestHandle) {
    let states = query.state.map { [$0] } ?? Self.listedStates
    guard query.isByNumber else { return begin(.tickets(states: states, cursor: nil), requester) }
    do throws(Failure) {
      let left = try Self.bound(query.limit) ?? .max
      let after = min(max(0, query.after ?? 0), BankModel.Limits.ticket)
      begin(
        .numbered(
          NumberedTickets(states: states, service: try service(query.service), after: after, left: left)),
        requester)
    } catch { server.answer(requester, .failure(error)) }
  }

  /// States in a list without a state filter, in this order.
  private static let listedStates: [CustomerState] = [.serving, .waiting, .delayed, .dead]

  /// Service of this name; nil for no name. Throws `noSuchService` if there is none.
  private func service(_ name: ServiceName?) throws(Failure) -> Service? {
    guard let name else { return nil }
    return try context.services.known(name)
  }

  /// Checks the limit of a query, and returns it; nil means all entries.
  /// - Throws: `badRequest` if the limit is out of range.
  static func bound(_ limit: Int64?) throws(Failure) -> Int64? {
    if let limit, !(1...TicketQuery.limitAtMost).contains(limit) {
      throw Failure(.badRequest, detail: "the limit is 1 to \(TicketQuery.limitAtMost)")
    }
    return limit
  }

  /// Sends further parts to the clients, one client after the other, within a limited time.
  func pump() {
    if hasNewReceipts {
      hasNewReceipts = false
      for session in server.sessions.values where !session.streams.isEmpty { ready.insert(session.id) }
    }
    guard isDue, queue.engine.isDurable else { return }
    let begin = SystemClock.monotonic()
    defer {
      let end = SystemClock.monotonic()
      // While customers are served, long answers get a limited part of the time.
      let rest = queue.machine.serving > 0 ? end.since(begin) * PublishingPeriods.rest : .zero
      due = end + max(Coordinator.periodicWorkPause, rest)
    }
    let until = begin + ClientLimits.timeLimit
    let clients = ready.sorted()
    ready.removeAll()
    // Start with the client whose turn it was when the time of the last call ran out.
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
      // The channel drops output to a peer that does not read any more, so its backlog never fills. End its streams.
      if session.channel.isPeerReadClosed { session.streams.removeAll() }
      for number in session.streams.keys.sorted() {
        pump(RequestHandle(session: session, number: number), until: until)
        // Skip the remaining lists of a client that does not read.
        if !session.isOpen || session.channel.backlog >= server.share { break }
      }
    }
  }

  /// Sends further parts for the time of one turn while the store is open, and ends all long answers.
  func endAll() {
    hasNewReceipts = true
    due = context.now.monotonic
    pump()
    for session in server.sessions.values { session.streams.removeAll() }
  }

  /// Sends parts of one answer until the time is over or the client has too much unread output.
  private func pump(_ requester: RequestHandle, until: MonotonicTime) {
    let (session, number) = (requester.session, requester.number)
    while session.isOpen, let stream = session.streams[number] {
      guard SystemClock.monotonic() < until else {
        // The windows have precedence; the remaining parts are sent in a later iteration.
        ready.insert(session.id)
        return
      }
      guard session.channel.backlog < server.share else {
        // The next part is made after the backlog was sent. If the kernel accepts the whole backlog at once,
        // `onDrained` is not called.
        session.channel.flush()
        if session.isOpen, session.channel.backlog < server.share { ready.insert(session.id) }
        return
      }
      do throws(StoreError) {
        switch stream {
        case .receipts(let stream): guard try sendReceipts(stream, requester) else { return }
        case .numbered(let stream): try sendNumbered(stream, requester)
        case .tickets(let states, let cursor): try sendTickets(states, cursor, requester)
        }
      } catch {
        session.streams[number] = nil
        durableReads.failed(error, requester)
      }
    }
  }

  /// Sends one part of the receipts, unless it is empty and more may follow. Returns false if no further part can be
  /// sent now.
  private func sendReceipts(_ stream: ReceiptStream, _ requester: RequestHandle) throws(StoreError) -> Bool {
    let directory = context.services.directory
    let page = try store.receipts(day: stream.day, after: stream.after, limit: ResultStream.page)
    let shown = page.first(stream.left, of: stream.service)
    var next = stream
    next.left = stream.left.map { $0 - Int64(shown.count) }
    let isWhole = next.left == 0 || !page.mayHaveMore(limit: ResultStream.page)
    let more = stream.follows || !isWhole
    if !shown.isEmpty || !more {
      let reports = shown.map { ReceiptReport($0, directory, key: context.bankID.key(of: $0)) }
      server.answer(requester, .receipts(reports), from: .read, more: more)
    }
    if stream.follows, isWhole { next.day = nil }
    next.after = page.last?.sequence ?? stream.after
    requester.session.streams[requester.number] = more ? .receipts(next) : nil
    return !isWhole
  }

  private func sendNumbered(_ stream: NumberedTickets, _ requester: RequestHandle) throws(StoreError) {
    let (day, issued) = (queue.engine.durableCounters.day, queue.engine.durableCounters.issued)
    let directory = context.services.directory
    let limit = Int(min(stream.left, Int64(ResultStream.page)))
    let servingCustomers = queue.machine.servingCustomers
    let serving = Set(servingCustomers.map(\.customer.ticket))
    let found = try store.customersByNumber(
      in: stream.states, of: stream.service, after: stream.after, limit: limit,
      where: { $0.ticket <= issued && !serving.contains($0.ticket) })
    var reports = try store.listed(found, directory, day: day)
    if stream.states.contains(.serving) {
      for entry in servingCustomers
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
    server.answer(requester, .tickets(page), from: .read, more: more)
    requester.session.streams[requester.number] = more ? .numbered(next) : nil
  }

  /// Sends one part of the customers in the first of these states.
  private func sendTickets(
    _ states: [CustomerState], _ cursor: TicketCursor?, _ requester: RequestHandle
  ) throws(StoreError) {
    guard let state = states.first else {
      requester.session.streams[requester.number] = nil
      return server.answer(requester, .tickets([]), from: .read)
    }
    let day = queue.engine.durableCounters.day
    let directory = context.services.directory
    let rest = ResultStream.tickets(states: Array(states.dropFirst()), cursor: nil)
    guard state != .serving else {
      let reports = queue.machine.servingCustomers.map { TicketReport(at: $0, directory, day: day) }
      server.answer(requester, .tickets(reports), from: .read, more: true)
      return requester.session.streams[requester.number] = rest
    }
    let page = try store.customers(in: state, after: cursor, limit: ResultStream.page)
    let serving = Set(queue.machine.servingCustomers.map(\.customer.ticket))
    let issued = queue.engine.durableCounters.issued
    let shown = page.filter { $0.customer.ticket <= issued && !serving.contains($0.customer.ticket) }
    if !shown.isEmpty {
      server.answer(
        requester, .tickets(try store.listed(shown, directory, day: day)), from: .read, more: true)
    }
    guard page.count == ResultStream.page, let last = page.last?.customer else {
      return requester.session.streams[requester.number] = rest
    }
    let next = TicketCursor(state: state, line: last.line, after: last.ticket)
    requester.session.streams[requester.number] = .tickets(states: states, cursor: next)
  }
}

extension TicketReport {
  /// Report of a customer at a window.
  fileprivate init(at entry: QueueMachine.ServingCustomer, _ directory: ServiceDirectory, day: BusinessDay) {
    self.init(
      StoredCustomer(customer: entry.customer, state: .serving, dueAt: nil), directory, day: day, attempts: []
    )
    window = directory.name(of: entry.window)
    if entry.customer.attempts > 0 { tried = entry.customer.attempts }
  }
}

extension [Receipt] {
  /// Returns the first receipts of a service, or of all services, up to a limit.
  func first(_ limit: Int64?, of service: Service?) -> [Receipt] {
    let chosen = service == nil ? self : filter { $0.service == service }
    return Array(chosen.prefix(Int(Swift.min(limit ?? .max, Int64(chosen.count)))))
  }
}
