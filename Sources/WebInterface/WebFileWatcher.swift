// Watch over the web server's files in the home: socket, port file, sessions, secrets, log. `HomeFileTable` lists them.
// Invariant: a lost file is created again from memory if the home still exists, after a delay in which the process that
// removed it can finish.
import BankModel
import Posix
import Time

/// Detects lost files of the web server, and creates them again.
final class WebFileWatcher {
  private let home: WebHome
  /// Functions that create a file again, by its name in the table.
  private let recreations: [String: () throws(SystemError) -> Void]
  /// Watcher of the file names; nil if the kernel cannot watch them.
  private var names: FileIdentityWatcher?
  /// Called with the names of files that were created again, and with failures.
  var onEvent: (_ words: String, _ isRepaired: Bool) -> Void = { _, _ in }

  /// Watches the files of a home.
  ///
  /// - Parameter recreations: functions that create a file again, by its name in the table.
  init(_ home: WebHome, on loop: EventLoop, _ recreations: [String: () throws(SystemError) -> Void]) {
    (self.home, self.recreations) = (home, recreations)
    do throws(SystemError) {
      let names = try FileIdentityWatcher(
        in: [home.path, Paths.directory(of: home.socket), home.logs], on: loop)
      for entry in HomeFileTable.entries(of: .page) {
        names.expect([Paths.join(home.path, entry.path)], entry.kind == .socket ? .same : .any)
      }
      try names.remember()
      self.names = names
    } catch { names = nil }
  }

  /// Time of the next call of `runTimers(_:)`; nil for none.
  var nextDeadline: MonotonicTime? { names?.repairAt }

  /// Creates lost files again if that is due.
  func runTimers(_ now: MonotonicTime) {
    guard let names, let due = names.repairAt, due <= now else { return }
    let lost = names.missingFiles()
    let entries = HomeFileTable.entries(of: .page).filter { lost.contains(Paths.join(home.path, $0.path)) }
    do throws(SystemError) {
      if !entries.isEmpty {
        for directory in [Paths.directory(of: home.socket), home.logs] {
          try Directory.create(path: directory, recursive: false)
        }
      }
      for entry in entries { try recreations[entry.path]?() }
      try names.remember()
    } catch {
      onEvent(error.description, false)
      return names.postpone()
    }
    guard !entries.isEmpty else { return }
    onEvent(entries.map { Paths.lastPart(of: $0.path) }.joined(separator: ", "), true)
  }
}
