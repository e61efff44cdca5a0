// `open`, one business day in the foreground, and `console`, a menu with two inputs: 1 runs such a day, 2 exits.
// Invariant: the same seed creates the same customers. After the error of a day the menu appears again.
// Errors: `CommandError`.
import BankModel
import Posix
import Wire

/// Implementation of `bankctl open`.
enum OpenCommand {
  /// Default number of customers.
  private static let defaultCustomers: ClosedRange<Int64> = 10...30

  /// Runs one business day in the foreground. Returns the exit code.
  static func run(_ session: Session) throws(CommandError) -> ProgramExit {
    let seed = session.invocation.integer("seed").map { UInt64(bitPattern: $0) } ?? RandomSeed.fromSystem()
    return try ForegroundDay.run(
      session, customers: customers(session.invocation.integer("customers"), seed: seed))
  }

  /// The customers of a day: the given number, or a random one.
  static func customers(_ count: Int64?, seed: UInt64) -> EnqueueParameters {
    var chance = SeededGenerator(seed: seed)
    let drawn = chance.draw(defaultCustomers)
    return EnqueueParameters(
      count: count ?? drawn, service: nil, priority: .regular, amount: nil, account: nil, seed: chance.next(),
      key: nil)
  }
}

/// Implementation of `bankctl console`.
enum ConsoleCommand {
  /// Shows the menu until the input is 2 or ends.
  static func run(_ session: Session) throws(CommandError) {
    guard !session.asJSON else { throw .usage(session.messages.consoleNeedsTerminal) }
    while true {
      session.output.write(session.messages.menu)
      try session.output.flush()
      guard let input = readLine() else { return try session.output.line("") }
      switch input.filter({ !$0.isWhitespace }) {
      case "1": try open(session)
      case "2": return
      default: try session.output.line(session.messages.wrongInput)
      }
    }
  }

  /// Runs one day, and prints its error instead of throwing it.
  private static func open(_ session: Session) throws(CommandError) {
    do throws(CommandError) {
      let customers = OpenCommand.customers(nil, seed: RandomSeed.fromSystem())
      _ = try ForegroundDay.run(session, customers: customers)
    } catch {
      guard let commandFailure = session.messages.commandFailure(about: error, home: session.home.path) else {
        throw error
      }
      session.note(commandFailure.message)
    }
  }
}
