// `enqueue`: issues tickets to customers, and waits for them with `--wait`.
// Invariant: a request is repeated only if the repetition adds no customer twice. An unknown result is reported as
// unknown. A Ctrl-C withdraws a request that was not accepted yet.
import Arguments
import BankModel
import Posix
import Time
import Wire

/// One request for tickets.
final class EnqueueCommand {
  /// The requested customers: some of one kind, or a list.
  private enum Order {
    case alike(EnqueueParameters)
    case list(CustomerList)

    /// True if repeating the request adds no customer twice, because of keys.
    var isRepeatable: Bool {
      switch self {
      case .alike(let order): order.key != nil
      case .list(let list): list.isRepeatable
      }
    }

    /// Due time of all customers, if the order has a calendar time.
    var dueAt: Int64? { if case .alike(let order) = self { order.dueAt } else { nil } }
    /// The service of all customers; nil if they may differ.
    var service: ServiceName? { if case .alike(let order) = self { order.service } else { nil } }
    var isList: Bool { if case .list = self { true } else { false } }
  }

  private let order: Order
  private var coordinator: CoordinatorClient
  /// Records the signals that end this program; nil if the caller handles them.
  private let wait: InterruptibleWait?
  private let session: Session
  private let meter: ProgressMeter

  private init(
    _ order: Order, at coordinator: CoordinatorClient, _ wait: InterruptibleWait?, _ session: Session
  ) {
    self.order = order
    self.coordinator = coordinator
    self.wait = wait
    self.session = session
    meter = ProgressMeter(messages: session.messages)
  }

  /// Issues the tickets, and waits for the customers with `--wait`. Returns the exit code.
  static func run(_ session: Session) throws(CommandError) -> ProgramExit {
    let order = try order(session)
    // Before the greeting ends, no request was sent, so a Ctrl-C ends the program.
    let coordinator = try connect(for: order, session)
    let wait = try InterruptibleWait()
    // Ends this program if a signal was received.
    defer { wait.end() }
    let command = EnqueueCommand(order, at: coordinator, wait, session)
    do throws(CommandError) { return try command.run() } catch {
      guard wait.signal != nil else { throw error }
      return Program.report(
        command.interrupted(error), session.messages, session.home.path, session.asJSON, session.output)
    }
  }

  /// Adds to the error of a withdrawn request whether the command can be repeated.
  private func interrupted(_ error: CommandError) -> CommandError {
    guard case .failure(let failure) = error, failure.code == .withdrawn else { return error }
    return .commandFailure(as: failure.code, session.messages.withdrawn(isKeyed: order.isRepeatable))
  }

  /// Issues the tickets, prints them, and waits for the customers if requested.
  private func run() throws(CommandError) -> ProgramExit {
    let report = try issue()
    let document = JSONValue.enqueued(report, ofList: order.isList)
    let sentence =
      session.messages.enqueued(report, ofList: order.isList)
      + (order.dueAt.map(session.messages.notBefore) ?? "")
    guard session.invocation.flag("wait") else {
      try session.show(document, or: [sentence])
      return .done
    }
    // With JSON, one document is printed, at the end of the wait.
    if !session.asJSON { try session.show([:], or: [sentence]) }
    guard let ended = try awaitEnd(of: report) else {
      if session.asJSON { try session.show(document, or: []) }
      session.note(session.messages.waitAbandoned(report.awaited))
      return .failed
    }
    let isServed = ended.dead == 0 && ended.cancelled == nil
    let messages = session.messages.allDone(report.awaitedCount, ended)
    try session.show(
      document.adding(["dead": .init(ended.dead), "cancelled": .init(ended.cancelled ?? 0)]),
      or: isServed && !report.awaited.isEmpty ? messages : [])
    guard !isServed else { return .done }
    for sentence in messages { session.note(sentence) }
    return .failed
  }

  /// The requested customers, from the options and operands.
  private static func order(_ session: Session) throws(CommandError) -> Order {
    let invocation = session.invocation
    let seed = invocation.integer("seed").map { UInt64(bitPattern: $0) } ?? RandomSeed.fromSystem()
    if let path = invocation.text("from") { return .list(try list(path, seed, session)) }
    let key = invocation.text("key")
    if let key, key.utf8.count > Limits.keyLength {
      throw .usage("--key: " + session.messages.badKey(key.utf8.count))
    }
    var service: ServiceName?
    if let name = invocation.text("service") { service = try session.service(named: name) }
    // Juice is ordered by the name of a juice, with `juice order`.
    if service == .juice { throw .usage(session.messages.juiceIsOrdered) }
    let later = try ScheduledTime.read(session)
    let payload = try PayloadSource.read(session)
    return .alike(
      EnqueueParameters(
        count: invocation.operands.integer("N") ?? 1, service: service,
        priority: priority(invocation),
        amount: invocation.integer("amount"), account: invocation.integer("account"), seed: seed, key: key,
        hasExplicitSeed: key != nil && invocation.integer("seed") != nil ? true : nil, payload: payload,
        dueAt: later?.dueAt, delay: later?.delay))
  }

