// Owns `chaos`, for which this program becomes another one: to kill processes at random and to compare books is no part of
// what everybody runs. It must not know what that one does.
import Posix

enum ChaosCommand {
  static let program = "bank-chaos"

  /// Becomes the program, with every word of the line that does not name the command.
  static func run(_ session: Session) throws(CommandError) {
    let arguments = BankctlTable.table.withoutCommand(Array(CommandLine.arguments.dropFirst()))
    do throws(SystemError) {
      let place = Paths.join(Paths.directory(of: try Paths.executable()), program)
      try CurrentProcess.become(executable: place, name: "bankctl", arguments: arguments)
    } catch {
      throw error.isMissing ? .control(.programMissing(places: [error.subject])) : .system(error)
    }
  }
}
