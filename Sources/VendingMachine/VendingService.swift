// Owns the vending machine at work: one loop on which customers, the manager, the stock and the coordinator meet. It
// knows no rule of the machine (VendingStateMachine does) and no byte of a message (Transport does).
// The turn: hear everyone, commit once, answer, tell the viewers, write it all.
// Invariant: what a socket is not for is refused before anybody looks at it. When the disk fails in a way that leaves it
// in doubt, the machine ends, and a new one reads the disk again.

import BankModel
import Glibc
import Logbook
import Posix
import QueueCore
import StockClient
import Storage
import Transport
import VendingCore
import Wire

typealias VendingSocket = ServiceSocket<VendingRequest, VendingResult>
typealias VendingSession = ServiceSession<VendingRequest, VendingResult>

/// A request that is to be answered.
struct VendingAsker {
  var socket: VendingSocket
  var session: VendingSession
  var number: UInt32
  /// Whether this client reads what it is told.
  var hasRoom: Bool { socket.hasRoom(for: session) }
}

/// How long the machine waits for the stock.
public struct StockPatience: Sendable {
  /// Until it has told anything, for somebody who looks.
  public var look = Duration.seconds(8)
  /// Until it has handed a drink out; the purchase is given up then. Less than a client waits.
  public var purchase = Duration.seconds(8)
  /// Until it has done what the manager wants.
  public var manager = Duration.seconds(8)
  /// Until it has put back what a purchase holds; it is asked again then.
  public var release = Duration.seconds(3_600)
  /// Before it is asked again for what it would not do.
  public var pause = Duration.seconds(1)

  /// The defaults.
  public init() {}
}

/// The vending machine of one bank. Not Sendable: everything happens on the loop's thread.
public final class VendingService<Machine: VendingDecisions> {
  /// The machine's money and its store.
  public typealias Desk = VendingDesk<Machine>
  typealias Asker = VendingAsker
  private typealias RequestID = VendingCore.RequestNumber

  let desk: Desk
  let shelf: DrinkShelf
  let loop: EventLoop
  let log: LogFile
  private let patience: StockPatience
  private let link: ParentLink?
  private let stock: StockClient
  let customers: VendingSocket
  let managers: VendingSocket
  private let customerMode: CustomerMode<Machine>
  private let adminMode: AdminMode
  private var askers: [RequestID: Asker] = [:]
  private var lastRequest: RequestID = 0
  private let viewers = ViewerTable<Machine>()
  /// Those who look, until the stock has told something.
  private var looking: [(asker: Asker, command: VendingCommand, deadline: MonotonicInstant)] = []
  private var questions: [(asker: Asker, command: VendingCommand)] = []
  private var retryAt: MonotonicInstant?
  private let clock = MachineClock()
  private var isAskedToEnd = false
  private var watch: ServiceWatch?
  /// What of its files was removed, for good.
  var loss: Failure?
  /// The database, as it tells of itself; nil where nobody wants to know.
  public var mark: DatabaseMark?
  /// Writes down the opening of the bank with which the database is used.
  public var remember: ((BankMark) throws(StoreError) -> Void)?

  /// A machine that nobody can connect to yet.
  ///
  /// - Parameters:
  ///   - stock: its own way to the stock, on the same loop.
  ///   - link: the way to the coordinator; nil where nobody supervises it.
  public init(
    desk: Desk, table: ProductTable, stock: StockClient, loop: EventLoop, log: LogFile, link: ParentLink?,
    patience: StockPatience = StockPatience(), clients: ServiceLimits = ServiceLimits()
  ) {
    self.patience = patience
    self.desk = desk
    self.stock = stock
    self.loop = loop
    self.log = log
    self.link = link
    shelf = DrinkShelf(table, stock)
    var limits = clients
    limits.admitsOthers = table.customersGroup != nil
    customers = VendingSocket(loop: loop, limits: limits)
    managers = VendingSocket(loop: loop, limits: clients)
    customerMode = CustomerMode(desk, shelf, stock, clock, patience)
    adminMode = AdminMode(shelf, stock, clock, patience.manager)
  }

