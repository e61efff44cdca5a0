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
    precondition(!isTakingIn, "a request that is half taken in is never committed")
    isJammed = false
    unsettled.removeAll(keepingCapacity: true)
    settledPauses = books.paused
    pausing.removeAll()
    if !admissions.isEmpty {
      for index in lines.indices { lines[index].settleNewcomers() }
      for admission in admissions {
        let issued = IssuedTickets(
          day: books.day, first: admission.first, last: admission.first + admission.count - 1)
        effects.append(.reply(admission.request, .enqueued(issued)))
      }
      admissions.removeAll(keepingCapacity: true)
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
    let waiting = postponed
    postponed.removeAll()
    for event in waiting { apply(event, at: now, into: &effects) }
  }

  /// The one request that is half taken in is given up: its tickets are taken back, and everything else is staged once
  /// more. Nobody else is refused anything.
  mutating func withdraw(_ request: RequestNumber, into effects: inout [QueueEffect]) {
    precondition(requestAlone == request, "only a request that is half taken in, and alone, is given up")
    isTakingIn = false
    takeBackTickets()
    effects.append(.reply(request, .refused(.withdrawn)))
    for change in unsettled { effects.append(.stage(change)) }
  }

  /// Takes back every ticket that was not spoken yet.
  private mutating func takeBackTickets() {
    for admission in admissions.reversed() {
      precondition(
        admission.first + admission.count - 1 == books.issued, "tickets are taken back from the last one down"
      )
      books.issued -= admission.count
      for line in lines.indices { books.waiting[line] -= admission.byLine[line] }
    }
    admissions.removeAll()
    for line in lines.indices { lines[line].dropNewcomers() }
  }

  /// The disk is full: tickets that nobody knows of and pauses are taken back, everything else is staged once more.
  mutating func unsettle(into effects: inout [QueueEffect]) {
    isJammed = true
    isTakingIn = false
    for admission in admissions.reversed() {
      effects.append(.reply(admission.request, .refused(.diskFull)))
    }
    takeBackTickets()
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
}
