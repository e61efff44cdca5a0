// Help texts and options of the commands
// of the web server.
import Arguments
import BankModel

extension BankctlTable {
  private static let page = Text("Screens", "화면")

  static var web: [CommandSpec] { [webOpen, webStop, webSessions] }

  private static let webOpen = CommandSpec(
    "web", group: page, "The bank as a page in a browser.", "은행을 브라우저의 페이지로 봅니다.",
    details: Text(
      "Starts the page of the open bank if it is not there, and prints a link that lets you in once; at a desktop it opens. "
        + "The link begins a session, which ends at a logout, with 'web sessions --end', and with the page or the bank. "
        + "The page listens on 127.0.0.1 alone, and on run/web.sock in the home for scripts. It ends with the bank.",
      "열려 있는 은행의 페이지가 없으면 시작하고, 한 번 쓸 수 있는 링크를 알려 줍니다. 데스크톱에서는 바로 열립니다. 링크를 열면 세션이 시작되고, 로그아웃하거나 "
        + "'web sessions --end'를 쓰거나 페이지나 은행을 닫으면 끝납니다. 페이지는 127.0.0.1과 홈의 "
        + "run/web.sock에서만 열리며, 은행과 함께 끝납니다."),
    examples: [
      Example("bankctl web", "A link.", "링크를 받습니다."),
      Example("bankctl web --read-only", "For looking only.", "보기만 하는 페이지를 엽니다."),
      Example("bankctl web --role kiosk", "For a public screen.", "누구나 보는 화면에서 씁니다."),
      Example("bankctl web --json", "One document, for a script.", "스크립트가 읽도록 JSON으로 씁니다."),
    ],
    options: [
      OptionSpec(
        "port", .integer(0...65_535), value: "P", default: Text("8700", "8700"),
        "The port on 127.0.0.1; where it is taken the next one that is free. 0 for any.",
        "127.0.0.1의 포트입니다. 쓰고 있으면 그다음 빈 포트를 씁니다. 0이면 아무 포트나 씁니다."),
      OptionSpec("read-only", "Nobody can change anything from the page.", "페이지에서 아무것도 바꿀 수 없게 합니다."),
      OptionSpec(
        "chaos", "With buttons that kill the process of a window, to see its customer move on.",
        "창구 프로세스를 강제 종료하는 단추를 보여 줍니다. 그 고객이 이어서 처리되는 것을 볼 수 있습니다."),
      OptionSpec(
        "host", .text, value: "NAME",
        "The name under which a server with TLS in front of the page is reached.",
        "페이지 앞에 둔 TLS 서버의 이름입니다."),
      OptionSpec(
        "role", .choice(["viewer", "kiosk", "operator", "manager"]), default: Text("operator", "operator"),
        "What the link allows: to look, a public screen, to steer the bank, or also the vending machine's manager.",
        "링크로 할 수 있는 일입니다. viewer는 보기, kiosk는 공용 화면, operator는 은행 운영, manager는 자판기 관리까지입니다."),
      OptionSpec(
        "allow-run",
        "The link may also run command lines, as the user of the bank: it gives a shell.",
        "링크로 명령도 실행할 수 있게 합니다. 은행 사용자로 실행되므로 셸을 주는 것과 같습니다."),
      OptionSpec("no-open", "Only print the link.", "링크만 알려 주고 브라우저를 열지 않습니다."),
    ])

  private static let webStop = CommandSpec(
    "web stop", group: page, "Close the page; the bank goes on.", "페이지를 닫습니다. 은행은 그대로 열려 있습니다.",
    examples: [Example("bankctl web stop", "Close it.", "페이지를 닫습니다.")])

  private static let webSessions = CommandSpec(
    "web sessions", group: page, "Who is logged in at the page.", "페이지에 로그인한 세션을 봅니다.",
    details: Text(
      "Each login by a link is a session. With --end one of them ends, or all.",
      "링크로 로그인할 때마다 세션이 하나 생깁니다. --end로 하나 또는 모두를 끝냅니다."),
    examples: [
      Example("bankctl web sessions", "All of them.", "모든 세션을 봅니다."),
      Example("bankctl web sessions --end all", "Log all of them out.", "모두 로그아웃시킵니다."),
    ],
    options: [
      OptionSpec(
        "end", .text, value: "ID", "End this session; 'all' ends every one.", "이 세션을 끝냅니다. all이면 모두 끝냅니다.")
    ])
}
