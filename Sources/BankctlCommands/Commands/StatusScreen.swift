// `status --watch` on a terminal: the status of a bank on the whole screen, redrawn after changes and resizes, until
// the user exits or the bank closes.
// Invariant: if lines are hidden, the last row contains their number. The last status stays on the terminal at the
// end.
// Errors: `CommandError`. If the bank closes while it is watched, the command ends without an error.
import Posix
import Time
import Wire

/// The full screen of `bankctl status --watch`.
final class StatusScreen {
  private let session: Session
  private let loop: EventLoop
  private let screen: FullScreen
  private let coordinator: CoordinatorSubscription
  private var report: StatusReport?
  private var isSilent = false

  /// Shows the status until the user exits or the bank closes, and then prints the last status.
  static func run(_ session: Session) throws(CommandError) {
    let coordinator = try CoordinatorClient.open(session)
    let loop = try fromSystem(EventLoop())
    let screen = try FullScreen(session.output, on: loop)
    defer { screen.end() }
    let watched = try CoordinatorSubscription(session, coordinator, following: .watch, on: loop)
    let watching = StatusScreen(session, watched, loop, screen)
    try watching.watch()
    screen.end()
    for line in watching.picture(nil) { try session.output.line(line) }
    try session.output.flush()
    if let signal = screen.signal { Signals.end(by: signal) }
  }

  private init(
    _ session: Session, _ coordinator: CoordinatorSubscription, _ loop: EventLoop, _ screen: FullScreen
  ) {
    self.session = session
    self.coordinator = coordinator
    self.loop = loop
    self.screen = screen
  }

  private func watch() throws(CommandError) {
    try screen.begin { [unowned self] key in press(key) }
    while !screen.isEnded, !screen.isClosed {
      try handle()
      if screen.isClosed { break }
      try screen.draw(picture)
      try loop.runIteration(until: .earlier(screen.wakeTime, coordinator.wakeTime))
      screen.settle()
    }
    if let failure = screen.failure { throw failure }
  }

  /// Handles a key: Escape, Ctrl-D and q close the screen; any other key checks whether the coordinator answers.
  private func press(_ key: Key) {
    switch key {
    // `ㅂ` is the key Q on a Korean keyboard.
    case .escape, .control("d"), .character("q"), .character("ㅂ"): screen.close()
    default: coordinator.probeCoordinator()
    }
  }

  /// The lines of the status: all of them if `size` is nil, or as many as fit.
  private func picture(_ size: Terminal.Size?) -> [String] {
    guard let report else { return [] }
    let time = Timestamp.utc(milliseconds: coordinator.lastMessageAt)
    let notice =
      isSilent ? Screen.sentence(session.messages.bankIsSilent(since: time), columns: size?.columns) : []
    return Screen.fit(
      notice.map { session.output.palette.paint($0, .alarm) } + session.picture(report).lines, to: size,
      session.messages)
  }

  /// Takes over new reports and the state of the connection; closes the screen if the bank has closed.
  private func handle() throws(CommandError) {
    for reply in try coordinator.handle() {
      if case .failure(let failure) = reply.answer { throw .failure(failure) }
      let news = try reply.answer.status
      if news != report { screen.isDirty = true }
      report = news
      if !reply.more { return screen.close() }
    }
    if isSilent != coordinator.isSilent { (isSilent, screen.isDirty) = (coordinator.isSilent, true) }
    guard !coordinator.isConnected else { return }
    if report?.state == .closed { return screen.close() }
    // The coordinator exited while it was closing its bank, and its last message was not received.
    guard report?.state == .draining, session.isBankClosed else { return }
    report?.close()
    screen.close()
    screen.isDirty = true
  }
}
