// Owns the channel to the coordinator that supervises a service: hello, orders, signs of life, the end.
// Invariant: a check is answered at the end of the turn in which it came, behind the work of that turn: the loop that
// works is the loop that answers.
// Failure: a coordinator that is gone, or cannot be understood, is the end of the service.
import BankModel
import Glibc
import Posix
import Time
import Wire

/// The channel on descriptor 3.
public final class ParentLink {
  /// What the link has come to.
  public enum State: Equatable, Sendable {
    case greeting
    case atWork
    /// Answer what was asked, and end.
    case closing
    case gone
    /// The coordinator does not want this service, or cannot be understood.
    case misunderstood(String)
  }

  /// What the link has come to.
  public private(set) var state = State.greeting
  /// What the service was told.
  public private(set) var orders: WorkerOrders?
  private let channel: MessageChannel<SupervisorMessage, WorkerMessage>
  private var checks: [Int64] = []
  /// The opening of the bank that the service is to write down; nil where it has.
  private var bank: BankMark?
  private var hasWorked = false
  private var progressAt = MonotonicTime(nanoseconds: 0)
  /// The shortest time between two reports of progress.
  private static let progressPause = TimeSpan.seconds(1)

  /// Says hello on a connected socket.
  public init(_ descriptor: consuming FileDescriptor, loop: EventLoop, role: PeerRole) throws(SystemError) {
    channel = try MessageChannel(
      descriptor: descriptor, loop: loop, incomingLimit: FrameLimits.teller, backlogLimit: 1 << 20)
    channel.onMessage = { [unowned self] in hear($0) }
    channel.onEnd = { [unowned self] end in
      switch (end, state) {
      case (_, .misunderstood): break
      case (.malformed, _), (.oversized, _): state = .misunderstood(end.description)
      default: state = .gone
      }
    }
    channel.send(.hello(Hello(build: BuildIdentity.current, role: role)))
    channel.flush()
  }

  /// Descriptor 3, if it is a socket; whoever started this process is at its other end.
  public static func inheritedChannel() -> FileDescriptor? {
    var kind: CInt = 0
    var length = socklen_t(MemoryLayout<CInt>.size)
    guard getsockopt(3, SOL_SOCKET, SO_TYPE, &kind, &length) == 0 else { return nil }
    _ = fcntl(3, F_SETFD, FD_CLOEXEC)
    return FileDescriptor(owning: 3)
  }

  private func hear(_ message: SupervisorMessage) {
    switch (message, state) {
    case (.welcome(let orders), .greeting):
      self.orders = orders
      state = .atWork
    case (.refused(let refusal), _):
      state = .misunderstood(
        "the coordinator (build \(refusal.build)) refuses this service: \(refusal.detail)")
      channel.close()
    case (.check(let number), .atWork), (.check(let number), .closing): checks.append(number)
    case (.bank(let mark), .atWork), (.bank(let mark), .closing): bank = mark
    case (.close, .atWork), (.close, .closing), (.close, .greeting):
      if !Kernel.makes("ignoresTheClose") { state = .closing }
    case (.welcome, _), (.check, _), (.close, _), (.bank, _):
      state = .misunderstood("a message out of turn")
      channel.close()
    }
  }

  /// Says something now.
  public func say(_ message: WorkerMessage) {
    channel.send(message)
    channel.flush()
  }

  /// A work that keeps the loop from turning has come further: the coordinator is told so, now and then.
  ///
  /// To be called by the work itself, and never by a clock: what is told is that it goes on.
  public func progressed() {
    let now = SystemClock.monotonic()
    guard state == .atWork, now.since(progressAt) >= Self.progressPause else { return }
    progressAt = now
    say(.beat(WorkerMessage.progress))
  }

  /// An order is done: the coordinator is told so once, because a process that has worked is a healthy one, however soon it
  /// is killed. To be called before whoever has ordered is told. An answer that changes nothing is no work: other processes
  /// ask for one as soon as the service is there.
  public func worked() {
    guard state == .atWork, !hasWorked else { return }
    hasWorked = true
    say(.beat(WorkerMessage.worked))
  }

  /// The opening of the bank that the service is to write down, once.
  public func takeBank() -> BankMark? {
    defer { bank = nil }
    return bank
  }

  /// Answers the checks of this turn.
  public func endTurn() {
    guard !checks.isEmpty else { return }
    for number in checks { channel.send(.beat(number)) }
    checks.removeAll()
    channel.flush()
  }
}
