// Owns `logs` until the reading of logs is there.
enum LogsCommand {
  static func run(_ session: Session) throws(CommandError) -> ProgramExit { .failed }
}
