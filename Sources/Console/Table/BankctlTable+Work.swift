// Help texts and options of the commands
// that control an open bank.
import Arguments

extension BankctlTable {
  private static let group = Text("At work", "영업 중에")

  static var atWork: [CommandSpec] { [status, top, branches, wait, pause, resume, scale, reset, reload] }

  private static let status = CommandSpec(
    "status", group: group, "State, queue, services and workers.", "상태, 대기열, 업무, 창구를 보여 줍니다.",
    examples: [
      Example("bankctl status", "The bank at this moment.", "지금의 은행을 봅니다."),
      Example("bankctl status --watch", "The bank as it changes.", "바뀌는 대로 봅니다."),
    ],
    options: [
      OptionSpec("watch", short: "w", "Show every change.", "바뀔 때마다 보여 줍니다."), oneBranch(excluding: "watch"),
    ])

  /// - Parameter other: Option that excludes it.
  private static func oneBranch(excluding other: String? = nil) -> OptionSpec {
    OptionSpec(
      "branch", .integer(1...Int64.max), value: "N", excludes: [other].compactMap(\.self),
      "Only this branch of a bank that has several.", "여러 지점이 있는 은행의 이 지점만 봅니다.")
  }

  private static let branches = CommandSpec(
    "branches", group: group, "The branches that share this bank's books.", "이 은행의 장부를 함께 쓰는 지점을 보여 줍니다.",
    details: Text(
      "Number, name, machine, epoch, state, how long the lease still holds, windows, customers served today, served a second, "
        + "and transactions written. A branch whose lease has run out is expired: the others take its customers over. A bank "
        + "that has its books in its own home has no branches, and the exit code is 5.",
      "번호, 이름, 컴퓨터, 기수, 상태, 임대의 남은 시간, 창구 수, 오늘 완료한 고객 수, 초당 완료 수, 기록한 트랜잭션 수를 보여 줍니다. 임대가 끝난 지점은 만료이며 "
        + "다른 지점이 그 고객을 넘겨받습니다. 장부가 홈에 있는 은행에는 지점이 없고 종료 코드는 5입니다."),
    examples: [
      Example("bankctl branches", "All of them, this one marked.", "모든 지점을 봅니다. 이 지점에는 표시가 있습니다."),
      Example("bankctl branches --watch", "Again whenever something has changed.", "바뀔 때마다 다시 봅니다."),
      Example("bankctl branches --json", "For a script.", "스크립트에 넘깁니다."),
    ], options: [OptionSpec("watch", short: "w", "Show every change.", "바뀔 때마다 보여 줍니다.")])

  private static let top = CommandSpec(
    "top", group: group, "Watch and steer the bank on the whole terminal.", "터미널 전체 화면에서 은행을 보고 다룹니다.",
    details: Text(
      "Windows, lines, dead letters, stock, vending machine and log, as they change. The arrows or j and k select, Tab or 1 "
        + "to 6 turn to another page, Enter shows a customer's story, / filters, < and > sort, p pauses or resumes a service, "
        + "+ and - open or close a window, r requeues, x cancels, z freezes, ? explains, q quits.",
      "창구와 대기열, 보류된 고객, 재고, 자판기, 기록을 바뀌는 대로 보여 줍니다. 화살표나 j, k로 고르고 Tab이나 1–6으로 화면을 바꿉니다. "
        + "Enter는 고객에게 일어난 일, /는 찾기, <와 >는 정렬, p는 업무를 멈추거나 다시 시작, +와 -는 창구 열고 닫기, r은 다시 줄 세우기, "
        + "x는 취소, z는 화면 고정, ?는 도움말, q는 나가기입니다."),
    examples: [
      Example("bankctl top", "The bank as it is at work.", "은행이 일하는 모습을 봅니다."),
      Example(
        "bankctl top --chaos", "K kills a teller and shows how soon its customer is served again.",
        "K로 은행원 프로세스를 강제로 끝내고 고객이 얼마 만에 다시 처리되는지 봅니다."),
    ],
    options: [
      OptionSpec("chaos", "Let K kill the process at a window.", "K로 창구의 프로세스를 강제로 끝낼 수 있습니다."), oneBranch(),
    ])

