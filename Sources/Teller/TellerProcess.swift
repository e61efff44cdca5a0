// Owns the shell around the teller's machine: the channel to the coordinator, the log, and the wait for both. It turns what
// happens into events and does what the machine says.
// Invariant: one thread, one loop; while there is no customer and nothing to be written it waits for ever.
// Failure: a system that cannot wait ends the process. A log that cannot be opened does not: customers come first.

import Logbook
import Posix
import Time
import Transport
import Wire

/// A teller: reads from and writes to one connected socket until it is told to end. Not Sendable.
public final class TellerProcess {
  /// Bytes that may wait for a coordinator that does not read; it reads far more often than a teller speaks.
  private static let backlogLimit = 1 << 20
  /// How long a teller stays awake after a word: about as long as the coordinator takes to answer where its hands are
  /// free. With tellers who fall asleep at once and have to be woken, two cores served 43,000 customers a second and
  /// not 65,000; whose work takes longer than this does not notice.
  private static let wakefulness = TimeSpan.microseconds(50)
  /// By how much longer for each answer beyond the first that it has given in one breath: the coordinator answers them in one
  /// breath, too, and those of other tellers before.
  private static let wakefulnessPerAnswer = TimeSpan.microseconds(6)

  private let loop: EventLoop
  private let channel: MessageChannel<WindowMessage, TellerMessage>
  private let complain: (String) -> Void
  private let provider: (any Provider)?
  private var machine: TellerMachine
  private var actions: [TellerAction] = []
  private var log: TellerLog?
  /// What was said leaves then at the latest; nil where nothing is held back. While customers are in hand whose work is
  /// brief several answers leave together: a word to the coordinator costs both sides a tenth of such a command.
  private var heldUntil: MonotonicTime?
  /// Far below what a commit is gathered for while the bank is busy, and nobody is in hand where it is not.
  private static let patience = TimeSpan.milliseconds(4)
  /// The coordinator has just spoken, and may speak again.
  private var isAwaited = false
  /// What was said in the last turn.
  private var words: Int64 = 0
  /// Turns that were spent awake. In most of them only the coordinator is asked, which made 4 % more customers a second
  /// (20 rounds with three tellers); in some also whoever else has something to say, which is a signal.
  private var turns: UInt = 0
  private static let turnsOfEverybody: UInt = 32

  /// The code to end with, once the machine has said so.
  public private(set) var exitCode: Int32?

  /// A teller at one end of a connected socket, which says hello at once.
  /// - Parameter provider: gets what each customer needs, where that is anything.
  /// - Parameter complain: told in one line what whoever started the process should know.
  public init(
    descriptor: consuming FileDescriptor, loop: EventLoop, build: String = BuildIdentity.current,
    role: PeerRole = .teller, provider: (any Provider)? = nil, complain: @escaping (String) -> Void
  ) throws(SystemError) {
    self.loop = loop
    self.complain = complain
    self.provider = provider
    machine = TellerMachine(build: build, role: role, provides: provider != nil)
    channel = try MessageChannel(
      descriptor: descriptor, loop: loop, incomingLimit: FrameLimits.teller, backlogLimit: Self.backlogLimit)
    channel.onMessage = { [unowned self] in apply(.heard($0)) }
    channel.onEnd = { [unowned self] in apply(Self.event(of: $0)) }
    provider?.onProvided = { [unowned self] lease, provision in
      apply(.provided(lease, provision))
      settle()
    }
    apply(.began)
    settle()
  }

  /// The code to exit with now; nil while there is something to do or to be said, or something of a command is left.
  public var ending: Int32? { channel.isOpen || provider?.hasEnded == false ? nil : exitCode }

  /// Serves until the end, and returns the code to exit with.
  public func run() throws(SystemError) -> Int32 {
    while true {
      if let ending { return ending }
      do throws(SystemError) { try turn() } catch {
        // Who cannot go on leaves nobody at work.
        provider?.end()
        throw error
      }
    }
  }

