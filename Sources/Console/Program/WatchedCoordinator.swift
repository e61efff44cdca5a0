// Owns a full screen's conversation with the coordinator: what it follows, what it asks, and whether anybody answers.
// Invariant: a coordinator that is lost is looked for again without keeping the screen from its keys, and what it was asked is
// answered by nobody: the one that comes back is asked to be followed, and nothing else. One that does not answer is noticed
// after the next key.
// Failure: CommandError, `control` where no coordinator has come back although it could have, or one that is no use.
import ControlClient
import Posix
import Time
import Wire

final class WatchedCoordinator {
  /// Whether one is there, as far as anybody knows.
  var isThere: Bool { coordinator != nil }
  /// Whether a question has gone unanswered for so long that somebody wonders.
  private(set) var isSilent = false
  /// When something was heard last, in milliseconds since 1970.
  private(set) var heardAt = SystemClock.wall().milliseconds
  /// The number of the question whose answers are followed.
  private(set) var followed: UInt32 = 0

  private let session: Session
  private let loop: EventLoop
  private let question: ControlCommand
  private var coordinator: CoordinatorClient?
  private var registration: Registration?
  /// A question whose answer shows that the coordinator is there: its number, and until when it is waited for.
  private var probe: (number: UInt32, due: MonotonicTime)?
  /// Since when nobody is there, and when to look again.
  private var absence: (since: MonotonicTime, retry: MonotonicTime)?

  /// How long a coordinator may take to answer such a question before it is said that it does not.
  private static let probePatience = TimeSpan.seconds(1)
  /// How long one attempt to reach a coordinator that is coming back keeps from hearing keys, and how long until the next.
  private static let glance = ControlConnection.Patience(hello: .milliseconds(100))
  private static let pause = TimeSpan.milliseconds(50)

  /// - Parameter question: One that is answered again and again.
  init(
    _ session: Session, _ coordinator: CoordinatorClient, following question: ControlCommand,
    on loop: EventLoop
  ) throws(CommandError) {
    (self.session, self.loop, self.question) = (session, loop, question)
    try follow(coordinator)
  }

  deinit { if let registration { loop.deregister(registration) } }

  private func follow(_ coordinator: CoordinatorClient) throws(CommandError) {
    followed = try coordinator.send(question)
    registration = try loop.listen(to: coordinator.connection)
    (self.coordinator, absence) = (coordinator, nil)
  }

  /// Asks something; nil where nobody is there who could be asked.
  func ask(_ command: ControlCommand) -> UInt32? {
    // A coordinator that is lost just now is noticed where its words are heard.
    guard let coordinator else { return nil }
    return try? coordinator.send(command)
  }

  /// Somebody presses keys, as people do where nothing moves.
  func lookWhetherItAnswers() {
    guard probe == nil, let number = ask(.status) else { return }
    probe = (number, loop.attended.now + Self.probePatience)
  }

  /// What was said since, in its order, and looks again for one that is lost. To be called after every turn of the loop.
  func hear() throws(CommandError) -> [ControlReply] {
    guard let coordinator else {
      try lookForIt()
      return []
    }
    var replies: [ControlReply] = []
    do throws(ControlError) {
      while let reply = try coordinator.connection.next(until: MonotonicTime(nanoseconds: 0)) {
        if reply.number == probe?.number { probe = nil } else { replies.append(reply) }
        heardAt = SystemClock.wall().milliseconds
        isSilent = false
      }
    } catch {
      guard error.mayPass else { throw .control(error) }
      lose()
    }
    if let probe, loop.attended.now >= probe.due { isSilent = true }
    return replies
  }

  private func lose() {
    if let registration { loop.deregister(registration) }
    (registration, probe, coordinator, isSilent) = (nil, nil, nil, false)
    let now = SystemClock.monotonic()
    absence = (now, now)
  }

  /// While a guardian is at work the bank is not closed, however long it takes to open it again.
  private func lookForIt() throws(CommandError) {
    let now = SystemClock.monotonic()
    guard let absence, now >= absence.retry else { return }
    do throws(CommandError) {
      try follow(CoordinatorClient(fromControl(session.home.connect(patience: Self.glance))))
    } catch {
      let isComing = session.home.isGuarded || now < absence.since + CoordinatorClient.reunion
      guard case .control(let reason) = error, reason.mayPass, isComing else { throw error }
    }
    if coordinator == nil { self.absence?.retry = SystemClock.monotonic() + Self.pause }
  }

  /// When ``hear()`` is to be called although nothing was said; nil for never.
  var wake: MonotonicTime? {
    absence?.retry ?? (isSilent ? nil : probe.map { loop.attended.wake(for: $0.due) })
  }
}
