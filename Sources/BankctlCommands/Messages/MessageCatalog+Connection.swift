// Sentences about failed or lost connections to the coordinator,
// in English and Korean.
import BankModel
import ControlClient
import Wire

extension MessageCatalog {
  /// An error of the connection, with its error code.
  func commandFailure(inConversation error: ControlError, home: String) -> CommandFailure {
    let sentence = sentence(error, home: home)
    switch error {
    case .notOpen: return CommandFailure(as: .notOpen, sentence)
    case .notPermitted: return CommandFailure(.notPermitted, sentence)
    case .busy: return CommandFailure(.tooManyConnections, sentence)
    case .noWelcome: return CommandFailure(.serverBusy, sentence)
    case .otherVersion: return CommandFailure(.protocolMismatch, sentence)
    case .refused(let refusal):
      return CommandFailure(refusal.reason == .crowded ? .tooManyConnections : .connectionRejected, sentence)
    case .lost: return CommandFailure(.connectionLost, sentence)
    case .timedOut: return CommandFailure(.noResponse, sentence)
    case .malformed, .unexpected: return CommandFailure(.unexpectedResponse, sentence)
    case .system: return CommandFailure(as: .system, sentence)
    case .programMissing: return CommandFailure(.programMissing, sentence)
    case .coordinatorEnded: return CommandFailure(.coordinatorExited, sentence)
    }
  }

  func sentence(_ error: ControlError, home: String) -> String {
    switch error {
    case .notOpen: notOpen(home: home)
    case .notPermitted(let socket):
      say(
        "Permission denied: \(socket) belongs to another user.",
        "\(socket)에 연결할 권한이 없습니다. 다른 사용자의 은행입니다.")
    case .busy: self.crowded
    case .otherVersion(let theirs, let build): otherVersion(theirs, build)
    case .refused(let refusal) where refusal.reason == .crowded: self.crowded
    case .refused(let refusal):
      say("The coordinator ended the connection: \(refusal.detail).", "코디네이터가 연결을 끊었습니다. \(reason(refusal)).")
    case .lost:
      say(
        "The connection to the coordinator was lost before it responded. See 'bankctl status' to check that the bank "
          + "is open.",
        "코디네이터가 응답하기 전에 연결이 끊겼습니다. 은행이 열려 있는지는 'bankctl status'로 확인하세요.")
    case .noWelcome:
      say(
        "The coordinator of \(home) is running but too busy to answer (for example during a large audit). No request "
          + "was sent. Try again; 'bankctl logs' shows whether it is stuck.",
        "\(home)의 코디네이터가 실행 중이지만 지금은 응답하지 못합니다. 수백만 건의 영수증을 점검할 때 그럴 수 있습니다. 요청은 보내지 않았습니다. 다시 시도하세요. 응답 없는 상태가 이어지면 "
          + "'bankctl logs'로 확인하세요.")
    case .timedOut(let what):
      say(
        "The coordinator of \(home) is running but does not respond (\(what)). See 'bankctl logs'.",
        "\(home)의 코디네이터가 실행 중이지만 응답하지 않습니다. 'bankctl logs'로 확인하세요.")
    case .malformed(let detail), .unexpected(let detail):
      say(
        "The coordinator sent an unexpected response (\(localizedDetail(detail))). Use the bankctl of the "
          + "build that opened the bank.",
        "코디네이터가 예상하지 못한 응답을 보냈습니다(\(localizedDetail(detail))). 은행을 연 것과 같은 빌드의 bankctl을 쓰세요.")
    case .system(let error): say("System error: \(error).", "시스템 오류: \(error).")
    case .programMissing(let places):
      say(
        "A program of the bank was not found at \(places.joined(separator: " or ")). Build or install all programs "
          + "together.",
        "은행의 프로그램이 \(places.joined(separator: ", "))에 없습니다. 모든 프로그램을 함께 빌드하거나 설치하세요.")
    case .coordinatorEnded(let status):
      say(
        "The coordinator exited before it responded (\(status)). See 'bankctl logs'.",
        "코디네이터가 응답하기 전에 종료되었습니다(\(localizedDetail(MessageDetail(status)))). 'bankctl logs'로 확인하세요.")
    }
  }

  /// Sentence: another process closed the bank while it was being opened.
  func closedWhileOpening(home: String) -> String {
    say(
      "The bank in \(home) was closed by another process while it was being opened. Try again.",
      "\(home)의 은행을 여는 동안 다른 프로세스가 닫았습니다. 다시 시도하세요.")
  }

  /// Sentence: the bank closed during a change of the stock or of the vending machine.
  func closedMeanwhile(home: String) -> String {
    say(
      "The bank in \(home) closed before it responded, so it is not known whether the change was made. Check when it "
        + "is open again.",
      "\(home)의 은행이 응답하기 전에 닫혀 변경되었는지 알 수 없습니다. 다시 연 뒤에 확인하세요.")
  }

  /// The coordinator's reason for ending a connection, in Korean.
  private func reason(_ refusal: Refusal) -> String {
    switch refusal.reason {
    case .version: "프로토콜 버전이 다릅니다"
    case .build: "빌드가 다릅니다"
    case .hello: "hello 메시지가 없거나 잘못되었습니다"
    case .malformed: "메시지가 잘못되었습니다"
    case .crowded: "연결 수가 한도에 이르렀습니다"
    case .closing: "서비스가 끝나는 중입니다"
    case .service: "처리할 수 없는 서비스입니다"
    }
  }

  /// Sentence: the open bank uses another version of the protocol.
  private func otherVersion(_ theirs: UInt32, _ build: String) -> String {
    say(
      "The open bank (build \(build)) uses protocol \(theirs), this bankctl protocol \(protocolVersion). Use the "
        + "bankctl of that build, or stop the bank with it and start it with "
        + "this one.",
      "열려 있는 은행(빌드 \(build))은 프로토콜 버전 \(theirs), 이 bankctl은 버전 \(protocolVersion)입니다. 그 빌드의 "
        + "bankctl을 쓰거나, 그것으로 마감한 뒤 이 빌드로 다시 여세요.")
  }
}
