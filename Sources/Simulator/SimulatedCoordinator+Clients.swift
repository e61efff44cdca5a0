// Owns the clients' side of the simulated coordinator, after the real one: greeting, the commands, requests for tickets
// that come in slices and are repeatable by their keys, and the answers. It must not know a rule of the queue.
// Invariant: every request is answered once, or its connection is gone.

import BankModel
import Coordinator
import QueueCore
import Wire

/// What the coordinator keeps of a client.
final class ClientSession {
  let session: ControlSession
  /// A list that has not come to its last part.
  var list: [[EnqueueEntry]] = []
  var listNumber: UInt32?

  init(_ session: ControlSession) { self.session = session }
}

/// A request that is not answered.
struct OpenRequest {
  enum Purpose {
    case enqueue(known: Int64)
    case status
    case ticket(Int64)
    case requeueDead
  }

  var link: Int
  var number: UInt32
  var purpose: Purpose
}

/// A request for tickets, as far as it is taken in.
struct IntakeOrder {
  enum Source {
    case drawn(SlicedDraw)
    case list(SimulatedList)
  }

  let request: RequestNumber
  var source: Source
  let key: String?
  var digest: Int64?
  let total: Int64
  var taken: Int64 = 0
  var known: Int64 = 0

  /// Whether it is more than is taken in at once.
  func comesInSlices(of slice: Int64) -> Bool {
    switch source {
    case .drawn: total > slice
    case .list(let list): list.parts.count > 1
    }
  }

  var heldBack: Int64 {
    switch source {
    case .drawn(let draw): draw.heldBack
    case .list(let list): list.heldBack
    }
  }

  func mayShareKey(with other: IntakeOrder) -> Bool {
    if let key, let known = other.key { return key == known }
    switch (source, other.source) {
    case (.drawn, .drawn): return false
    case (.list(let list), .drawn): return list.hasKeys && other.key != nil
    case (.drawn, .list(let list)): return list.hasKeys && key != nil
    case (.list(let one), .list(let two)): return one.hasKeys && two.hasKeys
    }
  }
}

extension SimulatedCoordinator {
  /// A client has asked for something.
  func hear(_ request: ControlRequest, from client: ControlSession) {
    guard isAlive else { return }
    let link = Int(client.id)
    let session = sessions[link] ?? ClientSession(client)
    sessions[link] = session
    serve(request, session, link)
  }

  /// A client has gone.
  func forget(_ client: ControlSession) {
    let link = Int(client.id)
    server.someoneLeft()
    sessions[link] = nil
    requests = requests.filter { $0.value.link != link }
    ending?.seats.removeAll { $0.link == link }
    windowWaiters.removeAll { $0.link == link }
  }

  func answer(_ link: Int, _ number: UInt32, _ answer: ControlAnswer, more: Bool = false) {
    guard let session = sessions[link]?.session else { return }
    server.answer(session, number, answer, more: more)
  }

  func open(_ link: Int, _ number: UInt32, _ purpose: OpenRequest.Purpose) -> RequestNumber {
    lastRequest += 1
    requests[lastRequest] = OpenRequest(link: link, number: number, purpose: purpose)
    world.checker.opened(lastRequest)
    return lastRequest
  }

  private func serve(_ request: ControlRequest, _ session: ClientSession, _ link: Int) {
    let number = request.number
    switch request.command {
    case .enqueue(let order): take(order, link, number)
    case .enqueueList(let part):
      session.list.append(part.entries)
      session.listNumber = number
      guard part.isLast else { return }
      let parts = session.list
      (session.list, session.listNumber) = ([], nil)
      intake.append(
        IntakeOrder(
          request: open(link, number, .enqueue(known: 0)), source: .list(SimulatedList(parts)),
          key: nil, total: parts.reduce(0) { $0 + Int64($1.count) }))
    case .pause(let service): happen(.pause(open(link, number, .status), service))
    case .resume(let service): happen(.resume(open(link, number, .status), service))
    case .cancel(let ticket, let day):
      guard isPresent(day, link, number) else { return }
      happen(.cancel(open(link, number, .ticket(ticket)), ticket))
    case .requeue(let ticket, let day):
      guard isPresent(day, link, number) else { return }
      happen(.requeue(open(link, number, .ticket(ticket)), ticket))
    case .requeueDead: happen(.requeueDead(open(link, number, .requeueDead)))
    case .reset: reset(link, number)
    case .scale(let wanted):
      guard ending == nil else { return answer(link, number, .failure(Failure(.draining))) }
      for entry in wanted { happen(.scale(entry.service, windows: Int32(entry.count))) }
      staff.retryGivenUp(at: loop.moment())
      house.retryFailing(at: loop.moment())
      windowWaiters.append((link, number))
    case .stop(let order): stop(order, link, number)
    case .withdraw(let given): withdraw(given, session, link)
    default: answer(link, number, .status(statusReport()))
    }
  }

