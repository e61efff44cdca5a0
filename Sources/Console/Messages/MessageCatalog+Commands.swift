// Sentences about the results of commands.
// Invariant: a sentence is true at the time it is printed.
import Arguments
import Time
import Wire

extension MessageCatalog {
  func noSuchService(_ name: String, _ near: [String], _ known: [String]) -> String {
    let hint =
      known.isEmpty && near.isEmpty
      ? say(
        "A name is made of small letters, digits, \"_\", \".\" and \"-\"; 'bankctl status' shows those there are.",
        "업무 이름은 영어 소문자와 숫자, \"_\", \".\", \"-\"로 되어 있습니다. 있는 업무는 'bankctl status'가 보여 줍니다.")
      : near.isEmpty
        ? say("There are: \(known.joined(separator: ", ")).", "있는 업무는 \(known.joined(separator: ", "))입니다.")
        : say("Did you mean \(alternatives(near))?", "혹시 \(alternatives(near))인가요?")
    return say("There is no service \(quoted(name)). ", "\(quoted(name)) 업무는 없습니다. ") + hint
  }

  /// The coordinator has no service of this name; lists its services.
  func noSuchService(_ failure: Failure) -> String {
    let known = failure.remark?.values.first?.split(separator: ", ").map(String.init) ?? []
    return noSuchService(failure.subject, Suggestions.nearest(to: failure.subject, among: known), known)
  }

