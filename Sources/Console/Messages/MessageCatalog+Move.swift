// Sentences about moving a bank to a shared database.
// Invariant: a refusal contains the remedy, and how to go back.
import Arguments
import BankModel
import Wire

extension MessageCatalog {
  var moveNeedsPlace: String {
    say(
      "move needs to know where the books go: 'bankctl move --to postgres://USER@HOST/DATABASE'. Nothing was moved.",
      "장부를 어디로 옮길지 알려 주세요. 'bankctl move --to postgres://사용자@호스트/데이터베이스'. 아무것도 옮기지 않았습니다.")
  }

  func ofMove(_ failure: Failure, _ detail: String, home: String) -> String {
    let place = safe(failure.subject)
    guard failure.code == .booksMoved else {
      return say(
        "The books were not moved to \(place)\(detail). Nothing was changed there, and the bank in \(home) can be opened as before.",
        "장부를 \(Particle.by.on(place)) 옮기지 않았습니다\(detail). 그곳에 바뀐 것은 없고, \(home)의 은행은 전처럼 열 수 있습니다.")
    }
    if failure.remark != nil {
      return say(
        "The bank in \(home) was not opened: its books were being moved to \(place)\(detail). 'bankctl move --to \(place)' finds "
          + "out, and goes on if need be. Where that database is gone for good, remove the note, and the bank opens as it was.",
        "\(home)의 은행을 열지 않았습니다. 장부를 \(Particle.by.on(place)) 옮기던 중이었습니다\(detail). 'bankctl move --to \(place)' 명령이 끝났는지 알아보고 "
          + "필요하면 이어서 옮깁니다. 그 데이터베이스가 영영 없어졌다면 그 기록을 지우세요. 은행이 전처럼 열립니다.")
    }
    return say(
      "The bank in \(home) was not opened: its books were moved to \(place). Open it with 'bankctl start --store \(place)'. To go "
        + "back to the books as they were before the move, without anything that came after it, remove \(failure.detail).",
      "\(home)의 은행을 열지 않았습니다. 장부를 \(Particle.by.on(place)) 옮겼습니다. 'bankctl start --store \(place)' 명령으로 여세요. 옮기기 전의 장부로 "
        + "돌아가려면 \(failure.detail) 파일을 지우세요. 그 뒤의 일은 그 장부에 없습니다.")
  }

  var inHome: String { say("in the home", "홈") }
  var inDatabase: String { say("in the database", "데이터베이스") }

  /// Counted kind of row, by its name in JSON.
  func movedRows(_ name: String) -> String {
    switch name {
    case "days": say("days", "영업일")
    case "tickets": say("tickets", "번호표")
    case "receipts": say("receipts", "영수증")
    case "results": say("results", "결과")
    case "shortages": say("sent away for want of stock", "재고가 모자라 돌아간 고객")
    case "attempts": say("attempts without a receipt", "영수증 없이 끝난 시도")
    case "keys": say("keys", "키")
    case "waiting": column(.waiting)
    case "delayed": column(.delayed)
    case "dead": column(.dead)
    case "payloads": say("payloads", "페이로드")
    default: safe(name)
    }
  }

  func moved(_ report: MoveReport) -> String {
    let place = safe(report.place)
    return report.isRepeated
      ? say(
        "The books are in \(place) already, \(day(report.day)) when they were moved; what has come since is counted, too.",
        "장부는 이미 \(place)에 있습니다. 옮길 때 \(day(report.day))였으며, 그 뒤의 일도 세었습니다.")
      : say(
        "The books are in \(place) now, with everything: \(day(report.day)).",
        "장부를 빠짐없이 \(Particle.by.on(place)) 옮겼습니다. \(day(report.day))입니다.")
  }

  func afterMove(_ report: MoveReport) -> String {
    say(
      "Open the bank with --store; 'bankctl start' alone is refused as long as \(safe(report.note)) is there. The books in the "
        + "home stay as they were; so do what commands have written to files, paused services and the business time.",
      "은행은 --store로 여세요. \(safe(report.note)) 파일이 있는 동안 'bankctl start'만으로는 열리지 않습니다. 홈의 장부는 그대로 있고, 명령이 파일에 남긴 출력과 "
        + "멈춘 업무, 업무시간도 홈에 남습니다.")
  }
}
