// Owns how customers come in and how what was staged becomes certain, or is taken back.
// A ticket is in nobody's hands before `committed`: until then its customer is a newcomer who cannot be handed out.

import BankModel
import Time

extension QueueMachine {
  /// Gives tickets to a slice of customers. The first slice of a request decides whether all of it is taken.
  mutating func takeIn(
    _ orders: [CustomerOrder], of total: Int64, isLast: Bool, heldBack: Int64, for request: RequestNumber,
    at now: Moment, into effects: inout [QueueEffect]
  ) {
    if arriving?.request == request {
      return takeFurther(orders, of: total, isLast: isLast, heldBack: heldBack, at: now, into: &effects)
    }
    if let refusal = refusal(of: total) ?? refusal(ofServicesOf: orders) {
      effects.append(.reply(request, .refused(refusal)))
      return
    }
    guard isLast else {
      precondition(!isTakingIn, "slices of two requests are never mixed")
      arriving = ArrivingRequest(request, total: total, heldBack: heldBack, issued: books.issued)
      forgetFronts()
      return takeFurther(orders, of: total, isLast: false, heldBack: heldBack, at: now, into: &effects)
    }
    precondition(Int64(orders.count) <= roomBeside, "there are no numbers for these")
    var admission = Admission(
      request: request, first: books.issued + 1, count: Int64(orders.count))
    for order in orders {
      books.issued += 1
      let customer = order.customer(ticket: books.issued, issuedAt: now.wall)
      if let dueAt = dueAt(of: order, at: now) {
        books.delay(of: customer.service)
        admission.delayed.add(of: customer.service)
        delayed.admit(DelayedCustomer(customer: customer, dueAt: dueAt))
        effects.append(.stage(.insertDelayed(customer, dueAt: dueAt)))
        continue
      }
      let line = index(of: customer.line)
      books.waiting[line] += 1
      admission.note(1, at: line)
      lines[line].admit(customer)
      effects.append(.stage(.insert(customer)))
    }
    admissions.append(admission)
  }

  /// A slice of the request that is half taken in. With the last one it enters the books, as if all of it came now.
  private mutating func takeFurther(
    _ orders: [CustomerOrder], of total: Int64, isLast: Bool, heldBack: Int64, at now: Moment,
    into effects: inout [QueueEffect]
  ) {
    guard var arriving else { return }
    arriving.total = total
    let isRun = arriving.heldBack == 0
    let place = arriving.take(Int64(orders.count), heldBack: heldBack, issued: books.issued)
    if place.inGap > 0 {
      // They stand before everybody of the request who has come so far.
      for line in arrivingFronts.indices { arrivingFronts[line].removeAll(keepingCapacity: true) }
    }
    for (index, order) in orders.enumerated() {
      let offset = Int64(index)
      let isInGap = offset < place.inGap
      let customer = order.customer(ticket: place.ticket(offset), issuedAt: now.wall)
      if let dueAt = dueAt(of: order, at: now) {
        arriving.noteDelayed()
        arrivingDelayed.add(DelayedCustomer(customer: customer, dueAt: dueAt))
        effects.append(.stage(.insertDelayed(customer, dueAt: dueAt)))
        continue
      }
      let line = arriving.note(customer.line)
      while arrivingFronts.count <= line { arrivingFronts.append([]) }
      if isRun || isInGap, arrivingFronts[line].count < policy.lineCapacity {
        arrivingFronts[line].append(customer)
      }
      effects.append(.stage(.insert(customer)))
    }
    self.arriving = isLast ? nil : arriving
    guard isLast else { return }
    precondition(
      arriving.heldBack == 0 && arriving.first == books.issued + 1,
      "with the last slice no number is left out")
    var admission = Admission(request: arriving.request, first: arriving.first, count: arriving.count)
    books.issued += arriving.count
    for (front, line) in arriving.byLine.lines.enumerated() {
      let waiting = index(of: line)
      admission.note(arriving.byLine[front], at: waiting)
      books.waiting[waiting] += arriving.byLine[front]
      for customer in arrivingFronts[front] { lines[waiting].admit(customer) }
      lines[waiting].admitUnseen(arriving.byLine[front] - Int64(arrivingFronts[front].count))
    }
    admission.delayed = arrivingDelayed.tally
    books.delay(arrivingDelayed.tally)
    delayed.admit(arrivingDelayed)
    admissions.append(admission)
    forgetFronts()
  }

