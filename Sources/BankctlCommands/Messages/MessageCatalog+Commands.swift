// Sentences about the results of commands,
// in English and Korean.
import Arguments
import Time
import Wire

extension MessageCatalog {
  /// Sentence: no service has this name, with near names, all names or the syntax of names.
  func noSuchService(_ name: String, _ near: [String], _ known: [String]) -> String {
    let hint =
      known.isEmpty && near.isEmpty
      ? say(
        "Names consist of lower-case letters, digits, \"_\", \".\" and \"-\"; see 'bankctl status'.",
        "업무 이름은 영어 소문자와 숫자, \"_\", \".\", \"-\"로 되어 있습니다. 업무 목록은 'bankctl status'로 확인하세요.")
      : near.isEmpty
        ? say("Known services: \(known.joined(separator: ", ")).", "업무 목록: \(known.joined(separator: ", ")).")
        : say("Did you mean \(alternatives(near))?", "혹시 \(alternatives(near))인가요?")
    return say("There is no service \(quoted(name)). ", "\(quoted(name)) 업무는 없습니다. ") + hint
  }

  /// Sentence: the coordinator has no service with this name. It contains the nearest services, or all services if
  /// none is near.
  func noSuchService(_ failure: Failure) -> String {
    let known = failure.messageDetail?.values.first?.split(separator: ", ").map(String.init) ?? []
    return noSuchService(failure.subject, Suggestions.nearest(to: failure.subject, among: known), known)
  }

  /// `1,234/s`, `0.9/s`, or `12/min` for a low rate; nil if the rate per minute is rounded to zero.
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

  /// A remaining time: `5 s left`.
  func left(_ span: String) -> String { say("\(span) left", "\(span) 남음") }

  /// Label of the progress of a request, by the phase that the coordinator reports.
  func phase(_ phase: ProgressReport.Phase) -> String {
    switch phase {
    case .enqueuing: say("enqueueing", "번호표 발급")
    case .serving: say("serving", "업무 처리")
    case .finishing: say("finishing", "업무 마무리")
    case .leaving: say("stopping workers", "워커 종료")
    case .resetting: say("cancelling all customers", "모두 취소")
    case .requeueing: say("requeueing dead letters", "보류된 고객 다시 줄 세우기")
    case .moving: say("migrating", "옮기기")
    }
  }

  /// Label of the progress of a request, by what the command waits for.
  func doing(_ task: TaskProgress.Task) -> String {
    switch task {
    case .audit: say("auditing", "점검")
    case .ledger: say("summing the ledger", "원장 집계")
    case .receipts: say("reading receipts", "영수증 읽기")
    case .tickets: say("reading tickets", "번호표 읽기")
    case .ticket: say("finding the ticket", "번호표 찾기")
    case .scale: say("changing the windows", "창구 변경")
    case .reload: say("reading the configuration", "설정 다시 읽기")
    case .opening: say("opening the bank", "은행 열기")
    case .reset: say("cancelling all customers", "모두 취소")
    case .requeue: say("requeueing dead letters", "보류된 고객 다시 줄 세우기")
    case .cancel: say("cancelling", "취소")
    case .move: say("auditing and migrating", "점검하고 옮기기")
    case .sendControl: say("waiting for the coordinator", "은행 응답 대기")
    }
  }

  func opened(_ report: StatusReport) -> String {
    let windows = report.workers.count { $0.window != nil }
    return say(
      "The bank is open: \(day(report.day)), coordinator \(report.pid), \(windows) windows.",
      "은행이 열렸습니다. \(day(report.day)), 코디네이터 \(report.pid), 창구 \(windows)개.")
  }

  /// Result of a request for tickets: new tickets, and those known by their keys.
  func enqueued(_ report: EnqueuedReport, ofList isList: Bool) -> String {
    let crowd = customers(report.count)
    let new = "\(tickets(report.first, report.last)), \(day(report.day))"
    if !isList, report.known > 0 {
      return say(
        "\(crowd) already \(report.count == 1 ? "exists" : "exist"): \(new)", "\(crowd)은 이미 있습니다: \(new)")
    }
    guard report.known > 0 else {
      return report.count > 0 ? "\(crowd): \(new)" : say("No customers added.", "추가된 고객이 없습니다.")
    }
    // An older coordinator does not send the known tickets.
    let names = report.alreadyIssuedTickets.map { ": " + list($0) } ?? ""
    guard report.count > 0 else {
      return say(
        "No customers added: \(customers(report.known)) already \(report.known == 1 ? "exists" : "exist")\(names)",
        "추가된 고객이 없습니다. \(customers(report.known))은 이미 있습니다\(names)")
    }
    return say(
      "\(crowd): \(new); \(Self.grouped(report.known)) already \(report.known == 1 ? "exists" : "exist")\(names)",
      "\(crowd): \(new). \(Self.grouped(report.known))명은 이미 있습니다\(names)")
  }

  /// A number of customers: `1 customer`, `1,234 customers`.
  private func customers(_ count: Int64) -> String {
    say("\(Self.grouped(count)) \(count == 1 ? "customer" : "customers")", "고객 \(Self.grouped(count))명")
  }

  /// Spans of tickets with their days, at most the first few.
  private func list(_ spans: [TicketSpan]) -> String {
    let shown = 6
    let names = spans.prefix(shown).map { "\(tickets($0.first, $0.last)) (\(day($0.day)))" }
    let more = spans.count > shown ? say(" and more", " 등") : ""
    return names.joined(separator: ", ") + more
  }

