// Sentences of the juice maker in both languages.
// The Korean sentences are those of the original app.

extension StringCatalog {
  /// Title of the shop.
  public var juiceTitle: String { localized("맛있는 쥬스를 만들어 드려요!", "We make you delicious juice!") }

  /// Alert after a juice was made: `딸기쥬스 나왔습니다! 맛있게 드세요!`
  public func juiceReady(_ juice: String) -> String {
    localized("\(juice) 나왔습니다! 맛있게 드세요!", "Your \(juice) is ready! Enjoy!")
  }

  /// Question after a shortage of fruit: ``yes`` opens the stock editor.
  public var tooLittleFruit: String {
    localized("재료가 모자라요. 재고를 수정할까요?", "There is not enough fruit. Change the stock?")
  }

  /// Error with the name of the fruit: `딸기의 재고가 부족합니다.`
  public func outOfStock(_ fruit: String) -> String {
    localized("\(fruit)의 재고가 부족합니다.", "There is not enough \(fruit) in stock.")
  }

  /// Answer to a question.
  public var yes: String { localized("예", "Yes") }
  /// Answer to a question.
  public var no: String { localized("아니오", "No") }
  /// Title of the stock editor.
  public var stockEditorTitle: String { localized("재고 추가", "Add stock") }
  /// Button that closes the stock editor.
  public var close: String { localized("닫기", "Close") }
}
