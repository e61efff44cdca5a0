// Owns what a service with a database does when one of its files is removed: the log is copied and begun anew, the reserve
// is held back again, and without its database the service ends. It knows no service.

import BankModel
import Logbook
import Posix
import QueueCore
import Storage
import Transport
import Wire

extension ServiceWatch {
  /// Watches over the files of a service at work.
  ///
  /// - Parameters:
  ///   - now: the present moment of the service's turn.
  ///   - listen: binds one of the sockets anew.
  ///   - onLoss: the database is gone, and nothing is done any more.
  public convenience init(
    _ home: ServiceHome, sockets: [String], on loop: EventLoop, _ files: DatabaseFiles,
    of desk: some ServiceDesk,
    log: LogFile, now: @escaping () -> Moment, listen: @escaping (_ path: String) throws -> Void,
    onLoss: @escaping (Failure) -> Void
  ) {
    let remedies = Remedies(
      rescueLog: {
        do throws(StoreError) { try files.logIsLost() } catch { desk.end(because: error) }
      },
      renewLog: {
        desk.commit(at: now())
        do throws(StoreError) { return try files.renewLog() } catch {
          desk.end(because: error)
          return true
        }
      },
      renewReserve: {
        files.renewReserve()
        desk.noteRoom(at: now())
      },
      listen: listen,
      end: { failure in
        files.abandon()
        onLoss(failure)
        desk.end(
          because: .failed(path: failure.subject, detail: failure.remark ?? Remark(quoting: failure.detail)))
      },
      note: { words, isRepaired in
        log.write(event: isRepaired ? "home_repaired" : "home_lost", level: .warn, at: now()) {
          $0.field("msg", words)
        }
      })
    self.init(home, sockets: sockets, on: loop, remedies)
  }
}
