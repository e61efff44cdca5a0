// One client of a branch: its requests, the answers that it received, and its behaviour when its connection
// breaks.
// Invariant: a request with keys is repeated until it is answered, at this branch or at another, unless the bank closes
// first. Some are repeated after their answer too. A request without keys is never repeated.

#if HAS_POSTGRES
  import BankModel
  import Coordinator
  import Time
  import Transport
  import Wire

  final class BranchClient {
    struct Wish {
      var command: ControlCommand
      var group = 0
      var isRepeated = false
      var isList = false
    }

    private enum State {
      case away, greeting, ready
    }

    unowned let world: BranchSimulation
    unowned let office: BranchOffice
    let number: Int
    let line: SimulatedLine
    private var chance: SeededGenerator
    private var state = State.away
    private var commandsLeft: Int64
    private var lastRequest: UInt32 = 0
    private var outstanding: [(number: UInt32, wish: Wish)] = []
    private(set) var again: [Wish] = []
    private var known: [TicketNumber] = []

    init(_ office: BranchOffice, _ number: Int, seed: UInt64, in world: BranchSimulation) {
      (self.office, self.number, self.world) = (office, number, world)
      chance = SeededGenerator(seed: seed)
      commandsLeft = world.plan.commands
      line = SimulatedLine(on: office.host)
      line.onMessage = { [unowned self] in hear($0) }
      line.onEnd = { [unowned self] _ in leave() }
    }

    var isReady: Bool { state == .ready }
    var isContent: Bool { commandsLeft == 0 && outstanding.isEmpty && again.isEmpty }
    var hasNothingOpen: Bool { outstanding.isEmpty }
    /// Removes and returns the requests to be repeated, which another client sends. This client sends no new ones.
    func takeOver() -> [Wish] {
      defer { again.removeAll() }
      commandsLeft = 0
      return again
    }
    func takeAgain() -> [Wish] {
      defer { again.removeAll() }
      return again
    }
    func add(_ wishes: [Wish]) { again += wishes }
    func wantMore(_ count: Int64) { commandsLeft += count }

    func act() {
      if world.checker.dayHasEnded { (commandsLeft, again) = (0, []) }
      if !line.process.isStopped {
        switch state {
        case .away: connect()
        case .greeting: break
        case .ready:
          if !again.isEmpty {
            ask(again.removeFirst())
          } else if commandsLeft > 0, outstanding.count < 3 {
            commandsLeft -= 1
            ask(think())
          }
        }
      }
      let pause = commandsLeft > 0 || !again.isEmpty ? chance.draw(200...400_000) : 100_000
      world.agenda.add(
        .client(office.place, number), at: world.clock.now + TimeSpan(nanoseconds: pause * 1_000))
    }

    private func connect() {
      guard line.connect(to: Coordinator.socket(inHome: office.home)) else { return }
      state = .greeting
      say(.hello(Hello(build: BuildIdentity.current, role: .client)))
    }

    func ask(_ wish: Wish) {
      lastRequest += 1
      outstanding.append((lastRequest, wish))
      world.statistics.requests += 1
      say(.request(ControlRequest(number: lastRequest, command: wish.command)))
    }

    private func say(_ message: ClientMessage) {
      world.trace.line(world.clock.now, "client \(office.place).\(number) sends \(message)")
      line.say(message)
    }

    func breakOff() { _ = line.breakOff(on: office.host) }

    private func leave() {
      guard state != .away else { return }
      state = .away
      again += outstanding.filter(\.wish.isRepeated).map(\.wish)
      outstanding.removeAll()
      // Sometimes the requests go to another branch.
      if !again.isEmpty, chance.draw(0...2) == 0 { world.sendElsewhere(from: self) }
    }

    // MARK: - Answers

    private func hear(_ message: BankMessage) {
      world.trace.line(world.clock.now, "client \(office.place).\(number) receives \(message)")
      switch message {
      case .welcome: state = .ready
      case .refused(let refusal):
        if refusal.reason != .crowded {
          world.violate(.conversation, "a client was refused: \(refusal.detail)")
        }
      case .reply(let reply): hear(reply)
      }
    }

    private func hear(_ reply: ControlReply) {
      guard let place = outstanding.firstIndex(where: { $0.number == reply.number }) else {
        return world.violate(.answer, "a client got a response to request \(reply.number), which is not open")
      }
      if reply.more { return }
      let wish = outstanding.remove(at: place).wish
      world.statistics.answers += 1
      switch (reply.answer, wish.command) {
      // No reader process exists here, so the report of a completed cancellation fails with `notOpen`.
      case (.failure(let failure), .cancel(let ticket, _)) where failure.code == .notOpen:
        world.checker.clientHeardOfCancelling(ticket)
      case (.failure(let failure), _): failed(wish, failure)
      case (.enqueued(let report), _):
        world.checker.clientHeard(
          first: report.first, last: report.last, group: wish.group, isList: wish.isList)
        if report.first > 0, report.first <= report.last { known += report.first...report.last }
        // A client that has lost the answer repeats the request, at this branch or at another.
        if wish.isRepeated, chance.draw(0...7) == 0 {
          again.append(wish)
          if chance.draw(0...1) == 0 { world.sendElsewhere(from: self) }
        }
      case (.ticket, .cancel(let ticket, _)): world.checker.clientHeardOfCancelling(ticket)
      default: break
      }
    }

    private func failed(_ wish: Wish, _ failure: Failure) {
      switch failure.code {
      case .keyConflict:
        world.violate(.repeatedKey, "the same request is refused as a different one: \(failure)")
      case .badRequest, .noSuchTicket, .wrongState: break
      default:
        guard wish.isRepeated, !world.mayGiveUp else { return }
        again.append(wish)
      }
    }

    // MARK: - Choice of requests

    private func think() -> Wish {
      if world.plan.hasJuice, chance.draw(0...3) == 0 { return juice() }
      switch chance.draw(0...99) {
      case 0..<46: return enqueue()
      case 46..<60: return list()
      case 60..<70:
        guard let ticket = someTicket() else { return enqueue() }
        return Wish(command: .cancel(ticket, day: nil))
      case 70..<73: return Wish(command: .requeueDead)
      case 73..<76:
        guard let ticket = someTicket() else { return enqueue() }
        return Wish(command: .requeue(ticket, day: nil))
      case 76..<79: return Wish(command: .pause(chance.draw(0...1) == 0 ? .deposit : .loan))
      case 79..<88: return Wish(command: .resume(nil))
      case 88..<92:
        return Wish(
          command: .scale([
            ServiceWindows(service: chance.draw(0...1) == 0 ? .deposit : .loan, count: chance.draw(0...3))
          ]))
      case 92..<96: return Wish(command: .branches)
      default: return Wish(command: .status)
      }
    }

    private func someTicket() -> TicketNumber? {
      guard !known.isEmpty else { return nil }
      let back = Int(chance.draw(0...min(8, Int64(known.count) - 1)))
      return known[known.count - 1 - back]
    }

    private func somePriority() -> Priority { [.vvip, .vip, .regular, .regular][Int(chance.draw(0...3))] }
    private func delay() -> Int64? {
      world.plan.ordersLater && chance.draw(0...3) == 0 ? chance.draw(1...3_000) : nil
    }

    private func enqueue() -> Wish {
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
      let order = EnqueueOrder(
        count: count, service: service, priority: priority, amount: amount, account: account,
        seed: chance.next(),
        key: isRepeated ? "order-\(group)" : nil, payload: SimulatedPayload.of(account), delay: delay)
      return Wish(command: .enqueue(order), group: group, isRepeated: isRepeated)
    }

    /// Customers who want the same juice. The article contains their account number, because the order itself has no
    /// account.
    private func juice() -> Wish {
      let count = chance.draw(1...4)
      let (group, account) = world.checker.newAccounts(1)
      let isRepeated = chance.draw(0...2) > 0
      let (priority, delay) = (somePriority(), delay())
      world.checker.expect(
        account, .init(group: group, service: .juice, priority: priority, count: count, delay: delay))
      let order = EnqueueOrder(
        count: count, service: .juice, priority: priority, amount: nil, account: nil, seed: 0,
        key: isRepeated ? "order-\(group)" : nil,
        article: JuiceOrder(juice: ItemID("kiwi"), account: account).article, delay: delay)
      return Wish(command: .enqueue(order), group: group, isRepeated: isRepeated)
    }

    private func list() -> Wish {
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
      return Wish(
        command: .enqueueList(EnqueueList(entries: entries, isLast: true)), group: group,
        isRepeated: isRepeated,
        isList: true)
    }
  }
#endif
