// One client in the simulated world: its requests, the answers that it received, and its behaviour when the connection
// breaks.
// Invariant: a request with a key is repeated unchanged until it is answered, unless it is withdrawn or refused
// permanently. Of the requests without a key, only those of `ClosingCommands` are repeated. A client assumes nothing
// that was not in an answer.
import BankModel
import Coordinator
import Time
import Transport
import Wire

final class SimulatedClient {
  struct Wish {
    var command: ControlCommand
    /// Number under which the checker groups the orders of this request; 0 if it has no orders.
    var group = 0
    var isRepeated = false
    /// Number of entries in each part of a list; 0 for all in one part.
    var partLength = 0
    /// True after the client has withdrawn the request and waits for its outcome.
    var isWithdrawn = false

    var count: Int64 {
      switch command {
      case .enqueue(let order): order.count
      case .enqueueList(let list): Int64(list.entries.count)
      default: 0
      }
    }

    /// True if the answer depends on other clients, so that this client does not wait for it.
    var isPatient: Bool {
      switch command {
      case .awaitTickets, .board: true
      default: false
      }
    }
  }

  enum State {
    case away, greeting, ready
  }

  let number: Int
  unowned let world: Simulation
  var chance: SeededGenerator
  private(set) var state = State.away
  let line: SimulatedLine
  var commandsLeft: Int
  private var lastRequest: UInt32 = 0
  /// Requests of this connection without an answer, in the order in which they were sent.
  private(set) var outstanding: [(number: UInt32, wish: Wish)] = []
  private(set) var again: [Wish] = []
  private(set) var answered: Wish?
  var known: [(day: Int64, ticket: Int64)] = []
  /// Groups whose tickets an answer has confirmed.
  private var told: Set<Int> = []
  /// Number of lists that the client still sends after the bank has stopped accepting customers.
  private var lateLists = 0
  private(set) var wasToldOfTheEnd = false

  init(number: Int, seed: UInt64, commands: Int, world: Simulation) {
    self.number = number
    chance = SeededGenerator(seed: seed)
    commandsLeft = commands
    self.world = world
    line = SimulatedLine(on: world.host)
    line.onMessage = { [unowned self] in hear($0) }
    line.onEnd = { [unowned self] in hear($0) }
  }

  var isContent: Bool { commandsLeft == 0 && outstanding.allSatisfy(\.wish.isPatient) && again.isEmpty }
  /// The bank is about to close. The client still sends lists, which the bank must refuse.
  func comeTooLate() { lateLists = 3 }

  func reopenWindows() {
    let service = someWindows()
    for count in [0, chance.draw(1...3)] {
      ask(Wish(command: .scale([ServiceWindows(service: service, count: count)])))
    }
  }

