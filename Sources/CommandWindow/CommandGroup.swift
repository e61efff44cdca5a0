// Owns in which group of processes the next command of a window begins. Invariant: none begins in a group that was ended: see
// `ControlGroup.kill()`. Those that end by themselves, which are nearly all, share one, so nothing is paid for a command.
// Failure: where no group can be made commands begin in none, and their trees are ended by looking for them.
import Posix

struct CommandGroup {
  /// The window's.
  private var window: ControlGroup?
  private var present: ControlGroup?
  /// How many were made; with the number of this process it tells them from those of others at the window.
  private var made = 0

  init(below window: ControlGroup?) { self.window = window }

  /// The group of the next command; nil for none.
  mutating func forNext() -> ControlGroup? {
    guard let window else { return nil }
    if let present { return present }
    made += 1
    present = try? window.made("\(CurrentProcess.pid)-\(made)")
    return present
  }

  /// The present group was ended.
  mutating func leave() {
    present?.remove()
    present = nil
  }
}
