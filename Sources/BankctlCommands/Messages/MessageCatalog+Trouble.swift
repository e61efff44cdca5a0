// Sentences about a stock or a vending machine that does not work:
// reason and remedy.
import Arguments
import BankModel
import Wire

extension MessageCatalog {
  /// Short reason why a service process does not work; nil if it works.
  func trouble(of worker: WorkerReport) -> String? {
    guard worker.trouble != nil, let failure = worker.failure, !failure.detail.isEmpty else {
      return worker.trouble.map { localizedDetail($0, worker.troubleDetail) }
    }
    let detail = localizedDetail(failure.detail, failure.messageDetail)
    guard failure.code == .damaged else { return detail }
    return say("\(failure.subject) is damaged (\(detail))", "\(failure.subject) 손상: \(detail)")
  }

  /// Reason and remedy for a service process that does not work or uses the wrong database, or for a window that
  /// waits for processes of an earlier attempt. Nil if the process works, or may work soon.
  func notWorking(_ worker: WorkerReport) -> String? {
    if let mismatch = worker.mismatch, worker.failure == nil, worker.isFailed != true {
      return self.mismatch(mismatch, file: worker.name + ".db")
    }
    if let messageDetail = worker.troubleDetail, messageDetail.kind == .leftBehind {
      return blockedReason(worker, messageDetail)
    }
    guard worker.window == nil, worker.failure != nil || worker.isFailed == true else { return nil }
    let isStock = worker.role == .stock
    let who = isStock ? say("The stock", "재고") : say("The vending machine", "자판기")
    guard let failure = worker.failure else {
      return notWorking(who, trouble(of: worker) ?? "", log: worker.name)
    }
    switch failure.code {
    case .damaged: return damaged(who, failure, isStock)
    case .removed:
      return say(
        "\(who) is unavailable: \(failure.subject) was removed or renamed while the bank was open. Put it back and run "
          + "'bankctl reload'. To start empty without it: 'bankctl stop', move \(worker.name).db-wal away if it "
          + "exists, 'bankctl start'.",
        "\(who) 서비스를 쓸 수 없습니다. 은행이 열려 있는 동안 \(failure.subject) 파일이 삭제되거나 이름이 바뀌었습니다. 파일을 "
          + "되돌린 뒤 'bankctl reload'를 입력하세요. 파일 없이 새로 시작하려면 'bankctl stop'을 입력하고, "
          + "\(worker.name).db-wal 파일이 있으면 옮긴 뒤 'bankctl start'를 입력하세요.")
    default:
      return notWorking(
        who,
        failure.detail.isEmpty ? failure.code.name : localizedDetail(failure.detail, failure.messageDetail),
        log: worker.name)
    }
  }

  /// The note that the bank continues in spite of a mismatch, because the user requested it; nil without a
  /// mismatch.
  func acceptedMismatch(with worker: WorkerReport) -> String? {
    guard let mismatch = worker.mismatch else { return nil }
    let fact = self.fact(mismatch, file: worker.name + ".db")
    return say("\(fact) The bank continues with the present file.", "\(fact) 은행은 지금 있는 파일로 계속합니다.")
  }

  /// Sentence: how the database of a service differs from what the bank expects, with the remedy if it is a problem.
  private func mismatch(_ mismatch: DatabaseMismatch, file: String) -> String {
    let fact = self.fact(mismatch, file: file)
    guard mismatch.isProblem else { return fact }
    return say(
      "\(fact) Run 'bankctl stop', restore the right file and start again; or run 'bankctl reload' to continue with "
        + "the present file.",
      "\(fact) 'bankctl stop'으로 은행을 닫고 맞는 파일을 되돌린 뒤 다시 시작하세요. 지금 있는 파일로 계속하려면 'bankctl reload'를 입력하세요.")
  }

