// Texts of the terminal dashboard: tabs, columns, keys, prompts and notices.
// Invariant: a prompt identifies its object by ticket number, or by window and pid.
import Arguments
import BankModel
import Posix
import JSONOutput
import Wire

extension MessageCatalog {
  /// Name of a tab of the dashboard.
  func tab(_ tab: TopTab) -> String {
    switch tab {
    case .windows: say("Windows", "창구")
    case .lines: say("Lines", "대기열")
    case .dead: say("Dead letters", "보류")
    case .stock: say("Stock", "재고")
    case .vending: say("Vending", "자판기")
    case .log: say("Log", "로그")
    }
  }

  var time: String { say("time (UTC)", "시각(UTC)") }
  var event: String { say("event", "이벤트") }
  var perSecond: String { say("served/s", "초당 완료") }
  var byGrade: String { say("by grade", "등급별 대기") }
  /// Heading of a plot over the last seconds.
  func lastSeconds(_ count: Int) -> String { say("\(count) s", "\(count)초") }

  /// A rate in thousandths a second, printed with one decimal place if it is below 10.
  func rate(thousandths: Int64) -> String {
    let rate = max(0, thousandths)
    return rate < 10_000 ? "\(rate / 1_000).\(rate / 100 % 10)" : Self.grouped(rate / 1_000)
  }

  /// Served customers a second over one second, ten seconds and ten minutes.
  func servedRates(_ rates: BoardRates) -> [String] {
    [
      "\(perSecond) \(rate(thousandths: rates.servedSecond))",
      say("10 s ", "10초 ") + rate(thousandths: rates.servedTenSeconds),
      say("10 min ", "10분 ") + rate(thousandths: rates.servedTenMinutes),
    ]
  }

  // MARK: - Prompts and results

  /// Question before an action that needs a confirmation.
  func ask(_ question: TopQuestion) -> String {
    switch question {
    case .cancel(let ticket, _):
      return say("Cancel customer \(ticket)? [y/N]", "\(ticket)번 고객을 취소할까요? [y/N]")
    case .kill(let window, let pid):
      let customer = window.tickets.first.map { say(", customer \($0)", ", \($0)번 고객 업무중") } ?? ""
      return say(
        "Kill \(safe(window.window)), generation \(window.generation), pid \(pid)\(customer)? [y/N]",
        "\(safe(window.window)) \(window.generation)세대(pid \(pid)\(customer))를 강제 종료할까요? [y/N]")
    }
  }

  /// Sentence: how far the recovery from a kill has come.
  func killed(_ watch: KillTracker) -> String {
    let name = "\(safe(watch.window)) (pid \(watch.pid))"
    switch watch.stage {
    case .ordered: return say("Killing \(name) …", "\(name) 강제 종료 중 …")
    case .died(let ticket?, _):
      return say(
        "\(name) was killed; customer \(ticket) is not served yet …", "\(name) 종료됨. \(ticket)번 고객 다시 대기중")
    case .died(nil, _): return say("\(name) was killed; no successor yet …", "\(name) 종료됨. 다음 프로세스 준비 중 …")
    case .served(let ticket, let window, let after, let isExact):
      let span = (isExact ? "" : "≤ ") + self.span(milliseconds: after)
      return say(
        "\(name) was killed; customer \(ticket) was served again after \(span), at \(safe(window)).",
        "\(name) 종료됨. \(ticket)번 고객은 \(span) 만에 \(safe(window))에서 다시 업무 시작.")
    case .replaced(let generation, nil):
      return say(
        "\(name) was killed; generation \(generation) is running.", "\(name) 종료됨. \(generation)세대 준비됨.")
    case .replaced(let generation, let after?):
      let span = self.span(milliseconds: after)
      return say(
        "\(name) was killed; it was idle. Generation \(generation) was ready after \(span).",
        "\(name) 종료됨. 대기하던 고객은 없었고, \(span) 만에 \(generation)세대 준비됨.")
    case .ended(let ticket):
      return say(
        "\(name) was killed; customer \(ticket) was not served again.",
        "\(name) 종료됨. \(ticket)번 고객은 다시 처리되지 않음.")
    }
  }

  /// The line about the filter of a list. If `isTyped`, the user is still typing the filter, and its keys are shown.
  func filter(_ text: String, isTyped: Bool) -> String {
    say("Filter: ", "필터: ") + safe(text)
      + (isTyped ? "▏ " + say("Enter keeps · Esc clears", "Enter 유지 · Esc 해제") : "")
  }

  /// Number of shown dead letters among all.
  func deadLetters(_ shown: Int, of all: Int64) -> String {
    say("… the first \(shown) of \(Self.grouped(all))", "… \(Self.grouped(all))명 중 처음 \(shown)명")
  }

