// `stock`, `stock set`, `stock add` and `stock edit`: the stock of ingredients, and the commands that change
// it.
// Invariant: the output shows the stock after the change.
// Errors: `CommandError`; exit code 5 if the present amounts do not allow the change.
import BankModel
import Wire

/// Implementations of `bankctl stock`, `stock set`, `stock add` and `stock edit`.
enum StockCommands {
  /// Prints the amounts of all fruits.
  static func show(_ session: Session) throws(CommandError) {
    let serviceRequests = try StockRequests(session)
    let assortment = try serviceRequests.assortment()
    let picture = try serviceRequests.picture(of: assortment)
    try session.show(.stock(picture), or: session.menu(assortment, picture).shelves)
  }

  /// Sets the amount of a fruit.
  static func set(_ session: Session) throws(CommandError) {
    try change(session) { fruit, quantity in .set(ItemAmount(fruit, quantity)) }
  }

  /// Adds pieces of a fruit, or removes them if the number is negative.
  static func add(_ session: Session) throws(CommandError) {
    guard session.number("N") != 0 else { throw .usage(session.messages.nothingToAdd) }
    try change(session) { fruit, quantity in .change(ItemAmount(fruit, quantity), nil) }
  }

  /// Opens the full-screen editor, and prints the stock afterwards.
  static func edit(_ session: Session) throws(CommandError) {
    guard session.isAtTerminal else { throw .usage(session.messages.editorNeedsTerminal) }
    try StockEditorScreen.run(session)
    try show(session)
  }

  /// Requests a change of one fruit, and prints the new amount.
  private static func change(
    _ session: Session, _ command: (ItemID, Quantity) -> StockCommand
  ) throws(CommandError) {
    let serviceRequests = try StockRequests(session)
    let assortment = try serviceRequests.assortment()
    let fruit = try session.fruit(named: session.name("FRUIT"), in: assortment)
    let name = fruit.name(in: session.messages.language)
    if let shortage = try serviceRequests.change(command(fruit.id, session.number("N"))).first {
      throw .commandFailure(.outOfStock, session.messages.belowZero(shortage, of: name))
    }
    let picture = try serviceRequests.picture(of: assortment)
    try session.show(.stock(picture), or: [session.messages.nowInStock(name, picture.quantity(of: fruit.id))])
  }
}

extension Session {
  /// The renderer that shows the stock and the juices on this output.
  func menu(_ assortment: Assortment, _ picture: StockSnapshot) -> MenuRenderer {
    MenuRenderer(
      assortment: assortment, picture: picture, messages: messages, palette: output.palette, columns: columns)
  }
}

extension StockSnapshot {
  /// Pieces of an item; 0 if the stock has no record of it.
  func quantity(of item: ItemID) -> Quantity { items.first { $0.item == item }?.quantity ?? 0 }
}