  /// Whether a change is meant for the present day; who means another is refused.
  private func isPresent(_ day: BusinessDay?, _ link: Int, _ number: UInt32) -> Bool {
    guard let day, day != core.books.day else { return true }
    answer(link, number, .failure(Failure(.wrongDay, subject: String(day))))
    return false
  }

  private func take(_ order: EnqueueOrder, _ link: Int, _ number: UInt32) {
    intake.append(
      IntakeOrder(
        request: open(link, number, .enqueue(known: 0)),
        source: .drawn(
          SlicedDraw(order.draw, total: order.count, slice: plan.slice, heldBackAtMost: 2 * plan.slice)),
        key: order.key, digest: order.digest, total: order.count))
  }

  /// Whoever changed the windows is told when they are as they shall be.
  func tellWindowWaiters() {
    guard isAlive, !windowWaiters.isEmpty, staff.isSettled else { return }
    for seat in windowWaiters { answer(seat.link, seat.number, .status(statusReport())) }
    windowWaiters.removeAll()
  }

  /// They will not be.
  func disappointWindowWaiters(_ code: Failure.Code) {
    for seat in windowWaiters { answer(seat.link, seat.number, .failure(Failure(code))) }
    windowWaiters.removeAll()
  }

  // MARK: - Intake

  /// Takes customers in for a while: a few slices a turn, and at times only one.
  func advanceIntake() {
    guard isAlive else { return }
    takeInBeside()
    if isWithdrawing {
      if !isWithdrawalResting { withdrawArrivals() }
      return
    }
    var slices = chance.draw(1...4)
    while isAlive, world.violation == nil, slices > 0, !isWithdrawing, let order = intake.first {
      if order.taken == 0, let key = order.key, answerKnown(key, order) { continue }
      guard isAlive else { return }
      slices -= 1
      takeSlice(of: order)
    }
  }

  /// The first number of a request that will never be whole. One whose last slice is not on disk is whole by the books.
  private var remains: TicketNumber? {
    guard bug != .keepsAPartOfTheWithdrawn, !core.isTakingIn, let first = world.disk.arrivingFrom,
      first > core.books.issued
    else { return nil }
    return first
  }

  private var isWithdrawing: Bool { isAlive && retryAt == nil && remains != nil }

  /// Small requests do not wait for a large one.
  private func takeInBeside() {
    guard let first = intake.first, isWithdrawing || first.comesInSlices(of: plan.slice) else { return }
    while isAlive, chance.draw(0...3) > 0, let order = nextBeside() {
      if let key = order.key, answerKnown(key, order) { continue }
      guard isAlive else { return }
      takeSlice(of: order)
    }
  }

  private func nextBeside() -> IntakeOrder? {
    let room = remains.map { $0 - 1 - core.books.issued } ?? core.roomBeside
    var before: [IntakeOrder] = []
    for order in intake {
      let link = requests[order.request]?.link
      let mayPass = before.allSatisfy { earlier in
        (link == nil || link != requests[earlier.request]?.link) && !order.mayShareKey(with: earlier)
      }
      if order.taken == 0, !order.comesInSlices(of: plan.slice), order.total <= room, mayPass { return order }
      before.append(order)
    }
    return nil
  }

  /// Customers of a request that never became whole are taken out, a few at a time.
  private func withdrawArrivals() {
    do throws(StoreError) {
      try store.withdrawArrivals(limit: Int(chance.draw(1...4)))
      if stagedSince == nil { stagedSince = now.monotonic }
      commit()
    } catch {
      storeFailed(error)
      // Taking them out takes room as well: the others are not held up again at once.
      withdrawalRestsUntil = now.monotonic + .seconds(1)
    }
  }

  var isWithdrawalResting: Bool { withdrawalRestsUntil.map { now.monotonic < $0 } ?? false }

  /// The request that is half taken in is given up: the queue has refused it.
  func abandonIntake() {
    if let order = intake.first, order.taken > 0 { intake.removeFirst() }
  }

  private func answerKnown(_ key: String, _ order: IntakeOrder) -> Bool {
    guard retryAt == nil, let known = try? world.disk.request(forKey: key) else { return false }
    let tickets = known.tickets
    // The key may have been staged a moment ago: nothing is spoken that is not on disk.
    if bug != .answersAKeyTooEarly, world.disk.hasStagedChanges { commit() }
    guard isAlive else { return true }
    intake.removeAll { $0.request == order.request }
    if !known.isRepeated(by: order.digest) {
      if let entry = requests.removeValue(forKey: order.request) {
        answer(entry.link, entry.number, .failure(Failure(.keyConflict, subject: key)))
      }
    } else if retryAt == nil {
      requests[order.request]?.purpose = .enqueue(known: tickets.last - tickets.first + 1)
      world.checker.answered(order.request, with: tickets)
      finish(order.request, with: .enqueued(tickets))
    } else {
      finish(order.request, with: .refused(.diskFull))
    }
    return true
  }

