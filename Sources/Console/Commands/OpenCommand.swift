// Owns `open`: one business day in the foreground.
// Invariant: the same seed lets the same customers come.
import Arguments
import BankModel
import Posix
import Wire

enum OpenCommand {
  /// How many customers come where nobody says.
  private static let crowd: ClosedRange<Int64> = 10...30

  static func run(_ session: Session) throws(CommandError) -> ProgramExit {
    let seed = session.invocation.integer("seed").map { UInt64(bitPattern: $0) } ?? RandomSeed.fromSystem()
    return try BranchDay.run(
      session, customers: customers(session.invocation.integer("customers"), seed: seed))
  }

  static func customers(_ count: Int64?, seed: UInt64) -> EnqueueOrder {
    var chance = SeededGenerator(seed: seed)
    let drawn = chance.draw(crowd)
    return EnqueueOrder(
      count: count ?? drawn, service: nil, grade: .regular, amount: nil, account: nil, seed: chance.next(),
      key: nil)
  }
}
