// Sentences about commands that the bank runs,
// and their output.

import Arguments
import BankModel
import Posix
import Wire

extension MessageCatalog {
  /// Sentence: a command has this ticket.
  func commandEnqueued(_ ticket: Int64) -> String {
    say(
      "Ticket \(ticket). Follow its output with: bankctl output \(ticket) -f",
      "번호표 \(ticket)번입니다. 출력은 'bankctl output \(ticket) -f'로 볼 수 있습니다.")
  }

  /// Sentence after a signal: the command continues to run.
  func commandContinues(_ ticket: Int64) -> String {
    say(
      "Stopped waiting; the command keeps running. To stop it: bankctl cancel \(ticket)",
      "대기를 중단했습니다. 명령은 계속 실행됩니다. 중단하려면: bankctl cancel \(ticket)")
  }

  func commandCancelled(_ ticket: Int64) -> String {
    say("Ticket \(ticket) was cancelled, and its command was stopped.", "\(ticket)번이 취소되어 명령을 중단했습니다.")
  }

  /// Sentence: the customer of a command became a dead letter.
  /// - Parameter output: Last output lines of the command, or the reason why it did not start; the first line is shown.
  func commandDeadLettered(_ ticket: Int64, _ output: String) -> String {
    let last =
      output.split(whereSeparator: \.isNewline).first
      .map { safe(String($0), atMost: Self.longestReason) } ?? ""
    let reason = last.isEmpty ? "" : " (\(last))"
    return say(
      "Ticket \(ticket) became a dead letter\(reason). To retry: bankctl requeue \(ticket)",
      "\(ticket)번이 보류되었습니다\(reason). 다시 시도하려면: bankctl requeue \(ticket)")
  }

