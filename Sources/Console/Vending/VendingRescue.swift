// Owns `vending admin set-aside`: a damaged database of the machine gets another name, and the machine begins anew.
// The machine's own program judges what is damaged, and a file that is whole stays where it is.
// Invariant: nothing is overwritten or thrown away; the file can be put back by its old name.
// Failure: CommandError; exit code 5 where the database is whole or a machine works with it.
import Posix

enum VendingRescue {
  static func run(_ session: Session) throws(CommandError) {
    let launcher = try fromControl(session.surroundings.launcher())
    let program = Paths.join(Paths.directory(of: launcher.program), "bank-vending")
    let stamp = Timestamp.utc(milliseconds: SystemClock.wallMilliseconds()).filter {
      $0.isNumber || $0 == "T"
    }
    let target = Paths.join(session.home.path, "vending.db.damaged-\(stamp)")
    let child = try fromSystem(
      ChildProcess.spawn(
        executable: program, arguments: ["--home", session.home.path, "--set-aside", target],
        environment: Environment.all(), standardOutput: .null))
    switch child.wait().ending {
    case .code(0): break
    case .code(3): throw .complaint("not_damaged", .refused, session.words.machineNotDamaged)
    case .code(4): throw .complaint("vending_running", .refused, session.words.machineAtWork)
    default: throw .failed(session.words.notSetAside)
    }
    try restart(session)
    try session.show(["version": 1, "set_aside": .string(target)], or: [session.words.setAside(target)])
  }

  /// A machine that was given up is tried again by an open bank, which answers when it is there; a closed one starts it
  /// when it opens.
  private static func restart(_ session: Session) throws(CommandError) {
    do throws(CommandError) {
      let coordinator = try CoordinatorClient.open(session)
      let before = try coordinator.status(.status)
      SteeringCommands.tell(before, try coordinator.status(.reload, within: nil), session)
    } catch {
      guard case .control(.notOpen) = error else { throw error }
    }
  }
}
