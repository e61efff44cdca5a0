// Owns the sentences of the vending machine in both languages. The Korean ones are the original's where it had any.
// It must not know a terminal, nor how a purchase comes about. Invariant: whoever shows the machine, a terminal or a
// page, shows these words. Failure: none.

extension Phrasebook {
  /// What stands over the machine.
  public var vendingTitle: String { language == .korean ? "음료 자판기" : "Vending machine" }

  /// What stands over the manager's side.
  public var vendingAdminTitle: String { language == .korean ? "자판기 관리" : "Vending machine, manager" }

  /// The price is more than the balance: `잔액이 부족합니다.`
  public var tooLittleMoney: String {
    language == .korean ? "잔액이 부족합니다." : "There is not enough money in the machine."
  }

  /// There is none left: `재고가 부족합니다.`
  public var soldOut: String { language == .korean ? "재고가 부족합니다." : "It is sold out." }

  /// There are only some that may not be sold any more.
  public var onlyExpired: String {
    language == .korean ? "재고가 부족합니다. 남은 것은 모두 유통기한이 지났습니다." : "It is sold out: all that is left has expired."
  }

  /// A drink came out.
  public func drinkBought(_ drink: String) -> String {
    language == .korean ? "\(drink) 나왔습니다." : "Here is your \(drink)."
  }

  /// The kind of the second level.
  public func kind(_ kind: DrinkClass.Kind) -> String {
    switch (kind, language) {
    case (.milk, .korean): "우유"
    case (.soda, .korean): "탄산음료"
    case (.coffee, .korean): "커피"
    case (.energyDrink, .korean): "에너지음료"
    case (.milk, .english): "milk"
    case (.soda, .english): "soda"
    case (.coffee, .english): "coffee"
    case (.energyDrink, .english): "energy drink"
    }
  }
}
