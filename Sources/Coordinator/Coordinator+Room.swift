// Owns what happens while the disk is nearly full: the queue is told when the store lives on its reserve and when there
// is room again. It measures nothing: the store does. Invariant: while the store is short it is asked again every
// second, and otherwise never, so that an idle bank sleeps.

import BankModel
import Logbook
import Posix
import QueueCore
import Wire

extension Coordinator {
  /// How long a store that is short of room is left alone before it looks again.
  private static let roomPause = TimeSpan.seconds(1)

  /// Tells the queue what the store has found.
  func noteRoom() {
    let isShort = store.isShort
    lookForRoomAt = isShort ? now.monotonic + Self.roomPause : nil
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

  /// A while has passed since the store was short.
  func lookForRoom() {
    store.lookForRoom()
    noteRoom()
  }
}
