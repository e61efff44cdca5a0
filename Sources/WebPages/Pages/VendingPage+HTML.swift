// HTML of the customers' side of the vending machine: cards, money, and the list of purchases.
// Invariant: except for one link, no element of the page leads to functions of the manager.
import BankModel

extension VendingPage {
  /// Title of the page.
  public func title(_ frame: PageFrame) -> String { frame.words.vending }

  /// Changing regions of the page.
  public func parts(_ frame: PageFrame) -> [Region] {
    let words = frame.words
    return [
      .block("shop", isOpen ? "" : #"<p class="banner bad">\#(words.machineSilent)</p>"#),
      .block("balance", #"<b class="large" data-balance="\#(balance)">\#(words.won(balance))</b>"#),
      .rows("drinks", drinks, key: \.id.name, row: { card($0, frame) }),
      .block("total", #"\#(words.count(total))"#),
      .block("pages", pages(frame)),
      .rows("purchases", purchases, key: { "\($0.number)" }, row: { purchase($0, frame) }),
      .block("spoken", "\(words.balance) \(words.won(balance))"),
    ]
  }

  /// Content of the page.
  public func body(_ frame: PageFrame, _ regions: [Region]) -> HTML {
    let words = frame.words
    func note(_ won: Won) -> HTML {
      frame.form(
        "/vending/insert", [("amount", "\(won)")],
        frame.button("+ " + words.won(won), "money", attributes: #" data-insert="\#(won)""#))
    }
    let other: HTML = """
      \(frame.number("amount", words.otherAmount, value: nil, in: VendingLimits.insertion))\(frame.button(words.insert))
      """
    let admin: HTML = #"<a class="button" href="/vending/admin">\#(words.admin)</a>"#
    return """
      \(DrinkPicture.sprite)
      \(frame.heading(words.phrases.vendingTitle, admin))
      \(regions.place("shop"))
      \(regions.place("spoken", "p", " hidden"))
      <section class="card till">
      <p><span>\(words.balance)</span> \(regions.place("balance", "span"))</p>
      <div class="row">\(note(1_000))\(note(5_000))\
      \(frame.form("/vending/return", [], frame.button(words.giveChange, "", attributes: #" data-action="return""#)))</div>
      \(frame.form("/vending/insert", attributes: #" class="fields""#, other))
      </section>
      \(frame.choice(words.whichDrinks, [("all", words.all), ("buyable", words.canBuy), ("hot", words.hotOnly)]))
      \(regions.place("drinks", "ul", #" class="drinks""#))
      <section class="card">
      <h2>\(words.purchases) \(regions.place("total", "span", #" class="count""#))</h2>
      \(regions.place("purchases", "ol", #" class="strip" tabindex="0" data-strip data-empty="\#(words.noPurchases)""#))
      \(regions.place("pages"))
      </section>
      """
  }

  private func card(_ drink: DrinkRow, _ frame: PageFrame) -> HTML {
    let words = frame.words
    let why: String? =
      drink.isBuyable
      ? nil : drink.stock > 0 ? words.tooExpensive : drink.expired > 0 ? words.expired : words.soldOut
    let reason: HTML? = why.map { #" <small class="badge">\#($0)</small>"# }
    let hot: HTML? = drink.isHot ? #" <small class="badge hot">\#(words.hot)</small>"# : nil
    let button: HTML = """
      <button id="buy-\(drink.id)" class="\(drink.isBuyable ? "strong" : "")" aria-disabled="\(drink.isBuyable ? "false" : "true")" \
      aria-label="\(drink.name), \(words.won(drink.price)): \(words.buy)"\(frame.locked)>\(words.buy)</button>
      """
    return """
      <li data-key="\(drink.id)" data-product="\(drink.id)" class="drink is-\(drink.isBuyable ? "buyable" : "none off")\(drink.isHot ? " is-hot" : "")">\
      \(DrinkPicture.use(drink.id, drink.kind))<b>\(drink.name)</b>\
      <small>\(words.phrases.brand(drink.brand)) · \(drink.volume)ml</small>\(hot)\
      <span class="price">\(words.won(drink.price))</span>\
      <span class="stock">\(words.pieces(drink.stock))\(reason)</span>\
      \(frame.form("/vending/buy", [("product", drink.id.name)], button))</li>
      """
  }

  private func purchase(_ purchase: PurchaseRow, _ frame: PageFrame) -> HTML {
    let kind = drinks.first { $0.id == purchase.product }?.kind
    return """
      <li data-key="\(purchase.number)" data-purchase="\(purchase.number)">\(DrinkPicture.use(purchase.product, kind))\
      <span>\(purchase.name)</span><small>\(frame.moment(purchase.time))</small></li>
      """
  }

  private func pages(_ frame: PageFrame) -> HTML {
    func link(_ place: Int64?, _ text: String) -> HTML? {
      place.map {
        $0 > 0
          ? #"<a class="button" href="/vending?before=\#($0)">\#(text)</a>"#
          : #"<a class="button" href="/vending">\#(text)</a>"#
      }
    }
    guard older != nil || newer != nil else { return "" }
    return #"<p class="row">\#(link(older, frame.words.earlier))\#(link(newer, frame.words.later))</p>"#
  }
}
