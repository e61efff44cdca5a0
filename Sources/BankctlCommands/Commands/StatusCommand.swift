// `status`: the status of a bank, once or again after changes.
// Invariant: with `--watch`, the status fills the screen of a terminal (`StatusScreen`). With JSON, with TERM=dumb,
// or without a terminal, each printed report is one line.
// Errors: `CommandError`. If the bank closes while it is watched, the command ends without an error.
import Posix
import Time
import Wire

/// Implementation of `bankctl status`.
enum StatusCommand {
  /// Prints the status of the bank or of one branch, or with `--watch` the status after each change.
  static func run(_ session: Session) throws(CommandError) {
    if session.invocation.flag("watch") { return try watch(session) }
    if let number = session.invocation.integer("branch") {
      return try BranchesCommand.show([try BranchesCommand.branch(number, session)], session)
    }
    let report = try CoordinatorClient.picture(session)
    try session.show(.status(report), or: session.picture(report).lines)
  }

  /// Shows the status on the whole screen, or prints a line after changes.
  private static func watch(_ session: Session) throws(CommandError) {
    let isScreen =
      session.output.isTerminal && !session.asJSON && session.environment.variable("TERM") != "dumb"
    if isScreen { return try StatusScreen.run(session) }
    var last: StatusReport?
    var throttle = RefreshThrottle()
    let isOver = { last?.state == .draining || last?.state == .closed }
    try CoordinatorClient.follow(session, .watch, isOver: isOver) { answer throws(CommandError) in
      let report = try answer.status
      defer { last = report }
      // The coordinator may send the same report twice; print it once.
      guard report != last, throttle.shows(report) else { return }
      if session.asJSON {
        try session.output.line(.status(report))
      } else {
        try session.output.line(session.picture(report).line)
      }
      try session.output.flush()
    }
  }
}

/// Selects the reports to print: those with a change, and one per `pause` if only times, rates or memory sizes have
/// changed.
private struct RefreshThrottle {
  private var shown: (still: StatusReport, at: MonotonicTime)?

  private static let pause = TimeSpan.seconds(1)

  /// True if this report is to be printed; the report is then remembered as printed.
  mutating func shows(_ report: StatusReport) -> Bool {
    let now = SystemClock.monotonic()
    var still = report
    still.businessMilliseconds = 0
    still.queue.oldestWaitMilliseconds = 0
    still.bank?.queue.oldestWaitMilliseconds = 0
    still.branch = still.branch?.still
    for index in still.workers.indices { still.workers[index].residentKilobytes = 0 }
    if let shown, shown.still == still, now.since(shown.at) < Self.pause { return false }
    shown = (still, now)
    return true
  }
}
