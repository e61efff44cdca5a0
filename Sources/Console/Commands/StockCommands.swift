// Owns `stock`, `stock set`, `stock add` and `stock edit`: what lies on the shelves, and changing it.
// They must not know where the shelves are.
// Invariant: what is printed is the stock after the change.
// Failure: CommandError; exit code 5 where the present amounts do not allow it.
import Arguments
import BankModel
import Posix
import Wire

enum StockCommands {
  static func show(_ session: Session) throws(CommandError) -> ProgramExit {
    let counter = try StockRequests(session)
    let assortment = try counter.assortment()
    try show(try counter.picture(of: assortment), assortment, session)
    return .done
  }

  static func set(_ session: Session) throws(CommandError) -> ProgramExit {
    try change(session) { fruit, quantity in .set(ItemAmount(fruit, quantity)) }
  }

  /// Adds to the amount of a fruit, or takes from it.
  static func add(_ session: Session) throws(CommandError) -> ProgramExit {
    guard session.invocation.operands.integer("N") != 0 else {
      throw .complaint(Complaint(code: "usage", exit: .usage, message: session.words.nothingToAdd))
    }
    return try change(session) { fruit, quantity in .change(ItemAmount(fruit, quantity), nil) }
  }

  static func edit(_ session: Session) throws(CommandError) -> ProgramExit {
    guard session.isAtTerminal else {
      throw .complaint(Complaint(code: "usage", exit: .usage, message: session.words.editorIsForPeople))
    }
    try StockEditorScreen.run(session)
    return try show(session)
  }

  private static func change(
    _ session: Session, _ command: (ItemID, Quantity) -> StockCommand
  ) throws(CommandError) -> ProgramExit {
    let counter = try StockRequests(session)
    let assortment = try counter.assortment()
    let fruit = try session.fruit(named: session.invocation.operands.text("FRUIT") ?? "", in: assortment)
    let amount = session.invocation.operands.integer("N") ?? 0
    if let shortage = try counter.change(command(fruit.id, amount)).first {
      let message = session.words.belowZero(shortage, of: fruit.name(in: session.words.language))
      throw .complaint(Complaint(code: "out_of_stock", exit: .refused, message: message))
    }
    let picture = try counter.picture(of: assortment)
    let present = picture.quantity(of: fruit.id)
    try session.show(
      .stock(picture), or: [session.words.nowInStock(fruit.name(in: session.words.language), present)])
    return .done
  }

  private static func show(
    _ picture: StockPicture, _ assortment: Assortment, _ session: Session
  ) throws(CommandError) {
    let menu = MenuPicture(
      assortment: assortment, picture: picture, words: session.words, palette: session.output.palette,
      columns: session.columns)
    try session.show(.stock(picture), or: menu.shelves)
  }
}

extension StockPicture {
  /// Pieces of an item, 0 where the stock has never heard of it.
  func quantity(of item: ItemID) -> Quantity { items.first { $0.item == item }?.quantity ?? 0 }
}
