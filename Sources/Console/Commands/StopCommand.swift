// `stop`: closes a bank and reports the results of its customers.
// Invariant: on a return without an error the coordinator has exited. Its guardian has also exited, unless it took
// longer than ten seconds. With `--no-wait` the command returns when the bank has started to close.
import Glibc
import Posix
import Time
import Wire

enum StopCommand {
  /// Time that a coordinator may take to exit after its last message.
  static let farewell = TimeSpan.seconds(30)
  /// Time that the guardian of a closed bank may take to exit.
  private static let patience = TimeSpan.seconds(10)

  static func run(_ session: Session) throws(CommandError) -> ProgramExit {
    let order = StopOrder(
      now: session.invocation.flag("now"),
      timeoutMilliseconds: session.invocation.duration("step-timeout")?.milliseconds,
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
    // The pidfds are opened before the bank closes, because afterwards a pid may belong to another process.
    let guardians = session.home.guardians.compactMap { try? OtherProcess(pid: $0) }
    let report = try CoordinatorClient.converse(session) { coordinator throws(CommandError) in
      let report = try stop(order, at: coordinator, session)
      guard coordinator.connection.awaitEnd(until: SystemClock.monotonic() + farewell) else {
        throw .control(.timedOut(what: "its end"))
      }
      return report
    }
    // The guardian exits after the coordinator. If another guardian has replaced it, wait at most one second,
    // because the new guardian may already belong to the next bank.
    for guardian in guardians { awaitEnd(of: guardian) }
    let deadline = SystemClock.monotonic() + .seconds(1)
    while session.home.isGuarded, SystemClock.monotonic() < deadline { Pause.momentarily() }
    try session.show(.stopped(report), or: session.words.stopped(report))
    // With `--bank`, waiting customers are a failure. Dead letters are not counted, and juice orders that
    // only a closed branch can make do not keep the day open.
    let isLeft = report.waiting > 0 && report.branches == nil
    return order.endsBank == true && !report.isDayClosed && isLeft ? .failed : .done
  }

  /// Waits for the exit of a guardian. The wait is bounded, because a user may have suspended the process.
  private static func awaitEnd(of guardian: OtherProcess) {
    let deadline = SystemClock.monotonic() + patience
    while ProcessTable.alive(guardian.pid), SystemClock.monotonic() < deadline {
      var item = pollfd(fd: guardian.fd, events: Int16(POLLIN), revents: 0)
      if poll(&item, 1, 100) > 0 { return }
    }
  }

  /// Requests the drain and waits for its end. A Ctrl-C requests the next step. After the last step, a Ctrl-C
  /// ends this command, and the bank continues to close.
  private static func stop(
    _ order: StopOrder, at coordinator: CoordinatorClient, _ session: Session
  ) throws(CommandError) -> StoppedReport {
    let wait = try InterruptibleWait([SIGINT])
    let reporter = DrainReporter(session.words, FreeOptions(of: session.invocation))
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
