// Services of workers: programs at their windows and outside workers. The settings that are read, which ones
// go together, and those that are refused and shown.

import BankModel
import Testing
import Time

@testable import Configuration

@Suite struct WorkerServicesTests {
  private func read(_ text: String) throws -> LoadedConfiguration {
    try LoadedConfiguration(bytes: Array(text.utf8), path: "bank.json")
  }

  private func error(_ service: String) -> ConfigurationError? {
    do { _ = try read("{\"services\": {\"thumbs\": \(service)}}") } catch {
      return error as? ConfigurationError
    }
    return nil
  }

  private func reason(_ service: String) -> ConfigurationError.Reason? { error(service)?.reason }

  private let thumbs = ServiceName("thumbs")!

  @Test("every setting of a worker is read")
  func worker() throws {
    let configuration = try read(
      #"""
      {"services": {"thumbs": {"worker": ["python3", "thumbs.py", ""], "windows": 3, "timeout": "30s", "grace": "5s",
        "lease": "1m", "prefetch": 2, "directory": "/srv/사진", "environment": {"LANG": "C"}, "max_result_bytes": 100,
        "limits": {"memory": 1073741824, "cpu_time": "10s", "open_files": 64},
        "retries": {"max_crashes": 7, "max_failures": 8, "initial_delay": "2s", "max_delay": "3m"}}}}
      """#
    ).configuration
    let settings = configuration[thumbs]
    #expect(configuration.worker(of: thumbs) == ["python3", "thumbs.py", ""])
    #expect(!configuration.isOutside(thumbs) && !configuration.runsCommands(thumbs))
    #expect(settings.kind == .worker && configuration[.deposit].kind == .work)
    #expect(configuration[.run].kind == .run && configuration.worker(of: .deposit) == nil)
    #expect(configuration.windows[thumbs] == 3)
    #expect(settings.timeout == .seconds(30) && settings.grace == .seconds(5))
    #expect(settings.lease == .seconds(60) && settings.prefetch == 2 && settings.directory == "/srv/사진")
    #expect(settings.memory == 1 << 30 && settings.cpuTime == .seconds(10) && settings.files == 64)
    #expect(settings.environment == ["LANG": "C"] && settings.resultBytes == 100 && settings.crashes == 7)
    #expect(
      try read(#"{"services": {"thumbs": {"worker": ["x"]}}}"#).configuration.windows[thumbs] == 1,
      "as before")
  }

  @Test("programs that connect by themselves have a policy and no windows")
  func outside() throws {
    let configuration = try read(
      #"""
      {"services": {"thumbs": {"outside": true, "timeout": "30s", "lease": "1m", "prefetch": 2, "max_result_bytes": 100,
        "retries": {"max_crashes": 7, "max_failures": 8, "initial_delay": "2s", "max_delay": "3m"}}}}
      """#
    ).configuration
    #expect(configuration.isOutside(thumbs) && configuration[thumbs].kind == .outside)
    #expect(configuration.windows[thumbs] == 0 && configuration[thumbs].prefetch == 2)
    #expect(configuration.worker(of: thumbs) == nil && !configuration.runsCommands(thumbs))
    #expect(reason(#"{"outside": true, "windows": 0}"#) == nil)
    #expect(reason(#"{"windows": 2, "outside": true}"#) == .windowsOutside("2"))
    #expect(reason(#"{"outside": 1}"#) == .wrongKind(expected: .bool, found: .number))
  }

  @Test("false is the same as no value")
  func notOutside() throws {
    let read = try read(#"{"services": {"thumbs": {"outside": false, "work": "1s", "windows": 2}}}"#)
    #expect(!read.configuration.isOutside(thumbs) && read.configuration.windows[thumbs] == 2)
    #expect(
      read.settings().map(\.key).filter { $0.hasPrefix("services.") } == [
        "services.thumbs.windows", "services.thumbs.work",
      ])
    #expect(reason(#"{"outside": false}"#) == .noKind)
  }

  @Test("a service is of one kind, and both keys are named with their lines")
  func kinds() throws {
    let kinds = [
      ("work", #""1s""#), ("run", #"["true"]"#), ("worker", #"["true"]"#), ("outside", "true"),
    ]
    for (one, value) in kinds {
      for (other, otherValue) in kinds where other != one {
        let found = try #require(error("{\n\"\(one)\": \(value),\n\n\"\(other)\": \(otherValue)}"))
        #expect(found.reason == .twoKinds(one, 2, other, 4))
        #expect(found.key == "services.thumbs" && found.line == 4)
        for language in Language.allCases {
          let told = found.message(in: language)
          #expect(told.contains("\"\(one)\"") && told.contains("\"\(other)\""), "\(told)")
          #expect(told.contains("2") && told.contains("4"), "\(told)")
        }
      }
    }
    #expect(
      error("{\n\"run\": [],\n\"outside\": true, \"work\": \"1s\"}")?.reason
        == .twoKinds("run", 2, "work", 3), "in the order of the lines and of the table")
  }

  @Test("a setting of another kind of service is refused by its name, with the kinds that have it")
  func members() throws {
    let kinds: [(ServiceKind, String)] = [
      (.work, #""work": "1s""#), (.run, #""run": ["true"]"#), (.worker, #""worker": ["true"]"#),
      (.outside, #""outside": true"#),
    ]
    let members: [(key: String, text: String, kinds: [ServiceKind])] = [
      ("timeout", #""timeout": "1s""#, [.run, .worker, .outside]),
      ("grace", #""grace": "1s""#, [.run, .worker]),
      ("directory", #""directory": "/srv""#, [.run, .worker]),
      ("environment", #""environment": {"A": "b"}"#, [.run, .worker]),
      ("exit", #""exit": {"3": "dead"}"#, [.run]),
      ("max_result_bytes", #""max_result_bytes": 1"#, [.run, .worker, .outside]),
      ("limits.memory", #""limits": {"memory": 4194304}"#, [.run, .worker]),
      ("limits.cpu_time", #""limits": {"cpu_time": "1s"}"#, [.run, .worker]),
      ("limits.open_files", #""limits": {"open_files": 64}"#, [.run, .worker]),
      ("umask", #""umask": "022""#, [.run, .worker]),
      ("limits.output_bytes", #""limits": {"output_bytes": 0}"#, [.run]),
      ("lease", #""lease": "1s""#, ServiceKind.allCases),
      ("prefetch", #""prefetch": 2"#, ServiceKind.allCases),
      ("retries.max_crashes", #""retries": {"max_crashes": 1}"#, ServiceKind.allCases),
      ("retries.max_failures", #""retries": {"max_failures": 1}"#, ServiceKind.allCases),
      ("retries.initial_delay", #""retries": {"initial_delay": "1s"}"#, ServiceKind.allCases),
      ("retries.max_delay", #""retries": {"max_delay": "1m"}"#, ServiceKind.allCases),
      ("retries.jitter", #""retries": {"jitter": 0.5}"#, ServiceKind.allCases),
      ("max_waiting", #""max_waiting": 5"#, ServiceKind.allCases),
      ("max_attempts", #""max_attempts": 1"#, ServiceKind.allCases),
    ]
    for (kind, text) in kinds {
      for member in members {
        let found = error("{\n\(text),\n\(member.text)}")
        guard !member.kinds.contains(kind) else {
          #expect(found == nil, "\(kind) \(member.key)")
          continue
        }
        #expect(found?.reason == .notOfKind(kind, of: member.kinds), "\(kind) \(member.key)")
        #expect(found?.key == "services.thumbs.\(member.key)" && found?.line == 3)
        for language in Language.allCases {
          let told = found?.message(in: language) ?? ""
          #expect(told.contains("\"services.thumbs.\(member.key)\"") && told.contains("\"\(kind.rawValue)\""))
          for other in member.kinds { #expect(told.contains("\"\(other.rawValue)\""), "\(told)") }
        }
      }
    }
  }

  @Test("an invalid program is refused, and placeholders, because a worker has no customer at its start")
  func refused() throws {
    #expect(reason(#"{"worker": []}"#) == .missingProgram)
    #expect(reason(#"{"worker": [""]}"#) == .noProgram(""))
    #expect(reason(#"{"worker": ["{key}"]}"#) == .noProgram("{key}"))
    #expect(reason(#"{"worker": "python3"}"#) == .wrongKind(expected: .list, found: .string))
    #expect(reason(#"{"worker": ["true", 5]}"#) == .wrongKind(expected: .text, found: .number))
    #expect(reason(#"{"worker": ["true", "a\u0000b"]}"#) == .invalidArgument)
    let word = error(#"{"worker": ["cat", "{payload}"]}"#)
    #expect(word?.reason == .placeholderOfCustomer("{payload}") && word?.key == "services.thumbs.worker[2]")
    #expect(reason(#"{"wroker": ["true"]}"#) == .unknownKey(suggestion: "worker"))
    for text in [#"{"worker": ["true"]}"#, #"{"outside": true}"#] {
      #expect(throws: ConfigurationError.self) { _ = try self.read("{\"services\": {\"run\": \(text)}}") }
      #expect(throws: ConfigurationError.self) { _ = try self.read("{\"services\": {\"loan\": \(text)}}") }
    }
  }

  @Test("the sentences name the fault and the remedy")
  func sentences() throws {
    let told: [(String, String, String)] = [
      (
        #"{"worker": ["x"], "outside": true}"#,
        #"bank.json:1: "services.thumbs" has both "worker" (line 1) and "outside" (line 1); a service can have only one: remove one"#,
        #"bank.json:1: "services.thumbs"에 다음이 함께 있습니다: "worker" (1번째 줄), "outside" (1번째 줄). 업무는 하나로만 정할 수 있으니 하나를 지우세요."#
      ),
      (
        #"{"windows": 1}"#,
        #"bank.json:1: "services.thumbs" needs one of "work", "run", "worker", "outside""#,
        #"bank.json:1: 처리 방식이 없습니다: "services.thumbs". "work", "run", "worker", "outside" 중 하나를 쓰세요."#
      ),
      (
        #"{"outside": true, "grace": "1s"}"#,
        #"bank.json:1: "services.thumbs.grace" is for services with "run" or "worker", and this one has "outside"; remove it"#,
        #"bank.json:1: 다음 키가 있는 업무에만 쓰는 설정입니다: "run", "worker". 이 업무에 있는 키는 다르니("outside") 지우세요: "services.thumbs.grace"."#
      ),
      (
        #"{"outside": true, "windows": 3}"#,
        #"bank.json:1: "services.thumbs.windows" is 3, but the programs of a service with "outside" connect by themselves and have no windows; remove it"#,
        #"bank.json:1: "outside" 업무의 프로그램은 스스로 연결하므로 창구가 없습니다. 지우세요: "services.thumbs.windows" (3)."#
      ),
      (
        #"{"worker": []}"#,
        #"bank.json:1: "services.thumbs.worker" must not be empty; write the name or path of a program and its arguments"#,
        #"bank.json:1: "services.thumbs.worker" 값이 비어 있습니다. 프로그램의 이름이나 경로와 그 인수를 쓰세요."#
      ),
    ]
    for (text, english, korean) in told {
      #expect(error(text)?.message(in: .english) == english)
      #expect(error(text)?.message(in: .korean) == korean)
    }
    for language in Language.allCases {
      let word = error(#"{"worker": ["cat", "{key}"]}"#)?.message(in: language)
      #expect(word?.contains("\"services.thumbs.worker[2]\"") == true && word?.contains("\"{key}\"") == true)
    }
  }

  @Test("the programs of services are named with their place, and those of this build are not")
  func programs() throws {
    let read = try read(
      #"""
      {"services": {"a": {"run": ["sh", "-c", "true"], "environment": {"PATH": "/opt/bin"}}, "b": {"run": []},
        "c": {"worker": ["./x"], "directory": "/srv"}, "d": {"outside": true}, "e": {"work": "1s"}, "f": {
        "worker": ["gone"]}}}
      """#)
    let programs = read.namedPrograms
    #expect(programs.map(\.name) == ["sh", "./x", "gone"])
    #expect(
      programs.map(\.path) == ["/opt/bin", nil, nil] && programs.map(\.directory) == [nil, "/srv", nil])
    let refusal = try #require(programs.last).refusal(.noSuchProgram("gone"), in: "bank.json")
    #expect(refusal.key == "services.f.worker" && refusal.line == 3)
    for language in Language.allCases { #expect(refusal.message(in: language).contains("\"gone\"")) }
    let needed = ProgramPaths(in: "/p").needed(by: read.configuration)
    #expect(
      Set(needed)
        == ["bankd", "bank-teller", "bank-juice", "bank-runner", "bank-stockd", "bank-vending"]
        .map { "/p/" + $0 }.reduce(into: []) { $0.insert($1) })
    var few = try self.read(
      #"{"windows": {"deposit": 0, "loan": 0, "juice": 0}, "services": {"run": {"windows": 0}, "c": {"worker": ["x"]}}}"#
    ).configuration
    #expect(
      ProgramPaths(in: "/p").needed(by: few) == ["bankd", "bank-stockd", "bank-vending"].map { "/p/" + $0 })
    few.windows[.loan] = 1
    #expect(ProgramPaths(in: "/p").needed(by: few).contains("/p/bank-teller"))
  }

  @Test("a given setting of workers is shown with its place, and others are not shown")
  func shown() throws {
    let read = try read(
      "{\"services\":\n{\"thumbs\": {\"worker\":\n[\"python3\"]},\n\"far\": {\"outside\": true,\n\"lease\": \"5s\"}}}"
    )
    #expect(
      read.settings().filter { $0.key.hasPrefix("services.") } == [
        EffectiveSetting(key: "services.thumbs.windows", value: .number(1), source: .builtIn),
        EffectiveSetting(key: "services.thumbs.worker", value: .list(["python3"]), source: .file(line: 3)),
        EffectiveSetting(key: "services.far.lease", value: .text("5s"), source: .file(line: 5)),
        EffectiveSetting(key: "services.far.outside", value: .flag(true), source: .file(line: 4)),
      ])
  }
}
