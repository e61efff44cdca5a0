// Channel of a service process or of `bank-web` to the coordinator: hello, orders, liveness checks, the end.
// Invariant: a check is answered only by `finishIteration()`, which has to be called after the work of an iteration.
// The answer therefore proves that the loop does its work. Errors: the process has to exit if the coordinator has
// exited or sends invalid messages; see `State`.
import BankModel
import Glibc
import Posix
import Time
import Wire

/// Channel of a service process or of `bank-web` to the coordinator, on descriptor 3.
public final class SupervisorConnection {
  /// State of the connection to the coordinator.
  public enum State: Equatable, Sendable {
    /// The hello was sent, and the welcome has not arrived.
    case greeting
    /// The coordinator has sent its welcome with the orders.
    case running
    /// The coordinator has requested that the service answer its pending requests and exit.
    case closing
    /// The connection has ended, for example because the coordinator has exited.
    case disconnected
    /// The coordinator refused this service, or sent an invalid or unexpected message. The text is the reason.
    case protocolError(String)
  }

  /// Current state of the link.
  public private(set) var state = State.greeting
  /// Orders from the coordinator; nil before the welcome.
  public private(set) var settings: ServiceProcessSettings?
  private let channel: MessageChannel<SupervisorMessage, ServiceProcessMessage>
  /// Numbers of the checks that were not answered yet.
  private var checks: [Int64] = []
  /// The bank's current opening (see `BankIdentity`), which the service must store in its database; nil before the
  /// coordinator has sent it, and after ``takeBank()``.
  private var bank: BankIdentity?
  /// True after the first report of work.
  private var hasReportedWork = false
  /// Time of the last report of progress.
  private var progressAt = MonotonicTime(nanoseconds: 0)
  /// Shortest time between two reports of progress.
  private static let progressPause = TimeSpan.seconds(1)

  /// Starts the conversation on a connected socket, with a hello.
  public init(_ descriptor: consuming FileDescriptor, loop: EventLoop, role: PeerRole) throws(SystemError) {
    channel = try MessageChannel(
      descriptor: descriptor, loop: loop, incomingLimit: FrameLimits.teller, backlogLimit: 1 << 20)
    channel.onMessage = { [unowned self] in handle($0) }
    channel.onEnd = { [unowned self] end in
      switch (end, state) {
      case (_, .protocolError): break
      case (.malformed, _), (.oversized, _): state = .protocolError(end.description)
      default: state = .disconnected
      }
    }
    channel.send(.hello(Hello(build: BuildIdentity.current, role: role)))
    channel.flush()
  }

  /// Descriptor 3 if it is a socket; nil if it is not. A coordinator passes a socket as descriptor 3 to the
  /// services that it starts.
  public static func inheritedChannel() -> FileDescriptor? {
    var kind: CInt = 0
    var length = socklen_t(MemoryLayout<CInt>.size)
    guard getsockopt(3, SOL_SOCKET, SO_TYPE, &kind, &length) == 0 else { return nil }
    _ = fcntl(3, F_SETFD, FD_CLOEXEC)
    return FileDescriptor(owning: 3)
  }

  /// Handles a message of the coordinator; a message that does not fit the state ends the connection.
  private func handle(_ message: SupervisorMessage) {
    switch (message, state) {
    case (.welcome(let settings), .greeting):
      self.settings = settings
      state = .running
    case (.refused(let refusal), _):
      state = .protocolError(
        "the coordinator (build \(refusal.build)) refuses this service: \(refusal.detail)")
      channel.close()
    case (.check(let number), .running), (.check(let number), .closing): checks.append(number)
    case (.bank(let mark), .running), (.bank(let mark), .closing): bank = mark
    case (.close, .running), (.close, .closing), (.close, .greeting):
      if !Mutant.ignoresClose.isActive { state = .closing }
    case (.welcome, _), (.check, _), (.close, _), (.bank, _):
      state = .protocolError("a message out of turn")
      channel.close()
    }
  }

  /// Sends a message without waiting for the end of the iteration.
  public func send(_ message: ServiceProcessMessage) {
    channel.send(message)
    channel.flush()
  }

  /// Reports progress of a long computation that blocks the loop, with a pause between two reports.
  ///
  /// Call it from the computation itself and not from a timer, because it has to prove that the computation advances.
  public func reportProgress() {
    let now = SystemClock.monotonic()
    guard state == .running, now.since(progressAt) >= Self.progressPause else { return }
    progressAt = now
    send(.beat(ServiceProcessMessage.progress))
  }

  /// Reports once that this process has done work. The coordinator then counts the process as healthy. Call it only
  /// for a request that has changed data: other requests may arrive as soon as the service exists.
  public func reportWork() {
    guard state == .running, !hasReportedWork else { return }
    hasReportedWork = true
    send(.beat(ServiceProcessMessage.worked))
  }

  /// Returns the bank's current opening, which the service must store in its database; nil if the coordinator
  /// has sent none since the last call.
  public func takeBank() -> BankIdentity? {
    defer { bank = nil }
    return bank
  }

  /// Answers the liveness checks of the coordinator that have arrived since the last call.
  public func finishIteration() {
    guard !checks.isEmpty else { return }
    for number in checks { channel.send(.beat(number)) }
    checks.removeAll()
    channel.flush()
  }
}
