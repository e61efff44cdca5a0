// HTML of the juice maker: order screen and stock editor.
// Invariant: the button of a juice without enough fruit is grey and marked. It can still be pressed: the server then
// asks the question of the original screen, whose "yes" opens the stock editor.
import BankModel

extension JuicePage {
  /// Title of the page.
  public func title(_ frame: PageFrame) -> String { frame.messages.juiceMaker }

  /// Changing regions of the page.
  public func parts(_ frame: PageFrame) -> [Region] {
    [
      .block("shop", isOpen ? "" : #"<p class="banner bad">\#(frame.messages.stockServiceUnavailable)</p>"#),
      .rows(
        "fruits", fruits, key: \.id.name,
        row: { fruit in
          """
          <li data-key="\(fruit.id)">\(FruitPicture.use(fruit.id, fruit.emoji))<span>\(fruit.name)</span> \
          <b data-fruit="\(fruit.id)">\(fruit.quantity)</b></li>
          """
        }),
      .rows("juices", ordered, key: \.id.name, row: { order($0, frame) }),
      .block(
        "spoken",
        "\(fruits.map { "\($0.name) \($0.quantity)" }.joined(separator: ", "))"),
    ]
  }

  /// Content of the page.
  public func body(_ frame: PageFrame, _ regions: [Region]) -> HTML {
    let messages = frame.messages
    return """
      \(FruitPicture.sprite)
      \(frame.heading(messages.phrases.juiceTitle, #"<a class="button" href="/juice/stock">\#(messages.editStock)</a>"#))
      \(regions.place("shop"))
      \(regions.place("spoken", "p", " hidden"))
      \(regions.place("fruits", "ul", #" class="fruits""#))
      \(regions.place("juices", "ul", #" class="juices""#))
      """
  }

  /// The juices in display order. Juices of several fruits are first and larger. The others are in the order of their
  /// fruits.
  private var ordered: [JuiceRow] {
    let places = Dictionary(
      fruits.enumerated().map { ($0.element.id, $0.offset) }, uniquingKeysWith: { first, _ in first })
    /// Rank of a juice in display order. Juices of equal rank are in the order of the assortment.
    func place(_ juice: JuiceRow) -> Int {
      juice.recipe.count > 1 ? -1 : juice.recipe.first.flatMap { places[$0.fruit] } ?? fruits.count
    }
    return juices.enumerated().sorted { (place($0.element), $0.offset) < (place($1.element), $1.offset) }.map(
      \.element)
  }

  /// List item with the form that orders a juice.
  private func order(_ juice: JuiceRow, _ frame: PageFrame) -> HTML {
    let messages = frame.messages
    let short: HTML? = juice.isAvailable ? nil : #" <small class="badge">\#(messages.cannotBeMade)</small>"#
    let parts = juice.recipe.map { part -> HTML in
      let cssClass: HTML = part.available < part.needed ? #" class="alarm""# : ""
      return "<span\(cssClass)>\(part.name) \(part.needed)</span> "
    }
    let pictures = juice.recipe.map { FruitPicture.use($0.fruit, "") }
    let inside: HTML = """
      <button class="juice" id="juice-\(juice.id)" data-juice="\(juice.id)" aria-disabled="\(juice.isAvailable ? "false" : "true")"\
      \(frame.disabledAttribute)><span class="pictures" aria-hidden="true">\(pictures)</span><b>\(messages.order(juice.name))</b>\
      <small>\(parts)</small>\(short)</button>
      """
    return """
      <li data-key="\(juice.id)" class="\(juice.recipe.count > 1 ? "blend" : "")">\
      \(frame.form("/juice", [("juice", juice.id.name)], attributes: " data-wait", inside))</li>
      """
  }
}

extension StockPage {
  /// Title of the page.
  public func title(_ frame: PageFrame) -> String { frame.messages.phrases.stockEditorTitle }

  /// Changing regions, without the field for a typed amount, so that typed text is not disturbed.
  public func parts(_ frame: PageFrame) -> [Region] {
    [
      .block("shop", isOpen ? "" : #"<p class="banner bad">\#(frame.messages.stockServiceUnavailable)</p>"#),
      .rows(
        "fruits", fruits, key: \.id.name,
        row: { fruit in
          let messages = frame.messages
          /// Form with the button that changes the amount of a fruit by `change` (1 or -1); `isOff` disables the
          /// button.
          func step(_ change: String, _ label: String, _ sign: String, _ isOff: Bool) -> HTML {
            let off: HTML = isOff ? " disabled" : frame.disabledAttribute
            return frame.form(
              "/stock", [("item", fruit.id.name), ("change", change)], attributes: #" data-quiet"#,
              """
              <button class="step" id="step-\(fruit.id)\(change)" data-hold aria-label="\(fruit.name): \(label)"\(off)>\(sign)</button>
              """)
          }
          return """
            <li data-key="\(fruit.id)">\(FruitPicture.use(fruit.id, fruit.emoji))<span>\(fruit.name)</span>\
            <div class="stepper">\(step("-1", messages.fewer, "−", fruit.quantity <= 0))\
            <output data-fruit="\(fruit.id)">\(fruit.quantity)</output>\
            \(step("1", messages.more, "+", fruit.quantity >= StockLimits.quantity))</div></li>
            """
        }),
      .block("spoken", "\(fruits.map { "\($0.name) \($0.quantity)" }.joined(separator: ", "))"),
    ]
  }

  /// Content of the page.
  public func body(_ frame: PageFrame, _ regions: [Region]) -> HTML {
    let messages = frame.messages
    let choice = frame.select(
      "item", messages.fruit, fruits.map { ($0.id.name, $0.name) }, chosen: fruits.first?.id.name ?? "")
    let fields: HTML = """
      \(choice)\(frame.number("quantity", messages.quantity, value: 10, in: 0...StockLimits.quantity))\
      \(frame.button(messages.setTo, "strong"))
      """
    return """
      \(FruitPicture.sprite)
      \(frame.heading(messages.phrases.stockEditorTitle, #"<a class="button" href="/juice">\#(messages.phrases.close)</a>"#))
      \(regions.place("shop"))
      \(regions.place("spoken", "p", " hidden"))
      \(regions.place("fruits", "ul", #" class="fruits editor""#))
      <section class="card">\(frame.form("/stock", attributes: #" class="fields""#, fields))</section>
      """
  }
}
