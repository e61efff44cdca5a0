// The customers' commands of the vending machine.
// Invariant: the output is the state that the machine has committed to its database.
// Errors: `CommandError`; exit code 5 if the present money or stock does not allow the purchase.
import BankModel
import Wire

enum VendingCommands {
  /// Opens the vending screen on a terminal; prints the listing elsewhere, and with TERM=dumb.
  static func show(_ session: Session) throws(CommandError) {
    let isScreen = session.isAtTerminal && session.surroundings.variable("TERM") != "dumb"
    if isScreen { return try VendingScreen.run(session) }
    let picture = try VendingRequests(session, .customers).picture()
    try session.show(.vending(picture), or: session.listing(picture).lines)
  }

  static func insert(_ session: Session) throws(CommandError) {
    let change = try VendingRequests(session, .customers).change(.insert(session.number("WON")))
    try session.show(
      .balance(change.balance).adding(["inserted": .integer(change.amount)]),
      or: [session.words.inserted(change.amount), session.words.balance(change.balance)])
  }

  static func buy(_ session: Session) throws(CommandError) {
    let counter = try VendingRequests(session, .customers)
    let product = try session.product(named: session.name("PRODUCT"), in: try counter.picture())
    let change = try counter.change(.buy(product.id))
    let message = session.words.phrases.drinkBought(product.name(in: session.words.language))
    try session.show(
      .balance(change.balance).adding(.purchase(change)).adding(["message": .string(message)]),
      or: [message, session.words.balance(change.balance)])
  }

  static func balance(_ session: Session) throws(CommandError) {
    let picture = try VendingRequests(session, .customers).picture(.balance)
    try session.show(.balance(picture.balance), or: [session.words.balance(picture.balance)])
  }

  static func giveChange(_ session: Session) throws(CommandError) {
    let change = try VendingRequests(session, .customers).change(.giveChange)
    try session.show(
      .balance(change.balance).adding(["returned": .integer(change.amount)]),
      or: [session.words.returned(change.amount), session.words.balance(change.balance)])
  }

  static func history(_ session: Session) throws(CommandError) {
    let counter = try VendingRequests(session, .customers)
    let picture = session.asJSON ? nil : try counter.picture()
    var page = try counter.purchases(after: 0)
    if page.isEmpty, !session.asJSON { session.note(session.words.noPurchases) }
    while let last = page.last?.sequence {
      for purchase in page {
        let name = picture?.name(of: purchase, session.words)
        try session.line(.purchase(purchase), or: session.words.purchase(purchase, name))
      }
      page = try counter.purchases(after: last)
    }
    try session.output.flush()
  }

  static func buyable(_ session: Session) throws(CommandError) {
    try list(session) { picture, product in picture.isBuyable(product) }
  }

  static func hot(_ session: Session) throws(CommandError) {
    let threshold = session.invocation.options.integer("above") ?? Coffee.hotAbove
    try list(session) { _, product in product.isHot(above: threshold) }
  }

  private static func list(
    _ session: Session, _ belongs: (VendingPicture, ProductReport) -> Bool
  ) throws(CommandError) {
    var picture = try VendingRequests(session, .customers).picture()
    picture.products = picture.products.filter { belongs(picture, $0) }
    try session.show(picture, session.listing(picture).products, orOfNone: session.words.noProducts)
  }
}

extension Session {
  func listing(_ picture: VendingPicture) -> VendingListing {
    VendingListing(picture: picture, words: words, palette: output.palette, columns: columns)
  }

  func show(
    _ picture: VendingPicture, _ lines: @autoclosure () -> [String], orOfNone none: String
  ) throws(CommandError) {
    try show(.products(picture), or: picture.products.isEmpty ? [none] : lines())
  }
}

extension VendingPicture {
  /// Display name of a bought product; its name in commands if the machine no longer sells the product.
  func name(of purchase: MoneyChange, _ words: MessageCatalog) -> String {
    products.first { $0.id == purchase.product }?.name(in: words.language) ?? purchase.product?.name ?? "?"
  }
}
