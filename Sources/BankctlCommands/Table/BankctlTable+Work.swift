// Help texts and options of the commands that control an open bank.
// `BankctlTable` has the whole table and the order of the groups.
import Arguments

extension BankctlTable {
  private static let group = Text("At work", "영업 중에")

  static var atWork: [CommandSpec] { [status, top, branches, wait, pause, resume, scale, reset, reload] }

  private static let status = CommandSpec(
    "status", group: group, "Show state, queue, services and workers.", "상태, 대기열, 업무, 창구를 보여 줍니다.",
    examples: [
      Example("bankctl status", "Show the current state.", "현재 상태"),
      Example("bankctl status --watch", "Follow changes.", "변경되는 대로 표시"),
    ],
    options: [
      OptionSpec("watch", short: "w", "Show every change.", "바뀔 때마다 보여 줍니다."), oneBranch(excluding: "watch"),
    ])

  /// The option `--branch N` of commands that can show a single branch of a shared bank.
  /// - Parameter other: Name of an option that cannot be combined with this one.
  private static func oneBranch(excluding other: String? = nil) -> OptionSpec {
    OptionSpec(
      "branch", .integer(1...Int64.max), value: "N", excludes: [other].compactMap(\.self),
      "Show only branch N.", "지점 N만 보여 줍니다.")
  }

  private static let branches = CommandSpec(
    "branches", group: group, "List the branches of this bank.", "이 은행의 지점을 보여 줍니다.",
    details: Text(
      "Shows number, name, host, epoch, state, remaining lease time, windows, customers served today, served per "
        + "second, and committed transactions. A branch whose lease has run out is expired: the others take over its "
        + "customers. A bank with its database in its home has no branches; the exit code is then 5.",
      "번호, 이름, 호스트, 에포크, 상태, 리스(점유 시한)의 남은 시간, 창구 수, 오늘 완료한 고객 수, 초당 완료 수, 커밋한 트랜잭션 수를 보여 줍니다. 리스가 끝난 지점은 만료이며 다른 지점이 "
        + "그 고객을 넘겨받습니다. 데이터베이스가 홈에 있는 은행에는 지점이 없고 종료 코드는 5입니다."),
    examples: [
      Example("bankctl branches", "List all branches; this one is marked.", "모든 지점(이 지점에는 표시)"),
      Example("bankctl branches --watch", "Follow changes.", "변경될 때마다 표시"),
      Example("bankctl branches --json", "Print JSON for scripts.", "스크립트용 JSON"),
    ], options: [OptionSpec("watch", short: "w", "Show every change.", "바뀔 때마다 보여 줍니다.")])

  private static let top = CommandSpec(
    "top", group: group, "Full-screen dashboard.", "전체 화면 대시보드입니다.",
    details: Text(
      "Windows, lines, dead letters, stock, vending machine and log, live. The arrows or j and k select, Tab or 1 to 6 "
        + "switch pages, Enter shows a customer's timeline, / filters, < and > sort, p pauses or resumes a service, + "
        + "and - open or close a window, r requeues, x cancels, z freezes, ? shows help, q quits.",
      "창구와 대기열, 보류된 고객, 재고, 자판기, 로그를 실시간으로 보여 줍니다. 화살표나 j, k로 선택하고 Tab이나 1–6으로 화면을 바꿉니다. Enter는 처리 이력, /는 필터, <와 >는 "
        + "정렬, p는 업무 일시 중지와 다시 시작, +와 -는 창구 열고 닫기, r은 다시 줄 세우기, "
        + "x는 취소, z는 화면 고정, ?는 도움말, q는 나가기입니다."),
    examples: [
      Example("bankctl top", "Open the dashboard.", "대시보드 열기"),
      Example(
        "bankctl top --chaos", "Open it with K, which kills a worker and shows the recovery time.",
        "K로 워커를 강제 종료하고 복구 시간을 표시"),
    ],
    options: [
      OptionSpec("chaos", "Let K kill the process at a window.", "K로 창구의 프로세스를 강제 종료할 수 있습니다."), oneBranch(),
    ])

