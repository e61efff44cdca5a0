// Control group in which the next command of a window starts.
// Invariant: no command starts in a group that was killed; see `ControlGroup.kill()`. Nearly all commands exit by
// themselves and share one group, so a group costs nothing per command.
// Errors: if no group can be made, commands start in none, and their trees are ended by searching for the processes.
import Posix

/// Source of the control groups (cgroups) in which the commands of one window start.
struct CommandGroup {
  /// Group of the window.
  private var window: ControlGroup?
  /// Group in which commands start now; nil before the first command, and after a kill.
  private var current: ControlGroup?
  /// Number of groups made; together with the process id it makes their names unique at the window.
  private var made = 0

  /// Groups for commands are made below that of the window; nil if commands start in none.
  init(below window: ControlGroup?) { self.window = window }

  /// The group in which the next command starts, created if there is none; nil to start it in no group of its own.
  mutating func groupForNext() -> ControlGroup? {
    guard let window else { return nil }
    if let current { return current }
    made += 1
    current = try? window.subgroup("\(CurrentProcess.pid)-\(made)")
    return current
  }

  /// Removes the current group after it was killed. The next command gets a new group.
  mutating func dropCurrent() {
    current?.remove()
    current = nil
  }
}
