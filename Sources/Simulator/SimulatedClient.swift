// One client in the simulated world: its requests, the answers that it received, and its behaviour when the connection
// breaks.
// Invariant: a request with a key is repeated unchanged until it is answered, unless it is withdrawn or refused
// permanently. Of the requests without a key, only those of `ClosingCommands` are repeated.
import BankModel
import Coordinator
import Time
import Transport
import Wire

final class SimulatedClient {
  /// A request that the client sends, perhaps more than once.
  struct PlannedRequest {
    var command: ControlCommand
    /// Number under which the checker groups the orders of this request; 0 if it has no orders.
    var group = 0
    /// True if the client sends the request again until it is answered.
    var isRepeated = false
    /// Number of entries in each part of a list; 0 for all in one part.
    var partLength = 0
    /// True after the client has withdrawn the request and waits for its outcome.
    var isWithdrawn = false

    /// Number of customers that the request adds.
    var count: Int64 {
      switch command {
      case .enqueue(let order): order.count
      case .enqueueList(let list): Int64(list.entries.count)
      default: 0
      }
    }

    /// True if the request may stay open for long. The client does not wait for its answer.
    var isPatient: Bool {
      switch command {
      case .awaitTickets, .board: true
      default: false
      }
    }
  }

  /// State of the connection: none, greeting sent, or welcome received.
  enum State {
    case away, greeting, ready
  }

  let number: Int
  unowned let world: Simulation
  var chance: SeededGenerator
  private(set) var state = State.away
  let line: ClientConnection
  /// Number of requests that the client has still to choose.
  var commandsLeft: Int
  private var lastRequest: UInt32 = 0
  /// Requests of this connection without an answer, in the order in which they were sent.
  private(set) var outstanding: [(number: UInt32, wish: PlannedRequest)] = []
  private(set) var requestsToRepeat: [PlannedRequest] = []
  /// The last answered request for tickets that can be repeated.
  private(set) var answered: PlannedRequest?
  var knownTickets: [(day: Int64, ticket: Int64)] = []
  /// Groups whose tickets an answer has confirmed.
  private var confirmedGroups: Set<Int> = []
  /// Number of lists that the client still sends after the bank has stopped accepting customers.
  private var lateLists = 0
  /// True after the client has received the answer to a stop.
  private(set) var wasNotifiedOfClose = false

  init(number: Int, seed: UInt64, commands: Int, world: Simulation) {
    self.number = number
    chance = SeededGenerator(seed: seed)
    commandsLeft = commands
    self.world = world
    line = ClientConnection(on: world.host)
    line.onMessage = { [unowned self] in handle($0) }
    line.onEnd = { [unowned self] in handle($0) }
  }

  /// True if the client has no request left to choose or repeat, and waits for no answer but those that may come late.
  var isSatisfied: Bool {
    commandsLeft == 0 && outstanding.allSatisfy(\.wish.isPatient) && requestsToRepeat.isEmpty
  }
  /// Makes the client send lists to the closing bank.
  func sendLateLists() { lateLists = 3 }

  /// For a planned fault: closes the windows of a service, and opens them again.
  func reopenWindows() {
    let service = someWindows()
    for count in [0, chance.draw(1...3)] {
      ask(PlannedRequest(command: .scale([ServiceWindows(service: service, count: count)])))
    }
  }

  /// For a planned fault: empties the queue, and orders juice.
  func resetAndEnqueue() {
    guard state == .ready, !line.process.isStopped else { return }
    ask(PlannedRequest(command: .reset(day: nil)))
    ask(juice())
  }

