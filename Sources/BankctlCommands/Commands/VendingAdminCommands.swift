// The manager's commands of the vending machine (`vending admin …`).
// Invariant: impossible dates are refused before a change is requested. The output of `add` and `remove` contains the
// new stock of the product.
// Errors: `CommandError`; exit code 2 for impossible dates, 5 if the present state does not allow the change, or if
// the user declined.
import BankModel
import Posix
import Wire

/// Implementations of the commands `bankctl vending admin …`.
enum VendingAdminCommands {
  /// Adds drinks with their dates; asks first on a terminal if the dates are unlikely.
  static func add(_ session: Session) throws(CommandError) -> ProgramExit {
    let made = try day("made", session)
    let expires = try day("expires", session)
    if let made, let expires, expires < made {
      throw .usage(session.messages.expiresBeforeMade(CalendarDate(made), CalendarDate(expires)))
    }
    let serviceRequests = try VendingRequests(session, .manager)
    let before = try serviceRequests.picture(.stock)
    let product = try session.product(named: session.name("PRODUCT"), in: before)
    if let expires, made == nil, expires < before.today {
      // Without a production date the drinks were made today, so an earlier expiry date must be a mistake.
      throw .usage(session.messages.expiresBeforeMade(CalendarDate(before.today), CalendarDate(expires)))
    }
    let name = product.name(in: session.messages.language)
    let warning = session.messages.oddDates(name, made: made, expires: expires, today: before.today)
    if let warning, session.isAtTerminal {
      session.note(warning)
      guard try session.confirm(session.messages.addAnyway) else {
        session.note(session.messages.nothingChanged)
        return .refused
      }
    }
    let drinks = AddedDrinks(product: product.id, quantity: session.number("N"), made: made, expires: expires)
    let changes = try serviceRequests.restock(.add(drinks))
    try printResult(changes, product, before, session)
    let expired = changes.lazy.compactMap(\.dates?.expires).first { $0 < before.today }
    // Without `--expires`, the expiry date follows from the product's shelf life, and the machine's answer contains
    // it.
    let said = session.messages.oddDates(name, made: made, expires: expired ?? expires, today: before.today)
    if let said, warning == nil || !session.isAtTerminal { session.note(said) }
    return .done
  }

  /// Removes drinks of a product, the earliest to expire first.
  static func remove(_ session: Session) throws(CommandError) {
    let serviceRequests = try VendingRequests(session, .manager)
    let before = try serviceRequests.picture(.stock)
    let product = try session.product(named: session.name("PRODUCT"), in: before)
    let changes = try serviceRequests.restock(.remove(ItemAmount(product.id, session.number("N"))))
    try printResult(changes, product, before, session)
  }

  /// Prints all drinks in the machine, lot by lot.
  static func stock(_ session: Session) throws(CommandError) {
    let picture = try VendingRequests(session, .manager).picture(.stock)
    try session.show(picture, session.listing(picture).shelves, orOfNone: session.messages.noProducts)
  }

  /// Prints the expired drinks in the machine, lot by lot.
  static func expired(_ session: Session) throws(CommandError) {
    let picture = try VendingRequests(session, .manager).picture(.expired)
    try session.show(picture, session.listing(picture).shelves, orOfNone: session.messages.nothingExpired)
  }

  /// Removes all expired drinks from the machine.
  static func discardExpired(_ session: Session) throws(CommandError) {
    let changes = try VendingRequests(session, .manager).restock(.discardExpired)
    let count = changes.reduce(0) { $0 - $1.difference }
    let discarded = changes.map { change -> JSONValue in
      ["product": .string(change.item.name), "quantity": .integer(-change.difference)]
    }
    try session.show(
      ["version": 1, "discarded": .integer(count), "products": .array(discarded)],
      or: [session.messages.discarded(count)])
  }

  /// Prints a change of one product: difference, new stock, lots.
  private static func printResult(
    _ changes: [StockChange], _ product: ProductReport, _ before: VendingSnapshot, _ session: Session
  ) throws(CommandError) {
    let difference = changes.reduce(0) { $0 + $1.difference }
    let lots = changes.map { JSONValue.lot($0.dates, abs($0.difference), today: before.today) }
    let present = changes.last?.present ?? product.stock + product.expired
    try session.show(
      [
        "version": 1, "product": .string(product.id.name), "difference": .integer(difference),
        "present": .integer(present), "lots": .array(lots),
      ], or: [session.messages.restocked(product.name(in: session.messages.language), difference, present)])
  }

  /// The date of an option as a day number; nil without the option.
  private static func day(_ option: String, _ session: Session) throws(CommandError) -> DayNumber? {
    guard let text = session.invocation.options.text(option) else { return nil }
    guard let date = CalendarDate(text: text) else {
      throw .usage(session.messages.noSuchDay(text, "--" + option))
    }
    return date.number
  }

  /// Renames a damaged database, so that the machine starts with an empty one and the damaged file is kept.
  /// The program `bank-vending` decides whether the file is damaged, and does not rename an intact file.
  static func setAside(_ session: Session) throws(CommandError) {
    let launcher = try fromControl(session.environment.launcher())
    let program = Paths.join(Paths.directory(of: launcher.program), "bank-vending")
    let stamp = Timestamp.utc(milliseconds: SystemClock.wall().milliseconds).filter {
      $0.isNumber || $0 == "T"
    }
    let target = Paths.join(session.home.path, "vending.db.damaged-\(stamp)")
    let child = try fromSystem(
      ChildProcess.spawn(
        executable: program, arguments: ["--home", session.home.path, "--quarantine", target],
        environment: Environment.all(), standardOutput: .null))
    switch child.wait().ending {
    case .code(0): break
    case .code(3): throw .commandFailure(.databaseNotDamaged, session.messages.machineNotDamaged)
    case .code(4): throw .commandFailure(.databaseInUse, session.messages.machineAtWork)
    default: throw .failed(session.messages.notSetAside)
    }
    try restart(session)
    try session.show(["version": 1, "quarantined": .string(target)], or: [session.messages.setAside(target)])
  }

  /// Makes an open bank restart a vending machine that was given up, and waits for the bank's answer.
  private static func restart(_ session: Session) throws(CommandError) {
    do throws(CommandError) {
      let coordinator = try CoordinatorClient.open(session)
      let before = try coordinator.status(.status)
      ControlCommands.printProblems(before, try coordinator.status(.reload, within: nil), session)
    } catch {
      guard case .control(.notOpen) = error else { throw error }
    }
  }
}
