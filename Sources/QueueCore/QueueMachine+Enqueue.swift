// Admission of new customers.
// Invariant: no client receives a ticket before `committed`; until then its customer is a newcomer and cannot be
// assigned.

import BankModel
import Time

extension QueueMachine {
  /// Adds one slice of a request for `total` customers, of which the first `heldBack` are sent last. The tickets are
  /// issued with the last slice. The caller has checked each slice with ``refusal(ofServicesOf:)`` and
  /// ``refusal(ofLinesOf:)``.
  mutating func enqueueCustomers(
    _ orders: [CustomerOrder], _ attachments: SliceAttachments?, of total: Int64, isLast: Bool,
    heldBack: Int64,
    for request: RequestNumber, at now: Moment, into effects: inout [QueueEffect]
  ) {
    if arriving?.request == request {
      return continueEnqueue(
        orders, attachments, of: total, isLast: isLast, heldBack: heldBack, at: now, into: &effects)
    }
    if let refusal = refusal(of: total) ?? refusal(ofServicesOf: orders) {
      effects.append(.reply(request, .refused(refusal)))
      return
    }
    guard isLast else {
      precondition(!isTakingIn, "slices of two requests are never mixed")
      arriving = InProgressEnqueue(request, total: total, heldBack: heldBack, issued: dayCounters.issued)
      forgetFronts()
      return continueEnqueue(
        orders, attachments, of: total, isLast: false, heldBack: heldBack, at: now, into: &effects)
    }
    precondition(Int64(orders.count) <= concurrentEnqueueLimit, "there are not enough ticket numbers")
    var admission = PendingEnqueue(
      request: request, first: dayCounters.issued + 1, count: Int64(orders.count))
    for order in orders {
      dayCounters.issued += 1
      let customer = order.customer(ticket: dayCounters.issued, issuedAt: now.wall)
      if let dueAt = dueAt(of: order, at: now) {
        dayCounters.delay(of: customer.service)
        admission.delayed.add(of: customer.service)
        delayed.admit(DelayedCustomer(customer: customer, dueAt: dueAt))
        effects.append(.stage(.insertDelayed(customer, dueAt: dueAt)))
        continue
      }
      let line = index(of: customer.line)
      dayCounters.waiting[line] += 1
      admission.register(1, at: line)
      lines[line].admit(customer)
      effects.append(.stage(.insert(customer)))
    }
    pendingEnqueues.append(admission)
    let tickets = admission.first...max(admission.first, dayCounters.issued)
    stage(attachments, of: request, with: orders.isEmpty ? nil : tickets, into: &effects) {
      tickets.contains($0)
    }
  }

  /// Stages the keys and payloads of an accepted slice.
  ///
  /// - Parameters:
  ///   - tickets: all tickets of the request with its last slice; nil before it.
  ///   - isOfSlice: returns true for a ticket of the slice.
  private func stage(
    _ attachments: SliceAttachments?, of request: RequestNumber, with tickets: ClosedRange<TicketNumber>?,
    into effects: inout [QueueEffect], isOfSlice: (TicketNumber) -> Bool
  ) {
    effects.append(.acceptSlice(request))
    guard let attachments, !attachments.isEmpty else { return }
    for entry in attachments.payloads {
      precondition(
        isOfSlice(entry.tickets.lowerBound) && isOfSlice(entry.tickets.upperBound),
        "a payload belongs to customers of its slice")
      effects.append(.stage(.attach(payload: entry.payload, to: entry.tickets)))
    }
    let day = dayCounters.day
    for entry in attachments.keys {
      precondition(isOfSlice(entry.ticket), "a key belongs to a customer of its slice")
      effects.append(
        .stage(
          .remember(key: entry.key, day: day, first: entry.ticket, last: entry.ticket, request: entry.digest))
      )
    }
    if let key = attachments.requestKey, let tickets {
      effects.append(
        .stage(
          .remember(
            key: key, day: day, first: tickets.lowerBound, last: tickets.upperBound,
            request: attachments.requestDigest)))
    }
  }

