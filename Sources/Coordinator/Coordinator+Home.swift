// Owns what is done when somebody removes the bank's files while it is open: what can be made again is made again, and
// without its database a bank ends at once, because nothing that it promised from then on would be kept.
// It knows no queue. It never closes the store of a home that is gone: by then the same names can belong to another bank.

import BankModel
import Glibc
import Logbook
import Posix

extension Coordinator {
  /// Looks after the home when something in it was removed.
  func keepHome() {
    guard let watch = homeWatch, let due = watch.checkAt, due <= now.monotonic else { return }
    let losses = watch.losses()
    guard !losses.isEmpty else { return }
    if losses.contains(.database) { homeIsGone() }
    do throws(SystemError) {
      try Directory.create(path: home.run)
      if losses.contains(.lock) { onLockLost?() }
      if losses.contains(.socket) {
        server.stopListening()
        try server.listen(at: home.socket)
      }
      try watch.remember()
      log.write(event: "home_repaired", level: .warn, at: now) {
        $0.field(
          "msg", losses.contains(.socket) ? "the control socket was removed" : "the lock file was removed")
      }
    } catch {
      log.write(event: "home_not_repaired", level: .error, at: now) { $0.field("msg", error.description) }
    }
  }

  private func homeIsGone() -> Never {
    let words = "the database \(home.database) was removed or renamed while the bank was open"
    log.write(event: "home_lost", level: .error, at: now) { $0.field("msg", words) }
    log.flush()
    // Its guardian shall not open a new bank in the place of the one that somebody has removed.
    guardianship?.lost()
    _ = try? StandardStreams.write("bankd: \(words)\n", to: .error)
    exit(1)
  }
}
