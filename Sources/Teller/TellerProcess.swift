// Shell around the teller's machine: the channel to the coordinator, the log, and the wait for both. It converts
// input into events of the machine, and performs the machine's actions.
// Invariant: one thread, one loop.
// Errors: if the system cannot wait, the process ends. If the log cannot be opened, the teller serves without a
// log.

import Logging
import Posix
import Time
import Transport
import Wire

/// A teller: reads from and writes to one connected socket until it is asked to end. Not Sendable.
public final class TellerProcess {
  /// Limit in bytes of the output buffered for a coordinator that does not read.
  private static let backlogLimit = 1 << 20
  /// Time a teller polls after a message before it sleeps. Tellers that sleep at once and have to be woken serve
  /// fewer customers a second.
  private static let spinDuration = TimeSpan.microseconds(50)
  /// Added to ``spinDuration`` for each answer beyond the first in one batch.
  private static let spinPerAnswer = TimeSpan.microseconds(6)

  private let loop: EventLoop
  private let channel: MessageChannel<MessageToTeller, TellerMessage>
  private let reportError: (String) -> Void
  private let provider: (any ResourceProvider)?
  private var machine: TellerMachine
  private var actions: [TellerAction] = []
  private var log: TellerLog?
  /// Latest time at which buffered messages are sent; nil if none is held back. A runner holds answers back while
  /// a command runs and the last one was short, because to send each answer alone takes more time.
  private var flushDeadline: MonotonicTime?
  /// Maximum time for which messages are held back.
  private static let longestHold = TimeSpan.milliseconds(4)
  /// True if the coordinator has just sent something and may send more.
  private var expectsMore = false
  /// Number of messages sent since ``runIteration(until:)`` last started.
  private var sentMessages: Int64 = 0
  /// Iterations spent polling. Without a provider, most of them poll only the coordinator's channel, which is
  /// faster. One in ``fullPollInterval`` also polls the other sources, which are signals.
  private var spinIterations: UInt = 0
  private static let fullPollInterval: UInt = 32

  /// Exit code, once the machine has ordered the exit.
  public private(set) var exitCode: Int32?

  /// A teller at one end of a connected socket. Sends hello.
  /// - Parameter provider: obtains what each customer needs, or does the whole work; nil if customers need nothing.
  /// - Parameter reportError: receives one line for the user who started the process.
  public init(
    descriptor: consuming FileDescriptor, loop: EventLoop, build: String = BuildIdentity.current,
    role: PeerRole = .teller, provider: (any ResourceProvider)? = nil, reportError: @escaping (String) -> Void
  ) throws(SystemError) {
    self.loop = loop
    self.reportError = reportError
    self.provider = provider
    machine = TellerMachine(build: build, role: role, hasProvider: provider != nil)
    channel = try MessageChannel(
      descriptor: descriptor, loop: loop, incomingLimit: FrameLimits.teller, backlogLimit: Self.backlogLimit)
    channel.onMessage = { [unowned self] in apply(.received($0)) }
    channel.onEnd = { [unowned self] in apply(Self.event(of: $0)) }
    provider?.onResult = { [unowned self] lease, provisionResult in
      apply(.provided(lease, provisionResult))
      finishIteration()
    }
    apply(.began)
    finishIteration()
  }

  /// Exit code if the process can exit now; nil while work, output or a process of a command is left.
  public var finalExitCode: Int32? { channel.isOpen || provider?.hasEnded == false ? nil : exitCode }

  /// Serves until the end. Returns the exit code.
  public func run() throws(SystemError) -> Int32 {
    while true {
      if let finalExitCode { return finalExitCode }
      do throws(SystemError) { try runIteration() } catch {
        // If this process cannot continue, its command must not keep running.
        provider?.end()
        throw error
      }
    }
  }