  /// `1,234/s`, `0.9/s`, or `12/min` for a low rate; nil below one a minute.
  func rate(_ perSecond: Double) -> String? {
    if perSecond >= 10 {
      let whole = Self.grouped(Int64(min(perSecond, 1e15).rounded()))
      return say("\(whole)/s", "초당 \(whole)")
    }
    if perSecond >= 0.2 {
      let tenths = Int64((perSecond * 10).rounded())
      let text = tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths / 10).\(tenths % 10)"
      return say("\(text)/s", "초당 \(text)")
    }
    let perMinute = Int64((perSecond * 60).rounded())
    return perMinute > 0 ? say("\(perMinute)/min", "분당 \(perMinute)") : nil
  }

  /// Elapsed time in whole seconds.
  func elapsed(_ span: TimeSpan) -> String {
    let seconds = span.milliseconds / 1000
    return seconds < 60 ? say("\(seconds) s", "\(seconds)초") : self.span(milliseconds: seconds * 1000)
  }

  /// Estimated remaining time in whole seconds, at least one.
  func estimate(_ span: TimeSpan) -> String {
    let seconds = max(1, Int64(span.inSeconds.rounded(.up)))
    if seconds < 60 { return say("\(seconds) s", "\(seconds)초") }
    return self.span(milliseconds: seconds * 1000)
  }

  func left(_ span: String) -> String { say("\(span) left", "\(span) 남음") }

  func phase(_ phase: ProgressReport.Phase) -> String {
    switch phase {
    case .enqueuing: say("taking tickets", "번호표 발급")
    case .serving: say("serving", "업무 처리")
    case .finishing: say("finishing", "업무 마무리")
    case .leaving: say("tellers leaving", "은행원 퇴근")
    case .resetting: say("cancelling everybody", "모두 취소")
    case .requeueing: say("bringing dead letters back", "보류된 고객 되돌리기")
    case .moving: say("moving", "옮기기")
    }
  }

  func doing(_ task: TaskProgress.Task) -> String {
    switch task {
    case .audit: say("auditing", "점검")
    case .ledger: say("adding the ledger up", "장부 집계")
    case .receipts: say("reading receipts", "영수증 읽기")
    case .tickets: say("reading tickets", "번호표 읽기")
    case .ticket: say("looking for the ticket", "번호표 찾기")
    case .scale: say("changing the windows", "창구 변경")
    case .reload: say("reading the configuration", "설정 다시 읽기")
    case .opening: say("opening the bank", "은행 열기")
    case .reset: say("cancelling everybody", "모두 취소")
    case .requeue: say("bringing dead letters back", "보류된 고객 되돌리기")
    case .cancel: say("cancelling", "취소")
    case .move: say("auditing and moving", "점검하고 옮기기")
    case .steer: say("waiting for the bank", "은행의 대답 기다리기")
    }
  }

  func opened(_ report: StatusReport) -> String {
    let windows = report.workers.count { $0.window != nil }
    return say(
      "The bank is open: \(day(report.day)), coordinator \(report.pid), \(windows) windows.",
      "은행이 열렸습니다. \(day(report.day)), 코디네이터 \(report.pid), 창구 \(windows)개.")
  }

  func enqueued(_ report: EnqueuedReport, ofList isList: Bool) -> String {
    let crowd = customers(report.count)
    let new = "\(tickets(report.first, report.last)), \(day(report.day))"
    if !isList, report.known > 0 {
      return say(
        "\(crowd) \(report.count == 1 ? "was" : "were") there already: \(new)", "\(crowd)은 이미 있습니다: \(new)")
    }
    guard report.known > 0 else {
      return report.count > 0 ? "\(crowd): \(new)" : say("Nobody was added.", "추가된 고객이 없습니다.")
    }
    // An older coordinator does not send the known tickets.
    let names = report.knownTickets.map { ": " + list($0) } ?? ""
    guard report.count > 0 else {
      return say(
        "Nobody was added: \(customers(report.known)) \(report.known == 1 ? "was" : "were") there already\(names)",
        "추가된 고객이 없습니다. \(customers(report.known))은 이미 있습니다\(names)")
    }
    return say(
      "\(crowd): \(new); \(Self.grouped(report.known)) \(report.known == 1 ? "was" : "were") there already\(names)",
      "\(crowd): \(new). \(Self.grouped(report.known))명은 이미 있습니다\(names)")
  }

  private func customers(_ count: Int64) -> String {
    say("\(Self.grouped(count)) \(count == 1 ? "customer" : "customers")", "고객 \(Self.grouped(count))명")
  }

  /// Tickets by spans; only the first of very many.
  private func list(_ spans: [TicketSpan]) -> String {
    let shown = 6
    let names = spans.prefix(shown).map { "\(tickets($0.first, $0.last)) (\(day($0.day)))" }
    let more = spans.count > shown ? say(" and more", " 등") : ""
    return names.joined(separator: ", ") + more
  }

  /// Result for customers that a command has waited for: one sentence if all were served, else one for each
  /// other outcome.
  func allDone(_ count: Int64, _ ended: EndedReport) -> [String] {
    let (all, cancelled) = (Self.grouped(count), ended.cancelled ?? 0)
    var sentences: [String] = []
    if ended.dead > 0 {
      sentences.append(
        say(
          "\(Self.grouped(ended.dead)) of \(all) stand among the dead letters: 'bankctl tickets "
            + "--state dead' lists them, 'bankctl requeue' and 'bankctl cancel' decide.",
          "\(all)명 중 \(Self.grouped(ended.dead))명이 보류되었습니다. 'bankctl tickets --state dead'로 보고 "
            + "'bankctl requeue'나 'bankctl cancel'로 정하세요."))
    }
    if cancelled > 0 {
      sentences.append(
        say(
          count == 1
            ? "It was cancelled, and not served."
            : "\(Self.grouped(cancelled)) of \(all) were cancelled, and not served.",
          count == 1
            ? "취소되어 처리되지 않았습니다." : "\(all)명 중 \(Self.grouped(cancelled))명이 취소되어 처리되지 않았습니다."))
    }
    guard sentences.isEmpty else { return sentences }
    return [
      say(
        count == 1 ? "The customer is finished." : "All \(all) customers are finished.",
        "\(all)명의 업무가 모두 끝났습니다.")
    ]
  }

  func unknownWhetherIssued(isKeyed: Bool) -> String {
    isKeyed
      ? say(
        "The coordinator was lost and did not come back within ten seconds, so it is not known whether the "
          + "tickets were issued. Repeat the command when the bank is open: with the same keys nobody is "
          + "added twice.",
        "코디네이터와 연결이 끊기고 10초 안에 돌아오지 않아 번호표가 발급되었는지 알 수 없습니다. 은행이 열리면 명령을 되풀이하세요. 같은 키로는 두 번 추가되지 않습니다.")
      : say(
        "The coordinator was lost before it had answered, so it is not known whether the tickets were "
          + "issued. "
          + "'bankctl status' shows how many there are; with --key the command could simply be repeated.",
        "코디네이터가 대답하기 전에 연결이 끊겨 번호표가 발급되었는지 알 수 없습니다. 발급된 수는 'bankctl status'로 보세요. "
          + "--key를 쓰면 명령을 그대로 되풀이할 수 있습니다.")
  }

  func withdrawn(isKeyed: Bool) -> String {
    say("Withdrawn: nobody was added.", "요청을 거두었습니다. 추가된 고객이 없습니다.")
      + (isKeyed
        ? say(" The same command with the same key may be typed again.", " 같은 키로 같은 명령을 다시 해도 됩니다.") : "")
  }

  /// After a second Ctrl-C before the result of the request was known.
  func leftUnknown(isKeyed: Bool) -> String {
    say(
      "Left before the bank had answered, so it is not known whether the tickets were issued. ",
      "은행이 대답하기 전에 끝내어 번호표가 발급되었는지 알 수 없습니다. ")
      + (isKeyed
        ? say(
          "Repeat the command to find out: with the same keys nobody is added twice.",
          "명령을 되풀이하면 알 수 있습니다. 같은 키로는 두 번 추가되지 않습니다.")
        : say(
          "'bankctl status' shows how many there are; with --key the command could simply be repeated.",
          "발급된 수는 'bankctl status'로 보세요. --key를 쓰면 명령을 그대로 되풀이할 수 있습니다."))
  }

  func waitingLeft(_ spans: [TicketSpan]) -> String {
    let them = spans.map { span in
      say(
        "\(tickets(span.first, span.last)) of \(day(span.day))",
        "\(day(span.day)) \(tickets(span.first, span.last))")
    }.joined(separator: ", ")
    return say(
      "This command ends; \(them) stay and are served. 'bankctl wait' goes on waiting.",
      "이 명령만 끝납니다. \(them)의 업무는 계속됩니다. 이어서 기다리려면 'bankctl wait'를 쓰세요.")
  }

  func waitingLost(_ span: TicketSpan) -> String {
    say(
      "The tickets are issued (\(tickets(span.first, span.last)) of \(day(span.day))) and safe on disk, but "
        + "the bank was lost while they were waited for. Open it with 'bankctl start' and go on with "
        + "'bankctl wait'.",
      "번호표는 발급되어(\(day(span.day)) \(tickets(span.first, span.last))) 디스크에 안전하게 있지만, 기다리는 동안 은행이 "
        + "닫혔습니다. 'bankctl start'로 열고 'bankctl wait'로 이어서 기다리세요.")
  }

  func stillBusy(_ report: StatusReport?) -> String {
    guard let queue = report?.queue else {
      return say("Time is up, and the bank is still busy.", "시간이 지났지만 아직 업무가 남아 있습니다.")
    }
    let left = Self.grouped(queue.waiting + queue.serving + queue.delayed)
    return say(
      "Time is up, and \(left) are still waiting or being served.", "시간이 지났지만 아직 \(left)명이 기다리거나 업무중입니다.")
  }
}
