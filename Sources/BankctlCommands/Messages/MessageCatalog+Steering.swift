// Sentences of commands that change an open bank,
// and of those that open and close one.
import Arguments
import BankModel
import Wire

extension MessageCatalog {
  /// Sentence: a service is paused; for nil, all services.
  func paused(_ service: ServiceName?) -> String {
    guard let service else {
      return say(
        "All services paused. Resume: 'bankctl resume'.", "모든 업무를 일시 중지했습니다. 'bankctl resume'으로 다시 시작합니다.")
    }
    return say(
      "Service \(service.text) paused. Resume: 'bankctl resume \(service.text)'.",
      "\(phrases.service(service)) 업무를 일시 중지했습니다. "
        + "\(KoreanParticle.by.on("'bankctl resume \(service.text)'")) 다시 시작합니다.")
  }

  /// Sentence: a service is resumed; for nil, all services.
  func resumed(_ service: ServiceName?) -> String {
    guard let service else { return say("All services resumed.", "모든 업무를 다시 시작했습니다.") }
    return say("Service \(service.text) resumed.", "\(phrases.service(service)) 업무를 다시 시작했습니다.")
  }

  /// Sentence: a service has two numbers of windows on the command line.
  func namedTwice(_ service: ServiceName) -> String {
    say(
      "Service \(service.text) was given twice: give one number of windows.",
      "\(phrases.service(service)) 업무가 두 번 지정되었습니다. 창구 수를 한 번만 지정하세요.")
  }

  /// The number of windows of each service.
  func windows(_ report: StatusReport) -> String {
    let counts = report.services.map { "\(phrases.service($0.service)) \($0.windows)" }
    return say("Windows: ", "창구: ") + counts.joined(separator: ", ")
  }

  func reset(_ report: StatusReport) -> String {
    let cancelled = report.cancelledByReset ?? 0
    let count = Self.grouped(cancelled)
    return say(
      (cancelled > 0 ? "Cancelled: \(count). " : "")
        + "The queue is empty; it is \(day(report.day)), numbering restarts at 1.",
      (cancelled > 0 ? "고객 \(count)명을 취소하고 초기화했습니다. " : "초기화했습니다. ") + "\(day(report.day)), 번호는 1부터 시작합니다.")
  }

  /// Question whether to reset the bank, with the customers that would be cancelled.
  func askReset(_ report: StatusReport) -> String {
    let queue = report.queue
    let parts: [(Column, Int64)] = [
      (.waiting, queue.waiting), (.serving, queue.serving), (.delayed, queue.delayed), (.dead, queue.dead),
    ]
    let shown = parts.filter { $0.1 > 0 }
    let everyone = Self.grouped(parts.reduce(0) { $0 + $1.1 })
    return say(
      "This cancels \(everyone) \(everyone == "1" ? "customer" : "customers") ("
        + shown.map { "\(column($0.0)) \(Self.grouped($0.1))" }.joined(separator: ", ")
        + "), resets the timer and starts \(day(report.day + 1)). Continue?",
      "고객 \(everyone)명(" + shown.map { "\(column($0.0)) \(Self.grouped($0.1))" }.joined(separator: ", ")
        + ")을 모두 취소하고 업무시간을 0으로 돌린 뒤 \(day(report.day + 1))를 시작합니다. 계속할까요?")
  }

  /// Sentence: another client has reset the bank meanwhile.
  func resetByAnother(_ report: StatusReport) -> String {
    say(
      "The bank has already been reset; it is \(day(report.day)). Nothing was changed now.",
      "이미 초기화되어 \(day(report.day))입니다. 이번에 변경된 내용은 없습니다.")
  }