  var now: Moment { clock.now }
  /// The day that people here have.
  var today: DayNumber { clock.today }

  /// Goes on with what was left open, and begins to listen.
  ///
  /// - Parameter files: what is done when the files of the database are removed; nil where it has none.
  public func open(in home: ServiceHome, _ files: DatabaseFiles? = nil) throws {
    loop.onWake = { [unowned self] in clock.turn() }
    desk.onReply = { [unowned self] request, answer in reply(request, answer) }
    desk.onDiskFull = { [unowned self] error in noteDisk(error) }
    desk.onRoom = { [unowned self] isShort in noteRoom(isShort) }
    viewers.onSlow = { [unowned self] in log.write(event: "viewer_lost", level: .warn, at: now) }
    for socket in [customers, managers] {
      socket.onRequest = { [unowned self, unowned socket] session, request in
        serve(request, for: Asker(socket: socket, session: session, number: request.number))
      }
      socket.onEnd = { [unowned self] session in
        viewers.remove(session)
        questions.removeAll { $0.asker.session === session }
        looking.removeAll { $0.asker.session === session }
      }
    }
    shelf.open()
    desk.noteRoom(at: now)
    desk.happen(.began, at: now)
    let managersSocket = Paths.join(home.run, "vending-admin.sock")
    for path in [managersSocket, home.socket] { try listen(at: path, home) }
    watch = files.map { watch(over: home, [managersSocket, home.socket], $0) }
    log.write(event: "ready", at: now) {
      $0.field("products", shelf.table.products.count)
      $0.field("changes", desk.machine.settledSequence)
      $0.field("unfinished", desk.machine.unfinishedCount)
    }
    if let mark { link?.say(.database(mark)) }
    link?.say(.ready)
    endTurn()
  }

  /// Asks the machine to answer what it has heard, and to end.
  public func askToEnd() { isAskedToEnd = true }

  /// Whether nothing has asked it to end, and nothing has forced it to.
  public var isAtWork: Bool {
    desk.failure == nil && !isAskedToEnd && link.map { $0.state == .atWork } ?? true
  }

  /// Runs until the end, and returns the code to exit with.
  public func run() throws(SystemError) -> Int32 {
    while isAtWork { try turn() }
    return try finish()
  }

  /// Hears everybody, and does what follows from it.
  ///
  /// - Parameter limit: When it is waited no longer; nil for as long as there is nothing to do.
  public func turn(until limit: MonotonicInstant? = nil) throws(SystemError) {
    try loop.runOnce(until: [nextDeadline, limit].compactMap(\.self).min())
    clock.turn()
    let instant = MonotonicInstant(now.monotonic)
    customers.keepTime(instant)
    managers.keepTime(instant)
    watch?.keepTime(instant)
    endTurn()
  }

  /// Whether the kernel has taken a long answer at once, so that the rest of it can be said without waiting for anybody.
  private var hasMoreToSay: Bool {
    guard !desk.machine.isUnsettled else { return false }
    return questions.contains(where: \.asker.hasRoom)
      || shelf.isKnown && looking.contains(where: \.asker.hasRoom)
  }

  private var nextDeadline: MonotonicInstant? {
    if hasMoreToSay { return MonotonicInstant(now.monotonic) }
    return [
      customers.nextDeadline, managers.nextDeadline, log.nextFlush, stock.nextDeadline, retryAt,
      shelf.nextDeadline, watch?.nextDeadline, viewers.nextDeadline,
      // Whoever does not read is waited for by the loop, and not by the clock.
      looking.lazy.filter(\.asker.hasRoom).map(\.deadline).min().map { loop.attended.wake(for: $0) },
      desk.commitDue.map { MonotonicInstant($0) }, desk.roomDue.map { MonotonicInstant($0) },
    ].compactMap { $0 }.min()
  }

