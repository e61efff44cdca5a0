// Owns how a client looks at the board: it asks for it, reads what comes, and now and then wants no more. It must not judge the
// pictures: whoever hears them on the wire does.
// Invariant: whether and when it looks is drawn apart from everything else that it wants.
import BankModel
import Wire

extension SimulatedClient {
  /// Begins to look at the board, or ends it, in a history in which clients do.
  func lookAtTheBoard() {
    guard world.plan.looksAtTheBoard, world.boardChance.draw(0...3) == 0 else { return }
    if let place = outstanding.lastIndex(where: \.wish.isOfTheBoard) {
      if world.boardChance.draw(0...2) == 0 { withdraw(at: place) }
    } else if !wasToldOfTheEnd {
      ask(Wish(command: .board))
    }
  }

  func hear(_ frame: BoardFrame) { world.statistics.boards += 1 }
}

extension SimulatedClient.Wish {
  var isOfTheBoard: Bool { if case .board = command { true } else { false } }
}