  /// Connects, sends a request or withdraws one, and schedules the next action.
  func act() {
    switch state {
    case _ where line.process.isStopped: break
    case .ready where lateLists > 0:
      lateLists -= 1
      ask(list())
    case .away: connect()
    case .greeting: break
    case .ready:
      if outstanding.count(where: { !$0.wish.isPatient }) < 3 {
        if !requestsToRepeat.isEmpty {
          ask(requestsToRepeat.removeFirst())
        } else if let plannedRequest = chooseRequest() {
          ask(plannedRequest)
          // An immediate withdrawal can arrive while the coordinator has accepted just a part of the request.
          if plannedRequest.count > world.plan.slice {
            switch chance.draw(0...15) {
            case 0..<4: withdraw()
            case 4: ask(PlannedRequest(command: .reset(day: nil)))
            default: break
            }
          }
          // Sends the same request twice, as after a double click. It must count once.
          if plannedRequest.isRepeated, chance.draw(0...9) == 0 { ask(plannedRequest) }
        }
      }
      // A withdrawal as by Ctrl-C. Mostly it arrives too late, because the bank has already accepted the request.
      if chance.draw(0...9) == 0 { withdraw() }
      toggleBoardSubscription()
    }
    // A satisfied client still acts, because the end of the history may need its connection or its lists.
    let thinkTimeFactor = chance.draw(1_000...90_000) * (world.isFaultFree ? 1 : world.plan.thinkTimeFactor)
    let pause =
      lateLists > 0
      ? chance.draw(500...60_000)
      : isSatisfied ? 50_000 : chance.draw(0...2) == 0 ? chance.draw(0...300) : thinkTimeFactor
    world.eventQueue.add(.clientActs(number), at: world.clock.now + TimeSpan(nanoseconds: pause * 1_000))
  }

  private func connect() {
    guard line.connect(to: Coordinator.socket(inHome: StockProgram.home.path)) else { return }
    state = .greeting
    send(.hello(Hello(build: BuildIdentity.current, role: .client)))
  }

  /// Sends a request, a list perhaps in parts.
  func ask(_ plannedRequest: PlannedRequest) {
    lastRequest += 1
    outstanding.append((lastRequest, plannedRequest))
    if plannedRequest.group > 0 { world.checker.asked(group: plannedRequest.group) }
    guard case .enqueueList(let list) = plannedRequest.command, plannedRequest.partLength > 0 else {
      return send(.request(ControlRequest(number: lastRequest, command: plannedRequest.command)))
    }
    var rest = list.entries[...]
    repeat {
      let part = rest.prefix(plannedRequest.partLength)
      rest = rest.dropFirst(part.count)
      let command = ControlCommand.enqueueList(EnqueueList(entries: Array(part), isLast: rest.isEmpty))
      send(.request(ControlRequest(number: lastRequest, command: command)))
      if !rest.isEmpty, chance.draw(0...29) == 0 { return withdraw() }
    } while !rest.isEmpty
  }

  /// Withdraws the last open request for tickets, whose answer then contains the outcome.
  private func withdraw() {
    guard let index = outstanding.lastIndex(where: { $0.wish.group > 0 && !$0.wish.isWithdrawn }) else {
      return
    }
    world.statistics.withdrawals += 1
    withdraw(at: index)
  }

  func withdraw(at index: Int) {
    outstanding[index].wish.isWithdrawn = true
    lastRequest += 1
    send(.request(ControlRequest(number: lastRequest, command: .withdraw(outstanding[index].number))))
  }

  private func send(_ message: ClientMessage) {
    world.trace.line(world.clock.now, "client \(number) sends \(message)")
    line.send(message)
  }

  /// Checks why the connection has ended.
  private func handle(_ end: CloseReason) {
    world.trace.line(world.clock.now, "client \(number) sees the end of its connection: \(end)")
    switch end {
    case .malformed, .oversized, .unsendable, .backlogExceeded, .system:
      world.violate(.protocolViolation, "client \(number) cannot decode the coordinator's data: \(end)")
    case .endOfFile, .truncatedMessage, .closedLocally: leave()
    }
  }

  /// Handles the loss of the connection. The client will repeat the requests that can be repeated; the outcome of the
  /// others stays unknown.
  private func leave() {
    guard state != .away else { return }
    state = .away
    requestsToRepeat.append(
      contentsOf: outstanding.filter { $0.wish.isRepeated && !$0.wish.isWithdrawn }.map(\.wish))
    outstanding.removeAll()
  }

  /// Handles a welcome, a refusal or a part of an answer.
  private func handle(_ message: BankMessage) {
    world.trace.line(world.clock.now, "client \(number) receives \(message)")
    switch message {
    case .welcome: state = .ready
    case .refused(let refusal) where refusal.reason == .crowded: break
    case .refused(let refusal):
      world.violate(.protocolViolation, "client \(number) was refused: \(refusal.detail)")
    case .reply(let reply): handle(reply)
    }
  }

