// Owns the way from the command line to the logs of a home.
// Invariant: logs are files, so they are read whether or not the bank is open.
// Failure: CommandError, with the words that the reading of logs has found.
import Arguments
import ControlClient
import Posix

extension LogsCommand {
  static func run(_ session: Session) throws(CommandError) -> ProgramExit {
    let invocation = session.invocation
    do throws(Refusal) {
      let code = try run(
        logDirectory: session.home.logs, workers: invocation.operands.texts("WORKER"),
        follow: invocation.flag("follow"), last: invocation.integer("lines").map { Int($0) },
        since: invocation.text("since"), json: session.asJSON, language: session.words.language)
      return ProgramExit(rawValue: code) ?? .failed
    } catch {
      let exit = ProgramExit(rawValue: error.exit) ?? .failed
      throw .complaint(Complaint(code: error.code, exit: exit, message: error.message))
    }
  }
}
