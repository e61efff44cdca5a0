// Sentences about commands that the bank runs, and their output.
// Invariant: every sentence is in both languages, with a remedy if there is one.

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

  /// - Parameter words: Last output lines of the command, or the reason why it did not start.
  func commandPutAside(_ ticket: Int64, _ words: String) -> String {
    let last =
      words.split(whereSeparator: \.isNewline).first
      .map { safe(String($0), atMost: Self.longestReason) } ?? ""
    let reason = last.isEmpty ? "" : " (\(last))"
    return say(
      "Ticket \(ticket) was put aside as a dead letter\(reason). To try it again: bankctl requeue \(ticket)",
      "\(ticket)번이 보류되었습니다\(reason). 다시 시도하려면 bankctl requeue \(ticket)")
  }

  /// Lists the largest variables, because those can be left out.
  /// - Parameter limit: Maximum payload of the bank.
  func commandLineTooLong(_ count: Int, _ line: CommandLinePayload, limit: Int64) -> String {
    let isHighest = limit >= Int64(Limits.payloadLength)
    let (most, highest) = (Self.grouped(limit), Self.grouped(Int64(Limits.payloadLength)))
    let raising =
      isHighest
      ? ""
      : say(
        ", or raise max_payload of the configuration, up to \(highest)",
        " 설정의 max_payload를 \(highest)까지 늘려도 됩니다.")
    let total = Self.grouped(Int64(count))
    func size(_ variable: (key: String, value: String)) -> Int {
      variable.key.utf8.count + variable.value.utf8.count + 1
    }
    let variables = line.environment.inOrder.sorted { size($0) > size($1) }
    let environment = Self.grouped(Int64(variables.reduce(0) { $0 + size($1) }))
    let largest = variables.prefix(3).map { "\(safe($0.key)) (\(Self.grouped(Int64(size($0)))))" }
      .joined(separator: ", ")
    let input =
      line.input.isEmpty
      ? ""
      : say(
        ", standard input \(Self.grouped(Int64(line.input.count)))",
        ", 표준 입력이 \(Self.grouped(Int64(line.input.count)))바이트")
    let first = variables.first.map { safe($0.key) } ?? ""
    return say(
      "The command line has \(total) bytes as a customer carries it, and at most \(most) are allowed: its environment has "
        + "\(environment)\(input). The largest variables: \(largest). Leave one out (env -u \(first) bankctl run …)\(raising). "
        + "No customer was added.",
      "명령이 모두 \(total)바이트입니다. \(most)바이트까지 맡길 수 있습니다. 환경 변수가 \(environment)바이트\(input)입니다. 큰 변수: \(largest). "
        + "env -u \(first) bankctl run …처럼 빼고 실행하세요.\(raising) 추가된 고객이 없습니다.")
  }

  var inputTooLong: String {
    let limit = Self.grouped(Limits.payloadLength)
    return say(
      "Standard input has more than \(limit) bytes, and no customer carries more: put it into a file, and let the command read the "
        + "file. No customer was added.",
      "표준 입력이 \(limit)바이트보다 깁니다. 그보다 많이 맡길 수 없으니, 파일에 담고 명령이 그 파일을 읽게 하세요. 추가된 고객이 없습니다.")
  }

  var inputIsNotRead: String {
    say(
      "Standard input is not read: the command gets none. To hand it over: bankctl run --stdin -- COMMAND",
      "표준 입력은 읽지 않으며, 명령의 표준 입력은 비어 있습니다. 넘겨주려면 bankctl run --stdin -- 명령")
  }

  var presentDirectoryGone: String {
    say(
      "The present directory is gone: it was removed, or cannot be reached any more. Go to one that is there (cd), and try again. "
        + "No customer was added.",
      "현재 디렉터리가 없습니다. 삭제되었거나 더는 접근할 수 없습니다. 있는 디렉터리로 옮긴 뒤(cd) 다시 실행하세요. 추가된 고객이 없습니다.")
  }

  /// - Parameter words: Message of the worker; its first line is the reason.
  func hasPaused(_ service: ServiceName, because words: String) -> String {
    let reason =
      words.split(whereSeparator: \.isNewline).first
      .map { safe(String($0), atMost: Self.longestReason) } ?? ""
    return say(
      "\(service.text) has paused: \(reason). Mend it, then: bankctl resume \(service.text)",
      "\(service.text) 업무가 멈췄습니다: \(reason). 고친 뒤 bankctl resume \(service.text) 로 다시 시작하세요.")
  }

  /// Between the outputs of two attempts.
  var newAttempt: String { say("The command is begun anew.", "명령을 처음부터 다시 실행합니다.") }

  /// Reason why bytes of an output are stored nowhere.
  enum OutputLoss: CaseIterable {
    /// Above the limits of the service.
    case bounds
    /// No output file was written.
    case noFile
    /// The output file was removed.
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

  /// The default name of a branch is made of its host and its home.
  func outputElsewhere(_ ticket: Int64, _ branch: OutputElsewhere) -> String {
    let (english, korean) =
      branch.report.map { report in
        let (name, host) = (safe(report.name), safe(report.host))
        return (" (\(name)) on \(host)", "(\(name), 컴퓨터 \(host))")
      } ?? ("", "")
    return say(
      "Ticket \(ticket) was served at branch \(branch.number)\(english), which keeps what its command "
        + "wrote in its own home. There: bankctl output \(ticket)",
      "\(ticket)번 고객은 지점 \(branch.number)\(korean)에서 처리했고, 명령이 쓴 내용은 그 지점의 홈에 있습니다. "
        + "그 지점에서: bankctl output \(ticket)")
  }

  func outputRemoved(_ ticket: Int64) -> String {
    say(
      "The output of ticket \(ticket) was removed, because it is older than keep_output allows. "
        + "What the receipt has of it: bankctl ticket \(ticket)",
      "\(ticket)번 고객의 출력은 keep_output에 정한 기간이 지나 삭제되었습니다. 영수증에 남은 내용: bankctl ticket \(ticket)")
  }

  /// Output of a command, for a ticket's history.
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
