// Sentences about a drain,
// and messages of a guardian in the foreground.
import Arguments
import BankModel
import Guardian
import Posix
import Wire

/// Options that a waiting command accepts and that the user did not give. A sentence may recommend these.
struct FreeOptions: Equatable, Sendable {
  var unlessPaused = false
  var timeout = false
  var leaveDelayed = false
  var stepTimeout = false

  /// No option.
  static let none = FreeOptions()
}

extension FreeOptions {
  /// The options that this command line could have and does not have.
  init(of invocation: Invocation) {
    /// True if the command accepts the option and the user did not give it.
    func isFree(_ option: String) -> Bool {
      invocation.options.declares(option) && !invocation.options.has(option)
    }
    self.init(
      unlessPaused: isFree("unless-paused"), timeout: isFree("timeout"),
      leaveDelayed: isFree("leave-delayed"), stepTimeout: isFree("step-timeout"))
  }
}

extension MessageCatalog {
  /// Sentence about the present step of a drain.
  /// - Parameter free: Options that the sentence may recommend. For a bank in the foreground these are options of
  ///   `bankctl stop`, because that command can close the bank, too.
  func drain(_ report: DrainReport, _ free: FreeOptions) -> String {
    let waiting = Self.grouped(report.waiting)
    let serving = Self.grouped(report.serving)
    let bound = report.leftMilliseconds.map { span(milliseconds: $0) }
    return switch report.step {
    case .stopAccepting: say("Closing: no new customers are accepted.", "마감합니다. 새 고객은 받지 않습니다.")
    case .serveWaiting:
      say(
        "Serving waiting customers: \(waiting) waiting, \(serving) at a window"
          + (bound.map { ", for at most \($0)" } ?? "") + ".",
        "기다리는 고객을 처리합니다. 대기중 \(waiting)명, 업무중 \(serving)명" + (bound.map { ", 최대 \($0)" } ?? "") + ".")
        + delayed(report, free) + " " + nextStepHint(.finishServing)
    case .finishServing:
      say(
        "Finishing active customers: \(serving) at a window, \(waiting) waiting"
          + (bound.map { ", for at most \($0)" } ?? "") + ".",
        "업무중인 고객을 마칩니다. 업무중 \(serving)명, 대기중 \(waiting)명" + (bound.map { ", 최대 \($0)" } ?? "") + ".")
        + " " + nextStepHint(.kill)
    case .kill:
      say(
        "Stopping the workers; any that do not exit are killed. \(waiting) waiting for the next start.",
        "창구를 닫는 중입니다. 종료되지 않는 워커는 강제 종료합니다. 다음 개점을 기다리는 고객 \(waiting)명.")
    }
  }

  /// Delayed customers among the waiting ones, their due time, and how to close without them.
  private func delayed(_ report: DrainReport, _ free: FreeOptions) -> String {
    guard let count = report.delayed, count > 0 else { return "" }
    let until = report.delayedUntil.map { moment($0) }
    let counted = say(
      "\(Self.grouped(count)) of them \(count == 1 ? "is" : "are") delayed"
        + (until.map { ", the first until \($0)" } ?? ""),
      "그 가운데 \(Self.grouped(count))명은 예약·재시도 고객입니다" + (until.map { "(가장 이른 시각 \($0))" } ?? ""))
    let way =
      switch (free.leaveDelayed, free.stepTimeout) {
      case (true, true):
        say(
          ": 'bankctl stop --leave-delayed' or --step-timeout leaves them for the next start, 'bankctl cancel' cancels "
            + "them.",
          ". 'bankctl stop --leave-delayed'나 --step-timeout으로 다음 개점에 넘기거나, 'bankctl cancel'로 취소할 수 있습니다.")
      case (true, false):
        say(
          ": 'bankctl stop --leave-delayed' leaves them for the next start, 'bankctl cancel' cancels them.",
          ". 'bankctl stop --leave-delayed'로 다음 개점에 넘기거나, 'bankctl cancel'로 취소할 수 있습니다.")
      case (false, _):
        say("; they wait for the next start.", ". 이 고객은 다음 개점을 기다립니다.")
      }
    return " " + counted + way
  }

  /// Printed by a waiting command if only delayed customers remain.
  func waitsForDelayed(_ count: Int64, until: Int64?, _ free: FreeOptions) -> String {
    let moment = until.map { self.moment($0) }
    let leaving = say(
      "'bankctl wait --leave-delayed' does not wait for them, ",
      "'bankctl wait --leave-delayed'는 이 고객을 기다리지 않고, ")
    let limiting = say("--timeout limits the wait, ", "--timeout은 기다리는 시간을 정하며, ")
    return say(
      "Only delayed customers, for later or for a retry, remain: \(Self.grouped(count))"
        + (moment.map { ", the first until \($0)" } ?? "") + ". ",
      "예약·재시도 고객만 남았습니다. \(Self.grouped(count))명" + (moment.map { ", 가장 이른 시각 \($0)" } ?? "") + ". ")
      + (free.leaveDelayed ? leaving : "") + (free.timeout ? limiting : "")
      + say("'bankctl cancel' cancels them.", "'bankctl cancel'은 이 고객을 취소합니다.")
  }

