// `stock`, `stock set`, `stock add` and `stock edit`: the stock of ingredients, and the commands that change
// it.
// Invariant: the output is the stock after the change.
// Errors: `CommandError`; exit code 5 if the present amounts do not allow the change.
import BankModel
import Wire

enum StockCommands {
  static func show(_ session: Session) throws(CommandError) {
    let counter = try StockRequests(session)
    let assortment = try counter.assortment()
    let picture = try counter.picture(of: assortment)
    try session.show(.stock(picture), or: session.menu(assortment, picture).shelves)
  }

  static func set(_ session: Session) throws(CommandError) {
    try change(session) { fruit, quantity in .set(ItemAmount(fruit, quantity)) }
  }

  static func add(_ session: Session) throws(CommandError) {
    guard session.number("N") != 0 else { throw .usage(session.words.nothingToAdd) }
    try change(session) { fruit, quantity in .change(ItemAmount(fruit, quantity), nil) }
  }

  static func edit(_ session: Session) throws(CommandError) {
    guard session.isAtTerminal else { throw .usage(session.words.editorIsForPeople) }
    try StockEditorScreen.run(session)
    try show(session)
  }

  private static func change(
    _ session: Session, _ command: (ItemID, Quantity) -> StockCommand
  ) throws(CommandError) {
    let counter = try StockRequests(session)
    let assortment = try counter.assortment()
    let fruit = try session.fruit(named: session.name("FRUIT"), in: assortment)
    let name = fruit.name(in: session.words.language)
    if let shortage = try counter.change(command(fruit.id, session.number("N"))).first {
      throw .complaint(.outOfStock, session.words.belowZero(shortage, of: name))
    }
    let picture = try counter.picture(of: assortment)
    try session.show(.stock(picture), or: [session.words.nowInStock(name, picture.quantity(of: fruit.id))])
  }
}

extension Session {
  func menu(_ assortment: Assortment, _ picture: StockPicture) -> MenuPicture {
    MenuPicture(
      assortment: assortment, picture: picture, words: words, palette: output.palette, columns: columns)
  }
}

extension StockPicture {
  /// Pieces of an item; 0 if the stock has no record of it.
  func quantity(of item: ItemID) -> Quantity { items.first { $0.item == item }?.quantity ?? 0 }
}
