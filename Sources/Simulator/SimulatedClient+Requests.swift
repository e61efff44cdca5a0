// Choice of a client's next request: the command and its customers.
// Invariant: no two requests of a history share an account, except repetitions of one request. Each ticket and each
// receipt can therefore be traced to its request.
import BankModel
import Time
import Wire

extension SimulatedClient {
  /// Chooses the next request; nil if the client has sent all of its requests.
  func chooseRequest() -> PlannedRequest? {
    guard commandsLeft > 0 else { return nil }
    commandsLeft -= 1
    if world.hasForeignWorkers, world.externalWorkers.chance.draw(0...2) == 0 { return customersOfWorkers() }
    if world.hasCommands, world.commands.chance.draw(0...2) == 0 { return customersOfCommands() }
    switch chance.draw(0...99) {
    case 0..<36: return world.hasStock && chance.draw(0...1) == 0 ? juice() : enqueue()
    case 36..<56: return list()
    case 56..<62:
      guard !knownTickets.isEmpty else { return enqueue() }
      let (day, ticket) = someTicket()
      return PlannedRequest(command: .cancel(ticket, day: chance.draw(0...1) == 0 ? day : nil))
    case 62..<67:
      // A client that has lost the answer repeats the request, and must get the same answer.
      return answered ?? enqueue()
    case 67..<70:
      guard !knownTickets.isEmpty else { return enqueue() }
      let (day, ticket) = someTicket()
      return PlannedRequest(command: .requeue(ticket, day: chance.draw(0...1) == 0 ? day : nil))
    case 70..<74: return PlannedRequest(command: .requeueDead)
    case 74..<78: return PlannedRequest(command: .pause(someService()))
    case 78..<86: return PlannedRequest(command: .resume(someService()))
    case 86..<88: return PlannedRequest(command: .reset(day: nil))
    case 88..<95:
      let windows = ServiceWindows(service: someWindows(), count: chance.draw(0...3))
      return PlannedRequest(command: .scale([windows]))
    case 95..<97:
      guard !world.isFaultFree else { return enqueue() }
      // Some timeouts are too short for the customers at the windows.
      let timeout: Int64? =
        chance.draw(0...1) == 0 ? nil : chance.draw(0...1) == 0 ? chance.draw(0...5) : chance.draw(0...500)
      return PlannedRequest(
        command: .stop(StopParameters(now: chance.draw(0...1) == 0, timeoutMilliseconds: timeout)))
    default: return PlannedRequest(command: question())
    }
  }

  /// A request that changes nothing, or a reload of the configuration.
  private func question() -> ControlCommand {
    switch chance.draw(0...9) {
    case 0: .tickets(TicketQuery())
    case 1: .receipts(ReceiptQuery(days: .all, follow: false))
    case 2: .ledger
    case 3: knownTickets.last.map { .ticket(number: $0.ticket, day: $0.day) } ?? .status
    case 4: knownTickets.last.map { .awaitTickets(day: $0.day, first: $0.ticket, last: $0.ticket) } ?? .status
    case 5..<8: .audit
    case 8: .reload
    default: .status
    }
  }

  /// A service to pause or resume; nil for all services.
  private func someService() -> ServiceName? {
    [.deposit, .loan, world.hasStock ? .juice : nil, nil][Int(chance.draw(0...3))]
  }

  /// A service whose number of windows is to change.
  func someWindows() -> ServiceName {
    [.deposit, .loan, .juice][Int(chance.draw(0...(world.hasStock ? 2 : 1)))]
  }

  /// A random priority, mostly one of the grades.
  private func somePriority() -> Priority {
    [.vvip, .vip, Priority(500), .regular, .regular, Priority(5_000)][Int(chance.draw(0...5))]
  }

  /// A received ticket, mostly one of the latest, whose customers may still be waiting.
  private func someTicket() -> (day: Int64, ticket: Int64) {
    let back = min(Int64(knownTickets.count), chance.draw(0...3) == 0 ? Int64(knownTickets.count) : 12)
    return knownTickets[knownTickets.count - Int(chance.draw(1...back))]
  }

  /// Requests customers for deposits, loans or either, under one key or without a key.
  private func enqueue() -> PlannedRequest {
    let count = chance.draw(0...5) == 0 ? chance.draw(8...30) : chance.draw(1...6)
    return enqueue { account, key in
      EnqueueParameters(
        count: count, service: someBank(), priority: somePriority(),
        amount: chance.draw(0...1) == 0 ? nil : chance.draw(1...5_000), account: account,
        seed: chance.next(), key: key, payload: SimulatedPayload.of(account), dueAt: dueAt(account),
        delay: delay(account))
    }
  }

  /// Makes a request with a new account, and announces its customers to the checker.
  private func enqueue(_ make: (_ account: AccountNumber, _ key: String?) -> EnqueueParameters)
    -> PlannedRequest
  {
    let account = world.checker.newAccounts(1)
    let isRepeated = chance.draw(0...2) > 0
    let group = world.checker.groupCount + 1
    let order = make(account, isRepeated ? "order-\(group)" : nil)
    var draw = order.draw(world.disk.services)
    world.checker.expect((0..<order.count).map { _ in draw.next() }, isList: false, isRepeated: isRepeated)
    return PlannedRequest(command: .enqueue(order), group: group, isRepeated: isRepeated)
  }

  /// The service of a request; nil if each customer gets deposits or loans at random.
  private func someBank() -> ServiceName? { [.deposit, .loan, nil, nil][Int(chance.draw(0...3))] }

