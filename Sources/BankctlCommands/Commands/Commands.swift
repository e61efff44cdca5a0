// Table that maps the names of commands to their implementations.
// Invariant: every command of `BankctlTable` is listed.

/// The implementations of the commands of bankctl, by name.
package enum Commands {
  /// Implementation of a command. Returns the exit code.
  typealias Command = (Session) throws(CommandError) -> ProgramExit

  /// The implementation of the command with this name; nil for an unknown name.
  static func command(named name: String) -> Command? {
    switch name {
    case "open": OpenCommand.run
    case "console": done(ConsoleCommand.run)
    case "start": StartCommand.run
    case "stop": StopCommand.run
    case "move": done(MoveCommand.run)
    case "status": done(StatusCommand.run)
    case "branches": done(BranchesCommand.run)
    case "top": done(TopScreen.run)
    case "wait": done(WaitCommand.run)
    case "pause": done(ControlCommands.pause)
    case "resume": done(ControlCommands.resume)
    case "scale": done(ControlCommands.scale)
    case "reset": ResetCommand.run
    case "reload": done(ControlCommands.reload)
    case "enqueue": EnqueueCommand.run
    case "run": RunCommand.run
    case "output": done(OutputCommand.run)
    case "snapshot": done(BoardCommand.run)
    case "kill": KillCommand.run
    case "tickets": done(TicketsCommand.run)
    case "ticket": done(TicketCommands.timeline)
    case "receipts": done(ReceiptsCommand.run)
    case "cancel": TicketCommands.cancel
    case "requeue": TicketCommands.requeue
    case "juice menu": done(JuiceCommands.menu)
    case "juice order": JuiceCommands.order
    case "stock": done(StockCommands.show)
    case "stock set": done(StockCommands.set)
    case "stock add": done(StockCommands.add)
    case "stock watch": done(StockWatchCommand.run)
    case "stock edit": done(StockCommands.edit)
    case "vending": done(VendingCommands.show)
    case "vending insert": done(VendingCommands.insert)
    case "vending buy": done(VendingCommands.buy)
    case "vending balance": done(VendingCommands.balance)
    case "vending return": done(VendingCommands.giveChange)
    case "vending history": done(VendingCommands.history)
    case "vending buyable": done(VendingCommands.buyable)
    case "vending hot": done(VendingCommands.hot)
    case "vending admin add": VendingAdminCommands.add
    case "vending admin remove": done(VendingAdminCommands.remove)
    case "vending admin stock": done(VendingAdminCommands.stock)
    case "vending admin expired": done(VendingAdminCommands.expired)
    case "vending admin discard-expired": done(VendingAdminCommands.discardExpired)
    case "vending admin quarantine": done(VendingAdminCommands.setAside)
    case "web": done(WebCommands.open)
    case "web stop": done(WebCommands.stop)
    case "web sessions": done(WebSessions.run)
    case "config show": done(ConfigCommands.show)
    case "config check": done(ConfigCommands.check)
    case "logs": done(LogsCommand.run)
    case "audit": AuditCommand.run
    case "chaos": done(ProgramCommands.chaos)
    case "ledger": LedgerCommand.run
    case "account": done(LedgerCommand.account)
    case "completions": done(ProgramCommands.completions)
    default: nil
    }
  }

  /// Converts an implementation without an exit code into a `Command` that returns 0 unless it throws.
  private static func done(_ run: @escaping (Session) throws(CommandError) -> Void) -> Command {
    { session throws(CommandError) in
      try run(session)
      return .done
    }
  }

  /// Runs the command that the command line names. Returns its exit code.
  package static func run(_ session: Session) throws(CommandError) -> ProgramExit {
    guard let command = command(named: session.invocation.name) else {
      throw .usage("no command \(session.invocation.name)")
    }
    return try command(session)
  }
}
