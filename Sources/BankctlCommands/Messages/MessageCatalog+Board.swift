// Sentences about the snapshot (in code: the board),
// about several tickets at once, and about killed processes.
import Arguments
import BankModel
import Posix
import Wire

extension MessageCatalog {
  func noSuchWindow(_ name: String) -> String {
    say(
      "There is no window \(quoted(name)). See 'bankctl snapshot'.",
      "\(quoted(name)) 창구는 없습니다. 창구 목록은 'bankctl snapshot'으로 확인하세요.")
  }

  /// Sentence: nothing was killed, because the shown process is not at the window any more.
  /// - Parameter subject: Window, its present generation and its pid, separated by spaces; pid 0 for no
  ///   process.
  func otherProcess(_ subject: String) -> String {
    let parts = subject.split(separator: " ").map(String.init)
    let window = safe(parts.first ?? subject)
    guard parts.count == 3, parts[2] != "0" else {
      return say(
        "There is no longer a process at \(window): nothing was killed. See 'bankctl snapshot'.",
        "\(window) 창구에는 이제 프로세스가 없습니다. 종료한 프로세스는 없습니다. 'bankctl snapshot'으로 확인하세요.")
    }
    return say(
      "Another process is at \(window) by now (generation \(parts[1]), pid \(parts[2])): nothing was killed. See "
        + "'bankctl snapshot'.",
      "\(window) 창구에는 이제 다른 프로세스가 있습니다(\(parts[1])세대, pid \(parts[2])). 종료한 프로세스는 없습니다. 'bankctl snapshot'으로 확인하세요."
    )
  }

  /// Sentence: an operand is neither a ticket number nor a range.
  func noTickets(_ word: String) -> String {
    say(
      "\(quoted(word)) is not a ticket number or range (write 3 or 7-12).",
      "\(quoted(word)): 번호표의 번호나 범위가 아닙니다. 3이나 7-12처럼 입력하세요.")
  }

  func tooManyTickets(_ most: Int64) -> String {
    say(
      "At most \(Self.grouped(most)) tickets can be given at once.",
      "한 번에 번호표 \(Self.grouped(most))개까지 지정할 수 있습니다.")
  }

  func cancelledSeveral(_ count: Int64) -> String {
    say(
      "\(customers(count)) cancelled.",
      "고객 \(Self.grouped(count))명을 취소했습니다.")
  }

  /// Sentence: this number of dead letters returned to their lines.
  func requeuedSeveral(_ count: Int64) -> String {
    say(
      "\(customers(count)) requeued.", "고객 \(Self.grouped(count))명을 다시 줄에 세웠습니다.")
  }

  private func customers(_ count: Int64) -> String {
    "\(Self.grouped(count)) \(count == 1 ? "customer" : "customers")"
  }

  /// Reason why the command was refused for one of several tickets.
  func refused(_ ticket: RefusedTicket) -> String {
    let reason =
      switch ticket.reason {
      case .noSuchTicket: say("there is no such ticket", "그런 번호표가 없습니다")
      case .wrongDay: say("the day is over", "영업일이 끝났습니다")
      case .diskFull: say("the disk is full", "디스크가 가득 찼습니다")
      default:
        ticket.state.map { state in say("it is \(state.name)", "지금 상태: \(header(state))") }
          ?? say("not possible now", "지금은 할 수 없습니다")
      }
    return say("not \(ticket.ticket): \(reason)", "\(ticket.ticket)번 제외: \(reason)")
  }

  // MARK: - Killing a process

  /// Question whether to kill the process of a window.
  func askKill(_ window: String, _ pid: Int32, ticket: Int64?) -> String {
    let customer = ticket.map { say(" (serving customer \($0))", ", \($0)번 고객 업무중") } ?? ""
    return say(
      "Kill pid \(pid) at \(window)\(customer)?",
      "\(window) 창구의 프로세스를 강제 종료할까요(pid \(pid)\(customer))?")
  }

