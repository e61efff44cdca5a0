// A worker of a chaos run, at a window or outside: it takes several customers at once, answers in any order,
// and sometimes violates the protocol.
// Invariant: a worker at a window holds a key's lock while it works for that customer, except from the moment at which
// it hangs; an outside worker holds none. When a lease expires, a worker at a window is killed, but an outside one
// continues.
// Errors: the connection ends; an outside worker opens another one.
import BankModel
import Glibc
import Posix
import Time
import Wire

final class WorkProgram {
  /// Reason for the end of the connection.
  private enum End: Error {
    /// The bank has closed the connection, or the protocol ended it.
    case closed
    /// This side has broken off the connection.
    case brokenOff
  }

  private let socket: FileDescriptor
  private let workLog: WorkLog
  private let mode: WorkMode
  private let service: ServiceName?
  private var codec: WorkerCodec
  /// Assigned customers for which the work has not begun.
  private var inFlight: [WorkItem] = []
  /// True after the bank has asked the worker to exit.
  private var isClosing = false
  private var chance = SeededGenerator(seed: UInt64(UInt32(bitPattern: CurrentProcess.pid)))
  /// Number of customers that the worker offers to hold.
  private static let capacity: Int32 = 4
  /// Time between two progress reports, in milliseconds.
  private static let slice: Int32 = 100
  /// Time to wait for the lock of a key. The killed worker that had the customer before may still hold it for a moment,
  /// until it has exited.
  private static let exitDelay = TimeSpan.milliseconds(100)
  /// Time for which a worker hangs, in milliseconds. It is longer than a lease.
  private static let silence: Int32 = 1_500

  /// Serves a window until the connection ends. Returns the exit code.
  static func serveWindow(_ workLog: WorkLog) -> Int32 {
    let encoding: WorkEncoding = CurrentProcess.pid % 2 == 0 ? .lines : .frames
    let program = WorkProgram(FileDescriptor(owning: 3), workLog, .window, encoding, service: nil)
    return program.serve() == .closed ? 0 : 3
  }

  /// Serves as an outside worker, and connects again after each end, until it is killed.
  static func serveOutside(
    _ workLog: WorkLog, _ encoding: WorkEncoding, socket path: String, service: String
  ) -> Int32 {
    while true {
      if let outcome = try? UnixSocket.connect(path: path), case .connected(let socket) = consume outcome {
        _ = WorkProgram(socket, workLog, .outside, encoding, service: ServiceName(service)).serve()
      }
      WorkMode.pause(20)
    }
  }

  private init(
    _ socket: consuming FileDescriptor, _ workLog: WorkLog, _ mode: WorkMode, _ encoding: WorkEncoding,
    service: ServiceName?
  ) {
    self.socket = socket
    (self.workLog, self.mode, self.service) = (workLog, mode, service)
    codec = WorkerCodec(encoding)
  }

  /// Offers its service and serves customers in random order, until the connection ends.
  private func serve() -> End {
    do throws(End) {
      let offer = WorkerOffer(services: service.map { [$0] }, inFlight: Self.capacity)
      try sendMessage(.hello(Hello(build: "chaos", role: .worker, offer: offer)))
      while true {
        try listen(waiting: inFlight.isEmpty)
        guard !inFlight.isEmpty else {
          if isClosing { return .closed }
          continue
        }
        try work(inFlight.remove(at: Int(chance.draw(0...Int64(inFlight.count) - 1))))
      }
    } catch {
      return error
    }
  }

  private func sendMessage(_ message: TellerMessage) throws(End) { try send(codec.bytes(of: message)) }

  private func send(_ bytes: [UInt8]) throws(End) {
    do throws(SystemError) { try socket.writeAll(bytes) } catch { throw .closed }
  }

  /// Reads the messages that have arrived. If `waiting` is true, waits for the first one.
  private func listen(waiting: Bool) throws(End) {
    var item = pollfd(fd: socket.rawValue, events: Int16(POLLIN), revents: 0)
    guard poll(&item, 1, waiting ? -1 : 0) > 0 else { return }
    var heard: [MessageToTeller] = []
    let isOpen = withUnsafeTemporaryAllocation(byteCount: 64 << 10, alignment: 16) { room in
      guard case .bytes(let count)? = try? socket.read(into: room),
        let messages = try? codec.take(room[..<count])
      else { return false }
      heard = messages
      return true
    }
    guard isOpen else { throw .closed }
    for message in heard { try handle(message) }
  }

