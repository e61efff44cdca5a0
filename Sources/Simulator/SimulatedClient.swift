// Owns one client in the simulated world: what it wants, what it was promised, and how it behaves when its connection
// breaks. It must not know the queue. Invariant: a request with a key is repeated until it is answered, always the
// same; one without a key is never repeated. A client believes nothing that was not said to it.
import BankModel
import Coordinator
import Time
import Transport
import Wire

final class SimulatedClient {
  struct Wish {
    var command: ControlCommand
    /// The orders that belong to it, by the checker's number; 0 for none.
    var group = 0
    var isRepeated = false
    /// A list goes out in parts of so many; 0 for all in one.
    var partLength = 0
    /// The client has changed its mind, and waits to hear what has become of it.
    var isWithdrawn = false

    var count: Int64 {
      switch command {
      case .enqueue(let order): order.count
      case .enqueueList(let list): Int64(list.entries.count)
      default: 0
      }
    }

    /// It is answered when others have done something, and nothing else waits for that.
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
  /// What was asked on this connection and not answered, in the order of the questions.
  private(set) var outstanding: [(number: UInt32, wish: Wish)] = []
  private(set) var again: [Wish] = []
  private(set) var answered: Wish?
  var known: [(day: Int64, ticket: Int64)] = []
  /// Requests of which it was told that they have their tickets.
  private var told: Set<Int> = []
  /// So many lists come when nobody is let in any more.
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
  /// The bank is about to close: somebody comes with a list while it does, in vain.
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
          // Only at once can it be in time for a part.
          if wish.count > world.plan.slice {
            switch chance.draw(0...15) {
            case 0..<4: withdraw()
            case 4: ask(Wish(command: .reset(day: nil)))
            default: break
            }
          }
          // Somebody who presses a button twice means it once.
          if wish.isRepeated, chance.draw(0...9) == 0 { ask(wish) }
        }
      }
      // Somebody types Ctrl-C, mostly in vain: what was asked a while ago was taken in.
      if chance.draw(0...9) == 0 { withdraw() }
      lookAtTheBoard()
    }
    // Somebody who is content looks in from time to time, because the end of the history may want something.
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

  /// Gives up the last request for tickets. What has become of it says its answer.
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
    world.trace.line(world.clock.now, "client \(number) says \(message)")
    line.say(message)
  }

  private func hear(_ end: ChannelEnd) {
    world.trace.line(world.clock.now, "client \(number) hears the end: \(end)")
    switch end {
    case .malformed, .oversized, .unsendable, .backlogExceeded, .system:
      world.violate(.conversation, "client \(number) cannot understand the coordinator: \(end)")
    case .endOfFile, .midFrame, .closedHere: leave()
    }
  }

  /// The connection is gone: what can be repeated will be, and the rest remains unknown.
  private func leave() {
    guard state != .away else { return }
    state = .away
    again.append(contentsOf: outstanding.filter { $0.wish.isRepeated && !$0.wish.isWithdrawn }.map(\.wish))
    outstanding.removeAll()
  }

  private func hear(_ message: BankMessage) {
    world.trace.line(world.clock.now, "client \(number) hears \(message)")
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
        .answer, "client \(number) got an answer to request \(reply.number), which is not open")
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

  /// What is said of a ticket is said of that one, and not of another day's with its number.
  private func hear(_ report: TicketReport, to wish: Wish) {
    let carried =
      report.receipt == nil ? SimulatedPayload.of(report.service, report.account, report.article ?? "") : nil
    if report.payload != carried {
      world.violate(
        .payload,
        "client \(number) hears that ticket \(report.ticket) carries \(report.payload?.count ?? -1) bytes, and not what was given"
      )
    }
    switch wish.command {
    case .cancel(let ticket, let day?), .requeue(let ticket, let day?), .ticket(let ticket, let day?):
      guard report.day != day || report.ticket != ticket else { return }
      world.violate(
        .answer,
        "client \(number) asks for ticket \(ticket) of day \(day), and hears of \(report.ticket) of day \(report.day)"
      )
    default: break
    }
  }

  /// Nobody was added, because the client did not want it any more or the queue was emptied. Some type the same once more, and shall have it then.
  private func withdrawn(_ wish: Wish, isByReset: Bool) {
    guard wish.isWithdrawn || isByReset else {
      return world.violate(.withdrawal, "client \(number) is told that it has withdrawn what it has not")
    }
    if wish.isOfTheBoard { return }
    if !isByReset { world.statistics.withdrawn += 1 }
    world.checker.clientWithdrew(group: wish.group)
    guard wish.isRepeated, chance.draw(0...1) == 0 else { return }
    var wish = wish
    wish.isWithdrawn = false
    again.append(wish)
  }

  /// Of a list in slices the coordinator knows only some when it looks for room.
  private func isSliced(_ wish: Wish) -> Bool {
    guard case .enqueueList = wish.command else { return false }
    return wish.count > world.plan.slice
  }

  /// What is to be repeated is repeated as long as it was not refused for good.
  private func failed(_ wish: Wish, _ failure: Failure) {
    guard wish.isRepeated, !wish.isWithdrawn else { return }
    if failure.code == .queueFull {
      if told.contains(wish.group), !isSliced(wish) { return world.checker.gaveUp(group: wish.group) }
      // Whoever finds no room asks what has become of the others.
      if let answered, chance.draw(0...1) == 0 { again.append(answered) }
    }
    // The button was pressed twice, and the other request may have found room.
    if wish.group > 0, outstanding.contains(where: { $0.wish.group == wish.group }) { return }
    switch failure.code {
    // The bank closes, or could not open, or had no descriptor for a long list: another time it may go better.
    case .diskFull, .draining, .notOpen, .windowsFailed, .system: again.append(wish)
    case .queueFull where !world.isCalm: again.append(wish)
    case .queueFull where isSliced(wish): break
    default: world.checker.gaveUp(group: wish.group)
    }
  }
}
