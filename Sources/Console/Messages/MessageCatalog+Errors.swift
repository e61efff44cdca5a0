// Sentences for all errors but those of the command line: operation, object, reason and remedy.
// Invariant: every error has an error code, an exit code, and a sentence of one line in both languages.
import Arguments
import BankModel
import ByteText
import Wire

extension MessageCatalog {
  /// The sentence of an error; nil if no reader is left.
  func complaint(about error: CommandError, home: String) -> Complaint? {
    switch error {
    case .failure(let failure):
      Complaint(as: failure.code, sentence(failure, home: home))
    case .control(let error): complaint(inConversation: error, home: home)
    case .system(let error):
      Complaint(as: .system, say("The system refused: \(error).", "시스템이 거절했습니다: \(error)."))
    case .complaint(let complaint): complaint
    case .readerGone: nil
    }
  }

  func noSuchLanguage(_ name: String) -> String {
    say(
      "BANK_LANG is \(quoted(name)), which is no language of this program. Set it to ko or en, or unset it.",
      "BANK_LANG 값 \(quoted(name)): 그런 언어는 없습니다. ko나 en으로 정하거나 지우세요.")
  }

  package func sentence(_ failure: Failure, home: String) -> String {
    let detail = aside(particular(failure.detail, failure.remark))
    let subject = failure.subject
    return switch failure.code {
    case .queueFull:
      say(
        "The queue is full\(detail): nobody was added. Try again when some have been served, or raise "
          + "max_waiting in the configuration.",
        "대기열이 가득 찼습니다\(detail). 추가된 고객이 없습니다. 업무가 처리된 뒤 다시 시도하거나 설정에서 max_waiting을 늘리세요.")
    case .draining:
      say(
        "The bank is closing and takes no new customers\(detail): nobody was added. Try again after the next "
          + "start.",
        "은행이 마감 중이라 새 고객을 받지 않습니다\(detail). 추가된 고객이 없습니다. 다음 개점 뒤에 다시 시도하세요.")
    case .diskFull where failure.remark?.description.hasPrefix("PostgreSQL") == true:
      say(
        "The database has no room, or takes no changes now\(detail): nothing was changed. Try again when it takes them.",
        "데이터베이스에 공간이 없거나 지금은 변경을 받지 않습니다\(detail). 바뀐 것은 없습니다. 다시 받을 때 시도하세요.")
    case .diskFull:
      say(
        "The disk is full\(detail): nothing was changed. Make room for \(home) and try again.",
        "디스크가 가득 찼습니다\(detail). 바뀐 것은 없습니다. \(home)에 공간을 마련한 뒤 다시 시도하세요.")
    case .notOpen: notOpen(home: home)
    case .alreadyOpen: alreadyOpen(home: home, coordinator: subject)
    case .inspected:
      say(
        "Somebody is looking into the closed bank in \(home), and it cannot be opened meanwhile. Try again when "
          + "'bankctl audit', 'ledger' or 'receipts' has ended there.",
        "누군가 닫힌 은행 \(home)의 장부를 보고 있어 지금은 열 수 없습니다. 그곳의 'bankctl audit', 'ledger', "
          + "'receipts'가 끝난 뒤 다시 시도하세요.")
    case .noSuchTicket:
      say(
        "There is no ticket \(subject)\(detail). 'bankctl tickets' and 'bankctl receipts' list those "
          + "there are.",
        "\(subject)번 번호표는 없습니다\(detail). 있는 번호는 'bankctl tickets'와 'bankctl receipts'가 보여 줍니다.")
    case .noSuchService: noSuchService(failure)
    case .noSuchWindow: noSuchWindow(subject)
    case .otherProcess: otherProcess(subject)
    case .notShared, .leaseLost, .notInSharedBank: ofBranches(failure, detail)
    case .notMoved, .booksMoved: ofMove(failure, detail, home: home)
    case .fromOwnWork: fromOwnWork(failure)
    case .noSuchDay:
      say(
        "There was no business day \(subject)\(detail). 'bankctl status' names the present one.",
        "\(subject)일차 영업일은 없습니다\(detail). 지금의 영업일은 'bankctl status'가 알려 줍니다.")
    case .wrongState: wrongState(subject, detail)
    case .wrongDay:
      say(
        "Day \(subject) is over\(detail), and everybody of it has a receipt: nothing was changed. See 'bankctl ticket N "
          + "--day \(subject)'.",
        "영업 \(subject)일차는 이미 끝나\(detail) 그날의 고객은 모두 영수증을 받았습니다. 바뀐 것은 없습니다. 'bankctl ticket N --day "
          + "\(subject)' 명령으로 보세요.")
    case .keyConflict:
      say(
        "The key \(quoted(subject)) stands for another request\(detail): nobody was added. Repeat the command as it was "
          + "typed the first time, or choose a new key.",
        "키 \(quoted(subject))에는 이미 다른 요청이 있습니다\(detail). 추가된 고객이 없습니다. 처음과 똑같은 명령을 되풀이하거나 새 키를 고르세요.")
    case .badRequest where failure.remark?.kind == .noPostgres: noPostgres
    case .badRequest:
      say(
        "The coordinator refused the request: it contradicts itself or a limit\(detail). Nothing was "
          + "changed.",
        "코디네이터가 요청을 거절했습니다. 요청이 한도를 넘거나 서로 맞지 않습니다\(detail). 바뀐 것은 없습니다.")
    case .badConfiguration:
      say(
        "The configuration \(subject) cannot be used\(detail). Correct it and try again; nothing was "
          + "changed.",
        "설정 \(Particle.object.on(subject)) 쓸 수 없습니다\(detail). 고친 뒤 다시 시도하세요. 바뀐 것은 없습니다.")
    // Without a detail, the user has withdrawn the request.
    case .withdrawn where detail.isEmpty: withdrawn(isKeyed: false)
    case .withdrawn:
      say(
        "The request was withdrawn\(detail): nobody was added. Repeat the command to add them now.",
        "요청이 취소되었습니다\(detail). 추가된 고객이 없습니다. 지금 추가하려면 명령을 되풀이하세요.")
    case .tooSlow:
      say(
        "More happens than can be shown here, so the rest is left out; the bank goes on. 'bankctl receipts' lists "
          + "everybody who was served.",
        "일어나는 일이 너무 많아 나머지는 보여 드리지 않습니다. 은행 업무는 계속됩니다. 처리된 고객은 'bankctl receipts'로 모두 볼 수 있습니다.")
    case .damaged, .newerSchema, .badHome, .windowsFailed, .system, .removed: grave(failure, detail, home)
    }
  }