  private func refusal(of total: Int64) -> QueueRefusal? {
    if stage != .open { return .draining }
    if isJammed || isShort { return .diskFull }
    let standing = books.waitingInAll + books.delayed + (arriving?.total ?? 0)
    let (sum, overflow) = standing.addingReportingOverflow(total)
    // Nobody needs no room: the repetition of a list of customers who are all known is answered as ever. More than
    // the limit wait where dead letters were brought back.
    if total > 0, overflow || sum > policy.maxWaiting {
      return .queueFull(waiting: standing, limit: policy.maxWaiting)
    }
    return nil
  }

  /// Why these customers, who come next, cannot be taken in: more would wait for a service than may wait for it. Of a
  /// request that comes in slices it is said with the slice that is too much, and all of it is refused then.
  public func refusal(ofServicesOf orders: [CustomerOrder]) -> QueueRefusal? {
    guard policy.hasRoomByService else { return nil }
    var coming = ServiceTally()
    for order in orders { coming.add(of: order.service) }
    for (index, count) in coming.counts.enumerated() where count > 0 {
      guard let limit = policy[index].maxWaiting else { continue }
      let service = Service(index: index)
      let standing = books.waiting.places(of: service).reduce(books.delayedByService[service.index]) {
        $0 + books.waiting[$1]
      }
      if standing + arrivingCount(of: service) + count > limit {
        return .serviceFull(service, waiting: standing, limit: limit)
      }
    }
    return nil
  }

  /// Customers of the request that is half taken in who came for a service.
  private func arrivingCount(of service: Service) -> Int64 {
    guard let arriving else { return 0 }
    return arriving.byLine.places(of: service).reduce(arrivingDelayed.tally[service]) {
      $0 + arriving.byLine[$1]
    }
  }

  /// Everything that was staged is on disk: tickets are spoken, newcomers stand in line, answers leave.
  mutating func settle(at now: Moment, into effects: inout [QueueEffect]) {
    isJammed = false
    unsettled.removeAll(keepingCapacity: true)
    unsettledBytes = 0
    settledPauses = books.paused
    pausing.removeAll()
    if !admissions.isEmpty {
      for index in lines.indices { lines[index].settleNewcomers() }
      delayed.settleNewcomers()
      for admission in admissions {
        let issued = IssuedTickets(
          day: books.day, first: admission.first, last: admission.first + admission.count - 1)
        effects.append(.reply(admission.request, .enqueued(issued)))
      }
      admissions.removeAll(keepingCapacity: true)
    }
    for service in windows.indices {
      for place in windows[service].indices {
        guard let lease = windows[service][place].unacknowledged else { continue }
        windows[service][place].unacknowledged = nil
        effects.append(.acknowledge(windows[service][place].window, lease))
      }
    }
    effects.append(contentsOf: settling)
    settling.removeAll(keepingCapacity: true)
    if !starts.isEmpty { beginStarts(at: now, into: &effects) }
    if !isTakingIn { takeUpPostponed(at: now, into: &effects) }
  }

  private mutating func takeUpPostponed(at now: Moment, into effects: inout [QueueEffect]) {
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
    // They come behind what was staged before, and are written with it.
    takeBackStarts(into: &effects)
  }

  /// A request that is half taken in is given up: nobody was told of its numbers, and they are free. A reset that has
  /// waited for it waits no longer.
  mutating func abandonIntake(at now: Moment, into effects: inout [QueueEffect]) {
    guard isTakingIn else { return }
    forgetArriving()
    if admissions.isEmpty { takeUpPostponed(at: now, into: &effects) }
  }

  private mutating func forgetArriving() {
    arriving = nil
    forgetFronts()
  }

  private mutating func forgetFronts() {
    arrivingFronts = []
    arrivingDelayed = DelayedNewcomers(capacity: policy.delayedCapacity)
  }

  /// Takes back every ticket that is not on disk, from the last one down.
  ///
  /// - Returns: the requests that they were for, the last one first.
  private mutating func takeBackTickets() -> [RequestNumber] {
    let requests = admissions.reversed().map(\.request) + (arriving.map { [$0.request] } ?? [])
    forgetArriving()
    for admission in admissions.reversed() {
      precondition(
        admission.first + admission.count - 1 == books.issued, "tickets are taken back from the last one down"
      )
      books.issued -= admission.count
      for (place, count) in admission.runs { books.waiting[place] -= count }
      books.delay(admission.delayed, times: -1)
    }
    admissions.removeAll()
    for line in lines.indices { lines[line].dropNewcomers() }
    delayed.dropNewcomers()
    return requests
  }
}
