// Server of a running service: one loop that serves its clients, its machine and the coordinator. One iteration reads
// the input that is ready, commits if a commit is due, answers, and publishes to subscribers.
// Invariant: clients see committed data only, and answers are written before publications. If the disk fails in a way
// that leaves its contents unknown, the service ends.

import BankModel
import Logging
import Posix
import QueueCore
import Storage
import Time
import Transport
import Wire

/// Serves the clients of one service.
public final class ServiceServer<Handler: ServiceHandler> {
  /// Query of committed data that waits for its answer.
  private struct PendingQuery {
    var call: Handler.Call
    var command: Handler.Command
    /// Deadline in listening time of the loop. After it, a service that is not ready answers with `timeoutReply(for:)`.
    var deadline: MonotonicTime
  }

  private let service: Handler
  private let driver: MachineDriver<Handler.Machine, Handler.Persistence>
  private let loop: EventLoop
  private let log: LogFile
  private let supervisor: SupervisorConnection?
  private let sockets: ListeningSockets<Handler.Command, Handler.Reply>
  /// Requests that wait for an answer of the machine.
  private var calls: [UInt64: Handler.Call] = [:]
  private var lastCall: UInt64 = 0
  /// Queries of committed data.
  private var queries: [PendingQuery] = []
  private var isStopRequested = false
  /// True after the last request was received.
  private var isEnding = false
  private var watch: ServiceFileWatcher?
  /// Loss of a file that ends the service.
  private var fatalLoss: Failure?
  /// Identity of the database, which is reported to the coordinator; nil to report none.
  public var databaseIdentity: DatabaseIdentity?
  /// Stores a bank's opening (see `BankIdentity`) in the database of the service.
  public var storeBankIdentity: ((BankIdentity) throws(StoreError) -> Void)?

  /// Creates a server that does not listen yet. If `supervisor` is nil, no coordinator supervises the process.
  public init(
    _ service: Handler, on loop: EventLoop, log: LogFile, supervisor: SupervisorConnection?,
    clients: ServiceLimits = ServiceLimits()
  ) {
    self.service = service
    self.loop = loop
    self.log = log
    self.supervisor = supervisor
    driver = service.driver
    sockets = ListeningSockets(service.endpoints, on: loop, clients)
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
    driver.noteDiskSpace(at: now)
    try sockets.listen(in: home)
    watch = files.map {
      ServiceFileWatcher(
        home, sockets: sockets.paths(in: home), on: loop, repairActions(for: $0, in: home, retakeLock))
    }
    log.write(event: "ready", at: now) { service.describe(in: &$0) }
    if let databaseIdentity { supervisor?.send(.database(databaseIdentity)) }
    supervisor?.send(.ready)
    finishIteration()
  }

