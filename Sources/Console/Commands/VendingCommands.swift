// Owns the customers' commands of the vending machine: `vending`, `vending insert`, `buy`, `balance`, `return`, `history`,
// `buyable` and `hot`. They must not know how a purchase comes about.
// Invariant: what is printed is what is on the machine's disk.
// Failure: CommandError; exit code 5 where the present money or stock does not allow it.
import Arguments
import BankModel
import Wire

enum VendingCommands {
  /// The machine: on a terminal the whole screen, otherwise what there is.
  static func show(_ session: Session) throws(CommandError) -> ProgramExit {
    let isScreen = session.isAtTerminal && session.surroundings.variable("TERM") != "dumb"
    if isScreen {
      try VendingScreen.run(session)
      return .done
    }
    let picture = try VendingRequests(session, .customers).picture()
    let shop = VendingListing(
      picture: picture, words: session.words, palette: session.output.palette, columns: session.columns)
    try session.show(.vending(picture), or: shop.lines)
    return .done
  }

  static func insert(_ session: Session) throws(CommandError) -> ProgramExit {
    let amount = session.invocation.operands.integer("WON") ?? 0
    let change = try VendingRequests(session, .customers).change(.insert(amount))
    try session.show(
      .balance(change.balance).adding(["inserted": .integer(change.amount)]),
      or: [session.words.inserted(change.amount), session.words.balance(change.balance)])
    return .done
  }

  static func buy(_ session: Session) throws(CommandError) -> ProgramExit {
    let counter = try VendingRequests(session, .customers)
    let name = session.invocation.operands.text("PRODUCT") ?? ""
    let product = try session.product(named: name, in: try counter.picture())
    let change = try counter.change(.buy(product.id))
    let message = session.words.phrases.drinkBought(product.name(in: session.words.language))
    try session.show(
      .balance(change.balance).adding(.purchase(change)).adding(["message": .string(message)]),
      or: [message, session.words.balance(change.balance)])
    return .done
  }

  static func balance(_ session: Session) throws(CommandError) -> ProgramExit {
    let picture = try VendingRequests(session, .customers).picture(.balance)
    try session.show(.balance(picture.balance), or: [session.words.balance(picture.balance)])
    return .done
  }

  static func giveChange(_ session: Session) throws(CommandError) -> ProgramExit {
    let change = try VendingRequests(session, .customers).change(.giveChange)
    try session.show(
      .balance(change.balance).adding(["returned": .integer(change.amount)]),
      or: [session.words.returned(change.amount), session.words.balance(change.balance)])
    return .done
  }

  /// Every purchase there ever was, oldest first.
  static func history(_ session: Session) throws(CommandError) -> ProgramExit {
    let counter = try VendingRequests(session, .customers)
    let picture = session.asJSON ? nil : try counter.picture()
    var page = try counter.purchases(after: 0)
    if page.isEmpty, !session.asJSON { session.note(session.words.noPurchases) }
    while let last = page.last?.sequence {
      for purchase in page {
        if session.asJSON {
          try session.output.line(.purchase(purchase))
        } else {
          try session.line(session.words.purchase(purchase, picture?.name(of: purchase, session.words)))
        }
      }
      page = try counter.purchases(after: last)
    }
    try session.output.flush()
    return .done
  }

  /// What can be bought for the present balance.
  static func buyable(_ session: Session) throws(CommandError) -> ProgramExit {
    try list(session) { picture, product in picture.isBuyable(product) }
  }

  /// What is kept warm.
  static func hot(_ session: Session) throws(CommandError) -> ProgramExit {
    let threshold = session.invocation.options.integer("above") ?? Coffee.hotAbove
    return try list(session) { _, product in product.isHot(above: threshold) }
  }

  private static func list(
    _ session: Session, _ belongs: (VendingPicture, ProductReport) -> Bool
  ) throws(CommandError) -> ProgramExit {
    var picture = try VendingRequests(session, .customers).picture()
    picture.products = picture.products.filter { belongs(picture, $0) }
    let shop = VendingListing(
      picture: picture, words: session.words, palette: session.output.palette, columns: session.columns)
    let none = [session.words.noProducts]
    try session.show(.products(picture), or: picture.products.isEmpty ? none : shop.products)
    return .done
  }
}

extension VendingPicture {
  /// What a product that was bought is called; its name in commands where the machine sells it no more.
  func name(of purchase: MoneyChange, _ words: MessageCatalog) -> String {
    products.first { $0.id == purchase.product }?.name(in: words.language) ?? purchase.product?.name ?? "?"
  }
}
