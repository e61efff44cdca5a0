// Owns how customers come in and how what was staged becomes certain, or is taken back.
// A ticket is in nobody's hands before `committed`: until then its customer is a newcomer who cannot be handed out.

import BankModel

extension QueueMachine {
  /// Gives tickets to a slice of customers. The first slice of a request decides whether all of it is taken.
  mutating func takeIn(
    _ orders: [CustomerOrder], total: Int64, isLast: Bool, for request: RequestNumber, at now: Moment,
    into effects: inout [QueueEffect]
  ) {
    let isContinuation = isTakingIn && admissions.last?.request == request
    precondition(!isTakingIn || isContinuation, "slices of two requests are never mixed")
    if !isContinuation {
      if let refusal = refusal(of: total) {
        effects.append(.reply(request, .refused(refusal)))
        return
      }
      admissions.append(
        Admission(
          request: request, first: books.issued + 1, count: 0,
          byLine: Array(repeating: 0, count: Line.allCases.count)))
    }
    let last = admissions.count - 1
    for order in orders {
      books.issued += 1
      let customer = order.customer(ticket: books.issued, issuedAt: now.wall)
      let line = customer.line.index
      books.waiting[line] += 1
      admissions[last].byLine[line] += 1
      lines[line].admit(customer)
      effects.append(.stage(.insert(customer)))
    }
    admissions[last].count += Int64(orders.count)
    isTakingIn = !isLast
  }

  private func refusal(of total: Int64) -> QueueRefusal? {
    if stage != .open { return .draining }
    if isJammed || isShort { return .diskFull }
    let standing = books.waitingInAll + books.delayed
    let (sum, overflow) = standing.addingReportingOverflow(total)
    // Nobody needs no room: the repetition of a list of customers who are all known is answered as ever. More than
    // the limit wait where dead letters were brought back.
    if total > 0, overflow || sum > policy.maxWaiting {
      return .queueFull(waiting: standing, limit: policy.maxWaiting)
    }
    return nil
  }

  /// Everything that was staged is on disk: tickets are spoken, newcomers stand in line, answers leave.
  mutating func settle(at now: Moment, into effects: inout [QueueEffect]) {
    isJammed = false
    unsettled.removeAll(keepingCapacity: true)
    settledPauses = books.paused
    pausing.removeAll()
    if !admissions.isEmpty {
      // The request that is half taken in, which is the last one, is not on disk before all of it is.
      let open = isTakingIn ? admissions.removeLast() : nil
      for index in lines.indices { lines[index].settleNewcomers(butLast: open?.byLine[index] ?? 0) }
      for admission in admissions {
        let issued = IssuedTickets(
          day: books.day, first: admission.first, last: admission.first + admission.count - 1)
        effects.append(.reply(admission.request, .enqueued(issued)))
      }
      admissions.removeAll(keepingCapacity: true)
      if let open { admissions.append(open) }
    }
    for service in desks.indices {
      for place in desks[service].indices {
        guard let lease = desks[service][place].unacknowledged else { continue }
        desks[service][place].unacknowledged = nil
        effects.append(.acknowledge(desks[service][place].window, lease))
      }
    }
    effects.append(contentsOf: settling)
    settling.removeAll(keepingCapacity: true)
    guard admissions.isEmpty else { return }
    let waiting = postponed
    postponed.removeAll()
    for event in waiting { apply(event, at: now, into: &effects) }
  }

  /// The disk is full: tickets that nobody knows of and pauses are taken back, everything else is staged once more.
  mutating func unsettle(into effects: inout [QueueEffect]) {
    isJammed = true
    for request in takeBackTickets() { effects.append(.reply(request, .refused(.diskFull))) }
    books.paused = settledPauses
    for request in pausing {
      settling.removeAll { if case .reply(request, _) = $0 { true } else { false } }
      effects.append(.reply(request, .refused(.diskFull)))
    }
    pausing.removeAll()
    for case .reset(let request) in postponed { effects.append(.reply(request, .refused(.diskFull))) }
    postponed.removeAll()
    for change in unsettled { effects.append(.stage(change)) }
  }

  /// A request that is half taken in is given up: its tickets are taken back, and everything else is staged once more.
  ///
  /// Nothing is refused to anybody else by it: pauses stand in the books, and a reset that has waited for the tickets
  /// waits no longer.
  mutating func abandonIntake(at now: Moment, into effects: inout [QueueEffect]) {
    guard isTakingIn else { return }
    _ = takeBackTickets()
    for change in unsettled { effects.append(.stage(change)) }
    let waiting = postponed
    postponed.removeAll()
    for event in waiting { apply(event, at: now, into: &effects) }
  }

  /// Takes back every ticket that is not on disk, from the last one down.
  ///
  /// - Returns: the requests that they were for, the last one first.
  private mutating func takeBackTickets() -> [RequestNumber] {
    isTakingIn = false
    let requests = admissions.reversed().map(\.request)
    for admission in admissions.reversed() {
      precondition(
        admission.first + admission.count - 1 == books.issued, "tickets are taken back from the last one down"
      )
      books.issued -= admission.count
      for line in lines.indices { books.waiting[line] -= admission.byLine[line] }
    }
    admissions.removeAll()
    for line in lines.indices { lines[line].dropNewcomers() }
    return requests
  }
}