  /// Sets the handlers of the driver, the sockets and the subscriptions.
  private func connect() {
    loop.onWake = { [unowned self] in service.clock.runIteration() }
    driver.onReply = { [unowned self] id, answer in
      if Handler.changesData(answer) { supervisor?.reportWork() }
      if let call = calls.removeValue(forKey: id) { service.reply(answer, to: call) }
    }
    driver.onDiskFull = { [unowned self] error in noteDisk(error) }
    driver.onSpaceChange = { [unowned self] isLowOnSpace in noteDiskSpace(isLowOnSpace) }
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
        queries.removeAll { $0.call.session === session }
      }
    }
  }

  /// Makes the service end, after the answers that need no further input.
  public func requestStop() { isStopRequested = true }

  /// True until a request to stop, a failure, or the end of the coordinator ends the service.
  public var isRunning: Bool {
    driver.failure == nil && !isStopRequested && supervisor.map { $0.state == .running } ?? true
  }

  /// Runs until the end. Returns the exit code.
  public func run() throws(SystemError) -> Int32 {
    while isRunning { try runIteration() }
    return try finish()
  }

  /// Sends the answers that need no further input, unless the disk has failed.
  private func finish() throws(SystemError) -> Int32 {
    isEnding = true
    sockets.stopReceiving()
    driver.commit(at: now)
    finishIteration()
    service.views.flushPending()
    sockets.flush()
    let protocolError: String? =
      if case .protocolError(let message) = supervisor?.state { message } else { nil }
    let reason = fatalLoss?.detail ?? driver.failure?.description ?? protocolError
    if let fatalLoss { supervisor?.send(.failed(fatalLoss)) }
    log.write(event: "exit", level: reason == nil ? .info : .error) {
      $0.field("code", reason == nil ? 0 : 1)
      $0.field("msg", reason)
    }
    log.flush()
    if let reason { _ = try? StandardStreams.write("\(Handler.executable): \(reason)\n", to: .error) }
    guard reason == nil else { return 1 }
    sockets.closeAfterFlush()
    // Slow clients have some time to read their last messages, unless the coordinator has ended.
    let until = SystemClock.monotonic() + (supervisor?.state == .disconnected ? .zero : .seconds(1))
    while !sockets.isEmpty, SystemClock.monotonic() < until { try loop.runOnce(until: until) }
    return 0
  }

  // MARK: - Loop iteration

  /// Runs one loop iteration, which waits for input at most until `limit`.
  public func runIteration(until limit: MonotonicTime? = nil) throws(SystemError) {
    try loop.runOnce(until: .earliest(nextDeadline, limit))
    service.clock.runIteration()
    sockets.runTimers(service.clock.now.monotonic)
    watch?.runTimers(service.clock.now.monotonic)
    finishIteration()
  }

  private var nextDeadline: MonotonicTime? {
    // A query is due if, for example, the kernel has accepted the last part of a long answer, so that the next part can
    // be sent without waiting for an event.
    if !driver.machine.hasUncommittedChanges, queries.contains(where: isDue) {
      return service.clock.now.monotonic
    }
    // A client that does not read needs no timer, because the loop reports when its socket is writable. A key path
    // would prevent the compiler from specialising this function.
    var queryTimeout: MonotonicTime?
    for query in queries where query.call.hasRoom {
      queryTimeout = .earliest(queryTimeout, query.deadline)
    }
    return .earliest(
      sockets.nextDeadline, log.nextFlush, watch?.nextDeadline, service.views.nextDeadline,
      service.nextDeadline, queryTimeout.map { loop.listeningTime.wakeTime(for: $0) },
      driver.commitDue, driver.spaceCheckDue)
  }

  /// Commits if a commit is due, answers queries, and publishes.
  private func finishIteration() {
    service.beforeCommit()
    // While the service ends, no client can send further requests, so the commit does not wait for them.
    if isEnding || driver.commitDue.map({ $0 <= now.monotonic }) ?? false { driver.commit(at: now) }
    driver.refreshDiskSpace(at: now)
    answerQueries()
    service.afterCommit()
    updateBankIdentity()
    if !Mutant.ignoresProbes.isActive { supervisor?.finishIteration() }
    // Answers are written before publications.
    sockets.flush()
    service.publish()
    service.views.notify(at: service.clock.now.monotonic)
    sockets.flush()
    log.flushIfDue(service.clock.now.monotonic)
  }

  // MARK: - Requests

  /// Handles a request as the service decides.
  private func serve(_ request: ServiceRequest<Handler.Command>, _ call: Handler.Call) {
    switch service.react(to: request, call) {
    case .answer(let reply): call.answer(reply)
    case .event(let event):
      calls[call.id] = call
      driver.process(event, at: now)
    case .query(let queryTimeout):
      let deadline = loop.listeningTime.now + queryTimeout
      queries.append(PendingQuery(call: call, command: request.command, deadline: deadline))
    case .later: break
    }
  }

  /// True if a query can be answered now, if only with `timeoutReply(for:)`.
  private func isDue(_ query: PendingQuery) -> Bool {
    query.call.hasRoom
      && (service.isReady(for: query.command) || query.deadline <= loop.listeningTime.now)
  }

  /// Answers the queries that are due, after a commit of the staged changes.
  private func answerQueries() {
    guard queries.contains(where: isDue) else { return }
    if driver.machine.hasUncommittedChanges { driver.commit(at: now) }
    guard !driver.machine.hasUncommittedChanges else { return }
    let asked = queries
    queries.removeAll()
    // An audit reads every row, so all clients that have requested one by now share its answer.
    var audit: Handler.Reply?
    for query in asked {
      if !isDue(query) {
        queries.append(query)
      } else if !service.isReady(for: query.command) {
        query.call.answer(service.timeoutReply(for: query.command))
      } else if query.command == Handler.audit {
        audit = audit ?? service.answer(query.command, of: query.call)
        if let audit { query.call.answer(audit) }
      } else if let reply = service.answer(query.command, of: query.call) {
        query.call.answer(reply)
      }
    }
  }

  // MARK: - The database

  /// Stores the bank's opening in this database, in the first iteration in which nothing is staged, and notifies the
  /// coordinator.
  private func updateBankIdentity() {
    guard !driver.machine.hasUncommittedChanges, let storeBankIdentity, let bank = supervisor?.takeBank()
    else { return }
    do throws(StoreError) {
      try storeBankIdentity(bank)
      databaseIdentity?.bank = bank
      if let databaseIdentity { supervisor?.send(.database(databaseIdentity)) }
    } catch {
      // If the disk is full, the opening is not stored until the coordinator sends it again.
      guard case .diskFull = error else { return driver.end(because: error) }
    }
  }

  /// Actions after the removal of files of the service.
  private func repairActions(
    for files: DatabaseFiles, in home: ServiceHome, _ retakeLock: @escaping () -> Bool
  ) -> ServiceFileWatcher.RepairActions {
    ServiceFileWatcher.RepairActions(
      rescueLog: { [driver] in
        do throws(StoreError) { try files.handleLogLoss() } catch { driver.end(because: error) }
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
        driver.noteDiskSpace(at: now)
      }, retakeLock: retakeLock, restoreLog: { [log] in log.restore() },
      listen: { [sockets] path in try sockets.listen(at: path, home) },
      end: { [unowned self] failure in
        files.abandon()
        fatalLoss = failure
        let message = failure.messageDetail ?? MessageDetail(quoting: failure.detail)
        driver.end(because: .failed(path: failure.subject, detail: message))
      },
      note: { [unowned self] event, message in
        log.write(event: event, level: .warn, at: now) { $0.field("msg", message) }
      })
  }

  /// Logs that the disk is full, or has space again.
  private func noteDisk(_ error: StoreError?) {
    guard let error else { return log.write(event: "disk_available", at: now) }
    log.write(event: "disk_full", level: .error, at: now) { $0.field("msg", error.description) }
  }

  /// Logs that the store uses its disk reserve, or uses it no longer.
  private func noteDiskSpace(_ isLowOnSpace: Bool) {
    log.write(
      event: isLowOnSpace ? "disk_reserve_in_use" : "disk_reserve_free", level: isLowOnSpace ? .error : .info,
      at: now
    ) {
      $0.field(
        "msg", isLowOnSpace ? "the disk reserve is in use: \(Handler.lowSpaceNotice)" : "there is space again"
      )
    }
  }
}
