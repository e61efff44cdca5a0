// Sentences about failed or lost connections to the coordinator.
// Invariant: every case of `ControlError` has an error code and a sentence in both languages.
import BankModel
import ControlClient
import Wire

extension MessageCatalog {
  /// An error of the connection, with its error code.
  func complaint(inConversation error: ControlError, home: String) -> Complaint {
    let sentence = sentence(error, home: home)
    switch error {
    case .notOpen: return Complaint(as: .notOpen, sentence)
    case .notPermitted: return Complaint(.notPermitted, sentence)
    case .busy, .notGreeted: return Complaint(.busy, sentence)
    case .otherVersion: return Complaint(.otherVersion, sentence)
    case .refused(let refusal):
      return Complaint(refusal.reason == .crowded ? .busy : .connectionRefused, sentence)
    case .lost: return Complaint(.connectionLost, sentence)
    case .timedOut: return Complaint(.noAnswer, sentence)
    case .malformed, .unexpected: return Complaint(.malformedAnswer, sentence)
    case .system: return Complaint(as: .system, sentence)
    case .programMissing: return Complaint(.programMissing, sentence)
    case .coordinatorEnded: return Complaint(.coordinatorEnded, sentence)
    }
  }

  func sentence(_ error: ControlError, home: String) -> String {
    switch error {
    case .notOpen: notOpen(home: home)
    case .notPermitted(let socket):
      say(
        "You may not connect to \(socket): the bank belongs to another user.",
        "\(socket)에 접속할 권한이 없습니다. 다른 사용자의 은행입니다.")
    case .busy: self.crowded
    case .otherVersion(let theirs, let build): otherVersion(theirs, build)
    case .refused(let refusal) where refusal.reason == .crowded: self.crowded
    case .refused(let refusal):
      say("The coordinator ended the connection: \(refusal.detail).", "코디네이터가 연결을 끊었습니다. \(reason(refusal)).")
    case .lost:
      say(
        "The connection to the coordinator was lost before it had answered. 'bankctl status' tells whether "
          + "the bank is open.",
        "코디네이터가 대답하기 전에 연결이 끊겼습니다. 은행이 열려 있는지는 'bankctl status'로 알 수 있습니다.")
    case .notGreeted:
      say(
        "The coordinator of \(home) is there and too busy to answer, as during the audit of millions of receipts. Nothing "
          + "was asked of it. Try again; 'bankctl logs' tells if it stands still.",
        "\(home)의 코디네이터가 있지만 지금은 바빠서 대답하지 않습니다. 수백만 건의 영수증을 점검할 때 그럴 수 있습니다. "
          + "아무것도 요청하지 않았습니다. 다시 시도하세요. 멈춘 상태인지는 'bankctl logs'로 알 수 있습니다.")
    case .timedOut(let what):
      say(
        "The coordinator of \(home) is there and does not answer (\(what)). See 'bankctl logs'.",
        "\(home)의 코디네이터가 있지만 대답하지 않습니다. 'bankctl logs'를 보세요.")
    case .malformed(let detail), .unexpected(let detail):
      say(
        "The coordinator sent what this program does not understand (\(particular(detail))). Use the bankctl of the "
          + "build that opened the bank.",
        "코디네이터가 보낸 내용을 이해할 수 없습니다(\(particular(detail))). 은행을 연 것과 같은 빌드의 bankctl을 쓰세요.")
    case .system(let error): say("The system refused: \(error).", "시스템이 거절했습니다: \(error).")
    case .programMissing(let places):
      say(
        "A program of the bank was not found at \(places.joined(separator: " or ")). Build or install all programs "
          + "together.",
        "은행의 프로그램이 \(places.joined(separator: ", "))에 없습니다. 모든 프로그램을 함께 빌드하거나 설치하세요.")
    case .coordinatorEnded(let status):
      say(
        "The coordinator ended before it had answered (\(status)). See 'bankctl logs'.",
        "코디네이터가 대답하기 전에 끝났습니다(\(particular(Remark(status)))). 'bankctl logs'를 보세요.")
    }
  }

  func closedWhileOpening(home: String) -> String {
    say(
      "The bank in \(home) was closed by somebody else while it was being opened. Try again.",
      "\(home)의 은행을 여는 동안 다른 사람이 닫았습니다. 다시 시도하세요.")
  }

  /// The bank closed during a change of the stock or of the machine.
  func closedMeanwhile(home: String) -> String {
    say(
      "The bank in \(home) closed before it had answered, so it is not known whether the change was made. Look when it is "
        + "open again.",
      "\(home)의 은행이 대답하기 전에 닫혀 변경되었는지 알 수 없습니다. 다시 연 뒤에 확인하세요.")
  }

  /// The coordinator's reason for ending a connection, in Korean; details are in its log.
  private func reason(_ refusal: Refusal) -> String {
    switch refusal.reason {
    case .version: "프로토콜의 판이 다릅니다"
    case .build: "빌드가 다릅니다"
    case .hello: "인사가 없거나 잘못되었습니다"
    case .malformed: "메시지가 잘못되었습니다"
    case .crowded: "연결이 가득 찼습니다"
    case .closing: "서비스가 끝나는 중입니다"
    case .service: "맡을 수 없는 서비스입니다"
    }
  }

  private func otherVersion(_ theirs: UInt32, _ build: String) -> String {
    say(
      "The open bank (build \(build)) speaks version \(theirs) of the protocol, this bankctl version "
        + "\(protocolVersion). Use the bankctl of that build, or stop the bank with it and start it with "
        + "this one.",
      "열려 있는 은행(빌드 \(build))은 프로토콜 \(theirs)판을, 이 bankctl은 \(protocolVersion)판을 씁니다. 그 빌드의 "
        + "bankctl을 쓰거나, 그것으로 마감한 뒤 이 빌드로 다시 여세요.")
  }
}
