// Services of a configuration file: the entries of `services`, beside the settings of the built-in ones.

import BankModel
import Testing
import Time

@testable import Configuration

@Suite struct ServicesTests {
  private func read(_ text: String) throws -> LoadedConfiguration {
    try LoadedConfiguration(bytes: Array(text.utf8), path: "bank.json")
  }

  private func reason(_ text: String) -> ConfigurationError.Reason? {
    do { _ = try read(text) } catch { return (error as? ConfigurationError)?.reason }
    return nil
  }

  private let thumbs = ServiceName("thumbs")!

  @Test("services are added to the built-in ones, in the order of the file")
  func added() throws {
    let configuration = try read(
      #"{"services": {"thumbs": {"work": "1s", "windows": 3}, "a.b": {"work": "0s"}}, "windows": {"loan": 0}}"#
    ).configuration
    #expect(configuration.services.map(\.text) == ["deposit", "loan", "juice", "thumbs", "a.b", "run"])
    #expect(configuration.windows[thumbs] == 3 && configuration.work[thumbs] == .seconds(1))
    #expect(configuration.windows[try #require(ServiceName("a.b"))] == 1)
    #expect(configuration.windows[.loan] == 0 && configuration.windows[.deposit] == 2)
    #expect(configuration.windows[try #require(ServiceName("other"))] == 0)
    #expect(try read(#"{"services": {}}"#).configuration == BankConfiguration())
  }

