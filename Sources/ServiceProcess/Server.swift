// Server of a running service: one loop that serves its clients, its machine and the coordinator. One iteration reads
// the input that is ready, commits if a commit is due, answers, and publishes to subscribers.
// Invariant: clients see committed data only, and answers are written before publications. If the disk fails in a way
// that leaves its contents unknown, the service ends, and the process that the coordinator starts next reads the disk
// again.

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
    /// Deadline in attended time of the loop. After it, a service that is not ready answers with its excuse.
    var deadline: MonotonicTime
  }

  private let service: Handler
  private let driver: MachineDriver<Handler.Machine, Handler.Persistence>
  private let loop: EventLoop
  private let log: LogFile
  private let link: ParentLink?
  private let sockets: EndpointSockets<Handler.Command, Handler.Reply>
  /// Requests that wait for an answer of the machine.
  private var calls: [UInt64: Handler.Call] = [:]
  private var lastCall: UInt64 = 0
  /// Queries of committed data, which wait until nothing is staged.
  private var questions: [Question] = []
  private var isAskedToEnd = false
  private var isEnding = false
  private var watch: ServiceWatch?
  /// Loss of a file that cannot be repaired and that ends the service.
  private var loss: Failure?
  /// Identity of the database, which is reported to the coordinator; nil to report none.
  public var mark: DatabaseMark?
  /// Stores a bank's opening (see `BankMark`) in the database of the service.
  public var remember: ((BankMark) throws(StoreError) -> Void)?

  /// Creates a server that does not listen yet. Without a link, no coordinator supervises the process.
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

  // MARK: - Start and end

  /// Starts the service and listens. If the store has failed by then, the function returns without listening. `files`
  /// repairs removed files of the database; nil to watch no files.
  ///
  /// - Parameter retakeLock: takes the service's lock again after its file was removed; returns false if that failed,
  ///   for example because another process has locked the new file.
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
    service.views.onSlow = { [unowned self] in log.write(event: "slow_consumer", level: .warn, at: now) }
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

  /// Makes the service answer the requests that it has received, and then end.
  public func askToEnd() { isAskedToEnd = true }

  /// True until a request, a failure, or the end of the coordinator ends the service.
  public var isAtWork: Bool {
    driver.failure == nil && !isAskedToEnd && link.map { $0.state == .atWork } ?? true
  }

  /// Runs until the end. Returns the exit code.
  public func run() throws(SystemError) -> Int32 {
    while isAtWork { try turn() }
    return try finish()
  }

  /// Answers all requests that were received, unless the disk has failed. Clients send later requests to the next
  /// process.
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
    // The loop waits up to one second until slow clients have read their last messages, but not if the coordinator
    // has ended.
    let until = SystemClock.monotonic() + (link?.state == .gone ? .zero : .seconds(1))
    while !sockets.isEmpty, SystemClock.monotonic() < until { try loop.runOnce(until: until) }
    return 0
  }

  // MARK: - Loop iteration

  /// Runs one loop iteration, which waits for input at most until `limit`.
  public func turn(until limit: MonotonicTime? = nil) throws(SystemError) {
    try loop.runOnce(until: .earliest(nextDeadline, limit))
    service.clock.turn()
    sockets.keepTime(service.clock.now.monotonic)
    watch?.keepTime(service.clock.now.monotonic)
    endTurn()
  }

  private var nextDeadline: MonotonicTime? {
    // A question is due if, for example, the kernel has accepted the last part of a long answer. The next part can be
    // sent without waiting for an event.
    if !driver.machine.isUnsettled, questions.contains(where: isDue) { return service.clock.now.monotonic }
    // A client that does not read needs no timer, because the loop reports when its socket is writable. The code
    // avoids a key path, which would prevent the compiler from specialising this function: an iteration would take
    // twice the instructions.
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
    // While the service ends, no client can send further requests, so the commit does not wait for them.
    if isEnding || driver.commitDue.map({ $0 <= now.monotonic }) ?? false { driver.commit(at: now) }
    driver.lookForRoom(at: now)
    answerQuestions()
    service.afterCommit()
    rememberBank()
    if !Kernel.makes("givesNoSignOfLife") { link?.endTurn() }
    // Answers are written before publications.
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

  /// True if a query can be answered or excused now.
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
    // An audit reads every row, so all clients that have requested one by now share its answer. Clients that request
    // one later share the next audit. All other clients are served before the next audit starts.
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

  /// Stores the bank's opening in this database, in the first iteration in which nothing is staged, and notifies the
  /// coordinator.
  private func rememberBank() {
    guard !driver.machine.isUnsettled, let remember, let bank = link?.takeBank() else { return }
    do throws(StoreError) {
      try remember(bank)
      mark?.bank = bank
      if let mark { link?.say(.database(mark)) }
    } catch {
      // If the disk is full, the opening is stored after the next start of the service, when the coordinator sends it
      // again.
      guard case .diskFull = error else { return driver.end(because: error) }
    }
  }

  /// Actions after the removal of files of the service: copy and restart the database's log, allocate the reserve
  /// again, take the lock again, reopen the service's log, bind the sockets again, and end if the database was
  /// removed.
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
      note: { [unowned self] event, words in
        log.write(event: event, level: .warn, at: now) { $0.field("msg", words) }
      })
  }

  private func noteDisk(_ error: StoreError?) {
    guard let error else { return log.write(event: "disk_available", at: now) }
    log.write(event: "disk_full", level: .error, at: now) { $0.field("msg", error.description) }
  }

  private func noteRoom(_ isShort: Bool) {
    log.write(
      event: isShort ? "disk_reserve_in_use" : "disk_reserve_free", level: isShort ? .error : .info, at: now
    ) {
      $0.field("msg", isShort ? "the disk reserve is in use: \(Handler.whileShort)" : "there is space again")
    }
  }
}
