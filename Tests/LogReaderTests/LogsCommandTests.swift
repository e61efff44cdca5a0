// `bankctl logs`: its output, its refusals with their codes, and its end.

import BankModel
import Posix
import Testing

@testable import Logging
@testable import BankctlCommands

@Suite("bankctl logs") struct LogsCommandTests {
  private final class CapturedOutput {
    var bytes: [UInt8] = []
    var text: String { String(decoding: bytes, as: UTF8.self) }
  }

  /// A home with three lines of two workers.
  private func home() -> LogFixture {
    let scratch = LogFixture()
    scratch.append(Sample.line("loan-1", 1, at: Sample.morning) + "\n", to: "loan-1.log")
    scratch.append(Sample.line("deposit-1", 2, at: Sample.morning + 1_000) + "\n", to: "deposit-1.log")
    scratch.append(Sample.line("loan-1", 3, at: Sample.morning + 2_000) + "\n", to: "loan-1.log")
    return scratch
  }

  private func tickets(_ text: String) -> [String] {
    text.split(separator: "\n").compactMap { LogLine.parse(Array($0.utf8))?["ticket"] }
  }

  private func output(_ sink: @escaping ([UInt8]) -> StandardStreams.Outcome) -> Output {
    Output(isTerminal: false, palette: .none) { bytes throws(SystemError) in sink(bytes) }
  }

  private func shown(
    _ scratch: LogFixture, workers: [String] = [], last: Int? = nil, since: String? = nil,
    language: Language = .english
  ) throws -> [String] {
    let paper = CapturedOutput()
    try LogsCommand.run(
      logDirectory: scratch.logs, workers: workers, last: last, since: since, now: Sample.morning + 3_000,
      MessageCatalog(language: language),
      to: output { bytes in
        paper.bytes += bytes
        return .written
      })
    return tickets(paper.text)
  }

  private func refusal(
    _ scratch: LogFixture, workers: [String] = [], last: Int? = nil, since: String? = nil,
    language: Language = .english
  ) throws -> CommandFailure {
    let error = try #require(throws: CommandError.self) {
      try shown(scratch, workers: workers, last: last, since: since, language: language)
    }
    return try #require(MessageCatalog(language: language).commandFailure(about: error, home: scratch.logs))
  }

  @Test("shows the requested lines") func lines() throws {
    let scratch = home()
    #expect(try shown(scratch) == ["1", "2", "3"])
    #expect(try shown(scratch, workers: ["loan-1"]) == ["1", "3"])
    #expect(try shown(scratch, last: 2) == ["2", "3"])
    #expect(try shown(scratch, last: 0) == [])
    #expect(try shown(scratch, since: "2s") == ["2", "3"])
    #expect(try shown(scratch, since: "08:00:02") == ["3"])
    #expect(try shown(scratch, since: "2026-11-21T17:00:01+09:00") == ["2", "3"])
    #expect(try shown(scratch, last: 1, since: "1h") == ["3"])
  }

  @Test("an unknown worker is exit 4, with the nearest name") func stranger() throws {
    let near = try refusal(home(), workers: ["loan-1", "depsoit-1"])
    #expect(near.exit == .notFound)
    #expect(near.code == "no_such_log")
    #expect(
      near.message
        == "There is no log named 'depsoit-1'. Did you mean 'deposit-1'? Logs: deposit-1, loan-1.")
    let far = try refusal(home(), workers: ["\u{1b}[2J"], language: .korean)
    #expect(far.message == "'\\u001b[2J' 로그가 없습니다. 로그 목록: deposit-1, loan-1.")
  }

  @Test("a home without logs is exit 3") func nothing() throws {
    let refusal = try refusal(LogFixture(withLogs: false))
    #expect(refusal.exit == .notOpen)
    #expect(refusal.code == "not_open")
    #expect(refusal.message.contains("bankctl start"))
  }

  @Test("an invalid time or number is exit 2", arguments: ["", "5", "yesterday", "-5m", "25:00"])
  func usage(since: String) throws {
    for language in Language.allCases {
      #expect(try refusal(home(), since: since, language: language).exit == .usage)
      #expect(try refusal(home(), last: -1, language: language).exit == .usage)
    }
  }

  @Test("following starts with ten lines, continues, and ends with its reader") func follow() throws {
    let scratch = LogFixture()
    for number in 1...15 {
      scratch.append(
        Sample.line("loan-1", number, at: Sample.morning + Int64(number)) + "\n", to: "loan-1.log")
    }
    let paper = CapturedOutput()
    let reader = output { bytes in
      paper.bytes += bytes
      let told = tickets(paper.text).count
      if told == 10 {
        scratch.append(Sample.line("deposit-1", 16, at: Sample.morning + 16) + "\n", to: "deposit-1.log")
      }
      return told < 11 ? .written : .readerGone
    }
    #expect(throws: CommandError.readerGone) {
      try LogsCommand.run(
        logDirectory: scratch.logs, follow: true, MessageCatalog(language: .english), to: reader)
    }
    #expect(tickets(paper.text) == (6...16).map { "\($0)" })
  }

  @Test("a reader that has gone ends it quietly") func reader() throws {
    let scratch = home()
    let words = MessageCatalog(language: .english)
    #expect(throws: CommandError.readerGone) {
      try LogsCommand.run(logDirectory: scratch.logs, words, to: output { _ in .readerGone })
    }
    #expect(words.commandFailure(about: .readerGone, home: scratch.logs) == nil)
  }
}
