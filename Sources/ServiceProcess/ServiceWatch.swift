// Reaction of a running service to the removal of its files, according to ``HomeTable``. Sockets are bound again, the
// lock is taken again, the log is reopened, the database's log is rescued, and the reserve is allocated again. If the
// database is removed, the service ends.
// Invariant: the loss of the database is reported before the commit of the iteration in which it was noticed. The
// contents of a removed write-ahead log are copied at once. All other repairs wait until the process that removes
// files has had time to finish; a removed home is not created again.

import Posix
import Time
import Transport
import Wire

final class ServiceWatch {
  struct Remedies {
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
    var listen: (_ path: String) throws -> Void
    var end: (Failure) -> Void
    /// Logs a loss, a repair, a failed repair or a failed watch, in English.
    var note: (_ event: StaticString, _ words: String) -> Void
  }

  private let home: ServiceHome
  private let sockets: [String]
  private let remedies: Remedies
  private var names: NameWatch?
  private var lost: Set<String> = []
  private var owesLog = false
  private var owesLock = false

  /// Starts to watch. The files of the service that exist now are expected to remain.
  init(_ home: ServiceHome, sockets: [String], on loop: EventLoop, _ remedies: Remedies) {
    self.home = home
    self.sockets = sockets
    self.remedies = remedies
    do throws(SystemError) {
      let hasLogs = ((try? FileFacts.inspect(home.logs)) ?? nil) != nil
      let names = try NameWatch(in: [home.path, home.run] + (hasLogs ? [home.logs] : []), on: loop)
      names.expect([home.database, home.databaseLog, home.databaseReserve, home.lock] + sockets)
      // Log rotation renames this file regularly.
      names.expect([home.log], .any)
      names.onLoss = { [unowned self] in lost.formUnion($0) }
      try names.remember()
      self.names = names
    } catch { remedies.note("home_watch_failed", error.description) }
  }

  var nextDeadline: MonotonicTime? { names?.repairAt }

  /// Handles removed files. Call it before anything is committed in an iteration.
  func keepTime(_ now: MonotonicTime) {
    if !lost.isEmpty { meet(lost) }
    guard let names, let due = names.repairAt, due <= now else { return }
    let missing = names.losses()
    if missing.contains(home.database) { meet([home.database]) }
    do {
      let own = missing.filter(sockets.contains)
      // A removed home directory is not created again.
      if !own.isEmpty { try Directory.create(path: home.run, recursive: false) }
      for socket in own { try remedies.listen(socket) }
      if missing.contains(home.databaseReserve) { remedies.renewReserve() }
      if missing.contains(home.log) {
        try Directory.create(path: home.logs, recursive: false)
        remedies.restoreLog()
      }
      if missing.contains(home.lock) || owesLock { owesLock = !remedies.retakeLock() }
      if owesLog { owesLog = !remedies.renewLog() }
      try names.remember()
      if !missing.isEmpty {
        let words = missing.map(Paths.lastPart(of:)).joined(separator: ", ")
        remedies.note(
          "home_repaired", "removed while bank-\(home.name) was running, and created again: \(words)")
      }
    } catch {
      remedies.note("home_repair_failed", "\(error)")
      return names.putOff()
    }
    if owesLog || owesLock { names.putOff() }
  }

  private func meet(_ losses: Set<String>) {
    lost.removeAll()
    if losses.contains(home.database) {
      let words = "\(home.database) was removed or renamed while bank-\(home.name) was running"
      return remedies.end(Failure(.removed, subject: home.database, detail: words))
    }
    if losses.contains(home.databaseLog), !owesLog {
      owesLog = true
      remedies.note("wal_removed", "\(home.databaseLog) was removed; it is copied and restarted")
      remedies.rescueLog()
    }
  }
}
