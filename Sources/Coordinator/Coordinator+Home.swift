// Owns what is done when somebody removes the bank's files while it is open: what can be made again is made again, and
// without its database a bank ends at once, because nothing that it promised from then on would be kept.
// A log without a name is copied at once and begun anew a moment later; see `DatabaseFiles`.
// It knows no queue. It never closes the store of a home that is gone: by then the same names can belong to another bank.

import BankModel
import Glibc
import Logbook
import Posix
import QueueCore
import Storage
import Wire

extension Coordinator {
  /// How long a bank without its database stays to say so. Whoever removes a whole home has time to finish, and no guardian
  /// opens another bank in its place meanwhile.
  private static let farewell = Duration.milliseconds(500)

  /// Begins to watch over the home.
  func watchHome() {
    do throws(SystemError) {
      let watch = try HomeWatch(home, on: loop)
      watch.onLoss = { [unowned self] losses in freshLosses += losses }
      homeWatch = watch
    } catch {
      log.write(event: "home_unwatched", level: .warn, at: now) { $0.field("msg", error.description) }
    }
  }

  /// Does at once what cannot wait, before anything else is promised.
  func meetLosses() {
    let losses = freshLosses
    freshLosses.removeAll()
    if losses.contains(.database) { homeIsGone() }
    if losses.contains(.log), !owed.contains(.log) { rescueLog() }
  }

  /// Makes good what is missing, when whoever has removed it has had the time to finish.
  func keepHome() {
    guard let watch = homeWatch, let due = watch.repairAt, due <= now.monotonic else { return }
    let losses = watch.losses()
    if losses.contains(.database) { homeIsGone() }
    do throws(SystemError) {
      for directory in [home.run, home.logs] { try Directory.create(path: directory, recursive: false) }
      if losses.contains(.socket) {
        server.stopListening()
        try server.listen(at: home.socket)
      }
    } catch {
      noteTrouble(error.description)
      return watch.putOff()
    }
    if losses.contains(.notes) { keepNotes() }
    if losses.contains(.reserve) { onReserveLost?() }
    if losses.contains(.logs) || losses.contains(.standardError) { onLogsLost?() }
    log.restore()
    let lost = owed.union(losses)
    if lost.contains(.lock) {
      let isNews = !owed.contains(.lock)
      owe(.lock, unless: onLockLost?() ?? true)
      if isNews, owed.contains(.lock) { noteTrouble("another process has the new lock file") }
    }
    if owed.contains(.log) { owe(.log, unless: renewLog()) }
    do throws(SystemError) { try watch.remember() } catch { noteTrouble(error.description) }
    if !owed.isEmpty { watch.putOff() }
    let mended = HomeWatch.Loss.allCases.filter { lost.contains($0) && !owed.contains($0) }
    guard !mended.isEmpty else { return }
    let names = mended.flatMap { HomeWatch.paths(of: $0, home) }.map(Paths.lastPart(of:))
    log.write(event: "home_repaired", level: .warn, at: now) {
      $0.field("msg", "removed while the bank was open, and made again: \(names.joined(separator: ", "))")
    }
  }

  /// What cannot be made good at once is tried again, whatever has its name by then.
  private func owe(_ loss: HomeWatch.Loss, unless isMended: Bool) {
    if isMended { owed.remove(loss) } else { owed.insert(loss) }
  }

  /// The log of the database has lost its name: what was promised is copied to where the next coordinator finds it.
  private func rescueLog() {
    owed.insert(.log)
    log.write(event: "log_lost", level: .error, at: now) {
      $0.field(
        "msg", "the log \(home.database)-wal was removed while the bank was open; it is copied and begun anew"
      )
    }
    do throws(StoreError) { try files?.logIsLost() } catch { storeFailed(error) }
  }

  /// Begins a new log; false where it has to be tried again.
  private func renewLog() -> Bool {
    guard let files, retryAt == nil else { return false }
    if store.hasStagedChanges { commit() }
    guard retryAt == nil else { return false }
    do throws(StoreError) { return try files.renewLog() } catch {
      storeFailed(error)
      return false
    }
  }

  private func noteTrouble(_ words: String) {
    log.write(event: "home_not_repaired", level: .error, at: now) { $0.field("msg", words) }
  }

  /// Nothing is promised any more. Whoever asks is told why, and then the process ends.
  private func homeIsGone() -> Never {
    let words = "the database \(home.database) was removed or renamed while the bank was open"
    log.write(event: "home_lost", level: .error, at: now) { $0.field("msg", words) }
    log.flush()
    _ = try? StandardStreams.write("bankd: \(words)\n", to: .error)
    files?.abandon()
    // Nobody is served any more, and nothing that a worker says is kept.
    staff.onEvent = { _, _, _ in }
    staff.closeAll()
    staff.killAll()
    house.closeAll(at: now)
    house.killAll()
    let failure = Failure(.removed, subject: home.database, detail: words)
    server.onCommand = { [server] session, request in
      server.answer(session, request.number, .failure(failure))
    }
    server.onEnd = { _ in }
    let until = SystemClock.monotonic() + Self.farewell
    while SystemClock.monotonic() < until, (try? loop.runOnce(until: until)) != nil { server.flush() }
    server.close(saying: failure)
    // Its guardian shall not open a new bank in the place of the one that somebody has removed.
    guardianship?.lost()
    exit(1)
  }
}
