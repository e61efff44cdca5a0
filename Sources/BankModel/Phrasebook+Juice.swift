// Owns the sentences of the juice maker in both languages. The Korean ones are the original's, to the letter.
// It must not know a terminal, nor how a juice comes about. Invariant: whoever shows the shop, a terminal or a page,
// shows these words. Failure: none.

extension Phrasebook {
  /// What stands over the shop.
  public var juiceTitle: String {
    switch language {
    case .korean: "맛있는 쥬스를 만들어 드려요!"
    case .english: "We make you delicious juice!"
    }
  }

  /// The alert when a juice is made: `딸기쥬스 나왔습니다! 맛있게 드세요!`
  public func juiceReady(_ juice: String) -> String {
    switch language {
    case .korean: "\(juice) 나왔습니다! 맛있게 드세요!"
    case .english: "Your \(juice) is ready! Enjoy!"
    }
  }

  /// The alert when there is too little fruit, which is a question: ``yes`` leads to the stock editor, ``no`` closes.
  public var tooLittleFruit: String {
    switch language {
    case .korean: "재료가 모자라요. 재고를 수정할까요?"
    case .english: "There is not enough fruit. Change the stock?"
    }
  }

  /// The error that names the fruit: `딸기의 재고가 부족합니다.`
  public func outOfStock(_ fruit: String) -> String {
    switch language {
    case .korean: "\(fruit)의 재고가 부족합니다."
    case .english: "There is not enough \(fruit) in stock."
    }
  }

  /// Leads to the stock editor.
  public var yes: String { language == .korean ? "예" : "Yes" }

  /// Closes the alert.
  public var no: String { language == .korean ? "아니오" : "No" }

  /// What stands over the stock editor.
  public var stockEditorTitle: String { language == .korean ? "재고 추가" : "Add stock" }

  /// Leads back from the stock editor.
  public var close: String { language == .korean ? "닫기" : "Close" }
}
