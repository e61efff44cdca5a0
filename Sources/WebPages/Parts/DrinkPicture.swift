// Drawings of drinks, made for this project.
// Invariant: each drawing is one symbol that a document contains once and refers to by its id.
import BankModel

enum DrinkPicture {
  /// Drawing of a drink; that of its kind if it has none of its own.
  static func use(_ drink: ItemID, _ kind: DrinkClass.Kind?) -> HTML {
    let name = names.contains(drink.name) ? drink.name : plain(kind)
    return
      ##"<svg class="picture" viewBox="0 0 48 64" aria-hidden="true"><use href="#drink-\##(name)"/></svg>"##
  }

  /// Name of the drink whose drawing stands for a kind.
  private static func plain(_ kind: DrinkClass.Kind?) -> String {
    switch kind {
    case .milk: "strawberry-milk"
    case .coffee: "cantata"
    case .energyDrink: "hot6"
    case .soda, nil: "sprite"
    }
  }

  /// Drinks with a drawing.
  private static let names: Set<String> = [
    "strawberry-milk", "chocolate-milk", "banana-milk", "coke", "sprite", "top", "cantata", "georgia", "hot6",
    "monster",
  ]

  /// All symbols. A document contains them once, before their first use.
  static let sprite: HTML = """
    <svg class="sprite" aria-hidden="true"><defs>
    \(carton("strawberry-milk", "#f7a8bd", "#d9577b", "M24 49c-7-4-9-8-8-12 1-3 4-4 8-2 4-2 7-1 8 2 1 4-1 8-8 12z", "#e5344e"))
    \(carton("chocolate-milk", "#a9714b", "#6d4026", "M15 36h8v6h-8zm10 0h8v6h-8zM15 44h8v6h-8zm10 0h8v6h-8z", "#4a2815"))
    \(carton("banana-milk", "#fbe08a", "#d9ab2a", "M33 33c3 9-1 16-12 18-3 0-5-1-6-2 8 0 14-6 15-16z", "#f0b90b"))
    \(can("coke", "#d3202f", "#8f101c", "M12 40c6-8 12 6 24-3v6c-12 8-18-5-24 3z", "#ffffff"))
    \(can("sprite", "#2f9e57", "#176b38", "M24 29a9 9 0 1 0 .100 0zm0 3 2 5h-4zm0 12-2-5h4zm-6-6 5-1v4zm12 0-5 3v-4z", "#f4e04d"))
    \(can("top", "#22242c", "#0d0e12", "M13 32h22v5H13zm8 5h6v15h-6z", "#d8b56a"))
    \(can("cantata", "#8a5a36", "#57351c", "M24 30c6 4 8 9 6 14-1 4-3 6-6 7-3-1-5-3-6-7-2-5 0-10 6-14zm0 3c-2 6 2 8 0 15", "#f3e2c8"))
    \(can("georgia", "#1f5fa8", "#123a6b", "M14 34h20l-2 12c-1 4-15 4-16 0zm20 2c5 0 5 7-1 7", "#f3e2c8"))
    \(can("hot6", "#c9d3df", "#7f8fa3", "M29 30c-9 1-12 8-12 14 0 5 3 8 7 8s7-3 7-7-3-6-6-6c-2 0-3 0-4 1 1-4 4-6 8-7z", "#d3202f"))
    \(can("monster", "#1a1d1a", "#050605", "m14 30 3 3v16l-2 3-2-4 1-6zm9 0 3 3v20l-2 3-2-4 1-8zm9 0 3 3-1 14-2 5-2-4 2-8z", "#7ee03f"))
    </defs></svg>
    """

  /// Drawing of a milk carton: colours of its front and its side, and path data and colour of the sign on it.
  private static func carton(_ name: HTML, _ front: HTML, _ side: HTML, _ sign: HTML, _ colour: HTML) -> HTML
  {
    """
    <symbol id="drink-\(name)" viewBox="0 0 48 64"><path fill="\(side)" d="M34 22h6v40h-6zM34 22l6-1-4-11h-4z"/>\
    <path fill="#fffdf7" d="M10 4h26v7H10z"/><path fill="\(front)" d="M8 22h28v40H8zM8 22l4-12h22l2 12z"/>\
    <path fill="#ffffff" d="M12 30h20v24H12z" opacity=".900"/><path fill="\(colour)" d="\(sign)"/>\
    <path fill="\(side)" d="M8 58h28v4H8z" opacity=".500"/></symbol>
    """
  }

  /// Drawing of a can: colours of its front and its side, and path data and colour of the sign on it.
  private static func can(_ name: HTML, _ front: HTML, _ side: HTML, _ sign: HTML, _ colour: HTML) -> HTML {
    """
    <symbol id="drink-\(name)" viewBox="0 0 48 64"><path fill="#b9c0ca" d="M14 3h20l4 6v50l-4 4H14l-4-4V9z"/>\
    <path fill="\(front)" d="M10 12h28v46H10z"/><path fill="\(side)" d="M31 12h7v46h-7z" opacity=".600"/>\
    <path fill="#ffffff" d="M13 12h3v46h-3z" opacity=".350"/><ellipse cx="24" cy="5" rx="9" ry="2" fill="#8c95a3"/>\
    <path fill="\(colour)" stroke="\(side)" stroke-width=".600" d="\(sign)"/></symbol>
    """
  }
}
