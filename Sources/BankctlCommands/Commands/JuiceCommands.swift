// `juice menu` and `juice order`: the list of juices, and an order that is awaited.
// Invariant: an unknown name or an unreachable stock is reported before anything is ordered.
// Errors: `CommandError`; exit code 5 for too few ingredients, 1 if a juice is still being made, 75 if the station hung
// or the order was cancelled.
import BankModel
import Posix
import Wire

/// Implementations of `bankctl juice menu` and `bankctl juice order`.
enum JuiceCommands {
  /// Maximum number of juices in one order.
  static let most: Int64 = 1_000

  /// Prints the juices, their ingredients, and which of them can be made now.
  static func menu(_ session: Session) throws(CommandError) {
    let serviceRequests = try StockRequests(session)
    let assortment = try serviceRequests.assortment()
    let picture = try serviceRequests.picture(of: assortment)
    try session.show(.menu(assortment, picture), or: session.menu(assortment, picture).lines)
  }

  /// Orders juices, waits for them, and reports each. Returns the exit code.
  static func order(_ session: Session) throws(CommandError) -> ProgramExit {
    let coordinator = try CoordinatorClient.open(session)
    let assortment = try StockRequests(session, isSeenOpen: true).assortment()
    let juice = try session.juice(named: session.name("NAME"), in: assortment)
    let orderReport = JuiceOrderReport(juice: juice, assortment: assortment, session: session)
    do {
      let wait = try InterruptibleWait()
      // Ends this program if a signal was received.
      defer { wait.end() }
      try order(juice, orderReport, at: coordinator, wait, session)
    }
    return try orderReport.finishOrder()
  }

  /// Issues the tickets of an order and passes each outcome to the report.
  private static func order(
    _ juice: Juice, _ orderReport: JuiceOrderReport, at first: CoordinatorClient, _ wait: InterruptibleWait,
    _ session: Session
  ) throws(CommandError) {
    let seed = RandomSeed.fromSystem()
    var names = OrderIDGenerator(seed: seed)
    let order = EnqueueParameters(
      count: session.invocation.operands.integer("N") ?? 1, service: .juice, priority: .regular, amount: nil,
      account: nil, seed: seed, key: "juice-\(names.next())", itemName: juice.id.name)
    let (tickets, coordinator) = try EnqueueCommand.issue(order, at: first, session)
    let line = JuiceOrderTracker(tickets, at: coordinator, wait, stallTimeout: session.stockTimeout, session)
    try line.run { ticket, outcome throws(CommandError) in
      try orderReport.add(OrderID(day: tickets.day, ticket: ticket), outcome)
    }
  }
}
