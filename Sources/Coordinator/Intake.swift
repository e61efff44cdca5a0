// Owns how requests for tickets reach the queue: checked, made repeatable by their keys, and cut into slices.
// A known key is answered with the tickets of the first time, and only when these are on disk; with another request it is
// refused. What is peculiar to lists stands in `ListSlices.swift`.
// Small requests do not wait for a large one: they come in between two of its slices. While others are served a large
// one rests after each turn for longer than the turn took.
// Invariant: at most one request is half taken in, by the queue as well as here, and of one that is given up nobody keeps a
// part: who of it is on disk is taken out before its numbers are anybody else's.

import BankModel
import Posix
import QueueCore
import Time
import Wire

final class Intake: BankPart {
  /// How long customers are taken in before everybody else is heard again.
  private static let intakeTime = TimeSpan.milliseconds(4)
  private static let progressPause = TimeSpan.milliseconds(200)

  let readings: Readings
  let limits: CoordinatorLimits
  let line = EnqueueIntake()
  /// When a large request rests, because others are served.
  private(set) var pacing = IntakePacing()
  /// There was no time for all who could come in beside a large request.
  private var hasMoreBeside = false
  /// Payloads of requests that wait.
  private let payloads = PayloadRoom()
  /// What has been gathered of the request that is handed in to shared books next.
  var gathered: IntakeRequest?
  /// Bytes of payloads that were staged since this was last a matter of the commit.
  private var stagedBytes = 0

  init(_ ground: BankPart, _ readings: Readings, _ limits: CoordinatorLimits) {
    self.readings = readings
    self.limits = limits
    super.init(ground)
  }

  // MARK: - What is asked

  func take(_ order: EnqueueOrder, _ seat: Seat) {
    if let fault = order.fault(maxPayload: context.configuration.maxPayload, now: context.now.wall) {
      return server.answer(seat, .failure(Failure(.badRequest, remark: fault)))
    }
    let service: Service?
    do throws(Failure) {
      service = try order.knownService(among: context.services, by: queue.machine.policy)
      if order.payload != nil, let fault = unreadPayload(order, service) {
        throw Failure(.badRequest, remark: fault)
      }
    } catch { return server.answer(seat, .failure(error)) }
    var carried: ([UInt8], PayloadShare)?
    if let payload = order.payload {
      let share = PayloadShare(payloads, seat.session)
      guard share.hasRoom(for: payload.count) else {
        return server.answer(seat, .failure(share.refusal(of: payload.count)))
      }
      share.bytes = payload.count
      carried = (payload, share)
    }
    let dueAt = WallTime(dueAt: order.dueAt, delay: order.delay, asked: context.now.wall)
    let draw = CustomerDraw(
      service: service, priority: order.priority, amount: order.amount, account: order.account,
      article: order.article ?? "", dueAt: dueAt, seed: order.seed)
    let slice = min(limits.slice, max(1, Int64(limits.sliceBytes / max(1, order.payload?.count ?? 0))))
    let sliced = SlicedDraw(draw, total: order.count, slice: slice, heldBackAtMost: gap)
    let digest = order.key == nil ? nil : order.digest(for: service)
    append(.drawn(sliced, carried), key: order.key, digest: digest, order.count, seat)
  }

  /// Says why a payload would be lost or taken for something else; nil if the service reads it.
  private func unreadPayload(_ order: EnqueueOrder, _ service: Service?) -> Remark? {
    guard let service, let name = order.service else {
      return limits.keepsUnreadPayloads ? nil : Remark(.payloadWithoutService)
    }
    if order.isCommandLine == true, context.configuration[name].command != [] {
      return Remark(.noCommandLines, name.text)
    }
    return readsPayload(service) ? nil : Remark(.payloadUnwanted, name.text)
  }

  private func readsPayload(_ service: Service) -> Bool {
    context.kinds[service].takesPayload || limits.keepsUnreadPayloads
  }

