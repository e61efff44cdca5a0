// Commands without a bank: `chaos` and `completions`. `chaos` executes another program, because code that
// kills processes at random does not belong in bankctl. `completions` prints a script made from the table
// that parses the command line.
import Arguments
import Posix

/// Implementations of `bankctl chaos` and `bankctl completions`.
enum ProgramCommands {
  /// File name of the program that `chaos` executes.
  static let chaosProgram = "bank-chaos"

  /// Replaces this process by the chaos program, with all arguments except the name of the command.
  static func chaos(_ session: Session) throws(CommandError) {
    let arguments = BankctlTable.table.withoutCommand(Array(CurrentProcess.arguments.dropFirst()))
    do throws(SystemError) {
      let place = Paths.join(Paths.directory(of: try Paths.executable()), chaosProgram)
      try CurrentProcess.become(executable: place, name: "bankctl", arguments: arguments)
    } catch {
      throw error.isMissing ? .control(.programMissing(places: [error.subject])) : .system(error)
    }
  }

  /// Prints the completion script of a shell.
  static func completions(_ session: Session) throws(CommandError) {
    let shell = session.invocation.operands.text("SHELL").flatMap { CompletionShell(rawValue: $0) } ?? .bash
    session.output.write(
      BankctlTable.table.completionScript(for: shell, language: session.messages.textLanguage))
    try session.output.flush()
  }
}
