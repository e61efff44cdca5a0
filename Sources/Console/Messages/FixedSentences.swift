// Constant sentences, each in both languages at the same place.
// Invariant: `MessageCatalog` returns them by name, like the sentences with values.
import Arguments

package struct FixedSentences: Sendable {
  static let all = FixedSentences()

  let clean = Text("Every promise that can be checked is kept.", "확인할 수 있는 모든 약속이 지켜졌습니다.")
  let broken = Text("Something is not as promised.", "지켜지지 않은 약속이 있습니다.")
  let moneyDifference = Text("money difference", "금액 차이")
  let ledgerDifference = Text("ledger difference", "장부 차액")

  let nobody = Text("nobody", "없음")
  let noReceipts = Text("There are no receipts.", "영수증이 없습니다.")
  let noEntries = Text("There is nothing in the ledger yet.", "장부에 아직 아무것도 없습니다.")

  /// After a first Ctrl-C while tickets are being issued.
  let withdrawing = Text(
    "Withdrawing the request. Ctrl-C once more leaves without waiting for the answer.",
    "요청을 거두는 중입니다. Ctrl-C를 한 번 더 누르면 대답을 기다리지 않고 끝냅니다.")

  let crowded = Text(
    "The coordinator has as many connections as it takes. Try again in a moment.",
    "코디네이터의 연결이 가득 찼습니다. 잠시 뒤 다시 시도하세요.")

  // The Korean texts of the menu are exactly those of the original console program.
  let menu = Text("1 : Open the bank\n2 : Exit\nInput : ", "1 : 은행개점\n2 : 종료\n입력 : ")
  let wrongInput = Text("That is not on the menu.", "잘못된 입력입니다.")
  let consoleIsForPeople = Text(
    "The console is a menu for people and has no JSON; 'bankctl open --json' lives through a day for a "
      + "script.",
    "console은 사람을 위한 메뉴라서 JSON이 없습니다. 스크립트에는 'bankctl open --json'을 쓰세요.")

  /// After a Ctrl-C at the last step of a drain, from a client that only waits for it.
  let leftAlone = Text(
    "This command ends; the bank goes on closing by itself. 'bankctl status' tells whether it has.",
    "이 명령만 끝납니다. 은행은 스스로 마감을 계속합니다. 끝났는지는 'bankctl status'로 알 수 있습니다.")

  let canBeMade = Text("can be made", "주문 가능")

  let noLogLines = Text("There are no such lines in the logs.", "그런 기록은 없습니다.")

  let pasteNotTaken = Text("What was pasted was not taken as keys.", "붙여 넣은 글은 키로 받지 않습니다.")

  let noWindows = Text("no windows are open", "열린 창구가 없습니다")

  let reloaded = Text("The configuration was read again.", "설정을 다시 읽었습니다.")
  /// After the first Ctrl-C.
  let closingEarly = Text(
    "Closing: those being served are finished. Once more kills the tellers; their customers wait for the next "
      + "start.",
    "마감합니다. 업무중인 고객만 마칩니다. 한 번 더 누르면 은행원을 강제로 끝내고, 그 고객은 다음 개점을 기다립니다.")
  /// After the first signal to a bank in the foreground.
  let draining = Text(
    "Closing: everyone waiting is served. Once more finishes only those being served.",
    "마감합니다. 기다리는 고객을 모두 처리합니다. 한 번 더 누르면 업무중인 고객만 마칩니다.")
  let endedAtOnce = Text(
    "Ended at once. Nothing is lost: those who had tickets wait for the next start.",
    "바로 끝냈습니다. 잃은 것은 없습니다. 번호표가 있는 고객은 다음 개점을 기다립니다.")

  let nothingToAdd = Text(
    "stock add: an amount of 0 changes nothing. Give how many more, or how many fewer as a negative number.",
    "stock add: 0개로는 바뀌는 것이 없습니다. 더할 개수를, 뺄 때는 음수로 주세요.")
  let editorIsForPeople = Text(
    "The stock editor needs a terminal. Use 'bankctl stock set FRUIT N' or 'bankctl stock add FRUIT N'.",
    "재고 편집기는 터미널에서만 열립니다. 'bankctl stock set FRUIT N'이나 'bankctl stock add FRUIT N'을 쓰세요.")
  let editorKeys = Text(
    "↑ ↓ choose · − + change · q or Enter on Close returns", "↑ ↓ 고르기 · − + 바꾸기 · q 또는 닫기에서 Enter로 돌아가기")
  let editorWaits = Text("The stock service does not answer; waiting for it …", "재고 서비스가 대답하지 않아 기다리는 중입니다 …")
  /// For a key that requested a change from a missing stock.
  let editorTookNoKey = Text(
    "The stock service does not answer; the key was not taken.", "재고 서비스가 대답하지 않아 키를 받지 않았습니다.")

  let issued = Text("ticket issued", "번호표 발급")
  let reasonHeading = Text("reason", "사유")
  let sentAway = Text("not enough in stock; nothing was taken", "재고가 모자라 아무것도 쓰지 않음")

  let canBeBought = Text("● can be bought", "● 살 수 있음")
  let noProducts = Text("None.", "없습니다.")
  let noPurchases = Text("Nothing has been bought yet.", "아직 구매 내역이 없습니다.")
  let nothingExpired = Text("Nothing has expired.", "유통기한이 지난 음료가 없습니다.")
  let machineNotDamaged = Text(
    "The database of the vending machine is not damaged. Nothing was changed.",
    "자판기 데이터베이스는 손상되지 않았습니다. 바뀐 것은 없습니다.")
  let machineAtWork = Text(
    "The vending machine works with its database, so it is not put aside. Nothing was changed.",
    "자판기가 데이터베이스를 쓰고 있어 옮기지 않았습니다. 바뀐 것은 없습니다.")
  let notSetAside = Text(
    "The database of the vending machine could not be put aside; the reason is above.",
    "자판기 데이터베이스를 옮기지 못했습니다. 이유는 위에 있습니다.")
  let addAnyway = Text("Put them in anyway?", "그래도 넣을까요?")
  let nothingChanged = Text("Nothing was changed.", "바뀐 것은 없습니다.")
  let customerKeys = Text(
    "1 ₩1,000 · 5 ₩5,000 · ↑↓←→ · Enter buys · r change · , . list · a admin · q quit",
    "1 천원 · 5 오천원 · 화살표 · Enter 구매 · r 반환 · , . 내역 · a 관리 · q 나가기")
  let managerKeys = Text(
    "↑ ↓ choose · + − one · 0 ten more · e expired only · d discard expired · q back",
    "↑ ↓ 고르기 · + − 한 개 · 0 열 개 추가 · e 기한 지난 것만 · d 폐기 · q 돌아가기")
  let machineWaits = Text("The vending machine does not answer; waiting for it …", "자판기가 대답하지 않아 기다리는 중입니다 …")
  /// For a key that requested a change from a missing machine.
  let machineTookNoKey = Text(
    "The vending machine does not answer; the key was not taken.", "자판기가 대답하지 않아 키를 받지 않았습니다.")
  let purchases = Text("Purchases", "구매")
  let shares = Text("Shares of the purchases", "구매 비율")
}
