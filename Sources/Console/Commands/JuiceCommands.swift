// `juice menu` and `juice order`: the list of juices, and an order that is awaited.
// Invariant: an unknown name or an unreachable stock is reported before anything is ordered. Every order is
// reported as made, short of ingredients, cancelled or unfinished.
// Errors: `CommandError`; exit code 5 for too few ingredients, 75 if the station hung.
import BankModel
import Posix
import Wire

enum JuiceCommands {
  static let most: Int64 = 1_000

  static func menu(_ session: Session) throws(CommandError) {
    let counter = try StockRequests(session)
    let assortment = try counter.assortment()
    let picture = try counter.picture(of: assortment)
    try session.show(.menu(assortment, picture), or: session.menu(assortment, picture).lines)
  }

  static func order(_ session: Session) throws(CommandError) -> ProgramExit {
    let coordinator = try CoordinatorClient.open(session)
    let assortment = try StockRequests(session, isSeenOpen: true).assortment()
    let juice = try session.juice(named: session.name("NAME"), in: assortment)
    let bill = JuiceBill(juice: juice, assortment: assortment, session: session)
    do {
      let wait = try InterruptibleWait()
      // Ends this program if a signal was received. All orders were cancelled before this point.
      defer { wait.end() }
      try order(juice, bill, at: coordinator, wait, session)
    }
    return try bill.settle()
  }

  private static func order(
    _ juice: Juice, _ bill: JuiceBill, at first: CoordinatorClient, _ wait: InterruptibleWait,
    _ session: Session
  ) throws(CommandError) {
    let seed = RandomSeed.fromSystem()
    var names = OrderNames(seed: seed)
    let order = EnqueueOrder(
      count: session.invocation.operands.integer("N") ?? 1, service: .juice, priority: .regular, amount: nil,
      account: nil, seed: seed, key: "juice-\(names.next())", article: juice.id.name)
    let (tickets, coordinator) = try EnqueueCommand.issue(order, at: first, session)
    let line = JuiceLine(tickets, at: coordinator, wait, patience: session.stockPatience, session)
    try line.run { ticket, fate throws(CommandError) in
      try bill.add(OrderID(day: tickets.day, ticket: ticket), fate)
    }
  }
}
