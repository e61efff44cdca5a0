// Constant sentences,
// each in both languages at the same place.
import Arguments

/// Sentences of bankctl without values, each in both languages. `MessageCatalog` has them as members, in the
/// language of the catalog.
package struct FixedMessages: Sendable {
  static let all = FixedMessages()

  let clean = Text("Every guarantee that can be checked holds.", "확인할 수 있는 모든 보장이 지켜졌습니다.")
  let broken = Text("At least one guarantee is violated.", "지켜지지 않은 보장이 있습니다.")
  let moneyDifference = Text("money difference", "금액 차이")
  let ledgerDifference = Text("ledger difference", "원장 차액")

  let noCustomers = Text("none", "없음")
  let noReceipts = Text("There are no receipts.", "영수증이 없습니다.")
  let noEntries = Text("The ledger has no entries yet.", "원장에 아직 내역이 없습니다.")

  /// Printed after the first Ctrl-C or other signal while tickets are being issued.
  let withdrawing = Text(
    "Cancelling the request. Press Ctrl-C again to leave without waiting for the response.",
    "요청을 취소하는 중입니다. Ctrl-C를 한 번 더 누르면 응답을 기다리지 않고 끝냅니다.")

  let crowded = Text(
    "The coordinator has reached its connection limit. Try again in a moment.",
    "코디네이터의 연결 수가 한도에 이르렀습니다. 잠시 뒤 다시 시도하세요.")

  // The Korean texts of the menu are those of the original console app.
  let menu = Text("1 : Open the bank\n2 : Exit\nInput : ", "1 : 은행개점\n2 : 종료\n입력 : ")
  let wrongInput = Text("That is not on the menu.", "잘못된 입력입니다.")
  let consoleNeedsTerminal = Text(
    "The console is an interactive menu without JSON. Scripts can use 'bankctl open --json'.",
    "console은 사람을 위한 메뉴라서 JSON이 없습니다. 스크립트에는 'bankctl open --json'을 쓰세요.")

  /// Printed after a Ctrl-C at the last step of a drain.
  let drainContinues = Text(
    "Detached; the bank keeps closing. Check with 'bankctl status'.",
    "이 명령만 끝납니다. 은행은 계속 마감합니다. 끝났는지는 'bankctl status'로 확인하세요.")

  let canBeMade = Text("can be made", "주문 가능")

  let noLogLines = Text("The logs have no such lines.", "해당하는 로그가 없습니다.")

  let pasteIgnored = Text("Pasted text was ignored.", "붙여넣은 내용은 무시합니다.")

  let noWindows = Text("no windows are open", "열린 창구가 없습니다")

  let reloaded = Text("The configuration was read again.", "설정을 다시 읽었습니다.")
  /// Printed after the first Ctrl-C during `open`.
  let closingEarly = Text(
    "Closing: finishing active customers. Press again to kill the workers; their customers wait for the next start.",
    "마감합니다. 업무중인 고객만 마칩니다. 한 번 더 누르면 워커를 강제 종료하고, 그 고객은 다음 개점을 기다립니다.")
  /// Printed after the first signal to a bank in the foreground.
  let draining = Text(
    "Closing: serving all waiting customers. Press again to finish only active customers.",
    "마감합니다. 기다리는 고객을 모두 처리합니다. 한 번 더 누르면 업무중인 고객만 마칩니다.")
  let endedAtOnce = Text(
    "Stopped immediately. Customers with tickets wait for the next start.",
    "바로 끝냈습니다. 번호표가 있는 고객은 다음 개점을 기다립니다.")

  let nothingToAdd = Text(
    "stock add: an amount of 0 changes nothing. Give the number to add; a negative number removes.",
    "stock add: 0개로는 변경되지 않습니다. 더할 개수를 지정하세요. 음수면 뺍니다.")
  let editorNeedsTerminal = Text(
    "The stock editor needs a terminal. Use 'bankctl stock set FRUIT N' or 'bankctl stock add FRUIT N'.",
    "재고 편집기는 터미널에서만 열립니다. 'bankctl stock set FRUIT N'이나 'bankctl stock add FRUIT N'을 쓰세요.")
  let editorKeys = Text(
    "↑ ↓ choose · − + change · q or Enter on Close returns", "↑ ↓ 고르기 · − + 바꾸기 · q 또는 닫기에서 Enter로 돌아가기")
  let editorWaits = Text(
    "The stock service does not respond; waiting for it …", "재고 서비스가 응답하지 않아 기다리는 중입니다 …")
  /// Printed after a key press that requested a change while the stock did not respond.
  let editorIgnoredKey = Text(
    "The stock service does not respond; the key was ignored.", "재고 서비스가 응답하지 않아 키 입력을 무시했습니다.")

  let issued = Text("ticket issued", "번호표 발급")
  let reasonHeading = Text("reason", "사유")
  let sentAway = Text("not enough in stock; nothing was taken", "재고가 모자라 아무것도 쓰지 않음")

  let canBeBought = Text("● can be bought", "● 살 수 있음")
  let noProducts = Text("None.", "없습니다.")
  let noPurchases = Text("Nothing has been bought yet.", "아직 구매 내역이 없습니다.")
  let nothingExpired = Text("Nothing has expired.", "유통기한이 지난 음료가 없습니다.")
  let machineNotDamaged = Text(
    "The vending machine's database is not damaged. Nothing was changed.",
    "자판기 데이터베이스는 손상되지 않았습니다. 변경된 내용은 없습니다.")
  let machineAtWork = Text(
    "The vending machine is using its database; it was not moved. Nothing was changed.",
    "자판기가 데이터베이스를 쓰고 있어 옮기지 않았습니다. 변경된 내용은 없습니다.")
  let notSetAside = Text(
    "The vending machine's database could not be moved; see above.",
    "자판기 데이터베이스를 옮기지 못했습니다. 이유는 위에 있습니다.")
  let addAnyway = Text("Add them anyway?", "그래도 넣을까요?")
  let nothingChanged = Text("Nothing was changed.", "변경된 내용은 없습니다.")
  let customerKeys = Text(
    "1 ₩1,000 · 5 ₩5,000 · ↑↓←→ · Enter buys · r change · , . list · a admin · q quit",
    "1 천원 · 5 오천원 · 화살표 · Enter 구매 · r 반환 · , . 내역 · a 관리 · q 나가기")
  let managerKeys = Text(
    "↑ ↓ choose · + − one · 0 ten more · e expired only · d discard expired · q back",
    "↑ ↓ 고르기 · + − 한 개 · 0 열 개 추가 · e 기한 지난 것만 · d 폐기 · q 돌아가기")
  let machineWaits = Text(
    "The vending machine does not respond; waiting for it …", "자판기가 응답하지 않아 기다리는 중입니다 …")
  /// Printed after a key press that requested a change while the machine did not respond.
  let machineIgnoredKey = Text(
    "The vending machine does not respond; the key was ignored.", "자판기가 응답하지 않아 키 입력을 무시했습니다.")
  let purchases = Text("Purchases", "구매")
  let shares = Text("Shares of the purchases", "구매 비율")
}
