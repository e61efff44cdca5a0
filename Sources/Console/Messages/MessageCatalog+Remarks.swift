// Owns the particulars of errors and the findings of an audit in the reader's language. The lower floors name a kind and its
// values; the words of the system and of SQLite are quoted as they are.
// Invariant: every kind has a sentence in both languages; one that only a newer coordinator knows keeps its English words.
import Arguments
import BankModel

extension MessageCatalog {
  /// A particular in the language of the reader.
  ///
  /// - Parameter detail: Its English words as they came, for what is not known here.
  func particular(_ detail: String, _ remark: Remark?) -> String {
    guard language == .korean, let remark, let kind = remark.kind else { return detail }
    let sentence = remark.filling(Self.korean(kind)) { value, form in self.value(value, as: form) }
    return (remark.source.map(Self.korean) ?? "") + sentence
  }

  /// The same where it is at hand as a whole.
  package func particular(_ remark: Remark) -> String { particular(remark.description, remark) }

  /// The findings of an audit; the sentences as they came where an older coordinator says no more.
  func findings(_ sentences: [String], _ remarks: [Remark]?) -> [String] {
    guard let remarks, remarks.count == sentences.count else { return sentences }
    return zip(sentences, remarks).map { particular($0, $1) }
  }

  /// A value in the form that a Korean sentence names: with a particle, or by its name in this language.
  private func value(_ value: String, as form: String) -> String {
    switch form {
    case "service": Service(name: value).map { phrases.service($0) } ?? value
    case "grade": Grade(name: value).map { grade($0) } ?? value
    case "item": item(value)
    case "state": CustomerState(name: value).map { state($0) } ?? value
    case "은": Particle.topic.on(value)
    case "이": Particle.subject.on(value)
    case "을": Particle.object.on(value)
    default: value
    }
  }

  private static func korean(_ source: Remark.Source) -> String {
    switch source {
    case .stock: "재고: "
    case .machine: "자판기: "
    case .unauditedStock: "재고를 점검할 수 없습니다: "
    case .unauditedMachine: "자판기를 점검할 수 없습니다: "
    }
  }