  private func takeSlice(of order: IntakeOrder) {
    var order = order
    let issued = core.books.issued
    let arriving = core.arriving?.request == order.request ? core.arriving : nil
    var keys: [(key: String, digest: Int64?, ticket: TicketNumber)] = []
    let slice = nextSlice(of: &order, keys: &keys, after: arriving)
    let isLast = order.taken >= order.total
    if isLast { intake.removeAll { $0.request == order.request } } else { intake[0] = order }
    requests[order.request]?.purpose = .enqueue(known: order.known)
    // Whoever is known already needs no room.
    let known = bug == .countsTheKnownTwice ? 0 : order.known
    happen(
      .enqueue(
        order.request, orders: slice, total: order.total - known, isLast: isLast, heldBack: order.heldBack))
    guard isAlive else { return }
    let count = (arriving?.count ?? 0) + Int64(slice.count)
    let isTaken =
      bug == .goesOnAfterARefusal
      || (isLast ? core.books.issued == issued + count : core.arriving?.request == order.request)
    guard isTaken, retryAt == nil else {
      if let current = intake.first, current.request == order.request { intake.removeFirst() }
      return
    }
    guard bug != .forgetsKeys else { return }
    for (key, digest, ticket) in keys {
      stage(.remember(key: key, day: core.books.day, first: ticket, last: ticket, request: digest))
    }
    if isLast, let key = order.key {
      let last = bug == .remembersTheFirstSliceOnly ? issued + 1 : issued + count
      stage(.remember(key: key, day: core.books.day, first: issued + 1, last: last, request: order.digest))
    }
  }

  private func nextSlice(
    of order: inout IntakeOrder, keys: inout [(key: String, digest: Int64?, ticket: TicketNumber)],
    after arriving: ArrivingRequest?
  ) -> [CustomerOrder] {
    var slice: [CustomerOrder] = []
    switch order.source {
    case .drawn(var draw):
      slice = draw.next()
      order.source = .drawn(draw)
      order.taken = draw.drawn
    case .list(var list):
      // Before anybody comes in it is certain for how many numbers are held back.
      if order.taken == 0 { order.known += list.count(isKnown: isKnown) }
      let (held, issued) = (list.heldBack, core.books.issued)
      let expected = list.expected
      let entries = list.next()
      order.source = .list(list)
      order.taken += Int64(entries.count)
      let stand =
        arriving ?? ArrivingRequest(order.request, total: order.total, heldBack: held, issued: issued)
      let place = stand.placement(of: expected ?? 0, heldBack: list.heldBack, issued: issued)
      var fresh: Set<[UInt8]> = []
      for entry in entries {
        if let key = entry.key {
          guard !isKnown(key), fresh.insert(Array(key.utf8)).inserted else {
            if expected == nil { order.known += 1 }
            continue
          }
          keys.append((key, entry.digest, place.ticket(Int64(slice.count))))
        }
        slice.append(entry.order)
      }
    }
    return slice
  }

  private func isKnown(_ key: String) -> Bool { ((try? world.disk.tickets(forKey: key)) ?? nil) != nil }

  // MARK: - Answers

  /// The queue has answered a request.
  func finish(_ request: RequestNumber, with result: QueueAnswer) {
    guard let entry = requests.removeValue(forKey: request) else { return }
    switch (result, entry.purpose) {
    case (.refused(let refusal), _): answer(entry.link, entry.number, .failure(failure(refusal)))
    case (.enqueued(let tickets), .enqueue(let known)):
      let count = tickets.last - tickets.first + 1
      answer(
        entry.link, entry.number,
        .enqueued(
          EnqueuedReport(
            day: tickets.day, first: count > 0 ? tickets.first : 0, last: count > 0 ? tickets.last : 0,
            count: count, known: known)))
    case (.requeued(let count), .requeueDead): answer(entry.link, entry.number, .requeued(count))
    case (_, _): answer(entry.link, entry.number, .status(statusReport()))
    }
  }

  private func failure(_ refusal: QueueRefusal) -> Failure {
    switch refusal {
    case .queueFull(_, let limit): Failure(.queueFull, subject: String(limit))
    case .draining: Failure(.draining)
    case .diskFull: Failure(.diskFull)
    case .noSuchTicket(let ticket): Failure(.noSuchTicket, subject: String(ticket))
    case .wrongState(let ticket, let state): Failure(.wrongState, subject: "\(ticket) \(state.name)")
    }
  }

  private func statusReport() -> StatusReport {
    let books = core.books
    return StatusReport(
      state: ending == nil ? .open : .draining, day: books.day, pid: Int32(number), generation: Int64(number),
      since: 0, businessMilliseconds: books.businessTime.milliseconds,
      queue: QueueReport(
        issued: core.issuedCount, waiting: core.waitingCount, delayed: books.delayed, serving: core.serving,
        served: books.served, dead: books.dead, cancelled: books.cancelled, oldestWaitMilliseconds: 0),
      services: [], workers: [])
  }
}
