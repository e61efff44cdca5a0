// Owns the words of the menu. The Korean ones are those of the original console app, to the letter.
// It must not know what an entry does.

extension MessageCatalog {
  var menu: String { say("1 : Open the bank\n2 : Exit\nInput : ", "1 : 은행개점\n2 : 종료\n입력 : ") }

  var wrongInput: String { say("That is not on the menu.", "잘못된 입력입니다.") }

  var consoleIsForPeople: String {
    say(
      "The console is a menu for people and has no JSON; 'bankctl open --json' lives through a day for a "
        + "script.",
      "console은 사람을 위한 메뉴라서 JSON이 없습니다. 스크립트에는 'bankctl open --json'을 쓰세요.")
  }
}