  /// Result of `stop`: the closing message if the day is closed, otherwise the remaining customers.
  func stopped(_ report: StoppedReport) -> [String] {
    var notes = (report.killed ?? 0) > 0 ? [self.killed(report.killed ?? 0)] : []
    let sentAway = report.sentAway ?? 0
    if sentAway > 0 { notes.append(sentAwayToday(sentAway)) }
    // The counters include customers that received no product; the closing message does not count them.
    let served = report.served - sentAway
    if report.isDayClosed, let branch = report.branch {
      return notes + [ended(branch, report, served: served)]
    }
    if report.isDayClosed {
      // The closing message is the last line of a day.
      return notes + [phrases.closing(served: served, business: .milliseconds(report.businessMilliseconds))]
    }
    if let branch = report.branch { return notes + left(branch, report, served: served) }
    var lines = [
      say(
        "The bank has closed. \(day(report.day).prefix(1).uppercased() + day(report.day).dropFirst()) continues at the "
          + "next start; \(Self.grouped(served)) served so far.",
        "은행을 닫았습니다. \(KoreanParticle.topic.on(day(report.day))) 다음 개점에 이어집니다. 지금까지 처리한 고객은 "
          + "\(Self.grouped(served))명입니다.")
    ]
    lines += notes
    if report.waiting > 0 {
      lines.append(
        say(
          "Waiting for the next start: \(Self.grouped(report.waiting)).",
          "\(Self.grouped(report.waiting))명이 다음 개점을 기다립니다."))
    }
    lines += (report.branches ?? []).map(leftAtBranch)
    if report.dead > 0 {
      lines.append(
        say(
          "\(Self.grouped(report.dead)) \(report.dead == 1 ? "dead letter keeps" : "dead letters keep") the day open; "
            + "after the next start run 'bankctl requeue' or 'bankctl cancel'.",
          "보류된 고객 \(Self.grouped(report.dead))명 때문에 영업일이 끝나지 않았습니다. 은행을 다시 연 뒤 'bankctl requeue'나 'bankctl cancel'을 "
            + "실행하세요."))
    }
    return lines
  }

  /// Sentence: the day has ended at all branches, and only the count of one branch is known.
  private func ended(_ branch: Int64, _ report: StoppedReport, served: Int64) -> String {
    let (ended, count) = (day(report.day), Self.grouped(served))
    return say(
      "\(ended.prefix(1).uppercased() + ended.dropFirst()) has ended at all branches. Served at "
        + "\(self.branch(branch)): \(count). All receipts: 'bankctl receipts --day \(report.day)'.",
      "모든 지점에서 \(KoreanParticle.subject.on(ended)) 끝났습니다. \(self.branch(branch))에서 처리한 고객은 \(count)명입니다. 모든 영수증: "
        + "'bankctl receipts --day \(report.day)'")
  }

  /// Sentences: a branch has closed, and the bank continues without this branch.
  private func left(_ branch: Int64, _ report: StoppedReport, served: Int64) -> [String] {
    let name = self.branch(branch)
    let closed = say(
      "\(name.prefix(1).uppercased() + name.dropFirst()) has closed; the other branches continue. Served here on "
        + "\(day(report.day)): \(Self.grouped(served)).",
      "\(KoreanParticle.object.on(name)) 닫았습니다. 나머지 지점은 계속 영업합니다. \(day(report.day))에 여기서 처리한 고객은 "
        + "\(Self.grouped(served))명입니다.")
    guard report.waiting > 0 else { return [closed] }
    return [
      closed,
      say(
        "Returned to the shared queue: \(Self.grouped(report.waiting)).",
        "공유 대기열로 반환한 고객은 \(Self.grouped(report.waiting))명입니다."),
    ]
  }

  /// Sentence: this number of customers was rejected for lack of stock.
  private func sentAwayToday(_ count: Int64) -> String {
    say(
      "Rejected for lack of stock: \(Self.grouped(count)).",
      "재고가 모자라 돌아간 고객은 \(Self.grouped(count))명입니다.")
  }

  /// Line about an attempt that was interrupted, for `open`.
  func interrupted(_ event: AttemptEvent) -> String {
    let grade = phrases.grade(event.priority)
    return say(
      "\(grade.map { $0 + " " } ?? "")customer \(event.ticket): \(event.service.text) interrupted at \(event.window), "
        + "waiting again",
      "\(event.ticket)번 \(grade ?? "")고객 \(phrases.service(event.service))업무 중단(\(event.window)), 다시 대기")
  }

  func coordinatorDied(_ end: MessageDetail) -> String {
    say(
      "The coordinator \(Self.exited(end)). No customers are lost: those with tickets wait for the next start. See "
        + "'bankctl logs'.",
      "코디네이터가 비정상 종료되었습니다(\(localizedDetail(end))). 유실된 고객은 없습니다. 번호표가 있는 고객은 다음 개점을 기다립니다. 'bankctl logs'를 보세요."
    )
  }
}
