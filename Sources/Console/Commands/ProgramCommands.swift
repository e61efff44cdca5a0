// Owns the commands that are no bank's: `chaos`, for which this program becomes another one, because to kill
// processes at random and to compare books is no part of what everybody runs; and `completions`, made from the table
// that parses.
import Arguments
import Posix

enum ProgramCommands {
  static let chaosProgram = "bank-chaos"

  /// Becomes the program, with every word of the line that does not name the command.
  static func chaos(_ session: Session) throws(CommandError) {
    let arguments = BankctlTable.table.withoutCommand(Array(CurrentProcess.arguments.dropFirst()))
    do throws(SystemError) {
      let place = Paths.join(Paths.directory(of: try Paths.executable()), chaosProgram)
      try CurrentProcess.become(executable: place, name: "bankctl", arguments: arguments)
    } catch {
      throw error.isMissing ? .control(.programMissing(places: [error.subject])) : .system(error)
    }
  }

  static func completions(_ session: Session) throws(CommandError) {
    let shell = session.invocation.operands.text("SHELL").flatMap { CompletionShell(rawValue: $0) } ?? .bash
    session.output.write(
      BankctlTable.table.completionScript(for: shell, language: session.words.textLanguage))
    try session.output.flush()
  }
}