  private func endTurn() {
    // What the stock says is heard first, and what is asked of it leaves with this turn.
    stock.endTurn()
    shelf.endTurn(MonotonicInstant(now.monotonic))
    if let due = desk.commitDue, due <= now.monotonic { desk.commit(at: now) }
    desk.lookForRoom(at: now)
    answerQuestions()
    answerThoseWhoLook()
    retryReleases()
    stock.endTurn()
    rememberBank()
    link?.endTurn()
    // Whoever has asked for something comes first.
    flush()
    if !desk.machine.isUnsettled, shelf.isKnown { viewers.publish(self) }
    viewers.tell(at: MonotonicInstant(now.monotonic))
    flush()
    log.flushIfDue(MonotonicInstant(now.monotonic))
  }

  private func flush() {
    customers.flush()
    managers.flush()
  }

  private func retryReleases() {
    guard customerMode.hasReleasesToRetry else { return }
    let instant = MonotonicInstant(now.monotonic)
    guard let due = retryAt else { return retryAt = instant + patience.pause }
    guard due <= instant else { return }
    retryAt = nil
    customerMode.retryReleases()
  }

  /// Everything that was heard is answered; clients ask the next machine for the rest.
  private func finish() throws(SystemError) -> Int32 {
    customers.stopHearing()
    managers.stopHearing()
    desk.commit(at: now)
    endTurn()
    viewers.tellTheRest()
    flush()
    let misunderstood: String? = if case .misunderstood(let words) = link?.state { words } else { nil }
    let reason = loss?.detail ?? desk.failure?.description ?? misunderstood
    if let loss { link?.say(.failed(loss)) }
    log.write(event: "exit", level: reason == nil ? .info : .error) {
      $0.field("code", reason == nil ? 0 : 1)
      $0.field("msg", reason)
    }
    log.flush()
    if let reason { _ = try? StandardStreams.write("bank-vending: \(reason)\n", to: .error) }
    guard reason == nil else { return 1 }
    customers.closeAfterFlush()
    managers.closeAfterFlush()
    // The last words may still be on their way to a client that reads slowly; nobody waits for the coordinator's end.
    let until = SystemClock.monotonic() + (link?.state == .gone ? .zero : .seconds(1))
    while !(customers.sessions.isEmpty && managers.sessions.isEmpty), SystemClock.monotonic() < until {
      try loop.runOnce(until: until)
    }
    return 0
  }

  /// The bank knows this database: with the next turn that stages nothing that is on disk, and the bank hears of it.
  private func rememberBank() {
    guard !desk.machine.isUnsettled, let remember, let bank = link?.takeBank() else { return }
    do throws(StoreError) {
      try remember(bank)
      mark?.bank = bank
      if let mark { link?.say(.database(mark)) }
    } catch {
      // Without room the note is made with the next opening.
      guard case .diskFull = error else { return desk.end(because: error) }
    }
  }

  private func noteDisk(_ error: StoreError?) {
    guard let error else { return log.write(event: "disk_available", at: now) }
    log.write(event: "disk_full", level: .error, at: now) { $0.field("msg", error.description) }
  }

  private func noteRoom(_ isShort: Bool) {
    log.write(event: isShort ? "disk_short" : "disk_room", level: isShort ? .error : .info, at: now) {
      $0.field(
        "msg",
        isShort
          ? "the reserve is in use: no new business, what was begun is finished"
          : "there is room again")
    }
  }

  // MARK: - Requests

