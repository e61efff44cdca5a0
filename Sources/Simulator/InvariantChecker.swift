// The checker's model of a history: the requests of clients, the answers, the contents of the disk, and the state of
// each customer. It derives most facts itself: a checker that queried the core for them would repeat the core's
// mistakes.
// Invariant: the checker applies the core's effects in order, and rebuilds its view from the disk when a coordinator
// starts. A contradiction is a violation, which ends the history.
import BankModel
import QueueCore
import Time
import Wire

struct TicketID: Hashable {
  let day: BusinessDay
  let ticket: TicketNumber
}

final class InvariantChecker {
  /// A customer assigned to a worker. A teller or runner works for the first of its window; the others follow in order.
  struct Holder {
    var window: Window
    var lease: Lease
    var customer: Customer
    /// Time of the last sign of progress; `.max` before the customer is started.
    var progressAt: MonotonicTime
    var heldSince = MonotonicTime(nanoseconds: 0)
  }

  enum RequestKind {
    case cancel(TicketID)
    case reset(BusinessDay)
    case other
  }

  /// The customers of one request for tickets, and the tickets that they have on disk.
  struct Group {
    var orders: [CustomerOrder]
    var isList: Bool
    var isRepeated: Bool
    /// The tickets on disk, by the index of the order.
    var tickets: [TicketID?]
    var filled = 0
    var asked = 0
    /// True after a request that was sent once was reported as withdrawn, until the client sends it again.
    var isWithdrawn = false

    /// Index of the order of a new ticket. The first customers of a large request may get the last numbers.
    func nextPlace(for order: CustomerOrder) -> Int {
      orders.indices.first { tickets[$0] == nil && orders[$0] == order }
        ?? tickets.firstIndex { $0 == nil } ?? orders.count
    }
  }

  /// What belongs to a transaction in flight: its last ticket number, the pauses, and the customers about to start.
  struct SealedTransaction {
    /// Last ticket number issued when the transaction was sealed; 0 if a new day has started since.
    var issued: TicketNumber
    var paused: [Bool]
    /// Customers whose start is part of the transaction.
    var starting: Set<TicketNumber>
  }

  /// Window and lease of a receipt on disk, for which the core may acknowledge the worker's answer.
  struct AnsweredLease: Hashable {
    let window: Window
    let lease: Lease
  }

  unowned var world: Simulation!
  let policy: QueuePolicy

  // Requests of clients.
  private(set) var groups: [Group] = []
  /// The index of each account's group, from account 1.
  private(set) var groupByAccount: [Int] = []
  var open: [RequestNumber: RequestKind] = [:]
  /// Requests to the current coordinator that were answered.
  var closed: Set<RequestNumber> = []

  // Answers and contents of the disk.
  var announcedTickets: [TicketID] = []
  var onDisk: [TicketID: CustomerOrder] = [:]
  var outcomes: [TicketID: Outcome] = [:]
  var finished: Set<AnsweredLease> = []
  var diskCounters: DayCounters?
  var previousCounters: DayCounters?
  /// The coordinator's calendar at the last commit.
  var committedAt = WallTime(milliseconds: .min)
  var receiptCount: Int64 = 0
  var seenCommits = 0
  var servedToday: Int64 = 0
  var cancelledToday: Int64 = 0
  /// Changes of the open transaction. `uncertainChanges` contains those of a commit with an unknown outcome.
  var staged: [StoreChange] = []
  /// Customers who are on disk, and whose numbers are not issued yet.
  var arriving: [StoreChange] = []
  var uncertainChanges: [StoreChange] = []

