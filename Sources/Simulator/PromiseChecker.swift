// Owns everything that is known of a history by somebody who sees it all: what clients asked for, what was spoken,
// what is on disk, and who stands where. It must not ask the core for what it can know by itself, or it would believe
// the core's mistakes. Invariant: it follows the core's words in their order, and falls back to what is on disk when a
// process dies. What it finds is a violation, which ends the history.
import BankModel
import QueueCore
import Time
import Wire

struct TicketName: Hashable {
  let day: BusinessDay
  let ticket: TicketNumber
}

final class PromiseChecker {
  /// A customer in the hands of a teller. The first of a window is served; the turn of the others comes in their order.
  struct Holder {
    var window: Window
    var lease: Lease
    var customer: Customer
    /// When it was heard last that the customer is being served; the end of time before its turn.
    var progressAt: MonotonicTime
    /// When it was handed out.
    var heldSince = MonotonicTime(nanoseconds: 0)
  }

  enum Question {
    case cancel(TicketName)
    case reset(BusinessDay)
    case other
  }

  struct Group {
    var orders: [CustomerOrder]
    var isList: Bool
    var isRepeated: Bool
    /// The tickets on disk, by the place of the order.
    var tickets: [TicketName?]
    var filled = 0
    var asked = 0
    /// Its client was told that nobody of it was added, and has not asked again.
    var isWithdrawn = false

    /// Whose ticket it is that was given to such a customer: of a large request the first ones come last.
    func nextPlace(for order: CustomerOrder) -> Int {
      orders.indices.first { tickets[$0] == nil && orders[$0] == order }
        ?? tickets.firstIndex { $0 == nil } ?? orders.count
    }
  }

  /// What is a part of a transaction that is on its way.
  struct Seal {
    /// Newcomers up to this number; none where a new day has begun since.
    var issued: TicketNumber
    var paused: [Bool]
    /// Customers who begin with it.
    var starting: Set<TicketNumber>
  }

  /// The word of a teller that the core may acknowledge.
  struct Finished: Hashable {
    let window: Window
    let lease: Lease
  }

  unowned var world: Simulation!
  let policy: QueuePolicy

  // What clients asked for.
  private(set) var groups: [Group] = []
  /// The group of each account, from account 1.
  private(set) var groupOfAccount: [Int] = []
  var open: [RequestNumber: Question] = [:]
  /// Requests to the present coordinator that were answered.
  var closed: Set<RequestNumber> = []

  // What was said and what is on disk.
  var promised: [TicketName] = []
  var onDisk: [TicketName: CustomerOrder] = [:]
  var outcomes: [TicketName: Outcome] = [:]
  var finished: Set<Finished> = []
  var diskBooks: Books?
  var olderBooks: Books?
  /// The coordinator's calendar at the last commit.
  var committedAt = WallTime(milliseconds: .min)
  var seenReceipts: Int64 = 0
  var seenCommits = 0
  var servedToday: Int64 = 0
  var cancelledToday: Int64 = 0
  /// Changes of the open transaction, and those of one of which nobody knows whether it was kept.
  var staged: [StoreChange] = []
  /// Customers who are on disk and have no number yet.
  var arriving: [StoreChange] = []
  var doubtful: [StoreChange] = []

  // Who stands where, by the core's words.
  var view = QueueView(day: 1)
  var holders: [Holder] = []
  var recalled: [(window: Window, lease: Lease)] = []
  /// Customers of services that count attempts who stand at a window, and of whom nobody was told.
  var starting: [TicketNumber: Customer] = [:]
  /// Customers who were taken out of a teller's hands while it goes on with others; its word about them is to come.
  var cancelled: [(window: Window, lease: Lease)] = []
  /// Windows whose tellers were told that nobody comes after those in hand.
  var closing: Set<Window> = []
  var generations: [Window: Generation] = [:]
  /// Where those stand who serve side by side.
  var foreign: [Window: ForeignPlace] = [:]
  /// What workers have left behind, as it was staged.
  var results: [TicketName: String] = [:]
  /// The commands of customers, and their processes.
  var commands = CommandLedger()
  /// For when somebody was ordered, by the account, where that was a moment of the calendar.
  private(set) var asked: [AccountNumber: WallTime] = [:]
  /// The latest that the calendar has ever said: it may have been set back since.
  var latestWall = WallTime(milliseconds: .min)
  var takingIn: RequestNumber?
  var paused = [Bool](repeating: false, count: ServiceName.branch.count)
  /// The same as of the last commit.
  var settledPauses = [Bool](repeating: false, count: ServiceName.branch.count)
  /// What the core has sealed and has not heard of since, the oldest first.
  var seals: [Seal] = []
  /// Whether the store has said that there is hardly any room.
  var isShort = false
  var isDraining = false
  var isFinishing = false
  var hasDrained = false
  var hasEndedDay = false
  /// Customers with whom a coordinator has died; see `PromiseChecker+Falls.swift`.
  var falls = FallLedger()
  /// When the present coordinator has begun.
  var coordinatorBegan = MonotonicTime(nanoseconds: 0)
  var step = CheckedStep()
  private(set) var stock: StockWatch!
  private(set) var vending: VendingWatch!

