// Owns the sentences with which the commands report what was done.
// It must not know how it was done.
// Invariant: a sentence says what is true when it is printed.
// Failure: none.
import BankModel
import Wire

extension Words {
  /// A service that does not exist.
  func noSuchService(_ name: String, _ near: [String], _ known: [String]) -> String {
    let hint =
      near.isEmpty
      ? say("There are: \(known.joined(separator: ", ")).", "있는 업무는 \(known.joined(separator: ", "))입니다.")
      : say("Did you mean \(alternatives(near))?", "혹시 \(alternatives(near))인가요?")
    return say("There is no service \(quoted(name)). ", "\(quoted(name)) 업무는 없습니다. ") + hint
  }

  /// `N/s`.
  func rate(_ perSecond: Int64) -> String {
    say("\(Self.grouped(perSecond))/s", "초당 \(Self.grouped(perSecond))")
  }

  /// What is left.
  func left(_ span: String) -> String { say("\(span) left", "\(span) 남음") }

  /// What makes progress.
  func phase(_ phase: ProgressReport.Phase) -> String {
    switch phase {
    case .enqueuing: say("taking tickets", "번호표 발급")
    case .serving: say("serving", "업무 처리")
    case .finishing: say("finishing", "업무 마무리")
    case .leaving: say("tellers leaving", "은행원 퇴근")
    }
  }

  /// The bank is open.
  func opened(_ report: StatusReport) -> String {
    let windows = report.workers.count { $0.window != nil }
    return say(
      "The bank is open: \(day(report.day)), coordinator \(report.pid), \(windows) windows.",
      "은행이 열렸습니다. \(day(report.day)), 코디네이터 \(report.pid), 창구 \(windows)개.")
  }

  /// Tickets were issued.
  func enqueued(_ report: EnqueuedReport) -> String {
    if report.count == 0 {
      return report.known > 0
        ? say(
          "Nobody was added: all \(Self.grouped(report.known)) keys were known.",
          "추가된 고객이 없습니다. 키 \(Self.grouped(report.known))개가 모두 이미 있습니다.")
        : say("Nobody was added.", "추가된 고객이 없습니다.")
    }
    let known =
      report.known > 0
      ? say(" (\(Self.grouped(report.known)) were known already)", " (\(Self.grouped(report.known))명은 이미 있음)")
      : ""
    return say(
      "\(Self.grouped(report.count)) \(report.count == 1 ? "customer" : "customers"): "
        + "\(tickets(report.first, report.last)), \(day(report.day))\(known)",
      "고객 \(Self.grouped(report.count))명: \(tickets(report.first, report.last)), \(day(report.day))\(known)")
  }

  /// All tickets that were waited for have ended.
  func allDone(_ report: EnqueuedReport, dead: Int64) -> String {
    dead == 0
      ? say(
        "All \(Self.grouped(report.count)) are done.", "\(Self.grouped(report.count))명의 업무가 모두 끝났습니다.")
      : say(
        "\(Self.grouped(dead)) of \(Self.grouped(report.count)) stand among the dead letters: 'bankctl "
          + "tickets "
          + "--state dead' lists them, 'bankctl requeue' and 'bankctl cancel' decide.",
        "\(Self.grouped(report.count))명 중 \(Self.grouped(dead))명이 보류되었습니다. 'bankctl tickets --state "
          + "dead'로 보고 "
          + "'bankctl requeue'나 'bankctl cancel'로 정하세요.")
  }

  /// The connection went before the answer came.
  func unknownWhetherIssued(isKeyed: Bool) -> String {
    isKeyed
      ? say(
        "The coordinator was lost and did not come back within ten seconds, so it is not known whether "
          + "the tickets "
          + "were issued. Repeat the command when the bank is open: with the same keys nobody is added "
          + "twice.",
        "코디네이터와 연결이 끊기고 10초 안에 돌아오지 않아 번호표가 발급되었는지 알 수 없습니다. 은행이 열리면 명령을 되풀이하세요. "
          + "같은 키로는 두 번 추가되지 않습니다.")
      : say(
        "The coordinator was lost before it had answered, so it is not known whether the tickets were "
          + "issued. "
          + "'bankctl status' shows how many there are; with --key the command could simply be repeated.",
        "코디네이터가 대답하기 전에 연결이 끊겨 번호표가 발급되었는지 알 수 없습니다. 발급된 수는 'bankctl status'로 보세요. "
          + "--key를 쓰면 명령을 그대로 되풀이할 수 있습니다.")
  }

  /// The coordinator went while its customers were waited for.
  func waitingLost(_ report: EnqueuedReport) -> String {
    say(
      "The tickets are issued (\(tickets(report.first, report.last)) of \(day(report.day))) and safe on "
        + "disk, but "
        + "the bank was lost while they were waited for. Open it with 'bankctl start' and go on with "
        + "'bankctl wait'.",
      "번호표는 발급되어(\(day(report.day)) \(tickets(report.first, report.last))) 디스크에 안전하게 있지만, 기다리는 동안 은행이 "
        + "닫혔습니다. 'bankctl start'로 열고 'bankctl wait'로 이어서 기다리세요.")
  }

  /// Time is up.
  func stillBusy(_ report: StatusReport?) -> String {
    guard let queue = report?.queue else {
      return say("Time is up, and the bank is still busy.", "시간이 지났지만 아직 업무가 남아 있습니다.")
    }
    let left = Self.grouped(queue.waiting + queue.serving + queue.delayed)
    return say(
      "Time is up, and \(left) are still waiting or being served.", "시간이 지났지만 아직 \(left)명이 기다리거나 업무중입니다.")
  }
}