  private static func korean(_ kind: Remark.Kind) -> String {
    switch kind {
    case .quoted:
      "{0}"
    case .booksServed:
      "영업 {0}일차 완료 고객: 장부에는 {1}, 기록에는 {2}"
    case .booksCancelled:
      "영업 {0}일차 취소 고객: 장부에는 {1}, 기록에는 {2}"
    case .booksFirstReceipt:
      "영업 {0}일차 첫 영수증: 장부에는 {1}, 기록에는 {2}"
    case .booksDelayed:
      "미뤄진 고객: 장부에는 {0}, 기록에는 {1}"
    case .booksDead:
      "보류된 고객: 장부에는 {0}, 기록에는 {1}"
    case .booksWaiting:
      "{0:service} {1:grade} 대기 고객: 장부에는 {2}, 기록에는 {3}"
    case .booksOfService:
      "{0:service} 완료 고객: 장부에는 {1}, 기록에는 {2}"
    case .wrongTransfer:
      "영수증 {0}: 이체가 업무, 금액, 계좌와 맞지 않습니다"
    case .more:
      "그 밖에 {0}건"
    case .neverIssued:
      "영업 {1}일차 {0}번은 발급된 적이 없습니다. 장부의 마지막 번호는 {2}번입니다"
    case .ticketTwice:
      "영업 {1}일차 {0}번이 여러 곳에 있습니다"
    case .ticketLost:
      "영업 {1}일차 {0}번은 발급되었으나 어디에도 없습니다"
    case .ticketsLost:
      "영업 {2}일차 {0}–{1}번은 발급되었으나 어디에도 없습니다"
    case .dayOutOfPlace:
      "장부의 {1}번째 영업일이 {0}일차로 적혀 있습니다"
    case .dayNotFollowed:
      "영업 {0}일차가 마감되었는데 다음 영업일이 없습니다"
    case .dayNotClosed:
      "영업 {0}일차가 마감된 적이 없습니다"
    case .dayClosedEarly:
      "고객이 남은 채 영업 {0}일차가 마감되었습니다"
    case .noDay:
      "고객이 있는데 영업일이 없습니다"
    case .strangeOrderRows:
      "주문 {0}건에 결과와 맞지 않는 기록이 있습니다"
    case .receiptOutOfOrder:
      "영업 {1}일차의 영수증 {0}이 영업 {2}일차 뒤에 있습니다"
    case .receiptOfNobody:
      "영수증 {0}: 영업 {2}일차 {1}번은 발급된 적이 없습니다"
    case .attemptsNotNumbered:
      "영업 {1}일차 {0}번: 시도의 번호가 1부터 {2}까지가 아닙니다"
    case .attemptsMiscounted:
      "영업 {1}일차 {0}번: 시도 {2}번으로 세었으나 기록과 다릅니다"
    case .keyOfNobody:
      "영업 {0}일차에 발급된 적이 없는 번호를 가리키는 키가 있습니다"
    case .receiptMissing:
      "영수증 {1} 앞에 영수증 {0:이} 없습니다"
    case .receiptMeaningless:
      "영수증 {0}: 업무, 등급, 결과 가운데 알 수 없는 값이 있습니다"
    case .customerMeaningless:
      "고객 기록의 자리 {0:은} 알 수 없는 값입니다"
    case .impossibleMoney:
      "{0}번: 금액이나 계좌가 있을 수 없는 값입니다"
    case .momentWithoutDelay:
      "{0}번: 다음 시도 시각은 미뤄진 고객에게만 있어야 합니다"
    case .attemptsUnrecorded:
      "영업 {1}일차 {0}번: 앞선 시도 {2}번 가운데 기록된 것이 없습니다"
    case .attemptOutOfPlace:
      "영업 {1}일차 {0}번: {3}번째 시도 자리에 {2}번째가 있습니다"
    case .attemptEndUnknown:
      "영업 {1}일차 {0}번: {2}번째 시도가 어떻게 끝났는지 알 수 없습니다"
    case .attemptsOfNobody:
      "영업 {1}일차 {0}번은 시도한 기록이 있으나 어디에도 없습니다"
    case .attemptsDiffer:
      "영업 {1}일차 {0}번: 시도 {2}번으로 세었으나 기록은 {3}번입니다"
    case .keyOfTicketsOfNobody:
      "발급된 적이 없는 영업 {2}일차 {0}–{1}번을 가리키는 키가 있습니다"
    case .servedOutOfTurn:
      "영업 {2}일차 {0:service} {1:grade}: 앞에 있던 {4}번보다 {3}번이 먼저 시작되었습니다"
    case .fileUnsound:
      "파일 (SQLite): {0}"
    case .changeMissing:
      "변경 {1} 앞에 변경 {0:이} 없습니다"
    case .changeLeaves:
      "변경 {0} 뒤의 {3:item} 재고가 {2}개 중 {1}개인데, 장부에는 {5}개 중 {4}개입니다"
    case .changeLeavesImpossible:
      "변경 {0} 뒤의 {3:item} 재고가 {2}개 중 {1}개로, 있을 수 없는 값입니다"
    case .changeOfUnknownOrder:
      "변경 {0}의 주문 {1:은} 기록에 없습니다"
    case .orderUnsaid:
      "주문 {0}에 변경 {1}에서 한 일이 적혀 있지 않습니다"
    case .orderMovedOther:
      "주문 {0:은} {2:item} {1}개를 청했으나 {3}개를 움직였습니다"
    case .orderMovedUnasked:
      "주문 {0:이} 청하지 않은 것을 움직였습니다"
    case .shelfDiffers:
      "{0:item}: 장부에는 {1}개, 실제로는 {2}개입니다"
    case .ordersDiffer:
      "재고를 바꿨다는 주문은 {0}건인데, 실제로 바꾼 주문은 {1}건입니다"
    case .moneyChangeMissing:
      "금액 변경 {1} 앞에 변경 {0:이} 없습니다"
    case .moneyChangeLeaves:
      "금액 변경 {0} 뒤의 잔액이 {1}원인데, 장부에는 {2}원입니다"
    case .moneyChangeLeavesImpossible:
      "금액 변경 {0} 뒤의 잔액이 {1}원으로, 있을 수 없는 값입니다"
    case .moneyChangeImpossible:
      "변경 {0}에서 넣은 돈이 {1}원으로, 있을 수 없는 값입니다"
    case .requestIsTwoThings:
      "요청 {0:이} 구매이면서 다른 것이기도 합니다"
    case .purchaseNotMade:
      "변경 {0}에 이루어지지 않은 구매가 적혀 있습니다"
    case .purchaseOther:
      "구매 {0:이} 변경 {1}에 다른 구매로 적혀 있습니다"
    case .purchaseMissing:
      "구매 {1} 앞에 구매 {0:이} 없습니다"
    case .purchasesDiffer:
      "이루어졌다는 구매는 {0}건인데, 장부에는 {1}건입니다"
    case .purchasesCost:
      "진행 중인 구매는 {0}원인데, 있는 돈은 {1}원입니다"
    case .moneyNowhere:
      "넣은 돈 {0}원이 어디에도 없습니다"
    case .booksDoNotAddUp:
      "영업 {0}일차 장부: 발급은 {1}명인데, 항목의 합은 {2}명입니다"
    case .waitingDiffers:
      "장부의 대기 고객은 {0}명인데, 줄과 창구에는 {1}명이 있습니다"
    case .delayedDiffers:
      "장부의 미뤄진 고객은 {0}명인데, 메모리에는 {1}명이 있습니다"
    case .lineOutOfOrder:
      "{0:service} {1:grade}: {2}번이 {3}번 뒤에 서 있습니다"
    case .servedWithoutOrder:
      "영업 {1}일차 {0}번은 쥬스를 받았으나, 재고에 그 주문이 없습니다"
    case .servedByShortOrder:
      "영업 {1}일차 {0}번은 쥬스를 받았으나, 재고에는 아무것도 쓰지 않은 주문으로 있습니다"
    case .servedByReturnedOrder:
      "영업 {1}일차 {0}번은 쥬스를 받았으나, 재고에는 반환된 주문으로 있습니다"
    case .sentAwayWithoutOrder:
      "영업 {1}일차 {0}번은 과일이 모자라 돌아갔으나, 재고에 그 주문이 없습니다"
    case .sentAwayByReturnedOrder:
      "영업 {1}일차 {0}번은 과일이 모자라 돌아갔으나, 재고에는 반환된 주문으로 있습니다"
    case .endedHolding:
      "영업 {1}일차 {0}번은 쥬스 없이 끝났으나, 재료를 잡고 있습니다 ({2})"
    case .orderOfNobody:
      "재고에 영업 {1}일차 {0}번의 주문이 있으나, 그런 번호가 없습니다"
    case .refuses:
      "요청을 거절했습니다: {0}"
    case .strangeAnswer:
      "엉뚱한 대답을 했습니다"
    case .foreignOrders:
      "재고의 주문 {0}건은 다른 장부의 번호표로 만들어졌습니다"
    case .moreOfStock:
      "재고에 그 밖에 {0}건"
    case .drinksDiffer:
      "재고에서 나간 음료는 {0}개인데, 값을 치른 것은 {1}개입니다"
    case .stranger:
      "은행이 모르는 프로세스가 이 홈에서 일하고 있습니다: {1}, pid {0}"
    case .cannotLook:
      "{0:을} 살펴볼 수 없습니다: {1}"
    case .otherOwner:
      "{0:은} 다른 사용자({1})의 것입니다"
    case .openToOthers:
      "{0:이} 다른 사용자에게 열려 있습니다. 권한이 {2:이} 아니라 {1}입니다"
    case .notReturned:
      "영업 {1}일차 {0}번은 취소되었으나, 재고가 잡아 둔 것을 돌려받지 않습니다: {2}"
    case .moreNotReturned:
      "재고가 돌려받지 않는 것이 그 밖에 {0}건"
    case .newBank:
      "{0}.db 파일은 지금까지 다른 bank.db와 함께 쓰였습니다"
    case .newDatabase:
      "{0}.db 파일은 새것이고, 은행은 지금까지 다른 파일과 함께 일했습니다"
    case .olderBank:
      "bank.db 파일이 옆의 {0}.db 파일보다 오래된 사본입니다"
    case .olderDatabase:
      "{0}.db 파일이 옆의 bank.db 파일보다 오래된 사본입니다"
    case .otherDatabase:
      "{0}.db 파일은 다른 은행의 것입니다"
    case .databaseMissing:
      "{0} 파일이 없는데, 주문은 있었습니다"
    case .cannotBegin:
      "프로세스가 시작되지 못합니다: {0}"
    case .endedAtOnce:
      "프로세스가 시작하자마자 끝납니다"
    case .presentDay: "지금은 {0}일차입니다"
    case .lastDay: "마지막 영업일은 {0}일차였습니다"
    case .waitAtMost: "{0}명이 기다리고 있고, 한도는 {1}명입니다"
    case .inUse: "{0:이} 쓰이고 있습니다"
    case .schemaFound: "발견한 스키마는 {0}판, 아는 것은 {1}판까지입니다"
    case .fileEmpty: "파일이 비어 있습니다"
    case .databaseRemoved: "은행이 열려 있는 동안 데이터베이스가 지워졌습니다"
    case .neverOpened: "이곳에서 은행을 연 적이 없습니다"
    case .accountRange: "계좌는 0부터 {0}까지이며, {1:은} 없습니다"
    case .listEmpty: "목록이 비어 있습니다"
    case .listEnded: "목록이 마지막 고객 앞에서 끝났습니다"
    case .listUnreadable: "목록을 다시 읽을 수 없습니다: {0}"
    case .emptyAfterOpening: "파일이 비어 있는데, 은행은 전에 열린 적이 있습니다"
    case .notDirectory: "디렉터리가 아닙니다"
    case .belongsToOther: "다른 사용자의 것입니다"
    case .writableByOthers: "다른 사용자가 쓸 수 있고 다른 것이 들어 있습니다. 빈 디렉터리를 쓰세요"
    case .pathTooLong: "경로가 {0}바이트인데, {1}바이트까지 쓸 수 있습니다"
    case .timeoutNegative: "제한 시간은 음수일 수 없습니다"
    case .noRange: "{0}–{1}번은 범위가 아닙니다"
    case .serviceTwice: "같은 업무가 두 번 적혔습니다"
    case .windowsRange: "{0:service} 창구는 0개부터 {1}개까지이며, {2}개는 안 됩니다"
    case .viewsAtMost: "한 연결에서 지켜보는 요청은 {0}개까지입니다"
    case .answersAtMost: "한 연결에서 기다리는 대답은 {0}개까지입니다"
    case .resetOtherDay: "{0}일차를 초기화하려 했으나, 지금은 {1}일차입니다"
    case .resetMeanwhile: "요청을 받는 동안 대기열이 초기화되었습니다"
    case .reserveInUse: "남겨 둔 공간까지 쓰고 있습니다"
    case .noRoomForReceipts: "올 고객의 영수증을 둘 공간이 없습니다"
    case .emptyBesideLog: "파일은 비어 있는데, 옆의 로그는 비어 있지 않습니다"
    case .notSQLite: "SQLite 데이터베이스가 아닙니다"
    case .otherApplication: "다른 프로그램의 데이터베이스입니다"
    case .noSchemaVersion: "스키마에 판 번호가 없습니다"
    case .logNotOn: "로그(WAL)를 켤 수 없습니다({0})"
    case .logNotLeft: "로그(WAL)를 끌 수 없습니다({0})"
    case .fileNotCreated: "파일을 만들 수 없습니다: {0}"
    case .notCreated: "{0:을} 만들 수 없습니다: {1}"
    case .notCopied: "들여다보려고 복사할 수 없습니다({0}). TMPDIR을 공간이 있는 곳으로 정하세요"
    case .fileRemoved: "파일이 지워지거나 이름이 바뀌었습니다"
    case .storeClosed: "이미 닫혔습니다"
    case .amountImpossible: "{0:은} 쓸 수 없는 개수입니다. {1}까지 쓸 수 있습니다"
    case .itemTwice: "같은 것이 두 번 적혔습니다"
    case .itemCount: "주문 하나에는 1가지부터 {0}가지까지이며, {1}가지는 안 됩니다"
    case .orderName: "주문의 이름은 보이는 ASCII 문자 1–{0}바이트입니다"
    case .badDates: "날짜가 아니거나 순서가 바뀌었습니다"
    case .nameOfOther: "그 이름은 다른 것을 청한 주문의 것입니다"
    case .wasGivenBack: "주문이 반환되었습니다"
    case .presentAtMost: "지금 {0}개이고, {1}개까지 둘 수 있습니다"
    case .lotsHaveDates: "날짜가 있는 묶음이니 개수를 더하거나 빼세요"
    case .lotsAlready: "묶음이 이미 {0}개입니다"
    case .noRoomForShelves: "새 재고를 만들 공간이 없습니다"
    case .insertionRange: "한 번에 {0}원부터 {1}원까지 넣을 수 있습니다"
    case .requestName: "요청의 이름은 보이는 ASCII 문자 1–{0}바이트입니다"
    case .nameOfOtherRequest: "그 이름은 다른 것을 청한 요청의 것입니다"
    case .balanceAtMost: "자판기에는 {0}원까지 들어갑니다"
    case .purchasesUnderWay: "구매 {0}건이 진행 중입니다"
    case .expiresBeforeMade: "날짜가 아니거나 유통기한이 제조일보다 빠릅니다"
    case .amountRange: "{0:은} 쓸 수 없는 개수입니다. 1부터 {1}까지 쓸 수 있습니다"
    case .changesNothing: "이것으로는 바뀌는 것이 없습니다"
    case .managersSocket: "관리자의 소켓입니다"
    case .customersSocket: "고객의 소켓입니다"
    case .viewsOpen: "이미 {0}개가 지켜보고 있습니다"
    case .noSocket: "소켓 {0:이} 없습니다"
    case .nobodyListens: "{0}에서 듣는 프로세스가 없습니다"
    case .noRoomForConnection: "{0}에 지금은 더 연결할 수 없습니다"
    case .peerClosed: "상대가 연결을 끊었습니다"
    case .peerClosedMidFrame: "상대가 메시지 도중에 연결을 끊었습니다"
    case .malformed: "상대가 잘못된 메시지를 보냈습니다: {0}"
    case .oversized: "상대가 너무 긴 메시지를 보내려 했습니다"
    case .connectionFailed: "연결에 실패했습니다: {0}"
    case .peerDoesNotRead: "상대가 보낸 것을 읽지 않습니다"
    case .unsendable: "메시지를 보낼 수 없습니다: {0}"
    case .closedHere: "이쪽에서 연결을 끊었습니다"
    case .noAnswer: "서비스가 대답하지 않습니다"
    case .stockSilent: "재고 서비스가 대답하지 않습니다"
    case .endedMeanwhile: "그 일을 하는 동안 서비스가 {0}번 끝났습니다"
    case .nobodyListensYet: "듣는 프로세스가 없습니다"
    case .showsNothing: "아무것도 보여 주지 않습니다"
    case .noPicture: "현황을 받지 못했습니다"
    case .booksImpossible: "영업 {0}일차 장부에 있을 수 없는 값이 있습니다"
    case .uncancelled: "영업 {0}일차에 취소할 수 없는 고객이 있습니다"
    case .waitsWithReceipt: "영업 {0}일차에 기다리는 고객 중 이미 영수증이 있는 고객이 있습니다"
    case .waitsCancelled: "영업 {0}일차에 기다리는 고객 중 이미 취소된 고객이 있습니다"
    case .cancelledBefore: "영업 {1}일차 {0}번은 이미 취소되었습니다"
    case .receiptTwice: "영업 {1}일차 {0}번에는 이미 영수증이 있습니다"
    case .shortTwice: "영업 {1}일차 {0}번에 모자란 재료가 두 번 적혔습니다: {2:item}"
    case .releaseUnknown: "영업 {1}일차 {0}번에게 돌려줄 것이 없습니다"
    case .alreadyIs: "영업 {1}일차 {0}번은 이미 {2:state} 상태입니다"
    case .alreadyInQueue: "영업 {1}일차 {0}번은 이미 줄에 서 있습니다"
    case .notAmong: "영업 {1}일차 {0}번은 {2:state} 상태가 아닙니다"
    case .attemptTwice: "영업 {2}일차 {1}번의 {0}번째 시도는 이미 기록되어 있습니다"
    case .keyRemembered: "영업 {2}일차 {0}–{1}번의 키는 이미 기록되어 있습니다"
    case .dayTwice: "영업 {0}일차는 이미 있었습니다"
    case .dayMissing: "영업 {0}일차가 없습니다"
    case .dayRowMissing: "영업 {0}일차의 기록이 없습니다"
    case .noBusinessDay: "영업일이 없습니다"
    case .presentDayClosed: "지금의 영업 {0}일차가 이미 마감되어 있습니다"
    case .startsMissing: "은행을 연 횟수의 기록이 없습니다"
    case .booksNameBroken: "장부의 이름이 온전하지 않습니다"
    case .receiptsWithoutDay: "영수증이 있는데 영업일이 없습니다"
    case .dayNotCarried: "영업 {0}일차는 고객 {1}명으로 끝났는데, 다음 영업일은 {2}명으로 시작합니다"
    case .delayedWithoutMoment: "{0}번은 미뤄졌는데 다음 시도 시각이 없습니다"
    case .receiptOutcome: "영수증 {0}의 결과 {1:은} 알 수 없는 값입니다"
    case .serviceUnknown: "업무 {0:은} 알 수 없는 값입니다"
    case .gradeUnknown: "등급 {0:은} 알 수 없는 값입니다"
    case .numberRange: "숫자 {0:이} 범위를 벗어났습니다"
    case .orderOutcome: "주문 {0}의 결과 {1:은} 알 수 없는 값입니다"
    case .orderShortUnknown: "주문 {0}에 모자랐던 것이 재고에 없는 종류입니다"
    case .changeMeaningless: "변경 {0:은} 알 수 없는 값입니다"
    case .lotMeaningless: "{0}번째 종류에 알 수 없는 묶음이 있습니다"
    case .itemNumber: "{0}번째 종류의 번호나 이름이 잘못되었습니다"
    case .itemKept: "{0:item}: 이미 있는 종류입니다"
    case .changeTwice: "변경 {0:은} 장부에 이미 있거나 변경이 아닙니다"
    case .changeLeavesLot: "변경 {0} 뒤에 남는 묶음이 {1}개로, 있을 수 없는 값입니다"
    case .orderAnswered: "주문 {0:은} 이미 처리되었습니다"
    case .orderShortAlready: "주문 {0:은} 이미 모자란 것으로 적혀 있습니다"
    case .orderNotHolding: "주문 {0:은} 돌려줄 것을 잡고 있지 않습니다"
    case .itemUnknown: "{0:item}: 없는 종류입니다"
    case .balanceDiffers: "마지막 잔액은 {0}원인데, 기록을 모두 더하면 {1}원입니다"
    case .purchaseCostsMore: "진행 중인 구매의 값이 있는 돈보다 많습니다"
    case .purchaseEnded: "구매 {0:은} 이미 끝났거나 시작된 적이 없습니다"
    case .purchaseState: "구매 {0}의 상태 {1:은} 알 수 없는 값입니다"
    case .purchaseNumber: "구매 번호 {0:은} 있을 수 없는 값입니다"
    case .purchaseTwice: "구매 {0} 또는 요청 {1:은} 이미 시작되었습니다"
    case .moneyChangeTwice: "변경 {0} 또는 요청 {1:은} 이미 장부에 있습니다"
    case .olderVersion: "이전 판의 파일입니다"
    case .missingBesideLog: "파일은 없는데 로그 {0:은} 있습니다"
    case .zeroByte: "경로에 널 문자가 있습니다"
    case .partAtMost: "목록의 한 부분은 {0}명까지이며, {1}명은 안 됩니다"
    case .customersAtMost: "한 번에 고객 {0}명까지 추가할 수 있습니다"
    case .notInList: "{0:service} 고객은 목록으로 추가할 수 없습니다"
    case .moneyRange: "금액은 1원부터 {0}원까지이며, {1}원은 안 됩니다"
    case .keyLength: "키는 1바이트부터 {0}바이트까지이며, {1}바이트는 안 됩니다"
    case .customersRange: "한 번에 고객 1명부터 {0}명까지 추가할 수 있으며, {1}명은 안 됩니다"
    case .payloadAtMost: "맡기는 내용은 {0}바이트까지이며, {1}바이트는 안 됩니다"
    case .processCode: "종료 코드 {0}"
    case .processSignal: "신호 {0}"
    case .processUnseen: "끝난 까닭을 알 수 없음"
    case .cannotBeginCode: "프로세스가 시작되지 못합니다: 종료 코드 {0}"
    case .cannotBeginSignal: "프로세스가 시작되지 못합니다: 신호 {0}"
    case .fileDamaged: "{0} 손상({1})"
    case .otherBuild: "{0}: 프로토콜 {1}판, 빌드 {2}의 프로그램과는 함께 일할 수 없습니다"
    case .earlyAnswer: "인사보다 먼저 온 대답"
    case .secondWelcome: "두 번째 인사"
    case .endsMidFrame: "메시지 도중에 끊김"
    case .tooManyAnswers: "요청보다 많은 대답"
    case .nothingAnswered: "빈 대답"
    case .otherAnswer: "'{0}' 대답"
    case .viewBegunAnew: "변경 {0} 뒤에 변경 {1}의 현황이 새로 왔습니다"
    case .viewRefused: "지켜보기를 거절당했습니다: {0}"
    case .viewOutOfOrder: "변경 {0} 다음에 변경 {1:이} 왔습니다"
    case .viewDiffers: "변경 {0} 뒤의 {2:item} 재고가 {3}개가 아니라 {1}개입니다"
    case .viewEndsEarly: "마지막 변경은 {0}인데, 마지막으로 들은 변경은 {1}입니다"
    case .viewSum: "들은 변경을 모두 더해도 지금 있는 것과 다릅니다"
    case .balanceAfter: "{0} 뒤의 잔액이 {2}원이 아니라 {1}원입니다"
    case .wasRefused: "요청 {0:이} 거절되었습니다: {1}"
    case .wasAnsweredOtherwise: "요청 {0}에 엉뚱한 대답이 왔습니다: {1}"
    case .balanceIs: "잔액이 {1}원이 아니라 {0}원입니다"
    case .drinksAre: "{1:item}: {2}개가 아니라 {0}개입니다"
    case .purchasesKept: "기록된 구매는 {0}건인데, 대답을 받은 구매는 {1}건입니다"
    }
  }
}
