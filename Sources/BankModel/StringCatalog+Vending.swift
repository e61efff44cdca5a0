// Sentences of the vending machine in both languages.
// The Korean sentences that the original app had are unchanged.

extension StringCatalog {
  /// Title of the machine.
  public var vendingTitle: String { localized("음료 자판기", "Vending machine") }
  /// Title of the manager's view.
  public var vendingAdminTitle: String { localized("자판기 관리", "Vending machine, manager") }
  /// Message if the price exceeds the balance: `잔액이 부족합니다.`
  public var tooLittleMoney: String { localized("잔액이 부족합니다.", "Insufficient balance.") }
  /// Message if the product is sold out: `재고가 부족합니다.`
  public var soldOut: String { localized("재고가 부족합니다.", "It is sold out.") }
  /// Message if all remaining pieces have expired.
  public var onlyExpired: String {
    localized("재고가 부족합니다. 남은 것은 모두 유통기한이 지났습니다.", "It is sold out: all that is left has expired.")
  }

  /// Message after a drink was sold.
  public func drinkBought(_ drink: String) -> String {
    localized("\(drink) 나왔습니다.", "Here is your \(drink).")
  }

  /// Word for a kind of drink.
  public func kind(_ kind: DrinkClass.Kind) -> String {
    switch kind {
    case .milk: localized("우유", "milk")
    case .soda: localized("탄산음료", "soda")
    case .coffee: localized("커피", "coffee")
    case .energyDrink: localized("에너지음료", "energy drink")
    }
  }

  /// Name of a brand in the language of the sentence. The built-in brands have Korean names and are translated; other
  /// brands are shown as configured.
  public func brand(_ name: String) -> String {
    guard language == .english else { return name }
    return switch name {
    case "서울우유": "Seoul Milk"
    case "팹시": "Pepsi"
    case "칠성사이다": "Chilsung Cider"
    case "맥심": "Maxim"
    case "롯데칠성음료": "Lotte Chilsung"
    case "조지아": "Georgia"
    case "몬스터음료": "Monster Beverage"
    default: name
    }
  }
}