  func emptyAndOrder() {
    guard state == .ready, !line.process.isStopped else { return }
    ask(Wish(command: .reset(day: nil)))
    ask(juice())
  }

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
        if !again.isEmpty {
          ask(again.removeFirst())
        } else if let wish = think() {
          ask(wish)
          // Only an immediate withdrawal can arrive while the coordinator has accepted just a part of the request.
          if wish.count > world.plan.slice {
            switch chance.draw(0...15) {
            case 0..<4: withdraw()
            case 4: ask(Wish(command: .reset(day: nil)))
            default: break
            }
          }
          // A double click: the same request twice, which must count once.
          if wish.isRepeated, chance.draw(0...9) == 0 { ask(wish) }
        }
      }
      // A withdrawal as by Ctrl-C. Mostly it arrives too late, because the bank has already accepted the request.
      if chance.draw(0...9) == 0 { withdraw() }
      lookAtTheBoard()
    }
    // A content client keeps acting from time to time, because the end of the history may need it to send a
    // request.
    let thought = chance.draw(1_000...90_000) * (world.isCalm ? 1 : world.plan.thought)
    let pause =
      lateLists > 0
      ? chance.draw(500...60_000)
      : isContent ? 50_000 : chance.draw(0...2) == 0 ? chance.draw(0...300) : thought
    world.agenda.add(.clientActs(number), at: world.clock.now + TimeSpan(nanoseconds: pause * 1_000))
  }

  private func connect() {
    guard line.connect(to: Coordinator.socket(inHome: StockProgram.home.path)) else { return }
    state = .greeting
    say(.hello(Hello(build: BuildIdentity.current, role: .client)))
  }

  func ask(_ wish: Wish) {
    lastRequest += 1
    outstanding.append((lastRequest, wish))
    if wish.group > 0 { world.checker.asked(group: wish.group) }
    guard case .enqueueList(let list) = wish.command, wish.partLength > 0 else {
      return say(.request(ControlRequest(number: lastRequest, command: wish.command)))
    }
    var rest = list.entries[...]
    repeat {
      let part = rest.prefix(wish.partLength)
      rest = rest.dropFirst(part.count)
      let command = ControlCommand.enqueueList(EnqueueList(entries: Array(part), isLast: rest.isEmpty))
      say(.request(ControlRequest(number: lastRequest, command: command)))
      if !rest.isEmpty, chance.draw(0...29) == 0 { return withdraw() }
    } while !rest.isEmpty
  }

  /// Withdraws the last request for tickets. The answer contains the outcome.
  private func withdraw() {
    guard let place = outstanding.lastIndex(where: { $0.wish.group > 0 && !$0.wish.isWithdrawn }) else {
      return
    }
    world.statistics.withdrawals += 1
    withdraw(at: place)
  }

  func withdraw(at place: Int) {
    outstanding[place].wish.isWithdrawn = true
    lastRequest += 1
    say(.request(ControlRequest(number: lastRequest, command: .withdraw(outstanding[place].number))))
  }

  private func say(_ message: ClientMessage) {
    world.trace.line(world.clock.now, "client \(number) sends \(message)")
    line.say(message)
  }

  private func hear(_ end: ChannelEnd) {
    world.trace.line(world.clock.now, "client \(number) sees the end of its connection: \(end)")
    switch end {
    case .malformed, .oversized, .unsendable, .backlogExceeded, .system:
      world.violate(.conversation, "client \(number) cannot decode the coordinator's data: \(end)")
    case .endOfFile, .midFrame, .closedHere: leave()
    }
  }

  /// The connection is lost. The client will repeat the requests that can be repeated; the outcome of the others stays
  /// unknown.
  private func leave() {
    guard state != .away else { return }
    state = .away
    again.append(contentsOf: outstanding.filter { $0.wish.isRepeated && !$0.wish.isWithdrawn }.map(\.wish))
    outstanding.removeAll()
  }

  private func hear(_ message: BankMessage) {
    world.trace.line(world.clock.now, "client \(number) receives \(message)")
    switch message {
    case .welcome: state = .ready
    case .refused(let refusal) where refusal.reason == .crowded: break
    case .refused(let refusal):
      world.violate(.conversation, "client \(number) was refused: \(refusal.detail)")
    case .reply(let reply): hear(reply)
    }
  }

  private func hear(_ reply: ControlReply) {
    guard let place = outstanding.firstIndex(where: { $0.number == reply.number }) else {
      return world.violate(
        .answer, "client \(number) got a response to request \(reply.number), which is not open")
    }
    if case .board(let frame) = reply.answer { hear(frame) }
    if reply.more { return }
    var wish = outstanding.remove(at: place).wish
    switch reply.answer {
    case .failure(let failure) where failure.code == .withdrawn:
      withdrawn(wish, isByReset: failure.remark?.kind == .resetMeanwhile)
    case .failure(let failure): failed(wish, failure)
    case .enqueued(let report):
      world.checker.clientHeard(report, group: wish.group)
      wish.isWithdrawn = false
      told.insert(wish.group)
      if wish.isRepeated { answered = wish }
      guard report.count > 0, report.first <= report.last else { break }
      for ticket in report.first...report.last { known.append((report.day, ticket)) }
    case .ticket(let report): hear(report, to: wish)
    case .stopped: wasToldOfTheEnd = true
    default: break
    }
  }

  /// Checks that a ticket's report is about the requested ticket, and not about the same number on another day.
  private func hear(_ report: TicketReport, to wish: Wish) {
    let carried =
      report.receipt == nil ? SimulatedPayload.of(report.service, report.account, report.article ?? "") : nil
    if report.payload != carried {
      world.violate(
        .payload,
        "client \(number) receives ticket \(report.ticket) with \(report.payload?.count ?? -1) bytes, not its payload"
      )
    }
    switch wish.command {
    case .cancel(let ticket, let day?), .requeue(let ticket, let day?), .ticket(let ticket, let day?):
      guard report.day != day || report.ticket != ticket else { return }
      world.violate(
        .answer,
        "client \(number) asks for ticket \(ticket) of day \(day), but receives \(report.ticket) of day \(report.day)"
      )
    default: break
    }
  }

  /// No customer was added, because the client has withdrawn the request or the queue was emptied. Some clients send
  /// the request again.
  private func withdrawn(_ wish: Wish, isByReset: Bool) {
    guard wish.isWithdrawn || isByReset else {
      return world.violate(.withdrawal, "client \(number) got a withdrawal that did not take place")
    }
    if wish.isOfTheBoard { return }
    if !isByReset { world.statistics.withdrawn += 1 }
    world.checker.clientWithdrew(group: wish.group)
    guard wish.isRepeated, chance.draw(0...1) == 0 else { return }
    var wish = wish
    wish.isWithdrawn = false
    again.append(wish)
  }

  /// True for a list in slices: the coordinator checks for space before it has received all of them.
  private func isSliced(_ wish: Wish) -> Bool {
    guard case .enqueueList = wish.command else { return false }
    return wish.count > world.plan.slice
  }

  /// Repeats a request that can be repeated, unless it was refused permanently.
  private func failed(_ wish: Wish, _ failure: Failure) {
    guard wish.isRepeated, !wish.isWithdrawn else { return }
    if failure.code == .queueFull {
      if told.contains(wish.group), !isSliced(wish) { return world.checker.gaveUp(group: wish.group) }
      // After a refusal for lack of space, the client asks again for the outcome of an earlier request.
      if let answered, chance.draw(0...1) == 0 { again.append(answered) }
    }
    // The request was sent twice, and the other copy may have found space.
    if wish.group > 0, outstanding.contains(where: { $0.wish.group == wish.group }) { return }
    switch failure.code {
    // Transient refusals; the client repeats the request. The disk is full, the bank closes or could not open, or it
    // had no descriptor for a long list.
    case .diskFull, .draining, .notOpen, .windowsFailed, .system: again.append(wish)
    case .queueFull where !world.isCalm: again.append(wish)
    case .queueFull where isSliced(wish): break
    default: world.checker.gaveUp(group: wish.group)
    }
  }
}
