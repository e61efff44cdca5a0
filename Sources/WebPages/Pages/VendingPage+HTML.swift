// HTML of the customers' side of the vending machine: cards, money, and the list of purchases.
// Invariant: except for one link, the content of the page does not lead to functions of the manager.
import BankModel

extension VendingPage {
  /// Title of the page.
  public func title(_ frame: PageFrame) -> String { frame.messages.vending }

  /// Changing regions of the page.
  public func parts(_ frame: PageFrame) -> [Region] {
    let messages = frame.messages
    return [
      .block("shop", isOpen ? "" : #"<p class="banner bad">\#(messages.machineUnavailable)</p>"#),
      .block("balance", #"<b class="large" data-balance="\#(balance)">\#(messages.won(balance))</b>"#),
      .rows("drinks", drinks, key: \.id.name, row: { card($0, frame) }),
      .block("total", #"\#(messages.count(total))"#),
      .block("pages", pages(frame)),
      .rows("purchases", purchases, key: { "\($0.number)" }, row: { purchase($0, frame) }),
      .block("spoken", "\(messages.balance) \(messages.won(balance))"),
    ]
  }

  /// Content of the page.
  public func body(_ frame: PageFrame, _ regions: [Region]) -> HTML {
    let messages = frame.messages
    /// Form with the button that inserts a banknote.
    func note(_ won: Won) -> HTML {
      frame.form(
        "/vending/insert", [("amount", "\(won)")],
        frame.button("+ " + messages.won(won), "money", attributes: #" data-insert="\#(won)""#))
    }
    let other: HTML = """
      \(frame.number("amount", messages.otherAmount, value: nil, in: VendingLimits.insertion))\(frame.button(messages.insert))
      """
    let admin: HTML = #"<a class="button" href="/vending/admin">\#(messages.admin)</a>"#
    return """
      \(DrinkPicture.sprite)
      \(frame.heading(messages.phrases.vendingTitle, admin))
      \(regions.place("shop"))
      \(regions.place("spoken", "p", " hidden"))
      <section class="card till">
      <p><span>\(messages.balance)</span> \(regions.place("balance", "span"))</p>
      <div class="row">\(note(1_000))\(note(5_000))\
      \(frame.form("/vending/return", [], frame.button(messages.giveChange, "", attributes: #" data-action="return""#)))</div>
      \(frame.form("/vending/insert", attributes: #" class="fields""#, other))
      </section>
      \(frame.choice(messages.whichDrinks, [("all", messages.all), ("buyable", messages.canBuy), ("hot", messages.hotOnly)]))
      \(regions.place("drinks", "ul", #" class="drinks""#))
      <section class="card">
      <h2>\(messages.purchases) \(regions.place("total", "span", #" class="count""#))</h2>
      \(regions.place("purchases", "ol", #" class="strip" tabindex="0" data-strip data-empty="\#(messages.noPurchases)""#))
      \(regions.place("pages"))
      </section>
      """
  }

  /// List item of a drink with the form that buys it.
  private func card(_ drink: DrinkRow, _ frame: PageFrame) -> HTML {
    let messages = frame.messages
    let why: String? =
      drink.isBuyable
      ? nil
      : drink.stock > 0 ? messages.tooExpensive : drink.expired > 0 ? messages.expired : messages.soldOut
    let reason: HTML? = why.map { #" <small class="badge">\#($0)</small>"# }
    let hot: HTML? = drink.isHot ? #" <small class="badge hot">\#(messages.hot)</small>"# : nil
    let button: HTML = """
      <button id="buy-\(drink.id)" class="\(drink.isBuyable ? "strong" : "")" aria-disabled="\(drink.isBuyable ? "false" : "true")" \
      aria-label="\(drink.name), \(messages.won(drink.price)): \(messages.buy)"\(frame.disabledAttribute)>\(messages.buy)</button>
      """
    return """
      <li data-key="\(drink.id)" data-product="\(drink.id)" class="drink is-\(drink.isBuyable ? "buyable" : "none off")\(drink.isHot ? " is-hot" : "")">\
      \(DrinkPicture.use(drink.id, drink.kind))<b>\(drink.name)</b>\
      <small>\(messages.phrases.brand(drink.brand)) · \(drink.volume)ml</small>\(hot)\
      <span class="price">\(messages.won(drink.price))</span>\
      <span class="stock">\(messages.pieces(drink.stock))\(reason)</span>\
      \(frame.form("/vending/buy", [("product", drink.id.name)], button))</li>
      """
  }

  /// List item of a purchase.
  private func purchase(_ purchase: PurchaseRow, _ frame: PageFrame) -> HTML {
    let kind = drinks.first { $0.id == purchase.product }?.kind
    return """
      <li data-key="\(purchase.number)" data-purchase="\(purchase.number)">\(DrinkPicture.use(purchase.product, kind))\
      <span>\(purchase.name)</span><small>\(frame.moment(purchase.time))</small></li>
      """
  }

  /// Links to the pages with earlier and later purchases.
  private func pages(_ frame: PageFrame) -> HTML {
    /// Link to the page with the purchases before this sequence number, or to the latest page for 0; nil if there is
    /// none.
    func link(_ place: Int64?, _ text: String) -> HTML? {
      place.map {
        $0 > 0
          ? #"<a class="button" href="/vending?before=\#($0)">\#(text)</a>"#
          : #"<a class="button" href="/vending">\#(text)</a>"#
      }
    }
    guard older != nil || newer != nil else { return "" }
    return #"<p class="row">\#(link(older, frame.messages.earlier))\#(link(newer, frame.messages.later))</p>"#
  }
}