  // State of each customer, derived from the core's effects.
  var view = QueueModel(day: 1)
  var holders: [Holder] = []
  /// Leases of tellers that have lost all their customers by a recall, and have not answered for these leases yet.
  var recalled: [(window: Window, lease: Lease)] = []
  /// Customers that left their line to start but are not assigned yet: the start must be on disk before.
  var starting: [TicketNumber: Customer] = [:]
  /// Other recalled leases without an answer: of external workers, and of tellers that continue with other customers.
  var cancelled: [(window: Window, lease: Lease)] = []
  /// Windows whose tellers were notified that no customer follows those in flight.
  var closing: Set<Window> = []
  var generations: [Window: Generation] = [:]
  /// Capacity and generation of external workers, by window.
  var externalWorkers: [Window: ExternalWorkerSlot] = [:]
  /// Results in the stored receipts of external workers.
  var results: [TicketID: String] = [:]
  var commands = CommandLedger()
  /// Requested due times by account, for customers ordered for a time of the calendar.
  private(set) var asked: [AccountNumber: WallTime] = [:]
  /// The latest calendar time of an event. The calendar may have been set back since.
  var latestWall = WallTime(milliseconds: .min)
  var currentEnqueue: RequestNumber?
  var paused = [Bool](repeating: false, count: ServiceName.branch.count)
  /// Pauses that remain if a commit is refused.
  var committedPauses = [Bool](repeating: false, count: ServiceName.branch.count)
  /// Sealed transactions of the core without an outcome, oldest first.
  var sealedTransactions: [SealedTransaction] = []
  /// True if the store has reported that its disk is nearly full.
  var isLowOnSpace = false
  var isDraining = false
  var isFinishing = false
  var hasDrained = false
  var hasEndedDay = false
  /// Customers in flight when a coordinator was killed; see `InvariantChecker+CoordinatorCrashes.swift`.
  var coordinatorCrashes = CrashLedger()
  var coordinatorStartedAt = MonotonicTime(nanoseconds: 0)
  var step = StepExpectations()
  private(set) var stock: StockChecker!
  private(set) var vending: VendingChecker!

  init(policy: QueuePolicy) {
    self.policy = policy
    stock = StockChecker(self)
    vending = VendingChecker(self)
  }

  func violate(_ kind: Violation.Kind, _ message: @autoclosure () -> String) {
    world.violate(kind, message())
  }

  // MARK: - Clients

  var groupCount: Int { groups.count }

  /// Reserves accounts for the customers of the next request. Returns the first one.
  func newAccounts(_ count: Int64) -> AccountNumber {
    let first = AccountNumber(groupByAccount.count) + 1
    for _ in 0..<count { groupByAccount.append(groups.count) }
    return first
  }

  /// Registers a new request with the customers that it asks for.
  func expect(_ orders: [CustomerOrder], isList: Bool, isRepeated: Bool) {
    groups.append(
      Group(
        orders: orders, isList: isList, isRepeated: isRepeated,
        tickets: Array(repeating: nil, count: orders.count)))
  }

  /// Registers the due time that a client has requested for a customer ordered for later.
  func expect(_ account: AccountNumber, at moment: WallTime) { asked[account] = moment }
  func change(_ group: Int, _ body: (inout Group) -> Void) { body(&groups[group]) }

  /// Index of the group that contains a customer's account; nil if no client requested this customer.
  func origin(of account: AccountNumber) -> Int? {
    guard account >= 1, account <= AccountNumber(groupByAccount.count) else { return nil }
    return groupByAccount[Int(account) - 1]
  }

  /// Compares the tickets that a client has received with those on disk.
  func clientReceived(_ report: EnqueuedReport, group number: Int) {
    guard number > 0 else { return violate(.answer, "a client without a request received tickets") }
    let group = groups[number - 1]
    if !group.isList {
      // The numbers have no gap, but the first customers of a large request may have the last numbers.
      let tickets = group.tickets.compactMap { $0 }.filter { $0.day == report.day }.map(\.ticket).sorted()
      let isSame =
        report.count == Int64(group.orders.count) && Int64(tickets.count) == report.count
        && tickets.first == report.first && tickets.last == report.last
      if !isSame {
        violate(
          .repeatedKey,
          "request \(number) for \(group.orders.count) customers was answered with tickets \(report.first) to "
            + "\(report.last) of day \(report.day), but they are \(group.tickets.map { $0?.ticket ?? 0 })")
      }
    } else if report.count + report.known != Int64(group.orders.count) {
      violate(
        .answer, "a list of \(group.orders.count) was answered with \(report.count) and \(report.known) known"
      )
    } else if group.filled != group.orders.count {
      violate(.notDurable, "a list of \(group.orders.count) was answered, but \(group.filled) are on disk")
    }
  }

