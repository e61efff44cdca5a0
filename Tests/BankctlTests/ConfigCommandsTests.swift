// `config check` and `config show`: their input, their output, their ends. No bank is open, except where a
// test opens one.
import Arguments
import BankModel
import ControlClient
import Foundation
import Posix
import Testing

@testable import Configuration
@testable import BankctlCommands

@Suite("The commands about the configuration")
struct ConfigCommandsTests {
  /// A directory with an installation of programs that are not started, and the path of a home that is not
  /// created.
  private final class Installation {
    let path = FileManager.default.temporaryDirectory.path + "/bank-config-\(UUID().uuidString)"
    var home: BankHome { BankHome(path: path + "/home") }
    var launcher: BankLauncher {
      BankLauncher(program: path + "/programs/bankd", guardian: path + "/programs/bank-guardian")
    }

    init() throws {
      try FileManager.default.createDirectory(
        atPath: path + "/programs", withIntermediateDirectories: true)
      for name in [
        "bankd", "bank-guardian", "bank-teller", "bank-juice", "bank-runner", "bank-stockd", "bank-vending",
      ] {
        _ = try write("", to: "programs/" + name)
        try FileManager.default.setAttributes(
          [.posixPermissions: 0o755], ofItemAtPath: "\(path)/programs/\(name)")
      }
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func write(_ text: String, to name: String) throws -> String {
      try Data(text.utf8).write(to: URL(fileURLWithPath: "\(path)/\(name)"))
      return "\(path)/\(name)"
    }

    func run(_ messages: String..., language: Language = .english) throws -> CommandRun {
      try BankctlTests.run(messages, home: home, language: language, launcher: launcher)
    }
  }

  private func document(_ ran: CommandRun) throws -> [String: Any] {
    try #require(JSONSerialization.jsonObject(with: Data(ran.output.utf8)) as? [String: Any])
  }

  @Test("a good file is one line in either language, and a document")
  func good() throws {
    let place = try Installation()
    let file = try place.write(#"{"lease": "5s"}"#, to: "bank.json")
    #expect(
      try place.run("config", "check", file)
        == CommandRun(exit: .done, output: "Configuration valid: \(file)\n"))
    #expect(
      try place.run("config", "check", file, language: .korean).output == "설정이 올바릅니다: \(file)\n")
    #expect(
      try place.run("config", "check", file, "--json").output
        == #"{"version":1,"ok":true,"file":"\#(file)","stock_file":null,"vending_file":null}"# + "\n")
    #expect(!FileManager.default.fileExists(atPath: place.home.path), "nothing was opened")
  }