  /// Sentence: how the database of a service differs from what the bank expects.
  private func fact(_ mismatch: DatabaseMismatch, file: String) -> String {
    switch mismatch {
    case .newBank:
      say(
        "\(file) was last used with another bank.db. Its contents are kept; no action needed.",
        "\(file) 파일은 지금까지 다른 bank.db와 함께 쓰였습니다. 들어 있는 내용을 그대로 이어 씁니다. 조치할 것은 없습니다.")
    case .newDatabase:
      say(
        "\(file) is new, and this bank was used with a different one. If the previous file was moved by mistake, run "
          + "'bankctl stop' and put it back.",
        "\(file) 파일은 새로 만들어졌고, 이 은행은 지금까지 다른 파일과 함께 쓰였습니다. 이전 파일을 잘못 옮겼다면 'bankctl stop'으로 은행을 닫고 되돌리세요.")
    case .olderBank:
      say(
        "bank.db is older than \(file): tickets of later days are missing.",
        "bank.db 파일이 \(file) 파일보다 오래된 사본이라 그 뒤의 번호표가 없습니다.")
    case .olderDatabase:
      say(
        "\(file) is older than bank.db: later changes are missing.",
        "\(file) 파일이 bank.db 파일보다 오래된 사본이라 그 뒤에 바뀐 내용이 없습니다.")
    case .otherDatabase: say("\(file) belongs to another bank.", "\(file) 파일은 다른 은행의 것입니다.")
    }
  }

  /// Sentence: the database of the stock or of the vending machine is damaged, with the remedy for this service.
  private func damaged(_ who: String, _ failure: Failure, _ isStock: Bool) -> String {
    let file = failure.subject
    let (englishWay, koreanWay) =
      isStock
      ? (
        "or move it and '\(file)-wal' to another place: the stock starts with the initial amounts. Then run 'bankctl "
          + "reload'.",
        "그 파일과 '\(file)-wal'을 다른 곳으로 옮긴 뒤 'bankctl reload'를 입력하세요. 옮기면 재고는 초기 수량으로 새로 시작합니다."
      )
      : (
        "and run 'bankctl reload'; or run 'bankctl vending admin quarantine': the file is renamed, and the machine "
          + "starts empty.",
        "'bankctl reload'를 입력하거나, 'bankctl vending admin quarantine'을 입력하세요. 그러면 그 파일은 다른 이름으로 남고 "
          + "자판기는 새로 시작합니다."
      )
    return say(
      "\(who) cannot be opened: \(file) is damaged (\(localizedDetail(failure.detail, failure.messageDetail))). Nothing was "
        + "overwritten. Restore a backup"
        + (isStock ? ", " : " ") + englishWay,
      "\(who) 데이터베이스 \(file) 파일이 손상되어 열 수 없습니다(\(localizedDetail(failure.detail, failure.messageDetail))). 아무것도 덮어쓰지 않았습니다. 백업으로 "
        + (isStock ? "되돌리거나 " : "되돌린 뒤 ") + koreanWay)
  }

  /// Reason why a window without an error of its own serves no customer.
  private func blockedReason(_ worker: WorkerReport, _ messageDetail: MessageDetail) -> String {
    let pids = messageDetail.values.first ?? ""
    return say(
      "\(worker.name) waits: an earlier attempt left processes that the bank cannot kill (\(pids)). Kill them, for "
        + "example with 'sudo kill -9 PID'; the window then opens automatically.",
      "\(worker.name) 창구가 기다리고 있습니다. 이전 시도가 남긴 프로세스(\(pids))를 은행이 종료할 수 없습니다. 예를 들어 'sudo kill -9 PID'로 강제 종료하면 창구가 "
        + "자동으로 열립니다.")
  }

  /// Sentence: a service is unavailable for this reason.
  private func notWorking(_ who: String, _ trouble: String, log: String) -> String {
    let detail = aside(trouble)
    return say(
      "\(who) is unavailable\(detail). See 'bankctl logs \(log)', then try again with 'bankctl reload'.",
      "\(who) 서비스를 쓸 수 없습니다\(detail). \(KoreanParticle.object.on("'bankctl logs \(log)'")) 확인한 뒤 'bankctl reload'로 다시 "
        + "시도하세요.")
  }
}
