// Owns a service at work: one loop on which its clients, its machine and the coordinator meet. The turn: hear everyone,
// commit, answer, tell those who follow, write it all.
// Invariant: what is on disk alone is shown to anybody; who has asked for something comes before who follows. When the disk
// fails in a way that leaves it in doubt, the service ends, and a new one reads the disk again.

import BankModel
import Logbook
import Posix
import QueueCore
import Storage
import Time
import Transport
import Wire

/// Serves the clients of one service. Not Sendable: everything happens on the loop's thread.
public final class Server<Handler: ServiceHandler> {
  private struct Question {
    var call: Handler.Call
    var command: Handler.Command
    /// In the time that was attended: when a service that is not ready for it excuses itself.
    var deadline: MonotonicTime
  }

  private let service: Handler
  private let driver: MachineDriver<Handler.Machine, Handler.Persistence>
  private let loop: EventLoop
  private let log: LogFile
  private let link: ParentLink?
  private let sockets: EndpointSockets<Handler.Command, Handler.Reply>
  /// Who waits for an answer of the machine.
  private var calls: [UInt64: Handler.Call] = [:]
  private var lastCall: UInt64 = 0
  /// Questions about what is on disk, which wait until nothing is staged.
  private var questions: [Question] = []
  private var isAskedToEnd = false
  private var isEnding = false
  private var watch: ServiceWatch?
  /// What of its files was removed, for good.
  private var loss: Failure?
  /// The database, as it tells of itself; nil where nobody wants to know.
  public var mark: DatabaseMark?
  /// Writes down the opening of the bank with which the database is used.
  public var remember: ((BankMark) throws(StoreError) -> Void)?

  /// A server that nobody can connect to yet; where there is no link to the coordinator nobody supervises it.
  public init(
    _ service: Handler, on loop: EventLoop, log: LogFile, link: ParentLink?,
    clients: ServiceLimits = ServiceLimits()
  ) {
    self.service = service
    self.loop = loop
    self.log = log
    self.link = link
    driver = service.driver
    sockets = EndpointSockets(service.endpoints, on: loop, clients)
  }

  private var now: Moment { service.clock.now }

  // MARK: - The life

  /// Lets the service begin, and listens; `files` says what is done when those of the database are removed.
  ///
  /// - Parameter retakeLock: takes the lock of the service again after its file was removed; false if another process has it.
  public func open(
    in home: ServiceHome, _ files: DatabaseFiles? = nil, retakeLock: @escaping () -> Bool = { true }
  ) throws {
    connect()
    service.begin()
    guard driver.failure == nil else { return }
    driver.noteRoom(at: now)
    try sockets.listen(in: home)
    watch = files.map {
      ServiceWatch(home, sockets: sockets.paths(in: home), on: loop, remedies(for: $0, in: home, retakeLock))
    }
    log.write(event: "ready", at: now) { service.describe(in: &$0) }
    if let mark { link?.say(.database(mark)) }
    link?.say(.ready)
    endTurn()
  }

  private func connect() {
    loop.onWake = { [unowned self] in service.clock.turn() }
    driver.onReply = { [unowned self] id, answer in
      if Handler.isWork(answer) { link?.worked() }
      if let call = calls.removeValue(forKey: id) { service.reply(answer, to: call) }
    }
    driver.onDiskFull = { [unowned self] error in noteDisk(error) }
    driver.onRoom = { [unowned self] isShort in noteRoom(isShort) }
    service.views.onSlow = { [unowned self] in log.write(event: "viewer_lost", level: .warn, at: now) }
    for (endpoint, socket) in sockets.all.enumerated() {
      socket.onRequest = { [unowned self, unowned socket] session, request in
        lastCall += 1
        let call = Handler.Call(
          id: lastCall, endpoint: endpoint, socket: socket, session: session, number: request.number)
        serve(request, call)
      }
      socket.onEnd = { [unowned self] session in
        service.views.forget(session)
        questions.removeAll { $0.call.session === session }
      }
    }
  }

  /// Asks the service to answer what it has heard, and to end.
  public func askToEnd() { isAskedToEnd = true }

  /// Whether nothing has asked it to end, and nothing has forced it to.
  public var isAtWork: Bool {
    driver.failure == nil && !isAskedToEnd && link.map { $0.state == .atWork } ?? true
  }

  /// Runs until the end, and returns the code to exit with.
  public func run() throws(SystemError) -> Int32 {
    while isAtWork { try turn() }
    return try finish()
  }

  /// Everything that was heard is answered; clients ask the next service for the rest.
  private func finish() throws(SystemError) -> Int32 {
    isEnding = true
    sockets.stopHearing()
    driver.commit(at: now)
    endTurn()
    service.views.tellTheRest()
    sockets.flush()
    let misunderstood: String? = if case .misunderstood(let words) = link?.state { words } else { nil }
    let reason = loss?.detail ?? driver.failure?.description ?? misunderstood
    if let loss { link?.say(.failed(loss)) }
    log.write(event: "exit", level: reason == nil ? .info : .error) {
      $0.field("code", reason == nil ? 0 : 1)
      $0.field("msg", reason)
    }
    log.flush()
    if let reason { _ = try? StandardStreams.write("\(Handler.executable): \(reason)\n", to: .error) }
    guard reason == nil else { return 1 }
    sockets.closeAfterFlush()
    // The last words may still be on their way to a client that reads slowly; nobody waits for the coordinator's end.
    let until = SystemClock.monotonic() + (link?.state == .gone ? .zero : .seconds(1))
    while !sockets.isEmpty, SystemClock.monotonic() < until { try loop.runOnce(until: until) }
    return 0
  }

  // MARK: - The turn

