// Owns what a service does when its files are removed while it is at work, as the table of the home says: its sockets are
// bound again, its lock is taken again, its log starts again, its database's log is rescued, its reserve is held back again,
// and without its database it ends. It knows no database: the store does that part.
// Invariant: what is lost for good is told before anything else is promised; what can be made again is made again once
// whoever removes things has had the time to finish, and only in a home that is still there.

import Posix
import Time
import Transport
import Wire

final class ServiceWatch {
  struct Remedies {
    /// The log of the database was removed: what is in it is copied.
    var rescueLog: () -> Void
    /// Begins a new log; false where that has to be tried again.
    var renewLog: () -> Bool
    /// Holds the room back again that was held back in a file that is gone.
    var renewReserve: () -> Void
    /// Takes the lock again whose file is gone; false if another process has the new file.
    var retakeLock: () -> Bool
    /// Begins the log again under its name.
    var restoreLog: () -> Void
    var listen: (_ path: String) throws -> Void
    var end: (Failure) -> Void
    /// Says what was made again, or could not be, in English.
    var note: (_ words: String, _ isRepaired: Bool) -> Void
  }

  private let home: ServiceHome
  private let sockets: [String]
  private let remedies: Remedies
  private var names: NameWatch?
  private var lost: Set<String> = []
  private var owesLog = false
  private var owesLock = false

  /// Takes what is in the home now for what belongs there.
  init(_ home: ServiceHome, sockets: [String], on loop: EventLoop, _ remedies: Remedies) {
    self.home = home
    self.sockets = sockets
    self.remedies = remedies
    do throws(SystemError) {
      let hasLogs = ((try? FileFacts.inspect(home.logs)) ?? nil) != nil
      let names = try NameWatch(in: [home.path, home.run] + (hasLogs ? [home.logs] : []), on: loop)
      names.expect([home.database, home.databaseLog, home.databaseReserve, home.lock] + sockets)
      // The log is rotated by its own rules.
      names.expect([home.log], .any)
      names.onLoss = { [unowned self] in lost.formUnion($0) }
      try names.remember()
      self.names = names
    } catch { remedies.note("the home is not watched: \(error.description)", false) }
  }

  var nextDeadline: MonotonicTime? { names?.repairAt }

  /// Does what is to be done about what was removed. Comes before anything is committed in a turn.
  func keepTime(_ now: MonotonicTime) {
    if !lost.isEmpty { meet(lost) }
    guard let names, let due = names.repairAt, due <= now else { return }
    let missing = names.losses()
    if missing.contains(home.database) { meet([home.database]) }
    do {
      let own = missing.filter(sockets.contains)
      // A home that is gone is not made again.
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
        remedies.note("removed while bank-\(home.name) was at work, and made again: \(words)", true)
      }
    } catch {
      remedies.note("\(error)", false)
      return names.putOff()
    }
    if owesLog || owesLock { names.putOff() }
  }

  private func meet(_ losses: Set<String>) {
    lost.removeAll()
    if losses.contains(home.database) {
      let words = "\(home.database) was removed or renamed while bank-\(home.name) was at work"
      return remedies.end(Failure(.removed, subject: home.database, detail: words))
    }
    if losses.contains(home.databaseLog), !owesLog {
      owesLog = true
      remedies.note("\(home.databaseLog) was removed; it is copied and begun anew", false)
      remedies.rescueLog()
    }
  }
}
