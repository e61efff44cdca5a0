// Owns `status`: the picture of a bank, once or as it changes.
// It must not know how the picture is drawn.
// Invariant: on a terminal the picture is redrawn in its place; elsewhere every change is one line.
// Failure: CommandError. A bank that closes while it is watched ends the watching without an error.
import Arguments
import BankModel
import ControlClient
import Posix
import Wire

/// The command `status`.
enum StatusCommand {
  /// Runs the command.
  static func run(_ session: Session) throws(CommandError) -> ProgramExit {
    if session.invocation.flag("watch") { return try watch(session) }
    let report = try Desk.picture(session)
    try session.show(.status(report), or: session.picture(report).lines)
    return .done
  }

  private static func watch(_ session: Session) throws(CommandError) -> ProgramExit {
    var screen = Screen()
    var last: StatusReport?
    var desk = try Desk.open(session)
    while true {
      do throws(CommandError) {
        try desk.ask(.watch, within: nil) { answer throws(CommandError) in
          let report = try answer.status
          // Somebody may ask for everything twice; nobody wants to read it twice.
          if report != last { try draw(report, session, &screen) }
          last = report
        }
        return .done
      } catch {
        guard error.isLoss else { throw error }
        if last?.state == .draining || last?.state == .closed { return .done }
        desk = try Desk.reopen(session)
      }
    }
  }

  private static func draw(
    _ report: StatusReport, _ session: Session, _ screen: inout Screen
  ) throws(CommandError) {
    let picture = session.picture(report)
    if session.asJSON {
      try session.output.line(.status(report))
    } else if session.output.isTerminal {
      session.output.write(screen.redraw(picture.lines, size: Terminal.size))
    } else {
      try session.output.line(picture.line)
    }
    try session.output.flush()
  }
}