  private func serve(_ request: VendingRequest, for asker: Asker) {
    let isManager = asker.socket === managers
    guard request.command.side == .both || (request.command.side == .manager) == isManager else {
      let remark = Remark(isManager ? .managersSocket : .customersSocket)
      return tell(asker, .failure(VendingFailure(.wrongSide, remark: remark)))
    }
    guard request.command.changesSomething else { return question(request.command, asker) }
    guard let name = request.order, name.isValid, name.text.utf8.count <= VendingLimits.requestLength else {
      return tell(asker, .failure(VendingFailure(.badRequest(request.order?.text ?? ""))))
    }
    if let action = request.command.action {
      lastRequest += 1
      askers[lastRequest] = asker
      customerMode.ask(action, as: name, for: lastRequest)
    } else {
      adminMode.ask(request.command, as: name) { [weak self] in self?.tell(asker, $0) }
    }
  }

  private func reply(_ request: RequestID, _ answer: VendingAnswer) {
    if case .done = answer { link?.worked() }
    guard let asker = askers.removeValue(forKey: request) else { return }
    tell(asker, VendingResult(answer))
  }

  func tell(_ asker: Asker, _ result: VendingResult, more: Bool = false) {
    asker.socket.answer(asker.session, asker.number, result, more: more)
  }

  // MARK: - Questions

  private func question(_ command: VendingCommand, _ asker: Asker) {
    switch command {
    case .balance, .history, .audit: questions.append((asker, command))
    default: looking.append((asker, command, loop.attended.now + patience.look))
    }
  }

  /// What needs no stock is answered when nothing is staged, and so at the end of this turn.
  private func answerQuestions() {
    guard !questions.isEmpty, !desk.machine.isUnsettled else { return }
    let asked = questions
    questions.removeAll()
    // An audit reads every row: all who have asked for one by now share it. Who asks meanwhile shares the next, and
    // before it begins everybody else is heard.
    var audit: VendingResult?
    for (asker, command) in asked {
      guard asker.hasRoom else {
        questions.append((asker, command))
        continue
      }
      switch command {
      case .history(let page):
        let limit = Int(min(max(page.limit, 0), 500))
        tell(asker, .history(desk.purchases(after: max(0, page.after), limit: limit)))
      case .audit:
        if audit == nil, let found = desk.audit() {
          audit = VendingResult(found, machine: desk.machine.machine)
        }
        if let audit { tell(asker, audit) }
      default: tell(asker, .picture(picture([], withLots: false)))
      }
    }
  }

  private func answerThoseWhoLook() {
    guard !looking.isEmpty, !desk.machine.isUnsettled else { return }
    let instant = loop.attended.now
    let asked = looking
    looking.removeAll()
    for one in asked {
      if !one.asker.hasRoom {
        looking.append(one)
      } else if shelf.isKnown {
        show(one.command, one.asker)
      } else if one.deadline <= instant {
        let remark = shelf.trouble ?? Remark(.stockSilent)
        tell(one.asker, .failure(VendingFailure(.stockUnavailable, remark: remark)))
      } else {
        looking.append(one)
      }
    }
  }

  private func show(_ command: VendingCommand, _ asker: Asker) {
    let isManager = asker.socket === managers
    switch command {
    case .expired: tell(asker, .picture(picture(shelf.expired(on: today), withLots: true)))
    case .follow:
      guard viewers.admit(asker, showsLots: isManager, self) else {
        let remark = Remark(.viewsOpen, asker.socket.viewsOfOne)
        return tell(asker, .failure(VendingFailure(.crowded, remark: remark)))
      }
    default:
      tell(asker, .picture(picture(shelf.reports(on: today, withLots: isManager), withLots: isManager)))
    }
  }

  /// The machine as it is on disk, with these products.
  func picture(_ products: [ProductReport], withLots: Bool) -> VendingPicture {
    let sales = desk.sales.sorted { $0.key < $1.key }.map { SalesReport(product: $0.key, count: $0.value) }
    return VendingPicture(
      sequence: desk.machine.settledSequence, balance: desk.machine.settledAccount.balance,
      free: desk.machine.settledFree, today: today, products: products, sales: sales, recent: desk.recent)
  }
}
