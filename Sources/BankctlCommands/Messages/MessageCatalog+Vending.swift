// Sentences about the vending machine: money, purchases,
// drinks and their dates, and refusals.
import Arguments
import BankModel
import Posix
import Time
import Wire

extension MessageCatalog {
  func balance(_ amount: Won) -> String { say("Balance: \(won(amount))", "잔액: \(won(amount))") }
  func inserted(_ amount: Won) -> String { say("Inserted \(won(amount)).", "\(won(amount))을 넣었습니다.") }
  func returned(_ amount: Won) -> String { say("Returned \(won(amount)).", "\(won(amount))이 반환되었습니다.") }
  /// Number of drinks that can be sold.
  func pieces(_ count: Quantity) -> String { say("\(Self.grouped(count)) left", "\(Self.grouped(count))개") }

  func expiredPieces(_ count: Quantity) -> String {
    say("\(Self.grouped(count)) expired", "유통기한 만료 \(Self.grouped(count))개")
  }

  /// Reason why a product cannot be bought: expired, sold out, or too little money.
  func unavailableReason(_ product: ProductReport, _ picture: VendingSnapshot) -> String {
    if product.stock == 0 { return product.expired > 0 ? say("expired", "유통기한 만료") : say("sold out", "품절") }
    return say(
      "\(won(product.price - picture.availableBalance)) short",
      "\(won(product.price - picture.availableBalance)) 부족")
  }

  /// Line about a purchase: time, product, price, expiry date.
  func purchase(_ purchase: MoneyChange, _ name: String?) -> String {
    let day = purchase.dates.map { say(", expires ", ", 유통기한 ") + CalendarDate($0.expires).dashed } ?? ""
    return "\(instant(purchase.at))  \(name ?? purchase.product?.name ?? "?")  \(won(purchase.amount))\(day)"
  }

  private func instant(_ time: WallTime) -> String { Timestamp.utc(milliseconds: time.milliseconds) }

  /// Sentence: drinks were added or removed, with the new total.
  func restocked(_ name: String, _ difference: Quantity, _ present: Quantity) -> String {
    let count = Self.grouped(abs(difference))
    if difference >= 0 {
      return say(
        "\(name): added \(count) (total \(Self.grouped(present))).",
        "\(name): \(count)개를 넣었습니다. 모두 \(Self.grouped(present))개입니다.")
    }
    return say(
      "\(name): removed \(count) (total \(Self.grouped(present))).",
      "\(name): \(count)개를 뺐습니다. 모두 \(Self.grouped(present))개입니다.")
  }

  /// Description of a lot: in Korean the drink's own description; in English brand, volume, price, name and dates.
  /// `-` for a lot without dates.
  func description(of lot: LotReport, _ product: ProductReport) -> String {
    guard !lot.description.isEmpty else { return "-" }
    return lot.description(of: product, phrases)
  }

  /// Sentence: this number of expired drinks was discarded.
  func discarded(_ count: Quantity) -> String {
    say(
      "\(Self.grouped(count)) expired \(count == 1 ? "drink" : "drinks") discarded.",
      "유통기한이 지난 음료 \(Self.grouped(count))개를 폐기했습니다.")
  }

  /// Sentence: the damaged database was renamed to this path.
  func setAside(_ path: String) -> String {
    say(
      "The damaged database was saved as \(path). The machine starts empty.",
      "손상된 데이터베이스는 \(path)에 보관했습니다. 자판기를 새로 시작합니다.")
  }

  /// Sentence: the value of an option is not a date.
  func noSuchDay(_ text: String, _ option: String) -> String {
    say(
      "\(option) \(quoted(text)) is not a date (1970 to 9999). Write it like 2026-03-01.",
      "\(option) \(KoreanParticle.topic.on(quoted(text))) 1970년–9999년의 날짜가 아닙니다. 2026-03-01처럼 쓰세요.")
  }

  /// Sentence: an expiry date is before the production date.
  func expiresBeforeMade(_ made: CalendarDate, _ expires: CalendarDate) -> String {
    say(
      "The expiry date \(expires.dashed) is before the production date \(made.dashed). Nothing was changed.",
      "유통기한(\(expires.dashed))이 제조일(\(made.dashed))보다 빠릅니다. 변경된 내용은 없습니다.")
  }

  /// Warning for unlikely dates: production in the future, or already expired. Nil for all other dates.
  func oddDates(_ name: String, made: DayNumber?, expires: DayNumber?, today: DayNumber) -> String? {
    if let made, made > today {
      let (date, now) = (CalendarDate(made).dashed, CalendarDate(today).dashed)
      return say(
        "\(name): the production date \(date) is in the future; today is \(now).",
        "\(name): 제조일 \(date)은 아직 오지 않은 날입니다. 오늘은 \(now)입니다.")
    }
    // With only a production date, the default shelf life is assumed.
    guard let last = expires ?? made.map({ $0 + ProductTable.shelfLife }), last < today else { return nil }
    let date = CalendarDate(last).dashed
    return say(
      "\(name): expired on \(date) and cannot be sold.", "\(name): 유통기한 \(date)이 이미 지나 팔 수 없습니다.")
  }