  /// Answers a message of the bank, or stores the assigned customer.
  private func handle(_ message: MessageToTeller) throws(End) {
    switch message {
    case .workerAccepted: try sendMessage(.ready)
    case .assignWork(let order): inFlight.append(order)
    case .recall(let lease):
      // A recall of a customer that is not held any more is already answered.
      guard let place = inFlight.firstIndex(where: { $0.lease == lease }) else { return }
      inFlight.remove(at: place)
      try sendMessage(.returned(lease))
    case .close: isClosing = true
    case .refused: throw .closed
    case .welcome, .assign, .acknowledged, .closing: break
    }
  }

  // MARK: One customer

  /// Works for one customer. If another attempt holds its lock, reports a failure instead.
  private func work(_ order: WorkItem) throws(End) {
    let payload = order.payload ?? []
    let attempt = WorkAttempt(
      workLog: workLog, mode: mode, key: order.key,
      ticket: ChaosTicket(day: order.day, number: order.ticket), number: order.attempt, payload: payload)
    var lock: KeyLock?
    do throws(SystemError) {
      lock = mode == .window ? try workLog.lock(order.key, within: Self.exitDelay) : nil
    } catch {
      throw .brokenOff
    }
    let isAlone = mode == .outside || lock != nil
    guard attempt.note(isAlone ? .begin : .overlap) else { throw .brokenOff }
    let behaviour = WorkerBehaviour(payload, attempt: order.attempt)
    guard isAlone else {
      return try sendMessage(.failed(order.lease, WorkFailure("another worker is working on it")))
    }
    if behaviour.end == .hangs { lock = nil }
    // Hold the lock until the answer was sent, so that no other attempt starts before that.
    try withExtendedLifetime(lock) { () throws(End) in try answer(order, attempt, behaviour) }
  }

  /// Does the work of an attempt, and ends it as its behaviour requires.
  private func answer(_ order: WorkItem, _ attempt: WorkAttempt, _ behaviour: WorkerBehaviour) throws(End) {
    let lease = order.lease
    switch behaviour.end {
    case .well: break
    case .later: return try sendMessage(.returned(lease))
    case .fails:
      return try sendMessage(.failed(lease, WorkFailure("simulated failure", after: .milliseconds(5))))
    case .crashes: throw .brokenOff
    case .hangs: WorkMode.pause(Self.silence)
    }
    try beat(order, for: behaviour.milliseconds)
    guard attempt.note(.end), let output = TruncatedOutput(first: WorkerBehaviour.result(of: attempt.payload))
    else {
      throw .brokenOff
    }
    let answer = codec.bytes(of: .worked(lease, WorkResult(duration: .zero, output: output)))
    switch behaviour.protocolViolation {
    case .none: try send(answer)
    case .answersTwice: try send(answer + answer)
    case .answersForAnother:
      try sendMessage(
        .done(Lease(ticket: lease.ticket + 1_000_000, attempt: 1, generation: lease.generation)))
      try send(answer)
    case .breaksOff:
      try send(Array(answer.prefix(answer.count / 2)))
      throw .brokenOff
    }
  }

  /// Works, and reports progress for this customer and for those that wait at this worker.
  private func beat(_ order: WorkItem, for milliseconds: Int32) throws(End) {
    var leftoverProcesses = milliseconds
    while leftoverProcesses > 0 {
      WorkMode.pause(min(leftoverProcesses, Self.slice))
      leftoverProcesses -= Self.slice
      let percent = UInt8(100 - max(0, leftoverProcesses) * 100 / milliseconds)
      try sendMessage(.progressed(order.lease, WorkProgress(percent: percent, text: "stamping")))
      for other in inFlight { try sendMessage(.progressed(other.lease, WorkProgress(percent: 0))) }
    }
  }
}