  /// Sentence: the bank has no process with this name.
  /// - Parameter known: Names of processes, for the suggestion.
  func noSuchProcess(_ name: String, _ known: [String]) -> String {
    say("There is no process named \(quoted(name)).", "\(quoted(name)) 프로세스가 없습니다.")
      + choice(instead: name, of: known, titled: say("Processes", "프로세스 목록"))
  }

  func processGone(_ name: String) -> String {
    say(
      "The process \(safe(name)) was replaced or is not running: nothing was killed. See 'bankctl status'.",
      "\(safe(name)) 프로세스가 바뀌었거나 실행 중이 아닙니다. 종료한 프로세스는 없습니다. 'bankctl status'로 확인하세요.")
  }

  /// Question whether to kill a process that has no window.
  func askKill(process name: String, _ pid: Int32) -> String {
    say("Kill pid \(pid) (\(safe(name)))?", "\(safe(name)) 프로세스를 강제 종료할까요(pid \(pid))?")
  }

  /// Sentence: a process was killed, and whether its successor runs; `successor` is nil if none was seen.
  func killed(_ name: String, _ pid: Int32, successor: Int32?) -> String {
    let process = "\(safe(name)) (pid \(pid))"
    guard let successor else {
      return say(
        "\(process) was killed, and no successor was seen. See 'bankctl logs \(safe(name))'.",
        "\(process) 종료됨. 다음 프로세스를 확인하지 못했습니다. 'bankctl logs \(safe(name))' 명령으로 확인하세요.")
    }
    return say(
      "\(process) was killed; its successor (pid \(successor)) is running.",
      "\(process) 종료됨. 다음 프로세스(pid \(successor)) 준비됨.")
  }

  // MARK: - Board

  var lastEvents: String { say("recent events", "최근 이벤트") }
  var others: String { say("others", "그 밖") }
  /// Number of waiting customers that are not shown.
  func moreCustomers(_ count: Int64) -> String {
    say("and \(Self.grouped(count)) more", "그 밖에 \(Self.grouped(count))명")
  }

  /// Customers a second in thousandths, averaged over one, ten and six hundred seconds.
  func boardRates(_ second: Int64, _ ten: Int64, _ tenMinutes: Int64) -> String {
    let rates = [second, ten, tenMinutes].map { rate(Double($0) / 1_000) ?? "0" }.joined(separator: ", ")
    return say("\(rates) (1 s, 10 s, 10 min)", "\(rates) (1초, 10초, 10분)")
  }

  /// Text of an event of a snapshot: what, where, signal or exit code, attempt.
  func boardEvent(_ event: BoardEvent) -> String {
    let ticket = event.ticket.map(String.init) ?? ""
    let place = event.window.map { " · \(safe($0))" } ?? ""
    let attempt = event.attempt.map { $0 > 1 ? say(" · attempt \($0)", " · \($0)번째 시도") : "" } ?? ""
    let end =
      event.signal.map { " · " + Signals.name($0) } ?? event.code.map { " · " + exitCode($0) } ?? ""
    let what =
      switch event.kind {
      case .issued:
        event.last.map { say("tickets \(ticket)–\($0) issued", "\(ticket)–\($0)번 번호표 발급") }
          ?? say("ticket \(ticket) issued", "\(ticket)번 번호표 발급")
      case .started: say("\(ticket) started", "\(ticket)번 업무 시작")
      case .served: say("\(ticket) served", "\(ticket)번 업무 완료")
      case .cancelled: say("\(ticket) cancelled", "\(ticket)번 취소")
      case .dead: say("\(ticket) dead letter", "\(ticket)번 보류")
      case .failed: say("\(ticket) failed, will retry", "\(ticket)번 실패, 다시 시도")
      case .deferred: say("\(ticket) deferred", "\(ticket)번 나중에 다시 시도")
      case .recalled: say("\(ticket) recalled", "\(ticket)번 다시 대기")
      case .died:
        event.ticket.map { say("process died while serving \($0)", "\($0)번 업무중 프로세스 종료") }
          ?? say("process died", "프로세스 종료")
      case .reset: say("the bank was reset", "초기화")
      }
    return what + place + end + attempt
  }
}