  /// Waits for the next thing to happen, no longer than until a deadline, and does what there is to do.
  public func turn(until deadline: MonotonicTime? = nil) throws(SystemError) {
    // While a command runs nobody else is expected, and it wants the core.
    let staysAwake = isAwaited && !machine.hasHandedOver
    let answers = words
    words = 0
    isAwaited =
      try (staysAwake ? stayAwake(after: answers) : loop.runOnce(until: nextDeadline(until: deadline))) > 0
    provider?.endTurn()
    if let due = machine.wakeAt, SystemClock.monotonic() >= due { apply(.timeCame) }
    settle()
  }

  /// A signal asks the process to end: it does so after its customer.
  public func askToEnd() {
    apply(.askedToEnd)
    settle()
  }

  private func apply(_ event: TellerEvent) {
    let moment = SystemClock.moment()
    machine.apply(event, at: moment.monotonic, into: &actions)
    for action in actions { perform(action, at: moment) }
    actions.removeAll(keepingCapacity: true)
  }

  private func perform(_ action: TellerAction, at moment: Moment) {
    switch action {
    case .say(let message):
      channel.send(message)
      words += 1
    case .provide(let assignment):
      provider?.provide(assignment)
      provider?.endTurn()
    case .abandon: provider?.abandon()
    case .openLog(let orders):
      provider?.begin(orders)
      openLog(orders)
    case .log(let note): log?.write(note, at: moment)
    case .complain(let words): complain(words)
    case .exit(let code):
      exitCode = code
      provider?.end()
    }
  }

  /// The end of a turn: what was said leaves in one write, and the log when it is due.
  private func settle() {
    if exitCode == nil { flush() } else { channel.closeAfterFlush() }
    guard let file = log?.output else { return }
    // What was flushed just now may have been the end. Mostly nothing waits, and then the clock need not be read.
    guard exitCode == nil else { return file.flush() }
    if file.nextFlush != nil { file.flushIfDue(SystemClock.monotonic()) }
  }

  /// Sends what was said, unless more is said soon: somebody is in hand whose work has begun and is expected to be brief.
  private func flush() {
    guard channel.hasUnflushedOutput else { return heldUntil = nil }
    if machine.hasHandedOver, provider?.isBrief == true {
      let now = SystemClock.monotonic()
      let end = heldUntil ?? now + Self.patience
      heldUntil = end
      if now < end { return }
    }
    heldUntil = nil
    channel.flush()
  }

  private func openLog(_ orders: TellerOrders) {
    guard !orders.logPath.isEmpty else { return }
    do throws(SystemError) {
      let file = try LogFile(
        path: orders.logPath, worker: orders.name, generation: orders.generation, limit: orders.logLimit,
        keep: orders.logKeep)
      log = TellerLog(file, orders: orders)
    } catch { complain("serving without a log: \(error)") }
  }

  private func stayAwake(after answers: Int64) throws(SystemError) -> Int {
    turns &+= 1
    let span = Self.wakefulness + Self.wakefulnessPerAnswer * max(0, answers - 1)
    guard provider == nil, turns % Self.turnsOfEverybody != 0 else { return try loop.runAwake(for: span) }
    return try loop.runAwake(for: span) { [unowned self] in channel.receiveNow() }
  }

  private func nextDeadline(until deadline: MonotonicTime?) -> MonotonicTime? {
    let own = MonotonicTime.earlier(machine.wakeAt, log?.output.nextFlush)
    return .earlier(.earlier(own, heldUntil), .earlier(provider?.nextDeadline, deadline))
  }

  private static func event(of end: ChannelEnd) -> TellerEvent {
    switch end {
    case .endOfFile, .midFrame, .closedHere: .coordinatorGone
    case .malformed, .oversized: .coordinatorUnintelligible(end.description)
    case .system, .backlogExceeded, .unsendable: .connectionFailed(end.description)
    }
  }
}
