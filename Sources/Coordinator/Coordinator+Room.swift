// Owns what happens while the disk is nearly full: the queue is told when the store lives on its reserve and when there
// is room again. It measures nothing: the store does. Invariant: while the store is short it is asked again every
// second, and otherwise never, so that an idle bank sleeps.

import BankModel
import Logbook
import Posix
import QueueCore
import Wire

extension Coordinator {
  /// Tells the queue what the store has found.
  func noteRoom() {
    let isShort = store.isShort
    room.note(isShort: isShort, at: now.monotonic)
    guard isShort != machine.isShort else { return }
    log.write(event: isShort ? "disk_short" : "disk_room", level: isShort ? .error : .info, at: now) {
      $0.field(
        "msg",
        isShort
          ? "the reserve is in use: no new customers, those who are here are served"
          : "there is room again: new customers can come")
    }
    machine.apply(.roomChanged(isShort: isShort), at: now, into: &effects)
    perform()
  }

  /// Looks whether there is room again, where a store that is short has been left alone long enough.
  func lookForRoomIfDue() {
    guard room.takeDue(at: now.monotonic) else { return }
    store.lookForRoom()
    noteRoom()
  }
}
