// Owns the sentences of a guardian to whoever stays with it.
// It must not know when they are said.
import BankModel
import Guardian

extension MessageCatalog {
  /// What has happened to the coordinator; nil where nobody needs to be told.
  func sentence(_ news: Guardian.News) -> String? {
    switch news {
    case .opened: nil
    case .ended(.code(0), _): nil
    case .ended(let end, let pid):
      say(
        "The coordinator (pid \(pid)) ended with \(end). Nothing is lost.",
        "코디네이터(pid \(pid))가 갑자기 끝났습니다(\(particular(Remark(end)))). 잃은 것은 없습니다.")
    case .pausing(let pause):
      say("The bank is opened again in \(pause.milliseconds) ms.", "\(pause.milliseconds) ms 뒤에 은행을 다시 엽니다.")
    case .restarted(let pid):
      say("The bank is opened again (coordinator \(pid)).", "은행을 다시 엽니다(코디네이터 \(pid)).")
    }
  }

  func reopeningFailed(_ end: CoordinatorEnd) -> String {
    say(
      "The bank could not be opened again, and the coordinator ended with \(end) each time. Nothing is lost. See "
        + "'bankctl logs coordinator guardian' and bankd.stderr beside the logs.",
      "은행을 다시 열지 못했습니다. 코디네이터가 매번 갑자기 끝났습니다(\(particular(Remark(end)))). 잃은 것은 없습니다. 'bankctl logs coordinator "
        + "guardian'과 로그 옆의 bankd.stderr를 보세요.")
  }
}

extension Remark {
  /// How a coordinator ended, as its guardian knows it.
  init(_ end: CoordinatorEnd) {
    switch end {
    case .code(let code): self.init(.processCode, code)
    case .signal: self.init(.processSignal, "\(end)")
    case .unseen: self.init(.processUnseen)
    }
  }
}
