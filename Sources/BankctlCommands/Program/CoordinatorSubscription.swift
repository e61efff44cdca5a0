// A full-screen command's connection to the coordinator: its subscription, its requests, and the detection
// of a coordinator that does not answer.
// Invariant: a try to reconnect delays keys by at most `connectTimeouts`. Requests to a lost coordinator get no
// answer; the subscription is renewed after a reconnect. A coordinator that does not answer is detected after the
// next key.
// Errors: `CommandError`; `control` if no usable coordinator accepted a connection in time.
import ControlClient
import Posix
import Time
import Wire

/// Subscription of a full-screen command to the bank, which survives restarts of the coordinator.
final class CoordinatorSubscription {
  /// True while there is a connection that was not found to be lost.
  var isConnected: Bool { coordinator != nil }
  /// True if the coordinator has not answered the last check within `probeTimeout`.
  private(set) var isSilent = false
  /// Time of the last message, in milliseconds since 1970; before the first message, time of the creation.
  private(set) var lastMessageAt = SystemClock.wall().milliseconds
  /// Number of the subscription request.
  private(set) var followed: UInt32 = 0

  private let session: Session
  private let loop: EventLoop
  private let question: ControlCommand
  private var coordinator: CoordinatorClient?
  private var registration: Registration?
  /// Request that checks whether the coordinator answers: its number and deadline.
  private var probe: (number: UInt32, due: MonotonicTime)?
  /// Time of the loss, and time of the next try to connect.
  private var absence: (since: MonotonicTime, retry: MonotonicTime)?

  /// Time without an answer to a check after which the screen shows that the coordinator does not answer.
  private static let probeTimeout = TimeSpan.seconds(1)
  /// Maximum duration of one try to connect, during which no keys are read.
  private static let connectTimeouts = ControlConnection.Timeouts(hello: .milliseconds(100))
  /// Time between two tries to connect.
  private static let pause = TimeSpan.milliseconds(50)

  /// Subscribes over an existing connection.
  /// - Parameter question: A subscription, which has many answers.
  init(
    _ session: Session, _ coordinator: CoordinatorClient, following question: ControlCommand,
    on loop: EventLoop
  ) throws(CommandError) {
    (self.session, self.loop, self.question) = (session, loop, question)
    try follow(coordinator)
  }

  deinit { if let registration { loop.deregister(registration) } }

  /// Subscribes over a new connection, and registers it at the loop.
  private func follow(_ coordinator: CoordinatorClient) throws(CommandError) {
    followed = try coordinator.send(question)
    registration = try loop.listen(to: coordinator.connection)
    (self.coordinator, absence) = (coordinator, nil)
  }

  /// Sends a request. Returns its number; nil if it was not sent.
  func ask(_ command: ControlCommand) -> UInt32? {
    // A lost connection is detected in `handle()`.
    guard let coordinator else { return nil }
    return try? coordinator.send(command)
  }

  /// Checks whether the coordinator answers. Call it for each key, because users press keys when nothing moves on the
  /// screen.
  func probeCoordinator() {
    guard probe == nil, let number = ask(.status) else { return }
    probe = (number, loop.listeningTime.now + Self.probeTimeout)
  }

  /// Returns the messages received since the last call, in order and without answers to checks. Tries to reconnect
  /// if the connection was lost. Call after every iteration of the loop.
  func handle() throws(CommandError) -> [ControlReply] {
    guard let coordinator else {
      try tryReconnect()
      return []
    }
    var replies: [ControlReply] = []
    do throws(ControlError) {
      while let reply = try coordinator.connection.next(until: MonotonicTime(nanoseconds: 0)) {
        if reply.number == probe?.number { probe = nil } else { replies.append(reply) }
        lastMessageAt = SystemClock.wall().milliseconds
        isSilent = false
      }
    } catch {
      guard error.isTransient else { throw .control(error) }
      markLost()
    }
    if let probe, loop.listeningTime.now >= probe.due { isSilent = true }
    return replies
  }

  /// Drops the lost connection. The next call of ``handle()`` tries to reconnect.
  private func markLost() {
    if let registration { loop.deregister(registration) }
    (registration, probe, coordinator, isSilent) = (nil, nil, nil, false)
    let now = SystemClock.monotonic()
    absence = (now, now)
  }

  /// Tries to reconnect if the pause has passed. A transient error is thrown only if no guardian runs and the timeout
  /// has passed, because a guardian may take longer to open the bank again.
  private func tryReconnect() throws(CommandError) {
    let now = SystemClock.monotonic()
    guard let absence, now >= absence.retry else { return }
    do throws(CommandError) {
      try follow(CoordinatorClient(fromControl(session.home.connect(timeouts: Self.connectTimeouts))))
    } catch {
      let isComing = session.home.isGuarded || now < absence.since + CoordinatorClient.reconnectTimeout
      guard case .control(let reason) = error, reason.isTransient, isComing else { throw error }
    }
    if coordinator == nil { self.absence?.retry = SystemClock.monotonic() + Self.pause }
  }

  /// Deadline for the next call of ``handle()`` without a message; nil for none.
  var wakeTime: MonotonicTime? {
    absence?.retry ?? (isSilent ? nil : probe.map { loop.listeningTime.wakeTime(for: $0.due) })
  }
}