  init(policy: QueuePolicy) {
    self.policy = policy
    stock = StockWatch(self)
    vending = VendingWatch(self)
  }

  func violate(_ kind: Violation.Kind, _ words: @autoclosure () -> String) { world.violate(kind, words()) }

  // MARK: - Clients

  var groupCount: Int { groups.count }

  func newAccounts(_ count: Int64) -> AccountNumber {
    let first = AccountNumber(groupOfAccount.count) + 1
    for _ in 0..<count { groupOfAccount.append(groups.count) }
    return first
  }

  func expect(_ orders: [CustomerOrder], isList: Bool, isRepeated: Bool) {
    groups.append(
      Group(
        orders: orders, isList: isList, isRepeated: isRepeated,
        tickets: Array(repeating: nil, count: orders.count)))
  }

  func expect(_ account: AccountNumber, at moment: WallTime) { asked[account] = moment }

  func change(_ group: Int, _ body: (inout Group) -> Void) { body(&groups[group]) }

  /// The group and the place of a customer's order; nil where nobody asked for this customer.
  func origin(of account: AccountNumber) -> Int? {
    guard account >= 1, account <= AccountNumber(groupOfAccount.count) else { return nil }
    return groupOfAccount[Int(account) - 1]
  }

  func clientHeard(_ report: EnqueuedReport, group number: Int) {
    guard number > 0 else { return violate(.answer, "a client that asked for nothing was told of tickets") }
    let group = groups[number - 1]
    if !group.isList {
      // Without a gap; those whom others have displaced stand at the end.
      let tickets = group.tickets.compactMap { $0 }.filter { $0.day == report.day }.map(\.ticket).sorted()
      let isSame =
        report.count == Int64(group.orders.count) && Int64(tickets.count) == report.count
        && tickets.first == report.first && tickets.last == report.last
      if !isSame {
        violate(
          .repeatedKey,
          "request \(number) for \(group.orders.count) customers was answered with tickets \(report.first) to "
            + "\(report.last) of day \(report.day), and they are \(group.tickets.map { $0?.ticket ?? 0 })")
      }
    } else if report.count + report.known != Int64(group.orders.count) {
      violate(
        .answer, "a list of \(group.orders.count) was answered with \(report.count) and \(report.known) known"
      )
    } else if group.filled != group.orders.count {
      violate(.notDurable, "a list of \(group.orders.count) was answered, and \(group.filled) are on disk")
    }
  }

  func asked(group number: Int) {
    groups[number - 1].asked += 1
    groups[number - 1].isWithdrawn = false
  }

  /// A client was told that nobody of its request was added, because it had withdrawn it. Where it has asked for the same
  /// more than once, another time may have had them added.
  func clientWithdrew(group number: Int) {
    let group = groups[number - 1]
    guard group.asked == 1 else { return }
    if group.filled > 0 {
      violate(.withdrawal, "request \(number) was withdrawn, and \(group.filled) of it are on disk")
    }
    groups[number - 1].isWithdrawn = true
  }

  func gaveUp(group number: Int) {
    guard number > 0, groups[number - 1].filled > 0 else { return }
    violate(.repeatedKey, "request \(number) was refused, and has tickets")
  }

  // MARK: - Life and death of the coordinator

  /// The process is dead: what was staged is lost, unless the disk knows better.
  ///
  /// - Parameter isDone: whether it had ended by itself, and noted that it has lost no customer.
  func crashed(isDone: Bool) {
    if isDone { falls.leave() } else { noteFalls() }
    if !staged.isEmpty { doubtful = staged }
    staged.removeAll()
    open.removeAll()
    closed.removeAll()
    holders.removeAll()
    starting.removeAll()
    seals.removeAll()
    recalled.removeAll()
    cancelled.removeAll()
    generations.removeAll()
    foreign.removeAll()
    takingIn = nil
    isDraining = false
    isFinishing = false
    hasDrained = false
    hasEndedDay = false
  }

  /// A store was opened: everything that was spoken must be there, and nobody stands at a window.
  func restarted(with stored: StoredQueue, from store: QueueDisk) {
    if store.commits > seenCommits, diskBooks != nil {
      // The disk had kept what it said it had not.
      staged = doubtful
      committed(stored.books, in: store)
    }
    doubtful.removeAll()
    // The last look at what is to be taken out may be kept by a process that dies before it says so, and changes nothing.
    if !store.hasArrivals { arriving.removeAll() }
    // Services that have got their numbers since are served and paused by nobody.
    diskBooks?.know(services: stored.books.paused.count)
    if let diskBooks, stored.books != diskBooks {
      violate(
        .books,
        "the books on disk end with ticket \(diskBooks.issued), and the start read \(stored.books.issued)")
    }
    diskBooks = diskBooks ?? stored.books
    paused = stored.books.paused
    settledPauses = paused
    isShort = false
    do throws(StoreError) {
      try rebuildView(stored.books.day, from: store)
      try checkAudit(of: store)
    } catch {
      violate(.storeContradiction, "\(error)")
    }
    for name in promised where name.day == stored.books.day && outcomes[name] == nil {
      if view.states[name.ticket] == nil {
        violate(.lostTicket, "ticket \(name.ticket) was spoken and is gone")
      }
    }
  }

