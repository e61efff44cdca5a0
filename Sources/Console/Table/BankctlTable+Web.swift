// Owns the description of the commands of the page.
// It must not know what they do.
import Arguments
import BankModel

extension BankctlTable {
  private static let page = Text("Screens", "화면")

  static var web: [CommandSpec] { [webOpen, webStop] }

  private static let webOpen = CommandSpec(
    "web", group: page, "The branch as a page in a browser.", "지점을 브라우저의 페이지로 봅니다.",
    details: Text(
      "Starts the page of the open bank if it is not there, and prints a link that lets you in once; at a desktop it opens. "
        + "The page listens on 127.0.0.1 alone, and on run/web.sock in the home for scripts. It ends with the bank.",
      "열려 있는 은행의 페이지가 없으면 시작하고, 한 번 쓸 수 있는 링크를 알려 줍니다. 데스크톱에서는 바로 열립니다. 페이지는 127.0.0.1과 홈의 "
        + "run/web.sock에서만 열리며, 은행과 함께 끝납니다."),
    examples: [
      Example("bankctl web", "A link.", "링크를 받습니다."),
      Example("bankctl web --read-only", "For looking only.", "보기만 하는 페이지를 엽니다."),
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
      OptionSpec("no-open", "Only print the link.", "링크만 알려 주고 브라우저를 열지 않습니다."),
    ])

  private static let webStop = CommandSpec(
    "web stop", group: page, "Close the page; the bank goes on.", "페이지를 닫습니다. 은행은 그대로 열려 있습니다.",
    examples: [Example("bankctl web stop", "Close it.", "페이지를 닫습니다.")])
}