  /// The requested priority, from `--priority` or `--grade`.
  static func priority(_ invocation: Invocation) -> Priority {
    if let number = invocation.integer("priority") { return Priority(UInt32(clamping: number)) }
    guard invocation.options.declares("grade") else { return .regular }
    return invocation.text("grade").flatMap { Priority(name: $0) } ?? .regular
  }

  /// Reads and checks the list of customers in a file; `seed` decides the values drawn at random for omitted fields.
  private static func list(
    _ path: String, _ seed: UInt64, _ session: Session
  ) throws(CommandError) -> CustomerList {
    do throws(CustomerList.Refusal) {
      let file: LineFile
      do throws(SystemError) { file = try LineFile(path: path) } catch { throw .unreadable(error) }
      return try CustomerList(file, seed: seed)
    } catch {
      throw refuse(error, path, session)
    }
  }

  /// Error of the command for an invalid or unreadable list.
  private static func refuse(
    _ refusal: CustomerList.Refusal, _ path: String, _ session: Session
  ) -> CommandError {
    let sentence = session.messages.sentence(refusal, file: path)
    if case .unreadable = refusal { return .commandFailure(as: .system, sentence) }
    return .commandFailure(.badInput, sentence)
  }

  // MARK: Issuing

  /// Issues tickets to customers of one kind. Returns the report, and the connection to use for further
  /// requests.
  static func issue(
    _ order: EnqueueParameters, at coordinator: CoordinatorClient, _ session: Session
  ) throws(CommandError) -> (EnqueuedReport, CoordinatorClient) {
    let command = EnqueueCommand(.alike(order), at: coordinator, nil, session)
    return (try command.issue(), command.coordinator)
  }

  /// Adds the line number in the list to the error if the list contains an unknown service.
  private func naming(_ error: CommandError) -> CommandError {
    guard case .failure(let failure) = error, failure.code == .noSuchService, case .list(let list) = order,
      let line = ServiceName(failure.subject).flatMap({ list.firstLines[$0] }),
      let file = session.invocation.text("from")
    else { return error }
    return .commandFailure(
      as: failure.code, session.messages.noSuchService(failure, line: line, file: file))
  }

  /// Sends the request, again after a loss of the connection if that is safe, and returns its answer.
  private func issue() throws(CommandError) -> EnqueuedReport {
    defer { meter.finish() }
    var deadline: MonotonicTime?
    while true {
      do throws(CommandError) { return try attempt() } catch {
        guard error.isLoss else { throw naming(error) }
        // A request that was not sent completely has no effect, so it can be sent again.
        if !coordinator.hasSentRequest, wait?.signal == nil {
          coordinator = try CoordinatorClient.open(session)
          continue
        }
        let limit = deadline ?? SystemClock.monotonic() + CoordinatorClient.reconnectTimeout
        deadline = limit
        guard order.isRepeatable, try reconnect(until: limit) else {
          throw .commandFailure(
            .connectionLost, session.messages.unknownWhetherIssued(isKeyed: order.isRepeatable))
        }
      }
    }
  }

  /// Waits for the restart of a coordinator after its connection was lost. Returns false after `limit`, or if
  /// a signal was received.
  private func reconnect(until limit: MonotonicTime) throws(CommandError) -> Bool {
    while SystemClock.monotonic() < limit {
      try wait?.checkSignals()
      if wait?.signal != nil { return false }
      let next = min(limit, SystemClock.monotonic() + .milliseconds(100))
      if let back = try? CoordinatorClient.reopen(session, until: next) {
        coordinator = back
        return true
      }
    }
    return false
  }

  /// Connects to the bank. If the coordinator exited during the greeting and the request is repeatable, waits for the
  /// restart of the coordinator.
  private static func connect(
    for order: Order, _ session: Session
  ) throws(CommandError) -> CoordinatorClient {
    do throws(CommandError) { return try CoordinatorClient.open(session) } catch {
      guard error.isLoss, order.isRepeatable else { throw error }
      return try CoordinatorClient.reopen(session)
    }
  }

  /// Sends the request once, waits for its answer, and returns the issued tickets; throws if the connection is lost.
  private func attempt() throws(CommandError) -> EnqueuedReport {
    try checkWithdrawal()
    let number =
      switch order {
      case .alike(let alike): try coordinator.send(.enqueue(alike))
      case .list(let list): try send(list)
      }
    var signalCount = 0
    while let reply = try next(number, &signalCount) {
      guard reply.number == number else { continue }
      switch reply.answer {
      case .enqueued(let report): return report
      case .progress(let report):
        meter.update(session.messages.phase(report.phase), done: report.done, total: report.total)
      default: throw reply.answer.unexpected
      }
    }
    throw .control(.timedOut(what: "tickets"))
  }