  /// Result for customers that a command has waited for: one sentence if all were served, otherwise one for
  /// each other outcome.
  func allDone(_ count: Int64, _ ended: AwaitedTicketsReport) -> [String] {
    let (all, cancelled) = (Self.grouped(count), ended.cancelled ?? 0)
    var sentences: [String] = []
    if ended.dead > 0 {
      sentences.append(
        say(
          "\(Self.grouped(ended.dead)) of \(all) \(ended.dead == 1 ? "is a dead letter" : "are dead letters"). List "
            + "with 'bankctl tickets --state dead'; retry or drop with 'bankctl requeue' or 'bankctl cancel'.",
          "\(all)명 중 \(Self.grouped(ended.dead))명이 보류되었습니다. 'bankctl tickets --state dead'로 확인하고 'bankctl requeue'와 "
            + "'bankctl cancel' 중 하나를 실행하세요."))
    }
    if cancelled > 0 {
      sentences.append(
        say(
          count == 1
            ? "The customer was cancelled, not served."
            : "\(Self.grouped(cancelled)) of \(all) were cancelled, not served.",
          count == 1
            ? "취소되어 처리되지 않았습니다." : "\(all)명 중 \(Self.grouped(cancelled))명이 취소되어 처리되지 않았습니다."))
    }
    guard sentences.isEmpty else { return sentences }
    return [
      say(
        count == 1 ? "The customer is finished." : "All \(all) customers are finished.",
        "\(all)명의 처리가 모두 끝났습니다.")
    ]
  }

  /// Sentence: the connection was lost, and it is unknown whether the tickets were issued.
  func unknownWhetherIssued(isKeyed: Bool) -> String {
    isKeyed
      ? say(
        "Lost the coordinator and could not reconnect within ten seconds, so it is not known whether the tickets were "
          + "issued. Repeat the command when the bank is open: the same keys add no customer twice.",
        "코디네이터와 연결이 끊기고 10초 안에 다시 연결하지 못해 번호표가 발급되었는지 알 수 없습니다. 은행이 열리면 명령을 다시 실행하세요. 같은 키로는 두 번 추가되지 않습니다.")
      : say(
        "Lost the coordinator before it responded, so it is not known whether the tickets were issued. See 'bankctl "
          + "status' for their number; use --key to make the command repeatable.",
        "코디네이터가 응답하기 전에 연결이 끊겨 번호표가 발급되었는지 알 수 없습니다. 발급된 수는 'bankctl status'로 확인하세요. --key를 쓰면 명령을 그대로 다시 실행할 수 있습니다."
      )
  }

  /// Sentence: the request for tickets was withdrawn in time.
  func withdrawn(isKeyed: Bool) -> String {
    say("Cancelled: no customers were added.", "요청을 취소했습니다. 추가된 고객이 없습니다.")
      + (isKeyed
        ? say(" The same command with the same key can be repeated.", " 같은 키로 같은 명령을 다시 실행할 수 있습니다.") : "")
  }

  /// Sentence after a second Ctrl-C or other signal: it is unknown whether the tickets were issued.
  func leftUnknown(isKeyed: Bool) -> String {
    say(
      "Interrupted before the bank responded, so it is not known whether the tickets were issued. ",
      "은행이 응답하기 전에 중단하여 번호표가 발급되었는지 알 수 없습니다. ")
      + (isKeyed
        ? say(
          "Repeat the command to find out: the same keys add no customer twice.",
          "명령을 다시 실행하면 알 수 있습니다. 같은 키로는 두 번 추가되지 않습니다.")
        : say(
          "See 'bankctl status' for their number; use --key to make the command repeatable.",
          "발급된 수는 'bankctl status'로 확인하세요. --key를 쓰면 명령을 그대로 다시 실행할 수 있습니다."))
  }

  /// Sentence after a signal: the command waits no longer, and the tickets stay queued.
  func waitAbandoned(_ spans: [TicketSpan]) -> String {
    let them = spans.map { span in
      say(
        "\(tickets(span.first, span.last)) of \(day(span.day))",
        "\(day(span.day)) \(tickets(span.first, span.last))")
    }.joined(separator: ", ")
    return say(
      "Stopped waiting. The work continues for \(them); 'bankctl wait' waits again.",
      "대기를 중단했습니다. \(them)의 업무는 계속됩니다. 다시 기다리려면 'bankctl wait'를 쓰세요.")
  }

  /// Sentence: the tickets are issued, but the bank closed during the wait.
  func waitLost(_ span: TicketSpan) -> String {
    say(
      "The tickets are issued (\(tickets(span.first, span.last)) of \(day(span.day))) and safe on disk, but the bank "
        + "closed during the wait. Open it with 'bankctl start' and wait again with 'bankctl wait'.",
      "번호표는 발급되어(\(day(span.day)) \(tickets(span.first, span.last))) 디스크에 안전하게 있지만, 기다리는 동안 은행이 "
        + "닫혔습니다. 'bankctl start'로 열고 'bankctl wait'로 이어서 기다리세요.")
  }

  /// Sentence: the wait has timed out, with the number of remaining customers.
  func stillBusy(_ report: StatusReport?) -> String {
    guard let queue = report?.queue else {
      return say("Timed out: the bank is still busy.", "시간이 초과되었습니다. 아직 업무가 남아 있습니다.")
    }
    let left = Self.grouped(queue.waiting + queue.serving + queue.delayed)
    return say(
      "Timed out: \(left) still waiting or being served.", "시간이 초과되었습니다. 아직 \(left)명이 기다리거나 업무중입니다.")
  }
}
