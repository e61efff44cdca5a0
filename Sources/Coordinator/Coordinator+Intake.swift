// Owns how requests for tickets reach the queue: checked, made repeatable by their keys, and cut into slices.
// A known key is answered with the tickets of the first time, and only when these are on disk.

import BankModel
import Posix
import QueueCore
import Wire

extension Coordinator {
  /// How long customers are taken in before everybody else is heard again.
  private static let intakeTime = TimeSpan.milliseconds(4)
  private static let progressPause = TimeSpan.milliseconds(200)

  /// A client asks for customers of one kind.
  func take(_ order: EnqueueOrder, _ session: ControlSession, _ number: UInt32) {
    if let fault = order.fault {
      return server.answer(session, number, .failure(Failure(.badRequest, detail: fault)))
    }
    let draw = CustomerDraw(
      service: order.service, grade: order.grade, amount: order.amount, account: order.account,
      payload: order.payload ?? "", seed: order.seed)
    let request = requests.open(session, number, for: .enqueue(known: 0))
    intake.append(
      EnqueueIntake.Order(request: request, source: .drawn(draw), key: order.key, total: order.count))
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
    let request = requests.open(session, number, for: .enqueue(known: 0))
    intake.append(EnqueueIntake.Order(request: request, source: .list(list), key: nil, total: list.count))
  }

  /// Takes customers in for a while.
  func advanceIntake() {
    guard retryAt == nil || !intake.isEmpty, !isEmptying else { return }
    let until = now.monotonic + Self.intakeTime
    while let order = intake.advance() {
      if order.taken == 0, let key = order.key, answerKnown(key, order) { continue }
      takeSlice(of: order)
      if intake.current != nil, SystemClock.moment().monotonic >= until { return }
    }
  }

  /// Answers a request whose key is known; false where it is not.
  private func answerKnown(_ key: String, _ order: EnqueueIntake.Order) -> Bool {
    do throws(StoreError) {
      guard let tickets = try store.tickets(forKey: key) else { return false }
      // The key may have been staged a moment ago: nothing is spoken that is not on disk.
      if store.hasStagedChanges { commit() }
      intake.current = nil
      finish(order.request, with: retryAt == nil ? .enqueued(tickets) : .refused(.diskFull))
    } catch {
      intake.current = nil
      finish(order.request, with: .refused(.diskFull))
    }
    return true
  }

  private func takeSlice(of order: EnqueueIntake.Order) {
    var order = order
    let isFirst = order.taken == 0
    var keys: [(key: String, offset: Int64)] = []
    let slice: [CustomerOrder]
    do throws(Failure) {
      slice = try nextSlice(of: &order, keys: &keys)
    } catch {
      intake.current = nil
      if isFirst {
        failRequest(order.request, error)
      } else {
        // Half of it is staged: the open transaction is given up, as on a full disk, and the rest staged again.
        storeFailed(.diskFull(detail: error.detail))
      }
      return
    }
    let isLast = order.taken >= order.total
    // Whoever needs many slices stands alone in its transaction, so that it can be given up without anybody else.
    if isFirst, !isLast, !machine.requestsTakenIn.isEmpty { commit() }
    let before = machine.books.issued
    if isFirst { order.first = before + 1 }
    intake.current = isLast ? nil : order
    requests.setKnown(order.known, for: order.request)
    // Customers who are known already need no room.
    happen(.enqueue(order.request, orders: slice, total: order.total - order.known, isLast: isLast))
    // A slice in which everybody is known adds nobody, so the number of tickets alone does not tell a refusal.
    guard machine.isTakingIn == !isLast, machine.books.issued == before + Int64(slice.count), retryAt == nil
    else {
      // The queue has refused it and has answered; nothing more of it is taken.
      if let current = intake.current, current.request == order.request { intake.current = nil }
      return
    }
    for (key, offset) in keys {
      let ticket = before + 1 + offset
      stage(.remember(key: key, day: machine.books.day, first: ticket, last: ticket))
    }
    if isLast, let key = order.key {
      stage(.remember(key: key, day: machine.books.day, first: order.first, last: machine.books.issued))
    }
    tellProgress(of: order)
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
    guard intake.current?.request == request, machine.requestAlone == request else { return }
    intake.current = nil
    store.rollBack()
    stagedSince = nil
    isStagingAgain = true
    happen(.withdrawn(request))
    isStagingAgain = false
    log.write(event: "withdrawn", at: now) { $0.field("issued", machine.issuedCount) }
    commit()
  }

  private func nextSlice(
    of order: inout EnqueueIntake.Order, keys: inout [(key: String, offset: Int64)]
  ) throws(Failure) -> [CustomerOrder] {
    var slice: [CustomerOrder] = []
    switch order.source {
    case .drawn(var draw):
      let count = min(EnqueueIntake.slice, order.total - order.taken)
      slice.reserveCapacity(Int(count))
      for _ in 0..<count { slice.append(draw.next()) }
      order.source = .drawn(draw)
      order.taken += count
    case .list(let list):
      guard let entries = try list.next() else {
        throw Failure(.system, detail: "a list ended before its last customer")
      }
      order.taken += Int64(entries.count)
      slice.reserveCapacity(entries.count)
      var fresh: Set<String> = []
      for entry in entries {
        if let key = entry.key {
          guard try !isKnown(key), fresh.insert(key).inserted else {
            order.known += 1
            continue
          }
          keys.append((key, Int64(slice.count)))
        }
        slice.append(entry.order)
      }
    }
    return slice
  }

  private func isKnown(_ key: String) throws(Failure) -> Bool {
    do throws(StoreError) { return try store.tickets(forKey: key) != nil } catch {
      throw Failure(.diskFull, detail: error.description)
    }
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
