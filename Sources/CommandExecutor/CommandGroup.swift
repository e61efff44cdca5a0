// Control group in which the next command of a window starts.
// Invariant: no command starts in a group that was killed; see `ControlGroup.kill()`. Commands share a group until it
// is killed.
// Errors: if no group can be made, commands start in none, and their trees are ended by searching for the processes.
import Posix

/// Source of the control groups (cgroups) in which the commands of one window start.
struct CommandGroup {
  private var window: ControlGroup?
  /// Group in which commands start; nil if there is none.
  private var current: ControlGroup?
  /// Number in the name of the last group.
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
