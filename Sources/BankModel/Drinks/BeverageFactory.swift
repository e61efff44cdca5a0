// Owns how a line of the product table becomes a drink. It knows no shelf and no file.
// Invariant: every product of the table can be made; a new line of a known class needs nothing here.

/// Makes drinks.
public enum BeverageFactory {
  /// One drink of a product.
  public static func make(_ product: Product, _ dates: LotDates) -> Beverage {
    let label = product.label
    return switch product.drinkClass {
    case .strawberryMilk(let isLowFat, let permille):
      StrawberryMilk(label, dates, isLowFat: isLowFat, strawberryPermille: permille)
    case .chocolateMilk(let isLowFat, let permille):
      ChocolateMilk(label, dates, isLowFat: isLowFat, chocolatePermille: permille)
    case .bananaMilk(let isLowFat, let permille):
      BananaMilk(label, dates, isLowFat: isLowFat, bananaPermille: permille)
    case .coke(let container, let flavour): Coke(label, dates, container: container, flavour: flavour)
    case .sprite(let container, let isLowSugar):
      Sprite(label, dates, container: container, isLowSugar: isLowSugar)
    case .top(let caffeine, let temperature, let isBlack):
      Top(label, dates, caffeine: caffeine, temperature: temperature, isBlack: isBlack)
    case .cantata(let caffeine, let temperature, let style):
      Cantata(label, dates, caffeine: caffeine, temperature: temperature, style: style)
    case .georgia(let caffeine, let temperature, let blend):
      Georgia(label, dates, caffeine: caffeine, temperature: temperature, blend: blend)
    case .hot6(let caffeine, let edition): Hot6(label, dates, caffeine: caffeine, edition: edition)
    case .monster(let caffeine, let taste): Monster(label, dates, caffeine: caffeine, taste: taste)
    }
  }
}
