// Owns how requests for tickets reach the queue: checked, made repeatable by their keys, and cut into slices.
// A known key is answered with the tickets of the first time, and only when these are on disk; with another request it is
// refused. Keys are compared byte by byte, in a list as in the store.

import BankModel
import Posix
import QueueCore
import Wire

extension Coordinator {
  /// How long customers are taken in before everybody else is heard again.
  private static let intakeTime = TimeSpan.milliseconds(4)
  /// Customers of a request that was never whole who are taken out in one turn.
  private static let withdrawn = 4_096
  /// After customers were taken in and committed while others are served, these have the coordinator for themselves for
  /// as long as that took, and half as long again: they keep more than half of what they had.
  private static let restInHalves: Int64 = 3
  /// What took less held nobody up.
  private static let unnoticed = TimeSpan.milliseconds(1)
  private static let progressPause = TimeSpan.milliseconds(200)

  /// A client asks for customers of one kind.
  func take(_ order: EnqueueOrder, _ session: ControlSession, _ number: UInt32) {
    if let fault = order.fault {
      return server.answer(session, number, .failure(Failure(.badRequest, detail: fault)))
    }
    let draw = CustomerDraw(
      service: order.service, grade: order.grade, amount: order.amount, account: order.account,
      payload: order.payload ?? "", seed: order.seed)
    let request = requests.open(session, number, for: .enqueue(known: 0, KnownTickets()))
    let digest = order.key == nil ? nil : order.digest
    intake.append(
      EnqueueIntake.Order(
        request: request, source: .drawn(draw), key: order.key, digest: digest, total: order.count))
  }

  /// A part of a list of customers has come.
  func take(_ part: EnqueueList, _ session: ControlSession, _ number: UInt32) {
    if let list = session.list, list.number != number {
      return server.refuse(session, .malformed, "two lists at the same time")
    }
    let list = session.list ?? ListSpool(number: number, directory: home.run)
    session.list = list
    list.append(part.entries)
    guard part.isLast else { return }
    session.list = nil
    if let failure = list.failure { return server.answer(session, number, .failure(failure)) }
    guard list.count > 0 else {
      return server.answer(session, number, .failure(Failure(.badRequest, detail: "the list is empty")))
    }
    let request = requests.open(session, number, for: .enqueue(known: 0, KnownTickets()))
    intake.append(EnqueueIntake.Order(request: request, source: .list(list), key: nil, total: list.count))
  }

  /// Takes customers in for a while.
  func advanceIntake() {
    guard hasIntake, isIntakeDue else { return }
    intakeBegan = now.monotonic
    // While the disk is full whoever comes is refused, and need not wait for those who are to be taken out.
    if store.hasArrivals, !machine.isTakingIn, retryAt == nil { return withdrawArrivals() }
    let until = now.monotonic + Self.intakeTime
    while let order = intake.advance() {
      if order.taken == 0, let key = order.key, answerKnown(key, order) { continue }
      // A request in slices has a transaction without anybody else's tickets, so that giving it up costs nobody else's.
      if order.taken == 0, order.comesInSlices, !machine.requestsTakenIn.isEmpty { commit() }
      takeSlice(of: order)
      if intake.current != nil, SystemClock.moment().monotonic >= until { return }
    }
  }

  /// Whether customers may be taken in now, as far as the others are concerned.
  var isIntakeDue: Bool { intakeRestsUntil.map { $0 <= now.monotonic } ?? true }

  /// Whether customers were taken in, or out, in this turn while others are served.
  var isIntakeShared: Bool { intakeBegan != nil && machine.serving > 0 }

  /// The turn has ended in which customers were taken in and, perhaps, committed.
  func restFromIntake() {
    guard let began = intakeBegan else { return }
    intakeBegan = nil
    intakeRestsUntil = nil
    let end = SystemClock.moment().monotonic
    guard machine.serving > 0, end.since(began) >= Self.unnoticed else { return }
    intakeRestsUntil = end + TimeSpan(nanoseconds: end.since(began).nanoseconds / 2 * Self.restInHalves)
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
    intake.current = nil
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
    intake.current = nil
    failRequest(order.request, Failure(store: error))
    server.flush()
    storeFailed(error)
  }

  private func takeSlice(of order: EnqueueIntake.Order) {
    var order = order
    let isFirst = order.taken == 0
    let before = machine.books.issued
    if isFirst { order.first = before + 1 }
    var keys: [SliceKey] = []
    let slice: [CustomerOrder]
    do throws(SliceTrouble) {
      slice = try nextSlice(of: &order, keys: &keys)
    } catch {
      switch error {
      case .store(let error): lookUpFailed(error, order)
      case .request(let failure):
        // The trouble of this request is nobody else's.
        intake.current = nil
        if isFirst { failRequest(order.request, failure) } else { giveUpIntake(failure) }
      }
      return
    }
    let isLast = order.taken >= order.total
    intake.current = isLast ? nil : order
    requests.setKnown(order.known, order.knownTickets, for: order.request)
    // Customers who are known already need no room.
    happen(.enqueue(order.request, orders: slice, total: order.total - order.known, isLast: isLast))
    // A slice in which everybody is known adds nobody, so the number of tickets alone does not tell a refusal.
    guard machine.isTakingIn == !isLast, machine.books.issued == before + Int64(slice.count), retryAt == nil
    else {
      // The queue has refused it and has answered; nothing more of it is taken.
      if let current = intake.current, current.request == order.request { intake.current = nil }
      return
    }
    for entry in keys {
      let ticket = before + 1 + entry.offset
      stage(
        .remember(
          key: entry.key, day: machine.books.day, first: ticket, last: ticket, request: entry.digest))
    }
    if isLast, let key = order.key {
      stage(
        .remember(
          key: key, day: machine.books.day, first: order.first, last: machine.books.issued,
          request: order.digest))
    }
    tellProgress(of: order)
  }