  private static let wait = CommandSpec(
    "wait", group: group, "Wait until nobody waits or is served.", "기다리거나 업무중인 고객이 없을 때까지 기다립니다.",
    examples: [
      Example("bankctl wait", "However long it takes.", "얼마나 걸리든 기다립니다."),
      Example(
        "bankctl wait --timeout 5m", "At most five minutes; exit code 75 then.",
        "5분까지만 기다립니다. 지나면 종료 코드 75입니다."),
    ],
    options: [
      OptionSpec(
        "timeout", .duration, value: "T", default: Text("no limit", "제한 없음"),
        "Time limit of the whole wait; then the exit code is 75.", "기다리기 전체의 시간 제한입니다. 지나면 종료 코드는 75입니다."),
      OptionSpec(
        "leave-delayed", "Do not wait for delayed customers.", "예약되어 미뤄진 고객은 기다리지 않습니다."),
      unlessPaused,
    ])

  /// For commands that wait for customers.
  static let unlessPaused = OptionSpec(
    "unless-paused", "End with exit code 5 when a service is paused for which customers wait.",
    "기다리는 고객이 있는 업무가 멈추면 종료 코드 5로 끝납니다.")

  private static let service = OperandSpec(
    "SERVICE", .text, .optional, offers: serviceNames.map(\.value),
    summary: Text("A service, such as deposit; all without it.", "deposit 같은 업무의 이름입니다. 없으면 모두입니다."))

  private static let pause = CommandSpec(
    "pause", group: group, "Call no more customers, also after a restart.", "고객을 더 부르지 않습니다. 다시 열어도 그대로입니다.",
    examples: [
      Example("bankctl pause loan", "Loans only.", "대출만 멈춥니다."),
      Example("bankctl pause", "Every service.", "모든 업무를 멈춥니다."),
    ], operands: [service])

  private static let resume = CommandSpec(
    "resume", group: group, "Call customers again.", "고객을 다시 부릅니다.",
    examples: [
      Example("bankctl resume loan", "Loans only.", "대출만 다시 시작합니다."),
      Example("bankctl resume", "Every service.", "모든 업무를 다시 시작합니다."),
    ], operands: [service])

  private static let scale = CommandSpec(
    "scale", group: group, "Open or close windows.", "창구를 늘리거나 줄입니다.",
    details: Text(
      "A closing window finishes its customer first. Returns when the change is complete.",
      "닫히는 창구는 맡은 고객을 먼저 마칩니다. 변경이 끝나면 돌아옵니다."),
    examples: [
      Example("bankctl scale deposit=4", "Four deposit windows.", "예금 창구를 네 개로 합니다."),
      Example("bankctl scale deposit=1 loan=0", "Both at once.", "둘을 한 번에 바꿉니다."),
    ],
    operands: [
      OperandSpec(
        "SERVICE=N", .assignment(names: [], 0...256), .repeatingOnceOrMore, offers: serviceNames.map(\.value),
        summary: Text("A service and how many windows it shall have.", "업무와 그 창구의 수입니다."))
    ])

  private static let reset = CommandSpec(
    "reset", group: group, "Empty the queue and begin a new business day.", "대기열을 비우고 새 영업일을 시작합니다(초기화).",
    details: Text(
      "Everyone in the queue or at a window gets a cancelled receipt, the timer is zeroed, and numbers "
        + "begin at 1 again.",
      "기다리거나 업무중인 고객은 모두 취소 영수증을 받고, 업무시간은 0이 되며, 번호는 다시 1부터 시작합니다."),
    examples: [
      Example(
        "bankctl reset", "Begin anew; at a terminal you are asked first.", "처음부터 다시 시작합니다. 터미널에서는 먼저 묻습니다."),
      Example("bankctl reset --yes", "Without a question.", "묻지 않습니다."),
    ], options: [OptionSpec("yes", short: "y", "Do not ask.", "묻지 않습니다.")])

  private static let reload = CommandSpec(
    "reload", group: group, "Read the configuration again.", "설정을 다시 읽습니다.",
    details: Text(
      "It is the file with which the bank was started. Windows are opened, closed or replaced as needed.",
      "은행을 열 때 쓴 파일을 읽습니다. 필요한 대로 창구를 열고, 닫고, 바꿉니다."),
    examples: [Example("bankctl reload", "After the file was edited.", "파일을 고친 뒤에 씁니다.")])
}
