// Intake of enqueue requests: checks them, makes them repeatable by their keys, and cuts them into slices for the
// queue. A known key is answered with the tickets of the first request, after these are on disk. The same key with a
// different request is refused. A small request of another client can be admitted between two slices of a large one,
// unless both may have the same key.
// Invariant: at most one request is partly admitted, in the queue as well as in this class. A request that is given up
// leaves no data: its customers on disk are removed before their numbers are assigned again.

import BankModel
import Posix
import QueueCore
import Time
import Wire

final class EnqueueHandler: CoordinatorComponent {
  /// Time in one loop iteration after which no further slice is admitted.
  private static let admissionTimeLimit = TimeSpan.milliseconds(4)
  private static let progressPause = TimeSpan.milliseconds(200)

  let durableReads: DurableReads
  let limits: CoordinatorLimits
  let line = EnqueueQueue()
  private(set) var pacing = EnqueuePacing()
  /// True if time ran out while small requests were admitted beside a large one, so that there may be more of them.
  private var hasMoreConcurrent = false
  /// Limit on the payloads in memory, for all clients together and for each one.
  private let payloads = PayloadMemoryLimiter()
  /// Part read so far of the request that is submitted to the shared database next.
  var gathered: EnqueueRequest?
  /// Payload bytes staged since the last commit.
  private var stagedBytes = 0

  init(_ dependencies: CoordinatorComponent, _ durableReads: DurableReads, _ limits: CoordinatorLimits) {
    self.durableReads = durableReads
    self.limits = limits
    super.init(dependencies)
  }

  // MARK: - Requests

  /// Checks a request without a list, and adds it to the line of requests or refuses it.
  func receive(_ order: EnqueueParameters, _ requester: RequestHandle) {
    if let fault = order.fault(maxPayload: context.configuration.maxPayload, now: context.now.wall) {
      return server.answer(requester, .failure(Failure(.badRequest, messageDetail: fault)))
    }
    let service: Service?
    do throws(Failure) {
      service = try order.knownService(among: context.services, by: queue.machine.policy)
      if order.payload != nil, let fault = unreadPayload(order, service) {
        throw Failure(.badRequest, messageDetail: fault)
      }
    } catch { return server.answer(requester, .failure(error)) }
    var carried: ([UInt8], PayloadReservation)?
    if let payload = order.payload {
      let share = PayloadReservation(payloads, requester.session)
      guard share.hasRoom(for: payload.count) else {
        return server.answer(requester, .failure(share.refusal(of: payload.count)))
      }
      share.bytes = payload.count
      carried = (payload, share)
    }
    let dueAt = WallTime(dueAt: order.dueAt, delay: order.delay, requestedAt: context.now.wall)
    let draw = CustomerGenerator(
      service: service, priority: order.priority, amount: order.amount, account: order.account,
      itemName: order.itemName ?? "", dueAt: dueAt, seed: order.seed)
    let slice = min(limits.slice, max(1, Int64(limits.sliceBytes / max(1, order.payload?.count ?? 0))))
    let sliced = CustomerSliceGenerator(draw, total: order.count, slice: slice, heldBackLimit: gap)
    let digest = order.key == nil ? nil : order.digest(for: service)
    append(.drawn(sliced, carried), key: order.key, digest: digest, order.count, requester)
  }

  /// Reason why the payload is refused; nil if it may be stored.
  private func unreadPayload(_ order: EnqueueParameters, _ service: Service?) -> MessageDetail? {
    guard let service, let name = order.service else {
      return limits.storesUnreadPayloads ? nil : MessageDetail(.payloadWithoutService)
    }
    if order.isCommandLine == true, context.configuration[name].command != [] {
      return MessageDetail(.noCommandLines, name.text)
    }
    if order.isCommandLine == false, context.configuration[name].command == [] {
      return MessageDetail(.commandLinesNotPermitted, name.text)
    }
    return readsPayload(service) ? nil : MessageDetail(.payloadNotAllowed, name.text)
  }