  @Test("built-in ones may be listed there, too, but not in both places")
  func branch() throws {
    let configuration = try read(#"{"services": {"deposit": {"windows": 4}, "juice": {"work": "2s"}}}"#)
      .configuration
    #expect(configuration.services == ServiceName.branch + [.run])
    #expect(configuration.windows[.deposit] == 4 && configuration.work[.juice] == .seconds(2))
    #expect(configuration.work[.deposit] == .milliseconds(700))
    for text in [
      #"{"services": {"deposit": {"windows": 4}}, "windows": {"deposit": 3}}"#,
      #"{"windows": {"deposit": 3}, "services": {"deposit": {"windows": 4}}}"#,
    ] { #expect(reason(text) == .duplicateKey) }
  }

  @Test("an invalid service is refused")
  func refused() {
    #expect(reason(#"{"services": {"Thumbs": {"work": "1s"}}}"#) == .badServiceName("Thumbs"))
    #expect(reason(#"{"services": {"": {"work": "1s"}}}"#) == .badServiceName(""))
    #expect(reason(#"{"services": {"a": {"work": "1s"}, "a": {"work": "1s"}}}"#) == .duplicateKey)
    #expect(reason(#"{"services": {"a": {"windows": 1}}}"#) == .noKind)
    #expect(reason(#"{"services": {"a": {"wrok": "1s"}}}"#) == .unknownKey(suggestion: "work"))
    #expect(reason(#"{"services": {"deposit": {"run": ["true"]}}}"#) == .unknownKey(suggestion: nil))
    #expect(
      reason(#"{"services": {"a": {"work": "1s", "windows": 257}}}"#)
        == .outOfRange("257", from: "0", to: "256"))
    #expect(reason(#"{"services": {"a": 5}}"#) == .wrongKind(expected: .object, found: .number))
    #expect(reason(#"{"services": []}"#) == .wrongKind(expected: .object, found: .array))
    let many = (1...997).map { #""s\#($0)": {"work": "1s"}"# }.joined(separator: ",")
    #expect(reason("{\"services\": {\(many)}}") == .tooManyServices(ServiceDirectory.configurable))
  }

  @Test("a service may limit its attempts, from 1 to 1000, and has no limit by default")
  func attempts() throws {
    for most in [1, 1_000] {
      let read = try read("{\"services\": {\"thumbs\": {\"work\": \"1s\", \"max_attempts\": \(most)}}}")
      #expect(read.configuration[thumbs].maxAttempts == Int32(most))
      #expect(
        read.settings().last.map { "\($0.key) \($0.value.fileText)" }
          == "services.thumbs.max_attempts \(most)"
      )
    }
    #expect(try read(#"{"services": {"thumbs": {"work": "1s"}}}"#).configuration[thumbs].maxAttempts == nil)
    for wrong in ["0", "1001", "true"] {
      #expect(reason("{\"services\": {\"thumbs\": {\"work\": \"1s\", \"max_attempts\": \(wrong)}}}") != nil)
    }
  }

  @Test("a service may name the accounts that its customers move: two of three, of every kind")
  func ledger() throws {
    for kind in [#""work": "1s""#, #""run": ["true"]"#, #""worker": ["cat"]"#, #""outside": true"#] {
      let read = try read(
        "{\"services\": {\"thumbs\": {\(kind), \"ledger\": {\"debit\": \"customer\", \"credit\": \"cash\"}}}}"
      )
      #expect(read.configuration[thumbs].postingRule == PostingRule(debit: .customer, credit: .cash))
      #expect(
        read.settings().filter { $0.key.contains("ledger") }.map { "\($0.key) \($0.value.fileText)" } == [
          #"services.thumbs.ledger.debit "customer""#, #"services.thumbs.ledger.credit "cash""#,
        ])
    }
    func reason(_ ledger: String) -> ConfigurationError.Reason? {
      self.reason("{\"services\": {\"thumbs\": {\"work\": \"1s\", \"ledger\": \(ledger)}}}")
    }
    #expect(reason(#"{"debit": "cash"}"#) == .missing("credit"))
    #expect(reason(#"{"credit": "cash"}"#) == .missing("debit"))
    #expect(reason(#"{"debit": "cash", "credit": "cash"}"#) == .sameAccount("cash"))
    #expect(
      reason(#"{"debit": "gold", "credit": "cash"}"#) == .notAChoice("gold", ["cash", "loans", "customer"]))
    #expect(reason(#"{"debit": 5, "credit": "cash"}"#) == .wrongKind(expected: .text, found: .number))
    #expect(reason(#"{"debt": "cash"}"#) == .unknownKey(suggestion: "debit"))
    #expect(reason("{}") == nil, "none is named")
    #expect(
      self.reason(#"{"services": {"deposit": {"work": "1s", "ledger": {}}}}"#) != nil, "a deposit has its own"
    )
  }

  @Test("a service may have a lower limit of waiting customers, and jitter of its pauses")
  func rules() throws {
    let read = try read(
      #"{"services": {"thumbs": {"work": "1s", "max_waiting": 7, "retries": {"jitter": 0.25}}}}"#)
    #expect(read.configuration[thumbs].maxWaiting == 7 && read.configuration[thumbs].retryJitter == 250)
    #expect(
      read.settings().suffix(2).map { "\($0.key) \($0.value.fileText)" } == [
        "services.thumbs.retries.jitter 0.25", "services.thumbs.max_waiting 7",
      ])
    for (text, thousandths) in [("0", 0), ("1", 1_000), ("1.000", 1_000), ("0.001", 1), ("0.5", 500)] {
      let settings = try self.read(
        "{\"services\": {\"thumbs\": {\"work\": \"1s\", \"retries\": {\"jitter\": \(text)}}}}"
      )
      .configuration[thumbs]
      #expect(settings.retryJitter == Int32(thousandths), "\(text)")
    }
    for text in ["1.001", "2", "-0.5", "0.0001", "1e-1"] {
      let service = "{\"work\": \"1s\", \"retries\": {\"jitter\": \(text)}}"
      #expect(reason("{\"services\": {\"a\": \(service)}}") == .notAFraction(text))
      for language in Language.allCases {
        let error = #expect(throws: ConfigurationError.self) {
          try self.read("{\"services\": {\"a\": \(service)}}")
        }
        #expect(error?.message(in: language).contains("\"services.a.retries.jitter\"") == true)
        #expect(error?.message(in: language).contains("0.25") == true)
      }
    }
    #expect(
      reason(#"{"services": {"a": {"work": "1s", "retries": {"jitter": "0.5"}}}}"#)
        == .wrongKind(expected: .fraction, found: .string))
    #expect(
      reason(#"{"services": {"a": {"work": "1s", "max_waiting": 0}}}"#)
        == .outOfRange("0", from: "1", to: "1000000000"))
  }

  @Test("the settings that are shown name them, and their source")
  func shown() throws {
    let read = try read("{\"services\":\n{\"thumbs\": {\"work\":\n\"1s\"}}}")
    let shown = read.settings(with: [(.windows(thumbs, 7), .option("--windows"))]).suffix(2)
    #expect(
      Array(shown) == [
        EffectiveSetting(key: "services.thumbs.windows", value: .number(7), source: .option("--windows")),
        EffectiveSetting(key: "services.thumbs.work", value: .text("1s"), source: .file(line: 3)),
      ])
    let other = try self.read(#"{"services": {"thumbs": {"work": "2s"}}}"#)
    #expect(other.differences(in: read).map(\.key) == ["services.thumbs.work"])
    #expect(
      try self.read("{}").differences(in: read).map(\.key) == [
        "services.thumbs.windows", "services.thumbs.work",
      ])
    // The other way round: the earlier configuration has no such service, or has the setting at its default.
    let added = try self.read(#"{"services": {"thumbs": {"run": ["true"], "max_result_bytes": 9000}}}"#)
    #expect(try added.differences(in: self.read("{}")).allSatisfy { $0.value == .null })
    let former = try self.read(#"{"services": {"thumbs": {"run": ["true"]}}}"#)
    let changed = added.differences(in: former)
    #expect(changed.map(\.key) == ["services.thumbs.max_result_bytes"])
    #expect(changed.map(\.source) == [.builtIn] && changed.map(\.value) != [.number(9000)])
  }
}
