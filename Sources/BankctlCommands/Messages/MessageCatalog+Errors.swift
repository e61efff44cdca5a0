// Sentences about the refusals of the coordinator and errors of settings:
// operation, object, reason and remedy.
import Arguments
import BankModel
import ByteText
import Wire

extension MessageCatalog {
  /// The sentence and the code of an error, or nil if standard output has no reader.
  func commandFailure(about error: CommandError, home: String) -> CommandFailure? {
    switch error {
    case .failure(let failure):
      CommandFailure(as: failure.code, sentence(failure, home: home))
    case .control(let error): commandFailure(inConversation: error, home: home)
    case .system(let error):
      CommandFailure(as: .system, say("System error: \(error).", "시스템 오류: \(error)."))
    case .commandFailure(let commandFailure): commandFailure
    case .readerGone: nil
    }
  }

  /// Sentence: `BANK_LANG` names a language that is not supported.
  func noSuchLanguage(_ name: String) -> String {
    say(
      "BANK_LANG is \(quoted(name)), which is not supported. Set it to ko or en, or unset it.",
      "BANK_LANG 값 \(quoted(name)): 지원하지 않는 언어입니다. ko나 en으로 설정하거나 지우세요.")
  }

  /// Sentence about a refusal of the coordinator.
  package func sentence(_ failure: Failure, home: String) -> String {
    let detail = aside(localizedDetail(failure.detail, failure.messageDetail))
    let subject = failure.subject
    return switch failure.code {
    case .queueFull:
      say(
        "The queue is full\(detail): no customers were added. Try again when some have been served, or raise "
          + "max_waiting in the configuration.",
        "대기열이 가득 찼습니다\(detail). 추가된 고객이 없습니다. 업무가 처리된 뒤 다시 시도하거나 설정에서 max_waiting을 늘리세요.")
    case .draining:
      say(
        "The bank is closing and accepts no new customers\(detail): no customers were added. Try again after the next "
          + "start.",
        "은행이 마감 중이라 새 고객을 받지 않습니다\(detail). 추가된 고객이 없습니다. 다음 개점 뒤에 다시 시도하세요.")
    case .diskFull where failure.messageDetail?.description.hasPrefix("PostgreSQL") == true:
      say(
        "The database is full or read-only now\(detail): nothing was changed. Try again when it accepts changes.",
        "데이터베이스에 공간이 없거나 지금은 읽기 전용입니다\(detail). 변경된 내용은 없습니다. 변경할 수 있게 되면 다시 시도하세요.")
    case .diskFull:
      say(
        "The disk is full\(detail): nothing was changed. Free space for \(home) and try again.",
        "디스크가 가득 찼습니다\(detail). 변경된 내용은 없습니다. \(home)에 공간을 확보한 뒤 다시 시도하세요.")
    case .notOpen: notOpen(home: home)
    case .alreadyOpen: alreadyOpen(home: home, coordinator: subject)
    case .inspected:
      say(
        "The closed bank in \(home) is being read and cannot be opened now. Try again when 'bankctl audit', "
          + "'ledger', 'receipts' or another program has finished reading there.",
        "닫힌 은행 \(home)의 데이터베이스를 다른 프로그램이 읽고 있어 지금은 열 수 없습니다. 'bankctl audit', 'ledger', 'receipts' 또는 그 프로그램이 끝난 뒤 다시 시도하세요."
      )
    case .noSuchTicket:
      say(
        "There is no ticket \(subject)\(detail). See 'bankctl tickets' and 'bankctl receipts'.",
        "\(subject)번 번호표는 없습니다\(detail). 번호는 'bankctl tickets'와 'bankctl receipts'로 확인하세요.")
    case .noSuchService: noSuchService(failure)
    case .noSuchWindow: noSuchWindow(subject)
    case .processChanged: otherProcess(subject)
    case .requiresSharedStore, .leaseLost, .unsupportedWithSharedStore: branchFailure(failure, detail)
    case .notMoved, .databaseMoved: moveFailure(failure, detail, home: home)
    case .fromOwnWork: fromOwnWork(failure)
    case .noSuchDay:
      say(
        "There was no business day \(subject)\(detail). See 'bankctl status' for the current one.",
        "\(subject)일차 영업일은 없습니다\(detail). 현재 영업일은 'bankctl status'로 확인하세요.")
    case .wrongState: wrongState(subject, detail)
    case .wrongDay:
      say(
        "Day \(subject) has ended\(detail); all its customers have receipts: nothing was changed. See 'bankctl ticket "
          + "N --day \(subject)'.",
        "영업 \(subject)일차는 이미 끝나\(detail) 그날의 고객은 모두 영수증을 받았습니다. 변경된 내용은 없습니다. 'bankctl ticket N --day \(subject)' 명령으로 "
          + "확인하세요.")
    case .keyConflict:
      say(
        "The key \(quoted(subject)) was used for a different request\(detail): no customers were added. Repeat the "
          + "original command, or choose a new key.",
        "키 \(quoted(subject)): 이미 다른 요청에 쓰인 키입니다\(detail). 추가된 고객이 없습니다. 처음과 같은 명령을 다시 실행하거나 새 키를 지정하세요.")
    case .badRequest where failure.messageDetail?.kind == .noPostgres: noPostgres
    case .badRequest:
      say(
        "The coordinator refused the request: invalid request\(detail). Nothing was changed.",
        "코디네이터가 요청을 거절했습니다. 요청이 올바르지 않습니다\(detail). 변경된 내용은 없습니다.")
    case .badConfiguration:
      say(
        "The configuration \(subject) cannot be used\(detail). Correct it and try again; nothing was "
          + "changed.",
        "설정 \(KoreanParticle.object.on(subject)) 쓸 수 없습니다\(detail). 고친 뒤 다시 시도하세요. 변경된 내용은 없습니다.")
    // Without a detail, the user has withdrawn the request.
    case .withdrawn where detail.isEmpty: withdrawn(isKeyed: false)
    case .withdrawn:
      say(
        "The request was cancelled\(detail): no customers were added. Repeat the command to add them now.",
        "요청이 취소되었습니다\(detail). 추가된 고객이 없습니다. 지금 추가하려면 명령을 다시 실행하세요.")
    case .slowConsumer:
      say(
        "Events arrive faster than they can be shown; some were skipped. The bank continues. List all served customers "
          + "with 'bankctl receipts'.",
        "이벤트가 너무 많아 일부를 생략했습니다. 은행 업무는 계속됩니다. 처리된 고객은 'bankctl receipts'로 모두 볼 수 있습니다.")
    case .damaged, .newerSchema, .badHome, .startFailed, .system, .removed:
      storageFailure(failure, detail, home)
    }
  }

