// Services whose customers are served by commands: settings that are read, refused, and shown.

import BankModel
import Posix
import Testing
import Time

@testable import Configuration

@Suite struct CommandServicesTests {
  private func read(_ text: String) throws -> LoadedConfiguration {
    try LoadedConfiguration(bytes: Array(text.utf8), path: "bank.json")
  }

  private func reason(_ service: String) -> ConfigurationError.Reason? {
    do { _ = try read("{\"services\": {\"thumbs\": \(service)}}") } catch {
      return (error as? ConfigurationError)?.reason
    }
    return nil
  }

  private let thumbs = ServiceName("thumbs")!

  @Test("every setting of a command is read")
  func whole() throws {
    let configuration = try read(
      #"""
      {"services": {"thumbs": {"run": ["convert", "-", "-resize", "{key}", ""], "windows": 3, "timeout": "30s",
        "grace": "5s", "lease": "1m", "prefetch": 2, "directory": "/srv/사진",
        "environment": {"LANG": "C", "EMPTY": ""}, "exit": {"3": "served", "signal": "dead", "other": "later"},
        "limits": {"memory": 1073741824, "cpu_time": "10s", "open_files": 64, "output_bytes": 0}, "max_result_bytes": 100,
        "retries": {"max_crashes": 7, "max_failures": 8, "initial_delay": "2s", "max_delay": "3m"}}}}
      """#
    ).configuration
    let settings = configuration[thumbs]
    #expect(settings.command == ["convert", "-", "-resize", "{key}", ""])
    #expect(configuration.runsCommands(thumbs) && !configuration.runsCommands(.deposit))
    #expect(
      settings.timeout == .seconds(30) && settings.grace == .seconds(5) && settings.lease == .seconds(60))
    #expect(settings.prefetch == 2 && settings.directory == "/srv/사진")
    #expect(settings.environment == ["LANG": "C", "EMPTY": ""])
    #expect(settings.exit == ["3": .served, "signal": .dead, "other": .later])
    #expect(settings.memory == 1 << 30 && settings.cpuTime == .seconds(10))
    #expect(settings.files == 64 && settings.output == 0 && settings.resultBytes == 100)
    #expect(settings.crashes == 7 && settings.failures == 8)
    #expect(settings.retryInitialDelay == .seconds(2) && settings.retryMaxDelay == .seconds(180))
    #expect(configuration.windows[thumbs] == 3)
  }

  @Test("the mask of new files and the number of open files are read")
  func surroundings() throws {
    func settings(_ text: String) throws -> ServiceSettings {
      try read(#"{"services": {"thumbs": {"run": ["true"], \#(text)}}}"#).configuration[thumbs]
    }
    #expect(try settings(#""umask": "0027""#).mask == 0o027)
    #expect(try settings(#""limits": {"open_files": 70}"#).files == 70)
    let none = try settings(#""windows": 1"#)
    #expect(none.mask == nil && none.files == nil)
    #expect(throws: ConfigurationError.self) { try settings(#""umask": "9""#) }
    let named = try settings("\"environment\": {\"\u{e9}\": \"1\", \"e\u{301}\": \"2\"}").environment
    #expect(named.count == 2)
  }

  @Test("contradictions, and arguments that no program can get, are refused with their place")
  func refused() throws {
    #expect(reason(#"{"windows": 1}"#) == .noKind)
    #expect(reason(#"{"run": []}"#) == nil, "customers bring their commands")
    #expect(reason(#"{"run": [""]}"#) == .noProgram(""))
    #expect(reason(#"{"run": ["{payload}"]}"#) == .noProgram("{payload}"))
    #expect(reason(#"{"run": "true"}"#) == .wrongKind(expected: .list, found: .string))
    #expect(reason(#"{"run": ["true", 5]}"#) == .wrongKind(expected: .text, found: .number))
    #expect(reason(#"{"run": ["true", "a\u0000b"]}"#) == .invalidArgument)
    #expect(reason(#"{"run": ["true"], "directory": "here"}"#) == .notAbsolute("here"))
    #expect(reason(#"{"run": ["true"], "environment": {"A=B": ""}}"#) == .badVariable("A=B"))
    // MAX_ARG_STRLEN of the kernel includes the name, the equals sign and a zero byte.
    for (length, isGood) in [(131_069, true), (131_070, false)] {
      let text = String(repeating: "x", count: length)
      #expect((reason(#"{"run": ["true"], "environment": {"A": "\#(text)"}}"#) == nil) == isGood)
    }
    #expect(reason(#"{"run": ["true"], "environment": {"BANK_KEY": ""}}"#) == .badVariable("BANK_KEY"))
    #expect(reason(#"{"run": ["true"], "exit": {"256": "dead"}}"#) == .badExitKey("256"))
    #expect(reason(#"{"run": ["true"], "exit": {"07": "dead"}}"#) == .badExitKey("07"))
    #expect(
      reason(#"{"run": ["true"], "exit": {"7": "fine"}}"#)
        == .notAChoice("fine", ExitMeaning.allCases.map(\.rawValue)))
    #expect(
      reason(#"{"run": ["true"], "retries": {"initial_delay": "2m", "max_delay": "1m"}}"#)
        == .retryOrder(first: "2m", limit: "1m"))
    #expect(
      reason(#"{"run": ["true"], "max_result_bytes": 65537}"#) == .outOfRange("65537", from: "0", to: "65536")
    )
    #expect(
      reason(#"{"run": ["true"], "limits": {"open_files": 4}}"#)
        == .outOfRange("4", from: "5", to: "1048576"),
      "nothing could be opened")
    #expect(
      reason(#"{"run": ["true"], "limits": {"memory": 4194303}}"#)
        == .outOfRange("4194303", from: "4194304", to: "1125899906842624"), "nothing would start")
    #expect(reason(#"{"rnu": ["true"]}"#) == .unknownKey(suggestion: "run"))
    do {
      _ = try read("{\"services\":\n{\"thumbs\":\n{\"work\": \"1s\",\n\"grace\": \"1s\"}}}")
      Issue.record("it was read")
    } catch let error as ConfigurationError {
      #expect(error.line == 4 && error.key == "services.thumbs.grace")
      for language in Language.allCases {
        #expect(error.message(in: language).contains("services.thumbs.grace"))
      }
    }
  }

  @Test(
    "a pause of a service is checked against the bank's, anywhere in the file, and the key is named")
  func pauses() throws {
    let service = #""services": {"thumbs": {"run": ["true"], "retries": {"initial_delay": "2m"}}}"#
    for text in ["{\(service), \"retry_max_delay\": \"5m\"}", "{\"retry_max_delay\": \"5m\", \(service)}"] {
      #expect(try read(text).configuration[thumbs].retryInitialDelay == .seconds(120))
    }
    do {
      _ = try read("{\n\(service)}")
      Issue.record("it was read")
    } catch let error as ConfigurationError {
      #expect(error.key == "services.thumbs.retries.max_delay" && error.line == 2)
      for language in Language.allCases {
        #expect(error.message(in: language).contains("\"services.thumbs.retries.initial_delay\""))
      }
    }
  }

  @Test("a service may have the name of a member of another, and they are not confused")
  func likeAMember() throws {
    let text =
      #"{"services": {"a.timeout": {"work": "0s"}, "a": {"work": "1s"}, "a.limits": {"work": "2s"}}}"#
    let configuration = try read(text).configuration
    #expect(configuration.ownServices.map(\.text) == ["a.timeout", "a", "a.limits"])
    #expect(configuration.work[ServiceName("a")!] == .seconds(1))
  }

  @Test(
    "the service for command lines always exists, after those of the file, and keeps its kind"
  )
  func run() throws {
    let plain = BankConfiguration()
    #expect(plain.services == ServiceName.branch + [.run])
    #expect(plain.runsCommands(.run) && plain[.run].command == [])
    #expect(Int(plain.windows[.run]) == Processors.available)
    let read = try read(#"{"services": {"run": {"windows": 1, "timeout": "1m"}, "thumbs": {"work": "0s"}}}"#)
    #expect(read.configuration.services == ServiceName.branch + [thumbs, .run])
    #expect(read.configuration.windows[.run] == 1 && read.configuration[.run].timeout == .seconds(60))
    #expect(read.configuration[.run].command == [])
    for text in [#"{"services": {"run": {"run": ["true"]}}}"#, #"{"services": {"run": {"work": "1s"}}}"#] {
      #expect(throws: ConfigurationError.self) { _ = try self.read(text) }
    }
  }

  @Test("a given setting of a command is shown with its place, and others are not shown")
  func shown() throws {
    let read = try read("{\"services\":\n{\"thumbs\": {\"run\":\n[\"sh\", \"-c\", \"echo \\\"\\n\\\"\"]}}}")
    let shown = read.settings().filter { $0.key.hasPrefix("services.") }
    #expect(
      shown == [
        EffectiveSetting(key: "services.thumbs.windows", value: .number(1), source: .builtIn),
        EffectiveSetting(
          key: "services.thumbs.run", value: .list(["sh", "-c", "echo \"\n\""]), source: .file(line: 3)),
      ])
    #expect(shown.last?.value.fileText == #"["sh", "-c", "echo \"\u000a\""]"#)
  }

  @Test("the settings shown of any command, put into a file, are read as the same")
  func fileText() throws {
    let text = #"""
      {"services": {"thumbs": {"run": ["a", "\u0001\\\"가"], "windows": 1, "timeout": "1ms", "directory": "/\n",
        "environment": {"A": "\t"}, "exit": {"0": "failed", "timeout": "crash"}, "limits": {"open_files": 5}}}}
      """#
    let first = try read(text)
    let members = first.settings().filter { $0.key.hasPrefix("services.thumbs.") }.map { setting in
      let key = setting.key.dropFirst("services.thumbs.".count)
      return key == "limits.open_files"
        ? "\"limits\": {\"open_files\": \(setting.value.fileText)}" : "\"\(key)\": \(setting.value.fileText)"
    }
    let again = try read("{\"services\": {\"thumbs\": {\(members.joined(separator: ", "))}}}")
    #expect(again.configuration == first.configuration)
  }
}
