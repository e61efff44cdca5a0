// Owns the sentences about commands that the bank runs, and what they leave behind.
// Invariant: every sentence exists in both languages, and says what to do where something can be done.

import Arguments
import BankModel
import Posix
import Wire

extension MessageCatalog {
  func commandTaken(_ ticket: Int64) -> String {
    say(
      "Ticket \(ticket). To see what it writes: bankctl output \(ticket) -f",
      "번호표 \(ticket)번입니다. 출력은 bankctl output \(ticket) -f 로 볼 수 있습니다.")
  }

  func commandGoesOn(_ ticket: Int64) -> String {
    say(
      "Not waiting any longer; the command goes on. To end it: bankctl cancel \(ticket)",
      "더 기다리지 않습니다. 명령은 계속 실행됩니다. 끝내려면 bankctl cancel \(ticket)")
  }

  func commandCancelled(_ ticket: Int64) -> String {
    say("Ticket \(ticket) was cancelled, and its command ended.", "\(ticket)번이 취소되어 명령을 끝냈습니다.")
  }

  /// - Parameter words: The last lines of the command, or why it did not begin.
  func commandPutAside(_ ticket: Int64, _ words: String) -> String {
    let last = words.split(whereSeparator: \.isNewline).first.map { safe(String($0)) } ?? ""
    let reason = last.isEmpty ? "" : " (\(last))"
    return say(
      "Ticket \(ticket) was put aside as a dead letter\(reason). To try it again: bankctl requeue \(ticket)",
      "\(ticket)번이 보류되었습니다\(reason). 다시 시도하려면 bankctl requeue \(ticket)")
  }

  func commandLineTooLong(_ count: Int) -> String {
    say(
      "The command line has \(Self.grouped(Int64(count))) bytes with its environment; at most "
        + "\(Self.grouped(Int64(Limits.payloadLength))) are allowed. Leave variables out with env -i.",
      "명령과 환경 변수가 \(Self.grouped(Int64(count)))바이트입니다. \(Self.grouped(Int64(Limits.payloadLength)))바이트까지 쓸 수 있습니다. env -i 로 변수를 줄이세요."
    )
  }

  /// - Parameter words: What the worker said; its first line is the reason.
  func hasPaused(_ service: ServiceName, because words: String) -> String {
    let reason = words.split(whereSeparator: \.isNewline).first.map { safe(String($0)) } ?? ""
    return say(
      "\(service.text) has paused: \(reason). Mend it, then: bankctl resume \(service.text)",
      "\(service.text) 업무가 멈췄습니다: \(reason). 고친 뒤 bankctl resume \(service.text) 로 다시 시작하세요.")
  }

  /// Between the output of one attempt and that of the next.
  var newAttempt: String { say("The command is begun anew.", "명령을 처음부터 다시 실행합니다.") }

  /// Why bytes of an output are in neither place where they could be.
  enum OutputLoss: CaseIterable {
    /// The bounds of the service were reached.
    case bounds
    /// No byte was written to a file.
    case noFile
    /// The file had them, and is gone.
    case fileGone
  }

  func notKept(_ count: Int64, _ loss: OutputLoss) -> String {
    let bytes = Self.grouped(count)
    return switch loss {
    case .bounds:
      say(
        "\(bytes) bytes of the output were not kept; limits.output and result_bytes say how many are.",
        "출력 가운데 \(bytes)바이트는 남아 있지 않습니다. 남기는 양은 limits.output과 result_bytes로 정합니다.")
    case .noFile:
      say(
        "\(bytes) bytes of the output were not kept: their file was removed, or could not be written, or limits.output is 0. "
          + "The file logs/bankd.stderr in the home says which.",
        "출력 가운데 \(bytes)바이트는 남아 있지 않습니다. 출력 파일이 삭제되었거나 기록되지 못했거나 limits.output이 0입니다. "
          + "홈의 logs/bankd.stderr에 까닭이 적혀 있습니다.")
    case .fileGone:
      say(
        "\(bytes) bytes of the output are gone: their file was removed from the directory 'output' of the home.",
        "출력 가운데 \(bytes)바이트는 없어졌습니다. 홈의 output 디렉터리에서 출력 파일이 삭제되었습니다.")
    }
  }

  func outputRemoved(_ ticket: Int64) -> String {
    say(
      "The output of ticket \(ticket) was removed, because it is older than keep_output allows. "
        + "What the receipt has of it: bankctl ticket \(ticket)",
      "\(ticket)번 고객의 출력은 keep_output에 정한 기간이 지나 삭제되었습니다. 영수증에 남은 내용: bankctl ticket \(ticket)")
  }

  /// What a command has left behind, for a ticket's story.
  func left(_ result: WorkResult) -> String {
    var parts: [String] = []
    switch result.ending {
    case .code(let code): parts.append(exitCode(code))
    case .signal(let signal): parts.append(Signals.name(signal))
    case nil: break
    }
    parts.append(say("took ", "걸린 시간 ") + span(milliseconds: result.duration.milliseconds))
    if result.output.length > 0 {
      parts.append(
        say(
          "wrote \(Self.grouped(result.output.length)) bytes", "출력 \(Self.grouped(result.output.length))바이트"))
    }
    if result.errors.length > 0 {
      parts.append(
        say(
          "\(Self.grouped(result.errors.length)) bytes of errors",
          "오류 출력 \(Self.grouped(result.errors.length))바이트"))
    }
    return say("result: ", "결과: ") + parts.joined(separator: ", ")
  }
}
