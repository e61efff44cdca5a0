// Help texts and options of the commands of the web server.
// `BankctlTable` has the whole table and the order of the groups.
import Arguments
import BankModel

extension BankctlTable {
  private static let page = Text("Screens", "화면")

  static var web: [CommandSpec] { [webOpen, webStop, webSessions] }

  private static let webOpen = CommandSpec(
    "web", group: page, "Start the web interface.", "웹 화면을 시작합니다.",
    details: Text(
      "Starts the web interface of the open bank if it is not running, and prints a link that works once; on a desktop "
        + "it opens the browser. The link starts a session, which ends at logout, with 'web sessions --end', or when "
        + "the web interface or the bank stops. The server listens only on 127.0.0.1, and on run/web.sock in the home "
        + "for scripts. It stops with the bank.",
      "열려 있는 은행의 웹 화면이 없으면 시작하고, 한 번 쓸 수 있는 링크를 출력합니다. 데스크톱에서는 바로 열립니다. 링크를 열면 세션이 시작되고, 로그아웃하거나 "
        + "'web sessions --end'를 쓰거나 웹 화면이나 은행을 닫으면 끝납니다. 웹 화면은 127.0.0.1과 홈의 "
        + "run/web.sock에서만 열리며, 은행과 함께 끝납니다."),
    examples: [
      Example("bankctl web", "Print a link.", "링크 출력"),
      Example("bankctl web --read-only", "Start it read-only.", "보기 전용"),
      Example("bankctl web --role kiosk", "Print a link for a public screen.", "공용 화면용 링크"),
      Example("bankctl web --json", "Print JSON for scripts.", "스크립트용 JSON"),
    ],
    options: [
      OptionSpec(
        "port", .integer(0...65_535), value: "P", default: Text("8700", "8700"),
        "Port on 127.0.0.1; the next free port if taken; 0 = any.",
        "127.0.0.1의 포트입니다. 쓰고 있으면 그다음 빈 포트를 씁니다. 0이면 아무 포트나 씁니다."),
      OptionSpec("read-only", "Do not allow any changes.", "아무것도 바꿀 수 없게 합니다."),
      OptionSpec(
        "chaos", "Show buttons that kill the process at a window.",
        "창구 프로세스를 강제 종료하는 버튼을 보여 줍니다."),
      OptionSpec(
        "host", .text, value: "NAME",
        "Public host name of a TLS reverse proxy.",
        "TLS 리버스 프록시의 공개 호스트 이름입니다."),
      OptionSpec(
        "role", .choice(["viewer", "kiosk", "operator", "manager"]), default: Text("operator", "operator"),
        "Role of the link: viewer (read), kiosk (public screen), operator (operate the bank), manager (also the "
          + "vending machine).",
        "링크로 할 수 있는 일입니다. viewer는 보기, kiosk는 공용 화면, operator는 은행 운영, manager는 자판기 관리까지입니다."),
      OptionSpec(
        "allow-run",
        "Also allow the link to run command lines as the user of the bank, which is equivalent to a shell.",
        "링크로 명령도 실행할 수 있게 합니다. 은행 사용자로 실행되므로 셸을 주는 것과 같습니다."),
      OptionSpec(
        "no-open", aliases: ["no-browser"], "Only print the link.", "링크만 알려 주고 브라우저를 열지 않습니다."),
    ])

  private static let webStop = CommandSpec(
    "web stop", group: page, "Stop the web interface; the bank stays open.", "웹 화면을 닫습니다. 은행은 그대로 열려 있습니다.",
    examples: [Example("bankctl web stop", "Stop it.", "웹 화면 닫기")])

  private static let webSessions = CommandSpec(
    "web sessions", group: page, "List the sessions of the web interface.", "웹 화면의 세션을 보여 줍니다.",
    details: Text(
      "Each login by a link is a session. --end ends one or all of them.",
      "링크로 로그인할 때마다 세션이 하나 생깁니다. --end로 하나 또는 모두를 끝냅니다."),
    examples: [
      Example("bankctl web sessions", "List all sessions.", "모든 세션"),
      Example("bankctl web sessions --end all", "End all sessions.", "모두 로그아웃"),
    ],
    options: [
      OptionSpec(
        "end", .text, value: "ID", "End this session; 'all' ends all sessions.", "이 세션을 끝냅니다. all이면 모두 끝냅니다.")
    ])
}
