// Sentences of commands that change an open bank, and of those that open and close one.
// Invariant: a sentence is true at the time it is printed.
import Arguments
import BankModel
import Wire

extension MessageCatalog {
  func paused(_ service: ServiceName?) -> String {
    guard let service else {
      return say(
        "Every service is paused; 'bankctl resume' goes on.", "모든 업무를 멈췄습니다. 'bankctl resume'으로 다시 시작합니다.")
    }
    return say(
      "The service \(service.text) is paused; 'bankctl resume \(service.text)' goes on.",
      "\(phrases.service(service)) 업무를 멈췄습니다. "
        + "\(Particle.by.on("'bankctl resume \(service.text)'")) 다시 시작합니다.")
  }

  func resumed(_ service: ServiceName?) -> String {
    guard let service else { return say("Every service goes on.", "모든 업무를 다시 시작합니다.") }
    return say("The service \(service.text) goes on.", "\(phrases.service(service)) 업무를 다시 시작합니다.")
  }

  func namedTwice(_ service: ServiceName) -> String {
    say(
      "The service \(service.text) is named twice: give it one number of windows.",
      "\(phrases.service(service)) 업무가 두 번 적혔습니다. 창구 수를 한 번만 주세요.")
  }

  func windows(_ report: StatusReport) -> String {
    let counts = report.services.map { "\(phrases.service($0.service)) \($0.windows)" }
    return say("Windows: ", "창구: ") + counts.joined(separator: ", ")
  }

  func reset(_ report: StatusReport) -> String {
    let cancelled = report.cancelledByReset ?? 0
    let count = Self.grouped(cancelled)
    return say(
      (cancelled > 0 ? "Cancelled: \(count). " : "")
        + "The queue is empty; it is \(day(report.day)), and numbers begin at 1.",
      (cancelled > 0 ? "고객 \(count)명을 취소하고 초기화했습니다. " : "초기화했습니다. ") + "\(day(report.day)), 번호는 1부터 시작합니다.")
  }

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
        + "), sets the timer to zero and begins \(day(report.day + 1)). Go on?",
      "고객 \(everyone)명(" + shown.map { "\(column($0.0)) \(Self.grouped($0.1))" }.joined(separator: ", ")
        + ")을 모두 취소하고 업무시간을 0으로 돌린 뒤 \(day(report.day + 1))를 시작합니다. 계속할까요?")
  }

  func resetByAnother(_ report: StatusReport) -> String {
    say(
      "The bank was reset already; it is \(day(report.day)). Nothing was changed now.",
      "이미 초기화되어 \(day(report.day))입니다. 이번에 바뀐 것은 없습니다.")
  }

  /// Result of `stop`: the closing message if the day is closed, else the remaining customers.
  func stopped(_ report: StoppedReport) -> [String] {
    var notes = (report.killed ?? 0) > 0 ? [self.killed(report.killed ?? 0)] : []
    let sentAway = report.sentAway ?? 0
    if sentAway > 0 { notes.append(sentAwayToday(sentAway)) }
    // The counters include customers who left without a product; the closing message does not.
    let served = report.served - sentAway
    if report.isDayClosed {
      // The closing message is the last line of a day.
      return notes + [phrases.closing(served: served, business: .milliseconds(report.businessMilliseconds))]
    }
    if let branch = report.branch { return notes + left(branch, report, served: served) }
    var lines = [
      say(
        "The bank has closed; \(day(report.day)) goes on with the next start. Served so far: "
          + "\(Self.grouped(served)).",
        "은행을 닫았습니다. \(Particle.topic.on(day(report.day))) 다음 개점에 이어집니다. 지금까지 처리한 고객은 "
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
          "Dead letters that keep the day open: \(Self.grouped(report.dead)). 'bankctl requeue' or 'bankctl "
            + "cancel' decides, when the bank is open.",
          "보류된 고객 \(Self.grouped(report.dead))명 때문에 영업일이 끝나지 않았습니다. 은행이 열린 뒤 'bankctl requeue'나 "
            + "'bankctl cancel'로 정하세요."))
    }
    return lines
  }

  /// A branch has closed, and the bank continues without it.
  private func left(_ branch: Int64, _ report: StoppedReport, served: Int64) -> [String] {
    let name = self.branch(branch)
    let closed = say(
      "\(name.prefix(1).uppercased() + name.dropFirst()) has closed; the bank goes on without it. Served here on "
        + "\(day(report.day)): \(Self.grouped(served)).",
      "\(Particle.object.on(name)) 닫았습니다. 은행은 나머지 지점에서 이어집니다. \(day(report.day))에 여기서 처리한 고객은 "
        + "\(Self.grouped(served))명입니다.")
    guard report.waiting > 0 else { return [closed] }
    return [
      closed,
      say(
        "Given back to the queue of all branches: \(Self.grouped(report.waiting)).",
        "모든 지점이 함께 쓰는 대기열로 돌려보낸 고객은 \(Self.grouped(report.waiting))명입니다."),
    ]
  }

  private func sentAwayToday(_ count: Int64) -> String {
    say(
      "Sent away because too little was in stock: \(Self.grouped(count)).",
      "재고가 모자라 돌아간 고객은 \(Self.grouped(count))명입니다.")
  }

  func interrupted(_ event: BranchEvent) -> String {
    let grade = phrases.grade(event.priority)
    return say(
      "\(grade.map { $0 + " " } ?? "")customer \(event.ticket): \(event.service.text) interrupted at "
        + "\(event.window), back in line",
      "\(event.ticket)번 \(grade ?? "")고객 \(phrases.service(event.service))업무 중단(\(event.window)), 다시 대기")
  }

  func coordinatorDied(_ end: Remark) -> String {
    say(
      "The coordinator \(Self.exited(end)). Nothing is lost: those who had tickets wait for the next start. "
        + "See 'bankctl logs'.",
      "코디네이터가 갑자기 끝났습니다(\(particular(end))). 잃은 것은 없습니다. 번호표가 있는 고객은 다음 개점을 기다립니다. 'bankctl logs'를 보세요.")
  }
}
