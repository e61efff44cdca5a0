// One client of a branch: its requests, the answers that it received, and its behaviour when its connection
// breaks.
// Invariant: a request with keys is repeated until it is answered, at this branch or at another, unless the bank closes
// first. Some are repeated after their answer too. A request without keys is not repeated.

#if HAS_POSTGRES
  import BankModel
  import Coordinator
  import Time
  import Transport
  import Wire

  /// A simulated client of one branch, which sends requests of customers and of operators.
  final class BranchClient {
    /// A request that this client sends, and whether it may be sent again.
    struct PlannedRequest {
      var command: ControlCommand
      var group = 0
      var isRepeated = false
      var isList = false
    }

    /// Not connected; connected, but without a welcome; or ready to send requests.
    private enum State {
      case away, greeting, ready
    }

    unowned let world: BranchSimulation
    unowned let node: BranchNode
    let number: Int
    let line: ClientConnection
    private var chance: SeededGenerator
    private var state = State.away
    /// Number of new requests that this client still sends.
    private var commandsLeft: Int64
    private var lastRequest: UInt32 = 0
    /// Requests that were sent and have no complete answer yet.
    private var outstanding: [(number: UInt32, wish: PlannedRequest)] = []
    /// Requests that this client sends before it chooses new ones.
    private(set) var requestsToRepeat: [PlannedRequest] = []
    private var knownTickets: [TicketNumber] = []

    init(_ node: BranchNode, _ number: Int, seed: UInt64, in world: BranchSimulation) {
      (self.node, self.number, self.world) = (node, number, world)
      chance = SeededGenerator(seed: seed)
      commandsLeft = world.plan.commands
      line = ClientConnection(on: node.host)
      line.onMessage = { [unowned self] in handle($0) }
      line.onEnd = { [unowned self] _ in leave() }
    }

    var isReady: Bool { state == .ready }
    /// True if the client waits for no answer and has nothing more to send.
    var isSatisfied: Bool { commandsLeft == 0 && outstanding.isEmpty && requestsToRepeat.isEmpty }
    /// True if no request of the connection waits for its answer.
    var hasNothingOpen: Bool { outstanding.isEmpty }
    /// Removes and returns the requests to be repeated by a client of another branch. This client then sends no new
    /// requests, because its branch is lost.
    func takeUnanswered() -> [PlannedRequest] {
      defer { requestsToRepeat.removeAll() }
      commandsLeft = 0
      return requestsToRepeat
    }
    /// Removes and returns the requests to be repeated by a client of another branch. This client continues with new
    /// requests.
    func takeAgain() -> [PlannedRequest] {
      defer { requestsToRepeat.removeAll() }
      return requestsToRepeat
    }
    /// Makes this client send these requests, too.
    func add(_ plannedRequests: [PlannedRequest]) { requestsToRepeat += plannedRequests }
    /// Makes this client choose and send this many more requests.
    func addCommands(_ count: Int64) { commandsLeft += count }

    /// Does the next step of the client, which is to connect or to send one request, and schedules the step after it.
    func act() {
      if world.checker.dayHasEnded { (commandsLeft, requestsToRepeat) = (0, []) }
      if !line.process.isStopped {
        switch state {
        case .away: connect()
        case .greeting: break
        case .ready:
          if !requestsToRepeat.isEmpty {
            ask(requestsToRepeat.removeFirst())
          } else if commandsLeft > 0, outstanding.count < 3 {
            commandsLeft -= 1
            ask(chooseRequest())
          }
        }
      }
      let pause = commandsLeft > 0 || !requestsToRepeat.isEmpty ? chance.draw(200...400_000) : 100_000
      world.eventQueue.add(
        .client(node.index, number), at: world.clock.now + TimeSpan(nanoseconds: pause * 1_000))
    }

    private func connect() {
      guard line.connect(to: Coordinator.socket(inHome: node.home)) else { return }
      state = .greeting
      send(.hello(Hello(build: BuildIdentity.current, role: .client)))
    }

    func ask(_ plannedRequest: PlannedRequest) {
      lastRequest += 1
      outstanding.append((lastRequest, plannedRequest))
      world.statistics.requests += 1
      send(.request(ControlRequest(number: lastRequest, command: plannedRequest.command)))
    }

    private func send(_ message: ClientMessage) {
      world.trace.line(world.clock.now, "client \(node.index).\(number) sends \(message)")
      line.send(message)
    }

    /// Breaks the connection of this client, which may lose the last messages in flight.
    func breakConnection() { _ = line.breakConnection(on: node.host) }

    /// Handles the end of the connection: requests without an answer are repeated if they have keys.
    private func leave() {
      guard state != .away else { return }
      state = .away
      requestsToRepeat += outstanding.filter(\.wish.isRepeated).map(\.wish)
      outstanding.removeAll()
      // Sometimes the requests go to another branch.
      if !requestsToRepeat.isEmpty, chance.draw(0...2) == 0 { world.moveRequests(from: self) }
    }

    // MARK: - Answers

    /// Handles a message of the coordinator: its welcome, a refusal or a reply.
    private func handle(_ message: BankMessage) {
      world.trace.line(world.clock.now, "client \(node.index).\(number) receives \(message)")
      switch message {
      case .welcome: state = .ready
      case .refused(let refusal):
        if refusal.reason != .crowded {
          world.violate(.protocolViolation, "a client was refused: \(refusal.detail)")
        }
      case .reply(let reply): handle(reply)
      }
    }

    /// Removes the request that is answered, and passes the answer to the checker.
    private func handle(_ reply: ControlReply) {
      guard let index = outstanding.firstIndex(where: { $0.number == reply.number }) else {
        return world.violate(.answer, "a client got a response to request \(reply.number), which is not open")
      }
      if reply.more { return }
      let plannedRequest = outstanding.remove(at: index).wish
      world.statistics.answers += 1
      switch (reply.answer, plannedRequest.command) {
      // No reader process exists here, so the report of a completed cancellation fails with `notOpen`.
      case (.failure(let failure), .cancel(let ticket, _)) where failure.code == .notOpen:
        world.checker.clientReceivedCancellation(ticket)
      case (.failure(let failure), _): failed(plannedRequest, failure)
      case (.enqueued(let report), _):
        world.checker.clientReceived(
          first: report.first, last: report.last, group: plannedRequest.group, isList: plannedRequest.isList)
        if report.first > 0, report.first <= report.last { knownTickets += report.first...report.last }
        // A client that has lost the answer repeats the request, at this branch or at another.
        if plannedRequest.isRepeated, chance.draw(0...7) == 0 {
          requestsToRepeat.append(plannedRequest)
          if chance.draw(0...1) == 0 { world.moveRequests(from: self) }
        }
      case (.ticket, .cancel(let ticket, _)): world.checker.clientReceivedCancellation(ticket)
      default: break
      }
    }

    /// Handles a failure: a request with keys is repeated, unless the failure is final or the bank closes.
    private func failed(_ plannedRequest: PlannedRequest, _ failure: Failure) {
      switch failure.code {
      case .keyConflict:
        world.violate(.repeatedKey, "the same request is refused as a different one: \(failure)")
      case .badRequest, .noSuchTicket, .wrongState: break
      default:
        guard plannedRequest.isRepeated, !world.mayGiveUp else { return }
        requestsToRepeat.append(plannedRequest)
      }
    }

    // MARK: - Choice of requests

    /// Draws the next request: tickets for new customers, a list of customers, or a command of an operator.
    private func chooseRequest() -> PlannedRequest {
      if world.plan.hasJuice, chance.draw(0...3) == 0 { return juice() }
      switch chance.draw(0...99) {
      case 0..<46: return enqueue()
      case 46..<60: return list()
      case 60..<70:
        guard let ticket = someTicket() else { return enqueue() }
        return PlannedRequest(command: .cancel(ticket, day: nil))
      case 70..<73: return PlannedRequest(command: .requeueDead)
      case 73..<76:
        guard let ticket = someTicket() else { return enqueue() }
        return PlannedRequest(command: .requeue(ticket, day: nil))
      case 76..<79: return PlannedRequest(command: .pause(chance.draw(0...1) == 0 ? .deposit : .loan))
      case 79..<88: return PlannedRequest(command: .resume(nil))
      case 88..<92:
        return PlannedRequest(
          command: .scale([
            ServiceWindows(service: chance.draw(0...1) == 0 ? .deposit : .loan, count: chance.draw(0...3))
          ]))
      case 92..<96: return PlannedRequest(command: .branches)
      default: return PlannedRequest(command: .status)
      }
    }

    /// Draws one of the latest tickets that this client knows; nil if it knows none.
    private func someTicket() -> TicketNumber? {
      guard !knownTickets.isEmpty else { return nil }
      let back = Int(chance.draw(0...min(8, Int64(knownTickets.count) - 1)))
      return knownTickets[knownTickets.count - 1 - back]
    }

    private func somePriority() -> Priority { [.vvip, .vip, .regular, .regular][Int(chance.draw(0...3))] }
    /// Draws a delay in milliseconds for a new customer; nil for none.
    private func delay() -> Int64? {
      world.plan.delaysCustomers && chance.draw(0...3) == 0 ? chance.draw(1...3_000) : nil
    }

    /// Draws a request for customers who all have one account.
    private func enqueue() -> PlannedRequest {
      let count = chance.draw(0...4) == 0 ? chance.draw(8...25) : chance.draw(1...6)
      let (group, account) = world.checker.newAccounts(1)
      let isRepeated = chance.draw(0...2) > 0
      let service: ServiceName? = [.deposit, .loan, nil][Int(chance.draw(0...2))]
      let (priority, amount, delay) = (somePriority(), chance.draw(1...5_000), delay())
      world.checker.expect(
        account,
        .init(
          group: group, service: service.map { $0 == .deposit ? .deposit : .loan }, priority: priority,
          amount: amount, count: count, delay: delay))
      let order = EnqueueParameters(
        count: count, service: service, priority: priority, amount: amount, account: account,
        seed: chance.next(),
        key: isRepeated ? "order-\(group)" : nil, payload: SimulatedPayload.of(account), delay: delay)
      return PlannedRequest(command: .enqueue(order), group: group, isRepeated: isRepeated)
    }

    /// Draws a request for customers who order the same juice. The name of the item contains their account number,
    /// because the request itself has no account.
    private func juice() -> PlannedRequest {
      let count = chance.draw(1...4)
      let (group, account) = world.checker.newAccounts(1)
      let isRepeated = chance.draw(0...2) > 0
      let (priority, delay) = (somePriority(), delay())
      world.checker.expect(
        account, .init(group: group, service: .juice, priority: priority, count: count, delay: delay))
      let order = EnqueueParameters(
        count: count, service: .juice, priority: priority, amount: nil, account: nil, seed: 0,
        key: isRepeated ? "order-\(group)" : nil,
        itemName: JuiceOrder(juice: ItemID("kiwi"), account: account).itemName, delay: delay)
      return PlannedRequest(command: .enqueue(order), group: group, isRepeated: isRepeated)
    }

    /// Draws a list of customers, each with an account and possibly a key of its own.
    private func list() -> PlannedRequest {
      let count = chance.draw(1...7)
      let (group, account) = world.checker.newAccounts(count)
      let isRepeated = chance.draw(0...2) > 0
      let entries = (0..<count).map { offset in
        let isDeposit = chance.draw(0...1) == 0
        let (priority, amount, delay) = (somePriority(), chance.draw(1...5_000), delay())
        world.checker.expect(
          account + offset,
          .init(
            group: group, service: isDeposit ? .deposit : .loan, priority: priority, amount: amount,
            delay: delay))
        return EnqueueEntry(
          service: isDeposit ? .deposit : .loan, priority: priority, amount: amount,
          account: account + offset,
          key: isRepeated ? "entry-\(account + offset)" : nil, payload: SimulatedPayload.of(account + offset),
          delay: delay)
      }
      return PlannedRequest(
        command: .enqueueList(EnqueueList(entries: entries, isLast: true)), group: group,
        isRepeated: isRepeated,
        isList: true)
    }
  }
#endif