  /// Adds a slice to the request that is arriving. With the last slice, the tickets of the request are issued.
  private mutating func continueEnqueue(
    _ orders: [CustomerOrder], _ attachments: SliceAttachments?, of total: Int64, isLast: Bool,
    heldBack: Int64,
    at now: Moment, into effects: inout [QueueEffect]
  ) {
    guard var arriving else { return }
    arriving.total = total
    let isRun = arriving.heldBack == 0
    let place = arriving.take(Int64(orders.count), heldBack: heldBack, issued: dayCounters.issued)
    if place.inGap > 0 {
      // The customers with numbers in the gap precede all customers of earlier slices.
      for line in arrivingFronts.indices { arrivingFronts[line].removeAll(keepingCapacity: true) }
    }
    for (index, order) in orders.enumerated() {
      let offset = Int64(index)
      let isInGap = offset < place.inGap
      let customer = order.customer(ticket: place.ticket(offset), issuedAt: now.wall)
      if let dueAt = dueAt(of: order, at: now) {
        arriving.registerDelayed()
        arrivingDelayed.add(DelayedCustomer(customer: customer, dueAt: dueAt))
        effects.append(.stage(.insertDelayed(customer, dueAt: dueAt)))
        continue
      }
      let line = arriving.register(customer.line)
      while arrivingFronts.count <= line { arrivingFronts.append([]) }
      if isRun || isInGap, arrivingFronts[line].count < policy.lineCapacity {
        arrivingFronts[line].append(customer)
      }
      effects.append(.stage(.insert(customer)))
    }
    self.arriving = isLast ? nil : arriving
    let tickets = isLast && arriving.count > 0 ? arriving.first...arriving.next - 1 : nil
    stage(attachments, of: arriving.request, with: tickets, into: &effects) {
      place.contains($0, of: Int64(orders.count))
    }
    guard isLast else { return }
    precondition(
      arriving.heldBack == 0 && arriving.first == dayCounters.issued + 1,
      "the last slice uses all remaining numbers")
    var admission = PendingEnqueue(request: arriving.request, first: arriving.first, count: arriving.count)
    dayCounters.issued += arriving.count
    for (front, line) in arriving.byLine.lines.enumerated() {
      let waiting = index(of: line)
      admission.register(arriving.byLine[front], at: waiting)
      dayCounters.waiting[waiting] += arriving.byLine[front]
      for customer in arrivingFronts[front] { lines[waiting].admit(customer) }
      lines[waiting].admitUnloaded(arriving.byLine[front] - Int64(arrivingFronts[front].count))
    }
    admission.delayed = arrivingDelayed.tally
    dayCounters.delay(arrivingDelayed.tally)
    delayed.admit(arrivingDelayed)
    pendingEnqueues.append(admission)
    forgetFronts()
  }

  /// Reason to refuse a request for `total` customers, apart from limits of services and lines; nil for none.
  private func refusal(of total: Int64) -> QueueRefusal? {
    if stage != .open { return .draining }
    if isDiskFull || isLowOnSpace { return .diskFull }
    let openCount = dayCounters.waitingInAll + dayCounters.delayed + (arriving?.total ?? 0)
    let (sum, overflow) = openCount.addingReportingOverflow(total)
    // A request for 0 new customers fits, however many customers wait: all its keys are known, and it gets the stored
    // tickets. `sum` can exceed the limit without new customers, because requeued dead letters are not limited.
    if total > 0, overflow || sum > policy.maxWaiting {
      return .queueFull(waiting: openCount, limit: policy.maxWaiting)
    }
    return nil
  }

  /// Returns the refusal of these new customers if more customers would wait for a service than its `maxWaiting`
  /// allows, or nil if they fit.
  public func refusal(ofServicesOf orders: [CustomerOrder]) -> QueueRefusal? {
    guard policy.hasLimitByService else { return nil }
    var coming = CountsByService()
    for order in orders { coming.add(of: order.service) }
    for (index, count) in coming.counts.enumerated() where count > 0 {
      guard let limit = policy[index].maxWaiting else { continue }
      let service = Service(index: index)
      let openCount = dayCounters.waiting.places(of: service).reduce(
        dayCounters.delayedByService[service.index]
      ) {
        $0 + dayCounters.waiting[$1]
      }
      if openCount + arrivingCount(of: service) + count > limit {
        return .serviceFull(service, waiting: openCount, limit: limit)
      }
    }
    return nil
  }

  /// Number of customers of the arriving request for one service.
  private func arrivingCount(of service: Service) -> Int64 {
    guard let arriving else { return 0 }
    return arriving.byLine.places(of: service).reduce(arrivingDelayed.tally[service]) {
      $0 + arriving.byLine[$1]
    }
  }

  /// Drops the arriving request. Its numbers were not reported to the client and may be issued to other customers. A
  /// reset that waited only for this request runs now.
  mutating func abandonEnqueue(at now: Moment, into effects: inout [QueueEffect]) {
    guard isTakingIn else { return }
    forgetArriving()
    if pendingEnqueues.isEmpty { processDeferredRequests(at: now, into: &effects) }
  }

  /// Drops the arriving request.
  mutating func forgetArriving() {
    arriving = nil
    forgetFronts()
  }

  /// Empties the buffers of the arriving request.
  private mutating func forgetFronts() {
    arrivingFronts = []
    arrivingDelayed = DelayedNewcomers(capacity: policy.delayedCapacity)
  }
}
