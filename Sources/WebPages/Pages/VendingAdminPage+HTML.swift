// HTML of the manager's side of the vending machine: lots, the form that adds drinks, expired drinks, and the shares of
// the purchases as a pie beside their table.
// Invariant: the pie contains nothing that the table does not show in numbers.
import BankModel

extension VendingAdminPage {
  /// Title of the page.
  public func title(_ frame: PageFrame) -> String { frame.messages.admin }

  /// Changing regions of the page.
  public func parts(_ frame: PageFrame) -> [Region] {
    let messages = frame.messages
    let expired = shelves.reduce(Quantity(0)) { $0 &+ max(0, $1.drink.expired) }
    return [
      .block("shop", isOpen ? "" : #"<p class="banner bad">\#(messages.machineUnavailable)</p>"#),
      .block("balance", #"<b>\#(messages.won(balance))</b>"#),
      .rows("shelves", shelves, key: \.drink.id.name, row: { shelf($0, frame) }),
      .block(
        "expired",
        expired > 0 ? #"<p class="alarm">\#(messages.expiredDrinks): \#(messages.count(expired))</p>"# : ""),
      .block("pie", pie(frame)),
      .rows(
        "shares", shelves.enumerated(), key: \.element.drink.id.name,
        row: { share($0.element, $0.offset, frame) }),
    ]
  }

  /// Content of the page.
  public func body(_ frame: PageFrame, _ regions: [Region]) -> HTML {
    let messages = frame.messages
    let products = shelves.map { (value: $0.drink.id.name, text: $0.drink.name) }
    /// Field for a date with its label; the day is its initial value.
    func date(_ name: HTML, _ label: String, _ day: DayNumber) -> HTML {
      """
      <label class="field"><span>\(label)</span><input type="date" name="\(name)" \
      value="\(CalendarDate(day).dashed)" min="1970-01-01" max="9999-12-31"></label>
      """
    }
    let add: HTML = """
      \(frame.select("product", messages.product, products, chosen: products.first?.value ?? ""))\
      \(frame.number("count", messages.quantity, value: 10, in: 1...StockLimits.quantity))\
      \(date("made", messages.made, today))\(date("expires", messages.expires, today &+ ProductTable.shelfLife))\
      \(frame.button(messages.add, "add"))
      """
    return """
      \(DrinkPicture.sprite)
      \(frame.heading(messages.phrases.vendingAdminTitle, #"<a class="button" href="/vending">\#(messages.phrases.close)</a>"#))
      \(regions.place("shop"))
      <section class="card"><h2>\(messages.addStock)</h2>\(frame.form("/vending/admin/add", attributes: #" class="fields""#, add))</section>
      <section class="card"><h2>\(messages.lots) · \(messages.balance) \(regions.place("balance", "span"))</h2>
      \(frame.choice(messages.whichDrinks, [("all", messages.all), ("expired", messages.expiredOnly), ("hot", messages.hotOnly)]))
      \(regions.place("shelves", "ul", #" class="shelves""#))
      <div class="row">\(regions.place("expired"))\
      \(frame.form("/vending/admin/discard", [], frame.button(messages.discardExpired, "danger")))</div>
      </section>
      <section class="card"><h2>\(messages.shares)</h2><div class="pie-beside">\(regions.place("pie"))
      <div class="scroll-x"><table><thead><tr><th scope="col"><span class="unseen">\(messages.shares)</span></th>\
      <th scope="col">\(messages.product)</th><th scope="col" class="n">\(messages.sold)</th><th scope="col" class="n">\(messages.share)</th></tr></thead>
      \(regions.place("shares", "tbody"))</table></div></div></section>
      """
  }

  /// List item of a drink with its lots.
  private func shelf(_ shelf: DrinkShelf, _ frame: PageFrame) -> HTML {
    let messages = frame.messages
    let lots = shelf.lots.map { lot -> HTML in
      let expired: HTML? = lot.isExpired ? #" <b class="badge alarm">\#(messages.expired)</b>"# : nil
      return
        #"<li class="\#(lot.isExpired ? "alarm" : "")"><b>\#(messages.pieces(lot.quantity))</b>\#(expired) <small>\#(parts(lot.description))</small></li>"#
    }
    return """
      <li data-key="\(shelf.drink.id)" data-product="\(shelf.drink.id)" \
      class="\(shelf.drink.isHot ? "is-hot" : "")\(shelf.lots.contains(where: \.isExpired) ? " is-expired" : "")">\(DrinkPicture.use(shelf.drink.id, shelf.drink.kind))\
      <div><b>\(shelf.drink.name)</b> <span>\(messages.pieces(shelf.drink.stock))</span><ul class="lots">\(lots)</ul></div></li>
      """
  }

  /// Splits a description at its commas, so that no part is broken at the end of a line.
  private func parts(_ description: String) -> [HTML] {
    let parts = description.split(separator: ", ")
    return parts.enumerated().map { offset, part in
      "<span>\(String(part))\(offset == parts.count - 1 ? "" : ",")</span> "
    }
  }

  /// Number of all drinks sold.
  private var sold: Double { shelves.reduce(0.0) { $0 + Double(max(0, $1.sold)) } }

  /// Pie chart: each share is a dash of a circle's stroke. The stroke is twice as thick as the radius, so it fills the
  /// disc. The circumference has 1000 units.
  private func pie(_ frame: PageFrame) -> HTML {
    guard sold > 0 else { return #"<p class="quiet">\#(frame.messages.noPurchases)</p>"# }
    var start = 0
    var counted = 0.0
    // The last share is drawn as a whole circle below the others. Otherwise rounding would leave a thin gap
    // where the circle closes.
    let last = shelves.lastIndex { $0.sold > 0 } ?? 0
    let whole: HTML = #"<circle class="slice-\#(last % 10)" cx="32" cy="32" r="15.900"/>"#
    let slices = shelves.enumerated().map { offset, shelf -> HTML in
      counted += Double(max(0, shelf.sold))
      let end = Int((counted / sold * 1_000).rounded())
      defer { start = end }
      guard end > start else { return "" }
      return """
        <circle class="slice-\(offset % 10)" cx="32" cy="32" r="15.900" pathLength="1000" \
        stroke-dasharray="\(end - start) 1000" stroke-dashoffset="-\(start)"/>
        """
    }
    return
      #"<svg class="pie" viewBox="0 0 64 64" role="img" aria-label="\#(frame.messages.shares)">\#(whole)\#(slices)</svg>"#
  }

  /// Table row with a drink's number and share of the drinks sold; `place` decides its colour in the pie chart.
  private func share(_ shelf: DrinkShelf, _ place: Int, _ frame: PageFrame) -> HTML {
    let tenths = sold > 0 ? Int((Double(max(0, shelf.sold)) / sold * 1_000).rounded()) : 0
    return """
      <tr data-key="\(shelf.drink.id)"><td><span class="swatch slice-\(place % 10)"></span></td><th scope="row">\(shelf.drink.name)</th>\
      <td class="n">\(frame.messages.count(shelf.sold))</td><td class="n">\(tenths / 10).\(tenths % 10)%</td></tr>
      """
  }
}

extension ManagerLoginPage {
  /// Title of the page.
  public func title(_ frame: PageFrame) -> String { frame.messages.admin }
  /// Changing regions: none.
  public func parts(_ frame: PageFrame) -> [Region] { [] }

  /// Content of the page.
  public func body(_ frame: PageFrame, _ regions: [Region]) -> HTML {
    let messages = frame.messages
    let said: String? = isPaused ? messages.codePause : wasWrong ? messages.wrongCode : nil
    let wrong: HTML? = said.map { #"<p class="alarm" role="alert">\#($0)</p>"# }
    let fields: HTML = """
      <label class="field"><span>\(messages.code)</span><input type="password" name="code" autocomplete="off" required></label>\
      \(frame.button(messages.login, "strong"))
      """
    return """
      \(frame.heading(messages.admin, #"<a class="button" href="/vending">\#(messages.phrases.close)</a>"#))
      <section class="card"><p>\(messages.managerOnly)</p>\(wrong)\
      \(frame.form("/vending/admin/login", attributes: #" class="fields" data-plain"#, fields))</section>
      """
  }
}
