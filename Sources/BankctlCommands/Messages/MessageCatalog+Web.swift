// Sentences about the web server: the login link, the end of the server,
// and reasons why it is not available.
import Arguments

extension MessageCatalog {
  /// The login link and the code for the manager of the vending machine.
  func webOpen(_ url: String, managerCode: String) -> [String] {
    [
      say("Web interface (this link works once):", "웹 화면의 링크입니다. 한 번만 쓸 수 있습니다."), url,
      say(
        "Vending manager code: \(managerCode)", "자판기 관리자 코드는 \(managerCode)입니다."),
    ]
  }

  var webStopped: String {
    say("Web interface stopped; start it again with 'bankctl web'.", "웹 화면을 닫았습니다. 'bankctl web'으로 다시 엽니다.")
  }

  /// Sentence: the requested port is not free, so the server uses another one.
  func otherPort(asked: Int64, found: Int64) -> String {
    say(
      "Port \(asked) is not free, so port \(found) is used.",
      "\(asked)번 포트를 쓸 수 없어 \(found)번 포트에서 웹 화면을 엽니다.")
  }

  /// Sentence: the server has no port for browsers. It contains the settings to change.
  func webPortRefused(_ reason: String) -> String {
    say(
      "The web server cannot listen on 127.0.0.1\(aside(safe(reason))). Under systemd, allow it: PrivateNetwork=no, "
        + "RestrictAddressFamilies=AF_UNIX AF_INET and IPAddressAllow=localhost in 'systemctl edit bank', then restart the "
        + "bank.",
      "웹 서버가 127.0.0.1에서 연결을 받을 수 없습니다\(aside(safe(reason))). systemd에서는 'systemctl edit bank'에 PrivateNetwork=no, "
        + "RestrictAddressFamilies=AF_UNIX AF_INET, IPAddressAllow=localhost를 적고 은행을 다시 시작하세요.")
  }

  /// Sentence: the server is available only on its Unix socket.
  func webAtSocket(_ socket: String, managerCode: String) -> [String] {
    [
      say(
        "The web interface is available only on this socket, for 'curl --unix-socket' or a proxy that passes on the "
          + "name of --host:",
        "웹 화면은 이 소켓에서만 열립니다. 'curl --unix-socket'으로, 또는 --host로 정한 이름을 넘겨주는 프록시로 볼 수 있습니다."), socket,
      say(
        "Vending manager code: \(managerCode)", "자판기 관리자 코드는 \(managerCode)입니다."),
    ]
  }

  var webMissing: String {
    say(
      "This build has no web interface because libmicrohttpd was missing. Install it (on Debian and Ubuntu: apt-get "
        + "install "
        + "libmicrohttpd-dev), then build and start the bank again. Everything else works without it.",
      "libmicrohttpd가 없어 웹 화면 없이 빌드되었습니다. 설치한 뒤(Debian, Ubuntu: apt-get install libmicrohttpd-dev) 다시 빌드하고 "
        + "은행을 다시 여세요. 다른 기능은 모두 그대로 쓸 수 있습니다.")
  }

  var webIsClosed: String {
    say(
      "The web interface is stopped, so there are no sessions. Start it with 'bankctl web'.",
      "웹 화면이 닫혀 있어 로그인한 세션이 없습니다. 'bankctl web'으로 여세요.")
  }

  func noSuchSession(_ name: String) -> String {
    say(
      "There is no session \(safe(name)). See 'bankctl web sessions'.",
      "\(safe(name)) 세션이 없습니다. 'bankctl web sessions'로 확인하세요.")
  }

  var noSessions: String { say("There are no sessions.", "로그인한 세션이 없습니다.") }

  /// Sentence: this number of login sessions was ended.
  func sessionsEnded(_ count: Int) -> String {
    say("\(count) \(count == 1 ? "session" : "sessions") ended.", "세션 \(count)개를 종료했습니다.")
  }

  var sessionHeadings: [String] {
    [say("session", "세션"), say("role", "역할"), say("since", "시작"), say("last seen", "마지막 요청")]
  }

  func webFailed(_ trouble: String) -> String {
    say(
      "The web server does not respond\(aside(safe(trouble))). See 'bankctl logs web', then try again.",
      "웹 서버가 응답하지 않습니다\(aside(safe(trouble))). 'bankctl logs web'을 확인한 뒤 다시 시도하세요.")
  }
}
