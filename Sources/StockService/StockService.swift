// Owns the stock service at work: one loop on which clients, the stock and the coordinator meet. It knows no rule of the
// stock (StockMachine does) and no byte of a message (Transport does).
// The turn: hear everyone, commit once, answer, tell the viewers, write it all.
// Invariant: a viewer gets every change behind its place, in order and once, and one that is too slow is told so.
// When the disk fails in a way that leaves it in doubt, the service ends, and a new one reads the disk again.

import BankModel
import Glibc
import Logbook
import Posix
import QueueCore
import ServiceProcess
import StockCore
import Storage
import Transport
import Wire

typealias StockSocket = ServiceSocket<StockRequest, StockResult>
typealias StockSession = ServiceSession<StockRequest, StockResult>
typealias StockViews = ServiceViews<StockRequest, StockResult>

/// How much those who look on are told at a time, and how much of what they have missed.
public struct ViewingLimits: Sendable {
  /// Changes in one message.
  public var page = 500
  /// Changes that a viewer who comes back may have missed; beyond it the viewer begins with a picture.
  public var replayed: Int64 = 10_000
  /// Changes that a viewer may fall behind while it is told what it has missed; as many as are kept for the others.
  public var missed: Int64 = 100_000

  /// The defaults.
  public init() {}
}

/// The stock service of one bank. Not Sendable: everything happens on the loop's thread.
public final class StockService<Machine: StockDecisions>: RunningService {
  /// The stock and its store.
  public typealias Desk = StockDesk<Machine>
  private typealias RequestID = StockCore.RequestNumber

  private struct Asker {
    var session: StockSession
    var number: UInt32
    /// Where it follows, and not only asks.
    var view: StockViews.View?
  }

  private let limits: ViewingLimits
  private let loop: EventLoop
  private let log: LogFile
  private let desk: Desk
  private let assortment: Assortment
  private let link: ParentLink?
  private let socket: StockSocket
  private var askers: [RequestID: Asker] = [:]
  private var lastRequest: RequestID = 0
  private let views = StockViews(
    tooSlow: .failure(StockFailure(.tooSlow, detail: "the changes came faster than they were read")))
  /// Questions about what is on disk, which wait until nothing is staged.
  private var questions: [(asker: Asker, command: StockCommand)] = []
  private var now = SystemClock.moment()
  private var isAskedToEnd = false
  private var watch: ServiceWatch?
  /// What of its files was removed, for good.
  private var loss: Failure?
  /// The database, as it tells of itself; nil where nobody wants to know.
  public var mark: DatabaseMark?
  /// Writes down the opening of the bank with which the database is used.
  public var remember: ((BankMark) throws(StoreError) -> Void)?

  /// A service that nobody can connect to yet.
  ///
  /// - Parameter link: the way to the coordinator; nil where nobody supervises it.
  public init(
    desk: Desk, assortment: Assortment, loop: EventLoop, log: LogFile, link: ParentLink?,
    limits: ViewingLimits = ViewingLimits(), clients: ServiceLimits = ServiceLimits()
  ) {
    self.limits = limits
    self.desk = desk
    self.assortment = assortment
    self.loop = loop
    self.log = log
    self.link = link
    socket = StockSocket(loop: loop, limits: clients)
  }

  /// Brings what is new in the assortment into the stock, and begins to listen.
  ///
  /// - Parameter files: what is done when the files of the database are removed; nil where it has none.
  public func open(in home: ServiceHome, _ files: DatabaseFiles? = nil) throws(SystemError) {
    loop.onWake = { [unowned self] in now = SystemClock.moment() }
    desk.onReply = { [unowned self] request, answer in reply(request, answer) }
    desk.onDiskFull = { [unowned self] error in noteDisk(error) }
    desk.onRoom = { [unowned self] isShort in noteRoom(isShort) }
    views.missed = { [unowned self] place in missed(behind: place) }
    views.onSlow = { [unowned self] in log.write(event: "viewer_lost", level: .warn, at: now) }
    socket.onRequest = { [unowned self] session, request in serve(request, for: session) }
    socket.onEnd = { [unowned self] session in
      views.forget(session)
      questions.removeAll { $0.asker.session === session }
    }
    desk.furnish(assortment.fruits.map { ItemAmount($0.id, $0.initial) }, at: now)
    guard desk.failure == nil else { return }
    desk.noteRoom(at: now)
    try socket.listen(at: home.socket)
    watch = files.map { watch(over: home, $0) }
    log.write(event: "ready", at: now) {
      $0.field("items", desk.machine.picture.items.count)
      $0.field("changes", desk.machine.settledSequence)
    }
    if let mark { link?.say(.database(mark)) }
    link?.say(.ready)
  }