  /// Hears everybody, for whom it waits no longer than until a limit, and does what follows from it.
  public func turn(until limit: MonotonicTime? = nil) throws(SystemError) {
    try loop.runOnce(until: .earliest(nextDeadline, limit))
    service.clock.turn()
    sockets.keepTime(service.clock.now.monotonic)
    watch?.keepTime(service.clock.now.monotonic)
    endTurn()
  }

  private var nextDeadline: MonotonicTime? {
    // The kernel has taken a long answer at once: the rest of it can be said without waiting for anybody.
    if !driver.machine.isUnsettled, questions.contains(where: isDue) { return service.clock.now.monotonic }
    // Whoever does not read is waited for by the loop, and not by the clock. There is no key path here, because one keeps the
    // compiler from making this for each service: with them a turn takes twice the instructions.
    var patience: MonotonicTime?
    for question in questions where question.call.hasRoom {
      patience = .earliest(patience, question.deadline)
    }
    return .earliest(
      sockets.nextDeadline, log.nextFlush, watch?.nextDeadline, service.views.nextDeadline,
      service.nextDeadline, patience.map { loop.attended.wake(for: $0) },
      driver.commitDue, driver.roomDue)
  }

  private func endTurn() {
    service.beforeCommit()
    // Nobody is left who could come with more.
    if isEnding || driver.commitDue.map({ $0 <= now.monotonic }) ?? false { driver.commit(at: now) }
    driver.lookForRoom(at: now)
    answerQuestions()
    service.afterCommit()
    rememberBank()
    if !Kernel.makes("givesNoSignOfLife") { link?.endTurn() }
    // Whoever has asked for something comes first.
    sockets.flush()
    service.publish()
    service.views.tell(at: service.clock.now.monotonic)
    sockets.flush()
    log.flushIfDue(service.clock.now.monotonic)
  }

  // MARK: - Requests

  private func serve(_ request: ServiceRequest<Handler.Command>, _ call: Handler.Call) {
    switch service.react(to: request, call) {
    case .answer(let reply): call.answer(reply)
    case .event(let event):
      calls[call.id] = call
      driver.happen(event, at: now)
    case .question(let patience):
      let deadline = loop.attended.now + patience
      questions.append(Question(call: call, command: request.command, deadline: deadline))
    case .later: break
    }
  }

  /// Whether something can be said to a question: an answer or an excuse.
  private func isDue(_ question: Question) -> Bool {
    question.call.hasRoom
      && (service.isReady(for: question.command) || question.deadline <= loop.attended.now)
  }

  private func answerQuestions() {
    guard questions.contains(where: isDue) else { return }
    if driver.machine.isUnsettled { driver.commit(at: now) }
    guard !driver.machine.isUnsettled else { return }
    let asked = questions
    questions.removeAll()
    // An audit reads every row: all who have asked for one by now share it. Who asks meanwhile shares the next, and
    // before it begins everybody else is heard.
    var audit: Handler.Reply?
    for question in asked {
      if !isDue(question) {
        questions.append(question)
      } else if !service.isReady(for: question.command) {
        question.call.answer(service.excuse(for: question.command))
      } else if question.command == Handler.audit {
        audit = audit ?? service.answer(question.command, of: question.call)
        if let audit { question.call.answer(audit) }
      } else if let reply = service.answer(question.command, of: question.call) {
        question.call.answer(reply)
      }
    }
  }

  // MARK: - The database

  /// The bank knows this database: with the next turn that stages nothing that is on disk, and the bank hears of it.
  private func rememberBank() {
    guard !driver.machine.isUnsettled, let remember, let bank = link?.takeBank() else { return }
    do throws(StoreError) {
      try remember(bank)
      mark?.bank = bank
      if let mark { link?.say(.database(mark)) }
    } catch {
      // Without room the note is made with the next opening.
      guard case .diskFull = error else { return driver.end(because: error) }
    }
  }

  /// What is done when files of the service are removed: the log of the database is copied and begun anew, the reserve is held
  /// back again, the sockets are bound again, and without its database the service ends.
  private func remedies(
    for files: DatabaseFiles, in home: ServiceHome, _ retakeLock: @escaping () -> Bool
  ) -> ServiceWatch.Remedies {
    ServiceWatch.Remedies(
      rescueLog: { [driver] in
        do throws(StoreError) { try files.logIsLost() } catch { driver.end(because: error) }
      },
      renewLog: { [unowned self] in
        driver.commit(at: now)
        do throws(StoreError) { return try files.renewLog() } catch {
          driver.end(because: error)
          return true
        }
      },
      renewReserve: { [unowned self] in
        files.renewReserve()
        driver.noteRoom(at: now)
      }, retakeLock: retakeLock, restoreLog: { [log] in log.restore() },
      listen: { [sockets] path in try sockets.listen(at: path, home) },
      end: { [unowned self] failure in
        files.abandon()
        loss = failure
        let words = failure.remark ?? Remark(quoting: failure.detail)
        driver.end(because: .failed(path: failure.subject, detail: words))
      },
      note: { [unowned self] words, isRepaired in
        log.write(event: isRepaired ? "home_repaired" : "home_lost", level: .warn, at: now) {
          $0.field("msg", words)
        }
      })
  }

  private func noteDisk(_ error: StoreError?) {
    guard let error else { return log.write(event: "disk_available", at: now) }
    log.write(event: "disk_full", level: .error, at: now) { $0.field("msg", error.description) }
  }

  private func noteRoom(_ isShort: Bool) {
    log.write(event: isShort ? "disk_short" : "disk_room", level: isShort ? .error : .info, at: now) {
      $0.field("msg", isShort ? "the reserve is in use: \(Handler.whileShort)" : "there is room again")
    }
  }
}
