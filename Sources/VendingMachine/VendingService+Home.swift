// Owns what the vending machine has in the bank's home: its two sockets, who may come to them, and that they are bound anew
// when one is removed. It must not know what is said on a socket.
// Invariant: the managers' socket is for the bank's owner alone; the customers' may be for the members of a group.

import BankModel
import Logbook
import Posix
import ServiceProcess
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
    ServiceWatch(
      home, sockets: sockets, on: loop, files, of: desk, log: log, now: { [unowned self] in now },
      listen: { [unowned self] path in try listen(at: path, home) }, onLoss: { [unowned self] in loss = $0 })
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
