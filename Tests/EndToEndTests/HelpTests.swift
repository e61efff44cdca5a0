// Command line before anything is done: help, version, completions, and usage errors.
import Testing

@Suite("Help", .serialized)
struct HelpTests {
  static let commands = [
    "open", "console", "start", "stop", "move", "status", "top", "branches", "wait", "pause", "resume",
    "scale",
    "reset",
    "reload",
    "enqueue",
    "tickets", "ticket", "receipts", "cancel", "requeue", "logs", "audit", "completions",
  ]

  @Test("every command has help in both languages, with examples", arguments: commands)
  func help(command: String) throws {
    try withScratchBank { branch in
      for (outputLanguage, arguments) in [(OutputLanguage.en, ["Usage", "Examples"]), (.ko, ["사용법", "예"])] {
        let outcome = try branch.runSuccessfully(command, "--help", language: outputLanguage)
        for word in arguments { #expect(outcome.outLines.contains(word), outcome.story) }
        #expect(
          outcome.out.contains("  bankctl \(command)") || outcome.out.contains("(bankctl \(command)"),
          outcome.story)
        #expect(outcome.errorsWithoutProgress.isEmpty)
      }
    }
  }

  @Test(
    "every other program has help and refuses unknown arguments, in both languages",
    arguments: ["bank-chaos", "bank-bench", "bank-fuzz", "bank-simulate"])
  func programs(name: String) throws {
    try withScratchBank { branch in
      let program = "\(Binaries.directory)/\(name)"
      for (outputLanguage, heading, told) in [
        (OutputLanguage.en, "Usage", "Unknown option '--sede'"), (.ko, "사용법", "'--sede'"),
      ] {
        let help = try branch.launch(["--help"], program: program, language: outputLanguage).finish()
        #expect(
          help.code == 0 && help.outLines.contains(heading) && help.errorsWithoutProgress.isEmpty, help.story)
        #expect(help.out.contains("\n  \(name)"), help.story)
        let refused = try branch.launch(["--sede", "1"], program: program, language: outputLanguage).finish()
        #expect(refused.code == 2 && refused.err.hasPrefix("\(name): "), refused.story)
        #expect(refused.err.contains(told) && refused.err.contains("\(name) --help"), refused.story)
      }
      let version = try branch.launch(["--version"], program: program).finish()
      #expect(version.out.wholeMatch(of: /bank-[a-z]+ \d+\.\d+\.\d+.*\n/) != nil, version.story)
    }
  }

  @Test("an unknown planted bug is refused with the list of known ones")
  func bugs() throws {
    try withScratchBank { branch in
      let outcome = try branch.launch(
        ["--bug", "ignoresQueueLimt"], program: "\(Binaries.directory)/bank-simulate"
      ).finish()
      #expect(outcome.code == 2 && outcome.err.contains("Did you mean 'ignoresQueueLimit'?"), outcome.story)
      #expect(outcome.err.contains("doesNotStoreDeadLetter, "), outcome.story)
    }
  }

  @Test("help lists every command, and bankctl has a version")
  func overview() throws {
    try withScratchBank { branch in
      let help = try branch.runSuccessfully("--help")
      for command in Self.commands { #expect(help.out.contains("\n  \(command)"), help.story) }
      #expect(try branch.runSuccessfully("--version").out.wholeMatch(of: /bankctl \d+\.\d+\.\d+.*\n/) != nil)
    }
  }

  @Test("the language comes from the flag, then the environment, then the locale")
  func language() throws {
    try withScratchBank { branch in
      let cases: [(words: [String], environment: [String: String], isKorean: Bool)] = [
        ([], [:], false),
        ([], ["LANG": "ko_KR.UTF-8"], true),
        ([], ["LANG": "en_US.UTF-8", "LC_ALL": "ko_KR.UTF-8"], true),
        ([], ["LANG": "ko_KR.UTF-8", "LC_MESSAGES": "en_US.UTF-8"], false),
        ([], ["LANG": "ko_KR.UTF-8", "BANK_LANG": "en"], false),
        (["--lang", "ko"], ["BANK_LANG": "en"], true),
        (["--lang=en"], ["BANK_LANG": "ko"], false),
      ]
      for (arguments, environment, isKorean) in cases {
        let outcome = try branch.launch(arguments + ["status"], language: nil, environment: environment)
          .finish()
        #expect(outcome.err.contains("은행") == isKorean, outcome.story)
      }
    }
  }

  @Test("a mistyped command or option gets a suggestion and exit code 2, and nothing is run")
  func suggestions() throws {
    try withScratchBank { branch in
      let command = try branch.run("statr")
      #expect(command.code == 2 && command.err.contains("'start'"), command.story)
      let option = try branch.run("start", "--forground")
      #expect(option.code == 2 && option.err.contains("--foreground"), option.story)
      let korean = try branch.run("statr", language: .ko)
      #expect(korean.code == 2 && korean.err.contains("'start'") && korean.err != command.err, korean.story)
      let document = try branch.run("statr", "--json")
      #expect(try document.json()["error"]["code"].text == "usage", document.story)
      try branch.expectNoProcessesLeft()
    }
  }

  @Test(
    "completions are written for each shell, and the shell accepts them", arguments: ["bash", "zsh", "fish"])
  func completions(shell: String) throws {
    try withScratchBank { branch in
      let script = try branch.runSuccessfully("completions", shell).out
      #expect(script.contains("bankctl") && script.contains("enqueue"))
      if shell == "bash" {
        let file = try branch.write(script, to: "completion.bash")
        let check = try branch.launch(["-n", file], program: "/bin/bash").finish()
        #expect(check.code == 0, check.story)
      }
    }
  }

  @Test("without a terminal no command prints an escape sequence")
  func plain() throws {
    try withScratchBank { branch in
      try branch.start("--speed", "max")
      try branch.runSuccessfully("enqueue", "2", "--wait")
      for arguments in [["status"], ["receipts"], ["tickets"], ["logs"], ["ticket", "1"], ["audit"]] {
        let outcome = try branch.launch(arguments, environment: ["TERM": "xterm-256color"]).finish()
        #expect(!outcome.out.contains("\u{1B}"), outcome.story)
      }
    }
  }
}
