// `bankctl config check` and `config show`: effective settings, their sources, and validity of a file before a bank is
// opened; and the settings that an open bank uses after its file was edited.
import Foundation
import Glibc
import Testing

@Suite("Inspecting the configuration", .serialized)
struct ConfigCommandTests {
  @Test("a valid file is reported in one line, in either language, without opening a bank")
  func good() throws {
    try withScratchBank { branch in
      let file = try branch.configuration(more: #", "lease": "5s""#)
      for (outputLanguage, told) in [(OutputLanguage.en, "Configuration valid"), (.ko, "설정이 올바릅니다")] {
        let outcome = try branch.runSuccessfully("config", "check", file, language: outputLanguage)
        #expect(outcome.outLines.count == 1 && outcome.out.contains(told), outcome.story)
        #expect(outcome.out.contains(file) && outcome.errorsWithoutProgress.isEmpty, outcome.story)
        let bare = try branch.runSuccessfully("config", "check", language: outputLanguage)
        #expect(bare.outLines.count == 1 && bare.out.contains(told) && !bare.out.contains(file), bare.story)
      }
      let document = try branch.json("config", "check", file)
      #expect(document["ok"].flag == true && document["file"].text == file)
      #expect(try branch.json("config", "check")["file"] == .null)
      #expect(!FileManager.default.fileExists(atPath: branch.home), "nothing was created")
    }
  }

  @Test("the file comes from BANK_CONFIG, the home or the option, and the output names the source")
  func chosen() throws {
    try withScratchBank { branch in
      let named = try branch.configuration(name: "named.json")
      mkdir(branch.home, 0o700)
      let own = try branch.configuration(name: "home/bank.json")
      let option = try branch.configuration(name: "option.json")
      func shown(_ arguments: [String] = [], _ environment: [String: String] = [:]) throws -> [String?] {
        let outcome = try branch.launch(["config", "show", "--json"] + arguments, environment: environment)
          .finish()
        let document = try outcome.json()
        return [document["file"].text, document["file_source"].text]
      }
      #expect(try shown() == [own, "home"])
      #expect(try shown([], ["BANK_CONFIG": named]) == [named, "environment"])
      #expect(try shown(["--config", option], ["BANK_CONFIG": named]) == [option, "option"])
      _ = try branch.write("{", to: "named.json")
      let refused = try branch.run("config", "check", environment: ["BANK_CONFIG": named])
      #expect(refused.code == 2 && refused.err.contains(named + ":1: "), refused.story)
    }
  }

  @Test("an invalid file is refused in both languages and as JSON, with the file and the remedy")
  func refused() throws {
    try withScratchBank { branch in
      let binary = branch.path("binary")
      try Data([0x7B, 0x22, 0xFF, 0xFE, 0x22, 0x3A, 0x31, 0x7D]).write(to: URL(fileURLWithPath: binary))
      let pipe = branch.path("pipe")
      try #require(mkfifo(pipe, 0o600) == 0)
      let cases: [(String, String)] = [
        (branch.path("io"), "EISDIR"), (branch.path("missing"), "no such file"), (pipe, "not a regular file"),
        ("/dev/zero", "not a regular file"), (binary, ":1: this is not JSON: a string is not UTF-8"),
        (try branch.write("", to: "empty"), ":1: this is not JSON: the file ends too early"),
        (try branch.write(String(repeating: " ", count: 2 << 20), to: "long"), "too large"),
        (
          try branch.write("{\n\"lease\": \"1s\",\n\"prefech\": 2}", to: "unknown"),
          #":3: unknown key "prefech" — did you mean "prefetch"?"#
        ),
        (
          try branch.write(
            "{\n\"retry_max_delay\": \"1s\",\n\"retry_initial_delay\": \"2s\"}", to: "contradiction"),
          #":3: "retry_max_delay" is 1s, shorter than "retry_initial_delay" (2s)"#
        ),
      ]
      for (file, reason) in cases {
        for arguments in [["config", "check", file], ["config", "show", "--config", file]] {
          let outcome = try branch.launch(arguments).finish(within: .seconds(5))
          #expect(outcome.code == 2 && outcome.out == "", outcome.story)
          #expect(outcome.err.contains(file) && outcome.err.contains(reason), outcome.story)
        }
        try branch.expectRefusal(2, "bad_configuration", of: "config", "check", file)
        try branch.expectRefusal(2, "bad_configuration", of: "config", "show", "--config", file)
      }
      #expect(!FileManager.default.fileExists(atPath: branch.home), "nothing was created")
    }
  }

  @Test(
    "an unreadable file is refused with the reason",
    .enabled(if: geteuid() != 0 || access("/usr/bin/setpriv", X_OK) == 0))
  func unreadable() throws {
    try withScratchBank { branch in
      let file = try branch.configuration()
      // Root may read every file, so an unprivileged user runs the command if it can reach the programs.
      chmod(branch.path(""), 0o755)
      chmod(file, 0)
      func run(_ arguments: [String]) throws -> Outcome {
        guard geteuid() == 0 else { return try branch.launch(arguments).finish() }
        let otherUser = ["--reuid", "65534", "--regid", "65534", "--clear-groups", Binaries.bankctl]
        return try branch.launch(otherUser + arguments, program: "/usr/bin/setpriv").finish()
      }
      guard try run(["--version"]).code == 0 else { return }
      let outcome = try run(["config", "check", file])
      #expect(outcome.code == 2 && outcome.err.contains("EACCES"), outcome.story)
    }
  }

  @Test("product files are checked as reload reads them, with the same messages")
  func products() throws {
    try withScratchBank { branch in
      let file = try branch.configuration(speed: "max")
      try branch.start("--config", file)
      for (name, text) in [("stock.json", "{\"fruits\": 3}"), ("vending.json", "{\n\"produkts\": []}")] {
        let bad = try branch.write(text, to: name)
        let checked = try branch.run("config", "check", file)
        #expect(checked.code == 2 && checked.err.contains(bad + ":"), checked.story)
        let reloaded = try branch.run("reload")
        #expect(
          reloaded.code == 2 && reloaded.errorsWithoutProgress == checked.errorsWithoutProgress,
          reloaded.story)
        unlink(bad)
      }
      try branch.runSuccessfully("config", "check", file)
      try branch.expectClean()
    }
  }

