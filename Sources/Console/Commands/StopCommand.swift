// Owns `stop`: ends a bank and tells what became of everyone.
// Invariant: when it returns the coordinator's process has ended, and its guardian's, which follows it at once; with `--no-wait` it
// returns when the bank has begun to close.
import Glibc
import Posix
import Time
import Wire

enum StopCommand {
  /// How long a coordinator that has said its last word may take to end.
  static let farewell = TimeSpan.seconds(30)
  /// How long the guardian of a closed bank may take to end.
  private static let patience = TimeSpan.seconds(10)

  static func run(_ session: Session) throws(CommandError) -> ProgramExit {
    let order = StopOrder(
      now: session.invocation.flag("now"),
      timeoutMilliseconds: session.invocation.duration("timeout")?.milliseconds,
      endsBank: session.invocation.flag("bank") ? true : nil,
      leavesDelayed: session.invocation.flag("leave-delayed") ? true : nil,
      noWait: session.invocation.flag("no-wait") ? true : nil)
    if order.noWait == true {
      let report = try CoordinatorClient.converse(session) { coordinator throws(CommandError) in
        try coordinator.status(.stop(order))
      }
      try session.show(.status(report), or: [session.words.isClosing])
      return .done
    }
    // Held before the bank closes: afterwards its number may be another process's.
    let guardians = session.home.guardians.compactMap { try? OtherProcess(pid: $0) }
    let report = try CoordinatorClient.converse(session) { coordinator throws(CommandError) in
      let report = try stop(order, at: coordinator, session)
      guard coordinator.connection.awaitEnd(until: SystemClock.monotonic() + farewell) else {
        throw .control(.timedOut(what: "its end"))
      }
      return report
    }
    // The guardian follows. Another one may have taken its place meanwhile; that is waited for no longer than a second, because
    // it could be the guardian of the next bank already.
    for guardian in guardians { awaitEnd(of: guardian) }
    let deadline = SystemClock.monotonic() + .seconds(1)
    while session.home.isGuarded, SystemClock.monotonic() < deadline { Pause.momentarily() }
    try session.show(.stopped(report), or: session.words.stopped(report))
    // Who is left was not to be left: neither a dead letter nor juice of a branch that is gone keeps the day open.
    let isLeft = report.waiting > 0 && report.branches == nil
    return order.endsBank == true && !report.isDayClosed && isLeft ? .failed : .done
  }

  /// Waits until a guardian has ended; not for ever, because a person may have stopped it.
  private static func awaitEnd(of guardian: OtherProcess) {
    let deadline = SystemClock.monotonic() + patience
    while ProcessTable.alive(guardian.pid), SystemClock.monotonic() < deadline {
      var item = pollfd(fd: guardian.fd, events: Int16(POLLIN), revents: 0)
      if poll(&item, 1, 100) > 0 { return }
    }
  }

  /// Asks for the end and waits for it. A Ctrl-C goes a step further; where there is none, this command ends and the
  /// bank closes without it.
  private static func stop(
    _ order: StopOrder, at coordinator: CoordinatorClient, _ session: Session
  ) throws(CommandError) -> StoppedReport {
    let wait = try InterruptibleWait([SIGINT])
    let reporter = DrainReporter(session.words)
    defer {
      reporter.finish()
      wait.release()
    }
    let number = try coordinator.send(.stop(order))
    var interruptions = 0
    while true {
      guard let reply = try wait.next(at: coordinator, until: nil, evenAfter: interruptions) else {
        interruptions += 1
        guard let step = reporter.goFurther() else {
          throw .complaint(.interrupted, session.words.leftAlone)
        }
        try coordinator.send(.stop(StopOrder(now: false, timeoutMilliseconds: nil, step: step)))
        continue
      }
      switch reply.answer {
      case _ where reply.number != number: break
      case .stopped(let report): return report
      case .progress(let report): reporter.hear(report)
      default: throw reply.answer.unexpected
      }
    }
  }
}
