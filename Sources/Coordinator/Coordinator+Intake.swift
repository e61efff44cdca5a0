// Owns how requests for tickets reach the queue: checked, made repeatable by their keys, and cut into slices.
// A known key is answered with the tickets of the first time, and only when these are on disk; with another request it is
// refused. What is peculiar to lists stands in `Coordinator+Lists.swift`.
// Small requests do not wait for a large one: they come in between two of its slices. While others are served a large
// one rests after each turn for longer than the turn took.

import BankModel
import Posix
import QueueCore
import Wire

extension Coordinator {
  /// How long customers are taken in before everybody else is heard again.
  private static let intakeTime = TimeSpan.milliseconds(4)
  /// Customers of a request that was never whole who are taken out in one turn.
  private static let withdrawn = 4_096
  /// After customers were taken in and committed while others are served, or come in, these have the coordinator for
  /// themselves for twice as long as that took: they keep more than half of what they had, also where the disk or a
  /// core that both need is the slower part.
  private static let rest: Int64 = 2
  /// What took less held nobody up.
  private static let unnoticed = TimeSpan.milliseconds(1)
  private static let progressPause = TimeSpan.milliseconds(200)

  /// A client asks for customers of one kind.
  func take(_ order: EnqueueOrder, _ session: ControlSession, _ number: UInt32) {
    if let fault = order.fault {
      return server.answer(session, number, .failure(Failure(.badRequest, remark: fault)))
    }
    let draw = CustomerDraw(
      service: order.service, grade: order.grade, amount: order.amount, account: order.account,
      payload: order.payload ?? "", seed: order.seed)
    let sliced = SlicedDraw(
      draw, total: order.count, slice: EnqueueIntake.slice, heldBackAtMost: EnqueueIntake.gap)
    let request = requests.open(session, number, for: .enqueue(known: 0, KnownTickets()))
    let digest = order.key == nil ? nil : order.digest
    intake.append(
      EnqueueIntake.Order(
        request: request, source: .drawn(sliced), key: order.key, digest: digest, total: order.count))
  }

  /// Takes customers in for a while.
  func advanceIntake() {
    guard hasIntake else { return }
    let until = now.monotonic + Self.intakeTime
    if isWithdrawing || intake.isLarge {
      takeInBeside(until: until)
      guard hasIntake, isIntakeDue else { return }
    }
    if isWithdrawing {
      beginIntakeTurn()
      return withdrawArrivals()
    }
    // Where one is given up, those who were committed of it are to be taken out first.
    while hasIntake, !isWithdrawing, let order = intake.advance() {
      if order.taken == 0, let key = order.key, answerKnown(key, order) { continue }
      if order.comesInSlices {
        guard isIntakeDue else { return }
        beginIntakeTurn()
      }
      if let part = order.uncounted { lookThrough(part, of: order) } else { takeSlice(of: order) }
      if intake.current != nil, SystemClock.moment().monotonic >= until { return }
    }
  }

  /// The first number of a request that will never be whole and is still to be taken out; nil where there is none. One
  /// whose last slice is not on disk yet is whole by the books.
  var remains: TicketNumber? {
    guard !machine.isTakingIn, let first = store.arrivingFrom, first > machine.books.issued else {
      return nil
    }
    return first
  }

  /// Whether it is to be taken out now. While the disk is full whoever comes is refused, and need not wait for that.
  var isWithdrawing: Bool { retryAt == nil && remains != nil }

  /// Takes those in who need not wait for a large request, nor for those of one who are to be taken out.
  private func takeInBeside(until: MonotonicTime) {
    hasMoreBeside = false
    while hasIntake,
      let order = intake.takeBeside(
        room: roomBeside,
        client: { [unowned self] request in requests.entry(request).map { ObjectIdentifier($0.session) } },
        mayCome: { [unowned self] order in hasNoKeyOfNobody(order) })
    {
      cameBeside = true
      if let key = order.key, answerKnown(key, order) { continue }
      takeSlice(of: order)
      guard SystemClock.moment().monotonic < until else {
        hasMoreBeside = true
        return
      }
    }
  }

  /// Whether a request has none of the keys of those who are to be taken out, and who are nobody.
  private func hasNoKeyOfNobody(_ order: EnqueueIntake.Order) -> Bool {
    guard remains != nil else { return true }
    return order.keys.allSatisfy { key in
      guard let tickets = try? store.request(forKey: key)?.tickets else { return true }
      return tickets.day < machine.books.day || tickets.last <= machine.books.issued
    }
  }