  /// Waits for the next event, at most until a deadline, and handles it.
  public func runIteration(until deadline: MonotonicTime? = nil) throws(SystemError) {
    // While a command runs, the next message is not expected soon, and the command needs the core.
    let spins = expectsMore && !machine.hasDelegatedWork
    let answers = sentMessages
    sentMessages = 0
    expectsMore =
      try (spins ? spin(after: answers) : loop.runOnce(until: nextDeadline(until: deadline))) > 0
    provider?.finishIteration()
    if let due = machine.wakeAt, SystemClock.monotonic() >= due { apply(.timerFired) }
    finishIteration()
  }

  /// Ends the process after its customers, because a signal requested it.
  public func requestStop() {
    apply(.stopRequested)
    finishIteration()
  }

  /// Passes an event to the machine, and performs the resulting actions.
  private func apply(_ event: TellerEvent) {
    let moment = SystemClock.moment()
    machine.apply(event, at: moment.monotonic, into: &actions)
    for action in actions { perform(action, at: moment) }
    actions.removeAll(keepingCapacity: true)
  }

  private func perform(_ action: TellerAction, at moment: Moment) {
    switch action {
    case .send(let message):
      channel.send(message)
      sentMessages += 1
    case .provide(let assignment):
      provider?.provide(assignment)
      provider?.finishIteration()
    case .abandon: provider?.abandon()
    case .openLog(let settings):
      provider?.begin(settings)
      openLog(settings)
    case .log(let note): log?.write(note, at: moment)
    case .reportError(let sentMessages): reportError(sentMessages)
    case .exit(let code):
      exitCode = code
      provider?.end()
    }
  }

  /// Ends an iteration: sends the buffered messages, and flushes the log when it is due.
  private func finishIteration() {
    if exitCode == nil { flush() } else { channel.closeAfterFlush() }
    guard let file = log?.output else { return }
    // Before the exit, all lines are flushed. At other times usually no line waits, and then the clock is not read.
    guard exitCode == nil else { return file.flush() }
    if file.nextFlush != nil { file.flushIfDue(SystemClock.monotonic()) }
  }

  /// Sends the buffered messages, unless more are expected soon: a customer's work has started and should be
  /// short.
  private func flush() {
    guard channel.hasUnflushedOutput else { return flushDeadline = nil }
    if machine.hasDelegatedWork, provider?.isWorkShort == true {
      let now = SystemClock.monotonic()
      let end = flushDeadline ?? now + Self.longestHold
      flushDeadline = end
      if now < end { return }
    }
    flushDeadline = nil
    channel.flush()
  }

  /// Opens the log that the settings name. Without a path or after an error there is none.
  private func openLog(_ settings: TellerSettings) {
    guard !settings.logPath.isEmpty else { return }
    do throws(SystemError) {
      let file = try LogFile(
        path: settings.logPath, worker: settings.name, generation: settings.generation,
        limit: settings.logLimit,
        keep: settings.logKeep)
      log = TellerLog(file, settings: settings)
    } catch { reportError("serving without a log: \(error)") }
  }

  /// Polls for input without sleeping, for a short time after `answers` messages were sent, because the next message is
  /// expected soon. Returns the number of events.
  private func spin(after answers: Int64) throws(SystemError) -> Int {
    spinIterations &+= 1
    let span = Self.spinDuration + Self.spinPerAnswer * max(0, answers - 1)
    guard provider == nil, spinIterations % Self.fullPollInterval != 0 else {
      return try loop.spin(for: span)
    }
    return try loop.spin(for: span) { [unowned self] in channel.receiveNow() }
  }

  /// Time at which the loop has to wake: the earliest need of the machine, the log, the provider, the caller.
  private func nextDeadline(until deadline: MonotonicTime?) -> MonotonicTime? {
    let own = MonotonicTime.earlier(machine.wakeAt, log?.output.nextFlush)
    return .earlier(.earlier(own, flushDeadline), .earlier(provider?.nextDeadline, deadline))
  }

  /// The event for the end of the channel, by its reason.
  private static func event(of end: CloseReason) -> TellerEvent {
    switch end {
    case .endOfFile, .truncatedMessage, .closedLocally: .coordinatorGone
    case .malformed, .oversized: .coordinatorProtocolError(end.description)
    case .system, .backlogExceeded, .unsendable: .connectionFailed(end.description)
    }
  }
}