  @Test("a bad file is exit code 2, with its line and the correction")
  func bad() throws {
    let place = try Installation()
    let file = try place.write("{\n\"lease\": \"5\"}", to: "bank.json")
    for messages in [["config", "check", file], ["config", "show", "--config", file]] {
      for language in [Language.english, .korean] {
        let ran = try run(
          messages + ["--json"], home: place.home, language: language, launcher: place.launcher)
        #expect(ran.exit == .usage)
        let error = try document(ran)["error"] as? [String: String]
        #expect(error?["code"] == "bad_configuration")
        #expect(error?["message"]?.contains(#"\#(file):2: "lease""#) == true)
      }
      #expect(
        try run(messages, home: place.home, launcher: place.launcher) == CommandRun(exit: .usage, output: ""))
    }
  }

  @Test("the files of fruits and drinks are checked with it")
  func products() throws {
    let place = try Installation()
    let file = try place.write("{}", to: "bank.json")
    let stock = try place.write(#"{"fruits": []}"#, to: "stock.json")
    let ran = try place.run("config", "check", file, "--json")
    #expect(ran.exit == .usage && ran.output.contains(stock + ":1: "))
    #expect(
      try place.run("config", "show", "--config", file).exit == .done, "its own output is valid all the same")
  }

  @Test("a missing program that the bank would start is named, and no other")
  func programs() throws {
    let place = try Installation()
    let file = try place.write(#"{"windows": {"juice": 0}}"#, to: "bank.json")
    try FileManager.default.removeItem(atPath: place.path + "/programs/bank-juice")
    #expect(try place.run("config", "check", file).exit == .done)
    for name in ["bank-teller", "bank-vending", "bank-stockd", "bank-guardian", "bankd"] {
      try FileManager.default.setAttributes(
        [.posixPermissions: 0o600], ofItemAtPath: "\(place.path)/programs/\(name)")
      let ran = try place.run("config", "check", file, "--json")
      #expect(ran.exit == .failed && ran.output.contains(#""code":"program_missing""#))
      #expect(ran.output.contains("/programs/\(name)"))
      try FileManager.default.setAttributes(
        [.posixPermissions: 0o755], ofItemAtPath: "\(place.path)/programs/\(name)")
    }
  }

  @Test("a missing or not executable program of a service is named with its line")
  func namedPrograms() throws {
    let place = try Installation()
    let tool = try place.write("", to: "tool")
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: tool)
    func check(_ service: String) throws -> (CommandRun, String) {
      let file = try place.write("{\"services\": {\n\"thumbs\": \(service)}}", to: "bank.json")
      return (try place.run("config", "check", file, "--json"), file)
    }
    for kind in ["run", "worker"] {
      for good in [
        "[\"sh\"]", "[\"\(tool)\", \"x\"]", "[\"./tool\"], \"directory\": \"\(place.path)\"",
        "[\"tool\"], \"environment\": {\"PATH\": \"/nowhere:\(place.path)\"}",
      ] { #expect(try check("{\"\(kind)\": \(good)}").0.exit == .done, "\(good)") }
      for bad in ["[\"no-such-program\"]", "[\"no-such-program\"], \"environment\": {\"PATH\": \"\"}"] {
        let (ran, file) = try check("{\"\(kind)\": \(bad)}")
        let error = try document(ran)["error"] as? [String: String]
        #expect(ran.exit == .usage && error?["code"] == "bad_configuration")
        #expect(
          error?["message"]?.contains(
            "\(file):2: \"services.thumbs.\(kind)\": there is no program \"no-such-program\"; install it")
            == true)
      }
    }
    #expect(try check(#"{"run": []}"#).0.exit == .done && check(#"{"outside": true}"#).0.exit == .done)
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: tool)
    let (ran, _) = try check("{\"worker\": [\"\(tool)\"]}")
    #expect(
      ran.exit == .usage && ran.output.contains("cannot be run") && ran.output.contains("Permission denied"))
  }

  @Test("a service whose programs connect by themselves has no windows to choose")
  func outside() throws {
    let place = try Installation()
    let file = try place.write(#"{"services": {"far": {"outside": true}}}"#, to: "bank.json")
    #expect(try place.run("config", "show", "--config", file, "--windows", "far=0").exit == .done)
    for language in [Language.english, .korean] {
      let ran = try place.run(
        "config", "show", "--config", file, "--windows", "far=2", "--json", language: language)
      #expect(ran.exit == .usage && ran.output.contains("far"), "\(ran.output)")
    }
    let shown = try document(place.run("config", "show", "--config", file, "--json"))["settings"]
    let keys = (shown as? [[String: Any]] ?? []).compactMap { $0["key"] as? String }
    #expect(keys.filter { $0.hasPrefix("services.far") } == ["services.far.outside"])
  }

  @Test("every setting is shown with its value and its source")
  func show() throws {
    let place = try Installation()
    let file = try place.write(
      "{\n\"lease\": \"5s\",\n\"speed\": 2, \"windows\": {\"loan\": 3}\n}", to: "bank.json")
    let ran = try place.run(
      "config", "show", "--config", file, "--loan", "7", "--speed", "max", "--lang", "ko")
    let rows = ran.lines.map { $0.split(separator: " ", omittingEmptySubsequences: true).map(String.init) }
    #expect(ran.lines[0] == "Configuration file: \(file) (--config)")
    #expect(rows[1] == ["setting", "value", "from"])
    for row in [
      ["windows.deposit", "2", "built", "in"], ["windows.loan", "7", "--loan"],
      ["speed", "\"max\"", "--speed"],
      ["lang", "\"ko\"", "--lang"], ["lease", "\"5s\"", "line", "2"],
      ["log.customer_events", "true", "built", "in"],
    ] { #expect(rows.contains(row), "\(row) \(ran.output)") }
    #expect(rows.count == 2 + Setting.all.count)
    #expect(try place.run("config", "show", "--config", file, language: .korean).output.contains("2번째 줄"))
    let settings = try #require(
      document(place.run("config", "show", "--config", file, "--loan", "7", "--json"))["settings"]
        as? [[String: Any]])
    let lease = try #require(settings.first { $0["key"] as? String == "lease" })
    #expect(lease["value"] as? String == "5s" && lease["source"] as? String == "file")
    #expect(lease["line"] as? Int == 2 && lease["in_use"] == nil)
    let loan = try #require(settings.first { $0["key"] as? String == "windows.loan" })
    #expect(loan["source"] as? String == "option" && loan["line"] is NSNull)
  }

  @Test(
    "the table fits 80 columns with the longest possible values", arguments: [Language.english, .korean])
  func width(language: Language) {
    let messages = MessageCatalog(language: language)
    let settings = Setting.all.map { setting in
      let longest: SettingValue =
        switch setting.place {
        case .number(_, let bounds), .smallNumber(_, let bounds): .number(bounds.upperBound)
        case .span: .text("23h59m59.999999999s")
        case .flag: .flag(false)
        case .speed: .text("999999999.999")
        case .language: .null
        // Settings of user-defined services, and the address of a shared database, may have any length.
        case .address, .optionalName, .optionalNumber, .optionalSmallNumber, .optionalSpan, .optionalFraction,
          .path, .command,
          .program, .variables,
          .meanings, .side, .mask:
          .null
        }
      return EffectiveSetting(key: setting.key, value: longest, source: .file(line: 100_000))
    }
    for line in ConfigCommands.table(settings, messages).lines(.none) {
      #expect(DisplayWidth.of(line) <= 80, "\(line)")
    }
  }

  @Test("output for scripts, put into a file, is shown the same again")
  func fileText() throws {
    let place = try Installation()
    let file = try place.write(
      #"{"lease": "1m30s", "lang": "ko", "speed": 0.25, "log": {"keep_files": 9}, "work": {"juice": "1us"}}"#,
      to: "bank.json")
    let first = try document(place.run("config", "show", "--config", file, "--loan", "0", "--json"))
    var content: [String: Any] = [:]
    for setting in try #require(first["settings"] as? [[String: Any]]) {
      let parts = try #require(setting["key"] as? String).split(separator: ".").map(String.init)
      if parts.count == 1 {
        content[parts[0]] = setting["value"]
      } else {
        var group = content[parts[0]] as? [String: Any] ?? [:]
        group[parts[1]] = setting["value"]
        content[parts[0]] = group
      }
    }
    let text = String(decoding: try JSONSerialization.data(withJSONObject: content), as: UTF8.self)
    let again = try document(
      place.run("config", "show", "--config", place.write(text, to: "again.json"), "--json"))
    func values(_ document: [String: Any]) -> [String] {
      (document["settings"] as? [[String: Any]] ?? []).map { "\($0["key"] ?? "") \($0["value"] ?? "")" }
    }
    #expect(values(again) == values(first) && values(first).count == Setting.all.count)
  }

  @Test("a different setting of an open bank is shown beside the file's, only while it is open")
  func inUse() throws {
    let place = try Installation()
    let file = try place.write(#"{"lease": "5s"}"#, to: "bank.json")
    let branch = try FakeBranch { _, _ in [] }
    try Data(#"{"lease": "9s", "prefetch": 1}"#.utf8)
      .write(to: URL(fileURLWithPath: branch.home.configurationInUse))
    let open = try run(["config", "show", "--config", file, "--json"], home: branch.home)
    #expect(open.output.contains(#""key":"lease","value":"5s","source":"file","line":1,"in_use":"9s"}"#))
    #expect(open.output.ranges(of: "in_use").count == 1)
    try FileManager.default.createDirectory(
      atPath: place.home.path + "/run", withIntermediateDirectories: true)
    try FileManager.default.moveItem(
      atPath: branch.home.configurationInUse, toPath: place.home.configurationInUse)
    branch.end()
    #expect(try !place.run("config", "show", "--config", file, "--json").output.contains("in_use"))
    let read = try LoadedConfiguration(path: place.home.configurationInUse)
    let other = try LoadedConfiguration(path: file).differences(in: read)
    #expect(
      MessageCatalog(language: .english).differsInUse(other).hasPrefix(
        "The running bank uses other values: lease \"9s\". "))
    #expect(MessageCatalog(language: .korean).differsInUse(other).contains("lease \"9s\""))
  }
}
