// Owns which command is behind which words.
// Invariant: every command of the table is here; a test says so.
// Failure: a complaint for words that are in the table and not here.

package enum Commands {
  typealias Command = (Session) throws(CommandError) -> ProgramExit

  static func command(named name: String) -> Command? {
    switch name {
    case "open": OpenCommand.run
    case "console": ConsoleCommand.run
    case "start": StartCommand.run
    case "stop": StopCommand.run
    case "status": StatusCommand.run
    case "wait": WaitCommand.run
    case "pause": PauseCommand.pause
    case "resume": PauseCommand.resume
    case "scale": ScaleCommand.run
    case "reset": ResetCommand.run
    case "reload": ReloadCommand.run
    case "enqueue": EnqueueCommand.run
    case "tickets": TicketsCommand.run
    case "ticket": TicketCommand.run
    case "receipts": ReceiptsCommand.run
    case "cancel": CancelCommand.run
    case "requeue": RequeueCommand.run
    case "juice menu": JuiceMenuCommand.run
    case "juice order": JuiceOrderCommand.run
    case "stock": StockCommands.show
    case "stock set": StockCommands.set
    case "stock add": StockCommands.add
    case "stock watch": StockWatchCommand.run
    case "stock edit": StockCommands.edit
    case "vending": VendingCommands.show
    case "vending insert": VendingCommands.insert
    case "vending buy": VendingCommands.buy
    case "vending balance": VendingCommands.balance
    case "vending return": VendingCommands.giveChange
    case "vending history": VendingCommands.history
    case "vending buyable": VendingCommands.buyable
    case "vending hot": VendingCommands.hot
    case "vending admin add": VendingAdminCommands.add
    case "vending admin remove": VendingAdminCommands.remove
    case "vending admin stock": VendingAdminCommands.stock
    case "vending admin expired": VendingAdminCommands.expired
    case "vending admin discard-expired": VendingAdminCommands.discardExpired
    case "vending admin set-aside": VendingRescue.run
    case "logs": LogsCommand.run
    case "audit": AuditCommand.run
    case "chaos": ChaosCommand.run
    case "ledger": LedgerCommand.run
    case "account": AccountCommand.run
    case "completions": CompletionsCommand.run
    default: nil
    }
  }

  package static func run(_ session: Session) throws(CommandError) -> ProgramExit {
    guard let command = command(named: session.invocation.name) else {
      throw .usage("no command \(session.invocation.name)")
    }
    return try command(session)
  }
}