  /// Gives the request up that is half taken in, if there is one: nothing of it is kept, and its client learns why.
  ///
  /// The store takes the whole open transaction back; what the others have done in it is staged again. What was committed
  /// of the request stands under numbers that nobody has, and is taken out before anybody else is given them.
  func giveUpIntake(_ failure: Failure) {
    guard machine.isTakingIn else { return }
    intake.abandon()
    for request in machine.requestsTakenIn { failRequest(request, failure) }
    store.rollBack()
    stagedSince = nil
    // What the stock has given back may have been noted in the transaction: it is asked once more.
    releases.look()
    stageAgain(after: .intakeAbandoned)
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
    guard intake.current?.request == request, machine.requestsTakenIn == [request] else { return }
    giveUpIntake(Failure(.withdrawn))
    log.write(event: "withdrawn", at: now) { $0.field("issued", machine.issuedCount) }
    commit()
  }

  /// A key of a slice, and whose it is.
  private struct SliceKey {
    var key: String
    var digest: Int64?
    /// The customer's place in the slice.
    var offset: Int64

    func isRepeated(by other: Int64?) -> Bool { digest == nil || other == nil || digest == other }
  }

  /// Why a slice cannot be taken.
  private enum SliceTrouble: Error {
    /// Something is wrong with the request, and with nothing else.
    case request(Failure)
    /// The store cannot be asked.
    case store(StoreError)
  }

  private func nextSlice(
    of order: inout EnqueueIntake.Order, keys: inout [SliceKey]
  ) throws(SliceTrouble) -> [CustomerOrder] {
    var slice: [CustomerOrder] = []
    switch order.source {
    case .drawn(var draw):
      let count = min(EnqueueIntake.slice, order.total - order.taken)
      slice.reserveCapacity(Int(count))
      for _ in 0..<count { slice.append(draw.next()) }
      order.source = .drawn(draw)
      order.taken += count
    case .list(let list):
      let entries = try part(of: list)
      order.taken += Int64(entries.count)
      slice.reserveCapacity(entries.count)
      // By their bytes, as the store keeps them: a text of Swift's is equal to one that is spelled otherwise.
      var fresh: [[UInt8]: Int] = [:]
      for entry in entries {
        if let key = entry.key {
          let digest = entry.digest
          let bytes = Array(key.utf8)
          if let place = fresh[bytes] {
            // Who stands twice in this list was not there before, and has no other ticket.
            guard keys[place].isRepeated(by: digest) else { throw .request(.conflict(key)) }
            order.known += 1
            continue
          }
          if let known = try request(under: key) {
            guard known.isRepeated(by: digest) else { throw .request(.conflict(key)) }
            order.known += 1
            if known.tickets.day < machine.books.day || known.tickets.first < order.first {
              order.knownTickets.add(known.tickets)
            }
            continue
          }
          fresh[bytes] = keys.count
          keys.append(SliceKey(key: key, digest: digest, offset: Int64(slice.count)))
        }
        slice.append(entry.order)
      }
    }
    return slice
  }

  private func part(of list: ListSpool) throws(SliceTrouble) -> [EnqueueEntry] {
    do throws(Failure) {
      guard let entries = try list.next() else {
        throw Failure(.system, detail: "a list ended before its last customer")
      }
      return entries
    } catch {
      log.write(event: "list_lost", level: .error, at: now) { $0.field("msg", error.detail) }
      throw .request(error)
    }
  }

  private func request(under key: String) throws(SliceTrouble) -> KeyedRequest? {
    do throws(StoreError) { return try store.request(forKey: key) } catch { throw .store(error) }
  }

  private func tellProgress(of order: EnqueueIntake.Order) {
    guard var current = intake.current, let entry = requests.entry(order.request) else { return }
    let moment = SystemClock.moment().monotonic
    if let toldAt = current.toldAt, moment.since(toldAt) < Self.progressPause { return }
    current.toldAt = moment
    intake.current = current
    let report = ProgressReport(phase: .enqueuing, done: order.taken, total: order.total)
    server.answer(entry.session, entry.number, .progress(report), more: true)
  }
}

extension Failure {
  /// The key stands for another request.
  fileprivate static func conflict(_ key: String) -> Failure { Failure(.keyConflict, subject: key) }
}

extension EnqueueOrder {
  /// What is wrong with this order; nil for nothing.
  fileprivate var fault: String? {
    if !(1...BankModel.Limits.customersPerCommand).contains(count) {
      return "1 to \(BankModel.Limits.customersPerCommand) customers a command, not \(count)"
    }
    let length = payload?.utf8.count ?? 0
    if length > BankModel.Limits.payloadLength {
      return "a payload has at most \(BankModel.Limits.payloadLength) bytes, not \(length)"
    }
    let sample = EnqueueEntry(
      service: .deposit, grade: grade, amount: amount ?? 1, account: account ?? 0, key: key)
    return sample.fault
  }
}