  /// Sentence: the value of an option or variable is not UTF-8.
  /// - Parameter offset: Number of bytes before `byte`.
  func notText(_ name: String, _ byte: UInt8, behind offset: Int) -> String {
    let escapedByte = ByteText.escapedByte(byte)
    return say(
      "\(name) must be text in UTF-8, but its byte \(offset + 1) is \(escapedByte). Write it in UTF-8.",
      "\(name) 값은 UTF-8 텍스트여야 하지만 \(offset + 1)번째 바이트가 \(escapedByte)입니다. UTF-8로 쓰세요.")
  }

  private func alreadyOpen(home: String, coordinator: String) -> String {
    let english = coordinator.isEmpty ? "" : " (coordinator \(coordinator))"
    let korean = coordinator.isEmpty ? "" : "(코디네이터 \(coordinator))"
    return say(
      "The bank in \(home) is already open\(english). Inspect it with 'bankctl status', or close it with 'bankctl "
        + "stop'.",
      "\(home)의 은행은 이미 열려 있습니다\(korean). 'bankctl status'로 살펴보거나 'bankctl stop'으로 마감하세요.")
  }

  /// Sentence: the home is locked, because its coordinator has exited and its guardian has not reopened the bank yet.
  func heldByGuardian(home: String, coordinator: Int32, guardian: Int32, isStopped: Bool) -> String {
    guard isStopped else {
      return say(
        "The bank in \(home) is not open: its coordinator (process \(coordinator)) has exited, and its guardian "
          + "(process \(guardian)) has not reopened it yet. See 'bankctl logs guardian', or stop the guardian with "
          + "'kill \(guardian)' and start again.",
        "\(home)의 은행은 열려 있지 않습니다. 코디네이터(프로세스 \(coordinator))가 종료되었고, 가디언(프로세스 \(guardian))이 아직 "
          + "다시 열지 못했습니다. 'bankctl logs guardian'을 보거나 "
          + "\(KoreanParticle.by.on("'kill \(guardian)'")) 가디언을 종료한 뒤 다시 시작하세요.")
    }
    return say(
      "The bank in \(home) is not open: its coordinator (process \(coordinator)) has exited, and its guardian (process "
        + "\(guardian)), which would reopen it, is suspended. Resume it with 'kill -CONT \(guardian)', or kill it with "
        + "'kill -KILL \(guardian)' and start again.",
      "\(home)의 은행은 열려 있지 않습니다. 코디네이터(프로세스 \(coordinator))가 종료되었고, 은행을 다시 여는 가디언(프로세스 "
        + "\(guardian))은 정지되어 있습니다. \(KoreanParticle.by.on("'kill -CONT \(guardian)'")) 계속하게 하거나, "
        + "\(KoreanParticle.by.on("'kill -KILL \(guardian)'")) 강제 종료한 뒤 다시 시작하세요.")
  }

