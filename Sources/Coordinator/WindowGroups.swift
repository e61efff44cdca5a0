// Control groups of the windows at which commands or workers are: one group of this home below that of the coordinator, and one
// a window below it. The processes of the bank itself are in none of them, so a window's group can be ended as a whole.
// Invariant: a group has the name of the home and of the window, so that the next coordinator recognizes it, wherever that runs;
// no customer is assigned while a process is left in a former group.
// Failure: where this process may make no group, or the kernel starts no process in one, there are none; then the marks of the
// processes alone tell what belongs to a tree.

import BankModel
import Posix

package final class WindowGroups {
  /// The group of the home, above those of the windows.
  let all: ControlGroup

  /// The groups of this home; nil where this machine has none for it. After those of former coordinators are empty.
  init?(_ lineage: Lineage?) {
    guard let lineage, let own = ControlGroup.divisible(), let all = try? own.made(lineage.group) else {
      return nil
    }
    guard all.isThere, all.takesProcesses else {
      all.remove()
      return nil
    }
    self.all = all
  }

  /// The group of a window, which is made where it is missing; nil where it cannot be. A runner makes others below it.
  func group(of window: String) -> ControlGroup? {
    // The group above may have been removed as empty by another hand.
    guard (try? Directory.create(path: all.path, mode: 0o755, recursive: false)) != nil else { return nil }
    return try? all.made(window)
  }
  /// Another group of a window, for a worker that begins; nil where it cannot be made.
  func group(of window: String, generation: Generation) -> ControlGroup? {
    try? group(of: window)?.made(String(generation))
  }

  /// Ends everybody who is at a window, in one call of the kernel. Whoever comes next begins in another group: see
  /// `ControlGroup.kill()`.
  func end(_ window: String) { ControlGroup(path: Paths.join(all.path, window)).kill() }
  /// A window is closed.
  func remove(_ window: String) { ControlGroup(path: Paths.join(all.path, window)).remove() }
  /// The bank has closed.
  func removeAll() { all.remove() }

  /// The groups of former coordinators of this home: of the one that has noted where it was, which may have been elsewhere, and
  /// what is here.
  static func leftBehind(by context: BankContext) -> [ControlGroup] {
    guard let lineage = context.lineage else { return [] }
    var paths: Set<String> = []
    if let own = ControlGroup.divisible() { paths.insert(Paths.join(own.path, lineage.group)) }
    if let note = try? FileDescriptor.open(context.home.commandsNote, .readOnly),
      let bytes = try? note.readAll(limit: 1 << 16)
    {
      let path = String(decoding: bytes, as: UTF8.self)
      // A program from before marks named the group after the books. Anything else there is no group of this home.
      let formerName = "bank-\(context.booksName.prefix.dropLast())"
      if [lineage.group, formerName].contains(Paths.lastPart(of: path)) { paths.insert(path) }
    }
    return paths.sorted().map { ControlGroup(path: $0) }.filter(\.isThere)
  }
}