  /// Sentence: a command line is too long. It lists the largest environment variables, because a user can omit them.
  /// - Parameter limit: Maximum payload of the bank.
  func commandLineTooLong(_ count: Int, _ line: CommandLinePayload, limit: Int64) -> String {
    let isHighest = limit >= Int64(Limits.payloadLength)
    let (most, highest) = (Self.grouped(limit), Self.grouped(Int64(Limits.payloadLength)))
    let raising =
      isHighest
      ? ""
      : say(
        ", or raise max_payload in the configuration, up to \(highest)",
        " 설정의 max_payload를 \(highest)까지 늘려도 됩니다.")
    let total = Self.grouped(Int64(count))
    /// Number of bytes of a variable in the environment.
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
      "The command line takes \(total) bytes as a payload; the limit is \(most). Its environment takes "
        + "\(environment)\(input). Largest variables: \(largest). Omit one (env -u \(first) bankctl run …)\(raising). "
        + "No customer was added.",
      "명령이 모두 \(total)바이트입니다. 한도는 \(most)바이트입니다. 환경 변수가 \(environment)바이트\(input)입니다. 큰 변수: \(largest). "
        + "env -u \(first) bankctl run …처럼 빼고 실행하세요.\(raising) 추가된 고객이 없습니다.")
  }

  var inputTooLong: String {
    let limit = Self.grouped(Limits.payloadLength)
    return say(
      "Standard input has more than \(limit) bytes, the limit; put it in a file and let the command read the file. No "
        + "customer was added.",
      "표준 입력이 한도인 \(limit)바이트보다 깁니다. 파일에 저장하고 명령이 그 파일을 읽게 하세요. 추가된 고객이 없습니다.")
  }

  var inputIsNotRead: String {
    say(
      "Standard input is not passed to the command. To pass it: bankctl run --stdin -- COMMAND",
      "표준 입력은 읽지 않으며, 명령의 표준 입력은 비어 있습니다. 전달하려면: bankctl run --stdin -- 명령")
  }

  var presentDirectoryGone: String {
    say(
      "The current directory does not exist: it was removed or is no longer reachable. Change to another one (cd) and "
        + "try again. "
        + "No customer was added.",
      "현재 디렉터리가 없습니다. 삭제되었거나 더는 접근할 수 없습니다. 다른 디렉터리로 이동한 뒤(cd) 다시 실행하세요. 추가된 고객이 없습니다.")
  }

  /// Sentence: a worker has paused its service.
  /// - Parameter output: Message of the worker; its first line is the reason.
  func hasPaused(_ service: ServiceName, because output: String) -> String {
    let reason =
      output.split(whereSeparator: \.isNewline).first
      .map { safe(String($0), atMost: Self.longestReason) } ?? ""
    return say(
      "\(service.text) paused itself: \(reason). Fix the cause, then run: bankctl resume \(service.text)",
      "\(service.text) 업무가 일시 중지되었습니다: \(reason). 원인을 고친 뒤 다시 시작하세요: bankctl resume \(service.text)")
  }

  /// Sentence between the outputs of two attempts.
  var newAttempt: String { say("Retrying the command.", "명령을 처음부터 다시 실행합니다.") }

  /// Reason why a part of an output is not stored.
  enum OutputLoss: CaseIterable {
    /// Above the limits of the configuration.
    case bounds
    /// No output file was written.
    case noFile
    case fileGone
  }

  /// Sentence: this number of bytes of an output is missing.
  func outputNotStored(_ count: Int64, _ loss: OutputLoss) -> String {
    let bytes = Self.grouped(count)
    return switch loss {
    case .bounds:
      say(
        "\(bytes) bytes of the output were discarded (limits.output_bytes, max_result_bytes).",
        "출력 가운데 \(bytes)바이트는 보관되지 않았습니다. 보관 크기는 limits.output_bytes와 max_result_bytes로 정합니다.")
    case .noFile:
      say(
        "\(bytes) bytes of the output were discarded: their file was removed or could not be written, or limits.output_bytes "
          + "is 0. See logs/bankd.stderr in the home for the reason.",
        "출력 가운데 \(bytes)바이트는 보관되지 않았습니다. 출력 파일이 삭제되었거나 기록되지 못했거나 limits.output_bytes가 0입니다. "
          + "홈의 logs/bankd.stderr에 원인이 적혀 있습니다.")
    case .fileGone:
      say(
        "\(bytes) bytes of the output are missing: their file was removed from the directory 'output' in the home.",
        "출력 가운데 \(bytes)바이트는 없어졌습니다. 홈의 output 디렉터리에서 출력 파일이 삭제되었습니다.")
    }
  }

  /// Sentence: the output of a command is in the home of another branch. It contains the name and the host of that
  /// branch, because a user must run the command there.
  /// - Parameters:
  ///   - day: The value of `--day`, or nil.
  ///   - isErrors: True if standard error was requested.
  func outputElsewhere(
    _ ticket: Int64, day: Int64? = nil, isErrors: Bool = false, _ branch: OutputOwnerBranch
  ) -> String {
    let command = "bankctl output \(ticket)" + Self.dayOption(day) + (isErrors ? " --stderr" : "")
    let (english, korean) =
      branch.report.map { report in
        let (name, host) = (safe(report.name), safe(report.host))
        return (" (\(name)) on \(host)", "(\(name), 호스트 \(host))")
      } ?? ("", "")
    return say(
      "Ticket \(ticket) was served at branch \(branch.number)\(english), which keeps the output of its command in its "
        + "own home. Run there: \(command)",
      "\(ticket)번 고객은 지점 \(branch.number)\(korean)에서 처리했고, 명령의 출력은 그 지점의 홈에 있습니다. "
        + "그 지점에서: \(command)")
  }

  /// Sentence: the output of a command was deleted because of its age.
  /// - Parameter day: The value of `--day`, or nil.
  func outputRemoved(_ ticket: Int64, day: Int64?) -> String {
    let command = "bankctl ticket \(ticket)" + Self.dayOption(day)
    return say(
      "The output of ticket \(ticket) was removed, because it is older than output_retention allows. "
        + "Stored part: \(command)",
      "\(ticket)번 고객의 출력은 output_retention에 정한 기간이 지나 삭제되었습니다. 영수증에 남은 내용: \(command)")
  }

  /// The option for a business day in a command to copy. Without the option, the same number may refer to a
  /// ticket of another day.
  private static func dayOption(_ day: Int64?) -> String { day.map { " --day \($0)" } ?? "" }

  /// Text about the result of an ended command: exit code or signal, duration, lengths of the outputs.
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
          "stdout \(Self.grouped(result.output.length)) bytes", "출력 \(Self.grouped(result.output.length))바이트")
      )
    }
    if result.errors.length > 0 {
      parts.append(
        say(
          "stderr \(Self.grouped(result.errors.length)) bytes",
          "오류 출력 \(Self.grouped(result.errors.length))바이트"))
    }
    return say("result: ", "결과: ") + parts.joined(separator: ", ")
  }
}
