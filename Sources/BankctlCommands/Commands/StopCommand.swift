// `stop`: closes a bank and reports the results of its customers.
// Invariant: on a return without an error the coordinator has exited. Its guardian has usually exited, too. With
// `--no-wait` the command returns when the bank has started to close.
import Glibc
import Posix
import Time
import Wire

/// Implementation of `bankctl stop`.
enum StopCommand {
  /// Time that a coordinator may take to exit after its last message.
  static let exitTimeout = TimeSpan.seconds(30)
  /// Time that the guardian of a closed bank may take to exit.
  private static let guardianTimeout = TimeSpan.seconds(10)

  /// Closes the bank, waits for its processes, and prints the results. Returns the exit code.
  static func run(_ session: Session) throws(CommandError) -> ProgramExit {
    let order = StopParameters(
      now: session.invocation.flag("now"),
      timeoutMilliseconds: session.invocation.duration("step-timeout")?.milliseconds,
      closesWholeBank: session.invocation.flag("bank") ? true : nil,
      leavesDelayed: session.invocation.flag("leave-delayed") ? true : nil,
      noWait: session.invocation.flag("no-wait") ? true : nil)
    if order.noWait == true {
      let report = try CoordinatorClient.withOpenBank(session) { coordinator throws(CommandError) in
        try coordinator.status(.stop(order))
      }
      try session.show(.status(report), or: [session.messages.isClosing])
      return .done
    }
    // The pidfds are opened before the bank closes, because afterwards a pid may belong to another process.
    let guardians = session.home.guardians.compactMap { try? ProcessHandle(pid: $0) }
    let report = try CoordinatorClient.withOpenBank(session) { coordinator throws(CommandError) in
      let report = try stop(order, at: coordinator, session)
      guard coordinator.connection.awaitEnd(until: SystemClock.monotonic() + exitTimeout) else {
        throw .control(.timedOut(what: "its end"))
      }
      return report
    }
    // The guardian exits after the coordinator. If another guardian has replaced it, wait only briefly, because the
    // new guardian may belong to the next opening.
    for guardian in guardians { awaitEnd(of: guardian) }
    let deadline = SystemClock.monotonic() + .seconds(1)
    while session.home.isGuarded, SystemClock.monotonic() < deadline { Pause.momentarily() }
    try session.show(.stopped(report), or: session.messages.stopped(report))
    // With `--bank`, a day that stays open because customers wait is a failure.
    return order.closesWholeBank == true && !report.isDayClosed && report.leavesServable ? .failed : .done
  }

  /// Waits for the exit of a guardian. The wait is bounded, because a user may have suspended the process.
  private static func awaitEnd(of guardian: ProcessHandle) {
    let deadline = SystemClock.monotonic() + guardianTimeout
    while ProcessTable.alive(guardian.pid), SystemClock.monotonic() < deadline {
      var item = pollfd(fd: guardian.fd, events: Int16(POLLIN), revents: 0)
      if poll(&item, 1, 100) > 0 { return }
    }
  }

  /// Requests the drain, waits for its end, and returns the result. A Ctrl-C requests the next step. After the last
  /// step, a Ctrl-C ends this command, and the bank continues to close.
  private static func stop(
    _ order: StopParameters, at coordinator: CoordinatorClient, _ session: Session
  ) throws(CommandError) -> StoppedReport {
    let wait = try InterruptibleWait([SIGINT])
    let reporter = DrainReporter(session.messages, FreeOptions(of: session.invocation))
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
          throw .commandFailure(.interrupted, session.messages.drainContinues)
        }
        try coordinator.send(.stop(StopParameters(now: false, timeoutMilliseconds: nil, step: step)))
        continue
      }
      switch reply.answer {
      case _ where reply.number != number: break
      case .stopped(let report): return report
      case .progress(let report): reporter.handle(report)
      default: throw reply.answer.unexpected
      }
    }
  }
}

extension StoppedReport {
  /// True if customers wait that an open branch could have served. Not so customers whose juice only a closed branch
  /// can make; `branches` lists those branches.
  var leavesServable: Bool {
    let bound = (branches ?? []).reduce(0) { $0 &+ ($1.juices ?? 0) }
    return waiting > bound
  }
}