  /// Counts that a client has sent the request.
  func asked(group number: Int) {
    groups[number - 1].asked += 1
    groups[number - 1].isWithdrawn = false
  }

  /// Checks that a withdrawn request has added no customers. Another copy of a repeated request may have added them.
  func clientWithdrew(group number: Int) {
    let group = groups[number - 1]
    guard group.asked == 1 else { return }
    if group.filled > 0 {
      violate(.withdrawal, "request \(number) was withdrawn, but \(group.filled) of it are on disk")
    }
    groups[number - 1].isWithdrawn = true
  }

  /// Checks that a request has no tickets, after its client was refused permanently.
  func gaveUp(group number: Int) {
    guard number > 0, groups[number - 1].filled > 0 else { return }
    violate(.repeatedKey, "request \(number) was rejected but has tickets")
  }

  // MARK: - Start and exit of the coordinator

  /// The process has exited: staged changes are lost, unless the disk has stored them. `isDone` is true if the process
  /// exited by itself after it had recorded that no customer was lost.
  func crashed(isDone: Bool) {
    if isDone { coordinatorCrashes.coordinatorExited() } else { recordCoordinatorCrash() }
    if !staged.isEmpty { uncertainChanges = staged }
    staged.removeAll()
    open.removeAll()
    closed.removeAll()
    holders.removeAll()
    starting.removeAll()
    sealedTransactions.removeAll()
    recalled.removeAll()
    cancelled.removeAll()
    generations.removeAll()
    externalWorkers.removeAll()
    currentEnqueue = nil
    isDraining = false
    isFinishing = false
    hasDrained = false
    hasEndedDay = false
  }

  /// Rebuilds the model from an opened store, which must contain every announced ticket. No customer is at a window.
  func restarted(with stored: StoredQueue, from store: QueueDisk) {
    if store.commits > seenCommits, diskCounters != nil {
      // The disk has stored a commit that was not reported as stored.
      staged = uncertainChanges
      committed(stored.dayCounters, in: store)
    }
    uncertainChanges.removeAll()
    // The last step of a withdrawal may be durable although the killed process did not report it.
    if !store.hasUnissuedCustomers { arriving.removeAll() }
    // Services numbered since the last commit have zero counts and are not paused.
    diskCounters?.know(services: stored.dayCounters.paused.count)
    if let diskCounters, stored.dayCounters != diskCounters {
      violate(
        .dayCounters,
        "the last ticket on disk is \(diskCounters.issued), but the start read \(stored.dayCounters.issued)")
    }
    diskCounters = diskCounters ?? stored.dayCounters
    paused = stored.dayCounters.paused
    committedPauses = paused
    isLowOnSpace = false
    do throws(StoreError) {
      try rebuildView(stored.dayCounters.day, from: store)
      try checkAudit(of: store)
    } catch {
      violate(.storeContradiction, "\(error)")
    }
    for name in announcedTickets where name.day == stored.dayCounters.day && outcomes[name] == nil {
      if view.states[name.ticket] == nil {
        violate(.lostTicket, "ticket \(name.ticket) was announced but is missing")
      }
    }
  }

  func coordinatorStarted(_ core: borrowing QueueMachine) {
    coordinatorStartedAt = world.clock.now
    for message in core.inconsistencies(world.disk.services) { violate(.dayCounters, message.description) }
  }

  private func rebuildView(_ day: BusinessDay, from store: QueueDisk) throws(StoreError) {
    view = QueueModel(day: day)
    view.lastTicket = diskCounters?.issued ?? 0
    for state in [CustomerState.waiting, .delayed, .dead] {
      for found in try store.customers(in: state, after: nil, limit: .max) {
        view.customers[found.customer.ticket] = found.customer
        view.states[found.customer.ticket] = state
        if state == .waiting { view.addToLine(found.customer) }
        if found.customer.attempts == 0 { view.due[found.customer.ticket] = found.dueAt }
      }
    }
  }