  /// Requests customers who want the same juice. The article contains their account number, because the order itself
  /// has no account.
  func juice() -> PlannedRequest {
    let count = chance.draw(0...5) == 0 ? chance.draw(5...20) : chance.draw(1...4)
    let juices = world.plan.stock.assortment.juices
    return enqueue { account, key in
      let juice = juices[Int(chance.draw(0...Int64(juices.count) - 1))].id
      return EnqueueParameters(
        count: count, service: .juice, priority: somePriority(), amount: nil, account: nil, seed: 0, key: key,
        itemName: JuiceOrder(juice: juice, account: account).itemName, dueAt: dueAt(account),
        delay: delay(account))
    }
  }

  private func customersOfWorkers() -> PlannedRequest {
    let count = chance.draw(0...5) == 0 ? chance.draw(5...20) : chance.draw(1...5)
    let service = ExternalWorkerPlan.services[
      Int(chance.draw(0...Int64(ExternalWorkerPlan.services.count) - 1))]
    return customers(of: service, count)
  }

  private func customersOfCommands() -> PlannedRequest {
    let count = chance.draw(0...5) == 0 ? chance.draw(5...20) : chance.draw(1...5)
    let services = CommandServicesPlan.services
    return customers(of: services[Int(chance.draw(0...Int64(services.count) - 1))], count)
  }

  /// Requests customers of a service. The article contains their account number, because most orders have no account.
  private func customers(of service: ServiceName, _ count: Int64) -> PlannedRequest {
    let movesMoney = world.plan.externalWorkers.ledger?.service == service
    return enqueue { account, key in
      EnqueueParameters(
        count: count, service: service, priority: somePriority(),
        amount: movesMoney ? 1 + account % 977 : nil,
        account: movesMoney ? account : nil, seed: 0, key: key,
        itemName: JuiceOrder(juice: ItemID("work"), account: account).itemName,
        payload: SimulatedPayload.of(account), dueAt: dueAt(account), delay: delay(account))
    }
  }

  /// Due time of a customer; nil unless the history and the account have customers ordered for later. It is computed
  /// without a random draw.
  private func dueAt(_ account: AccountNumber) -> Int64? {
    guard world.plan.delaysCustomers, account % 3 == 0 else { return nil }
    let moment = world.clock.moment.wall.milliseconds + (account * 7_919) % 2_700 - 200
    world.checker.expect(account, at: WallTime(milliseconds: moment))
    return moment
  }

  /// Delay of a customer in milliseconds, for some accounts; nil for no delay.
  private func delay(_ account: AccountNumber) -> Int64? {
    world.plan.delaysCustomers && account % 5 == 1 && account % 3 != 0 ? (account * 7_907) % 2_000 : nil
  }

  /// Requests a list of customers that differ in service, priority and amount.
  func list() -> PlannedRequest {
    let count = chance.draw(1...9)
    let account = world.checker.newAccounts(count)
    let isRepeated = chance.draw(0...2) > 0
    let group = world.checker.groupCount + 1
    let entries = (0..<count).map { offset in
      EnqueueEntry(
        service: chance.draw(0...1) == 0 ? .deposit : .loan, priority: somePriority(),
        amount: chance.draw(1...9_000), account: account + offset,
        key: isRepeated ? "entry-\(account + offset)" : nil, payload: SimulatedPayload.of(account + offset),
        dueAt: dueAt(account + offset), delay: delay(account + offset))
    }
    let services = world.disk.services
    let orders = entries.compactMap { entry in services[entry.service].map(entry.order) }
    world.checker.expect(orders, isList: true, isRepeated: isRepeated)
    return PlannedRequest(
      command: .enqueueList(EnqueueList(entries: entries, isLast: true)), group: group,
      isRepeated: isRepeated, partLength: Int(chance.draw(0...4)))
  }
}

extension EnqueueParameters {
  /// Generator that makes the same customers as the coordinator.
  func draw(_ services: ServiceDirectory) -> CustomerGenerator {
    CustomerGenerator(
      service: service.flatMap { services[$0] }, priority: priority, amount: amount, account: account,
      itemName: itemName ?? "", seed: seed)
  }
}

/// The last requests of a history. They resume paused services, open the planned windows, and stop the bank when it can
/// serve the remaining customers.
/// Invariant: only one of these requests is open at a time. The stop is repeated after the loss of a coordinator.
struct ClosingCommands {
  private var step = 0
  private(set) var hasRequestedStop = false

  /// Returns the next of the last requests; nil if it cannot be sent yet.
  ///
  /// - Parameter mayEnd: true if a closing bank can serve every customer that is left.
  /// - Parameter isPaused: true if a service is paused.
  mutating func next(
    windows: [ServiceName: Int32], mayEnd: Bool, isPaused: Bool
  ) -> SimulatedClient.PlannedRequest? {
    if step > 0, isPaused { return SimulatedClient.PlannedRequest(command: .resume(nil), isRepeated: true) }
    guard step < 3 || mayEnd else { return nil }
    step += 1
    switch step {
    case 1: return SimulatedClient.PlannedRequest(command: .resume(nil), isRepeated: true)
    case 2:
      let wanted = ServiceName.branch.map { ServiceWindows(service: $0, count: Int64(windows[$0] ?? 0)) }
      return SimulatedClient.PlannedRequest(command: .scale(wanted), isRepeated: true)
    case 3: return SimulatedClient.PlannedRequest(command: .status)
    default:
      hasRequestedStop = true
      return SimulatedClient.PlannedRequest(
        command: .stop(StopParameters(now: false, timeoutMilliseconds: nil)), isRepeated: true)
    }
  }
}
