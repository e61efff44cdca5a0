// The customers' commands of the vending machine.
// Errors: `CommandError`; exit code 5 if the present money or stock does not allow the purchase.
import BankModel
import Wire

/// Implementations of the customers' commands `bankctl vending …`.
enum VendingCommands {
  /// Opens the vending screen on a terminal; prints the listing elsewhere, and with TERM=dumb.
  static func show(_ session: Session) throws(CommandError) {
    let isScreen = session.isAtTerminal && session.environment.variable("TERM") != "dumb"
    if isScreen { return try VendingScreen.run(session) }
    let picture = try VendingRequests(session, .customers).picture()
    try session.show(.vending(picture), or: session.listing(picture).lines)
  }

  /// Inserts money into the machine.
  static func insert(_ session: Session) throws(CommandError) {
    let change = try VendingRequests(session, .customers).change(.insert(session.number("WON")))
    try session.show(
      .balance(change.balance).adding(["inserted": .integer(change.amount)]),
      or: [session.messages.inserted(change.amount), session.messages.balance(change.balance)])
  }

  /// Buys one drink.
  static func buy(_ session: Session) throws(CommandError) {
    let serviceRequests = try VendingRequests(session, .customers)
    let product = try session.product(named: session.name("PRODUCT"), in: try serviceRequests.picture())
    let change = try serviceRequests.change(.buy(product.id))
    let message = session.messages.phrases.drinkBought(product.name(in: session.messages.language))
    try session.show(
      .balance(change.balance).adding(.purchase(change)).adding(["message": .string(message)]),
      or: [message, session.messages.balance(change.balance)])
  }

  /// Prints the balance of the machine.
  static func balance(_ session: Session) throws(CommandError) {
    let picture = try VendingRequests(session, .customers).picture(.balance)
    try session.show(.balance(picture.balance), or: [session.messages.balance(picture.balance)])
  }

  /// Makes the machine return the whole balance, for `bankctl vending return`.
  static func giveChange(_ session: Session) throws(CommandError) {
    let change = try VendingRequests(session, .customers).change(.giveChange)
    try session.show(
      .balance(change.balance).adding(["returned": .integer(change.amount)]),
      or: [session.messages.returned(change.amount), session.messages.balance(change.balance)])
  }

  /// Prints all purchases, the oldest first.
  static func history(_ session: Session) throws(CommandError) {
    let serviceRequests = try VendingRequests(session, .customers)
    let picture = session.asJSON ? nil : try serviceRequests.picture()
    var page = try serviceRequests.purchases(after: 0)
    if page.isEmpty, !session.asJSON { session.note(session.messages.noPurchases) }
    while let last = page.last?.sequence {
      for purchase in page {
        let name = picture?.name(of: purchase, session.messages)
        try session.line(.purchase(purchase), or: session.messages.purchase(purchase, name))
      }
      page = try serviceRequests.purchases(after: last)
    }
    try session.output.flush()
  }

  /// Prints the products that the present balance can buy.
  static func buyable(_ session: Session) throws(CommandError) {
    try list(session) { picture, product in picture.isBuyable(product) }
  }

  /// Prints the drinks above a temperature.
  static func hot(_ session: Session) throws(CommandError) {
    let threshold = session.invocation.options.integer("above") ?? Coffee.hotAbove
    try list(session) { _, product in product.isHot(above: threshold) }
  }

  /// Prints the products for which the condition `belongs` is true.
  private static func list(
    _ session: Session, _ belongs: (VendingSnapshot, ProductReport) -> Bool
  ) throws(CommandError) {
    var picture = try VendingRequests(session, .customers).picture()
    picture.products = picture.products.filter { belongs(picture, $0) }
    try session.show(picture, session.listing(picture).products, orOfNone: session.messages.noProducts)
  }
}

extension Session {
  /// The renderer that shows the machine as text on this output.
  func listing(_ picture: VendingSnapshot) -> VendingListing {
    VendingListing(picture: picture, messages: messages, palette: output.palette, columns: columns)
  }

  /// Prints the products of a snapshot: as JSON, as the given lines, or as `none` if there are no products.
  func show(
    _ picture: VendingSnapshot, _ lines: @autoclosure () -> [String], orOfNone none: String
  ) throws(CommandError) {
    try show(.products(picture), or: picture.products.isEmpty ? [none] : lines())
  }
}

extension VendingSnapshot {
  /// Display name of a bought product; its name in commands if the machine no longer sells the product.
  func name(of purchase: MoneyChange, _ messages: MessageCatalog) -> String {
    products.first { $0.id == purchase.product }?.name(in: messages.language) ?? purchase.product?.name ?? "?"
  }
}