  /// Corrupts the data that a start reads, for the planted bugs that need it.
  func corrupt(_ stored: StoredQueue, as bug: PlantedBug) -> StoredQueue {
    var stored = stored
    if bug == .startsWithOldCounters, let previousCounters, previousCounters.day == stored.dayCounters.day {
      stored.dayCounters = previousCounters
    }
    for place in stored.delayed.indices where stored.delayed[place].customer.attempts == 0 {
      let now = world.clock.moment.wall
      switch bug {
      case .servesDelayedAtStart: stored.delayed[place].dueAt = now
      case .capsDelaysAtStart:
        let latest = WallTime(milliseconds: now.milliseconds + policy.retryMaxDelay.milliseconds)
        stored.delayed[place].dueAt = min(stored.delayed[place].dueAt, latest)
      default: break
      }
    }
    if bug == .startsWithoutDelayed {
      stored.delayed = []
      for place in stored.dayCounters.delayedByService.indices {
        stored.dayCounters.delay(-stored.dayCounters.delayedByService[place], of: Service(index: place))
      }
    }
    return stored
  }
}

/// The checker's own model of the customers of one business day, made of plain tables.
/// Invariant: each line is in the order of its numbers. It contains the waiting customers whose tickets are on disk and
/// who are at no window.
struct QueueModel {
  var day: BusinessDay
  var lastTicket: TicketNumber = 0
  var customers: [TicketNumber: Customer] = [:]
  var states: [TicketNumber: CustomerState] = [:]
  /// Due times of customers ordered for later.
  var due: [TicketNumber: WallTime] = [:]
  /// Customers whose tickets are not on disk yet.
  var newcomers: [TicketNumber] = []
  private var waitingByLine: [Line: [TicketNumber]] = [:]

  init(day: BusinessDay) { self.day = day }

  mutating func addToLine(_ customer: Customer) {
    var tickets = waitingByLine[customer.line] ?? []
    var place = tickets.count
    while place > 0, tickets[place - 1] > customer.ticket { place -= 1 }
    tickets.insert(customer.ticket, at: place)
    waitingByLine[customer.line] = tickets
  }

  mutating func leaveLine(_ customer: Customer) -> Bool {
    guard let place = waitingByLine[customer.line]?.firstIndex(of: customer.ticket) else { return false }
    waitingByLine[customer.line]?.remove(at: place)
    return true
  }

  func first(of service: Service) -> TicketNumber? {
    let lines = waitingByLine.filter { $0.key.service == service && !$0.value.isEmpty }
    return lines.min { $0.key < $1.key }?.value.first
  }

  /// Adds new customers to their lines, because their tickets are on disk now.
  mutating func settleNewcomers(through last: TicketNumber) {
    for ticket in newcomers where ticket <= last && states[ticket] == .waiting {
      if let customer = customers[ticket] { addToLine(customer) }
    }
    newcomers.removeAll { $0 <= last }
  }

  /// Drops a request that was only partly accepted: its customers never had a ticket.
  mutating func dropArriving() {
    for ticket in newcomers where ticket > lastTicket {
      customers[ticket] = nil
      states[ticket] = nil
      due[ticket] = nil
    }
    newcomers.removeAll { $0 > lastTicket }
  }

  /// Removes all customers whose tickets are not on disk: their commit was refused.
  mutating func dropNewcomers() {
    for ticket in newcomers {
      customers[ticket] = nil
      states[ticket] = nil
      due[ticket] = nil
    }
    lastTicket -= TicketNumber(newcomers.count { $0 <= lastTicket })
    newcomers.removeAll()
  }

  mutating func begin(day: BusinessDay) { self = QueueModel(day: day) }

  var summary: String {
    let counts = [CustomerState.waiting, .delayed, .serving, .dead].map { state in
      "\(states.values.count { $0 == state }) \(state.name)"
    }
    return counts.joined(separator: ", ")
  }
}