  /// Printed by a command that waits for customers of a paused service.
  func waitsForPaused(_ service: ServiceReport, _ free: FreeOptions) -> String {
    let name = service.service.text
    let count = Self.grouped(service.waiting)
    let waiting = say("\(count) waiting.", "\(count)명이 기다립니다.")
    let advice =
      switch (free.unlessPaused, free.timeout) {
      case (true, true):
        say(
          " Use --unless-paused to end the wait in this case, --timeout to limit it.",
          " 이런 경우 --unless-paused는 대기를 끝내고, --timeout은 대기 시간을 제한합니다.")
      case (true, false):
        say(" Use --unless-paused to end the wait in this case.", " 이런 경우 --unless-paused는 대기를 끝냅니다.")
      case (false, true): say(" Use --timeout to limit the wait.", " --timeout은 대기 시간을 제한합니다.")
      case (false, false): ""
      }
    let way = waiting + advice
    guard let reason = service.pauseReason else {
      return say(
        "\(name) is paused: bankctl resume \(name). ",
        "\(name) 업무가 일시 중지되어 있습니다. 다시 시작하려면: bankctl resume \(name). ")
        + way
    }
    return hasPaused(service.service, because: reason) + (language == .korean ? " " : ". ") + way
  }

  /// A time in UTC, and the remaining time in parentheses.
  private func moment(_ milliseconds: Int64) -> String {
    let left = max(0, milliseconds - SystemClock.wall().milliseconds)
    let instant = Timestamp.utc(milliseconds: milliseconds)
    return say("\(instant) (in \(span(milliseconds: left)))", "\(instant)(\(span(milliseconds: left)) 뒤)")
  }

  /// What a Ctrl-C does next, if this is the next step.
  private func nextStepHint(_ step: DrainStep) -> String {
    switch step {
    case .stopAccepting, .serveWaiting: say("Ctrl-C: close the bank.", "Ctrl-C를 누르면 은행을 닫습니다.")
    case .finishServing:
      say("Ctrl-C: stop serving waiting customers.", "Ctrl-C를 누르면 기다리는 고객은 다음 개점으로 넘깁니다.")
    case .kill:
      say(
        "Ctrl-C: kill the workers; their customers wait for the next start.",
        "Ctrl-C를 누르면 워커를 강제 종료하고, 업무중인 고객은 다음 개점을 기다립니다.")
    }
  }

  /// Reply to a Ctrl-C that requests this step.
  func advanced(to step: DrainStep) -> String {
    switch step {
    case .stopAccepting, .serveWaiting: self.draining
    case .finishServing:
      say(
        "Finishing active customers; waiting customers stay for the next start. Press again to kill the workers.",
        "업무중인 고객만 마칩니다. 기다리는 고객은 다음 개점을 기다립니다. 한 번 더 누르면 워커를 강제 종료합니다.")
    case .kill:
      say(
        "Killing the workers. Their customers wait for the next start.",
        "워커를 강제 종료합니다. 유실된 고객은 없습니다. 업무중이던 고객은 다음 개점을 기다립니다.")
    }
  }

  /// Sentence: this number of workers was killed during the drain.
  func killed(_ count: Int64) -> String {
    say(
      "\(Self.grouped(count)) "
        + "\(count == 1 ? "worker was killed. Its customer waits" : "workers were killed. Their customers wait") for "
        + "the next start.",
      "워커 \(Self.grouped(count))개를 강제 종료했습니다. 해당 고객은 다음 개점 때 다시 처리됩니다.")
  }

  /// Sentence about an event of a guarded coordinator; nil if the event needs no message.
  func sentence(_ event: Guardian.Event) -> String? {
    switch event {
    case .opened: nil
    case .ended(.code(0), _): nil
    case .ended(let end, let pid):
      say(
        "The coordinator (pid \(pid)) \(Self.exited(MessageDetail(end))). No customers are lost.",
        "코디네이터(pid \(pid))가 비정상 종료되었습니다(\(localizedDetail(MessageDetail(end)))). 유실된 고객은 없습니다.")
    case .pausing(let pause):
      say("Reopening the bank in \(pause.milliseconds) ms.", "\(pause.milliseconds)밀리초 뒤에 은행을 다시 엽니다.")
    case .restarted(let pid):
      say("Reopening the bank (coordinator \(pid)).", "은행을 다시 엽니다(코디네이터 \(pid)).")
    }
  }

  /// End of a coordinator in English, after its name: "ended with code 7".
  static func exited(_ end: MessageDetail) -> String {
    end.kind == .processStatusUnknown ? "has exited; its exit status is unknown" : "ended with \(end)"
  }

  /// Sentence: the guardian has given up, because the coordinator exited each time.
  func reopeningFailed(_ end: CoordinatorExit) -> String {
    say(
      "The bank could not be reopened; the coordinator exited each time (\(end)). No customers are lost. See 'bankctl "
        + "logs coordinator guardian' and bankd.stderr beside the logs.",
      "은행을 다시 열지 못했습니다. 코디네이터가 매번 비정상 종료되었습니다(\(localizedDetail(MessageDetail(end)))). 유실된 고객은 없습니다. 'bankctl logs coordinator "
        + "guardian'과 로그 옆의 bankd.stderr를 보세요.")
  }
}

extension MessageDetail {
  /// How a coordinator has ended: exit code, signal or unknown.
  init(_ end: CoordinatorExit) {
    switch end {
    case .code(let code): self.init(.processCode, code)
    case .signal: self.init(.processSignal, "\(end)")
    case .unknown: self.init(.processStatusUnknown)
    }
  }
}