  /// Numbers for those who come beside a large request.
  private var roomBeside: Int64 {
    remains.map { $0 - 1 - machine.books.issued } ?? machine.roomBeside
  }

  /// Whether customers of a large request may be taken in now, as far as the others are concerned.
  var isIntakeDue: Bool { intakeRestsUntil.map { $0 <= now.monotonic } ?? true }

  /// Whether customers of a large request were taken in, or out, in this turn while others are served or come in.
  var isIntakeShared: Bool { intakeBegan != nil && (machine.serving > 0 || cameBeside) }

  private func beginIntakeTurn() { intakeBegan = intakeBegan ?? SystemClock.moment().monotonic }

  /// The turn has ended in which customers were taken in and, perhaps, committed.
  func restFromIntake() {
    guard let began = intakeBegan else { return }
    let isShared = isIntakeShared
    intakeBegan = nil
    intakeRestsUntil = nil
    cameBeside = false
    let end = SystemClock.moment().monotonic
    guard isShared, end.since(began) >= Self.unnoticed else { return }
    intakeRestsUntil = end + TimeSpan(nanoseconds: end.since(began).nanoseconds * Self.rest)
  }

  /// Customers of a request that was broken off by a full disk, by the end of a coordinator or by its own: nobody was told
  /// of them, and their numbers are free when they are gone.
  private func withdrawArrivals() {
    do throws(StoreError) {
      try store.withdrawArrivals(limit: Self.withdrawn)
      if stagedSince == nil { stagedSince = now.monotonic }
      commit()
    } catch {
      storeFailed(error)
      // Taking them out takes room as well: the others are not held up again at once.
      intakeBegan = nil
      intakeRestsUntil = now.monotonic + .seconds(1)
    }
  }

  /// Answers a request whose key is known; false where it is not.
  private func answerKnown(_ key: String, _ order: EnqueueIntake.Order) -> Bool {
    do throws(StoreError) {
      guard try store.request(forKey: key) != nil else { return false }
    } catch {
      lookUpFailed(error, order)
      return true
    }
    intake.end(order)
    guard let entry = requests.close(order.request) else { return true }
    let seat = Followers.Seat(session: entry.session, number: entry.number)
    // The key may have been staged a moment ago: nothing is spoken that is not on disk, nor a key that is taken back.
    tellKept(seat) { [unowned self] store throws(StoreError) in
      // Meanwhile it may have been taken back, and have come again with a request that is not whole.
      guard let known = try store.request(forKey: key), isWhole(known.tickets) else {
        return .failure(Failure(.diskFull))
      }
      guard known.isRepeated(by: order.digest) else { return .failure(.conflict(key)) }
      let (tickets, count) = (known.tickets, known.tickets.last - known.tickets.first + 1)
      return .enqueued(
        EnqueuedReport(
          day: tickets.day, first: tickets.first, last: tickets.last, count: count, known: count))
    }
    return true
  }

  private func isWhole(_ tickets: IssuedTickets) -> Bool {
    tickets.day < keptBooks.day || tickets.last <= keptBooks.issued
  }

  /// A key cannot be looked up. A full disk is one to whoever asked, and everybody waits for room; anything worse keeps its
  /// name, and is the end of this process as it is everywhere.
  private func lookUpFailed(_ error: StoreError, _ order: EnqueueIntake.Order) {
    intake.end(order)
    failRequest(order.request, Failure(store: error))
    server.flush()
    storeFailed(error)
  }

  /// A slice of a request cannot be taken.
  func refuse(_ order: EnqueueIntake.Order, _ trouble: SliceTrouble) {
    switch trouble {
    case .store(let error): lookUpFailed(error, order)
    case .request(let failure):
      // The trouble of this request is nobody else's.
      intake.end(order)
      if order.taken == 0 { failRequest(order.request, failure) } else { giveUpIntake(failure) }
    }
  }

