// Words for the states of customers, windows, the bank, attempts and receipts.
// The Korean titles of the lists of waiting customers and of customers being served are those of the original app.

extension StringCatalog {
  /// Word for the state of a customer.
  public func state(_ state: CustomerState) -> String {
    switch state {
    case .waiting: localized("대기중", "waiting")
    case .delayed: localized("예약·재시도", "delayed")
    case .dead: localized("보류", "a dead letter")
    case .serving: localized("업무중", "being served")
    case .done: localized("완료", "done")
    }
  }

  /// Title of a list of customers in this state.
  public func header(_ state: CustomerState) -> String {
    switch state {
    case .waiting: localized("대기중", "Waiting")
    case .serving: localized("업무중", "Serving")
    case .delayed: localized("예약·재시도", "Delayed")
    case .dead: localized("보류", "Dead letters")
    case .done: localized("완료", "Done")
    }
  }

  /// Word for the state of the bank.
  public func state(_ state: BankState) -> String {
    switch state {
    case .open: localized("영업 중", "open")
    case .paused: localized("일시 중지", "paused")
    case .draining: localized("마감 중", "closing")
    case .closed: localized("마감", "closed")
    }
  }

  /// Word for the state of a branch of a shared bank.
  public func state(_ state: BranchState) -> String {
    switch state {
    case .open: localized("영업 중", "open")
    case .expired: localized("만료", "expired")
    case .closed: localized("마감", "closed")
    }
  }

  /// Word for the state of a worker.
  public func state(_ state: WorkerState) -> String {
    switch state {
    case .starting: localized("준비 중", "starting")
    case .idle: localized("쉬는 중", "idle")
    case .serving: localized("업무중", "serving")
    case .backoff: localized("재시작 대기", "backing off")
    case .stopped: localized("닫힘", "stopped")
    }
  }

  /// Word for the outcome of a ticket.
  public func outcome(_ outcome: Outcome) -> String {
    switch outcome {
    case .served: localized("완료", "served")
    case .cancelled: localized("취소", "cancelled")
    case .outOfStock: localized("재고 부족", "out of stock")
    }
  }

  /// Name of a priority for people: the grade, including `regular`, or `priority 5`.
  public func standing(_ priority: Priority) -> String {
    if let grade = grade(priority) { return grade }
    return priority == .regular
      ? localized("일반", "regular") : localized("우선순위 \(priority.number)", "priority \(priority.number)")
  }

  /// How an attempt ended. For a killed or stuck worker, the text includes the return of the customer to its line.
  public func attemptEnded(_ end: AttemptEnd) -> String {
    switch end {
    case .served: localized("업무 완료", "served")
    case .killed: localized("워커가 종료되어 줄의 맨 앞으로 돌아감", "the worker died; back to the head of the line")
    case .leaseExpired:
      localized("워커가 응답하지 않아 줄의 맨 앞으로 돌아감", "the worker was stuck; back to the head of the line")
    case .recalled, .failed, .deferred, .lost: attemptFailed(end)
    }
  }

  /// How an attempt ended, without the return of the customer to its line.
  public func attemptFailed(_ end: AttemptEnd) -> String {
    switch end {
    case .served: attemptEnded(end)
    case .killed: localized("워커가 종료됨", "the worker died")
    case .leaseExpired: localized("워커가 응답하지 않음", "the worker was stuck")
    case .recalled: localized("회수됨", "recalled")
    case .failed: localized("처리 실패", "failed")
    case .deferred: localized("연기됨", "deferred")
    case .lost:
      localized(
        "유실됨: 처리하는 동안 코디네이터가 종료됨",
        "lost: the coordinator died while it was running")
    }
  }
  /// Reason for a dead letter in a few words: the exit code, the signal, or the end of the last attempt; nil if all
  /// three are unknown.
  ///
  /// - Parameter signal: name of the signal, such as `SIGSEGV`.
  public func reason(_ end: AttemptEnd?, signal: String?, code: Int32?) -> String? {
    if let code { return exitCode(code) }
    return signal ?? end.map(attemptFailed)
  }

  /// Text for an exit code: `exit code 65`, `종료 코드 65`.
  public func exitCode(_ code: Int32) -> String { localized("종료 코드 \(code)", "exit code \(code)") }

  /// Name of an account of the ledger. The name of a single customer's account is not translated.
  public func ledgerAccount(_ name: String) -> String {
    switch name {
    case "cash": localized("현금", "cash")
    case "loans": localized("대출금", "loans")
    case "customers": localized("고객 계좌 전체", "all customers")
    default: name
    }
  }
}