  /// Sentence about a database or home that cannot be used, or about a failed start.
  private func storageFailure(_ failure: Failure, _ detail: String, _ home: String) -> String {
    switch failure.code {
    case .damaged:
      say(
        "The database of \(home) is damaged\(detail). Nothing was overwritten: restore a backup or move the file away.",
        "\(home)의 데이터베이스가 손상되었습니다\(detail). 아무것도 덮어쓰지 않았습니다. 백업으로 복구하거나 파일을 다른 곳으로 옮기세요.")
    case .newerSchema:
      say(
        "The database of \(home) was written by a newer program\(detail). Use that program.",
        "\(home)의 데이터베이스는 더 새로운 프로그램이 쓴 것입니다\(detail). 그 프로그램을 쓰세요.")
    case .badHome:
      say(
        "The home \(home) cannot be used\(detail). Check its owner and permissions, or choose another with "
          + "--home.",
        "홈 \(KoreanParticle.object.on(home)) 쓸 수 없습니다\(detail). 소유자와 권한을 확인하거나 --home으로 다른 곳을 고르세요.")
    case .removed where failure.detail == failure.subject + "-wal":
      missing(failure.subject, log: failure.detail)
    case .removed:
      say(
        "\(failure.subject) was removed or renamed while the bank in \(home) was open, so its guarantees no longer "
          + "hold. Put the file back or restore a backup, and start the bank again.",
        "\(home)의 은행이 열려 있는 동안 \(failure.subject) 파일이 삭제되거나 이름이 바뀌어 더는 데이터를 보장할 수 없습니다. 파일을 되돌리거나 백업으로 복구한 뒤 은행을 다시 "
          + "여세요.")
    case .startFailed:
      say(
        "The windows did not become ready: \(failure.subject)\(detail). See 'bankctl logs', then try again.",
        "창구가 준비되지 않았습니다: \(failure.subject)\(detail). 'bankctl logs'를 확인한 뒤 다시 시도하세요.")
    case .system where failure.subject.hasPrefix("postgres"):
      say("The bank's database cannot be used\(detail).", "은행의 데이터베이스를 쓸 수 없습니다\(detail).")
    default:
      say(
        "A system call of the coordinator failed\(detail). See 'bankctl logs'.",
        "코디네이터의 시스템 호출에 실패했습니다\(detail). 'bankctl logs'로 확인하세요.")
    }
  }

  /// Sentence: the database is missing beside its write-ahead log.
  private func missing(_ database: String, log: String) -> String {
    let aside = "mv \(quoted(log)) \(quoted(log + ".old"))"
    return say(
      "\(database) is missing, but its WAL \(log) exists: the customers, receipts and accounts of the bank were in "
        + "these two files. Nothing was changed. Put the file back or restore a backup of both, and run 'bankctl "
        + "start'. To open a new, empty bank instead, first run: \(aside)",
      "WAL \(log) 파일은 있는데 \(database) 파일이 없습니다. 은행의 고객과 영수증, 계좌는 이 두 파일에 있었습니다. 변경된 내용은 없습니다. 파일을 되돌리거나 두 파일을 백업에서 복구한 "
        + "뒤 'bankctl start'를 입력하세요. 빈 은행을 새로 열려면 먼저 이렇게 입력하세요: \(aside)")
  }

  /// Sentence: the present state does not allow the request. If it is the state of a ticket, `subject` contains the
  /// ticket number and the state, separated by a space.
  private func wrongState(_ subject: String, _ detail: String) -> String {
    let parts = subject.split(separator: " ", maxSplits: 1)
    guard parts.count == 2, let state = CustomerState(name: parts[1]) else {
      return say(
        "Not possible in the current state: \(subject)\(detail). Nothing was changed.",
        "지금 상태에서는 할 수 없습니다: \(subject)\(detail). 변경된 내용은 없습니다.")
    }
    return say(
      "Ticket \(parts[0]) is \(self.state(state)), so this cannot be done\(detail). Nothing was changed; see "
        + "'bankctl ticket \(parts[0])'.",
      "\(parts[0])번 고객은 \(self.state(state)) 상태라서 할 수 없습니다\(detail). 변경된 내용은 없습니다. "
        + "\(KoreanParticle.object.on("'bankctl ticket \(parts[0])'")) 보세요.")
  }

  func notOpen(home: String) -> String {
    say(
      "The bank in \(home) is not open. Open it with 'bankctl start'.",
      "\(home)의 은행이 열려 있지 않습니다. 'bankctl start'로 여세요.")
  }
}
