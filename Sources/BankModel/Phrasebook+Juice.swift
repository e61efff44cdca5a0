// Owns the sentences of the juice maker in both languages. The Korean ones are the original's, to the letter.
// Invariant: whoever shows the shop, a terminal or a page, shows these words.

extension Phrasebook {
  /// What stands over the shop.
  public var juiceTitle: String { say("맛있는 쥬스를 만들어 드려요!", "We make you delicious juice!") }

  /// The alert when a juice is made: `딸기쥬스 나왔습니다! 맛있게 드세요!`
  public func juiceReady(_ juice: String) -> String {
    say("\(juice) 나왔습니다! 맛있게 드세요!", "Your \(juice) is ready! Enjoy!")
  }

  /// The alert when there is too little fruit, which is a question: ``yes`` leads to the stock editor, ``no`` closes.
  public var tooLittleFruit: String {
    say("재료가 모자라요. 재고를 수정할까요?", "There is not enough fruit. Change the stock?")
  }

  /// The error that names the fruit: `딸기의 재고가 부족합니다.`
  public func outOfStock(_ fruit: String) -> String {
    say("\(fruit)의 재고가 부족합니다.", "There is not enough \(fruit) in stock.")
  }

  /// Leads to the stock editor.
  public var yes: String { say("예", "Yes") }
  /// Closes the alert.
  public var no: String { say("아니오", "No") }
  /// What stands over the stock editor.
  public var stockEditorTitle: String { say("재고 추가", "Add stock") }
  /// Leads back from the stock editor.
  public var close: String { say("닫기", "Close") }
}