  /// - Parameter offset: Number of bytes before it.
  func notText(_ name: String, _ byte: UInt8, behind offset: Int) -> String {
    let spelled = ByteText.spelled(byte)
    return say(
      "\(name) must be text in UTF-8, but its byte \(offset + 1) is \(spelled). Write it in UTF-8.",
      "\(name) 값은 UTF-8 텍스트여야 하지만 \(offset + 1)번째 바이트가 \(spelled)입니다. UTF-8로 쓰세요.")
  }

  private func alreadyOpen(home: String, coordinator: String) -> String {
    let english = coordinator.isEmpty ? "" : " (coordinator \(coordinator))"
    let korean = coordinator.isEmpty ? "" : "(코디네이터 \(coordinator))"
    return say(
      "The bank in \(home) is already open\(english). Look at it with 'bankctl status', or end it with "
        + "'bankctl stop'.",
      "\(home)의 은행은 이미 열려 있습니다\(korean). 'bankctl status'로 살펴보거나 'bankctl stop'으로 마감하세요.")
  }

  /// A home whose coordinator has exited and whose guardian has not opened the bank again.
  func keptByGuardian(home: String, coordinator: Int32, guardian: Int32, isStopped: Bool) -> String {
    guard isStopped else {
      return say(
        "The bank in \(home) is not open: its coordinator (process \(coordinator)) has ended, and its guardian (process "
          + "\(guardian)) has not opened it again yet. See 'bankctl logs guardian', or end the guardian with 'kill "
          + "\(guardian)' and start again.",
        "\(home)의 은행은 열려 있지 않습니다. 코디네이터(프로세스 \(coordinator))가 끝났고, 가디언(프로세스 \(guardian))이 아직 "
          + "다시 열지 못했습니다. 'bankctl logs guardian'을 보거나 "
          + "\(Particle.by.on("'kill \(guardian)'")) 가디언을 끝낸 뒤 다시 시작하세요.")
    }
    return say(
      "The bank in \(home) is not open: its coordinator (process \(coordinator)) has ended, and its guardian (process "
        + "\(guardian)), which would open it again, is stopped. Let it continue with 'kill -CONT \(guardian)', or end it with "
        + "'kill -KILL \(guardian)' and start again.",
      "\(home)의 은행은 열려 있지 않습니다. 코디네이터(프로세스 \(coordinator))가 끝났고, 은행을 다시 여는 가디언(프로세스 "
        + "\(guardian))은 멈춰 있습니다. \(Particle.by.on("'kill -CONT \(guardian)'")) 계속하게 하거나, "
        + "\(Particle.by.on("'kill -KILL \(guardian)'")) 끝낸 뒤 다시 시작하세요.")
  }

