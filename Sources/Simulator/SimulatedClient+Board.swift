// A client's use of snapshots: it subscribes to them, reads them, and sometimes unsubscribes. The snapshots are checked
// where they are written to the wire.
// Invariant: these choices draw from a generator of their own.
import BankModel
import Wire

extension SimulatedClient {
  /// Sometimes subscribes to snapshots, or unsubscribes, in a history whose clients use snapshots.
  func toggleBoardSubscription() {
    guard world.plan.subscribesToBoard, world.boardChance.draw(0...3) == 0 else { return }
    if let index = outstanding.lastIndex(where: \.wish.isBoardSubscription) {
      if world.boardChance.draw(0...2) == 0 { withdraw(at: index) }
    } else if !wasNotifiedOfClose {
      ask(PlannedRequest(command: .board))
    }
  }

  func handle(_ frame: BoardFrame) { world.statistics.boards += 1 }
}

extension SimulatedClient.PlannedRequest {
  var isBoardSubscription: Bool { if case .board = command { true } else { false } }
}
