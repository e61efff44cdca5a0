// Owns what the vending machine has in the bank's home: its two sockets, who may come to them, and what is done when one of
// its files is removed. It must not know what is said on a socket.
// Invariant: the managers' socket is for the bank's owner alone; the customers' may be for the members of a group.

import BankModel
import Logbook
import Posix
import QueueCore
import Storage
import Transport
import Wire

extension VendingService {
  func listen(at path: String, _ home: ServiceHome) throws {
    let socket = path == home.socket ? customers : managers
    socket.stopListening()
    try socket.listen(at: path)
    if socket === customers, let group = shelf.table.customersGroup { try share(home, with: group) }
  }

  func watch(over home: ServiceHome, _ sockets: [String], _ files: DatabaseFiles) -> ServiceWatch {
    let remedies = ServiceWatch.Remedies(
      rescueLog: { [unowned self] in
        do throws(StoreError) { try files.logIsLost() } catch { desk.end(because: error) }
      },
      renewLog: { [unowned self] in
        desk.commit(at: now)
        do throws(StoreError) { return try files.renewLog() } catch {
          desk.end(because: error)
          return true
        }
      },
      renewReserve: { [unowned self] in
        files.renewReserve()
        desk.noteRoom(at: now)
      },
      listen: { [unowned self] path in try listen(at: path, home) },
      end: { [unowned self] failure in
        files.abandon()
        loss = failure
        desk.end(
          because: .failed(path: failure.subject, detail: failure.remark ?? Remark(quoting: failure.detail)))
      },
      note: { [unowned self] words, isRepaired in
        log.write(event: isRepaired ? "home_repaired" : "home_lost", level: .warn, at: now) {
          $0.field("msg", words)
        }
      })
    return ServiceWatch(home, sockets: sockets, on: loop, remedies)
  }

  /// The customers' socket, and the way to it, for the members of a group; nothing else is opened to them.
  private func share(_ home: ServiceHome, with name: String) throws {
    do throws(SystemError) {
      let group = try Sharing.group(named: name)
      for directory in [home.path, home.run] { try Sharing.share(directory, with: group, mode: 0o710) }
      try Sharing.share(home.socket, with: group, mode: 0o660)
    } catch {
      throw Failure(.badConfiguration, subject: "customers_group", detail: error.description)
    }
  }
}
