// Owns `status`: the picture of a bank, once or as it changes.
// Invariant: on a terminal the picture fills the screen (StatusScreen); elsewhere every change is one line.
// Failure: CommandError. A bank that closes while it is watched ends the watching without an error.
import Posix
import Time
import Wire

enum StatusCommand {
  static func run(_ session: Session) throws(CommandError) {
    if session.invocation.flag("watch") { return try watch(session) }
    if let number = session.invocation.integer("branch") {
      return try BranchesCommand.show([try BranchesCommand.branch(number, session)], session)
    }
    let report = try CoordinatorClient.picture(session)
    try session.show(.status(report), or: session.picture(report).lines)
  }

  private static func watch(_ session: Session) throws(CommandError) {
    let isScreen =
      session.output.isTerminal && !session.asJSON && session.surroundings.variable("TERM") != "dumb"
    if isScreen { return try StatusScreen.run(session) }
    var last: StatusReport?
    var rhythm = Rhythm()
    let isOver = { last?.state == .draining || last?.state == .closed }
    try CoordinatorClient.follow(session, .watch, isOver: isOver) { answer throws(CommandError) in
      let report = try answer.status
      defer { last = report }
      // Somebody may ask for everything twice; nobody wants to read it twice.
      guard report != last, rhythm.shows(report) else { return }
      if session.asJSON {
        try session.output.line(.status(report))
      } else {
        try session.output.line(session.picture(report).line)
      }
      try session.output.flush()
    }
  }
}

/// Which pictures are shown: those in which something has changed, and where it is only time that passes one in a second.
private struct Rhythm {
  private var shown: (still: StatusReport, at: MonotonicTime)?

  private static let pause = TimeSpan.seconds(1)

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