  private func takeSlice(of order: EnqueueIntake.Order) {
    let before = order
    var order = order
    let issued = machine.books.issued
    let arriving = machine.arriving?.request == order.request ? machine.arriving : nil
    var keys: [SliceKey] = []
    let slice: [CustomerOrder]
    do throws(SliceTrouble) {
      slice = try nextSlice(of: &order, keys: &keys, after: arriving)
    } catch {
      return refuse(before, error)
    }
    let isLast = order.taken >= order.total
    if isLast { intake.end(order) } else { intake.current = order }
    requests.setKnown(order.known, order.knownTickets, for: order.request)
    // Customers who are known already need no room.
    happen(
      .enqueue(
        order.request, orders: slice, total: order.total - order.known, isLast: isLast,
        heldBack: order.heldBack))
    let count = (arriving?.count ?? 0) + Int64(slice.count)
    let isTaken =
      isLast ? machine.books.issued == issued + count : machine.arriving?.request == order.request
    guard isTaken, retryAt == nil else {
      // The queue has refused it and has answered; nothing more of it is taken.
      return intake.end(order)
    }
    for entry in keys {
      stage(
        .remember(
          key: entry.key, day: machine.books.day, first: entry.ticket, last: entry.ticket,
          request: entry.digest))
    }
    if isLast, let key = order.key {
      stage(
        .remember(
          key: key, day: machine.books.day, first: issued + 1, last: issued + count, request: order.digest))
    }
    tellProgress(of: order)
  }

  /// Gives the request up that is half taken in, if there is one: nothing of it is kept, and its client learns why.
  ///
  /// What others have staged is committed first. What is on disk of the request stands under numbers that nobody has, and
  /// is taken out before they are anybody else's.
  ///
  /// - Returns: whether there was one; a full disk may have refused it just now, and its client was told so.
  @discardableResult
  func giveUpIntake(_ failure: Failure) -> Bool {
    guard machine.isTakingIn else { return false }
    commit()
    guard let given = machine.arriving else { return false }
    intake.abandon()
    failRequest(given.request, failure)
    happen(.intakeAbandoned)
    return true
  }

  /// A client gives a request of its own up. Where it was not taken in the client is told so, and nobody was added;
  /// where it was, it is answered as ever.
  func withdraw(_ number: UInt32, of session: ControlSession) {
    if session.list?.number == number {
      session.list = nil
      return server.answer(session, number, .failure(Failure(.withdrawn)))
    }
    guard let request = requests.enqueue(number, of: session) else { return }
    if intake.remove(request) || intake.current?.request == request && intake.current?.taken == 0 {
      if intake.current?.request == request { intake.current = nil }
      return failRequest(request, Failure(.withdrawn))
    }
    guard machine.arriving?.request == request else { return }
    guard giveUpIntake(Failure(.withdrawn)) else { return }
    log.write(event: "withdrawn", at: now) { $0.field("issued", machine.issuedCount) }
    commit()
  }

  /// - Parameter arriving: Where those of it stand who have come; nil before the first slice.
  private func nextSlice(
    of order: inout EnqueueIntake.Order, keys: inout [SliceKey], after arriving: ArrivingRequest?
  ) throws(SliceTrouble) -> [CustomerOrder] {
    switch order.source {
    case .drawn(var draw):
      let slice = draw.next()
      order.source = .drawn(draw)
      order.taken = draw.drawn
      return slice
    case .list(let list): return try nextPart(of: list, &order, keys: &keys, after: arriving)
    }
  }

  private func tellProgress(of order: EnqueueIntake.Order) {
    guard var current = intake.current, current.request == order.request,
      let entry = requests.entry(order.request)
    else { return }
    let moment = SystemClock.moment().monotonic
    if let toldAt = current.toldAt, moment.since(toldAt) < Self.progressPause { return }
    current.toldAt = moment
    intake.current = current
    let report = ProgressReport(phase: .enqueuing, done: order.taken, total: order.total)
    server.answer(entry.session, entry.number, .progress(report), more: true)
  }
}

extension EnqueueOrder {
  /// What is wrong with this order; nil for nothing.
  fileprivate var fault: Remark? {
    if !(1...BankModel.Limits.customersPerCommand).contains(count) {
      return Remark(.customersRange, BankModel.Limits.customersPerCommand, count)
    }
    let length = payload?.utf8.count ?? 0
    if length > BankModel.Limits.payloadLength {
      return Remark(.payloadAtMost, BankModel.Limits.payloadLength, length)
    }
    let sample = EnqueueEntry(
      service: .deposit, grade: grade, amount: amount ?? 1, account: account ?? 0, key: key)
    return sample.fault
  }
}