  func take(_ part: EnqueueList, _ seat: Seat) {
    let session = seat.session
    if let list = session.list, list.number != seat.number {
      return server.refuse(session, .malformed, "two lists at the same time")
    }
    let list =
      session.list
      ?? ListSpool(
        number: seat.number, directory: context.home.run, partLimit: limits.listPart,
        maxPayload: context.configuration.maxPayload, share: PayloadShare(payloads, session),
        readsPayload: { [unowned self] in readsPayload($0) })
    session.list = list
    list.append(part.entries, for: context.services, by: queue.machine.policy, at: context.now.wall)
    guard part.isLast else { return }
    session.list = nil
    list.end()
    if let failure = list.failure { return server.answer(seat, .failure(failure)) }
    guard list.count > 0 else {
      return server.answer(seat, .failure(Failure(.badRequest, remark: Remark(.listEmpty))))
    }
    append(.list(SlicedList(list, heldBackAtMost: gap)), list.count, seat)
  }

  private func append(
    _ source: EnqueueIntake.Source, key: String? = nil, digest: Int64? = nil, _ total: Int64, _ seat: Seat
  ) {
    let request = requests.open(seat, for: .enqueue(known: 0, KnownTickets()))
    let asked = context.now.wall
    line.append(.init(request: request, source: source, key: key, digest: digest, asked: asked, total: total))
  }

  /// A client gives a request of its own up. Where it was not taken in the client is told so, and nobody was added;
  /// where it was, it is answered as ever.
  func withdraw(_ number: UInt32, of session: ControlSession) {
    if session.list?.number == number {
      session.list = nil
      return server.answer(session, number, .failure(Failure(.withdrawn)))
    }
    guard let request = requests.enqueue(number, of: session) else { return }
    if Kernel.makes("takesInTheWithdrawn") { return requests.fail(request, Failure(.withdrawn)) }
    let isCurrent = line.current?.request == request
    if line.remove(request) || isCurrent && (line.current?.taken == 0 || shared != nil) {
      if isCurrent { (line.current, gathered) = (nil, nil) }
      return requests.fail(request, Failure(.withdrawn))
    }
    guard queue.machine.arriving?.request == request else { return }
    guard giveUp(because: Failure(.withdrawn)) else { return }
    context.write(event: "withdrawn") { $0.field("issued", queue.machine.issuedCount) }
    queue.commit()
  }

  /// Customers who are held back at most, so that others have numbers. Shared books give the numbers themselves.
  private var gap: Int64 { shared == nil ? limits.gap : 0 }

  // MARK: - What is there to do

  /// The request that is being taken in, as far as it has come.
  var current: EnqueueIntake.Order? { line.current }
  var isEmpty: Bool { line.isEmpty }
  var hasWork: Bool { queue.mayTakeIn && (!line.isEmpty || isWithdrawing) }
  var hasWorkNow: Bool { hasWork && (isDue || hasMoreBeside) }
  var nextDeadline: MonotonicTime? { hasWork ? pacing.restsUntil : nil }

  /// The first number of a request that will never be whole and is still to be taken out; nil where there is none. One
  /// whose last slice is not on disk yet is whole by the books.
  var remains: TicketNumber? {
    guard let first = store.arrivingFrom, !queue.machine.isTakingIn, first > queue.machine.books.issued,
      !Kernel.makes("keepsAPartOfTheWithdrawn")
    else { return nil }
    return first
  }

  /// Whether it is to be taken out now. While the disk is full whoever comes is refused, and need not wait for that.
  private var isWithdrawing: Bool { queue.engine.isWorking && remains != nil }
  private var isDue: Bool { pacing.isDue(at: context.now.monotonic) }
  /// Whether customers of a large request were taken in, or out, in this turn while others are served or come in.
  var isShared: Bool { pacing.isShared(serving: queue.machine.serving) }

  // MARK: - One turn

  func advance() {
    guard hasWork else { return }
    if !queue.engine.hasStaged { stagedBytes = 0 }
    let until = context.now.monotonic + Self.intakeTime
    if let shared { return handIn(to: shared, until: until) }
    if isWithdrawing || line.isLarge {
      takeInBeside(until: until)
      guard hasWork, isDue else { return }
    }
    if isWithdrawing {
      beginTurn()
      return withdrawArrivals()
    }
    // Where one is given up, those who were committed of it are to be taken out first.
    while hasWork, !isWithdrawing, let order = line.advance() {
      if order.taken == 0, let key = order.key, answerKnown(key, order) { continue }
      if order.comesInSlices {
        guard isDue else { return }
        beginTurn()
      }
      if let part = order.uncounted { lookThrough(part, of: order) } else { takeSlice(of: order) }
      commitIfHeavy()
      if line.current != nil, SystemClock.monotonic() >= until { return }
    }
  }

