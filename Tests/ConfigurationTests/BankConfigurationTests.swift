// The configuration: its defaults, its bounds, and the sentences of its refusals.

import Arguments
import BankModel
import Foundation
import JSON
import Posix
import Testing
import Time

@testable import Configuration

@Suite("A configuration") struct BankConfigurationTests {
  private func decode(_ text: String) throws(ConfigurationError) -> BankConfiguration {
    try BankConfiguration.decode(bytes: Array(text.utf8), path: "config/bank.json")
  }

  private func refusal(_ text: String) -> ConfigurationError? {
    do throws(ConfigurationError) {
      _ = try decode(text)
      return nil
    } catch {
      return error
    }
  }

  /// The repository's own file, found from this source file.
  private var repositoryFile: String {
    let repository = Paths.directory(of: Paths.directory(of: Paths.directory(of: #filePath)))
    return Paths.join(repository, "config", "bank.json")
  }

  @Test("the file of the repository has exactly the defaults") func defaults() throws {
    #expect(try BankConfiguration.load(path: repositoryFile) == BankConfiguration())
  }

  @Test("an empty object is the defaults") func empty() throws {
    #expect(try decode("{}") == BankConfiguration())
    #expect(try decode("\u{FEFF} {\n}\n") == BankConfiguration())
    #expect(try decode("{}").maxWaiting == 20_000_000)
  }

  @Test("every key is read") func everything() throws {
    let configuration = try decode(
      """
      {"windows": {"deposit": 0, "loan": 256, "juice": 3}, "speed": 2.5, "lang": "ko",
       "work": {"deposit": "0s", "loan": "2h", "juice": "1s"},
       "max_waiting": 5, "max_payload": 1048576, "lease": "100ms", "watchdog_timeout": "3s", "prefetch": 64, "max_crashes": 1, "max_failures": 2, "retry_initial_delay": "3ms",
       "retry_max_delay": "1m30s", "restart_initial_delay": "2ms", "restart_max_delay": "4s",
       "max_customers_per_teller": 1000, "max_teller_memory_mb": 64, "commit_delay": "0ms", "output_retention": "30d", "log": {"customer_events": false, "rotate_bytes": 4096, "keep_files": 0}}
      """)
    var expected = BankConfiguration()
    expected.windows = PerService(deposit: 0, loan: 256, juice: 3)
    expected.work = PerService(deposit: .zero, loan: .seconds(7200), juice: .seconds(1))
    expected.speed = .thousandths(2500)
    expected.language = .korean
    expected.maxWaiting = 5
    expected.maxPayload = 1_048_576
    expected.lease = .milliseconds(100)
    expected.watchdogTimeout = .seconds(3)
    expected.prefetch = 64
    expected.maxCrashes = 1
    expected.maxFailures = 2
    expected.retryInitialDelay = .milliseconds(3)
    expected.retryMaxDelay = .seconds(90)
    expected.restartInitialDelay = .milliseconds(2)
    expected.restartMaxDelay = .seconds(4)
    expected.maxCustomersPerTeller = 1_000
    expected.maxTellerMegabytes = 64
    expected.gather = .zero
    expected.outputRetention = .seconds(30 * 86_400)
    expected.log.customers = false
    expected.log.rotateBytes = 4096
    expected.log.keep = 0
    #expect(configuration == expected)
  }

  @Test("a speed is a number, a number in quotes, or max") func speeds() throws {
    #expect(try decode(#"{"speed": 10}"#).speed == .thousandths(10_000))
    #expect(try decode(#"{"speed": "0.5"}"#).speed == .thousandths(500))
    #expect(try decode(#"{"speed": "max"}"#).speed == .max)
  }

  @Test("a speed divides spans") func scaling() {
    #expect(Speed.one.scaled(.milliseconds(700)) == .milliseconds(700))
    #expect(Speed.thousandths(10_000).scaled(.milliseconds(700)) == .milliseconds(70))
    #expect(Speed.thousandths(500).scaled(.milliseconds(700)) == .milliseconds(1400))
    #expect(Speed.max.scaled(.seconds(86_400)) == .zero)
    #expect(Speed.thousandths(1).scaled(TimeSpan(nanoseconds: .max)).nanoseconds == .max)
    #expect(Speed.thousandths(-5).scaled(.milliseconds(1)) == .seconds(1))
    #expect(Speed.thousandths(2500).text == "2.5")
    #expect(BankConfiguration().scaledWork(.loan) == .milliseconds(1100))
  }

  @Test("a missing file is a typed error") func missing() {
    let error = #expect(throws: ConfigurationError.self) { try BankConfiguration.load(path: "/no/bank.json") }
    #expect(error == ConfigurationError(path: "/no/bank.json", reason: .notFound))
  }

  @Test("a directory in place of the file is reported with the failed call") func unreadable() {
    let error = #expect(throws: ConfigurationError.self) { try BankConfiguration.load(path: "/") }
    guard case .unreadable(let why)? = error?.reason else {
      Issue.record("refused with \(String(describing: error))")
      return
    }
    #expect(why.contains("EISDIR"))
  }

  @Test("a file longer than a configuration is refused before it is parsed") func tooLong() {
    let error = #expect(throws: ConfigurationError.self) {
      try BankConfiguration.decode(bytes: Array(repeating: 0x20, count: (1 << 20) + 1), path: "x")
    }
    #expect(error?.reason == .tooLong)
  }

  @Test(
    "a refusal is a sentence with place, fault, reason and remedy",
    arguments: [
      (
        #"{"windws": {}}"#, #"config/bank.json:1: unknown key "windws" — did you mean "windows"?"#,
        #"config/bank.json:1: 알 수 없는 키입니다: "windws". 혹시 "windows"인가요?"#
      ),
      (
        "{\n\"xyzzy\": 1}", #"config/bank.json:2: unknown key "xyzzy" — remove it"#,
        #"config/bank.json:2: 알 수 없는 키입니다: "xyzzy". 이 키를 지우세요."#
      ),
      (
        #"{"log": {"kep_files": 1}}"#,
        #"config/bank.json:1: unknown key "kep_files" — did you mean "keep_files"?"#,
        #"config/bank.json:1: 알 수 없는 키입니다: "kep_files". 혹시 "keep_files"인가요?"#
      ),
      (
        "{\n\"gather\": \"1ms\"}",
        #"config/bank.json:2: "gather" has another name now: write "commit_delay""#,
        #"config/bank.json:2: "gather" 설정의 이름이 바뀌었습니다. "commit_delay"로 쓰세요."#
      ),
      (
        "{\"lease\": \"1s\",\n \"lease\": \"2s\"}",
        #"config/bank.json:2: "lease" appears twice; keep one of them"#,
        #"config/bank.json:2: 키가 두 번 나옵니다: "lease". 하나만 남기세요."#
      ),
      (
        #"{"windows": {"deposit": "2"}}"#,
        #"config/bank.json:1: "windows.deposit" is a string; write a whole number without quotes"#,
        #"config/bank.json:1: "windows.deposit" 값의 종류가 다릅니다 (문자열). 따옴표 없는 정수 형식으로 쓰세요."#
      ),
      (
        #"{"windows": {"deposit": 257}}"#,
        #"config/bank.json:1: "windows.deposit" is 257; write a value from 0 to 256"#,
        #"config/bank.json:1: "windows.deposit" 값이 범위를 벗어났습니다: 257. 0 이상 256 이하로 쓰세요."#
      ),
      (
        #"{"max_crashes": 2.5}"#,
        #"config/bank.json:1: "max_crashes" is 2.5, which is not a 64-bit integer"#,
        #"config/bank.json:1: "max_crashes" 값이 64비트 정수가 아닙니다: 2.5. 정수를 쓰세요."#
      ),
      (
        #"{"lang": "fr"}"#, #"config/bank.json:1: "lang" is "fr"; write "ko" or "en""#,
        #"config/bank.json:1: "lang" 값이 언어가 아닙니다: "fr". "ko" 또는 "en"을 쓰세요."#
      ),
      (
        #"{"lease": "1ms"}"#, #"config/bank.json:1: "lease" is 1ms; write a value from 100ms to 24h"#,
        #"config/bank.json:1: "lease" 값이 범위를 벗어났습니다: 1ms. 100ms 이상 24h 이하로 쓰세요."#
      ),
      (
        #"{"retry_initial_delay": "2m"}"#,
        #"config/bank.json:1: "retry_max_delay" is 1m, shorter than "retry_initial_delay" (2m); make it at least as long"#,
        #"config/bank.json:1: "retry_max_delay" 값(1m)이 "retry_initial_delay" 값(2m)보다 짧습니다. 같거나 길게 쓰세요."#
      ),
      (
        "{\n\"lease\": \"1s\"\n\"gather\": \"1ms\"}",
        #"config/bank.json:3: this is not JSON: """ is not allowed here; look for a missing comma or quote"#,
        #"config/bank.json:3: JSON 형식이 아닙니다: 여기에 올 수 없는 문자입니다: """. 빠진 쉼표나 따옴표를 찾아보세요."#
      ),
    ])
  func sentences(text: String, english: String, korean: String) {
    let error = refusal(text)
    #expect(error?.message(in: .english) == english)
    #expect(error?.message(in: .korean) == korean)
    #expect(error?.description == english)
  }

  @Test("invalid durations and speeds are refused with the advice of their grammar") func texts() {
    #expect(refusal(#"{"lease": "-1s"}"#)?.reason == .duration("-1s", .negative))
    #expect(refusal(#"{"lease": "10"}"#)?.reason == .duration("10", .missingUnit))
    #expect(refusal(#"{"work": {"loan": "1 s"}}"#)?.key == "work.loan")
    #expect(refusal(#"{"speed": 0}"#)?.reason == .speed("0", .zero))
    #expect(refusal(#"{"speed": "fast"}"#)?.reason == .speed("fast", .malformed))
    #expect(
      refusal(#"{"lease": "-1s"}"#)?.message(in: .english)
        .hasPrefix(#"config/bank.json:1: "lease" is "-1s", which is not a duration. "#) == true)
  }

  @Test("every wrong kind is named") func kinds() {
    let wrong: [(String, ConfigurationError.Expected, JSONKind)] = [
      ("[]", .object, .array), (#"{"log": true}"#, .object, .bool), (#"{"lease": 5}"#, .duration, .number),
      (#"{"log": {"customer_events": "yes"}}"#, .bool, .string), (#"{"speed": null}"#, .speed, .null),
      (#"{"lang": {}}"#, .language, .object), (#"{"log": {"keep_files": null}}"#, .wholeNumber, .null),
    ]
    for (text, expected, found) in wrong {
      let error = refusal(text)
      #expect(error?.reason == .wrongKind(expected: expected, found: found))
      #expect(error?.message(in: .korean).isEmpty == false)
    }
  }

  @Test("text from the file cannot break the line of the error") func oneLine() {
    let error = refusal("{\"a\\nb\\u2028\\u001b\(String(repeating: "x", count: 500))\": 1}")
    let message = error?.message(in: .english) ?? "\n"
    #expect(
      !message.unicodeScalars.contains { $0.properties.generalCategory == .control || $0 == "\u{2028}" })
    #expect(message.count < 250)
  }
}
