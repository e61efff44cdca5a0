// Reaction of a running service to the removal of its files, according to `HomeFileTable`: most of them are made again.
// If the database is removed, the service ends.
// Invariant: the loss of the database is reported before the commit of the iteration in which it was noticed. The
// contents of a removed write-ahead log are copied without delay. Other repairs wait until the process that removes
// files has had time to finish; a removed home is not created again.

import Posix
import Time
import Transport
import Wire

final class ServiceFileWatcher {
  /// Actions of the service with which lost files are restored.
  struct RepairActions {
    /// Copies the contents of the database's log after its file was removed.
    var rescueLog: () -> Void
    /// Starts a new log of the database. Returns false if the start has to be retried.
    var renewLog: () -> Bool
    /// Allocates the reserve again after its file was removed.
    var renewReserve: () -> Void
    /// Takes the lock again after its file was removed. Returns false to be called again later.
    var retakeLock: () -> Bool
    /// Reopens the service's log under its name.
    var restoreLog: () -> Void
    /// Binds the socket with this path again.
    var listen: (_ path: String) throws -> Void
    /// Ends the service, because its database was removed.
    var end: (Failure) -> Void
    /// Logs a loss, a repair, a failed repair or a failed watch, in English.
    var note: (_ event: StaticString, _ words: String) -> Void
  }

  private let home: ServiceHome
  private let sockets: [String]
  private let repairActions: RepairActions
  private var names: FileIdentityWatcher?
  /// Paths that were reported as lost and not handled yet.
  private var lost: Set<String> = []
  private var needsLogRepair = false
  private var needsLockRepair = false

  /// Starts to watch. The files of the service that exist now are expected to remain.
  init(_ home: ServiceHome, sockets: [String], on loop: EventLoop, _ repairActions: RepairActions) {
    self.home = home
    self.sockets = sockets
    self.repairActions = repairActions
    do throws(SystemError) {
      let hasLogs = ((try? FileMetadata.inspect(home.logs)) ?? nil) != nil
      let names = try FileIdentityWatcher(in: [home.path, home.run] + (hasLogs ? [home.logs] : []), on: loop)
      names.expect([home.database, home.databaseLog, home.databaseReserve, home.lock] + sockets)
      // Log rotation renames this file.
      names.expect([home.log], .any)
      names.onMissingFiles = { [unowned self] in lost.formUnion($0) }
      try names.remember()
      self.names = names
    } catch { repairActions.note("home_watch_failed", error.description) }
  }

  var nextDeadline: MonotonicTime? { names?.repairAt }

  /// Handles removed files. Call it before anything is committed in an iteration.
  func runTimers(_ now: MonotonicTime) {
    if !lost.isEmpty { handle(lost) }
    guard let names, let due = names.repairAt, due <= now else { return }
    let missing = names.missingFiles()
    if missing.contains(home.database) { handle([home.database]) }
    do {
      let own = missing.filter(sockets.contains)
      // A removed home directory is not created again.
      if !own.isEmpty { try Directory.create(path: home.run, recursive: false) }
      for socket in own { try repairActions.listen(socket) }
      if missing.contains(home.databaseReserve) { repairActions.renewReserve() }
      if missing.contains(home.log) {
        try Directory.create(path: home.logs, recursive: false)
        repairActions.restoreLog()
      }
      if missing.contains(home.lock) || needsLockRepair { needsLockRepair = !repairActions.retakeLock() }
      if needsLogRepair { needsLogRepair = !repairActions.renewLog() }
      try names.remember()
      if !missing.isEmpty {
        let message = missing.map(Paths.lastPart(of:)).joined(separator: ", ")
        repairActions.note(
          "home_repaired", "removed while bank-\(home.name) was running, and created again: \(message)")
      }
    } catch {
      repairActions.note("home_repair_failed", "\(error)")
      return names.postpone()
    }
    if needsLogRepair || needsLockRepair { names.postpone() }
  }

  /// Reacts to the loss of the database or of its write-ahead log.
  private func handle(_ missingFiles: Set<String>) {
    lost.removeAll()
    if missingFiles.contains(home.database) {
      let message = "\(home.database) was removed or renamed while bank-\(home.name) was running"
      return repairActions.end(Failure(.removed, subject: home.database, detail: message))
    }
    if missingFiles.contains(home.databaseLog), !needsLogRepair {
      needsLogRepair = true
      repairActions.note("wal_removed", "\(home.databaseLog) was removed; it is copied and restarted")
      repairActions.rescueLog()
    }
  }
}