  /// Payloads are long, and what is staged and not committed is held by the store.
  private func commitIfHeavy() {
    guard stagedBytes >= limits.transactionBytes else { return }
    stagedBytes = 0
    queue.commit()
  }

  /// The turn has ended in which customers were taken in and, perhaps, committed: others come first for a while.
  func endTurn() {
    if pacing.began != nil { pacing.end(at: SystemClock.monotonic(), serving: queue.machine.serving) }
  }

  /// Nobody of a large request is taken in, or out, before this moment.
  func rest(until moment: MonotonicTime?) { pacing.rest(until: moment) }
  private func beginTurn() { if pacing.began == nil { pacing.begin(at: SystemClock.moment().monotonic) } }

  /// Takes those in who need not wait for a large request, nor for those of one who are to be taken out.
  private func takeInBeside(until: MonotonicTime) {
    hasMoreBeside = false
    while hasWork,
      let order = line.takeBeside(
        room: roomBeside,
        client: { [requests] request in requests.entry(request).map { ObjectIdentifier($0.seat.session) } },
        mayCome: { [unowned self] order in hasNoKeyOfNobody(order) })
    {
      pacing.someoneCame()
      if let key = order.key, answerKnown(key, order) { continue }
      takeSlice(of: order)
      commitIfHeavy()
      guard SystemClock.monotonic() < until else {
        hasMoreBeside = true
        return
      }
    }
  }

  /// Whether a request has none of the keys of those who are nobody: who are to be taken out, or are in of a request that
  /// is not whole.
  private func hasNoKeyOfNobody(_ order: EnqueueIntake.Order) -> Bool {
    guard remains != nil || queue.machine.isTakingIn else { return true }
    let (day, issued) = (queue.machine.books.day, queue.machine.books.issued)
    return order.keys.allSatisfy { key in
      guard let tickets = try? store.request(forKey: key)?.tickets else { return true }
      return tickets.day < day || tickets.last <= issued
    }
  }

  /// Numbers for those who come beside a large request.
  private var roomBeside: Int64 {
    remains.map { $0 - 1 - queue.machine.books.issued } ?? queue.machine.roomBeside
  }

  /// Customers of a request that was broken off by a full disk, by the end of a coordinator or by its own: nobody was told
  /// of them, and their numbers are free when they are gone.
  private func withdrawArrivals() {
    guard !queue.withdrawArrivals(limit: limits.withdrawn) else { return }
    // Taking them out takes room as well: the others are not held up again at once.
    rest(until: context.now.monotonic + .seconds(1))
  }

  // MARK: - Slices

  /// Looks whom of a part of a list the store knows; see ``SlicedList``.
  private func lookThrough(_ part: Int, of order: EnqueueIntake.Order) {
    var order = order
    do throws(SliceTrouble) { try slices.lookThrough(part, of: &order) } catch { return refuse(order, error) }
    line.current = order
  }

  private func takeSlice(of order: EnqueueIntake.Order) {
    let before = order
    var order = order
    let issued = queue.machine.books.issued
    let arriving = queue.machine.arriving?.request == order.request ? queue.machine.arriving : nil
    var baggage = SliceBaggage()
    let slice: [CustomerOrder]
    do throws(SliceTrouble) {
      slice = try nextSlice(of: &order, with: &baggage, after: arriving, issued: issued)
    } catch {
      return refuse(before, error)
    }
    if let refusal = queue.machine.refusal(ofLinesOf: slice) ?? queue.machine.refusal(ofServicesOf: slice) {
      return breakOff(before, Failure(refusal: refusal, context.services.directory))
    }
    let isLast = order.taken >= order.total
    if isLast { line.end(order) } else { line.current = order }
    requests.setKnown(order.known, order.knownTickets, for: order.request)
    // Customers who are known already need no room.
    let known = Kernel.makes("countsTheKnownTwice") ? 0 : order.known
    queue.happen(
      .enqueue(
        order.request, orders: slice, total: order.total - known, isLast: isLast, heldBack: order.heldBack))
    let count = (arriving?.count ?? 0) + Int64(slice.count)
    let isTaken =
      isLast ? queue.machine.books.issued == issued + count : queue.machine.arriving?.request == order.request
    guard isTaken || Kernel.makes("goesOnAfterARefusal"), queue.engine.isWorking else {
      // The queue has refused it and has answered; nothing more of it is taken.
      return line.end(order)
    }
    for entry in baggage.payloads { queue.stage(.attach(payload: entry.payload, to: entry.tickets)) }
    stagedBytes += baggage.bytes
    if Kernel.makes("forgetsKeys") { return }
    let day = queue.machine.books.day
    for entry in baggage.keys {
      queue.stage(
        .remember(key: entry.key, day: day, first: entry.ticket, last: entry.ticket, request: entry.digest))
    }
    if isLast, let key = order.key {
      let last = issued + (Kernel.makes("remembersTheFirstSliceOnly") ? 1 : count)
      queue.stage(.remember(key: key, day: day, first: issued + 1, last: last, request: order.digest))
    }
    tellProgress(of: order)
  }