  var noCustomerSelected: String { say("No customer selected.", "선택한 고객이 없습니다.") }
  var noLetterSelected: String {
    say("Select a dead letter on page 3 first.", "3번 화면에서 보류된 고객을 먼저 선택하세요.")
  }
  var noServiceSelected: String { say("No service selected.", "선택한 업무가 없습니다.") }
  var noWindowSelected: String { say("Select a window on page 1 first.", "1번 화면에서 창구를 먼저 선택하세요.") }
  var noSuchWindows: String {
    say("A service has 0 to 256 windows.", "업무 하나의 창구는 0개에서 256개까지입니다.")
  }
  func noProcessAt(_ window: String) -> String {
    say("There is no process at \(safe(window)) now.", "지금 \(safe(window))에는 프로세스가 없습니다.")
  }

  var bankWaits: String { say("The bank does not respond; waiting for it …", "은행이 응답하지 않아 기다리는 중입니다 …") }
  var bankIgnoredKey: String {
    say("The bank does not respond; the key was ignored.", "은행이 응답하지 않아 키 입력을 무시했습니다.")
  }
  var bankHasClosed: String { say("The bank has closed.", "은행이 마감되었습니다.") }
  var isFrozen: String { say("frozen", "고정됨") }
  var topNeedsTerminal: String {
    say(
      "The dashboard needs a terminal. Use 'bankctl status -w', or 'bankctl snapshot --json' in scripts.",
      "top은 터미널에서만 열립니다. 'bankctl status -w'를, 스크립트에는 'bankctl snapshot --json'을 쓰세요.")
  }

  // MARK: - Keys

  /// Texts about the keys of a dashboard tab, the most important first, because only those that fit are shown.
  /// `isChaos` adds the key that kills a process.
  func topKeys(_ tab: TopTab, isChaos: Bool) -> [String] {
    var keys = [say("? help", "? 도움말"), say("q quits", "q 나가기")]
    switch tab {
    case .windows: keys += [say("⏎ customer", "⏎ 고객"), say("p pause", "p 중지"), say("+ − scale", "+ − 창구 수")]
    case .lines: keys += [say("⏎ customer", "⏎ 고객"), say("p pause", "p 중지"), say("x cancel", "x 취소")]
    case .dead: keys += [say("⏎ customer", "⏎ 고객"), say("r requeue", "r 다시 줄"), say("x cancel", "x 취소")]
    case .log: keys += [say("⏎ customer", "⏎ 고객")]
    case .stock, .vending: break
    }
    if isChaos, tab == .windows { keys.append(say("K kill", "K 강제 종료")) }
    keys.append(say("/ filter", "/ 필터"))
    if [.windows, .lines, .dead].contains(tab) { keys.append(say("< > sort", "< > 정렬")) }
    return keys + [say("z freeze", "z 고정"), say("Tab next page", "Tab 다음")]
  }

  var anyKeyReturns: String { say("↑ ↓ move · any other key returns", "↑ ↓ 이동 · 다른 키는 돌아가기") }

  /// The keys of the dashboard with their meanings, for its help; `isChaos` adds the key that kills a process.
  func topHelp(isChaos: Bool) -> [(key: String, meaning: String)] {
    [
      ("↑ ↓ j k", say("select row (also Home, End, PgUp, PgDn)", "줄 선택 (Home, End, PgUp, PgDn도 됨)")),
      ("g G", say("first and last row", "첫 줄과 마지막 줄")),
      ("Tab 1–6", say("another page (also ← and →)", "다른 화면 (←, →도 됨)")),
      ("⏎", say("show timeline", "처리 이력 보기")),
      ("/", say("filter rows", "줄 필터")),
      ("< >", say("sort by the column to the left or the right", "왼쪽이나 오른쪽 열로 정렬")),
      ("p", say("pause or resume", "업무 일시 중지, 다시 시작")),
      ("+ −", say("open or close a window of the selected service", "선택한 업무의 창구를 하나 열거나 닫기")),
      ("r", say("requeue the selected dead letter", "선택한 보류 고객을 다시 줄 세우기")),
      ("x", say("cancel the selected customer, with confirmation", "선택한 고객 취소 (확인 후)")),
      ("z", say("freeze / unfreeze", "화면 고정, 해제")),
    ]
      + (isChaos
        ? [
          (
            "K",
            say(
              "kill, with confirmation; shows recovery time",
              "선택한 창구의 프로세스 강제 종료 (확인 후), 복구 시간 표시")
          )
        ] : []) + [
        ("Esc", say("back; clear filter and message", "뒤로, 필터와 알림 지우기")), ("q", say("quit", "나가기")),
      ]
  }
}