  /// Handles one part of an answer. The last part ends the request.
  private func handle(_ reply: ControlReply) {
    guard let index = outstanding.firstIndex(where: { $0.number == reply.number }) else {
      return world.violate(
        .answer, "client \(number) got a response to request \(reply.number), which is not open")
    }
    if case .board(let frame) = reply.answer { handle(frame) }
    if reply.more { return }
    var plannedRequest = outstanding.remove(at: index).wish
    switch reply.answer {
    case .failure(let failure) where failure.code == .withdrawn:
      withdrawn(plannedRequest, isByReset: failure.messageDetail?.kind == .resetMeanwhile)
    case .failure(let failure): failed(plannedRequest, failure)
    case .enqueued(let report):
      world.checker.clientReceived(report, group: plannedRequest.group)
      plannedRequest.isWithdrawn = false
      confirmedGroups.insert(plannedRequest.group)
      if plannedRequest.isRepeated { answered = plannedRequest }
      guard report.count > 0, report.first <= report.last else { break }
      for ticket in report.first...report.last { knownTickets.append((report.day, ticket)) }
    case .ticket(let report): handle(report, to: plannedRequest)
    case .stopped: wasNotifiedOfClose = true
    default: break
    }
  }

  /// Checks the payload in a ticket's report, and that the report is about the requested ticket of the requested day.
  private func handle(_ report: TicketReport, to plannedRequest: PlannedRequest) {
    let carried =
      report.receipt == nil ? SimulatedPayload.of(report.service, report.account, report.itemName ?? "") : nil
    if report.payload != carried {
      world.violate(
        .payload,
        "client \(number) receives ticket \(report.ticket) with \(report.payload?.count ?? -1) bytes, not its payload"
      )
    }
    switch plannedRequest.command {
    case .cancel(let ticket, let day?), .requeue(let ticket, let day?), .ticket(let ticket, let day?):
      guard report.day != day || report.ticket != ticket else { return }
      world.violate(
        .answer,
        "client \(number) asks for ticket \(ticket) of day \(day), but receives \(report.ticket) of day \(report.day)"
      )
    default: break
    }
  }

  /// Handles the answer that no customer was added, because the client has withdrawn the request or the queue was
  /// emptied. Some clients send the request again.
  private func withdrawn(_ plannedRequest: PlannedRequest, isByReset: Bool) {
    guard plannedRequest.isWithdrawn || isByReset else {
      return world.violate(.withdrawal, "client \(number) got a withdrawal that did not take place")
    }
    if plannedRequest.isBoardSubscription { return }
    if !isByReset { world.statistics.withdrawn += 1 }
    world.checker.clientWithdrew(group: plannedRequest.group)
    guard plannedRequest.isRepeated, chance.draw(0...1) == 0 else { return }
    var plannedRequest = plannedRequest
    plannedRequest.isWithdrawn = false
    requestsToRepeat.append(plannedRequest)
  }

  /// True for a list of several slices.
  private func isSliced(_ plannedRequest: PlannedRequest) -> Bool {
    guard case .enqueueList = plannedRequest.command else { return false }
    return plannedRequest.count > world.plan.slice
  }

  /// Repeats a request that can be repeated, unless it was refused permanently.
  private func failed(_ plannedRequest: PlannedRequest, _ failure: Failure) {
    guard plannedRequest.isRepeated, !plannedRequest.isWithdrawn else { return }
    if failure.code == .queueFull {
      if confirmedGroups.contains(plannedRequest.group), !isSliced(plannedRequest) {
        return world.checker.gaveUp(group: plannedRequest.group)
      }
      // After a refusal for lack of space, the client asks again for the outcome of an earlier request.
      if let answered, chance.draw(0...1) == 0 { requestsToRepeat.append(answered) }
    }
    // The request was sent twice, and the other copy may have found space.
    if plannedRequest.group > 0, outstanding.contains(where: { $0.wish.group == plannedRequest.group }) {
      return
    }
    switch failure.code {
    // Transient refusals; the client repeats the request. The disk is full, the bank closes or could not open, or it
    // had no descriptor for a long list.
    case .diskFull, .draining, .notOpen, .startFailed, .system: requestsToRepeat.append(plannedRequest)
    case .queueFull where !world.isFaultFree: requestsToRepeat.append(plannedRequest)
    case .queueFull where isSliced(plannedRequest): break
    default: world.checker.gaveUp(group: plannedRequest.group)
    }
  }
}
