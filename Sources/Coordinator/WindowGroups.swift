// Owns the control groups of the windows at which commands or workers are: one group of this bank below that of the coordinator,
// and one a window below it. The processes of the bank itself are in none of them, so a window's group can be ended as a whole.
// Invariant: a group has the name of the books and of the window, so that the next coordinator knows it again, wherever that
// runs; and nobody is handed out while somebody is left in a group of before.
// Failure: where systemd has handed over no group, or the kernel starts no process in one, there are none, and a tree is ended
// by looking for it.

import BankModel
import Posix

package final class WindowGroups {
  /// Everybody's.
  let all: ControlGroup

  /// The groups of this bank; nil where this machine has none for it. When nobody is left of those of before.
  init?(_ context: BankContext) {
    guard let own = ControlGroup.delegated(), let all = try? own.made(Self.name(in: context)) else {
      return nil
    }
    guard all.takesProcesses else {
      all.remove()
      return nil
    }
    self.all = all
    context.write(event: "groups") { $0.field("path", all.path) }
  }

  private static func name(in context: BankContext) -> String {
    "bank-\(context.booksName.prefix.dropLast())"
  }

  /// The group of a window, which is made where it is missing; nil where it cannot be. A runner makes others below it.
  func group(of window: String) -> ControlGroup? { try? all.made(window) }
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

  /// The groups of former coordinators of these books: of the one that has noted where it was, which may have been elsewhere, and
  /// what is here.
  static func leftBehind(by context: BankContext) -> [ControlGroup] {
    let name = name(in: context)
    var paths: Set<String> = []
    if let own = ControlGroup.delegated() { paths.insert(Paths.join(own.path, name)) }
    if let note = try? FileDescriptor.open(context.home.commandsNote, .readOnly),
      let bytes = try? note.readAll(limit: 1 << 16)
    {
      let path = String(decoding: bytes, as: UTF8.self)
      // Whatever else stands there is no group of this bank.
      if Paths.lastPart(of: path) == name { paths.insert(path) }
    }
    return paths.sorted().map { ControlGroup(path: $0) }.filter(\.isThere)
  }
}
