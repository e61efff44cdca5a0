// Owns `completions`: the script that teaches a shell this program's words.
// Invariant: the script is made from the table that parses.
import Arguments

enum CompletionsCommand {
  static func run(_ session: Session) throws(CommandError) {
    let shell = session.invocation.operands.text("SHELL").flatMap { CompletionShell(rawValue: $0) } ?? .bash
    session.output.write(
      BankctlTable.table.completionScript(for: shell, language: session.words.textLanguage))
    try session.output.flush()
  }
}
