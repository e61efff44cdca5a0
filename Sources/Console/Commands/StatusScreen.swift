// Owns `status --watch` on a terminal: the picture of a bank on the whole screen, drawn again with every change and every
// new size, until somebody leaves or the bank closes.
// Invariant: what does not fit is said to be hidden. What was shown last stands on the terminal afterwards. A coordinator
// that does not answer is noticed at the next key, and it is said how old the picture is.
// Failure: CommandError. A bank that closes while it is watched ends the watching without an error.
import Posix
import Time
import Wire

final class StatusScreen {
  private let session: Session
  private let loop: EventLoop
  private let screen: FullScreen
  private var coordinator: CoordinatorClient
  private var registration: Registration?
  private var report: StatusReport?
  private var heardAt = SystemClock.wall().milliseconds
  /// A question whose answer shows that the coordinator is there: its number, and until when it is waited for.
  private var probe: (number: UInt32, due: MonotonicTime)?
  private var isSilent = false

  /// How long a coordinator may take to answer such a question before it is said that it does not.
  private static let probePatience = TimeSpan.seconds(1)
  /// How long one attempt to reach a coordinator that is coming back keeps from hearing keys.
  private static let attempt = TimeSpan.milliseconds(100)

  static func run(_ session: Session) throws(CommandError) {
    let coordinator = try CoordinatorClient.open(session)
    let loop = try fromSystem(EventLoop())
    let screen = try FullScreen(session.output, on: loop)
    defer { screen.end() }
    let watching = StatusScreen(session, coordinator, loop, screen)
    try watching.watch()
    screen.end()
    for line in watching.picture(nil) { try session.output.line(line) }
    try session.output.flush()
    if let signal = screen.signal { Signals.end(by: signal) }
  }

  private init(_ session: Session, _ coordinator: CoordinatorClient, _ loop: EventLoop, _ screen: FullScreen)
  {
    self.session = session
    self.coordinator = coordinator
    self.loop = loop
    self.screen = screen
  }

  deinit { if let registration { loop.deregister(registration) } }

  private func watch() throws(CommandError) {
    try screen.begin { [unowned self] key in press(key) }
    try follow()
    while !screen.isEnded, !screen.isClosed {
      try hear()
      if screen.isClosed { break }
      settleProbe()
      try screen.draw(picture)
      let due = isSilent ? nil : probe.map { loop.attended.wake(for: $0.due) }
      try turn(until: MonotonicTime.earlier(screen.wake, due))
    }
    if let failure = screen.failure { throw failure }
  }

  private func turn(until deadline: MonotonicTime?) throws(CommandError) {
    try loop.turn(until: deadline)
    screen.settle()
  }

  private func press(_ key: Key) {
    switch key {
    // The second letter is the same key on a keyboard that writes Hangul.
    case .escape, .control("d"), .character("q"), .character("ㅂ"): screen.close()
    default: ask()
    }
  }

  /// The picture; with a size as much of it as there is room for.
  private func picture(_ size: Terminal.Size?) -> [String] {
    guard let report else { return [] }
    let time = Timestamp.utc(milliseconds: heardAt)
    let notice =
      isSilent ? Screen.sentence(session.words.bankIsSilent(since: time), columns: size?.columns) : []
    return Screen.fit(
      notice.map { session.output.palette.paint($0, .alarm) } + session.picture(report).lines, to: size,
      session.words)
  }

  /// Somebody presses keys, as people do where nothing moves.
  private func ask() {
    guard probe == nil, registration != nil else { return }
    // One that is lost just now is noticed where its words are heard.
    guard let number = try? coordinator.send(.status) else { return }
    probe = (number, loop.attended.now + Self.probePatience)
  }

  private func settleProbe() {
    guard let probe, !isSilent, loop.attended.now >= probe.due else { return }
    (isSilent, screen.isDirty) = (true, true)
  }

  private func noteAnswer() {
    heardAt = SystemClock.wall().milliseconds
    if isSilent { (isSilent, screen.isDirty) = (false, true) }
  }

  private func follow() throws(CommandError) {
    try coordinator.send(.watch)
    registration = try loop.listen(to: coordinator.connection)
  }

  private func hear() throws(CommandError) {
    do throws(CommandError) {
      while let reply = try coordinator.next(until: MonotonicTime(nanoseconds: 0)) {
        let news = try reply.answer.status
        let isProbe = reply.number == probe?.number
        if isProbe { probe = nil }
        noteAnswer()
        if news != report { screen.isDirty = true }
        report = news
        if !reply.more, !isProbe { return screen.close() }
      }
    } catch {
      guard error.isLoss else { throw error }
      if report?.state == .closed { return screen.close() }
      try reunite()
    }
  }

  /// Waits for a coordinator that was lost, as long as it may take to come back, and for the keys meanwhile.
  private func reunite() throws(CommandError) {
    if let registration { loop.deregister(registration) }
    (registration, probe) = (nil, nil)
    let deadline = SystemClock.monotonic() + CoordinatorClient.reunion
    while !screen.isEnded, !screen.isClosed {
      do throws(CommandError) {
        coordinator = try CoordinatorClient.reopen(session, until: SystemClock.monotonic() + Self.attempt)
        return try follow()
      } catch {
        if report?.state == .draining, session.isBankClosed { return noteClosing() }
        guard case .control(let reason) = error, reason.mayPass, SystemClock.monotonic() < deadline else {
          throw error
        }
        try screen.draw(picture)
        try turn(until: MonotonicTime(nanoseconds: 0))
      }
    }
  }

  /// A coordinator that was closing its bank is gone, and has not said its last word here.
  private func noteClosing() {
    report?.close()
    screen.close()
    screen.isDirty = true
  }
}
