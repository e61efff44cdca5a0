// Control groups of the windows with commands or workers: one group of this home below that of the coordinator, and one
// group per window below it. The bank's own processes are in none of them, so a window's group can be killed as a
// whole.
// Invariant: a group is named after the home and the window, so that the next coordinator recognizes it, even if that
// coordinator runs in another group.
// Errors: if this process may not create groups, or the kernel cannot start a process in one, no groups are used. Then
// the marks of processes show to which home and service they belong.

import BankModel
import Posix

package final class WindowControlGroups {
  /// Group of the home, above those of the windows.
  let all: ControlGroup

  /// Creates the group of this home; nil without support on this machine. Call after the groups of earlier coordinators
  /// are empty.
  init?(_ processIdentity: HomeProcessIdentity?) {
    guard let processIdentity, let own = ControlGroup.delegated(),
      let all = try? own.subgroup(processIdentity.group)
    else {
      return nil
    }
    guard all.exists, all.acceptsProcesses else {
      all.remove()
      return nil
    }
    self.all = all
  }

  /// Group of a window, created if missing; nil on failure. A runner creates further groups below it.
  func group(of window: String) -> ControlGroup? {
    // Another process may have removed the empty parent group.
    guard (try? Directory.create(path: all.path, mode: 0o755, recursive: false)) != nil else { return nil }
    return try? all.subgroup(window)
  }
  /// Group of a worker process of a window; nil on failure.
  func group(of window: String, generation: Generation) -> ControlGroup? {
    try? group(of: window)?.subgroup(String(generation))
  }

  /// Kills all processes at a window. Later processes start in another group; see `ControlGroup.kill()`.
  func end(_ window: String) { ControlGroup(path: Paths.join(all.path, window)).kill() }
  func remove(_ window: String) { ControlGroup(path: Paths.join(all.path, window)).remove() }
  /// Removes all groups.
  func removeAll() { all.remove() }

  /// Groups left by earlier coordinators of this home: the one recorded in the marker file, which may have
  /// another parent group, and the one below the present parent group.
  static func leftBehind(by context: BankContext) -> [ControlGroup] {
    guard let processIdentity = context.processIdentity else { return [] }
    var paths: Set<String> = []
    if let own = ControlGroup.delegated() { paths.insert(Paths.join(own.path, processIdentity.group)) }
    if let note = try? FileDescriptor.open(context.home.commandsMarkerFile, .readOnly),
      let bytes = try? note.readAll(limit: 1 << 16)
    {
      let path = String(decoding: bytes, as: UTF8.self)
      // Builds without marks named the group after the database. Any other path is not a group of this home.
      let formerName = "bank-\(context.bankID.prefix.dropLast())"
      if [processIdentity.group, formerName].contains(Paths.lastPart(of: path)) { paths.insert(path) }
    }
    return paths.sorted().map { ControlGroup(path: $0) }.filter(\.exists)
  }
}