  private func grave(_ failure: Failure, _ detail: String, _ home: String) -> String {
    switch failure.code {
    case .damaged:
      say(
        "The database of \(home) is damaged\(detail). Nothing was overwritten: restore a copy, or move the "
          + "file aside.",
        "\(home)의 데이터베이스가 손상되었습니다\(detail). 아무것도 덮어쓰지 않았습니다. 사본으로 되돌리거나 파일을 옮겨 두세요.")
    case .newerSchema:
      say(
        "The database of \(home) was written by a newer program\(detail). Use that program.",
        "\(home)의 데이터베이스는 더 새로운 프로그램이 쓴 것입니다\(detail). 그 프로그램을 쓰세요.")
    case .badHome:
      say(
        "The home \(home) cannot be used\(detail). Check its owner and permissions, or choose another with "
          + "--home.",
        "홈 \(Particle.object.on(home)) 쓸 수 없습니다\(detail). 소유자와 권한을 확인하거나 --home으로 다른 곳을 고르세요.")
    case .removed where failure.detail == failure.subject + "-wal":
      missing(failure.subject, log: failure.detail)
    case .removed:
      say(
        "\(failure.subject) was removed or renamed while the bank in \(home) was open, so nothing is promised any "
          + "more. Put the file back, or restore a copy, and start the bank again.",
        "\(home)의 은행이 열려 있는 동안 \(failure.subject) 파일이 지워지거나 이름이 바뀌어 더는 아무것도 약속할 수 "
          + "없습니다. 파일을 되돌리거나 사본으로 복구한 뒤 은행을 다시 여세요.")
    case .windowsFailed:
      say(
        "The windows did not become ready: \(failure.subject)\(detail). See 'bankctl logs', then try again.",
        "창구가 준비되지 않았습니다: \(failure.subject)\(detail). 'bankctl logs'를 본 뒤 다시 시도하세요.")
    case .system where failure.subject.hasPrefix("postgres"):
      say("The books of the bank cannot be used\(detail).", "은행의 장부를 쓸 수 없습니다\(detail).")
    default:
      say(
        "The system refused the coordinator something\(detail). See 'bankctl logs'.",
        "시스템이 코디네이터의 요청을 거절했습니다\(detail). 'bankctl logs'를 보세요.")
    }
  }

  /// A write-ahead log without its database: most of the bank's data was in the missing file.
  private func missing(_ database: String, log: String) -> String {
    let aside = "mv \(quoted(log)) \(quoted(log + ".old"))"
    return say(
      "\(database) is missing, though its log \(log) is there: the customers, receipts and accounts of the bank were in "
        + "these two files. Nothing was changed. Put the file back, or restore a copy of both, and type 'bankctl start'. To "
        + "open a new, empty bank instead, first type: \(aside)",
      "로그 \(log) 파일은 있는데 \(database) 파일이 없습니다. 은행의 고객과 영수증, 계좌는 이 두 파일에 있었습니다. 바뀐 것은 없습니다. "
        + "파일을 되돌리거나 두 파일의 사본을 복구한 뒤 'bankctl start'를 입력하세요. 빈 은행을 새로 열려면 먼저 이렇게 입력하세요: \(aside)")
  }

  /// `subject` is the number and the state.
  private func wrongState(_ subject: String, _ detail: String) -> String {
    let parts = subject.split(separator: " ", maxSplits: 1)
    guard parts.count == 2, let state = CustomerState(name: parts[1]) else {
      return say(
        "The present state does not allow that: \(subject)\(detail). Nothing was changed.",
        "지금 상태에서는 할 수 없습니다: \(subject)\(detail). 바뀐 것은 없습니다.")
    }
    return say(
      "Ticket \(parts[0]) is \(self.state(state)), so this cannot be done\(detail). Nothing was changed; see "
        + "'bankctl ticket \(parts[0])'.",
      "\(parts[0])번 고객은 \(self.state(state)) 상태라서 할 수 없습니다\(detail). 바뀐 것은 없습니다. "
        + "\(Particle.object.on("'bankctl ticket \(parts[0])'")) 보세요.")
  }

  func notOpen(home: String) -> String {
    say(
      "The bank in \(home) is not open. Open it with 'bankctl start'.",
      "\(home)의 은행이 열려 있지 않습니다. 'bankctl start'로 여세요.")
  }
}
