// Sentences about moving a bank to a shared database,
// in English and Korean.
import Arguments
import BankModel
import Wire

extension MessageCatalog {
  var moveNeedsAddress: String {
    say(
      "--to is missing: 'bankctl move --to postgres://USER@HOST/DATABASE'. Nothing was migrated.",
      "--to 옵션으로 옮길 곳을 지정하세요. 'bankctl move --to postgres://사용자@호스트/데이터베이스'. 아무것도 옮기지 않았습니다.")
  }

  /// Sentence: a bank was not moved, or was not opened because it was moved or a move has begun.
  func moveFailure(_ failure: Failure, _ detail: String, home: String) -> String {
    let place = safe(failure.subject)
    guard failure.code == .databaseMoved else {
      return say(
        "Nothing was migrated to \(place)\(detail). Nothing was changed there, and the bank in \(home) can be opened "
          + "as before.",
        "데이터베이스를 \(KoreanParticle.by.on(place)) 옮기지 않았습니다\(detail). 그곳에서 변경된 내용은 없고, \(home)의 은행은 전처럼 열 수 있습니다."
      )
    }
    if failure.messageDetail != nil {
      return say(
        "The bank in \(home) was not opened: it was being migrated to \(place)\(detail). Run 'bankctl move --to "
          + "\(place)' to check and finish the migration. If that database is permanently lost, remove the note, and "
          + "the bank opens as it was.",
        "\(home)의 은행을 열지 않았습니다. 데이터베이스를 \(KoreanParticle.by.on(place)) 옮기던 중이었습니다\(detail). 'bankctl move --to \(place)' 명령이 "
          + "끝났는지 확인하고 필요하면 이어서 옮깁니다. 그 데이터베이스를 완전히 잃었다면 그 기록을 지우세요. 은행이 전처럼 열립니다.")
    }
    return say(
      "The bank in \(home) was not opened: it was migrated to \(place). Open it with 'bankctl start --store \(place)'. "
        + "To return to the database as it was before the migration (changes since then are lost), remove "
        + "\(failure.detail).",
      "\(home)의 은행을 열지 않았습니다. 데이터베이스를 \(KoreanParticle.by.on(place)) 옮겼습니다. 'bankctl start --store \(place)' 명령으로 여세요. 옮기기 "
        + "전의 데이터베이스로 돌아가려면 \(failure.detail) 파일을 지우세요. 그 뒤의 변경은 사라집니다.")
  }

  var inHome: String { say("in the home", "홈") }
  var inDatabase: String { say("in the database", "데이터베이스") }

  /// Label of a kind of rows that a move has counted. `name` is its name in JSON.
  func movedRows(_ name: String) -> String {
    switch name {
    case "days": say("days", "영업일")
    case "tickets": say("tickets", "번호표")
    case "receipts": say("receipts", "영수증")
    case "results": say("results", "결과")
    case "shortages": say("rejected for lack of stock", "재고가 모자라 돌아간 고객")
    case "attempts": say("attempts without a receipt", "영수증 없이 끝난 시도")
    case "keys": say("keys", "키")
    case "waiting": column(.waiting)
    case "delayed": column(.delayed)
    case "dead": column(.dead)
    case "payloads": say("payloads", "페이로드")
    default: safe(name)
    }
  }

  /// Sentence: the bank is in the shared database, from this move or an earlier one.
  func moved(_ report: MoveReport) -> String {
    let place = safe(report.location)
    return report.isRepeated
      ? say(
        "Already in \(place), moved on \(day(report.day)); counts include later changes.",
        "데이터베이스는 이미 \(place)에 있습니다. 옮길 때 \(day(report.day))였으며, 그 뒤의 변경도 세었습니다.")
      : say(
        "Migrated completely to \(place): \(day(report.day)).",
        "데이터베이스를 빠짐없이 \(KoreanParticle.by.on(place)) 옮겼습니다. \(day(report.day))입니다.")
  }

  /// Sentence: how to open the bank after a move, and what stays in the home.
  func afterMove(_ report: MoveReport) -> String {
    say(
      "Open the bank with --store; 'bankctl start' alone fails while \(safe(report.note)) exists. The database in the "
        + "home stays as it was; so do the output files of commands, paused services and the business time.",
      "은행은 --store로 여세요. \(safe(report.note)) 파일이 있는 동안 'bankctl start'만으로는 열리지 않습니다. 홈의 데이터베이스는 그대로 있고, 명령이 파일에 남긴 "
        + "출력과 일시 중지된 업무, 업무시간도 홈에 남습니다.")
  }
}