  /// Sentence: no product has this name, with near names or all names.
  func noSuchProduct(_ name: String, _ near: [String], _ known: [String]) -> String {
    let hint =
      near.isEmpty
      ? say("Known products: \(alternatives(known)).", "상품 목록: \(alternatives(known))")
      : say("Did you mean \(alternatives(near))?", "혹시 \(alternatives(near))인가요?")
    return say("There is no product \(quoted(name)). \(hint)", "\(quoted(name)) 상품은 없습니다. \(hint)")
  }

  /// Sentence: the vending machine does not respond, for the reason `why`. `isInDoubt`: a sent change may have been
  /// made.
  func machineSilent(_ why: String, _ isInDoubt: Bool) -> String {
    let fate =
      isInDoubt
      ? say(
        "It is not known whether this was done: see 'bankctl vending' for the machine and 'bankctl vending history' "
          + "for the purchases.",
        "처리되었는지는 알 수 없으니 'bankctl vending'에서 자판기를, 'bankctl vending history'에서 구매를 확인하세요.")
      : self.nothingChanged
    return say(
      "The vending machine does not respond (\(why)). \(fate) See 'bankctl status' and 'bankctl logs vending', then "
        + "try "
        + "again.",
      "자판기가 응답하지 않습니다(\(why)). \(fate) 'bankctl status'와 'bankctl logs vending'을 확인한 뒤 다시 시도하세요.")
  }

  /// Error of the command for a refusal of the machine.
  func commandFailure(about failure: VendingFailure) -> CommandFailure {
    CommandFailure(vending: failure.code, sentence(failure))
  }

  private func sentence(_ failure: VendingFailure) -> String {
    let detail = aside(localizedDetail(failure.detail, failure.messageDetail))
    let nothing = say(" Nothing was changed.", " 변경된 내용은 없습니다.")
    return switch failure.code {
    case .unknownProduct:
      say("There is no product \(quoted(failure.subject)).", "자판기에 \(quoted(failure.subject)) 상품은 없습니다.")
        + nothing
    case .badRequest:
      say(
        "The machine rejected the request: \(failure.subject)\(detail).",
        "자판기가 요청을 거절했습니다: \(failure.subject)\(detail).") + nothing
    case .orderConflict:
      say(
        "The request \(failure.subject) cannot be repeated\(detail).",
        "요청 \(KoreanParticle.topic.on(failure.subject)) 다시 실행할 수 없습니다\(detail).") + nothing
    case .tooLittleMoney:
      phrases.tooLittleMoney
        + say(
          " Price: \(won(failure.price ?? 0)); balance: \(won(failure.available ?? 0)).",
          " 가격은 \(won(failure.price ?? 0)), 잔액은 \(won(failure.available ?? 0))입니다.")
    case .soldOut:
      if let left = failure.available, left > 0 {
        say("Only \(Self.grouped(left)) left.", "\(phrases.soldOut) \(Self.grouped(left))개뿐입니다.")
      } else {
        phrases.soldOut
      }
    case .onlyExpired: phrases.onlyExpired
    case .balanceLimit: say("The balance limit is reached\(detail).", "잔액 한도에 이르렀습니다\(detail).") + nothing
    case .shelfFull:
      say(
        "The machine cannot hold more \(item(failure.subject))\(detail).",
        "\(KoreanParticle.object.on(item(failure.subject))) 더 넣을 자리가 없습니다\(detail).") + nothing
    case .wrongSide: say("Not allowed on this socket\(detail).", "이 소켓으로는 할 수 없습니다\(detail).") + nothing
    case .stockUnavailable:
      say("The stock service does not respond\(detail). Try again.", "재고 서비스가 응답하지 않습니다\(detail). 다시 시도하세요.")
        + nothing
    case .diskFull:
      say(
        "The disk is full\(detail). Free space and try again.", "디스크가 가득 찼습니다\(detail). 공간을 확보한 뒤 다시 시도하세요.")
        + nothing
    case .crowded: say("The machine is busy\(detail). Try again.", "자판기가 바쁩니다\(detail). 다시 시도하세요.") + nothing
    case .slowConsumer:
      say(
        "Too many events to show; some were skipped. List all purchases with 'bankctl vending history'.",
        "자판기의 이벤트가 너무 많아 일부를 생략했습니다. 구매 내역은 'bankctl vending history'로 모두 볼 수 있습니다.")
    }
  }
}

extension ProgramExit {
  /// Exit code for a refusal of the machine.
  init(_ code: VendingFailure.Code) {
    self =
      switch code {
      case .unknownProduct: .notFound
      case .badRequest: .usage
      case .orderConflict, .tooLittleMoney, .soldOut, .onlyExpired, .balanceLimit, .shelfFull, .wrongSide:
        .refused
      case .stockUnavailable, .diskFull, .crowded: .later
      case .slowConsumer: .failed
      }
  }
}