  /// Returns the next answer. The first signal withdraws request `number`; the answer reports whether the withdrawal
  /// was in time. The second signal ends the wait.
  private func next(_ number: UInt32, _ signalCount: inout Int) throws(CommandError) -> ControlReply? {
    guard let wait else { return try coordinator.next(until: nil) }
    while true {
      if let reply = try wait.next(at: coordinator, until: nil, evenAfter: signalCount) { return reply }
      let isFirst = signalCount == 0 && wait.count == 1
      signalCount = wait.count
      guard isFirst else {
        throw .commandFailure(.interrupted, session.messages.leftUnknown(isKeyed: order.isRepeatable))
      }
      meter.say(session.messages.withdrawing)
      try coordinator.send(.withdraw(number))
    }
  }

  /// Throws `request_withdrawn` if a signal was received, so that the request, or its next part, is not sent.
  private func checkWithdrawal() throws(CommandError) {
    try wait?.checkSignals()
    if wait?.signal != nil { throw .failure(Failure(.withdrawn)) }
  }

  /// Sends a list in parts. Returns the number of the request.
  private func send(_ list: CustomerList) throws(CommandError) -> UInt32 {
    // All parts have the number of the first one, so they form one request.
    var number: UInt32?
    var sent: Int64 = 0
    let refuse = { Self.refuse($0, self.session.invocation.text("from") ?? "-", self.session) }
    try list.forEachPart(refusing: refuse) { part throws(CommandError) in
      // After a signal no further part is sent: an incomplete list adds no customers.
      try checkWithdrawal()
      number = try coordinator.send(.enqueueList(part), continuing: number)
      sent += Int64(part.entries.count)
      meter.update(session.messages.phase(.enqueuing), done: sent, total: list.count)
    }
    return number ?? 0
  }

  // MARK: Waiting

  /// Waits until every ticket of the report has a receipt or is a dead letter, also after restarts of the
  /// coordinator. Returns the numbers of dead letters and cancelled tickets; nil if a signal was received first.
  private func awaitEnd(of report: EnqueuedReport) throws(CommandError) -> AwaitedTicketsReport? {
    let progress = WaitProgress(
      session.messages, endsWhenPaused: session.invocation.flag("unless-paused"), for: order.service,
      FreeOptions(of: session.invocation))
    defer { progress.meter.finish() }
    var sum = AwaitedTicketsReport(dead: 0)
    var left = report.awaited[...]
    while let span = left.first {
      do throws(CommandError) {
        let question = ControlCommand.awaitTickets(day: span.day, first: span.first, last: span.last)
        let answer = try coordinator.awaitAnswer(
          to: question, until: nil, crowd: report.awaitedCount, progress, wait)
        if wait?.signal != nil, answer == nil { return nil }
        guard case .ended(let ended)? = answer else {
          throw answer?.unexpected ?? .control(.timedOut(what: "tickets"))
        }
        sum.dead += ended.dead
        if let cancelled = ended.cancelled { sum.cancelled = (sum.cancelled ?? 0) + cancelled }
        left = left.dropFirst()
      } catch {
        guard error.isLoss else { throw error }
        if try reconnect(until: SystemClock.monotonic() + CoordinatorClient.reconnectTimeout) { continue }
        if wait?.signal != nil { return nil }
        throw .commandFailure(.connectionLost, session.messages.waitLost(span))
      }
    }
    return sum
  }
}

extension EnqueuedReport {
  /// All tickets of the request, new or known, each once. A customer whose key is in a list twice is both new and
  /// known.
  var awaited: [TicketSpan] {
    guard count > 0, first > 0 else { return alreadyIssuedTickets ?? [] }
    return (alreadyIssuedTickets ?? []).flatMap { $0.without(first...last, of: day) }
      + [TicketSpan(day: day, first: first, last: last)]
  }

  /// Number of tickets to wait for.
  var awaitedCount: Int64 {
    let spans = awaited
    guard spans.count < TicketSpan.exactLimit else { return count + known }
    return spans.reduce(0) { $0 + ($1.last - $1.first + 1) }
  }
}

extension TicketSpan {
  /// The parts of this span that do not overlap `tickets` of `day`.
  fileprivate func without(_ tickets: ClosedRange<Int64>, of day: Int64) -> [TicketSpan] {
    guard day == self.day, first <= tickets.upperBound, last >= tickets.lowerBound else { return [self] }
    return [(first, tickets.lowerBound - 1), (tickets.upperBound + 1, last)].filter { $0.0 <= $0.1 }
      .map { TicketSpan(day: day, first: $0.0, last: $0.1) }
  }
}