  /// True if customers of this service may carry a payload.
  private func readsPayload(_ service: Service) -> Bool {
    context.kinds[service].takesPayload || limits.storesUnreadPayloads
  }

  /// Adds a part of a list to the list; the last part completes the request.
  func receive(_ part: EnqueueList, _ requester: RequestHandle) {
    let session = requester.session
    if let list = session.list, list.number != requester.number {
      return server.refuse(session, .malformed, "two lists at the same time")
    }
    let list =
      session.list
      ?? EnqueueListSpool(
        number: requester.number, directory: context.home.run, partLimit: limits.listPart,
        maxPayload: context.configuration.maxPayload, share: PayloadReservation(payloads, session),
        readsPayload: { [unowned self] in readsPayload($0) })
    session.list = list
    list.append(part.entries, for: context.services, by: queue.machine.policy, at: context.now.wall)
    guard part.isLast else { return }
    session.list = nil
    list.end()
    if let failure = list.failure { return server.answer(requester, .failure(failure)) }
    guard list.count > 0 else {
      return server.answer(
        requester, .failure(Failure(.badRequest, messageDetail: MessageDetail(.listEmpty))))
    }
    append(.list(SlicedList(list, heldBackLimit: gap)), list.count, requester)
  }

  /// Adds a checked request for `total` customers to the line of requests, and to the table of requests to be answered.
  private func append(
    _ source: EnqueueQueue.Source, key: String? = nil, digest: Int64? = nil, _ total: Int64,
    _ requester: RequestHandle
  ) {
    let request = requests.open(requester, for: .enqueue(known: 0, AlreadyIssuedTickets()))
    let requestedAt = context.now.wall
    line.append(
      .init(
        request: request, source: source, key: key, digest: digest, requestedAt: requestedAt, total: total))
  }

  /// Withdraws a client's own request. If it was not admitted completely, the client receives a failure, and no
  /// customer is added. If it was, the client receives the usual answer.
  func withdraw(_ number: UInt32, of session: ControlSession) {
    if session.list?.number == number {
      session.list = nil
      return server.answer(session, number, .failure(Failure(.withdrawn)))
    }
    guard let request = requests.enqueue(number, of: session) else { return }
    if Mutant.admitsWithdrawnRequest.isActive { return requests.fail(request, Failure(.withdrawn)) }
    let isCurrent = line.current?.request == request
    if line.remove(request) || isCurrent && (line.current?.taken == 0 || shared != nil) {
      if isCurrent { (line.current, gathered) = (nil, nil) }
      return requests.fail(request, Failure(.withdrawn))
    }
    guard queue.machine.arriving?.request == request else { return }
    guard giveUp(because: Failure(.withdrawn)) else { return }
    context.write(event: "request_withdrawn") { $0.field("issued", queue.machine.issuedCount) }
    queue.commit()
  }

  /// Limit of customers that are numbered last; 0 in a shared bank, whose database assigns the numbers.
  private var gap: Int64 { shared == nil ? limits.gap : 0 }

  // MARK: - Pending work

  /// Request being admitted, with its progress.
  var current: EnqueueQueue.Order? { line.current }
  var isEmpty: Bool { line.isEmpty }
  /// True if requests wait or customers are to be removed, and the queue permits it now.
  var hasWork: Bool { queue.mayAdmitOrRemove && (!line.isEmpty || isWithdrawing) }
  /// True if that work need not wait for the end of a rest; see `EnqueuePacing`.
  var hasWorkNow: Bool { hasWork && (isDue || hasMoreConcurrent) }
  var nextDeadline: MonotonicTime? { hasWork ? pacing.restsUntil : nil }

  /// First number of a request that cannot complete, if its customers are still to be removed.
  var remains: TicketNumber? {
    guard let first = store.firstUnissuedTicket, !queue.machine.isTakingIn,
      first > queue.machine.dayCounters.issued,
      !Mutant.keepsPartOfWithdrawnRequest.isActive
    else { return nil }
    return first
  }

