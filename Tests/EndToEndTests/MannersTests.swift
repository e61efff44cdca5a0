// Behaviour in daily use: messages about empty lists, odd dates and missing things, with a remedy.
import Foundation
import Glibc
import Testing

@Suite("Daily use", .serialized)
struct MannersTests {
  @Test("empty lists are reported as empty, and standard output stays parseable")
  func empty() throws {
    try withScratchBank { branch in
      try branch.start("--speed", "max")
      let cases: [([String], String, String)] = [
        (["receipts"], "There are no receipts.", "영수증이 없습니다."),
        (["vending", "history"], "Nothing has been bought yet.", "아직 구매 내역이 없습니다."),
        (
          ["logs", "--since", "2100-01-01T00:00:00Z"], "The logs have no such lines.", "해당하는 로그가 없습니다."
        ),
        (["ledger"], "The ledger has no entries yet.", "원장에 아직 내역이 없습니다."),
      ]
      for (words, english, korean) in cases {
        for (outputLanguage, sentence) in [(OutputLanguage.en, english), (.ko, korean)] {
          let outcome = try branch.launch(words, language: outputLanguage).finish()
          #expect(outcome.code == 0 && outcome.errorsWithoutProgress == sentence + "\n", outcome.story)
          #expect(words == ["ledger"] || outcome.out == "", outcome.story)
        }
        let lines = try branch.launch(words + ["--json"]).finish()
        #expect(lines.code == 0 && lines.errorsWithoutProgress == "", lines.story)
      }
      #expect(
        try branch.runSuccessfully("tickets", "--state", "dead").outLines == ["Dead letters", "  none"])
      for (outputLanguage, sentence) in [
        (OutputLanguage.en, "Nothing has expired."), (.ko, "유통기한이 지난 음료가 없습니다."),
      ] {
        let expired = try branch.runSuccessfully("vending", "admin", "expired", language: outputLanguage)
        #expect(expired.outLines == [sentence], expired.story)
      }
      try branch.expectRefusal(4, "no_such_account", of: "account", "999")
    }
  }

  @Test("a juice out of stock is not counted as served at closing; without a terminal the command is named")
  func outOfStock() throws {
    try withScratchBank { branch in
      try branch.start("--speed", "max")
      let refused = try branch.order("strawberry", language: .en)
      #expect(refused.code == 5 && refused.err.contains("bankctl stock add strawberry 6\n"), refused.story)
      #expect(try branch.order("kiwi").code == 0)
      try branch.runSuccessfully("enqueue", "2", "--wait")
      let closing = try branch.runSuccessfully("stop")
      #expect(
        closing.outLines.last?.hasPrefix("The bank has closed. Customers served today: 3.") == true,
        closing.story)
      #expect(closing.outLines.contains("Rejected for lack of stock: 1."), closing.story)
      try branch.expectClean()
    }
  }

  @Test("several juices in JSON are one object per line, withdrawn ones included")
  func severalJuices() throws {
    try withScratchBank { branch in
      try branch.start("--speed", "max")
      let outcome = try branch.launch(["juice", "order", "kiwi", "4", "--json"]).finish()
      let lines = try JSON.lines(outcome.out)
      #expect(outcome.code == 5 && lines.count == 4, outcome.story)
      #expect(lines.map { $0["outcome"].text } == ["made", "made", "made", "out_of_stock"])
      #expect(Set(lines.compactMap { $0["order"].text }).count == 4)
      try branch.runSuccessfully("pause", "juice")
      let stuck = try branch.orderWithShortTimeout("mango", "2")
      let told = try JSON.lines(stuck.out)
      #expect(stuck.code == 75 && told.count == 3, stuck.story)
      #expect(told.prefix(2).map { $0["outcome"].text } == ["withdrawn", "withdrawn"], stuck.story)
      #expect(told.last?["error"]["code"].text == "juice_station_unavailable", stuck.story)
      let single = try branch.orderWithShortTimeout("mango")
      #expect(try single.json()["error"]["code"].text == "juice_station_unavailable", single.story)
    }
  }

  @Test("after a restart the wait of the first customer in line still counts from the ticket's issue")
  func firstInLine() throws {
    try withScratchBank { branch in
      try branch.start("--speed", "max")
      try branch.runSuccessfully("pause", "deposit")
      try branch.runSuccessfully("enqueue", "2", "--service", "deposit")
      let issued = Date()
      try branch.waitUntil("the customers have waited for a while") {
        try branch.status().queue("oldest_wait_ms") >= 300
      }
      let pid = try branch.status().pid
      branch.processes.signal(pid, SIGKILL)
      try branch.waitUntil("the bank is back") {
        let status = try branch.launch(["status", "--json"]).finish()
        guard status.code == 0 else { return false }
        return Status(try status.json()).pid != pid
      }
      let waited = try branch.status().queue("oldest_wait_ms")
      #expect(
        waited >= 300 && waited <= Int(Date().timeIntervalSince(issued) * 1_000) + 1_000, "\(waited) ms")
      #expect(try branch.status().queue("waiting") == 2)
    }
  }

  @Test("drinks with future or expired dates are reported, and need a confirmation at a terminal")
  func oddDates() throws {
    try withScratchBank { branch in
      try branch.start("--speed", "max")
      let future = try branch.runSuccessfully("vending", "admin", "add", "top", "1", "--made", "2999-01-01")
      #expect(future.err.contains("the production date 2999-01-01 is in the future"), future.story)
      let expired = try branch.runSuccessfully(
        "vending", "admin", "add", "coke", "1", "--made", "2020-01-01", language: .ko)
      #expect(expired.err.contains("유통기한 2020-01-08이 이미 지나"), expired.story)
      #expect(try branch.runSuccessfully("vending", "admin", "add", "coke", "1").errorsWithoutProgress == "")
      for (answer, code) in [("no", Int32(5)), ("yes", 0)] {
        let program = try TerminalProgram(
          branch, ["vending", "admin", "add", "hot6", "3", "--made", "2999-01-01"])
        try program.waitFor("[Yes/No]")
        #expect(program.screen.contains("is in the future"))
        program.type(answer + "\r")
        #expect(try program.finish() == code, "\(program.screen)")
        let products = try branch.json("vending", "admin", "stock")["products"]
        #expect(products.item(where: "product", is: "hot6")["stock"].integer == (answer == "yes" ? 3 : 0))
      }
    }
  }

  @Test("an unknown target of chaos is refused before anything is created")
  func noSuchVictim() throws {
    try withScratchBank { branch in
      let scratch = branch.path("scratch")
      mkdir(scratch, 0o700)
      let outcome = try branch.launch(
        ["chaos", "--targets", "me", "--for", "1s"], environment: ["TMPDIR": scratch]
      ).finish()
      #expect(outcome.code == 2 && outcome.err.contains("'me'"), outcome.story)
      #expect(try FileManager.default.contentsOfDirectory(atPath: scratch) == [])
      // Nor is anything left of a bank that could not be opened.
      let file = try branch.write("{", to: "home-bank.json")
      let failed = try branch.launch(
        ["chaos", "--home", branch.path("new"), "--for", "1s"],
        environment: ["TMPDIR": scratch, "BANK_CONFIG": file]
      ).finish()
      #expect(failed.code == 2, failed.story)
      try branch.expectNoProcessesLeft()
    }
  }

  @Test("an unknown language in the environment is an error like one on the command line")
  func noSuchLanguage() throws {
    try withScratchBank { branch in
      try branch.start("--speed", "max")
      for words in [["status"], ["status", "--json"], ["receipts"]] {
        let outcome = try branch.launch(words, language: nil, environment: ["BANK_LANG": "xx"]).finish()
        #expect(outcome.code == 2 && (outcome.out + outcome.err).contains("'xx'"), outcome.story)
      }
      #expect(try branch.launch(["--lang", "fr", "status"]).finish().code == 2)
      // The flag takes precedence, and a locale may name any language.
      for (words, environment) in [
        (["--lang", "en", "status"], ["BANK_LANG": "xx"]), (["status"], ["LC_ALL": "fr_FR.UTF-8"]),
      ] {
        let outcome = try branch.launch(words, language: nil, environment: environment).finish()
        #expect(outcome.code == 0 && outcome.out.contains("open · day 1"), outcome.story)
      }
    }
  }

  @Test("a byte order mark is skipped before a list, on standard input too, and before a configuration")
  func byteOrderMark() throws {
    try withScratchBank { branch in
      let file = try branch.write("\u{FEFF}{\"speed\": \"max\"}", to: "marked.json")
      try branch.start("--config", file)
      let list = "\u{FEFF}{\"service\":\"loan\"}\n{}\n"
      let path = try branch.write(list, to: "list.jsonl")
      #expect(try branch.json("enqueue", "--from", path)["count"].integer == 2)
      #expect(try branch.json("enqueue", "--from", "-", input: list)["count"].integer == 2)
    }
  }

  @Test(
    "completions include the juices, the fruits, the drinks and the workers",
    arguments: ["bash", "zsh", "fish"])
  func completions(shell: String) throws {
    try withScratchBank { branch in
      let script = try branch.runSuccessfully("completions", shell).out
      for word in [
        "strawberry-banana", "mango-kiwi", "pineapple", "cantata", "monster", "deposit-1", "juice-1",
        "guardian",
      ] {
        #expect(script.contains(word), "\(word)")
      }
    }
  }

  @Test("bash offers fruits, juices, drinks and workers as arguments that take them, and nowhere else")
  func places() throws {
    try withScratchBank { branch in
      let script = try branch.write(
        try branch.runSuccessfully("completions", "bash").out, to: "completions.bash")
      func offers(_ words: String) throws -> Set<String> {
        let driver = """
          . "$0"; COMP_WORDS=(bankctl \(words) ''); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _bankctl
          printf '%s\\n' "${COMPREPLY[@]}"
          """
        let outcome = try branch.launch(["-c", driver, script], program: "/bin/bash").finish()
        #expect(outcome.code == 0, outcome.story)
        return Set(outcome.outLines)
      }
      #expect(try offers("stock set") == ["strawberry", "banana", "pineapple", "kiwi", "mango"])
      #expect(try offers("juice order").isSuperset(of: ["strawberry", "strawberry-banana", "mango-kiwi"]))
      #expect(try !offers("juice order").contains("pineapple-banana"))
      #expect(try offers("vending buy").isSuperset(of: ["cantata", "monster"]))
      #expect(
        try offers("logs").isSuperset(of: ["coordinator", "guardian", "deposit-1", "stock", "vending"]))
      #expect(try offers("logs deposit-1").contains("juice-1"), "logs takes several names")
      #expect(try offers("cancel").allSatisfy(\.isEmpty), "a number cannot be offered")
    }
  }

  @Test("every help page starts with examples", arguments: [OutputLanguage.en, .ko])
  func examplesFirst(language: OutputLanguage) throws {
    try withScratchBank { branch in
      let first = language == .en ? "Examples" : "예"
      for words in [
        ["start"], ["enqueue"], ["juice", "order"], ["vending"], ["vending", "admin"], ["stock", "set"],
        ["logs"], ["chaos"],
      ] {
        let page = try branch.launch(words + ["--help"], language: language).finish()
        #expect(page.outLines.first == first, page.story)
      }
    }
  }
}