  @Test("a missing program is named before any process starts")
  func programs() throws {
    try withScratchBank { branch in
      let place = branch.path("programs")
      try Binaries.install(Binaries.names.filter { $0 != "bank-teller" }, in: place)
      let outcome = try branch.launch(["config", "check"], program: place + "/bankctl").finish()
      #expect(outcome.code == 1 && outcome.err.contains("programs/bank-teller"), outcome.story)
      let document = try branch.launch(["config", "check", "--json"], program: place + "/bankctl").finish()
      #expect(try document.json()["error"]["code"].text == "program_missing", document.story)
    }
  }

  @Test("every setting is shown with value and source in 80 columns, and the output works as the same file")
  func show() throws {
    try withScratchBank { branch in
      let file = try branch.configuration(
        deposit: 3, loanWork: "12.5ms", more: #", "log": {"keep_files": 5}"#)
      let document = try branch.json("config", "show", "--config", file, "--juice", "4")
      #expect(
        document.differences(
          from: Samples.parsed(
            #"{"version":1,"file":"…","settings":[{"key":"lease","value":null,"source":"file","line":null}]}"#
          )) == [])
      let settings = document["settings"]
      func told(_ key: String) -> [JSON] {
        ["value", "source", "line"].map { settings.item(where: "key", is: key)[$0] }
      }
      #expect(told("windows.deposit") == [.integer(3), .text("file"), .integer(1)])
      #expect(told("windows.juice") == [.integer(4), .text("option"), .null])
      #expect(told("work.loan") == [.text("12.5ms"), .text("file"), .integer(2)])
      #expect(told("lang") == [.text("en"), .text("environment"), .null])
      #expect(told("log.keep_files") == [.integer(5), .text("file"), .integer(2)])
      #expect(told("log.customer_events") == [.flag(true), .text("default"), .null])
      for outputLanguage in OutputLanguage.allCases {
        let table = try branch.runSuccessfully("config", "show", "--config", file, language: outputLanguage)
        #expect(table.outLines.count == settings.items.count + 2, table.story)
        #expect(table.outLines.dropFirst().allSatisfy { $0.count <= 80 }, table.story)
        for setting in settings.items { #expect(table.out.contains("\n" + (setting["key"].text ?? "?"))) }
      }
      let again = try branch.write(written(settings), to: "again.json")
      let second = try branch.json("config", "show", "--config", again)["settings"]
      #expect(second.items.map { $0["key"] } == settings.items.map { $0["key"] })
      #expect(second.items.map { $0["value"] } == settings.items.map { $0["value"] })
      try branch.runSuccessfully("config", "check", again)
    }
  }

  /// File with these settings.
  private func written(_ settings: JSON) -> String {
    var groups: [String: [String]] = [:]
    for setting in settings.items {
      let parts = (setting["key"].text ?? "?").split(separator: ".").map(String.init)
      let member = "\"\(parts[parts.count - 1])\": \(setting["value"])"
      groups[parts.count == 1 ? "" : parts[0], default: []].append(member)
    }
    let own = groups.removeValue(forKey: "") ?? []
    let others = groups.map { "\"\($0)\": {\($1.joined(separator: ", "))}" }
    return "{" + (own + others).joined(separator: ",\n") + "}"
  }

  @Test("after its file was edited an open bank reports the settings it has read, until it is reloaded")
  func edited() throws {
    try withScratchBank { branch in
      let file = try branch.configuration(speed: "max", more: #", "lease": "20s""#)
      try branch.start("--config", file)
      func lease() throws -> JSON {
        try branch.json("config", "show", "--config", file)["settings"].item(where: "key", is: "lease")
      }
      #expect(try lease()["in_use"] == .missing)
      _ = try branch.configuration(speed: "max", more: #", "lease": "30s""#)
      #expect(try lease()["value"].text == "30s" && lease()["in_use"].text == "20s")
      for outputLanguage in OutputLanguage.allCases {
        let outcome = try branch.runSuccessfully("config", "show", "--config", file, language: outputLanguage)
        #expect(
          outcome.err.contains("lease \"20s\"") && outcome.err.contains("bankctl reload"), outcome.story)
      }
      try branch.runSuccessfully("reload")
      #expect(try lease()["in_use"] == .missing)
      try branch.runSuccessfully("stop")
      _ = try branch.configuration(speed: "max")
      #expect(try lease()["in_use"] == .missing, "the former value is not in use any more")
    }
  }
}