  private func watch(over home: ServiceHome, _ files: DatabaseFiles) -> ServiceWatch {
    ServiceWatch(
      home, sockets: [home.socket], on: loop, files, of: desk, log: log, now: { [unowned self] in now },
      listen: { [socket] path in
        socket.stopListening()
        try socket.listen(at: path)
      },
      onLoss: { [unowned self] in loss = $0 })
  }

  /// Asks the service to answer what it has heard, and to end.
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
    now = SystemClock.moment()
    socket.keepTime(MonotonicInstant(now.monotonic))
    watch?.keepTime(MonotonicInstant(now.monotonic))
    endTurn()
  }

  /// Whether the kernel has taken a long answer at once, so that the rest of it can be said without waiting for anybody.
  private var hasMoreToSay: Bool {
    guard !questions.isEmpty, !desk.machine.isUnsettled else { return false }
    return questions.contains { socket.hasRoom(for: $0.asker.session) }
  }

  private var nextDeadline: MonotonicInstant? {
    if hasMoreToSay { return MonotonicInstant(now.monotonic) }
    let moments = [socket.nextDeadline, log.nextFlush, watch?.nextDeadline, views.nextDeadline]
    return (moments + [desk.commitDue, desk.roomDue].map { $0.map { MonotonicInstant($0) } })
      .compactMap { $0 }.min()
  }

  private func endTurn() {
    if Kernel.makes("showsTooEarly") {
      publishCommitted()
      views.tell(at: MonotonicInstant(now.monotonic))
      socket.flush()
    }
    if let due = desk.commitDue, due <= now.monotonic { desk.commit(at: now) }
    desk.lookForRoom(at: now)
    answerQuestions()
    rememberBank()
    if !Kernel.makes("givesNoSignOfLife") { link?.endTurn() }
    // Whoever has asked for something comes first.
    socket.flush()
    publishCommitted()
    views.tell(at: MonotonicInstant(now.monotonic))
    socket.flush()
    log.flushIfDue(MonotonicInstant(now.monotonic))
  }

  /// Everything that was heard is answered; clients ask the next service for the rest.
  private func finish() throws(SystemError) -> Int32 {
    socket.stopHearing()
    desk.commit(at: now)
    endTurn()
    views.tellTheRest()
    socket.flush()
    let misunderstood: String? = if case .misunderstood(let words) = link?.state { words } else { nil }
    let reason = loss?.detail ?? desk.failure?.description ?? misunderstood
    if let loss { link?.say(.failed(loss)) }
    log.write(event: "exit", level: reason == nil ? .info : .error) {
      $0.field("code", reason == nil ? 0 : 1)
      $0.field("msg", reason)
    }
    log.flush()
    if let reason { _ = try? StandardStreams.write("bank-stockd: \(reason)\n", to: .error) }
    guard reason == nil else { return 1 }
    socket.closeAfterFlush()
    // The last words may still be on their way to a client that reads slowly; nobody waits for the coordinator's end.
    let until = SystemClock.monotonic() + (link?.state == .gone ? .zero : .seconds(1))
    while !socket.sessions.isEmpty, SystemClock.monotonic() < until { try loop.runOnce(until: until) }
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
          ? "the reserve is in use: orders are done and given back, and nothing else is changed"
          : "there is room again")
    }
  }

  // MARK: - Requests

  private func serve(_ request: StockRequest, for session: StockSession) {
    let asker = Asker(session: session, number: request.number)
    // Days are counted in UTC where the client does not say which day it is.
    let today = min(max(0, now.wall.milliseconds / 86_400_000), StockLimits.days.upperBound)
    if let action = request.command.action(today: today) {
      return desk.happen(.order(remember(asker), request.order, action), at: now)
    }
    switch request.command {
    case .assortment: tell(asker, .assortment(assortment))
    case .look: desk.happen(.look(remember(asker)), at: now)
    case .follow(let place): follow(place, asker)
    case .introduce(let items): desk.happen(.introduce(remember(asker), items), at: now)
    default: questions.append((asker, request.command))
    }
  }

  private func remember(_ asker: Asker) -> RequestID {
    lastRequest += 1
    askers[lastRequest] = asker
    return lastRequest
  }

  private func reply(_ request: RequestID, _ answer: StockAnswer) {
    if case .done = answer { link?.worked() }
    guard let asker = askers.removeValue(forKey: request) else { return }
    guard let view = asker.view else { return tell(asker, StockResult(answer)) }
    guard !view.isEnded else { return }
    guard case .picture(let picture) = answer else { return views.end(view, with: StockResult(answer)) }
    tell(asker, StockResult(answer), more: true)
    begin(view, at: picture.sequence)
  }

  private func tell(_ asker: Asker, _ result: StockResult, more: Bool = false) {
    socket.answer(asker.session, asker.number, result, more: more)
  }

  private func answerQuestions() {
    guard questions.contains(where: { socket.hasRoom(for: $0.asker.session) }) else { return }
    desk.commit(at: now)
    guard !desk.machine.isUnsettled else { return }
    let asked = questions
    questions.removeAll()
    // An audit reads every row: all who have asked for one by now share it. Who asks meanwhile shares the next, and
    // before it begins everybody else is heard.
    var audit: StockResult?
    for question in asked {
      guard socket.hasRoom(for: question.asker.session) else {
        questions.append(question)
        continue
      }
      let shared = question.command == .audit ? audit : nil
      guard let result = shared ?? desk.answer(question.command) else { continue }
      if question.command == .audit { audit = result }
      tell(question.asker, result)
    }
  }

  // MARK: - Viewers

  private func follow(_ place: StockPlace?, _ asker: Asker) {
    guard let view = views.open(socket, asker.session, asker.number) else {
      return tell(asker, .failure(StockFailure(.crowded, remark: Remark(.viewsOpen, socket.viewsOfOne))))
    }
    let settled = desk.machine.settledSequence
    let first = max(0, settled - limits.replayed)
    if let place, place.ledger == desk.machine.ledger, place.sequence >= first, place.sequence <= settled {
      // Said at once, so that the viewer knows that it is heard and has missed nothing, or what.
      if place.sequence == settled { tell(asker, .changes([]), more: true) }
      if Kernel.makes("forgetsWhoComesBack") { return }
      begin(view, at: place.sequence)
    } else {
      var asker = asker
      asker.view = view
      desk.happen(.look(remember(asker)), at: now)
    }
  }

  /// Whoever has seen everything is told what is published from now on; the others begin with what they have missed.
  private func begin(_ view: StockViews.View, at sequence: Int64) {
    publishCommitted()
    views.begin(view, after: sequence == desk.machine.settledSequence ? nil : sequence)
  }

  /// Hands what is on disk to those who look on.
  private func publishCommitted() {
    var fresh = desk.takeCommitted()[...]
    while !fresh.isEmpty {
      views.publish(.changes(Array(fresh.prefix(limits.page))))
      fresh = fresh.dropFirst(limits.page)
    }
  }

  /// What somebody who comes back has not seen.
  private func missed(behind sequence: Int64) -> MissedAnswers<StockResult> {
    guard !desk.machine.isUnsettled, desk.failure == nil else { return .notNow }
    let settled = desk.machine.settledSequence
    guard sequence < settled else { return .none }
    guard settled - sequence <= limits.missed else { return .tooMany }
    let page = desk.changes(after: sequence + (Kernel.makes("leavesOutAChange") ? 1 : 0), limit: limits.page)
    return page.last.map { .next(.changes(page), upTo: $0.sequence) } ?? .notNow
  }
}
