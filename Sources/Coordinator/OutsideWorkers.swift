// Server of outside workers: programs that connect to serve customers, and the leases that each of them holds.
// Invariant: a worker can answer only for leases that it holds. The server disconnects a worker that violates a rule of
// the protocol.

import BankModel
import Configuration
import Glibc
import Posix
import QueueCore
import Time
import Transport
import Wire

final class WorkerSession: ClientSession<TellerMessage, MessageToTeller> {
  /// Services named in the worker's hello; empty before the hello.
  var services: [Service] = []
  /// Largest number of customers that the worker takes at once.
  var inFlight = 1
  /// Generation in the leases of this worker; 0 before it is ready.
  var generation: Generation = 0
  /// Number among the present workers, from 1; 0 before the worker is ready.
  var number: Int32 = 0
  var pid: Int32 = 0
  /// Leases that the worker holds, with their windows, including recalled leases that it has not returned yet.
  var holding: [Lease: Window] = [:]
  var beats = BeatCount()

  var isReady: Bool { generation != 0 }
  /// Windows of this worker, one per service.
  var servedWindows: [Window] { services.map { .outside($0, number: number) } }
}

/// Server at the socket to which outside workers connect.
final class WorkerServer: ClientServer<TellerMessage, MessageToTeller, WorkerSession> {
  var onMessage: (TellerMessage, WorkerSession) -> Void = { _, _ in }

  init(loop: EventLoop) {
    var limits = ServiceLimits()
    (limits.frame, limits.unread, limits.line) = (TellerLimits.frame, TellerLimits.unread, LineLimits.worker)
    super.init(loop: loop, limits: limits)
  }

  override func handle(_ message: TellerMessage, from session: WorkerSession) { onMessage(message, session) }

  /// Accepts the hello of a worker, and sends the timeouts that apply to the worker.
  func accept(_ session: WorkerSession, on terms: WorkerTimeouts) {
    session.isGreeted = true
    send(.workerAccepted(terms), to: session)
  }

  /// Stops accepting workers, and sends `close` to the connected ones.
  func close() {
    stopListening()
    for session in present {
      session.channel.send(.close)
      session.channel.closeAfterFlush()
    }
  }
}

/// Link between outside workers and the queue.
final class OutsideWorkers: CoordinatorComponent {
  private let workers: WorkerServer
  /// Number of workers that became ready since this process started.
  private var count: Int64 = 0
  /// Ready workers by their numbers.
  private var byNumber: [Int32: WorkerSession] = [:]

  override init(_ dependencies: CoordinatorComponent) {
    workers = WorkerServer(loop: dependencies.context.loop)
    super.init(dependencies)
    workers.onMessage = { [unowned self] message, session in handle(message, from: session) }
    workers.onEnd = { [unowned self] session in forget(session) }
    queue.onOutsideCommand = { [unowned self] command, window in perform(command, at: window) }
    queue.outsideBacklog = { [unowned self] number in byNumber[number]?.channel.backlog ?? 0 }
  }

  /// Starts listening if a configured service accepts outside workers, and stops if none does. Disconnects workers with
  /// a service that no longer accepts them.
  func follow() throws(SystemError) {
    let isWanted = context.configuration.services.contains { context.configuration.isOutside($0) }
    for session in workers.present where session.isGreeted {
      guard let service = session.services.first(where: { context.kinds[$0] != .outside }) else { continue }
      let name = context.services.directory[service].text
      workers.refuse(session, .service, "service \(name) no longer accepts outside workers")
    }
    if isWanted, !isListening { try workers.listen(at: context.home.workerSocket) }
    if !isWanted, isListening { workers.stopListening() }
    isListening = isWanted
  }

  /// Binds the socket again after its file was removed.
  func rebindSocket() throws(SystemError) {
    guard isListening else { return }
    workers.stopListening()
    try workers.listen(at: context.home.workerSocket)
  }

  /// True while outside workers can connect.
  private(set) var isListening = false

  /// Disconnects all workers and stops listening.
  func close() {
    isListening = false
    workers.close()
  }

  func flush() { workers.writeAll() }
  var nextDeadline: MonotonicTime? { workers.nextAccept }
  /// Next timeout of a silent worker, in listening time; see `ListeningClock`.
  var nextJudgement: MonotonicTime? { workers.nextCheck }
  /// Disconnects workers whose hello, or the rest of a message, is overdue. Accepts connections again after a pause.
  func runTimers(_ now: Moment) { workers.runTimers(now.monotonic, listeningTime: now.listeningTime) }

  /// Present workers, by number.
  var present: [WorkerSession] { byNumber.values.sorted { $0.number < $1.number } }

  // MARK: - Effects of the queue

  /// Performs an effect of the queue for an outside worker.
  private func perform(_ command: OutsideWorkerCommand, at window: Window) {
    guard let number = window.outsideNumber, let session = byNumber[number] else { return }
    switch command {
    case .send(let message):
      if case .assignWork(let order) = message { session.holding[order.lease] = window }
      workers.send(message, to: session)
    case .expel(let generation, let reason):
      if session.generation == generation { expel(session, "the worker \(reason)") }
    }
  }

  /// Logs a violation of the protocol and disconnects the worker.
  private func expel(_ session: WorkerSession, _ reason: String) {
    context.write(event: "protocol_violation", level: .warn) {
      $0.field(
        "window", session.services.first.map { context.name(of: .outside($0, number: session.number)) })
      $0.field("peer_pid", session.pid)
      $0.field("msg", reason)
    }
    workers.refuse(session, .malformed, reason)
  }

  // MARK: - Messages of workers