  func began(_ core: borrowing QueueMachine) {
    coordinatorBegan = world.clock.now
    for words in core.contradictions(world.disk.services) { violate(.books, words.description) }
  }

  private func rebuildView(_ day: BusinessDay, from store: QueueDisk) throws(StoreError) {
    view = QueueView(day: day)
    view.lastTicket = diskBooks?.issued ?? 0
    for state in [CustomerState.waiting, .delayed, .dead] {
      for found in try store.customers(in: state, after: nil, limit: .max) {
        view.customers[found.customer.ticket] = found.customer
        view.states[found.customer.ticket] = state
        if state == .waiting { view.stand(found.customer) }
        if found.customer.attempts == 0 { view.due[found.customer.ticket] = found.dueAt }
      }
    }
  }

  /// Makes a start read what is not so, for the planted bugs that do.
  func spoil(_ stored: StoredQueue, as bug: PlantedBug) -> StoredQueue {
    var stored = stored
    if bug == .startsWithOldBooks, let olderBooks, olderBooks.day == stored.books.day {
      stored.books = olderBooks
    }
    for place in stored.delayed.indices where stored.delayed[place].customer.attempts == 0 {
      let now = world.clock.moment.wall
      switch bug {
      case .callsEverybodyAtTheStart: stored.delayed[place].dueAt = now
      case .cutsTheDelayAtTheStart:
        let latest = WallTime(milliseconds: now.milliseconds + policy.retryLimit.milliseconds)
        stored.delayed[place].dueAt = min(stored.delayed[place].dueAt, latest)
      default: break
      }
    }
    if bug == .forgetsTheDelayedAtTheStart {
      stored.delayed = []
      for place in stored.books.delayedByService.indices {
        stored.books.delay(-stored.books.delayedByService[place], of: Service(index: place))
      }
    }
    return stored
  }
}

/// Who stands where in one business day, as the checker has followed it: a second opinion, made of plain
/// tables. It must not know leases or tellers. Invariant: each line is in the order of its numbers and holds
/// those who wait, whose tickets are spoken, and who are at no window.
struct QueueView {
  var day: BusinessDay
  var lastTicket: TicketNumber = 0
  var customers: [TicketNumber: Customer] = [:]
  var states: [TicketNumber: CustomerState] = [:]
  /// Those who have ordered for later, and the moment.
  var due: [TicketNumber: WallTime] = [:]
  /// Those whose tickets are not on disk.
  var newcomers: [TicketNumber] = []
  private var standing: [Line: [TicketNumber]] = [:]

  init(day: BusinessDay) { self.day = day }

  mutating func stand(_ customer: Customer) {
    var tickets = standing[customer.line] ?? []
    var place = tickets.count
    while place > 0, tickets[place - 1] > customer.ticket { place -= 1 }
    tickets.insert(customer.ticket, at: place)
    standing[customer.line] = tickets
  }

  mutating func leaveLine(_ customer: Customer) -> Bool {
    guard let place = standing[customer.line]?.firstIndex(of: customer.ticket) else { return false }
    standing[customer.line]?.remove(at: place)
    return true
  }

  func first(of service: Service) -> TicketNumber? {
    let lines = standing.filter { $0.key.service == service && !$0.value.isEmpty }
    return lines.min { $0.key < $1.key }?.value.first
  }

  mutating func settleNewcomers(through last: TicketNumber) {
    for ticket in newcomers where ticket <= last && states[ticket] == .waiting {
      if let customer = customers[ticket] { stand(customer) }
    }
    newcomers.removeAll { $0 <= last }
  }

  /// The request that was half taken in is given up: its customers never had a ticket.
  mutating func dropArriving() {
    for ticket in newcomers where ticket > lastTicket {
      customers[ticket] = nil
      states[ticket] = nil
      due[ticket] = nil
    }
    newcomers.removeAll { $0 > lastTicket }
  }

  mutating func dropNewcomers() {
    for ticket in newcomers {
      customers[ticket] = nil
      states[ticket] = nil
      due[ticket] = nil
    }
    lastTicket -= TicketNumber(newcomers.count { $0 <= lastTicket })
    newcomers.removeAll()
  }

  mutating func begin(day: BusinessDay) { self = QueueView(day: day) }

  var summary: String {
    let counts = [CustomerState.waiting, .delayed, .serving, .dead].map { state in
      "\(states.values.count { $0 == state }) \(state.name)"
    }
    return counts.joined(separator: ", ")
  }
}