  private static let wait = CommandSpec(
    "wait", group: group, "Wait until all customers have been served.", "기다리거나 업무중인 고객이 없을 때까지 기다립니다.",
    examples: [
      Example("bankctl wait", "Wait without a time limit.", "시간 제한 없이 기다리기"),
      Example(
        "bankctl wait --timeout 5m", "Wait at most five minutes; then exit with 75.",
        "5분까지만 기다리기(지나면 종료 코드 75)"),
    ],
    options: [
      OptionSpec(
        "timeout", .duration, value: "T", default: Text("no limit", "제한 없음"),
        "Time limit for the whole wait; then exit with 75.", "대기 시간 제한입니다. 지나면 종료 코드는 75입니다."),
      OptionSpec(
        "leave-delayed", "Do not wait for delayed customers.", "예약·재시도 고객은 기다리지 않습니다."),
      unlessPaused,
    ])

  static let unlessPaused = OptionSpec(
    "unless-paused", "Exit with 5 when a service with waiting customers is paused.",
    "기다리는 고객이 있는 업무가 일시 중지되면 종료 코드 5로 끝납니다.")

  private static let service = OperandSpec(
    "SERVICE", .text, .optional, offers: serviceNames.map(\.value),
    summary: Text("Service name; default: all services.", "업무의 이름입니다. 기본값은 모든 업무입니다."))

  private static let pause = CommandSpec(
    "pause", group: group, "Stop starting new customers; survives a restart.",
    "새 고객의 처리를 일시 중지합니다. 다시 열어도 그대로입니다.",
    examples: [
      Example("bankctl pause loan", "Pause only loans.", "대출만 일시 중지"),
      Example("bankctl pause", "Pause all services.", "모든 업무를 일시 중지"),
    ], operands: [service])

  private static let resume = CommandSpec(
    "resume", group: group, "Resume a paused service.", "일시 중지된 업무를 다시 시작합니다.",
    examples: [
      Example("bankctl resume loan", "Resume only loans.", "대출만 다시 시작"),
      Example("bankctl resume", "Resume all services.", "모든 업무를 다시 시작"),
    ], operands: [service])

  private static let scale = CommandSpec(
    "scale", group: group, "Open or close windows.", "창구를 늘리거나 줄입니다.",
    details: Text(
      "A closing window finishes its customer first. Returns when the change has taken effect.",
      "닫히는 창구는 처리하던 고객을 먼저 마칩니다. 변경이 적용되면 끝납니다."),
    examples: [
      Example("bankctl scale deposit=4", "Set four deposit windows.", "예금 창구를 네 개로 합니다."),
      Example("bankctl scale deposit=1 loan=0", "Change both at once.", "둘을 한 번에 바꿉니다."),
    ],
    operands: [
      OperandSpec(
        "SERVICE=N", .assignment(names: [], 0...256), .repeatingOnceOrMore, offers: serviceNames.map(\.value),
        summary: Text("Service and number of windows.", "업무와 그 창구의 수입니다."))
    ])

  private static let reset = CommandSpec(
    "reset", group: group, "Empty the queue and start a new business day.", "대기열을 비우고 새 영업일을 시작합니다(초기화).",
    details: Text(
      "All waiting and active customers get a cancelled receipt, the timer is reset, and numbering restarts at 1.",
      "기다리거나 업무중인 고객은 모두 취소 영수증을 받고, 업무시간은 0이 되며, 번호는 다시 1부터 시작합니다."),
    examples: [
      Example(
        "bankctl reset", "Reset; asks for confirmation on a terminal.", "초기화(터미널에서는 먼저 확인)"),
      Example("bankctl reset --yes", "Reset without confirmation.", "확인 없이 초기화"),
    ], options: [OptionSpec("yes", short: "y", "Do not ask for confirmation.", "확인 없이 실행합니다.")])

  private static let reload = CommandSpec(
    "reload", group: group, "Read the configuration again.", "설정을 다시 읽습니다.",
    details: Text(
      "Reads the file the bank was started with. Windows are opened, closed or replaced as needed.",
      "은행을 열 때 쓴 파일을 읽습니다. 필요한 대로 창구를 열고, 닫고, 바꿉니다."),
    examples: [Example("bankctl reload", "Apply an edited file.", "고친 파일을 적용")])
}