  private func handle(_ message: TellerMessage, from session: WorkerSession) {
    switch message {
    case .hello(let hello): greet(hello, session)
    case .ready where session.isGreeted && !session.isReady: admit(session)
    case .done(let lease): answered(lease, session) { _ in .done }
    case .worked(let lease, let result):
      answered(lease, session) { [context] in context.answer(result, at: $0) }
    case .failed(let lease, let failure): answered(lease, session) { _ in .failed(failure) }
    case .returned(let lease): answered(lease, session) { _ in .returned }
    case .beat(let lease): progressed(lease, session)
    case .progressed(let lease, let progress):
      let window = session.holding[lease]
      progressed(lease, session)
      if let window { queue.note(progress, of: lease, at: window) }
    case .ready, .outOfStock: expel(session, "the worker sent a message out of turn")
    }
    // Replies are sent before the next message is handled, unless the same read contained more messages.
    if !session.channel.isMidFrame, !context.isHalted { workers.writeAll() }
  }

  /// Checks the hello of a worker, and accepts or refuses the worker.
  private func greet(_ hello: Hello, _ session: WorkerSession) {
    guard !session.isGreeted else { return workers.refuse(session, .malformed, "a second hello") }
    guard hello.version == protocolVersion else {
      return workers.refuse(session, .version, hello.otherVersion)
    }
    guard hello.role == .worker, let offer = hello.offer, let names = offer.services, !names.isEmpty,
      names.count <= WorkerOffer.longest
    else { return workers.refuse(session, .hello, "a worker names its role and the services that it serves") }
    guard !context.isEnding else { return workers.refuse(session, .closing, "the bank is closing") }
    for name in names {
      guard let service = context.services[name], context.kinds[service] == .outside else {
        return workers.refuse(
          session, .service, "service \(name.text) does not accept outside workers")
      }
      if !session.services.contains(service) { session.services.append(service) }
    }
    session.inFlight = context.configuration.workerCapacity(of: names, offering: offer.inFlight)
    workers.accept(session, on: context.configuration.workerTerms(of: names))
  }

  /// Assigns a number and a generation to a worker that is ready, and reports it to the queue.
  private func admit(_ session: WorkerSession) {
    guard !context.isEnding else { return workers.refuse(session, .closing, "the bank is closing") }
    var number: Int32 = 1
    while byNumber[number] != nil { number += 1 }
    count += 1
    (session.number, session.pid) = (number, session.channel.peerPid)
    session.generation = Self.generation(incarnation: context.incarnation, count)
    byNumber[number] = session
    context.write(event: "worker_connected") {
      $0.field("worker_name", context.name(of: .outside(session.services[0], number: number)))
      $0.field("peer_pid", session.pid)
      $0.field(
        "services", session.services.map { context.services.directory[$0].text }.joined(separator: ","))
      $0.field("in_hand", Int64(session.inFlight))
    }
    queue.workerLog.open(session.servedWindows, session.generation, pid: session.pid)
    queue.process(
      .workerConnected(
        session.services, number: number, session.generation, pid: session.pid, inFlight: session.inFlight))
    subscriptions.changed = true
  }

  /// Generation in the leases of a worker. A worker that outlives this process may still answer an old lease, while the
  /// next process has assigned the same attempt to another worker. So the generations of successive processes must
  /// differ.
  static func generation(incarnation: Int64, _ count: Int64) -> Generation {
    let incarnation = Mutant.reusesOutsideGenerations.isActive ? 0 : incarnation
    return Generation(truncatingIfNeeded: (incarnation & 0x7fff) << 16 | ((count - 1) % 0xffff + 1))
  }

  /// Passes a worker's answer for a lease to the queue; the worker then no longer holds the lease.
  private func answered(_ lease: Lease, _ session: WorkerSession, _ answer: (Window) -> TellerAnswer) {
    guard let window = holding(lease, session) else { return }
    session.holding[lease] = nil
    queue.process(.tellerAnswered(window, session.generation, lease, answer(window)))
  }

  /// Passes a worker's progress report to the queue, and disconnects a worker that sends too many.
  private func progressed(_ lease: Lease, _ session: WorkerSession) {
    guard let window = holding(lease, session) else { return }
    if session.beats.isTooMany() {
      let words = "the worker sent more than \(TellerLimits.beats) reports of progress in a second"
      return expel(session, words)
    }
    queue.process(.tellerProgressed(window, session.generation, lease))
  }

  /// Window of a lease held by this worker. Disconnects the worker and returns nil if it does not hold the lease or is
  /// not ready.
  private func holding(_ lease: Lease, _ session: WorkerSession) -> Window? {
    guard session.isReady else {
      expel(session, "the worker sent a message out of turn")
      return nil
    }
    if let window = session.holding[lease] { return window }
    expel(
      session,
      "the worker reported on customer \(lease.ticket), attempt \(lease.attempt), which it does not hold")
    return nil
  }

  /// Reports a disconnected worker to the queue, which returns its customers.
  private func forget(_ session: WorkerSession) {
    guard session.isReady, byNumber[session.number] === session else { return }
    byNumber[session.number] = nil
    context.write(event: "worker_disconnected") {
      $0.field("worker_name", context.name(of: .outside(session.services[0], number: session.number)))
      $0.field("peer_pid", session.pid)
    }
    guard !context.isHalted else { return }
    context.updateTime()
    subscriptions.noteDeath(
      at: session.servedWindows[0], session.generation, pid: session.pid, nil,
      ticket: session.holding.keys.map(\.ticket).min(), at: context.now.wall)
    queue.process(.workerDisconnected(session.generation))
    queue.workerLog.close(session.servedWindows, "the connection has ended")
    subscriptions.changed = true
  }
}
