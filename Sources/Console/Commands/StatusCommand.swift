// Owns `status`: the picture of a bank, once or as it changes.
// Invariant: on a terminal the picture fills the screen (StatusScreen); elsewhere every change is one line.
// Failure: CommandError. A bank that closes while it is watched ends the watching without an error.
import Arguments
import BankModel
import ControlClient
import Posix
import Time
import Wire

enum StatusCommand {
  static func run(_ session: Session) throws(CommandError) -> ProgramExit {
    if session.invocation.flag("watch") { return try watch(session) }
    let report = try CoordinatorClient.picture(session)
    try session.show(.status(report), or: session.picture(report).lines)
    return .done
  }

  private static func watch(_ session: Session) throws(CommandError) -> ProgramExit {
    let isScreen =
      session.output.isTerminal && !session.asJSON && session.surroundings.variable("TERM") != "dumb"
    if isScreen { return try StatusScreen.run(session) }
    var last: StatusReport?
    var rhythm = Rhythm()
    var coordinator = try CoordinatorClient.open(session)
    while true {
      do throws(CommandError) {
        try coordinator.ask(.watch, within: nil) { answer throws(CommandError) in
          let report = try answer.status
          // Somebody may ask for everything twice; nobody wants to read it twice.
          if report != last, rhythm.shows(report) { try draw(report, session) }
          last = report
        }
        return .done
      } catch {
        guard error.isLoss else { throw error }
        if last?.state == .draining || last?.state == .closed { return .done }
        coordinator = try CoordinatorClient.reopen(session)
      }
    }
  }

  private static func draw(_ report: StatusReport, _ session: Session) throws(CommandError) {
    if session.asJSON {
      try session.output.line(.status(report))
    } else {
      try session.output.line(session.picture(report).line)
    }
    try session.output.flush()
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
    for index in still.workers.indices { still.workers[index].residentKilobytes = 0 }
    if let shown, shown.still == still, now.since(shown.at) < Self.pause { return false }
    shown = (still, now)
    return true
  }
}