  /// True if the customers of ``remains`` are to be removed now; false while the disk is full.
  private var isWithdrawing: Bool { queue.engine.isWorking && remains != nil }
  /// True if a large request does not rest now.
  private var isDue: Bool { pacing.isDue(at: context.now.monotonic) }
  /// True if customers of a large request were admitted or removed in this iteration while other customers
  /// are served or admitted.
  var isShared: Bool { pacing.isShared(serving: queue.machine.serving) }

  // MARK: - One loop iteration

  /// Admits customers of waiting requests, and removes those of a request that was given up.
  func advance() {
    guard hasWork else { return }
    if !queue.engine.hasStaged { stagedBytes = 0 }
    let until = context.now.monotonic + Self.admissionTimeLimit
    if let shared { return submit(to: shared, until: until) }
    if isWithdrawing || line.isLarge {
      admitConcurrently(until: until)
      guard hasWork, isDue else { return }
    }
    if isWithdrawing {
      beginIteration()
      return removeUnissuedCustomers()
    }
    // If a request is given up, its committed customers must be removed first.
    while hasWork, !isWithdrawing, let order = line.advance() {
      if order.taken == 0, let key = order.key, answerKnown(key, order) { continue }
      if order.isSliced {
        guard isDue else { return }
        beginIteration()
      }
      if let part = order.uncounted { countNewCustomers(part, of: order) } else { admitSlice(of: order) }
      commitIfHeavy()
      if line.current != nil, SystemClock.monotonic() >= until { return }
    }
  }

  /// Commits early if many payload bytes are staged, because the store holds staged changes in memory.
  private func commitIfHeavy() {
    guard stagedBytes >= limits.transactionBytes else { return }
    stagedBytes = 0
    queue.commit()
  }

  /// Ends an iteration. If it has admitted or removed customers of a large request, a rest may follow.
  func finishIteration() {
    if pacing.began != nil { pacing.end(at: SystemClock.monotonic(), serving: queue.machine.serving) }
  }

  /// Suspends admission and removal for a large request until this moment; nil to resume.
  func rest(until moment: MonotonicTime?) { pacing.rest(until: moment) }
  /// Records that this iteration works for a large request from now on; the duration determines the rest that follows.
  private func beginIteration() {
    if pacing.began == nil { pacing.begin(at: SystemClock.moment().monotonic) }
  }

  /// Admits small requests that need not wait for a large request or for the removal of an incomplete one.
  private func admitConcurrently(until: MonotonicTime) {
    hasMoreConcurrent = false
    while hasWork,
      let order = line.dequeueConcurrent(
        room: concurrentEnqueueLimit,
        client: { [requests] request in requests.entry(request).map { ObjectIdentifier($0.requester.session) }
        },
        mayCome: { [unowned self] order in keysAreUnclaimed(order) })
    {
      pacing.recordConcurrentAdmission()
      if let key = order.key, answerKnown(key, order) { continue }
      admitSlice(of: order)
      commitIfHeavy()
      guard SystemClock.monotonic() < until else {
        hasMoreConcurrent = true
        return
      }
    }
  }

  /// True if no key of the request belongs to customers who do not count yet: customers to be removed, or
  /// admitted customers of an incomplete request.
  private func keysAreUnclaimed(_ order: EnqueueQueue.Order) -> Bool {
    guard remains != nil || queue.machine.isTakingIn else { return true }
    let (day, issued) = (queue.machine.dayCounters.day, queue.machine.dayCounters.issued)
    return order.keys.allSatisfy { key in
      guard let tickets = try? store.request(forKey: key)?.tickets else { return true }
      return tickets.day < day || tickets.last <= issued
    }
  }

  /// Numbers available to requests beside a large one.
  private var concurrentEnqueueLimit: Int64 {
    remains.map { $0 - 1 - queue.machine.dayCounters.issued } ?? queue.machine.concurrentEnqueueLimit
  }

  /// Removes customers of a request that cannot complete. No client received their numbers, and the removal frees
  /// the numbers.
  private func removeUnissuedCustomers() {
    guard !queue.removeUnissuedCustomers(limit: limits.withdrawn) else { return }
    // The removal needs disk space too, so after a failure it pauses.
    rest(until: context.now.monotonic + .seconds(1))
  }

