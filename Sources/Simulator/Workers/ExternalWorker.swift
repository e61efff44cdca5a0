// A worker in the simulated world that is a separate program. It connects or is started at a window, holds several
// customers, works on each for a random time, and answers in any order.
// Invariant: apart from answers to leases of an earlier connection, the worker violates the protocol only if the
// simulation requests that. It reports a broken promise if it receives more customers than its capacity, one lease
// twice, a wrong payload or key, or an undecodable message.
import BankModel
import Posix
import Time

/// A worker as a user would write it: at a window, or connected from outside.
final class ExternalWorker: SimulatedProgram {
  private struct WorkItem {
    let order: ExternalAssignment
    /// Number of the coordinator to which the worker was connected when it received the customer.
    let coordinator: Int
    /// Time of the answer, and of the next beat before it.
    let due: MonotonicTime
    var nextBeat: MonotonicTime
    /// True if the worker has stopped working for this customer, because of a fault.
    var isHung = false
    var isRecalled = false
  }

  private unowned let process: SimulatedProcess
  private unowned let world: Simulation
  /// The window at which the worker was started; nil for an outside worker.
  private let window: String?
  private let services: [ServiceName]
  /// Number of customers that the worker offers to hold.
  private let inFlight: Int32
  private var chance: SeededGenerator
  private let loop: EventLoop
  private var connection: FileDescriptor?
  private var registration: Registration?
  private var speech: ExternalWorkerCodec
  /// Bytes that the connection has not accepted yet.
  private var unsent: [UInt8] = []
  private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 4_096, alignment: 8)
  /// True if the bank has accepted the worker.
  private var isReady = false
  /// True if the bank has asked the worker to close.
  private var isClosing = false
  private var coordinator = 0
  private var beatInterval = TimeSpan.seconds(1)
  private var items: [WorkItem] = []
  /// Customers that the worker held when its connection was lost, and on which it continues to work.
  private var lost: [WorkItem] = []
  /// Time of the next attempt to connect; nil while connected.
  private var connectsAt: MonotonicTime?
  private var exitCode: Int32?

  init(
    _ process: SimulatedProcess, window: String?, services: [ServiceName], seed: UInt64,
    in world: Simulation
  ) throws(SystemError) {
    (self.process, self.world, self.window, self.services) = (process, world, window, services)
    chance = SeededGenerator(seed: seed)
    inFlight = Int32(chance.draw(1...6))
    speech = ExternalWorkerCodec(speaksFrames: chance.draw(0...3) == 0)
    loop = try EventLoop()
    if window != nil {
      try take(FileDescriptor(owning: 3))
    } else {
      connectsAt = process.clock
    }
  }

  deinit { buffer.deallocate() }

  // MARK: - Turns

  /// Waits for an event once, and does what is due. Returns the exit code at the end.
  func runIteration() throws(SystemError) -> Int32? {
    if let exitCode { return exitCode }
    try loop.runOnce(until: nextMoment)
    act(at: SystemClock.monotonic())
    return exitCode
  }

  /// Makes the worker exit with the code 128 plus the signal's number.
  func handle(signal: Int32) { exitCode = 128 + signal }

  /// Time of the next answer, beat or connection; nil if only the bank can wake the worker.
  private var nextMoment: MonotonicTime? {
    var moment = connectsAt
    for work in items where !work.isHung { moment = .earlier(moment, min(work.due, work.nextBeat)) }
    if isReady { for work in lost { moment = .earlier(moment, work.due) } }
    return moment
  }

  /// Does what is due: connects, answers, and sends beats.
  private func act(at now: MonotonicTime) {
    if let due = connectsAt, due <= now {
      connectsAt = nil
      connectAndGreet(at: now)
    }
    guard isReady else { return flush() }
    for work in items where !work.isHung && work.due <= now { answer(work) }
    for place in items.indices where !items[place].isHung && items[place].nextBeat <= now {
      items[place].nextBeat = now + beatInterval / 2
      send(.beat(items[place].order.lease, percent: chance.draw(0...1) == 0 ? nil : chance.draw(0...100)))
    }
    if let place = lost.firstIndex(where: { $0.due <= now }) {
      // An answer to a lease of an earlier connection, which the bank must ignore.
      let work = lost.remove(at: place)
      world.statistics.note(.workerLate)
      send(.done(work.order.lease, result: result(of: work)))
    }
    if isClosing, items.isEmpty, window != nil { exitCode = 0 }
    flush()
  }

  // MARK: - Connection

  /// Connects to the bank's socket for workers, and sends a hello. Retries later if that fails.
  private func connectAndGreet(at now: MonotonicTime) {
    do throws(SystemError) {
      guard
        case .connected(let socket) = try UnixSocket.connect(
          path: StockProgram.home.run + "/worker.sock", nonBlocking: true)
      else { return connectsAt = now + .milliseconds(chance.draw(5...400)) }
      try take(socket)
    } catch {
      drop(for: .milliseconds(chance.draw(5...400)))
    }
  }

  /// Uses a connection from now on, and sends a hello.
  private func take(_ socket: consuming FileDescriptor) throws(SystemError) {
    try socket.setNonBlocking(true)
    let number = socket.rawValue
    connection = consume socket
    registration = try loop.register(fd: number, interest: .read) { [unowned self] _ in
      read()
      flush()
    }
    speech = ExternalWorkerCodec(speaksFrames: speech.speaksFrames)
    coordinator = world.coordinator?.number ?? 0
    send(.hello(services: window == nil ? services : nil, inFlight: inFlight))
    flush()
  }

  /// Reads and handles all messages that have arrived.
  private func read() {
    while connection != nil {
      let result: ReadResult
      do throws(SystemError) { result = try connection?.receive(into: buffer) ?? .endOfFile } catch {
        return leave()
      }
      switch result {
      case .wouldBlock: return
      case .endOfFile: return leave()
      case .bytes(let count): speech.append(buffer.prefix(count))
      }
      while connection != nil, let message = speech.next() {
        switch message {
        case .success(let message): handle(message)
        case .failure(let fault):
          return world.violate(.protocolViolation, "a worker cannot decode the bank's data: \(fault.message)")
        }
      }
    }
  }

  /// Handles the end of the connection: a worker at a window exits, and an outside worker connects again.
  private func leave() {
    guard window == nil else { return exitCode = isClosing ? 0 : 1 }
    drop(for: .milliseconds(chance.draw(1...600)))
  }

  /// Disconnects, and connects again after a pause.
  private func drop(for pause: TimeSpan) {
    if let registration { loop.deregister(registration) }
    registration = nil
    connection = nil
    unsent.removeAll()
    (isReady, isClosing) = (false, false)
    // Some workers continue to work, and answer after they have connected again.
    lost = chance.draw(0...1) == 0 && !world.isFaultFree ? items : []
    items.removeAll()
    connectsAt = process.clock + pause
  }

  /// Appends a message to the bytes that are written next.
  private func send(_ message: ExternalWorkerMessage) { unsent += speech.bytes(of: message) }

  /// Writes as many of the unsent bytes as the connection accepts.
  private func flush() {
    while connection != nil, !unsent.isEmpty {
      do throws(SystemError) {
        switch try connection?.write(unsent) {
        case .bytes(let count)?: unsent.removeFirst(count)
        case .wouldBlock?:
          if let registration { try loop.modify(registration, interest: [.read, .write]) }
          return
        case .peerClosed?, nil: return
        }
      } catch {
        return
      }
    }
    if let registration { try? loop.modify(registration, interest: .read) }
  }

  // MARK: - Messages from the bank

  private func handle(_ message: BankToWorkerMessage) {
    switch message {
    case .welcome(let beat):
      beatInterval = .milliseconds(max(1, beat))
      isReady = true
      send(.ready)
    case .refused: leave()
    case .close:
      isClosing = true
      release()
    case .recall(let lease):
      guard let place = items.firstIndex(where: { $0.order.lease == lease }) else { return }
      items[place].isRecalled = true
      guard !items[place].isHung else { return }
      let work = items.remove(at: place)
      // The answer of the worker may be in flight already.
      if chance.draw(0...3) == 0 {
        send(.done(lease, result: result(of: work)))
      } else {
        returnUnstarted(work)
      }
    case .assign(let order): take(order)
    }
  }

  /// Checks an assigned customer, and starts to work on it.
  private func take(_ order: ExternalAssignment) {
    let now = process.clock
    if items.count >= Int(inFlight) {
      world.violate(
        .doubleLease,
        "a worker that takes \(inFlight) holds \(items.count) and gets ticket \(order.lease.ticket)")
    }
    if items.contains(where: { $0.order.lease == order.lease }) {
      world.violate(.doubleLease, "a worker gets ticket \(order.lease.ticket) twice under one lease")
    }
    world.checkOrder(order)
    let plan = world.plan
    let longest =
      plan.externalWorkers.isSlow ? 6_000 * plan.policy.lease.milliseconds : 2 * plan.workMicroseconds + 2_000
    let due = now + .microseconds(chance.draw(0...longest))
    let work = WorkItem(order: order, coordinator: coordinator, due: due, nextBeat: now + beatInterval / 2)
    items.append(work)
  }

  /// The result of the work for a customer, which identifies the attempt.
  private func result(of work: WorkItem) -> String {
    ExternalWorkerResult(work.coordinator, day: work.order.day, work.order.lease).text
  }

  /// Ends the work for a customer with a drawn answer, or returns the customer.
  private func answer(_ work: WorkItem) {
    items.removeAll { $0.order == work.order }
    let lease = work.order.lease
    guard !work.isRecalled else { return returnUnstarted(work) }
    switch chance.draw(0...99) {
    case 0..<70: send(.done(lease, result: result(of: work)))
    case 70..<80: send(.done(lease, result: nil))
    case 80..<88: send(.failed(lease, isRetryable: true, after: nil))
    case 88..<92: send(.failed(lease, isRetryable: true, after: chance.draw(0...300)))
    case 92..<94: send(.failed(lease, isRetryable: false, after: nil))
    default: returnUnstarted(work)
    }
  }

  /// Returns a customer as not started.
  private func returnUnstarted(_ work: WorkItem) {
    let lease = work.order.lease
    world.externalWorkers.startedAttempts.returnUnstarted(TicketID(day: work.order.day, ticket: lease.ticket))
    send(.returned(lease))
  }

  // MARK: - Faults, called by the world

  /// Resumes the work on abandoned customers.
  func release() {
    for place in items.indices where items[place].isHung { items[place].isHung = false }
  }

  /// Ends the worker's faults: resumes abandoned work, and drops late answers.
  func calm() {
    lost.removeAll()
    process.call {
      release()
      act(at: process.clock)
    }
  }

  /// Abandons the work on one of its customers; false if there is none.
  func hang() -> Bool {
    guard let place = items.firstIndex(where: { !$0.isHung }) else { return false }
    items[place].isHung = true
    return true
  }

  func disconnect(for pause: TimeSpan) { process.call { drop(for: pause) } }

  /// Sends bytes that need not be a message.
  func send(raw bytes: [UInt8]) {
    process.call {
      unsent += bytes
      flush()
    }
  }

  /// Sends one answer twice; false if the worker is not ready, or works for no customer.
  func repeatAnswer() -> Bool {
    guard isReady, let work = items.first(where: { !$0.isHung }) else { return false }
    process.call {
      for _ in 0...1 { send(.done(work.order.lease, result: result(of: work))) }
      items.removeAll { $0.order == work.order }
      flush()
    }
    return true
  }

  /// Answers a lease that the worker does not hold. Returns false if the worker is not ready.
  func sendFalseAnswer(about lease: Lease) -> Bool {
    guard isReady else { return false }
    process.call {
      send(.done(lease, result: nil))
      flush()
    }
    return true
  }

  /// Bytes of an answer, for callers that truncate them. Its lease is unknown, because the next frame may
  /// complete a truncated one.
  func sampleAnswerBytes() -> [UInt8] {
    speech.bytes(of: .done(Lease(ticket: 1_000_000, attempt: 1, generation: 1), result: "half"))
  }

  var speaksFrames: Bool { speech.speaksFrames }
  var holdsCustomers: Bool { !items.isEmpty }
}

/// Result of a worker: identifies the coordinator, the customer and the attempt.
struct ExternalWorkerResult: Equatable {
  let text: String

  init(_ coordinator: Int, day: BusinessDay, _ lease: Lease) {
    text = "\(coordinator)-\(day)-\(lease.ticket)-\(lease.attempt)-\(lease.generation)"
  }
}
