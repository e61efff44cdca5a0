// Every page of help as a newcomer reads it: in both languages, on terminals of any width.

import Arguments
import Testing

@testable import BankctlCommands

@Suite("Help pages of bankctl")
struct HelpPageTests {
  private let table = BankctlTable.table

  /// The overview, and the page of every command and of every group of commands.
  private var paths: [[String]] {
    [[], ["juice"], ["vending", "admin"], ["config"]] + table.commands.map(\.path)
  }

  private func messages(of page: String) -> [Substring] {
    page.split { $0 == " " || $0 == "\n" }.filter { $0 != "\\" }
  }

  private func hasHangul(_ text: String) -> Bool {
    text.unicodeScalars.contains { (0xAC00...0xD7A3).contains($0.value) }
  }

  @Test(
    "lines break at spaces alone, and only a single word is wider than the terminal",
    arguments: [20, 40, 80],
    TextLanguage.allCases)
  func width(columns: Int, language: TextLanguage) {
    for path in paths {
      let page = table.help(for: path, language: language, width: columns)
      for line in page.split(separator: "\n") where DisplayWidth.of(String(line)) > columns {
        #expect(messages(of: String(line)).count == 1, "\(line)")
      }
      #expect(
        messages(of: page) == messages(of: table.help(for: path, language: language, width: 120)), "\(path)")
      #expect(page.hasPrefix(path.isEmpty ? "bankctl: " : language == .korean ? "예\n" : "Examples\n"))
    }
  }

  @Test("an English page has no Korean name in it, and a Korean one is all Korean")
  func languages() {
    for path in paths {
      let page = table.help(for: path, language: .english)
      #expect(!hasHangul(page), "\(path)")
    }
    let commands = table.commands
    let sentences =
      commands.flatMap { [$0.summary] + [$0.details].compactMap { $0 } }
      + commands.flatMap(\.operands).map(\.summary)
      + (commands.flatMap(\.options) + table.globalOptions).map(\.summary)
    for sentence in sentences {
      // One level of politeness, with or without a full stop.
      let plain = sentence.korean.replacing("(초기화)", with: "")
      let end = plain.split(separator: "(").first.map(String.init) ?? plain
      let polite = ["니다.", "니다", "세요."].contains { end.hasSuffix($0) || plain.hasSuffix($0) }
      #expect(polite && hasHangul(sentence.korean), "\(sentence.korean)")
    }
    // A caption is a phrase: "대출만 일시 중지".
    for caption in commands.flatMap(\.examples).map(\.summary) {
      let isPhrase = !["다.", "요.", "다", "요"].contains { caption.korean.hasSuffix($0) }
      let isSentence = ["니다.", "세요."].contains { caption.korean.hasSuffix($0) }
      #expect((isPhrase || isSentence) && hasHangul(caption.korean), "\(caption.korean)")
    }
    // The meaning of an exit code stands in a list, without a full stop in either language.
    for meaning in table.exitCodes.map(\.meaning) {
      let isPhrase = !["다", "요"].contains { meaning.korean.hasSuffix($0) }
      let isSentence = ["니다", "세요"].contains { meaning.korean.hasSuffix($0) }
      #expect((isPhrase || isSentence) && hasHangul(meaning.korean), "\(meaning.korean)")
      #expect(!meaning.korean.hasSuffix(".") && !meaning.english.hasSuffix("."), "\(meaning.korean)")
    }
  }

  @Test("a range is documented once, by the code that checks it")
  func ranges() {
    for command in table.commands {
      for operand in command.operands {
        #expect(!operand.summary.english.contains { $0.isNumber && $0 != "1" }, "\(operand.summary.english)")
      }
    }
    let page = table.help(for: ["scale"], language: .english)
    #expect(page.ranges(of: "0 to 256").count == 1)
    #expect(table.help(for: ["receipts"], language: .english).contains("(1 or more, or all;"))
  }

  @Test("the documented effect of Ctrl-C on a day in the foreground is the real one")
  func interrupted() {
    let page = table.help(for: ["open"], language: .english).replacing("\n  ", with: " ")
    #expect(page.contains("the others wait for the next start"))
    #expect(MessageCatalog(language: .english).closingEarly.contains("wait for the next"))
    #expect(!page.contains("sends home"))
  }

  @Test("the page of 'move' does not ask for a bank without juice customers: they are moved, too")
  func moving() {
    let english = table.help(for: ["move"], language: .english, width: 120)
    #expect(!english.contains("no customer may") && messages(of: english).contains("juice,"))
    let korean = table.help(for: ["move"], language: .korean, width: 120)
    #expect(!korean.contains("고객이 없어야") && korean.contains("쥬스"))
  }

  @Test(
    "a message breaks at its spaces on a narrow terminal, and is otherwise unchanged",
    arguments: [20, 40])
  func notes(columns: Int) {
    for language in TextLanguage.allCases {
      let messages = MessageCatalog(language: language == .korean ? .korean : .english)
      let text = "bankctl: " + messages.notOpen(home: "/tmp/a-home-with-a-rather-long-name")
      let written = StandardErrorNotes.lines(text, columns: columns)
      #expect(self.messages(of: written) == self.messages(of: text))
      for line in written.split(separator: "\n") where DisplayWidth.of(String(line)) > columns {
        #expect(self.messages(of: String(line)).count == 1, "\(line)")
      }
      #expect(StandardErrorNotes.lines(text, columns: nil) == text + "\n")
      #expect(StandardErrorNotes.lines("a\n\nb", columns: columns) == "a\n\nb\n")
    }
  }
}