  /// - Parameter arriving: Where those of it stand who have come; nil before the first slice.
  /// - Parameter issued: The highest number that is somebody's.
  func nextSlice(
    of order: inout EnqueueIntake.Order, with baggage: inout SliceBaggage, after arriving: ArrivingRequest?,
    issued: TicketNumber
  ) throws(SliceTrouble) -> [CustomerOrder] {
    switch order.source {
    case .drawn(var draw, let carried):
      let slice = draw.next()
      if let (payload, _) = carried {
        let count = Int64(slice.count)
        let place = order.placement(of: count, heldBack: draw.heldBack, after: arriving, issued: issued)
        baggage.payloads = place.runs(of: count).map { SlicePayload(payload: payload, tickets: $0) }
      }
      order.source = .drawn(draw, carried)
      order.taken = draw.drawn
      return slice
    case .list(let list):
      return try slices.next(of: list, &order, with: &baggage, after: arriving, issued: issued)
    }
  }

  private var slices: ListSlices {
    ListSlices(store: store, services: context.services.directory, day: queue.machine.books.day)
  }

  private func tellProgress(of order: EnqueueIntake.Order) {
    guard var current = line.current, current.request == order.request,
      let entry = requests.entry(order.request)
    else { return }
    let moment = SystemClock.monotonic()
    if let toldAt = current.toldAt, moment.since(toldAt) < Self.progressPause { return }
    current.toldAt = moment
    line.current = current
    let report = ProgressReport(phase: .enqueuing, done: order.taken, total: order.total)
    server.answer(entry.seat, .progress(report), more: true)
  }

  // MARK: - What is not taken in

  func refuse(_ order: EnqueueIntake.Order, _ trouble: SliceTrouble) {
    switch trouble {
    case .store(let error): return lookUpFailed(error, order)
    case .spool(let failure):
      context.write(event: "list_lost", level: .error) { $0.field("msg", failure.detail) }
      breakOff(order, failure)
    case .request(let failure): breakOff(order, failure)
    }
  }

  /// The trouble of this request is nobody else's.
  private func breakOff(_ order: EnqueueIntake.Order, _ failure: Failure) {
    line.end(order)
    if order.taken == 0 { requests.fail(order.request, failure) } else { giveUp(because: failure) }
  }

  /// Gives the request up that is half taken in, if there is one: nothing of it is kept, and its client learns why.
  ///
  /// What others have staged is committed first. What is on disk of the request stands under numbers that nobody has, and
  /// is taken out before they are anybody else's.
  /// - Returns: whether there was one; a full disk may have refused it just now, and its client was told so.
  @discardableResult
  func giveUp(because failure: Failure) -> Bool {
    guard queue.machine.isTakingIn else { return false }
    queue.commit()
    guard let given = queue.machine.arriving else { return false }
    line.abandon()
    requests.fail(given.request, failure)
    queue.happen(.intakeAbandoned)
    return true
  }

  /// The disk is full: the queue has refused what was half taken in.
  func diskIsFull() { line.abandon() }

  /// Requests that are not taken in are refused, where none is half taken in.
  func refuseAll(because failure: Failure) {
    for request in abandonAll() { requests.fail(request, failure) }
  }

  private func abandonAll() -> [RequestNumber] {
    gathered = nil
    return line.abandonAll()
  }

  /// Requests that are not taken in, or half, are refused; nothing of them is kept.
  func turnAway(because failure: Failure) {
    let waiting = abandonAll()
    giveUp(because: failure)
    for request in waiting { requests.fail(request, failure) }
  }
}