  // MARK: - Slices

  /// Looks up which customers of a part of a list have keys in the store; see ``SlicedList``.
  private func countNewCustomers(_ part: Int, of order: EnqueueQueue.Order) {
    var order = order
    do throws(SliceError) { try slices.countNewCustomers(part, of: &order) } catch {
      return refuse(order, error)
    }
    line.current = order
  }

  /// Passes the next slice of a request to the queue, and stages its payloads and keys.
  private func admitSlice(of order: EnqueueQueue.Order) {
    let before = order
    var order = order
    let issued = queue.machine.dayCounters.issued
    let arriving = queue.machine.arriving?.request == order.request ? queue.machine.arriving : nil
    var attachments = SliceAttachments()
    let slice: [CustomerOrder]
    do throws(SliceError) {
      slice = try nextSlice(of: &order, with: &attachments, after: arriving, issued: issued)
    } catch {
      return refuse(before, error)
    }
    if let refusal = queue.machine.refusal(ofLinesOf: slice) ?? queue.machine.refusal(ofServicesOf: slice) {
      return breakOff(before, Failure(refusal: refusal, context.services.directory))
    }
    let isLast = order.taken >= order.total
    if isLast { line.end(order) } else { line.current = order }
    requests.setKnown(order.known, order.alreadyIssuedTickets, for: order.request)
    // Customers with known keys need no capacity.
    let known = Mutant.countsKnownCustomersAgain.isActive ? 0 : order.known
    if isLast { (attachments.requestKey, attachments.requestDigest) = (order.key, order.digest) }
    let isAccepted = queue.admit(
      .enqueue(
        order.request, orders: slice, total: order.total - known, isLast: isLast, heldBack: order.heldBack,
        attachments: attachments), of: order.request)
    guard isAccepted || Mutant.continuesAfterRefusedList.isActive, queue.engine.isWorking else {
      // The queue has refused the request, or this process exits: admit nothing more of it.
      return line.end(order)
    }
    stagedBytes += attachments.bytes
    sendProgress(of: order)
  }

  /// Returns the customers of the next slice, and adds their payloads and keys to `attachments`.
  /// - Parameter arriving: Numbers of the customers admitted so far; nil before the first slice.
  /// - Parameter issued: The highest issued number; the numbers of `arriving` are not issued yet.
  func nextSlice(
    of order: inout EnqueueQueue.Order, with attachments: inout SliceAttachments,
    after arriving: InProgressEnqueue?,
    issued: TicketNumber
  ) throws(SliceError) -> [CustomerOrder] {
    switch order.source {
    case .drawn(var draw, let carried):
      let slice = draw.next()
      if let (payload, _) = carried {
        let count = Int64(slice.count)
        let place = order.placement(of: count, heldBack: draw.heldBack, after: arriving, issued: issued)
        attachments.payloads = place.runs(of: count).map { SlicePayload(payload: payload, tickets: $0) }
      }
      order.source = .drawn(draw, carried)
      order.taken = draw.drawn
      return slice
    case .list(let list):
      return try slices.next(of: list, &order, with: &attachments, after: arriving, issued: issued)
    }
  }

  /// Access to the parts of lists, with the present store and day.
  private var slices: ListSlices {
    ListSlices(store: store, services: context.services.directory, day: queue.machine.dayCounters.day)
  }

  /// Reports to the client how many customers were admitted, if the last report is old enough.
  private func sendProgress(of order: EnqueueQueue.Order) {
    guard var current = line.current, current.request == order.request,
      let entry = requests.entry(order.request)
    else { return }
    let moment = SystemClock.monotonic()
    if let reportedAt = current.reportedAt, moment.since(reportedAt) < Self.progressPause { return }
    current.reportedAt = moment
    line.current = current
    let report = ProgressReport(phase: .enqueuing, done: order.taken, total: order.total)
    server.answer(entry.requester, .progress(report), more: true)
  }
}
